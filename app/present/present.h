/* present: how results look. Growing text, tables with aligned columns, JSON checked against the one table of
 * fields, SVG pictures and HTML pages, files that are never half written. This room draws plain tables; it
 * computes nothing.
 *
 * Errors are sticky: text, JSON and pictures are built without looking at each call, and the function that
 * hands the finished product out says whether all of it worked. */
#ifndef RF_PRESENT_H
#define RF_PRESENT_H

#include "reluflow/study.h"
#include "reluflow/train.h"
#include "certify/certify.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text that grows ------------------------------------------------------------------------- */

typedef struct RfText {
  char *data; /* length bytes and a closing zero; NULL while empty */
  size_t length, capacity;
  bool failed; /* out of memory: later additions are ignored */
  bool colour; /* rf_text_style writes terminal colours; off = it writes nothing */
} RfText;

typedef enum RfStyle { RF_PLAIN = 0, RF_BOLD, RF_DIM, RF_GOOD, RF_BAD, RF_ACCENT } RfStyle;

RF_API void rf_text_free(RfText *text);                /* frees and zeroes */
RF_API const char *rf_text_string(const RfText *text); /* "" when empty; never NULL */
RF_API void rf_text_add(RfText *text, const char *piece);
RF_API void rf_text_add_bytes(RfText *text, const char *piece, size_t length);
RF_API void rf_text_addf(RfText *text, const char *format, ...) RF_PRINTF(2, 3);
RF_API void rf_text_repeat(RfText *text, const char *piece, rf_index times);
/* Switches the colour of what follows; RF_PLAIN ends it. */
RF_API void rf_text_style(RfText *text, RfStyle style);
RF_API void rf_text_styled(RfText *text, RfStyle style, const char *piece);
/* Words of `prose` wrapped to `width` columns, every line after the first indented by `indent`; ends with a
 * newline. The first line starts where the text stands, taken to be column `indent`. */
RF_API void rf_text_wrap(RfText *text, const char *prose, int indent, int width);
/* Characters (code points) of a UTF-8 string: its width on a terminal for the symbols used here. */
RF_API rf_index rf_text_width(const char *utf8);
/* `prose` with & < > " written as entities, for HTML and SVG. Invalid UTF-8 becomes U+FFFD. */
RF_API void rf_text_add_escaped(RfText *text, const char *prose);

/* Writes beside `path` and renames, so that readers see the old file or the whole new one. A path that exists
 * and is not a regular file (a pipe, a device) is written in place. */
RF_API RfStatus rf_file_write(RfContext *context, const char *path, const char *data, size_t length);

/* ---- tables ---------------------------------------------------------------------------------- */

/* Cells are texts, row by row; columns are aligned when the table is printed. */
typedef struct RfTable {
  rf_index columns;
  rf_index count;     /* cells so far: rows * columns once the last row is full */
  char **cells;       /* texts, row by row, owned */
  const char *header; /* column titles separated by '|', or NULL; not owned */
  const char *align;  /* one letter per column: l or r */
  rf_index capacity;  /* cells allocated */
  bool failed;
} RfTable;

/* header and align must outlive the table; align decides the number of columns (16 at most). */
RF_API void rf_table_init(RfTable *table, const char *align, const char *header);
RF_API void rf_table_free(RfTable *table);
/* Adds the next cell (row-major). */
RF_API void rf_table_cell(RfTable *table, const char *format, ...) RF_PRINTF(2, 3);
RF_API void rf_table_print(RfText *out, const RfTable *table, int indent);
RF_API void rf_table_html(RfText *out, const RfTable *table);

/* ---- the table of fields --------------------------------------------------------------------- */

typedef enum RfFieldType {
  RF_FIELD_OBJECT,
  RF_FIELD_BOOLEAN,
  RF_FIELD_INTEGER,
  RF_FIELD_COUNT, /* an integer; a decimal string above 2^53 */
  RF_FIELD_NUMBER,
  RF_FIELD_STRING,
  RF_FIELD_MAP,  /* an object with names of its own: flags, tolerances */
  RF_FIELD_SHAPE /* an object described by the table named in `shape` */
} RfFieldType;

/* One JSON field. The path is relative to its table: members are joined by '.', every level of array adds
 * "[]": "extremal.positive[].direction[]". Every field may be null: not computed, or not a number. */
typedef struct RfField {
  const char *path;
  RfFieldType type;
  const char *unit;    /* "" when the number is pure or the field is not a number */
  const char *meaning; /* one line */
  const char *shape;   /* for RF_FIELD_SHAPE: the name of the table of its members */
} RfField;

typedef struct RfFieldTable {
  const char *name;    /* the subcommand, or the name of a shape used by several */
  bool is_shape;       /* not a command's own output */
  const char *summary; /* what the object is */
  const RfField *fields;
  rf_index count;
} RfFieldTable;

/* All tables. */
RF_API const RfFieldTable *const *rf_field_tables(rf_index *count);
/* NULL when there is no such table. */
RF_API const RfFieldTable *rf_field_table(const char *name);
RF_API const char *rf_field_type_text(RfFieldType type);
/* The table as aligned text, as Markdown, as man page source. Shapes are named, not expanded. */
RF_API void rf_fields_print(RfText *out, const RfFieldTable *table, int width);
RF_API void rf_fields_markdown(RfText *out, const RfFieldTable *table);
RF_API void rf_fields_man(RfText *out, const RfFieldTable *table);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A streaming writer that knows where it stands in the table of fields: a key that the table does not hold, a
 * value of another type, an unbalanced end or a repeated top-level key make rf_json_finish return
 * RF_ERR_INTERNAL with the path. Members of objects have a key; elements of arrays are written with key NULL.
 * Non-finite numbers become null. */
typedef struct RfJson RfJson;

/* Whole arrays set aside as they are, for a caller in the same process: the text holds {"array": k} instead.
 * Numbers that are not finite stay as they are. */
typedef struct RfJsonArray {
  rf_index rows, cols; /* cols < 0: one-dimensional, `rows` values */
  double *numbers;     /* one of the two, owned */
  rf_index *integers;
} RfJsonArray;

typedef struct RfJsonArrays {
  rf_index count, capacity;
  RfJsonArray *items;
} RfJsonArrays;

RF_API void rf_json_arrays_free(RfJsonArrays *arrays);

RF_API RfStatus rf_json_new(RfContext *context, RfJson **json, const char *table);
/* From now on rf_json_numbers, rf_json_integers and rf_json_matrix put their values into `arrays`. */
RF_API void rf_json_set_aside(RfJson *json, RfJsonArrays *arrays);
RF_API void rf_json_free(RfJson *json);
/* A caller ran out of memory while writing: rf_json_finish will say so. */
RF_API void rf_json_fail(RfJson *json);
RF_API void rf_json_object(RfJson *json, const char *key);
RF_API void rf_json_array(RfJson *json, const char *key);
RF_API void rf_json_end(RfJson *json); /* closes the innermost object or array */
RF_API void rf_json_null(RfJson *json, const char *key);
RF_API void rf_json_boolean(RfJson *json, const char *key, bool value);
RF_API void rf_json_integer(RfJson *json, const char *key, rf_index value);
RF_API void rf_json_number(RfJson *json, const char *key, double value);
/* NULL becomes null. Invalid UTF-8 becomes U+FFFD. */
RF_API void rf_json_string(RfJson *json, const char *key, const char *value);
/* A non-negative decimal integer given as text: a number up to 2^53, a string above, null for NULL. */
RF_API void rf_json_count(RfJson *json, const char *key, const char *decimal);
/* Whole arrays; NULL becomes null (for count 0 too: pass any other pointer for an empty array). */
RF_API void rf_json_numbers(RfJson *json, const char *key, const double *values, rf_index count);
RF_API void rf_json_integers(RfJson *json, const char *key, const rf_index *values, rf_index count);
RF_API void rf_json_matrix(RfJson *json, const char *key, const double *values, rf_index rows, rf_index cols);
/* Ends the outermost object and appends the document and a newline to `out`. */
RF_API RfStatus rf_json_finish(RfContext *context, RfText *out, RfJson *json);

/* ---- pictures -------------------------------------------------------------------------------- */

/* Colours that colour-blind readers tell apart (Okabe and Ito), and inks that follow light and dark pages. */
typedef enum RfColour {
  RF_COLOUR_INK = 0, /* text and axes: dark on light, light on dark */
  RF_COLOUR_FAINT,   /* grid lines, hints */
  RF_COLOUR_BLUE,
  RF_COLOUR_ORANGE,
  RF_COLOUR_GREEN,
  RF_COLOUR_VERMILION,
  RF_COLOUR_SKY,
  RF_COLOUR_PURPLE,
  RF_COLOUR_YELLOW,
  RF_COLOUR_PAGE, /* the page itself: halos, hollow marks */
  /* one colour per label and per sign of a neuron, in every picture */
  RF_COLOUR_PLUS = RF_COLOUR_BLUE,
  RF_COLOUR_MINUS = RF_COLOUR_VERMILION
} RfColour;

typedef struct RfPen {
  RfColour colour;
  double width;   /* pixels; 0 = 1.5 */
  double opacity; /* 0 = 1 */
  bool dashed;
} RfPen;

typedef enum RfMark {
  RF_MARK_DISC = 0,
  RF_MARK_CIRCLE,
  RF_MARK_SQUARE,
  RF_MARK_CROSS,
  RF_MARK_TRIANGLE
} RfMark;
typedef enum RfAnchor { RF_ANCHOR_START = 0, RF_ANCHOR_MIDDLE, RF_ANCHOR_END } RfAnchor;

/* A picture in pixels, y downwards, as usual in SVG. */
typedef struct RfSvg {
  RfText text;
  double width, height;
} RfSvg;

RF_API void rf_svg_begin(RfSvg *svg, double width, double height, const char *title, const char *description);
RF_API void rf_svg_line(RfSvg *svg, double x1, double y1, double x2, double y2, RfPen pen);
RF_API void rf_svg_polyline(RfSvg *svg, const double *x, const double *y, rf_index count, RfPen pen);
RF_API void rf_svg_polygon(RfSvg *svg, const double *x, const double *y, rf_index count, RfColour fill,
                           double opacity);
RF_API void rf_svg_circle(RfSvg *svg, double x, double y, double radius, RfPen pen);
RF_API void rf_svg_arrow(RfSvg *svg, double x1, double y1, double x2, double y2, RfPen pen);
/* The sector of a disc from angle `from` counter-clockwise to angle `to` (radians, y upwards). */
RF_API void rf_svg_sector(RfSvg *svg, double x, double y, double radius, double from, double to,
                          RfColour fill, double opacity);
/* An arc of a circle, angles as above. */
RF_API void rf_svg_arc(RfSvg *svg, double x, double y, double radius, double from, double to, RfPen pen);
RF_API void rf_svg_mark(RfSvg *svg, double x, double y, double size, RfMark mark, RfColour colour);
/* Text with a halo in the page's colour, so that it stays readable on lines. */
RF_API void rf_svg_label(RfSvg *svg, double x, double y, RfAnchor anchor, double size, RfColour colour,
                         const char *label);
/* As rf_svg_label, turned by `degrees` clockwise about (x, y). */
RF_API void rf_svg_label_turned(RfSvg *svg, double x, double y, double degrees, double size, RfColour colour,
                                const char *label);
/* What is drawn until the end belongs to a group of this class (the page's script finds it). */
RF_API void rf_svg_group(RfSvg *svg, const char *name);
RF_API void rf_svg_group_end(RfSvg *svg);
RF_API void rf_svg_end(RfSvg *svg);
RF_API void rf_svg_free(RfSvg *svg);
RF_API RfStatus rf_svg_write(RfContext *context, const RfSvg *svg, const char *path);

/* Takes a finished picture, for example to a file of that name. */
typedef RfStatus (*RfPictureFn)(void *user, const RfSvg *svg, const char *name);

/* A pair of axes inside a picture. */
typedef struct RfAxis {
  double low, high; /* data range; low < high, positive for a logarithmic axis */
  bool log;
  const char *label; /* with its unit */
  double step;       /* distance of ticks on a linear axis; 0 = chosen */
} RfAxis;

typedef struct RfPlot {
  RfSvg *svg;
  double left, top, width, height; /* the frame, in pixels */
  RfAxis x, y;
} RfPlot;

typedef struct RfLegendEntry {
  const char *label;
  RfColour colour;
  int mark; /* an RfMark, or -1 for a line, -2 for a dashed line, -3 for a filled patch */
} RfLegendEntry;

/* Widens [low, high] to cover the finite ones among `count` values (positive ones for a log axis). */
RF_API void rf_axis_cover(RfAxis *axis, const double *values, rf_index count);
/* Some air on both sides, and a range that is not empty. */
RF_API void rf_axis_pad(RfAxis *axis, double fraction);
/* At most `most` ticks (up to 12) at round numbers inside the axis; returns how many. */
RF_API int rf_axis_ticks(double *ticks, const RfAxis *axis, int most);
RF_API double rf_plot_x(const RfPlot *plot, double x);
RF_API double rf_plot_y(const RfPlot *plot, double y);
RF_API void rf_plot_axes(const RfPlot *plot);
/* Lines break at values that are not finite; parts outside the frame are clipped. */
RF_API void rf_plot_line(const RfPlot *plot, const double *x, const double *y, rf_index count, RfPen pen);
RF_API void rf_plot_marks(const RfPlot *plot, const double *x, const double *y, rf_index count, RfMark mark,
                          RfColour colour);
/* A row of entries that starts at (x, y) and wraps at `width` pixels; returns the height used. */
RF_API double rf_svg_legend(RfSvg *svg, double x, double y, double width, const RfLegendEntry *entries,
                            rf_index count);

/* ---- pages ----------------------------------------------------------------------------------- */

/* A self-contained HTML page: inline style and pictures, readable on a phone, in light and dark. */
RF_API void rf_html_begin(RfText *page, const char *title, const char *subtitle);
RF_API void rf_html_verdict(RfText *page, RfStyle style, const char *verdict);
RF_API void rf_html_section(RfText *page, const char *title);
/* Words of the glossary explain themselves under the pointer. */
RF_API void rf_html_paragraph(RfText *page, const char *prose);
RF_API void rf_html_picture(RfText *page, const RfSvg *svg, const char *caption);
/* A picture alone, with the width that it may shrink to on a phone. */
RF_API void rf_html_svg(RfText *page, const char *text);
RF_API void rf_html_preformatted(RfText *page, const char *prose);
/* What follows until the end is folded away behind its summary. */
RF_API void rf_html_fold(RfText *page, const char *summary);
RF_API void rf_html_fold_end(RfText *page);
RF_API void rf_html_end(RfText *page);

/* ---- what the data decide before training ---------------------------------------------------- */

/* The members of table `inspect`. */
RF_API void rf_inspection_json(RfJson *json, const RfInspection *inspection);
/* The page for a terminal of `width` columns. */
RF_API void rf_inspection_page(RfText *page, const RfInspection *inspection, int width);
RF_API void rf_inspection_html(RfText *page, const RfInspection *inspection);
/* One sentence: the most that is known about these data. */
RF_API void rf_inspection_verdict(RfText *out, const RfInspection *inspection);
/* Pictures. plane: points, separators, cones, extremal directions (d = 2). potential: G on the circle (d =
 * 2). margins: the samples' margins under the max-margin separator (separable data). Each begins and ends its
 * SVG. */
RF_API void rf_inspection_plane_svg(RfSvg *svg, const RfInspection *inspection);
RF_API void rf_inspection_potential_svg(RfSvg *svg, const RfInspection *inspection);
RF_API void rf_inspection_margins_svg(RfSvg *svg, const RfInspection *inspection);
/* Those of them that these data have, as NAME.svg. */
RF_API RfStatus rf_inspection_pictures(RfContext *context, RfPictureFn draw, void *user,
                                       const RfInspection *inspection);

/* ---- margins, shared by several commands ----------------------------------------------------- */

/* Members `key` of shapes separator, class_vector and cone. with_intercept: write b (otherwise null). */
RF_API void rf_json_linear_margin(RfJson *json, const char *key, const RfLinearMargin *margin,
                                  bool with_intercept);
RF_API void rf_json_class_margin(RfJson *json, const char *key, const RfClassMargin *margin);
RF_API void rf_json_answer(RfJson *json, const char *key, RfAnswer answer);
/* "(1, 2, 3)" with at most `most` entries; "0 4 7" likewise. */
RF_API void rf_text_vector(RfText *text, const double *values, rf_index count, rf_index most);
RF_API void rf_text_rows(RfText *text, const rf_index *rows, rf_index count, rf_index most);
/* The member "classes": the names of the labels. */
RF_API void rf_json_classes(RfJson *json, const RfDataset *data);

/* ---- the global max margin, shared by several commands ------------------------------------------------ */

/* Member `key` with the fields of maxmargin's `global`; NULL becomes null. detail as in RfFlowReport. */
RF_API void rf_json_optimum(RfJson *json, const char *key, const RfOptimum *optimum,
                            const RfOptimumSettings *settings, int detail);
/* The same for the sum over `count` one-against-the-rest problems. */
RF_API void rf_json_optimum_sum(RfJson *json, const char *key, const RfOptimum *const *parts, rf_index count);
RF_API void rf_text_optimum(RfText *page, const RfOptimum *optimum, const RfOptimumSettings *settings);
/* Everything that `maxmargin` shows, for the questions of a dataset: one, or one per class. */
RF_API void rf_json_bests(RfJson *json, const RfDataset *whole, const RfStudyBest *const *bests,
                          rf_index count, const RfStudyBestSettings *settings, int detail);
RF_API void rf_text_bests(RfText *page, const RfDataset *whole, const RfStudyBest *const *bests,
                          rf_index count, const RfStudyBestSettings *settings);
RF_API void rf_html_bests(RfText *html, const RfDataset *whole, const RfStudyBest *const *bests,
                          rf_index count, const RfStudyBestSettings *settings);
/* ellipsoid.svg and polar.svg, for two samples with a network that fits them; otherwise none. */
RF_API RfStatus rf_best_pictures(RfContext *context, RfPictureFn draw, void *user,
                                 const RfStudyBest *const *bests, rf_index count,
                                 const RfStudyBestSettings *settings);
/* Two samples only (optimum->n = 2, not infeasible); signs as in the settings. The outputs of one unit neuron
 * on the samples with the optimal neurons, and the polar set of multipliers with the dual optimum. Each
 * begins and ends its SVG. */
RF_API void rf_svg_optimum_ellipsoid(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y,
                                     int signs);
RF_API void rf_svg_optimum_polar(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y,
                                 int signs);

/* ---- layered networks ---------------------------------------------------------------------------------- */

/* Members activation, residual and layers: the form that rf_layers_load reads. */
RF_API void rf_json_layered_net(RfJson *json, const RfLayeredNet *net);
RF_API void rf_json_layered_certificate(RfJson *json, const RfLayeredCertificate *certificate);
RF_API void rf_text_layered_certificate(RfText *page, const RfLayeredCertificate *certificate, int width);

/* ---- flow, shared by several commands ------------------------------------------------------ */

/* A finished run and what is known about it. Everything is borrowed. */
typedef struct RfFlowReport {
  const char *name;           /* of the dataset */
  const char *positive_class; /* in per_class: the class that is +1; NULL otherwise */
  const char *init;           /* name of the initialiser or the file of the weights */
  const RfFlowProblem *problem;
  const RfFlowResult *result;
  const RfStudyFrame *frames; /* NULL = none were asked for */
  rf_index n_frames;
  int detail;     /* 0 summary: no lists per neuron; 1 normal: lists up to a size; 2 full */
  double t_bound; /* the papers' bound on the end of alignment, in the clock of the problem; NaN = none */
  RfAnswer kkt;   /* RF_UNKNOWN = not judged */
  const char *local, *global; /* verdicts; NULL = not judged */
  double gap;                 /* NaN = not computed */
  const char *choice;         /* the continuation followed, NULL = none chosen */
  double seconds;             /* wall time of the run */
} RfFlowReport;

/* The report of a run: of the study itself, or of one of its continuations. */
RF_API RfFlowReport rf_flow_report(const RfStudyFlow *study, const RfStudyRun *run, int detail);

/* Everything that `flow` shows, for the questions of a dataset: one, or one per class. */
RF_API void rf_json_flows(RfJson *json, const RfDataset *whole, const RfStudyFlow *const *flows,
                          rf_index count, int detail);
RF_API void rf_text_flows(RfText *page, const RfStudyFlow *const *flows, rf_index count, int detail);
/* Sections of a page, begun and ended by the caller. */
RF_API RfStatus rf_html_flows(RfContext *context, RfText *html, const RfStudyFlow *const *flows,
                              rf_index count);
/* The pictures one by one, named NAME.svg, or classK-NAME.svg where there are several. */
RF_API RfStatus rf_flow_pictures(RfContext *context, RfPictureFn draw, void *user,
                                 const RfStudyFlow *const *flows, rf_index count);

/* The members of table `flow` (all but per_class), those of two-layer networks null. */
RF_API void rf_json_layered_flow(RfJson *json, const RfStudyLayered *study);
RF_API void rf_text_layered_flow(RfText *page, const RfStudyLayered *study, int width);
/* Loss, norm and margins along the run, the limit dashed. */
RF_API void rf_svg_layered_flow(RfSvg *svg, const RfStudyLayered *study);
/* A section of a page: the verdict, loss, norm and margins along the run, and the certificate. */
RF_API void rf_html_layered_flow(RfText *html, const RfStudyLayered *study);

/* The members of table `flow` (all but per_class) into the object at hand. */
RF_API void rf_json_flow(RfJson *json, const RfFlowReport *report);
/* The page for the terminal: phases, events, limit. */
RF_API void rf_text_flow(RfText *page, const RfFlowReport *report);

/* Directions of some neurons along alignment, in a plane: n_times points per neuron, from start to t1. */
typedef struct RfFlowPaths {
  rf_index count, n_times;
  rf_index *neurons; /* count */
  double
      *points;  /* count x n_times x 2: for d = 2 the unit vector w, else coordinates of w/|w| in the plane */
  double *ends; /* count x 2: the limit likewise; NaN for a neuron that is 0 there */
  double *samples;  /* n x 2: the data in the same plane */
  char axes[2][48]; /* names of the axes for d > 2 */
  double *plane;    /* 2 x d: the orthonormal axes themselves */
} RfFlowPaths;

/* A time for drawing that a reader waits for: the deadline of the context given to rf_flow_paths_new. */
enum { RF_PICTURE_SECONDS = 10 };

RF_API void rf_flow_paths_free(RfFlowPaths *paths);
/* Chooses at most `most` neurons and follows them. For d > 2 the plane is spanned by w+ and w- (the class
 * sums where these do not exist). RF_INTERRUPTED leaves no paths: count is 0, and rf_html_flow goes without.
 */
RF_API RfStatus rf_flow_paths_new(RfContext *context, RfFlowPaths *paths, const RfFlowProblem *problem,
                                  const RfFlowResult *result, rf_index most);

/* The member `paths`, of at most `most` neurons; null for 0 of them, without a study, and out of time. */
RF_API RfStatus rf_json_paths(RfContext *context, RfJson *json, const RfStudyFlow *study, rf_index most);

/* Pictures; rf_svg_free them. */
RF_API void rf_svg_flow_neurons(RfSvg *svg, const RfFlowReport *report, const RfFlowPaths *paths);
RF_API void rf_svg_flow_trace(RfSvg *svg, const RfFlowReport *report); /* loss, norm, stable rank over ln t */
RF_API void rf_svg_flow_margins(RfSvg *svg,
                                const RfFlowReport *report); /* margins over the size q of the outputs */
RF_API void rf_svg_flow_events(RfSvg *svg, const RfFlowReport *report); /* every neuron's events over ln t */
/* The page with all of them; trace and margins are left out where there is no trace. */
RF_API void rf_html_flow(RfText *page, const RfFlowReport *report, const RfFlowPaths *paths);

/* ---- certificates --------------------------------------------------------------------------------- */

/* The members of table `certify` that describe the network (all but name, model, per_class and
 * positive_class). */
RF_API void rf_certificate_json(RfJson *json, const RfCertificate *certificate);
/* One sentence: what the network is, and how far from the best. */
RF_API void rf_certificate_verdict(RfText *out, const RfCertificate *certificate);
/* The page for a terminal of `width` columns, and the same as the body of an HTML page. */
RF_API void rf_certificate_page(RfText *page, const RfCertificate *certificate, int width);
RF_API void rf_certificate_html(RfText *page, const RfCertificate *certificate);
/* Distances to the decision boundary: the member `robustness` (null without one), two lines of the page, and
 * the distance below which a share of the samples lies. */
RF_API void rf_robustness_json(RfJson *json, const RfRobustness *robustness);
RF_API void rf_robustness_page(RfText *page, const RfRobustness *robustness);
/* The member `frozen` (null without one), and its lines of the page. */
RF_API void rf_frozen_json(RfJson *json, const RfFrozenVerdict *verdict);
RF_API void rf_frozen_page(RfText *page, const RfFrozenVerdict *verdict);
RF_API double rf_robustness_quantile(const RfRobustness *robustness, double share);

/* ---- training ------------------------------------------------------------------------------------ */

/* The members of table `train` for one network; layered: weights in layers instead of W and a. */
RF_API void rf_json_train(RfJson *json, const RfTrainResult *result, bool layered);
/* The member `then`: the limit of the flow from a trained network. Not asked for: status NULL; not reached:
 * limit NULL.
 */
RF_API void rf_json_then(RfJson *json, const char *status, const RfFlowLimit *limit);
/* One row in ten of the records, and the last. */
RF_API void rf_text_train(RfText *page, const RfTrainResult *result);
/* Loss and normalised margin against the number of updates. */
RF_API void rf_svg_train(RfSvg *svg, const RfTrainResult *result);

/* ---- explain ---------------------------------------------------------------------------------- */

/* Every picture of its parts: those of inspect, of the flow, and of the best margin. */
RF_API RfStatus rf_explanation_pictures(RfContext *context, RfPictureFn draw, void *user,
                                        const RfExplanation *explanation);
/* Ten lines, and the self-contained page. */
RF_API void rf_explanation_page(RfText *page, const RfExplanation *explanation, int width);
RF_API RfStatus rf_explanation_html(RfContext *context, RfText *page, const RfExplanation *explanation);
/* The members of table `explain`. */
RF_API void rf_explanation_json(RfJson *json, const RfExplanation *explanation, int detail);

#ifdef __cplusplus
}
#endif
#endif

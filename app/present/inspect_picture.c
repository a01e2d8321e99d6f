/* Pictures of an inspection: the plane with its cones and directions, G on the circle, the samples' margins.
 * Angles are counter-clockwise from the first axis; pixels have y downwards. */
#include "present/present_internal.h"
#include "net/net.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

enum { MOST_POINTS = 3000, MOST_LABELS = 40, LABELLED_DIRECTIONS = 8, MOST_LINES = 60 };

/* ---- the plane ------------------------------------------------------------------------------- */

typedef struct Disc {
  RfSvg *svg;
  double x, y, radius; /* the circle of directions */
  double scale;        /* pixels per unit of length of a sample */
} Disc;

static double angle_of(const double *v) { return atan2(v[1], v[0]); }

/* The angles around `inside` in which no inner product with a sample changes sign. */
static void cone_angles(double *from, double *to, const RfDataset *data, const double *inside) {
  double at = angle_of(inside);
  *from = at - pi;
  *to = at + pi;
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    if (!(hypot(x[0], x[1]) > 0)) continue;
    double turn = fmod(angle_of(x) + pi / 2 - at, pi); /* to the next hyperplane, counter-clockwise */
    if (turn < 0) turn += pi;
    *to = fmin(*to, at + turn);
    *from = fmax(*from, at + turn - pi);
  }
}

static void draw_cone(const Disc *disc, const RfDataset *data, const RfCone *cone, RfColour colour,
                      double opacity) {
  if (cone->nonempty != RF_YES) return;
  double from, to, at = angle_of(cone->witness);
  if (cone->interior) {
    cone_angles(&from, &to, data, cone->witness);
    rf_svg_sector(disc->svg, disc->x, disc->y, disc->radius, from, to, colour, opacity);
  } else { /* a single ray */
    RfPen pen = {.colour = colour, .width = 5, .opacity = opacity};
    rf_svg_line(disc->svg, disc->x, disc->y, disc->x + disc->radius * cos(at),
                disc->y - disc->radius * sin(at), pen);
  }
}

static void draw_points(const Disc *disc, const RfDataset *data) {
  rf_index step = data->n / MOST_POINTS + 1;
  double size = data->n > 400 ? 2.2 : data->n > 60 ? 3.5 : 5;
  for (rf_index i = 0; i < data->n; i += step) {
    const double *x = data->X + i * data->d;
    bool positive = data->y[i] > 0;
    rf_svg_mark(disc->svg, disc->x + disc->scale * x[0], disc->y - disc->scale * x[1], size,
                positive ? RF_MARK_DISC : RF_MARK_SQUARE, positive ? RF_COLOUR_PLUS : RF_COLOUR_MINUS);
  }
}

static void draw_arrow(const Disc *disc, const double *v, double length, RfPen pen) {
  double norm = hypot(v[0], v[1]), reach = length * disc->radius;
  if (!(norm > 0)) return;
  rf_svg_arrow(disc->svg, disc->x, disc->y, disc->x + reach * v[0] / norm, disc->y - reach * v[1] / norm,
               pen);
}

/* Labels on the rim, pushed apart until neighbours have room. */
typedef struct Rim {
  struct {
    double angle, shown;
    RfColour colour;
    char text[32];
  } labels[MOST_LABELS];
  int count;
} Rim;

static void rim_add(Rim *rim, const double *v, RfColour colour, const char *text) {
  if (rim->count == MOST_LABELS) return;
  double angle = angle_of(v);
  rim->labels[rim->count].angle = rim->labels[rim->count].shown = angle;
  rim->labels[rim->count].colour = colour;
  rf_format(rim->labels[rim->count++].text, sizeof rim->labels[0].text, "%s", text);
}

static int by_angle(const void *a, const void *b) {
  double d = *(const double *)a - *(const double *)b; /* the angle is the first member */
  return (d > 0) - (d < 0);
}

static void rim_spread(Rim *rim) {
  double room = rim->count > 0 ? fmin(0.11, 1.8 * pi / rim->count) : 0;
  qsort(rim->labels, (size_t)rim->count, sizeof rim->labels[0], by_angle);
  for (int round = 0; round < 200; round++) {
    bool moved = false;
    for (int k = 0; k < rim->count && rim->count > 1; k++) {
      int next = (k + 1) % rim->count;
      double gap = rim->labels[next].shown - rim->labels[k].shown + (next == 0 ? 2 * pi : 0);
      if (gap >= room - 1e-6) continue;
      rim->labels[k].shown -= (room - gap) / 2;
      rim->labels[next].shown += (room - gap) / 2;
      moved = true;
    }
    if (!moved) return;
  }
}

typedef struct Box {
  double left, right, y;
} Box;

static bool overlaps(const Box *boxes, int count, Box box) {
  for (int k = 0; k < count; k++) {
    bool apart =
        box.left > boxes[k].right + 4 || box.right < boxes[k].left - 4 || fabs(box.y - boxes[k].y) >= 15;
    if (!apart) return true;
  }
  return false;
}

/* Near the top and the bottom labels lie side by side and are wide: there they are stacked outwards. */
static void rim_draw(const Disc *disc, Rim *rim) {
  Box boxes[MOST_LABELS];
  rim_spread(rim);
  for (int k = 0; k < rim->count; k++) {
    double a = rim->labels[k].angle, s = rim->labels[k].shown, c = cos(s);
    RfAnchor anchor = c > 0.25 ? RF_ANCHOR_START : c < -0.25 ? RF_ANCHOR_END : RF_ANCHOR_MIDDLE;
    double x = disc->x + (disc->radius + 17) * c, wide = 7.4 * (double)rf_text_width(rim->labels[k].text);
    double left = anchor == RF_ANCHOR_START ? x : anchor == RF_ANCHOR_END ? x - wide : x - wide / 2;
    Box box = {left, left + wide, disc->y - (disc->radius + 20) * sin(s) + 4.5};
    for (int tries = 0; tries < 12 && overlaps(boxes, k, box); tries++) box.y += sin(s) > 0 ? -15 : 15;
    boxes[k] = box;
    RfPen thin = {.colour = RF_COLOUR_FAINT, .width = 1};
    rf_svg_line(disc->svg, disc->x + (disc->radius + 5) * cos(a), disc->y - (disc->radius + 5) * sin(a),
                disc->x + (disc->radius + 13) * c, box.y - 4.5 + 7 * sin(s), thin);
    rf_svg_label(disc->svg, x, box.y, anchor, 13, rim->labels[k].colour, rim->labels[k].text);
  }
}

static void draw_extremal(const Disc *disc, Rim *rim, const RfExtremalDirection *list, rf_index count,
                          RfColour colour, RfMark mark, const char *name) {
  for (rf_index k = 0; k < count; k++) {
    const double *v = list[k].direction;
    char text[32];
    rf_format(text, sizeof text, "%s %.3g", name, list[k].G);
    rf_svg_mark(disc->svg, disc->x + disc->radius * v[0], disc->y - disc->radius * v[1], 6, mark, colour);
    if (k < LABELLED_DIRECTIONS) rim_add(rim, v, colour, text); /* the largest come first */
  }
}

static void draw_separators(const Disc *disc, Rim *rim, const RfInspection *inspection) {
  RfPen ink = {.colour = RF_COLOUR_INK, .width = 2.6},
        dashed = {.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true};
  const RfLinearMargin *linear = &inspection->linear;
  if (linear->status == RF_OK && linear->w) {
    double px = -linear->w[1] * disc->radius, py = linear->w[0] * disc->radius;
    rf_svg_line(disc->svg, disc->x - px, disc->y + py, disc->x + px, disc->y - py, dashed);
    draw_arrow(disc, linear->w, 0.99, ink);
    rim_add(rim, linear->w, RF_COLOUR_INK, "w*");
  }
  if (!inspection->positive.empty && inspection->positive.exists) {
    draw_arrow(disc, inspection->positive.w, 0.82, (RfPen){.colour = RF_COLOUR_PLUS, .width = 2.6});
    rim_add(rim, inspection->positive.w, RF_COLOUR_PLUS, "w+");
  }
  if (!inspection->negative.empty && inspection->negative.exists) {
    draw_arrow(disc, inspection->negative.w, 0.82, (RfPen){.colour = RF_COLOUR_MINUS, .width = 2.6});
    rim_add(rim, inspection->negative.w, RF_COLOUR_MINUS, "w\xE2\x88\x92");
  }
}

/* Only what is in the picture. */
static void plane_legend(RfSvg *svg, const RfInspection *inspection, double y) {
  const RfCone *cones = inspection->cones;
  const RfExtremal *extremal = &inspection->extremal;
  const struct {
    bool drawn;
    RfLegendEntry entry;
  } all[] = {
      {inspection->pairs.n_pos > 0, {"positive sample", RF_COLOUR_PLUS, RF_MARK_DISC}},
      {inspection->pairs.n_neg > 0, {"negative sample", RF_COLOUR_MINUS, RF_MARK_SQUARE}},
      {inspection->linear.status == RF_OK, {"boundary of w*", RF_COLOUR_INK, -2}},
      {extremal->n_positive > 0, {"maximum of G", RF_COLOUR_GREEN, RF_MARK_TRIANGLE}},
      {extremal->n_negative > 0, {"minimum of G", RF_COLOUR_PURPLE, RF_MARK_CROSS}},
      {cones[RF_CONE_POSITIVE].nonempty == RF_YES, {"S+", RF_COLOUR_PLUS, -3}},
      {cones[RF_CONE_NEGATIVE].nonempty == RF_YES, {"S\xE2\x88\x92", RF_COLOUR_MINUS, -3}},
      {cones[RF_CONE_DEAD].nonempty == RF_YES, {"dead", RF_COLOUR_INK, -3}},
  };
  RfLegendEntry entries[8];
  rf_index count = 0;
  for (int k = 0; k < 8; k++) {
    if (all[k].drawn) entries[count++] = all[k].entry;
  }
  double used = rf_svg_legend(svg, 16, y, svg->width - 20, entries, count);
  char text[160];
  rf_index step = inspection->data->n / MOST_POINTS + 1;
  rf_format(text, sizeof text, "The circle shows directions; the longest sample has length %.4g.%s",
            inspection->pairs.norm_max, step > 1 ? " Not every sample is drawn." : "");
  rf_svg_label(svg, 16, y + used + 14, RF_ANCHOR_START, 12, RF_COLOUR_INK, text);
}

void rf_inspection_plane_svg(RfSvg *svg, const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  rf_svg_begin(svg, 500, 575, "The plane: samples, separators, cones",
               "Samples with the max-margin separator, the class vectors, the cones of the first layer and "
               "the extremal "
               "directions of G.");
  double longest = inspection->pairs.norm_max;
  Disc disc = {svg, 250, 235, 158, longest > 0 ? 0.92 * 158 / longest : 0};
  Rim rim = {.count = 0};
  RfPen faint = {.colour = RF_COLOUR_FAINT, .width = 1};
  draw_cone(&disc, data, &inspection->cones[RF_CONE_DEAD], RF_COLOUR_INK, 0.12);
  draw_cone(&disc, data, &inspection->cones[RF_CONE_POSITIVE], RF_COLOUR_PLUS, 0.2);
  draw_cone(&disc, data, &inspection->cones[RF_CONE_NEGATIVE], RF_COLOUR_MINUS, 0.2);
  rf_svg_line(svg, disc.x - disc.radius, disc.y, disc.x + disc.radius, disc.y, faint);
  rf_svg_line(svg, disc.x, disc.y - disc.radius, disc.x, disc.y + disc.radius, faint);
  rf_svg_circle(svg, disc.x, disc.y, disc.radius, (RfPen){.colour = RF_COLOUR_INK, .width = 1});
  draw_separators(&disc, &rim, inspection);
  draw_points(&disc, data);
  const RfExtremal *extremal = &inspection->extremal;
  draw_extremal(&disc, &rim, extremal->positive, extremal->n_positive, RF_COLOUR_GREEN, RF_MARK_TRIANGLE,
                "max");
  draw_extremal(&disc, &rim, extremal->negative, extremal->n_negative, RF_COLOUR_PURPLE, RF_MARK_CROSS,
                "min");
  rim_draw(&disc, &rim);
  plane_legend(svg, inspection, 475);
  rf_svg_end(svg);
}

/* ---- G on the circle ------------------------------------------------------------------------- */

enum { CIRCLE_STEPS = 1440 };

static void draw_hyperplanes(const RfPlot *plot, const RfDataset *data) {
  if (data->n > MOST_LINES) return;
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    if (!(hypot(x[0], x[1]) > 0)) continue;
    for (int side = -1; side <= 1; side += 2) {
      double a = angle_of(x) + side * pi / 2;
      double px = rf_plot_x(plot, remainder(a, 2 * pi) * 180 / pi);
      RfPen pen = {.colour = data->y[i] > 0 ? RF_COLOUR_PLUS : RF_COLOUR_MINUS,
                   .width = 1,
                   .opacity = 0.6,
                   .dashed = true};
      rf_svg_line(plot->svg, px, plot->top, px, plot->top + plot->height, pen);
    }
  }
}

static void draw_maxima(const RfPlot *plot, const RfExtremalDirection *list, rf_index count, RfColour colour,
                        RfMark mark) {
  for (rf_index k = 0; k < count; k++)
    rf_svg_mark(plot->svg, rf_plot_x(plot, angle_of(list[k].direction) * 180 / pi),
                rf_plot_y(plot, list[k].G), 6, mark, colour);
}

void rf_inspection_potential_svg(RfSvg *svg, const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  rf_svg_begin(
      svg, 500, 400, "G on the unit circle",
      "The growth rate G of a neuron near zero against its direction, with its local maxima and minima.");
  double *angle = RF_NEW(double, CIRCLE_STEPS + 1), *value = RF_NEW(double, CIRCLE_STEPS + 1);
  RfPlot plot = {svg,
                 66,
                 24,
                 415,
                 250,
                 {-180, 180, false, "direction of the neuron (degrees)", 90},
                 {0, 0, false, "G (length)", 0}};
  if (!angle || !value) svg->text.failed = true;
  for (rf_index k = 0; angle && value && k <= CIRCLE_STEPS; k++) {
    angle[k] = -180 + 360.0 * (double)k / CIRCLE_STEPS;
    double w[] = {cos(angle[k] * pi / 180), sin(angle[k] * pi / 180)};
    value[k] = rf_geometry_potential(w, data->X, data->y, data->n, data->d, inspection->settings.leak,
                                     rf_loss_slope_at_zero(inspection->settings.loss));
  }
  if (angle && value) {
    rf_axis_cover(&plot.y, value, CIRCLE_STEPS + 1);
    rf_axis_pad(&plot.y, 0.08);
    rf_plot_axes(&plot);
    draw_hyperplanes(&plot, data);
    rf_plot_line(&plot, angle, value, CIRCLE_STEPS + 1, (RfPen){.colour = RF_COLOUR_INK, .width = 2});
    draw_maxima(&plot, inspection->extremal.positive, inspection->extremal.n_positive, RF_COLOUR_GREEN,
                RF_MARK_TRIANGLE);
    draw_maxima(&plot, inspection->extremal.negative, inspection->extremal.n_negative, RF_COLOUR_PURPLE,
                RF_MARK_CROSS);
  }
  const RfLegendEntry entries[] = {{"G", RF_COLOUR_INK, -1},
                                   {"maximum", RF_COLOUR_GREEN, RF_MARK_TRIANGLE},
                                   {"minimum", RF_COLOUR_PURPLE, RF_MARK_CROSS},
                                   {"hyperplane of a positive sample", RF_COLOUR_PLUS, -2},
                                   {"of a negative sample", RF_COLOUR_MINUS, -2}};
  rf_svg_legend(svg, 16, 328, 480, entries, data->n > MOST_LINES ? 3 : 5);
  rf_svg_end(svg);
  rf_free(angle);
  rf_free(value);
}

/* ---- margins --------------------------------------------------------------------------------- */

typedef struct Sample {
  double margin;
  bool positive;
} Sample;

static int by_margin(const void *a, const void *b) {
  double d = ((const Sample *)a)->margin - ((const Sample *)b)->margin;
  return (d > 0) - (d < 0);
}

static Sample *sorted_margins(const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  Sample *samples = RF_NEW(Sample, data->n);
  for (rf_index i = 0; samples && i < data->n; i++) {
    double product = 0;
    for (rf_index j = 0; j < data->d; j++) product += inspection->linear.w[j] * data->X[i * data->d + j];
    samples[i] = (Sample){data->y[i] * product / inspection->linear.margin, data->y[i] > 0};
  }
  if (samples) qsort(samples, (size_t)data->n, sizeof *samples, by_margin);
  return samples;
}

void rf_inspection_margins_svg(RfSvg *svg, const RfInspection *inspection) {
  rf_index n = inspection->data->n;
  rf_svg_begin(svg, 500, 370, "Margins of the samples",
               "Margins under the max-margin separator, smallest first, as multiples of the smallest.");
  Sample *samples = sorted_margins(inspection);
  if (samples) {
    double top = samples[n - 1].margin;
    RfPlot plot = {svg,
                   66,
                   20,
                   415,
                   260,
                   {-0.5, (double)n - 0.5, false, "samples, smallest margin first", 0},
                   {1, fmax(top, 1.2), top > 100, "margin / smallest margin", 0}};
    if (plot.y.log)
      rf_axis_pad(&plot.y, 0.05);
    else
      plot.y.low = 0, plot.y.high *= 1.05;
    rf_plot_axes(&plot);
    rf_svg_line(svg, plot.left, rf_plot_y(&plot, 1), plot.left + plot.width, rf_plot_y(&plot, 1),
                (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
    rf_index step = n / MOST_POINTS + 1;
    for (rf_index i = 0; i < n; i += step) {
      RfMark mark = samples[i].positive ? RF_MARK_DISC : RF_MARK_SQUARE;
      RfColour colour = samples[i].positive ? RF_COLOUR_PLUS : RF_COLOUR_MINUS;
      rf_svg_mark(svg, rf_plot_x(&plot, (double)i), rf_plot_y(&plot, samples[i].margin), n > 200 ? 2 : 4.5,
                  mark, colour);
    }
  } else {
    svg->text.failed = true;
  }
  const RfLegendEntry entries[] = {{"positive", RF_COLOUR_PLUS, RF_MARK_DISC},
                                   {"negative", RF_COLOUR_MINUS, RF_MARK_SQUARE},
                                   {"the margin", RF_COLOUR_INK, -2}};
  rf_svg_legend(svg, 16, 336, 480, entries, 3);
  rf_svg_end(svg);
  rf_free(samples);
}

RfStatus rf_inspection_pictures(RfContext *context, RfPictureFn draw, void *user,
                                const RfInspection *inspection) {
  static const struct {
    void (*draw)(RfSvg *svg, const RfInspection *inspection);
    const char *name;
  } all[] = {{rf_inspection_plane_svg, "plane.svg"},
             {rf_inspection_potential_svg, "potential.svg"},
             {rf_inspection_margins_svg, "margins.svg"}};
  const RfDataset *data = inspection->data;
  if (!data->y) {
    rf_message(context, RF_WARNING, "pictures of the data need two classes: see --classes");
    return RF_OK;
  }
  RfStatus status = RF_OK;
  for (int k = 0; k < 3 && !status; k++) {
    RfSvg svg;
    if (k < 2 ? data->d != 2 : inspection->linear.status != RF_OK) continue;
    all[k].draw(&svg, inspection);
    status = draw(user, &svg, all[k].name);
    rf_svg_free(&svg);
  }
  return status;
}

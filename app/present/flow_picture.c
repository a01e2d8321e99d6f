/* Pictures of a flow: neurons among the hyperplanes, quantities along the run, margins, and the events of
 * every neuron. */
#include "present/present.h"
#include "core/core.h"

#include <math.h>
#include <string.h>
#include <stdio.h>

enum { MOST_POINTS = 3000, MOST_PLANES = 80, MOST_TIMES = 64, EVENT_BINS = 48, MOST_NAMED = 6 };

/* The pictures are narrow, so that a phone shows them whole with letters that can be read. */
static const double wide = 500, frame_left = 66, frame_width = 415;

static RfColour destiny_colour(const RfFlowResult *result, rf_index k) {
  static const RfColour colours[] = {RF_COLOUR_PLUS,  RF_COLOUR_MINUS,  RF_COLOUR_FAINT,
                                     RF_COLOUR_GREEN, RF_COLOUR_PURPLE, RF_COLOUR_PURPLE};
  return result->alignment.neurons ? colours[result->alignment.neurons[k].destiny] : RF_COLOUR_GREEN;
}

static double start_sign(const RfFlowStart *start, rf_index k) {
  return start->directions[k * (start->d + 1) + start->d];
}

static RfColour sign_colour(double a) {
  return a > 0 ? RF_COLOUR_PLUS : a < 0 ? RF_COLOUR_MINUS : RF_COLOUR_FAINT;
}

/* Destinies tell the drawn neurons apart; where all of them coincide, the signs do. */
static bool by_sign(const RfFlowReport *report, const RfFlowPaths *paths) {
  const RfAlignNeuron *neurons = report->result->alignment.neurons;
  for (rf_index k = 1; neurons && k < paths->count; k++)
    if (neurons[paths->neurons[k]].destiny != neurons[paths->neurons[0]].destiny) return false;
  return true;
}

/* ---- neurons ------------------------------------------------------------------------------- */

typedef struct Disc {
  RfSvg *svg;
  double x, y, radius;
} Disc;

static void at(const Disc *disc, double *px, double *py, double x, double y) {
  *px = disc->x + disc->radius * x, *py = disc->y - disc->radius * y;
}

static void disc_samples(const Disc *disc, const RfFlowProblem *problem, const RfFlowPaths *paths) {
  rf_index step = problem->n / MOST_POINTS + 1;
  double longest = 0, size = problem->n > 400 ? 2 : 4;
  for (rf_index i = 0; i < problem->n; i++)
    longest = fmax(longest, hypot(paths->samples[2 * i], paths->samples[2 * i + 1]));
  for (rf_index i = 0; i < problem->n && longest > 0; i += step) {
    double px, py, factor = 0.3 / longest;
    at(disc, &px, &py, factor * paths->samples[2 * i], factor * paths->samples[2 * i + 1]);
    bool positive = problem->y[i] > 0;
    rf_svg_mark(disc->svg, px, py, size, positive ? RF_MARK_DISC : RF_MARK_SQUARE,
                positive ? RF_COLOUR_PLUS : RF_COLOUR_MINUS);
  }
}

/* In the plane every hyperplane is a line through the middle. */
static void disc_planes(const Disc *disc, const RfFlowProblem *problem) {
  rf_index step = problem->n / MOST_PLANES + 1;
  for (rf_index i = 0; i < problem->n; i += step) {
    const double *x = problem->X + i * 2;
    double norm = hypot(x[0], x[1]), ax, ay, bx, by;
    if (!(norm > 0)) continue;
    at(disc, &ax, &ay, -x[1] / norm, x[0] / norm);
    at(disc, &bx, &by, x[1] / norm, -x[0] / norm);
    rf_svg_line(disc->svg, ax, ay, bx, by, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
  }
}

/* d = 2: the radius is time, from 0.36 at the start to 0.92 after alignment, the angle is the direction. */
static double ring(rf_index j, rf_index n_times) { return 0.36 + 0.56 * (double)j / (double)(n_times - 1); }

static rf_index disc_points(const Disc *disc, double *x, double *y, const RfFlowPaths *paths, rf_index k,
                            bool flat) {
  rf_index count = 0;
  const double *points = paths->points + k * paths->n_times * 2;
  for (rf_index j = 0; j < paths->n_times && j < MOST_TIMES; j++) {
    double r = flat ? ring(j, paths->n_times) : 1;
    if (!isfinite(points[2 * j])) continue;
    at(disc, &x[count], &y[count], r * points[2 * j], r * points[2 * j + 1]);
    count++;
  }
  return count;
}

static void disc_way(const Disc *disc, const RfFlowPaths *paths, rf_index k, bool flat, RfColour colour) {
  double x[MOST_TIMES], y[MOST_TIMES];
  rf_index count = disc_points(disc, x, y, paths, k, flat);
  if (count == 0) return;
  rf_svg_polyline(disc->svg, x, y, count,
                  (RfPen){.colour = colour, .width = 1.6, .opacity = paths->count > 30 ? 0.45 : 0.8});
  rf_svg_mark(disc->svg, x[0], y[0], 3, RF_MARK_CIRCLE, colour);
}

static void disc_end(const Disc *disc, const RfFlowPaths *paths, rf_index k, bool flat, RfColour colour) {
  double x[MOST_TIMES], y[MOST_TIMES], ex, ey;
  rf_index count = disc_points(disc, x, y, paths, k, flat);
  if (count == 0) return;
  const double *end = paths->ends + 2 * k;
  if (!isfinite(end[0])) return rf_svg_mark(disc->svg, x[count - 1], y[count - 1], 4, RF_MARK_CROSS, colour);
  at(disc, &ex, &ey, end[0], end[1]);
  rf_svg_line(
      disc->svg, x[count - 1], y[count - 1], ex, ey,
      (RfPen){.colour = colour, .width = 1.2, .opacity = paths->count > 30 ? 0.45 : 0.8, .dashed = true});
  rf_svg_mark(disc->svg, ex, ey, 5, RF_MARK_DISC, colour);
}

/* Only what is in the picture. */
static void neurons_legend(RfSvg *svg, const RfFlowReport *report, const RfFlowPaths *paths) {
  bool drawn[6] = {false}, vanishes = false, signs = by_sign(report, paths), plus = false, minus = false;
  for (rf_index k = 0; k < paths->count; k++) {
    double a = start_sign(report->problem->start, paths->neurons[k]);
    if (report->result->alignment.neurons && !signs)
      drawn[report->result->alignment.neurons[paths->neurons[k]].destiny] = true;
    plus = plus || (signs && a > 0), minus = minus || (signs && a < 0);
    vanishes = vanishes || !isfinite(paths->ends[2 * k]);
  }
  const struct {
    bool shown;
    RfLegendEntry entry;
  } all[] = {{plus, {"neuron with a > 0", RF_COLOUR_PLUS, -1}},
             {minus, {"a < 0", RF_COLOUR_MINUS, -1}},
             {drawn[RF_DESTINY_S_PLUS], {"neuron in S+", RF_COLOUR_PLUS, -1}},
             {drawn[RF_DESTINY_S_MINUS], {"in S\xE2\x88\x92", RF_COLOUR_MINUS, -1}},
             {drawn[RF_DESTINY_EXTREMAL], {"other extremal direction", RF_COLOUR_GREEN, -1}},
             {drawn[RF_DESTINY_DEAD], {"dead", RF_COLOUR_FAINT, -1}},
             {drawn[RF_DESTINY_STUCK] || drawn[RF_DESTINY_RUNNING], {"stuck", RF_COLOUR_PURPLE, -1}},
             {true, {"start", RF_COLOUR_INK, RF_MARK_CIRCLE}},
             {true, {"limit", RF_COLOUR_INK, RF_MARK_DISC}},
             {vanishes, {"vanishes", RF_COLOUR_INK, RF_MARK_CROSS}}};
  enum { ALL = (int)(sizeof all / sizeof all[0]) };
  RfLegendEntry entries[ALL];
  rf_index count = 0;
  for (int k = 0; k < ALL; k++)
    if (all[k].shown) entries[count++] = all[k].entry;
  rf_svg_legend(svg, 16, 478, wide - 20, entries, count);
}

void rf_svg_flow_neurons(RfSvg *svg, const RfFlowReport *report, const RfFlowPaths *paths) {
  const RfFlowProblem *problem = report->problem;
  bool flat = problem->d == 2, signs = by_sign(report, paths);
  rf_svg_begin(svg, wide, 530, "Neurons along the flow",
               "Directions of the neurons from their start through alignment to the limit");
  Disc disc = {svg, 250, 240, 215};
  if (flat) {
    disc_planes(&disc, problem);
  } else {
    RfPen faint = {.colour = RF_COLOUR_FAINT, .width = 1};
    rf_svg_line(svg, disc.x - disc.radius, disc.y, disc.x + disc.radius, disc.y, faint);
    rf_svg_line(svg, disc.x, disc.y - disc.radius, disc.x, disc.y + disc.radius, faint);
    rf_svg_label(svg, disc.x + disc.radius + 5, disc.y + 4, RF_ANCHOR_START, 13, RF_COLOUR_INK,
                 paths->axes[0]);
    rf_svg_label(svg, disc.x + 8, disc.y - disc.radius - 5, RF_ANCHOR_START, 13, RF_COLOUR_INK,
                 paths->axes[1]);
  }
  rf_svg_circle(svg, disc.x, disc.y, disc.radius, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2});
  disc_samples(&disc, problem, paths);
  for (int ends = 0; ends < 2; ends++) {
    rf_svg_group(svg, ends ? "ends" : "ways");
    for (rf_index k = 0; k < paths->count; k++) {
      rf_index neuron = paths->neurons[k];
      RfColour colour =
          signs ? sign_colour(start_sign(problem->start, neuron)) : destiny_colour(report->result, neuron);
      (ends ? disc_end : disc_way)(&disc, paths, k, flat, colour);
    }
    rf_svg_group_end(svg);
  }
  neurons_legend(svg, report, paths);
  rf_svg_end(svg);
}

/* ---- curves -------------------------------------------------------------------------------- */

static double *column(const RfFlowResult *result, double (*pick)(const RfFlowTrace *)) {
  double *values = RF_NEW(double, result->n_trace);
  for (rf_index k = 0; values && k < result->n_trace; k++) values[k] = pick(&result->trace[k]);
  return values;
}

static double pick_time(const RfFlowTrace *row) { return row->log_t; }
static double pick_loss(const RfFlowTrace *row) { return row->log_loss / log(10); }
static double pick_norm(const RfFlowTrace *row) { return row->log_norm / log(10); }
static double pick_rank(const RfFlowTrace *row) { return row->stable_rank; }
static double pick_margin(const RfFlowTrace *row) { return row->margin; }
static double pick_smoothed(const RfFlowTrace *row) { return row->smoothed_margin; }
/* log10 of the smallest output margin q. */
static double pick_q(const RfFlowTrace *row) {
  return row->margin > 0 ? (log(row->margin) + 2 * row->log_norm) / log(10) : NAN;
}

static void mark_phase(const RfPlot *plot, double log_t, const char *name, RfAnchor anchor) {
  if (!(log_t > plot->x.low && log_t < plot->x.high)) return;
  double x = rf_plot_x(plot, log_t);
  rf_svg_line(plot->svg, x, plot->top, x, plot->top + plot->height,
              (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.2, .dashed = true});
  if (name) rf_svg_label(plot->svg, x, plot->top - 6, anchor, 11, RF_COLOUR_INK, name);
}

/* Rows until the loss has fallen to e^-23, or for 25 e-folds of time after the fit: after that ln t grows
 * like q, and only the margins still change. */
static double early_end(const RfFlowResult *result) {
  return 25 + (isfinite(result->log_t_fit) ? result->log_t_fit : fmax(result->log_t_align, 0));
}

static rf_index early_rows(const RfFlowResult *result) {
  rf_index rows = 0;
  while (rows < result->n_trace && !(result->trace[rows].log_loss < -23) &&
         !(result->trace[rows].log_t > early_end(result)))
    rows++;
  return rows < result->n_trace ? rows + 1 : rows;
}

void rf_svg_flow_trace(RfSvg *svg, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  struct {
    const char *label;
    RfColour colour;
    double (*pick)(const RfFlowTrace *);
  } panels[] = {{"log10 loss", RF_COLOUR_PURPLE, pick_loss},
                {"log10 |\xCE\xB8|", RF_COLOUR_INK, pick_norm},
                {"stable rank of W", RF_COLOUR_GREEN, pick_rank}};
  double *t = column(result, pick_time);
  rf_index rows = early_rows(result);
  rf_svg_begin(svg, wide, 560, "Loss, norm and stable rank", "Three quantities along the run over ln t");
  for (int p = 0; p < 3 && t; p++) {
    double *values = column(result, panels[p].pick);
    if (!values) break;
    RfPlot plot = {.svg = svg,
                   .left = frame_left,
                   .top = 30 + 168 * p,
                   .width = frame_width,
                   .height = 130,
                   .x = {.low = INFINITY, .high = -INFINITY, .label = p == 2 ? "ln t" : ""},
                   .y = {.low = INFINITY, .high = -INFINITY, .label = panels[p].label}};
    rf_axis_cover(&plot.x, t, rows);
    rf_axis_cover(&plot.y, values, rows);
    rf_axis_pad(&plot.x, 0.02);
    rf_axis_pad(&plot.y, 0.08);
    rf_plot_axes(&plot);
    mark_phase(&plot, result->log_t_align, p == 0 ? "aligned" : NULL, RF_ANCHOR_END);
    mark_phase(&plot, result->log_t_fit, p == 0 ? "fitted to 1/4" : NULL, RF_ANCHOR_START);
    rf_plot_line(&plot, t, values, rows, (RfPen){.colour = panels[p].colour, .width = 2});
    rf_free(values);
  }
  rf_free(t);
  rf_svg_end(svg);
}

void rf_svg_flow_margins(RfSvg *svg, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  double *q = column(result, pick_q), *margin = column(result, pick_margin),
         *smoothed = column(result, pick_smoothed);
  rf_svg_begin(svg, wide, 360, "Margins", "Normalised margins over the size of the outputs");
  if (q && margin && smoothed) {
    RfPlot plot = {
        .svg = svg,
        .left = frame_left,
        .top = 20,
        .width = frame_width,
        .height = 250,
        .x = {.low = INFINITY, .high = -INFINITY, .label = "log10 of the smallest output margin q"},
        .y = {.low = INFINITY, .high = -INFINITY, .label = "margin / |\xCE\xB8|\xC2\xB2"}};
    double limit = report->result->limit.margin;
    for (rf_index k = 0; k < result->n_trace; k++) {
      if (isfinite(q[k]) && q[k] > -3) continue;
      q[k] = margin[k] = smoothed[k] = NAN; /* before separation */
    }
    rf_axis_cover(&plot.x, q, result->n_trace);
    rf_axis_cover(&plot.y, margin, result->n_trace);
    if (limit > 0) rf_axis_cover(&plot.y, &limit, 1);
    for (rf_index k = 0; k < result->n_trace; k++)
      if (!(smoothed[k] > plot.y.low - 0.3 * fabs(plot.y.high))) smoothed[k] = NAN;
    rf_axis_cover(&plot.y, smoothed, result->n_trace);
    rf_axis_pad(&plot.x, 0.02);
    rf_axis_pad(&plot.y, 0.08);
    rf_plot_axes(&plot);
    if (limit > 0) {
      double x[] = {plot.x.low, plot.x.high}, y[] = {limit, limit};
      rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
    }
    rf_plot_line(&plot, q, smoothed, result->n_trace, (RfPen){.colour = RF_COLOUR_PURPLE, .width = 2});
    rf_plot_line(&plot, q, margin, result->n_trace, (RfPen){.colour = RF_COLOUR_GREEN, .width = 2});
    const RfLegendEntry entries[] = {{"margin", RF_COLOUR_GREEN, -1},
                                     {"smoothed margin", RF_COLOUR_PURPLE, -1},
                                     {"margin at t = \xE2\x88\x9E", RF_COLOUR_INK, -2}};
    rf_svg_legend(svg, 16, 325, wide - 20, entries, limit > 0 ? 3 : 2);
  }
  rf_free(q);
  rf_free(margin);
  rf_free(smoothed);
  rf_svg_end(svg);
}

/* ---- events -------------------------------------------------------------------------------- */

static RfColour event_colour(RfEventKind kind) {
  static const RfColour colours[] = {RF_COLOUR_FAINT, RF_COLOUR_ORANGE, RF_COLOUR_GREEN, RF_COLOUR_INK,
                                     RF_COLOUR_PURPLE};
  return colours[kind];
}

static RfMark event_mark(RfEventKind kind) {
  static const RfMark marks[] = {RF_MARK_DISC, RF_MARK_SQUARE, RF_MARK_TRIANGLE, RF_MARK_CROSS,
                                 RF_MARK_CIRCLE};
  return marks[kind];
}

static void event_bars(const RfPlot *plot, const rf_index *bins) {
  for (int b = 0; b < EVENT_BINS; b++) {
    if (bins[b] == 0) continue;
    double left = plot->left + plot->width * b / EVENT_BINS + 0.5, bottom = plot->top + plot->height,
           right = plot->left + plot->width * (b + 1) / EVENT_BINS - 0.5,
           top = rf_plot_y(plot, (double)bins[b]);
    double x[] = {left, right, right, left}, y[] = {top, top, bottom, bottom};
    rf_svg_polygon(plot->svg, x, y, 4, RF_COLOUR_SKY, 0.7);
  }
}

static bool event_named(const RfFlowEvent *const *list, rf_index count, const RfFlowEvent *event) {
  for (rf_index k = 0; k < count; k++)
    if (list[k]->neuron == event->neuron && list[k]->kind == event->kind) return true;
  return false;
}

/* Everything but crossings, in one row; the first few are named, each neuron once. */
static void event_marks(const RfPlot *plot, const RfFlowResult *result, bool *seen, double row) {
  const RfFlowEvent *names[MOST_NAMED];
  rf_index named = 0;
  for (rf_index e = 0; e < result->n_events; e++) {
    const RfFlowEvent *event = &result->events[e];
    if (event->kind == RF_EVENT_CROSS || !isfinite(event->log_t) || event->log_t > plot->x.high) continue;
    double x = rf_plot_x(plot, event->log_t);
    rf_svg_mark(plot->svg, x, row, 4, event_mark(event->kind), event_colour(event->kind));
    seen[event->kind] = true;
    if (named == MOST_NAMED || event_named(names, named, event)) continue;
    names[named] = event;
    char text[64];
    rf_format(text, sizeof text, "neuron %lld: %s", (long long)event->neuron,
              rf_event_kind_name(event->kind));
    bool left = x > plot->left + plot->width / 2;
    double y = row - 16 * (double)++named;
    rf_svg_line(plot->svg, x, row - 5, x, y - 2, (RfPen){.colour = RF_COLOUR_FAINT, .width = 0.8});
    rf_svg_label(plot->svg, left ? x - 4 : x + 4, y, left ? RF_ANCHOR_END : RF_ANCHOR_START, 12,
                 RF_COLOUR_INK, text);
  }
}

static rf_index late_events(const RfFlowResult *result) {
  rf_index late = 0;
  for (rf_index e = 0; e < result->n_events; e++) late += result->events[e].log_t > early_end(result);
  return late < result->n_events ? late : 0; /* when all are late they are what there is to see */
}

/* Crossings as a density over ln t; slides, releases, deaths and branchings one by one above it. */
void rf_svg_flow_events(RfSvg *svg, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  rf_index bins[EVENT_BINS] = {0}, special = 0;
  bool seen[5] = {false};
  double low = INFINITY, high = -INFINITY, most = 1;
  double last = late_events(result) > 0 ? early_end(result) : INFINITY;
  for (rf_index e = 0; e < result->n_events; e++) {
    if (!isfinite(result->events[e].log_t) || result->events[e].log_t > last) continue;
    low = fmin(low, result->events[e].log_t), high = fmax(high, result->events[e].log_t);
    special += result->events[e].kind != RF_EVENT_CROSS;
  }
  double head = special ? 30 + 16 * (double)(special < MOST_NAMED ? special : MOST_NAMED) : 16;
  double tall = special < result->n_events ? 150 : 12; /* without crossings a line of time is left */
  rf_svg_begin(svg, wide, head + tall + 100, "Events",
               "Changes of the neurons' activation patterns over ln t");
  RfPlot plot = {.svg = svg,
                 .left = frame_left,
                 .top = head,
                 .width = frame_width,
                 .height = tall,
                 .x = {.low = low, .high = high, .label = "ln t"},
                 .y = {.low = 0, .high = 1, .label = tall > 12 ? "crossings" : NULL}};
  if (!(low <= high)) plot.x.low = 0, plot.x.high = 1;
  rf_axis_pad(&plot.x, 0.03);
  for (rf_index e = 0; e < result->n_events; e++) {
    const RfFlowEvent *event = &result->events[e];
    if (event->kind != RF_EVENT_CROSS || !isfinite(event->log_t) || event->log_t > last) continue;
    int b = (int)(EVENT_BINS * (event->log_t - plot.x.low) / (plot.x.high - plot.x.low));
    b = b < 0 ? 0 : b >= EVENT_BINS ? EVENT_BINS - 1 : b;
    most = fmax(most, (double)++bins[b]);
  }
  plot.y.high = 1.08 * most;
  if (tall < 20) plot.y.step = 10;
  rf_plot_axes(&plot);
  event_bars(&plot, bins);
  event_marks(&plot, result, seen, head - 10);
  mark_phase(&plot, result->log_t_align, NULL, RF_ANCHOR_END);
  const RfLegendEntry all[] = {{"crossings", RF_COLOUR_SKY, -3},
                               {"slide", RF_COLOUR_ORANGE, RF_MARK_SQUARE},
                               {"release", RF_COLOUR_GREEN, RF_MARK_TRIANGLE},
                               {"die", RF_COLOUR_INK, RF_MARK_CROSS},
                               {"branch", RF_COLOUR_PURPLE, RF_MARK_CIRCLE}};
  RfLegendEntry entries[6];
  rf_index count = 0;
  seen[RF_EVENT_CROSS] = tall > 12;
  for (int k = 0; k < 5; k++)
    if (seen[k]) entries[count++] = all[k];
  entries[count++] = (RfLegendEntry){"alignment ends", RF_COLOUR_FAINT, -2};
  rf_svg_legend(svg, 16, head + tall + 55, wide - 20, entries, count);
  rf_svg_end(svg);
}

/* ---- the page ------------------------------------------------------------------------------ */

static void picture(RfText *page, RfSvg *svg, const char *caption) {
  rf_html_picture(page, svg, caption);
  rf_svg_free(svg);
}

/* At least two rows of the trace after separation: something to draw. */
static bool separates(const RfFlowResult *result) {
  rf_index rows = 0;
  for (rf_index k = 0; k < result->n_trace; k++) rows += pick_q(&result->trace[k]) > -3;
  return rows > 1;
}

static void outcome_line(char *line, size_t size, const RfFlowLimit *limit) {
  const char *what = limit->outcome == RF_FLOW_NOT_SEPARATED ? "The flow never separates the data"
                     : limit->outcome == RF_FLOW_BRANCHED    ? "The flow has several continuations"
                     : limit->outcome == RF_FLOW_UNDECIDED   ? "The limit is undecided"
                                                             : rf_flow_outcome_name(limit->outcome);
  rf_format(line, size, "%s%s%s.", what, limit->why[0] ? ": " : "", limit->why);
}

void rf_html_flow(RfText *page, const RfFlowReport *report, const RfFlowPaths *paths) {
  const RfFlowLimit *limit = &report->result->limit;
  char line[512];
  RfText plain = {0};
  RfSvg svg;
  rf_format(line, sizeof line, "The flow%s%s", report->positive_class ? ", class " : "",
            report->positive_class ? report->positive_class : "");
  rf_html_section(page, line);
  if (limit->outcome == RF_FLOW_CONVERGED)
    rf_format(line, sizeof line, "The flow converges to a direction with margin %.12g.", limit->margin);
  else
    outcome_line(line, sizeof line, limit);
  rf_html_verdict(page, limit->outcome == RF_FLOW_CONVERGED ? RF_GOOD : RF_BAD, line);
  if (paths->count > 0) {
    rf_svg_flow_neurons(&svg, report, paths);
    rf_format(
        line, sizeof line, "Neurons on their way, coloured by %s. %s",
        by_sign(report, paths) ? "the sign of a" : "where alignment takes them",
        report->problem->d == 2
            ? "Angle: direction of w. Radius: time until alignment ends; dashed: on to the limit. Lines: "
              "the hyperplanes w.x = 0. Inside: the samples."
            : "w/|w| projected on a plane, so that neurons inside the circle point out of it; dashed: on "
              "to the limit. Inside: the samples, scaled.");
    picture(page, &svg, line);
  } else {
    rf_html_paragraph(page,
                      "The neurons' paths were not drawn: following them takes too long on these data.");
  }
  if (report->result->n_trace > 1) {
    rf_svg_flow_trace(&svg, report);
    picture(page, &svg, "Loss, norm and stable rank. Dashed: the phases.");
  }
  if (separates(report->result)) {
    rf_svg_flow_margins(&svg, report);
    picture(page, &svg, "Margins approach their limit as the outputs grow.");
  }
  if (report->result->n_events > 0) {
    rf_svg_flow_events(&svg, report);
    rf_index late = late_events(report->result);
    rf_format(line, sizeof line, "When neurons switch samples on and off: %lld events.",
              (long long)report->result->n_events);
    if (late > 0)
      rf_format(line + strlen(line), sizeof line - strlen(line),
                " %lld come%s so late that no scale shows them beside the others.", (long long)late,
                late == 1 ? "s" : "");
    picture(page, &svg, line);
  }
  rf_html_fold(page, "The run as the terminal shows it");
  rf_text_flow(&plain, report);
  rf_html_preformatted(page, rf_text_string(&plain));
  rf_html_fold_end(page);
  if (plain.failed) page->failed = true;
  rf_text_free(&plain);
}

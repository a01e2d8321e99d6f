/* Pictures of a flow: neurons among the hyperplanes, quantities along the run, margins, and the events of
 * every neuron. */
#include "present/present.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>

enum { MOST_POINTS = 3000, MOST_PLANES = 80, MOST_ROWS = 60, MOST_EVENTS = 6000 };

static RfColour destiny_colour(const RfFlowResult *result, rf_index k) {
  static const RfColour colours[] = {RF_COLOUR_BLUE,  RF_COLOUR_VERMILION, RF_COLOUR_FAINT,
                                     RF_COLOUR_GREEN, RF_COLOUR_PURPLE,    RF_COLOUR_PURPLE};
  return result->alignment.neurons ? colours[result->alignment.neurons[k].destiny] : RF_COLOUR_GREEN;
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
                positive ? RF_COLOUR_BLUE : RF_COLOUR_VERMILION);
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

static void disc_path(const Disc *disc, const RfFlowPaths *paths, rf_index k, bool flat, RfColour colour) {
  double x[64], y[64];
  rf_index count = 0;
  const double *points = paths->points + k * paths->n_times * 2;
  for (rf_index j = 0; j < paths->n_times && j < 64; j++) {
    double r = flat ? ring(j, paths->n_times) : 1;
    if (!isfinite(points[2 * j])) continue;
    at(disc, &x[count], &y[count], r * points[2 * j], r * points[2 * j + 1]);
    count++;
  }
  if (count == 0) return;
  double opacity = paths->count > 30 ? 0.45 : 0.8;
  rf_svg_polyline(disc->svg, x, y, count, (RfPen){.colour = colour, .width = 1.6, .opacity = opacity});
  rf_svg_mark(disc->svg, x[0], y[0], 3, RF_MARK_CIRCLE, colour);
  const double *end = paths->ends + 2 * k;
  double ex, ey;
  if (!isfinite(end[0])) {
    rf_svg_mark(disc->svg, x[count - 1], y[count - 1], 4, RF_MARK_CROSS, colour);
    return;
  }
  at(disc, &ex, &ey, end[0], end[1]);
  rf_svg_line(disc->svg, x[count - 1], y[count - 1], ex, ey,
              (RfPen){.colour = colour, .width = 1.2, .opacity = opacity, .dashed = true});
  rf_svg_mark(disc->svg, ex, ey, 5, RF_MARK_DISC, colour);
}

/* Only what is in the picture. */
static void neurons_legend(RfSvg *svg, const RfFlowReport *report, const RfFlowPaths *paths) {
  bool drawn[6] = {false}, vanishes = false;
  for (rf_index k = 0; k < paths->count; k++) {
    if (report->result->alignment.neurons)
      drawn[report->result->alignment.neurons[paths->neurons[k]].destiny] = true;
    vanishes = vanishes || !isfinite(paths->ends[2 * k]);
  }
  const struct {
    bool shown;
    RfLegendEntry entry;
  } all[] = {{drawn[RF_DESTINY_S_PLUS], {"neuron in S+", RF_COLOUR_BLUE, -1}},
             {drawn[RF_DESTINY_S_MINUS], {"in S\xE2\x88\x92", RF_COLOUR_VERMILION, -1}},
             {drawn[RF_DESTINY_EXTREMAL], {"other extremal direction", RF_COLOUR_GREEN, -1}},
             {drawn[RF_DESTINY_DEAD], {"dead", RF_COLOUR_FAINT, -1}},
             {drawn[RF_DESTINY_STUCK] || drawn[RF_DESTINY_RUNNING], {"stuck", RF_COLOUR_PURPLE, -1}},
             {true, {"start", RF_COLOUR_INK, RF_MARK_CIRCLE}},
             {true, {"limit", RF_COLOUR_INK, RF_MARK_DISC}},
             {vanishes, {"vanishes", RF_COLOUR_INK, RF_MARK_CROSS}}};
  RfLegendEntry entries[8];
  rf_index count = 0;
  for (int k = 0; k < 8; k++)
    if (all[k].shown) entries[count++] = all[k].entry;
  rf_svg_legend(svg, 30, 600, 590, entries, count);
}

void rf_svg_flow_neurons(RfSvg *svg, const RfFlowReport *report, const RfFlowPaths *paths) {
  const RfFlowProblem *problem = report->problem;
  bool flat = problem->d == 2;
  rf_svg_begin(svg, 640, 700, "Neurons along the flow",
               "Directions of the neurons from their start through alignment to the limit");
  Disc disc = {svg, 320, 300, 255};
  if (flat) {
    disc_planes(&disc, problem);
  } else {
    rf_svg_line(svg, 65, 300, 575, 300, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
    rf_svg_line(svg, 320, 45, 320, 555, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
    rf_svg_label(svg, 582, 304, RF_ANCHOR_START, 13, RF_COLOUR_INK, paths->axes[0]);
    rf_svg_label(svg, 328, 40, RF_ANCHOR_START, 13, RF_COLOUR_INK, paths->axes[1]);
  }
  rf_svg_circle(svg, disc.x, disc.y, disc.radius, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2});
  disc_samples(&disc, problem, paths);
  for (rf_index k = 0; k < paths->count; k++)
    disc_path(&disc, paths, k, flat, destiny_colour(report->result, paths->neurons[k]));
  neurons_legend(svg, report, paths);
  rf_svg_label(svg, 30, 662, RF_ANCHOR_START, 12, RF_COLOUR_INK,
               flat ? "Angle: direction of w. Radius: time until alignment ends; dashed: on to the limit."
                    : "w/|w| projected on a plane; the circle outlines the unit sphere.");
  rf_svg_label(svg, 30, 680, RF_ANCHOR_START, 12, RF_COLOUR_INK,
               flat ? "Lines: hyperplanes w.x = 0, they bound the sectors. Inside: the samples."
                    : "Dashed: on to the limit. Inside: the samples, scaled.");
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

/* Rows until the loss has fallen to e^-23: after that ln t grows like q, and only the margins still change.
 */
static rf_index early_rows(const RfFlowResult *result) {
  rf_index rows = 0;
  while (rows < result->n_trace && !(result->trace[rows].log_loss < -23)) rows++;
  return rows < result->n_trace ? rows + 1 : rows;
}

void rf_svg_flow_trace(RfSvg *svg, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  struct {
    const char *label;
    RfColour colour;
    double (*pick)(const RfFlowTrace *);
  } panels[] = {{"log10 loss", RF_COLOUR_VERMILION, pick_loss},
                {"log10 |\xCE\xB8|", RF_COLOUR_BLUE, pick_norm},
                {"stable rank of W", RF_COLOUR_GREEN, pick_rank}};
  double *t = column(result, pick_time);
  rf_index rows = early_rows(result);
  rf_svg_begin(svg, 720, 620, "Loss, norm and stable rank", "Three quantities along the run over ln t");
  for (int p = 0; p < 3 && t; p++) {
    double *values = column(result, panels[p].pick);
    if (!values) break;
    RfPlot plot = {.svg = svg,
                   .left = 80,
                   .top = 40 + 185 * p,
                   .width = 600,
                   .height = 145,
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
  rf_svg_begin(svg, 720, 420, "Margins", "Normalised margins over the size of the outputs");
  if (q && margin && smoothed) {
    RfPlot plot = {
        .svg = svg,
        .left = 90,
        .top = 30,
        .width = 590,
        .height = 290,
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
    rf_plot_line(&plot, q, smoothed, result->n_trace, (RfPen){.colour = RF_COLOUR_ORANGE, .width = 2});
    rf_plot_line(&plot, q, margin, result->n_trace, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
    const RfLegendEntry entries[] = {{"margin", RF_COLOUR_BLUE, -1},
                                     {"smoothed margin", RF_COLOUR_ORANGE, -1},
                                     {"margin at t = \xE2\x88\x9E", RF_COLOUR_INK, -2}};
    rf_svg_legend(svg, 90, 385, 590, entries, limit > 0 ? 3 : 2);
  }
  rf_free(q);
  rf_free(margin);
  rf_free(smoothed);
  rf_svg_end(svg);
}

/* ---- events -------------------------------------------------------------------------------- */

static RfColour event_colour(RfEventKind kind) {
  static const RfColour colours[] = {RF_COLOUR_BLUE, RF_COLOUR_ORANGE, RF_COLOUR_GREEN, RF_COLOUR_VERMILION,
                                     RF_COLOUR_PURPLE};
  return colours[kind];
}

static RfMark event_mark(RfEventKind kind) {
  static const RfMark marks[] = {RF_MARK_DISC, RF_MARK_SQUARE, RF_MARK_TRIANGLE, RF_MARK_CROSS,
                                 RF_MARK_CIRCLE};
  return marks[kind];
}

/* Rows are neurons; with many of them every step-th is shown. */
void rf_svg_flow_events(RfSvg *svg, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  rf_index step = result->m / MOST_ROWS + 1, rows = (result->m + step - 1) / step, thin = 1, shown = 0;
  double low = INFINITY, high = -INFINITY;
  for (rf_index e = 0; e < result->n_events; e++) {
    if (result->events[e].neuron % step || !isfinite(result->events[e].log_t)) continue;
    low = fmin(low, result->events[e].log_t), high = fmax(high, result->events[e].log_t), shown++;
  }
  thin = shown / MOST_EVENTS + 1;
  double row = rows > 24 ? 9 : 16, height = row * (double)(rows > 4 ? rows : 4);
  rf_svg_begin(svg, 720, height + 130, "Events", "Activation changes of every neuron over ln t");
  RfPlot plot = {.svg = svg,
                 .left = 80,
                 .top = 30,
                 .width = 600,
                 .height = height,
                 .x = {.low = low, .high = high, .label = "ln t"},
                 .y = {.low = (double)(rows * step) - 0.5 * (double)step,
                       .high = -0.5 * (double)step,
                       .label = "neuron"}};
  if (!(low <= high)) plot.x.low = 0, plot.x.high = 1;
  rf_axis_pad(&plot.x, 0.03);
  RfPlot upright = plot; /* axes need low < high; rows run downwards */
  upright.y.low = plot.y.high, upright.y.high = plot.y.low;
  rf_plot_axes(&upright);
  for (rf_index e = 0, seen = 0; e < result->n_events; e++) {
    const RfFlowEvent *event = &result->events[e];
    if (event->neuron % step || !isfinite(event->log_t) || seen++ % thin) continue;
    double x = rf_plot_x(&upright, event->log_t), y = rf_plot_y(&upright, (double)event->neuron);
    rf_svg_mark(svg, x, y, row > 10 ? 3.5 : 2.2, event_mark(event->kind), event_colour(event->kind));
  }
  mark_phase(&upright, result->log_t_align, "aligned", RF_ANCHOR_END);
  const RfLegendEntry entries[] = {{"cross", RF_COLOUR_BLUE, RF_MARK_DISC},
                                   {"slide", RF_COLOUR_ORANGE, RF_MARK_SQUARE},
                                   {"release", RF_COLOUR_GREEN, RF_MARK_TRIANGLE},
                                   {"die", RF_COLOUR_VERMILION, RF_MARK_CROSS},
                                   {"branch", RF_COLOUR_PURPLE, RF_MARK_CIRCLE}};
  rf_svg_legend(svg, 80, height + 90, 600, entries, 5);
  char text[96];
  rf_format(text, sizeof text, "%lld events%s", (long long)result->n_events,
            step > 1 || thin > 1 ? ", not all are drawn" : "");
  rf_svg_label(svg, 80, height + 120, RF_ANCHOR_START, 12, RF_COLOUR_INK, text);
  rf_svg_end(svg);
}

/* ---- the page ------------------------------------------------------------------------------ */

static void picture(RfText *page, RfSvg *svg, const char *caption) {
  rf_html_picture(page, svg, caption);
  rf_svg_free(svg);
}

void rf_html_flow(RfText *page, const RfFlowReport *report, const RfFlowPaths *paths) {
  const RfFlowLimit *limit = &report->result->limit;
  char line[256];
  RfText plain = {0};
  RfSvg svg;
  rf_format(line, sizeof line, "%s%s%s", report->name ? report->name : "data",
            report->positive_class ? ", class " : "", report->positive_class ? report->positive_class : "");
  rf_html_section(page, line);
  if (limit->outcome == RF_FLOW_CONVERGED)
    rf_format(line, sizeof line, "The flow converges to a direction with margin %.12g.", limit->margin);
  else
    rf_format(line, sizeof line, "%s%s%s", rf_flow_outcome_name(limit->outcome), limit->why[0] ? ": " : "",
              limit->why);
  rf_html_verdict(page, limit->outcome == RF_FLOW_CONVERGED ? RF_GOOD : RF_BAD, line);
  if (paths->count > 0) {
    rf_svg_flow_neurons(&svg, report, paths);
    picture(page, &svg, "Neurons on their way, coloured by where alignment takes them.");
  } else {
    rf_html_paragraph(page,
                      "The neurons' paths were not drawn: following them takes too long on these data.");
  }
  if (report->result->n_trace > 1) {
    rf_svg_flow_trace(&svg, report);
    picture(page, &svg, "Loss, norm and stable rank. Dashed: the phases.");
    rf_svg_flow_margins(&svg, report);
    picture(page, &svg, "Margins approach their limit as the outputs grow.");
  }
  if (report->result->n_events > 0) {
    rf_svg_flow_events(&svg, report);
    picture(page, &svg, "When each neuron's activation pattern changes.");
  }
  rf_text_flow(&plain, report);
  rf_html_preformatted(page, rf_text_string(&plain));
  if (plain.failed) page->failed = true;
  rf_text_free(&plain);
}

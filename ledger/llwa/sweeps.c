/* Lyu, Li, Wang, Arora: two figures that are not in the paper. E-LL-8: the phases of one run from a small
 * start. E-LL-9: limit and optimum on hinted data over the length H of the hint. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "llwa/llwa.h"
#include "la/la.h"
#include "reluflow/optimum.h"

/* ---- E-LL-8: phases ------------------------------------------------------------------------ */

enum { width = 8, most_rows = 6000 };

typedef struct Phases {
  const RfLlwaSet *set;
  const RfNet *start;
  double scale, begin, until; /* alignment is recorded up to `until`, angles from `begin` on */
  double *rows; /* t, smargin, alignment of every neuron, the linearised one, angle to +-wstar in degrees */
  rf_index count;
} Phases;

enum { columns = 2 + 3 * width };

/* Cosine of (w,a) with (mubar,1)/sqrt 2. */
static double alignment(const double *w, double a, const RfLlwaSet *set) {
  double along = (rf_la_dot(w, set->mubar, set->d) + a) / sqrt(2);
  return along / sqrt(rf_la_dot(w, w, set->d) + a * a);
}

/* The same on the linearised flow: p+ = <w,mubar> + a grows, p- shrinks, the rest stays. */
static double predicted_alignment(const double *w, double a, const RfLlwaSet *set, double t) {
  double along = rf_la_dot(w, set->mubar, set->d), rest = rf_la_dot(w, w, set->d) - along * along;
  double plus = (along + a) / sqrt(2) * exp(set->rate * t),
         minus = (along - a) / sqrt(2) * exp(-set->rate * t);
  return plus / sqrt(plus * plus + minus * minus + rest);
}

static void see_phases(void *user, const RfLlwaMoment *now) {
  Phases *p = user;
  if (now->frozen || p->count == most_rows) return;
  double *row = p->rows + p->count * columns;
  if (p->count > 0 && now->t < p->until && now->t < row[-columns] + p->until / 1500) return;
  row[0] = now->t, row[1] = now->smargin;
  for (rf_index k = 0; k < width; k++) {
    const double *w = now->theta->W + k * p->set->d, *first = p->start->W + k * p->set->d;
    double cosine = fabs(rf_la_dot(w, p->set->wstar, p->set->d)) / rf_la_norm(w, p->set->d);
    row[2 + k] = alignment(w, now->theta->a[k], p->set);
    row[2 + width + k] = predicted_alignment(first, p->start->a[k], p->set, now->t);
    row[2 + 2 * width + k] = now->t < p->begin ? NAN : acos(fmin(1, cosine)) * 180 / acos(-1.0);
  }
  p->count++;
}

static void vertical(const RfPlot *plot, double x, const char *label, RfColour colour) {
  const double xs[] = {x, x}, ys[] = {plot->y.low, plot->y.high};
  rf_plot_line(plot, xs, ys, 2, (RfPen){.colour = colour, .width = 1.5, .dashed = true});
  rf_svg_label(plot->svg, rf_plot_x(plot, x), plot->top - 6, RF_ANCHOR_MIDDLE, 12, colour, label);
}

static void phase_panels(RfSvg *svg, const Phases *p, const double *values, double T1, double T12) {
  static const RfColour colours[] = {RF_COLOUR_BLUE, RF_COLOUR_ORANGE, RF_COLOUR_GREEN,  RF_COLOUR_VERMILION,
                                     RF_COLOUR_SKY,  RF_COLOUR_PURPLE, RF_COLOUR_YELLOW, RF_COLOUR_FAINT};
  RfPlot left = {.svg = svg, .left = 70, .top = 100, .width = 420, .height = 280}, right = left;
  right.left = 590;
  left.x = (RfAxis){.low = 0, .high = p->until, .label = "t"};
  left.y =
      (RfAxis){.low = -1.05, .high = 1.05, .label = "cosine of (w,a) with (mubar,1)/sqrt 2", .step = 0.5};
  right.x = (RfAxis){.low = -4.5, .high = 12, .label = "smoothed margin"};
  right.y = (RfAxis){.low = 0, .high = 25, .label = "angle of w to +-w*, degrees"};
  rf_plot_axes(&left), rf_plot_axes(&right);
  const double *t = values, *margin = values + p->count;
  for (int k = 0; k < width; k++) {
    const double *seen = values + (2 + k) * p->count, *linear = seen + width * p->count,
                 *angle = linear + width * p->count;
    rf_plot_line(&left, t, seen, p->count, (RfPen){.colour = colours[k], .width = 2.2});
    rf_plot_line(&left, t, linear, p->count, (RfPen){.colour = RF_COLOUR_INK, .width = 1, .dashed = true});
    rf_plot_line(&right, margin, angle, p->count, (RfPen){.colour = colours[k], .width = 2.2});
  }
  double turn = acos(rf_la_dot(p->set->mubar, p->set->wstar, p->set->d)) * 180 / acos(-1.0);
  const double ends[] = {-4.5, 12}, level[] = {turn, turn};
  rf_plot_line(&right, ends, level, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1, .dashed = true});
  vertical(&left, T1, "T1(0.05)", RF_COLOUR_INK), vertical(&left, T12, "T12", RF_COLOUR_INK);
}

RfStatus rf_llwa_draw_phases(RfClaimRun *run) {
  if (!rf_claim_draws(run)) return RF_OK;
  RfLlwaSet set;
  RfNet start = {0}, scaled = {0};
  RfSvg svg = {0};
  const double eps = 1e-6;
  double *rows = RF_NEW(double, most_rows *columns), *values = RF_NEW(double, most_rows *columns);
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (!status && (!rows || !values))
    status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  if (!status) status = rf_net_init(run->context, &start, RF_INIT_GAUSSIAN, width, set.d, set.leak, 3, 1);
  if (!status) status = rf_net_copy(run->context, &scaled, &start);
  if (!status) {
    double T12 = -log(sqrt(width) * eps * rf_llwa_size(&start)) / set.rate, T1 = T12 + log(0.05) / set.rate;
    Phases phases = {
        .set = &set, .start = &start, .scale = eps, .begin = T1, .until = T12 + 40, .rows = rows};
    rf_llwa_copy(&scaled, &start, eps);
    status = rf_llwa_walk(run, NULL, NULL, &set, &scaled, RF_UNTIL_INFINITY, 0, 10, see_phases, &phases);
    const double *series[columns];
    for (int c = 0; c < columns; c++) {
      series[c] = values + c * phases.count;
      for (rf_index r = 0; r < phases.count; r++) values[c * phases.count + r] = rows[r * columns + c];
    }
    char header[600] = "t,smargin";
    for (int c = 0; c < 3 * width; c++) {
      static const char *const names[] = {"alignment", "linearised", "angle"};
      size_t used = strlen(header);
      rf_format(header + used, sizeof header - used, ",%s%d", names[c / width], c % width);
    }
    rf_svg_begin(&svg, 1060, 460, "Phases of one run",
                 "alignment of eight neurons against time, then their angle to w*");
    rf_svg_label(&svg, 70, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK,
                 "LLWA Section 5: first to the mean, then to the separator (DS-SYM6, leak 1/2, 8 neurons, "
                 "eps0 = 1e-6)");
    const RfLegendEntry legend[] = {{"a neuron (one colour each)", RF_COLOUR_BLUE, -1},
                                    {"predicted: linearised flow; angle of mubar", RF_COLOUR_INK, -2}};
    rf_svg_legend(&svg, 70, 46, 900, legend, 2);
    phase_panels(&svg, &phases, values, T1, T12);
    rf_svg_end(&svg);
    if (!status) status = rf_claim_series(run, "E-LL-8.csv", header, series, columns, phases.count);
  }
  if (!status)
    status = rf_claim_picture(run, &svg, "E-LL-8.svg");
  else
    rf_svg_free(&svg);
  rf_net_free(&scaled), rf_net_free(&start);
  rf_llwa_free(&set);
  rf_free(rows), rf_free(values);
  return status;
}

/* ---- E-LL-9: hinted data over H ------------------------------------------------------------ */

enum { lengths = 25 };

/* Margins before scaling: of the limit from a small start with both signs, and of the optimum. */
static RfStatus hinted(RfClaimRun *run, double H, double *slack, double *limit, double *best) {
  RfLlwaSet set;
  RfNet start = {0};
  RfFlowResult flow;
  RfOptimum optimum = {0};
  RfOptimumSettings settings;
  bool converged = false;
  char spec[60];
  rf_optimum_settings_init(&settings);
  settings.leak = 0.5;
  rf_format(spec, sizeof spec, "DS-HINT(%.17g,1,0.1)", H);
  RfStatus status = rf_llwa_load(run, &set, spec, 0.5, 0);
  if (status) return status;
  *slack = rf_llwa_second_slack(&set.data, 0.5) * set.scale * set.scale;
  status = rf_net_init(run->context, &start, RF_INIT_BALANCED_GAUSSIAN, 3, 2, 0.5, 1, 1);
  if (!status) {
    for (int k = 0; k < 3; k++) start.a[k] = (k == 1 ? -1 : 1) * fabs(start.a[k]);
    status = rf_llwa_limit(run, &flow, &converged, &set, &start, log(1e-8));
    *limit = converged ? flow.limit.margin * set.scale : NAN;
    rf_flow_result_free(&flow);
  }
  if (!status) status = rf_optimum_solve(run->context, &optimum, set.X, set.y, set.n, set.d, &settings);
  *best = status ? NAN : set.scale / (2 * optimum.objective);
  rf_optimum_free(&optimum);
  rf_net_free(&start);
  rf_llwa_free(&set);
  return status;
}

static RfStatus draw_hints(RfClaimRun *run, const double *H, const double *slack, const double *limit,
                           const double *best) {
  if (!rf_claim_draws(run)) return RF_OK;
  RfSvg svg = {0};
  RfPlot up = {.svg = &svg, .left = 80, .top = 80, .width = 560, .height = 220}, down = up;
  down.top = 370, down.height = 150;
  const double ends[] = {1, 100}, aim[] = {0.05, 0.05}, zero[] = {0, 0};
  up.x = down.x = (RfAxis){.low = 1, .high = 100, .log = true, .label = "length H of the hint"};
  up.y = (RfAxis){.low = 0, .high = 0.12, .label = "normalised margin"};
  down.y = (RfAxis){.low = 1e300, .high = -1e300, .label = "slack of A.2"};
  rf_axis_cover(&down.y, slack, lengths), rf_axis_pad(&down.y, 0.06);
  rf_svg_begin(&svg, 700, 590, "Hinted data",
               "margin of the limit and of the optimum over the length of the hint");
  rf_svg_label(&svg, 80, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK,
               "LLWA Theorem 6.2: hints of length H mislead small starts");
  const RfLegendEntry legend[] = {{"limit of the flow", RF_COLOUR_VERMILION, RF_MARK_DISC},
                                  {"best network", RF_COLOUR_BLUE, -1},
                                  {"predicted where A.2 holds: 0.05", RF_COLOUR_INK, -2}};
  rf_svg_legend(&svg, 80, 44, 600, legend, 3);
  rf_plot_axes(&up), rf_plot_axes(&down);
  rf_plot_line(&up, ends, aim, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
  rf_plot_line(&up, H, best, lengths, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
  rf_plot_marks(&up, H, limit, lengths, RF_MARK_DISC, RF_COLOUR_VERMILION);
  rf_plot_line(&down, ends, zero, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
  rf_plot_line(&down, H, slack, lengths, (RfPen){.colour = RF_COLOUR_GREEN, .width = 2});
  rf_svg_end(&svg);
  const double *series[] = {H, slack, limit, best};
  RfStatus status =
      rf_claim_series(run, "E-LL-9.csv", "H,slack_A2,limit_margin,best_margin", series, 4, lengths);
  if (!status) return rf_claim_picture(run, &svg, "E-LL-9.svg");
  rf_svg_free(&svg);
  return status;
}

RfStatus rf_llwa_sweep_hints(RfClaimRun *run, double *first) {
  double H[lengths], slack[lengths], limit[lengths], best[lengths];
  *first = NAN;
  for (int k = 0; k < lengths; k++) {
    H[k] = pow(10, 2.0 * k / (lengths - 1));
    RfStatus status = hinted(run, H[k], &slack[k], &limit[k], &best[k]);
    if (status) return status;
    if (slack[k] > 0) rf_claim_close(run, "limit margin where A.2 holds against e/2", limit[k], 0.05, 1e-8);
    if (isnan(*first) && fabs(limit[k] - 0.05) < 1e-8) *first = H[k];
  }
  return draw_hints(run, H, slack, limit, best);
}

/* Recipes across the papers: one run seen by all of them, duals of a KKT point, margins over the leak. */
#include "cross/cross.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "margin/margin.h"
#include "theory/theory.h"
#include "kit/samples.h"
#include "kit/setting.h"

static const double pi = 3.14159265358979323846;

/* ---- E-X-1: one run ----------------------------------------------------------------------------------- */

enum { m = 10, most_rows = 3000 };

typedef struct Tracks {
  rf_index rows;
  double log_t[most_rows], log_loss[most_rows], angle[m][most_rows];
  double t1; /* last change of pattern before the loss falls */
  int8_t sides[m * 8];
} Tracks;

static void record(void *observer, const RfFlowMoment *moment) {
  Tracks *tracks = observer;
  if (moment->scale_frozen || tracks->rows == most_rows || !(moment->log_t > -5)) return;
  rf_index r = tracks->rows++;
  tracks->log_t[r] = moment->log_t, tracks->log_loss[r] = moment->log_loss;
  for (rf_index k = 0; k < m; k++) {
    const double *v = moment->directions + 3 * k;
    double angle = atan2(v[1], v[0]) * 180 / pi, before = r ? tracks->angle[k][r - 1] : 90;
    tracks->angle[k][r] = angle + 360 * floor((before - angle) / 360 + 0.5); /* no jumps */
  }
  if (memcmp(tracks->sides, moment->sides, (size_t)(m * moment->n)) != 0) {
    memcpy(tracks->sides, moment->sides, (size_t)(m * moment->n));
    tracks->t1 = exp(moment->log_t);
  }
}

/* What was found, in words for the picture. */
typedef struct Findings {
  double t1, t1_bound, t2, dual, gap;
  bool local, unique;
  double angles[2]; /* of w+, w- */
} Findings;

static RfStatus draw_run(RfClaimRun *run, const Tracks *tracks, const Findings *found) {
  const double *columns[m + 2];
  char lines[5][120];
  columns[0] = tracks->log_t, columns[1] = tracks->log_loss;
  for (int k = 0; k < m; k++) columns[2 + k] = tracks->angle[k];
  RfStatus status = rf_claim_series(
      run, "E-X-1.csv", "ln_t,ln_loss,angle1,angle2,angle3,angle4,angle5,angle6,angle7,angle8,angle9,angle10",
      columns, m + 2, tracks->rows);
  if (status) return status;
  rf_format(lines[0], sizeof lines[0], "PL: every neuron ends in S+ or S-, limit along w+ and w-");
  rf_format(lines[1], sizeof lines[1], "MMV: t1 = %.3g (bound %.3g), t2 = %.4g", found->t1, found->t1_bound,
            found->t2);
  rf_format(lines[2], sizeof lines[2], "WP: multipliers dual feasible, max = %.9f, gap %.1e", found->dual,
            found->gap);
  rf_format(lines[3], sizeof lines[3], "LLWA H.2: another start ends at the same function: %s",
            found->unique ? "yes" : "no");
  rf_format(lines[4], sizeof lines[4], "VSS 4.3: the limit is a local optimum: %s",
            found->local ? "yes" : "no");
  RfSvg svg = {0};
  rf_svg_begin(&svg, 760, 520, "E-X-1: one run, five papers",
               "directions of the neurons and the loss over ln t");
  rf_svg_label(&svg, 70, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK, "DS-PL2/3, 10 neurons, balanced start 1e-8");
  for (int panel = 0; panel < 2; panel++) {
    RfPlot plot = rf_claim_panel(&svg, 0, panel, "ln t", panel ? "ln loss" : "angle of w (degrees)");
    plot.top = 70, plot.height = 240;
    plot.x.low = -3, plot.x.high = 15;
    if (panel)
      plot.y.low = -16, plot.y.high = 2;
    else
      plot.y.low = -185, plot.y.high = 425, plot.y.step = 90;
    rf_plot_axes(&plot);
    double marks[] = {log(found->t1), log(found->t2)};
    for (int k = 0; k < 2; k++) {
      rf_svg_line(&svg, rf_plot_x(&plot, marks[k]), plot.top, rf_plot_x(&plot, marks[k]),
                  plot.top + plot.height, (RfPen){.colour = RF_COLOUR_GREEN, .width = 1.5, .dashed = true});
      rf_svg_label(&svg, rf_plot_x(&plot, marks[k]), plot.top - 6, RF_ANCHOR_MIDDLE, 12, RF_COLOUR_GREEN,
                   k ? "t2" : "t1");
    }
    for (int k = 0; k < (panel ? 1 : m); k++)
      rf_plot_line(&plot, tracks->log_t, panel ? tracks->log_loss : tracks->angle[k], tracks->rows,
                   (RfPen){.colour = RF_COLOUR_BLUE, .width = 1.6});
    for (int s = 0; s < 4 && !panel; s++) { /* also one turn above and below */
      double at = found->angles[s % 2] + (s < 2 ? 0 : s == 2 ? 360 : -360), x[] = {-3, 15}, y[] = {at, at};
      rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 1.5, .dashed = true});
    }
  }
  for (int k = 0; k < 5; k++)
    rf_svg_label(&svg, 70, 395 + 22 * k, RF_ANCHOR_START, 13, RF_COLOUR_INK, lines[k]);
  const RfLegendEntry entries[] = {{"neurons, loss", RF_COLOUR_BLUE, -1},
                                   {"w+ and w-", RF_COLOUR_VERMILION, -2}};
  rf_svg_legend(&svg, 480, 24, 270, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-X-1.svg");
}

/* Largest difference of two networks' outputs at the samples and around the circle, both at |theta| = 1. */
static RfStatus function_distance(RfClaimRun *run, double *distance, const RfNet *a, const RfNet *b) {
  *distance = 0;
  for (int k = 0; k < 360; k++) {
    double x[] = {cos(pi * k / 180), sin(pi * k / 180)}, f[2];
    RfStatus status = rf_net_outputs(run->context, &f[0], a, x, 1);
    if (!status) status = rf_net_outputs(run->context, &f[1], b, x, 1);
    if (status) return status;
    *distance = fmax(*distance, fabs(f[0] / rf_net_norm2(a) - f[1] / rf_net_norm2(b)));
  }
  return RF_OK;
}

/* MMV: the bound on t1 with this start's zeta2; logistic loss. */
static RfStatus alignment_bound(RfClaimRun *run, double *bound, const RfClaimSetting *setting) {
  const RfDataset *data = &setting->data;
  double W[2 * m], a[m], zeta2;
  RfNet net = {.m = m, .d = 2, .W = W, .a = a};
  RfPairFacts pairs;
  RfAlignmentBounds bounds;
  for (int k = 0; k < m; k++) {
    memcpy(W + 2 * k, setting->start.directions + 3 * k, 2 * sizeof *W);
    a[k] = setting->start.directions[3 * k + 2];
  }
  RfStatus status = rf_geometry_pairs(run->context, &pairs, data->X, data->y, data->n, data->d);
  if (!status) status = rf_theory_start_angle(run->context, &zeta2, &net, data->X, data->y, data->n);
  if (status) return status;
  RfTheoryProblem problem = {.data = data, .loss = RF_LOSS_LOGISTIC, .pairs = &pairs};
  rf_theory_alignment(run->context, &bounds, &problem);
  *bound = rf_theory_alignment_end(&bounds, zeta2);
  return RF_OK;
}

static RfStatus judge_limit(RfClaimRun *run, Findings *found, const RfClaimSetting *setting,
                            const RfFlowResult *result) {
  const RfDataset *data = &setting->data;
  RfClassMargin sides[2] = {{0}, {0}};
  RfDualNorm dual = {0};
  RfCertificate certificate = {0};
  const RfNet *net = &result->limit.net;
  RfStatus status = RF_OK;
  for (int s = 0; s < 2 && !status; s++) {
    status = rf_margin_class(run->context, &sides[s], data->X, data->y, data->n, data->d, s ? -1 : 1);
    if (!status) found->angles[s] = atan2(sides[s].w[1], sides[s].w[0]) * 180 / pi + (s ? 360 : 0);
  }
  for (rf_index k = 0; k < m && !status; k++) {
    const double *w = net->W + 2 * k;
    if (rf_la_norm(w, 2) > 0)
      rf_claim_close(run, "E-X-1: cosine with w+-", rf_claim_cosine(w, sides[net->a[k] < 0].w, 2), 1, 1e-12);
  }
  if (!status) status = rf_certify_net(run->context, &certificate, net, data->X, data->y, data->n, NULL);
  if (!status)
    status = rf_optimum_dual_norm(run->context, &dual, data->X, data->y, certificate.kkt.lambda, data->n,
                                  data->d, 0, 0);
  if (!status) {
    found->dual = dual.upper, found->gap = certificate.gap,
    found->local = certificate.local == RF_VERDICT_OPTIMUM;
    rf_claim_at_most(run, "E-X-1: dual feasibility of the limit's multipliers", dual.upper, 1, 1e-8);
    rf_claim_at_most(run, "E-X-1: gap to the global optimum", certificate.gap, 0, 1e-7);
    rf_claim_true(run, "E-X-1: the limit is a local optimum", found->local);
  }
  rf_certificate_free(&certificate);
  rf_dual_norm_free(&dual);
  for (int s = 0; s < 2; s++) rf_class_margin_free(&sides[s]);
  return status;
}

RfStatus rf_cross_one_run(RfClaimRun *run) {
  RfClaimSetting setting = {0}, second = {0};
  RfFlowResult result = {0}, other = {0};
  Findings found = {0};
  double distance = NAN;
  Tracks *tracks = RF_NEW(Tracks, 1);
  if (!tracks) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a run");
  RfStatus status = rf_claim_setting_new(run, &setting, "DS-PL2", 3, RF_INIT_BALANCED, m, 1, log(1e-8));
  setting.flow.observe = record, setting.flow.observer = tracks, setting.flow.observe_inside = 3;
  if (!status) status = rf_claim_flow(run, &result, &setting);
  if (!status) status = alignment_bound(run, &found.t1_bound, &setting);
  if (!status) status = judge_limit(run, &found, &setting, &result);
  if (!status) status = rf_claim_setting_new(run, &second, "DS-PL2", 3, RF_INIT_BALANCED, m, 2, log(1e-8));
  if (!status) status = rf_claim_flow(run, &other, &second);
  if (!status) status = function_distance(run, &distance, &result.limit.net, &other.limit.net);
  if (!status) {
    found.t1 = tracks->t1, found.t2 = exp(result.log_t_fit), found.unique = distance <= 1e-8;
    rf_claim_at_most(run, "E-X-1: distance of the functions of two starts", distance, 0, 1e-8);
    rf_claim_at_most(run, "E-X-1: end of alignment against t1", found.t1, found.t1_bound, 0);
    rf_claim_true(run, "E-X-1: alignment ends before fitting begins", found.t1 < found.t2);
    if (rf_claim_draws(run)) status = draw_run(run, tracks, &found);
  }
  rf_flow_result_free(&result), rf_flow_result_free(&other);
  rf_claim_setting_free(&setting), rf_claim_setting_free(&second);
  rf_free(tracks);
  return status;
}

/* ---- E-X-2: dual feasibility at a KKT point that is not local ----------------------------------------- */

static double dual_value(const double *lambda, const RfDataset *data, double angle) {
  double u[] = {cos(angle), sin(angle)}, sum = 0;
  for (rf_index i = 0; i < data->n; i++)
    sum += lambda[i] * data->y[i] * fmax(0, rf_la_dot(u, data->X + 2 * i, 2));
  return sum;
}

RfStatus rf_cross_dual(RfClaimRun *run) {
  enum { points = 361 };
  double W[] = {0, 2, 0, 0}, a[] = {2, 0}, columns[3][points], predicted = NAN;
  RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
  RfDataset data = {0};
  RfCertificate certificate = {0};
  RfOptimum optimum = {0};
  RfOptimumSettings settings;
  RfDualNorm norms[2] = {{.value = 0}, {.value = 0}};
  rf_optimum_settings_init(&settings);
  RfStatus status = rf_claim_data(run, &data, "DS-V1", 1);
  if (!status) status = rf_certify_net(run->context, &certificate, &net, data.X, data.y, data.n, NULL);
  if (!status) status = rf_optimum_solve(run->context, &optimum, data.X, data.y, data.n, data.d, &settings);
  for (int k = 0; k < 2 && !status; k++)
    status = rf_optimum_dual_norm(run->context, &norms[k], data.X, data.y,
                                  k ? optimum.lambda : certificate.kkt.lambda, data.n, data.d, 0, 0);
  if (status) goto done;
  predicted = certificate.kkt.lambda[0] * rf_la_norm(data.X, 2); /* one sample alone, u along it */
  rf_claim_true(run, "E-X-2: a KKT point", certificate.kkt.holds);
  rf_claim_true(run, "E-X-2: not a local optimum", certificate.local == RF_VERDICT_NOT_OPTIMUM);
  rf_claim_close(run, "E-X-2: its multipliers, dual value", norms[0].value, predicted, 1e-8);
  rf_claim_at_least(run, "E-X-2: not dual feasible", norms[0].value, 1 + 1e-6, 0);
  rf_claim_at_most(run, "E-X-2: the optimum's multipliers are", norms[1].upper, 1, 1e-8);
  if (!rf_claim_draws(run)) goto done;
  for (int p = 0; p < points; p++) {
    columns[0][p] = p;
    columns[1][p] = dual_value(certificate.kkt.lambda, &data, pi * p / 180);
    columns[2][p] = dual_value(optimum.lambda, &data, pi * p / 180);
  }
  const double *list[] = {columns[0], columns[1], columns[2]};
  status = rf_claim_series(run, "E-X-2.csv", "angle_degrees,kkt_point,optimum", list, 3, points);
  if (status) goto done;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 560, 400, "E-X-2: dual feasibility on DS-V1",
               "sum lambda_i y_i phi(u.x_i) over the angle of u");
  RfPlot plot =
      rf_claim_panel(&svg, 0, 0, "angle of the unit vector u (degrees)", "sum of lambda_i y_i (u.x_i)+");
  plot.top = 80, plot.width = 460, plot.height = 250;
  plot.x = (RfAxis){.low = 0, .high = 360, .label = plot.x.label, .step = 90};
  plot.y = (RfAxis){.low = -0.1, .high = 2.3, .label = plot.y.label};
  rf_plot_axes(&plot);
  double x[] = {0, 360}, y[] = {1, 1};
  rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.5, .dashed = true});
  rf_plot_line(&plot, columns[0], columns[1], points, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
  rf_plot_line(&plot, columns[0], columns[2], points, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
  const RfLegendEntry entries[] = {{"KKT point of VSS Theorem 3.2 (not local)", RF_COLOUR_VERMILION, -1},
                                   {"global optimum", RF_COLOUR_BLUE, -1},
                                   {"dual feasible: at most 1", RF_COLOUR_INK, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "VSS against WP: where the dual certificate fails");
  rf_svg_legend(&svg, 70, 40, 470, entries, 3);
  rf_svg_end(&svg);
  status = rf_claim_picture(run, &svg, "E-X-2.svg");
done:
  for (int k = 0; k < 2; k++) rf_dual_norm_free(&norms[k]);
  rf_optimum_free(&optimum);
  rf_certificate_free(&certificate);
  rf_dataset_free(&data);
  return status;
}

/* ---- E-X-3: margins over the leak ---------------------------------------------------------- */

/* Limit margin from a small start; positive: all a > 0. */
static RfStatus limit_margin(RfClaimRun *run, double *margin, double leak, bool positive) {
  RfClaimSetting setting;
  RfFlowResult result;
  RfStatus status = rf_claim_setting_new(run, &setting, "DS-SYM6", 1, RF_INIT_BALANCED, 8, 3, log(1e-8));
  if (status) return status;
  for (rf_index k = 0; k < 8 && positive; k++)
    setting.start.directions[3 * k + 2] = fabs(setting.start.directions[3 * k + 2]);
  setting.problem.leak = leak;
  status = rf_claim_flow(run, &result, &setting);
  *margin = NAN;
  if (!status) {
    if (result.limit.outcome == RF_FLOW_CONVERGED) *margin = result.limit.margin;
    rf_flow_result_free(&result);
  }
  rf_claim_setting_free(&setting);
  return status;
}

static RfStatus draw_leaks(RfClaimRun *run, double (*c)[11], int count) {
  const double *list[] = {c[0], c[1], c[2], c[3], c[4], c[5]};
  RfStatus status =
      rf_claim_series(run, "E-X-3.csv", "leak,optimum,limit,limit_positive,linear,branch", list, 6, count);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 560, 400, "E-X-3: margins over the leak",
               "DS-SYM6: normalised margins of limits and optima");
  RfPlot plot = rf_claim_panel(&svg, 0, 0, "leak", "normalised margin");
  plot.top = 110, plot.width = 460, plot.height = 220;
  plot.x.low = 0, plot.x.high = 1, plot.y.low = 0, plot.y.high = 1.1 * c[4][count - 1];
  rf_plot_axes(&plot);
  rf_plot_line(&plot, c[0], c[4], count, (RfPen){.colour = RF_COLOUR_BLUE, .width = 1.5, .dashed = true});
  rf_plot_line(&plot, c[0], c[5], count,
               (RfPen){.colour = RF_COLOUR_VERMILION, .width = 1.5, .dashed = true});
  rf_plot_marks(&plot, c[0], c[1], count, RF_MARK_SQUARE, RF_COLOUR_BLUE);
  rf_plot_marks(&plot, c[0], c[2], count, RF_MARK_DISC, RF_COLOUR_ORANGE);
  rf_plot_marks(&plot, c[0], c[3], count, RF_MARK_TRIANGLE, RF_COLOUR_VERMILION);
  const RfLegendEntry entries[] = {{"global optimum", RF_COLOUR_BLUE, RF_MARK_SQUARE},
                                   {"limit from a small start", RF_COLOUR_ORANGE, RF_MARK_DISC},
                                   {"limit with all a > 0", RF_COLOUR_VERMILION, RF_MARK_TRIANGLE},
                                   {"(1+leak)/4 gstar", RF_COLOUR_BLUE, -2},
                                   {"leak/2 gstar", RF_COLOUR_VERMILION, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "DS-SYM6: symmetric data, LLWA Theorems 4.2 and 4.3");
  rf_svg_legend(&svg, 70, 40, 470, entries, 5);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-X-3.svg");
}

RfStatus rf_cross_leak(RfClaimRun *run) {
  enum { count = 11 };
  double c[6][11], gstar = NAN;
  RfDataset data = {0};
  RfLinearMargin linear = {0};
  RfStatus status = rf_claim_data(run, &data, "DS-SYM6", 1);
  if (!status) status = rf_margin_linear(run->context, &linear, data.X, data.y, data.n, data.d);
  gstar = linear.margin;
  for (int k = 0; k < count && !status; k++) {
    double leak = k / 10.0;
    RfOptimum best = {0};
    RfOptimumSettings settings;
    rf_optimum_settings_init(&settings);
    settings.leak = leak;
    c[0][k] = leak, c[4][k] = (1 + leak) / 4 * gstar, c[5][k] = leak * gstar / 2;
    status = rf_optimum_solve(run->context, &best, data.X, data.y, data.n, data.d, &settings);
    c[1][k] = 1 / (2 * best.objective);
    rf_optimum_free(&best);
    if (!status) status = limit_margin(run, &c[2][k], leak, false);
    if (!status) status = limit_margin(run, &c[3][k], leak, true);
    if (status || k == 0) continue; /* ReLU is outside the theorems */
    rf_claim_relative(run, "E-X-3: optimum against (1+leak)/4 gstar", c[1][k], c[4][k], 1e-7);
    rf_claim_relative(run, "E-X-3: limit against (1+leak)/4 gstar", c[2][k], c[4][k], 1e-8);
    rf_claim_relative(run, "E-X-3: limit with all a > 0 against leak/2 gstar", c[3][k], c[5][k], 1e-8);
  }
  if (!status && rf_claim_draws(run)) status = draw_leaks(run, c, count);
  rf_linear_margin_free(&linear);
  rf_dataset_free(&data);
  return status;
}

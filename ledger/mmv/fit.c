/* Min, Mallada, Vidal, appendix D: from alignment to the end. MMV-18:
 * what holds between t1 and t2, (32), (37)-(40); MMV-19: the bound (39) on t2 and its slope in ln(1/eps);
 * MMV-20: the loss rate of Theorem 1; MMV-21: the stable rank, (41)-(43). Losses with -loss'(0) = 1, summed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/decay.h"
#include "kit/figure.h"
#include "mmv/mmv.h"
#include "la/la.h"
#include "margin/margin.h"
#include "kit/samples.h"
#include "kit/setting.h"

static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC2, RF_LOSS_LOGISTIC};

/* ---- a run from a tiny start --------------------------------------------------------------- */

enum { m = 20, most_rows = 8000 };

typedef struct Fit {
  RfClaimRun *run;
  int claim;
  RfClaimSetting setting;
  RfAlignmentBounds bounds;
  RfPairFacts pairs;
  double counts[2], sums[2][RF_CLAIM_MOST_D]; /* n+-, x+- */
  double log_eps, W_min, W_max, t_app;
  double t1, t2[2];          /* measured; NaN before */
  double last_t, last_f[2];  /* of the state before */
  double least_cosine;       /* of x+- with the weighted sum */
  double log_loss_2, t_both; /* at t2 = max of both */
  double D1[m * m];          /* MMV-21 */
  rf_index states, rows;
  double row[4][most_rows]; /* ln t, ln L, smargin, stable rank */
  double want;              /* MMV-21: the predicted stable rank, and how it is approached */
  RfClaimDecay decay;
  RfFlowResult result;
} Fit;

static void fit_free(Fit *fit) {
  rf_flow_result_free(&fit->result);
  rf_claim_setting_free(&fit->setting);
  rf_free(fit);
}

/* MMV-18 at one state between t1 and t2 of class s. */
static void judge_between(Fit *fit, const RfFlowMoment *moment, const int *cones, int s, double t) {
  RfClaimRun *run = fit->run;
  const RfDataset *data = &fit->setting.data;
  rf_index d = data->d;
  RfLoss loss = fit->setting.problem.loss;
  double weighted[RF_CLAIM_MOST_D] = {0}, own = fit->counts[s] * sqrt(fit->pairs.sep) * fit->pairs.norm_min;
  for (rf_index i = 0; i < data->n; i++) {
    if ((data->y[i] < 0) != (s == 1)) continue;
    double weight = exp(rf_loss_log_slope(loss, moment->q[i]));
    rf_claim_at_least(run, "-loss' between t1 and t2", weight, 0.5, 1e-9);
    rf_claim_at_most(run, "-loss' between t1 and t2", weight, 1.5, 1e-9);
    rf_la_axpy(weighted, weight, data->X + i * d, d);
  }
  double cosine = rf_claim_cosine(weighted, fit->sums[s], d);
  rf_claim_at_least(run, "cos(x+, weighted sum)", cosine, 1.0 / 3, 1e-9);
  rf_claim_at_least(run, "|weighted sum|", rf_la_norm(weighted, d), own / 2, 1e-9 * own);
  fit->least_cosine = fmin(fit->least_cosine, cosine);
  if (t < fit->t1 + 6 / own) return;
  for (rf_index k = 0; k < moment->m; k++)
    if (cones[k] == (s ? -1 : 1))
      rf_claim_at_least(run, "cos(w, x+) of a class",
                        rf_claim_cosine(moment->directions + k * (d + 1), fit->sums[s], d), 0.25, 1e-9);
}

/* (32): the loss from the groups' own outputs. */
static void judge_split(const Fit *fit, const RfFlowMoment *moment, const int *cones) {
  const RfDataset *data = &fit->setting.data;
  rf_index d = data->d;
  RfLoss loss = fit->setting.problem.loss;
  double total = 0;
  for (rf_index i = 0; i < data->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < moment->m; k++) {
      const double *v = moment->directions + k * (d + 1);
      if (cones[k] == (data->y[i] < 0 ? -1 : 1))
        f += exp(2 * moment->log_norms[k]) * v[d] * rf_la_dot(v, data->X + i * d, d);
    }
    total += rf_loss_value(loss, data->y[i] * f);
  }
  rf_claim_relative(fit->run, "the loss from the two groups", total, exp(moment->log_loss), 1e-9);
}

/* MMV-21: W_s^T W_s - v_s v_s^T: bounded at t1, constant after it, relative to the largest term. */
static void judge_balance(Fit *fit, const RfFlowMoment *moment, const int *cones, bool first) {
  rf_index d = moment->d;
  for (int s = 0; s < 2; s++) {
    double shift = -INFINITY, norm2 = 0, change2 = 0, members = 0;
    for (rf_index k = 0; k < moment->m; k++)
      if (cones[k] == (s ? -1 : 1)) shift = fmax(shift, moment->log_norms[k]), members++;
    for (rf_index k = 0; k < moment->m; k++)
      for (rf_index j = 0; j < moment->m; j++) {
        if (cones[k] != (s ? -1 : 1) || cones[j] != cones[k]) continue;
        const double *v = moment->directions + k * (d + 1), *u = moment->directions + j * (d + 1);
        double scale = exp(moment->log_norms[k] + moment->log_norms[j] - 2 * shift);
        double D = scale * (rf_la_dot(v, u, d) - v[d] * u[d]);
        norm2 += D * D, change2 += pow(D - exp(-2 * shift) * fit->D1[k * m + j], 2);
        if (first) fit->D1[k * m + j] = D * exp(2 * shift);
      }
    if (members == 0) continue;
    if (first) {
      double bound = log(4 * members / sqrt(m)) + fit->log_eps + 2 * log(fit->W_max);
      rf_claim_at_most(fit->run, "ln|W'W - vv'| at t1", 0.5 * log(norm2) + 2 * shift, bound, 1e-9);
    } else if (2 * shift > -600) { /* sizes above 1e-260 */
      rf_claim_at_most(fit->run, "change of W'W - vv' over the largest term", sqrt(change2), 0, 1e-7);
    }
  }
}

/* Stable rank of the state, and its bound 2 + 4 sqrt(m) eps W_max^2/|W|_2^2. */
static void judge_rank(Fit *fit, const RfFlowMoment *moment, double *rank) {
  double W[m * RF_CLAIM_MOST_D] = {0}, values[RF_CLAIM_MOST_D], shift = -INFINITY, total = 0;
  rf_index d = moment->d;
  for (rf_index k = 0; k < moment->m; k++) shift = fmax(shift, moment->log_norms[k]);
  for (rf_index k = 0; k < moment->m; k++)
    for (rf_index j = 0; j < d; j++)
      W[k * d + j] = exp(moment->log_norms[k] - shift) * moment->directions[k * (d + 1) + j];
  if (rf_la_singular(fit->run->context, values, NULL, W, moment->m, d)) return;
  for (rf_index j = 0; j < d; j++) total += values[j] * values[j];
  double top = values[0] * values[0];
  *rank = total / top;
  double extra = exp(log(4 * sqrt(m)) + fit->log_eps + 2 * log(fit->W_max) - 2 * shift - log(top));
  rf_claim_at_most(fit->run, "stable rank after t1", *rank, 2 + extra, 1e-9);
}

static void watch_fit(void *observer, const RfFlowMoment *moment) {
  Fit *fit = observer;
  const RfDataset *data = &fit->setting.data;
  int cones[m];
  double t = exp(moment->log_t), f[2] = {0, 0}, rank = NAN;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) { /* alignment has ended: dead, or in the cone of the own sign */
    cones[k] = rf_claim_cone_of(moment->sides + k * moment->n, data);
    if (cones[k] != 0 && cones[k] != (moment->directions[k * (moment->d + 1) + moment->d] > 0 ? 1 : -1))
      return;
  }
  for (rf_index i = 0; i < data->n; i++) f[data->y[i] < 0] = fmax(f[data->y[i] < 0], moment->q[i]);
  bool first = isnan(fit->t1);
  if (first) fit->t1 = t;
  for (int s = 0; s < 2; s++) {
    if (isnan(fit->t2[s]) && f[s] > 0.25) { /* outputs grow exponentially: interpolated in logarithms */
      double share = log(0.25 / fit->last_f[s]) / log(f[s] / fit->last_f[s]);
      fit->t2[s] = fit->last_t + share * (t - fit->last_t);
    }
    if (isnan(fit->t2[s]) && fit->claim == 18) judge_between(fit, moment, cones, s, t);
  }
  if (fit->claim == 18) judge_split(fit, moment, cones);
  if (fit->claim == 21) judge_balance(fit, moment, cones, first), judge_rank(fit, moment, &rank);
  if (!isnan(fit->t2[0]) && !isnan(fit->t2[1])) {
    if (isnan(fit->t_both)) fit->t_both = t, fit->log_loss_2 = moment->log_loss;
    double smargin = rf_loss_inverse_log(fit->setting.problem.loss, moment->log_loss);
    if (fit->claim == 21 && smargin > 0) rf_claim_decay_add(&fit->decay, smargin, fabs(rank - fit->want));
    if (fit->rows < most_rows) {
      fit->row[0][fit->rows] = moment->log_t, fit->row[1][fit->rows] = moment->log_loss;
      fit->row[2][fit->rows] = smargin;
      fit->row[3][fit->rows++] = rank;
    }
  }
  fit->last_t = t, fit->last_f[0] = f[0], fit->last_f[1] = f[1], fit->states++;
}

static RfStatus fit_new(RfClaimRun *run, Fit **out, int claim, const char *spec, double divide, RfLoss loss,
                        uint64_t seed, double log_eps) {
  Fit *fit = RF_NEW(Fit, 1);
  *out = NULL;
  if (!fit) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a run");
  RfStatus status = rf_claim_setting_new(run, &fit->setting, spec, divide, RF_INIT_MMV, m, seed, log_eps);
  if (!status)
    status = rf_mmv_bounds(run->context, &fit->bounds, &fit->pairs, &fit->setting.data, RF_LOSS_EXP);
  if (status) {
    fit_free(fit);
    return status;
  }
  const RfDataset *data = &fit->setting.data;
  fit->run = run, fit->claim = claim, fit->log_eps = log_eps, fit->W_min = INFINITY, fit->least_cosine = 1;
  fit->t1 = fit->t2[0] = fit->t2[1] = fit->t_both = NAN;
  for (int s = 0; s < 2; s++) rf_claim_class_sum(fit->sums[s], data, s ? -1 : 1);
  for (rf_index i = 0; i < data->n; i++) fit->counts[data->y[i] < 0]++;
  for (rf_index k = 0; k < m; k++) {
    double w = exp(fit->setting.start.log_norms[k]) / sqrt(2);
    fit->W_max = fmax(fit->W_max, w), fit->W_min = fmin(fit->W_min, w);
  }
  fit->t_app = (-0.5 * log(m) - log_eps) / (4 * (double)data->n * fit->pairs.norm_max);
  fit->setting.problem.loss = loss, fit->setting.flow.with_alignment = false;
  fit->setting.flow.observe = watch_fit, fit->setting.flow.observer = fit;
  *out = fit;
  return RF_OK;
}

/* A run on set k, whose data and start are number `seed`. */
static RfStatus fit_on(RfClaimRun *run, Fit **out, int claim, int k, double divide, RfLoss loss,
                       rf_index seed, double log_eps) {
  char spec[RF_MMV_SPEC];
  rf_mmv_set(spec, k, (uint64_t)seed);
  return fit_new(run, out, claim, spec, divide, loss, (uint64_t)seed, log_eps);
}

/* ---- MMV-18 -------------------------------------------------------------------------------- */

RfStatus rf_mmv_18(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index states = 0;
  double least = 1;
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Fit *fit;
      status = fit_on(run, &fit, 18, k, 1, losses[(k + seed) % 2], seed, -300);
      if (status) break;
      fit->setting.flow.until = RF_UNTIL_LOSS, fit->setting.flow.until_value = 0.05,
      fit->setting.flow.observe_inside = 8;
      status = rf_claim_flow(run, &fit->result, &fit->setting);
      if (!status) rf_claim_true(run, "t1 before t2", fit->t1 < fmin(fit->t2[0], fit->t2[1]));
      rf_claim_states(run, fit->states, 1000), rf_claim_made(run, "runs", 1);
      states += fit->states, least = fmin(least, fit->least_cosine);
      fit_free(fit);
    }
  rf_claim_misprint(run, "MP-MMV-10", "least cos(x+, weighted sum) that D.2 proves, and seen", 0.5, 1.0 / 3,
                    least, least >= 0.5);
  rf_claim_note(run, "%lld states between alignment and fitting; cos(x+, weighted sum) at least %.3f",
                (long long)states, least);
  return status;
}

/* ---- MMV-19: (36), (39) -------------------------------------------------------------------- */

static void judge_t2(RfClaimRun *run, const Fit *fit, double *tightest) {
  double n = fit->counts[0] + fit->counts[1];
  for (int s = 0; s < 2; s++) {
    double own = sqrt(fit->pairs.sep) * fit->counts[s] * fit->pairs.norm_min;
    double inside = log(2 / (sqrt(fit->pairs.sep) * fit->pairs.norm_min)) - 2 * fit->log_eps -
                    2 * log(fit->W_min) + 4 * n * fit->pairs.norm_max * fit->t1;
    double bound = fit->t1 + 6 / own + 4 / own * inside;
    rf_claim_at_most(run, "t2 of a class against (39)", fit->t2[s], bound, 1e-9 * bound);
    *tightest = fmax(*tightest, fit->t2[s] / bound);
  }
}

/* t2 against ln(1/eps). */
static RfStatus measure_slope(RfClaimRun *run, const char *spec, double *x, double *t2, int count,
                              double *least) {
  RfStatus status = RF_OK;
  for (int k = 0; k < count && !status; k++) {
    RfClaimSetting setting;
    RfFlowResult result;
    double sums[2][RF_CLAIM_MOST_D];
    x[k] = 20 + 20 * k;
    status = rf_claim_setting_new(run, &setting, spec, 1, RF_INIT_MMV, m, 0, -x[k]);
    if (status) break;
    setting.problem.loss = RF_LOSS_EXP;
    setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = 0.01, setting.flow.with_alignment = false;
    for (int s = 0; s < 2; s++) rf_claim_class_sum(sums[s], &setting.data, s ? -1 : 1);
    *least = fmin(rf_la_norm(sums[0], setting.data.d), rf_la_norm(sums[1], setting.data.d));
    status = rf_claim_flow(run, &result, &setting);
    if (!status) t2[k] = exp(result.log_t_fit), rf_flow_result_free(&result);
    rf_claim_setting_free(&setting);
  }
  return status;
}

RfStatus rf_mmv_19(RfClaimRun *run) {
  enum { points = 10 };
  const char *lines[] = {"DS-PL2", "DS-OS(5,5,5,0.2)"};
  double x[points], t2[2][points], predicted[2][points], slope[2], least = 1, tightest = 0;
  RfStatus status = RF_OK;
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Fit *fit;
      status = fit_on(run, &fit, 19, k, 1, losses[(k + seed) % 2], seed, -300);
      if (status) break;
      fit->setting.flow.until = RF_UNTIL_LOSS, fit->setting.flow.until_value = 0.05;
      status = rf_claim_flow(run, &fit->result, &fit->setting);
      if (!status) judge_t2(run, fit, &tightest), rf_claim_made(run, "runs", 1);
      fit_free(fit);
    }
  for (int k = 0; k < 2 && !status; k++) {
    status = measure_slope(run, lines[k], x, t2[k], points, &least);
    if (status) break;
    slope[k] = rf_claim_slope(x, t2[k], points);
    rf_claim_relative(run, "slope of t2 in ln(1/eps)", slope[k], 1 / least, 0.02);
    for (int p = 0; p < points; p++) predicted[k][p] = t2[k][points - 1] + (x[p] - x[points - 1]) / least;
  }
  if (status) return status;
  rf_claim_note(run, "t2/bound up to %.3f; slopes %.5f and %.5f in ln(1/eps)", tightest, slope[0], slope[1]);
  if (!rf_claim_draws(run)) return RF_OK;
  const double *columns[] = {x, t2[0], predicted[0], t2[1], predicted[1]};
  status = rf_claim_series(run, "E-MM-9-fitting.csv",
                           "minus_ln_eps,t2_planar,predicted_planar,t2_separated,predicted_separated",
                           columns, 5, points);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 460, 350, "E-MM-9: MMV, start of fitting t2",
               "t2 against ln(1/eps), with the predicted slopes");
  RfPlot plot = rf_claim_panel(&svg, 0, 0, "ln(1/eps)", "t2");
  plot.top = 90, plot.width = 340;
  rf_axis_cover(&plot.x, x, points), rf_axis_cover(&plot.y, t2[0], points),
      rf_axis_cover(&plot.y, t2[1], points);
  rf_axis_pad(&plot.x, 0.04), rf_axis_pad(&plot.y, 0.06);
  rf_plot_axes(&plot);
  const RfColour colours[] = {RF_COLOUR_VERMILION, RF_COLOUR_BLUE};
  for (int k = 0; k < 2; k++) {
    rf_plot_line(&plot, x, predicted[k], points, (RfPen){.colour = colours[k], .width = 1.5, .dashed = true});
    rf_plot_marks(&plot, x, t2[k], points, RF_MARK_DISC, colours[k]);
  }
  const RfLegendEntry entries[] = {{"DS-PL2", RF_COLOUR_VERMILION, RF_MARK_DISC},
                                   {"DS-OS(5,5,5,0.2)", RF_COLOUR_BLUE, RF_MARK_DISC},
                                   {"slope 1/min(|x+|,|x-|)", RF_COLOUR_INK, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 13, RF_COLOUR_INK,
               "Min, Mallada, Vidal, (39): start of fitting");
  rf_svg_legend(&svg, 70, 42, 380, entries, 3);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-9-fitting.svg");
}

/* ---- MMV-20: loss rate --------------------------------------------------------------------- */

/* L(t) against L(t2)/(1 + L(t2) rate (t - t2)), in logarithms. */
static void judge_rate(RfClaimRun *run, const Fit *fit, bool judged, double *tightest, double *bounded) {
  double rate = fit->bounds.loss_rate, L2 = exp(fit->log_loss_2);
  for (rf_index r = 0; r < fit->rows; r++) {
    double t = exp(fit->row[0][r]),
           over = fit->row[1][r] - fit->log_loss_2 + log1p(L2 * rate * (t - fit->t_both));
    if (judged) rf_claim_at_most(run, "ln L(t) over its bound", over, 0, 1e-9);
    if (judged) *tightest = fmax(*tightest, exp(over));
    *bounded = fmax(*bounded, exp(fit->row[0][r] + fit->row[1][r]));
  }
}

static RfStatus draw_rate(RfClaimRun *run, const Fit *fit) {
  double bound[most_rows], t[most_rows], L[most_rows];
  double L2 = exp(fit->log_loss_2), rate = fit->bounds.loss_rate;
  for (rf_index r = 0; r < fit->rows; r++) {
    t[r] = exp(fit->row[0][r]), L[r] = exp(fit->row[1][r]);
    bound[r] = L2 / (1 + L2 * rate * (t[r] - fit->t_both));
  }
  const double *columns[] = {t, L, bound};
  RfStatus status = rf_claim_series(run, "E-MM-9-loss.csv", "t,loss,bound", columns, 3, fit->rows);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 460, 350, "E-MM-9: MMV Theorem 1, loss after t2", "the loss and its bound of order 1/t");
  RfPlot plot = rf_claim_panel(&svg, 0, 0, "t", "loss");
  plot.top = 90, plot.width = 340, plot.x.log = plot.y.log = true;
  rf_axis_cover(&plot.x, t, fit->rows), rf_axis_cover(&plot.y, L, fit->rows),
      rf_axis_cover(&plot.y, bound, fit->rows);
  rf_axis_pad(&plot.x, 0.04), rf_axis_pad(&plot.y, 0.06);
  rf_plot_axes(&plot);
  rf_plot_line(&plot, t, bound, fit->rows, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2, .dashed = true});
  rf_plot_line(&plot, t, L, fit->rows, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
  const RfLegendEntry entries[] = {{"loss on DS-PL2", RF_COLOUR_VERMILION, -1},
                                   {"bound of Theorem 1", RF_COLOUR_BLUE, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 13, RF_COLOUR_INK,
               "Min, Mallada, Vidal, Theorem 1: loss after t2");
  rf_svg_legend(&svg, 70, 42, 380, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-9-loss.svg");
}

/* t runs to 1e60, so that L t ln(1/L) is near its limit; the plain logistic loss on the first data only. */
static RfStatus rate_run(RfClaimRun *run, int k, int l, rf_index seed, double *tightest, double *bounded) {
  Fit *fit;
  RfClassMargin sides[2] = {{0}, {0}};
  RfStatus status = fit_on(run, &fit, 20, k, 1, losses[l], seed, -30);
  if (status) return status;
  const RfDataset *data = &fit->setting.data;
  for (int s = 0; s < 2 && !status; s++)
    status = rf_margin_class(run->context, &sides[s], data->X, data->y, data->n, data->d, s ? -1 : 1);
  fit->setting.flow.until = RF_UNTIL_TIME, fit->setting.flow.until_value = 1e60;
  fit->setting.flow.observe_inside = 24;
  if (!status) status = rf_claim_flow(run, &fit->result, &fit->setting);
  if (!status && fit->rows > 0) {
    rf_index last = fit->rows - 1;
    judge_rate(run, fit, l < 2, tightest, bounded);
    rf_claim_at_least(run, "ln(t/t2) reached", fit->row[0][last] - log(fit->t_both), log(1e6), 0);
    /* dL/dt = -4 q margin L^2 for each class: L t ln(1/L) -> (|w+| + |w-|)/2 */
    double product = exp(fit->row[0][last] + fit->row[1][last]) * -fit->row[1][last];
    rf_claim_relative(run, "L t ln(1/L) at t = 1e60", product, (sides[0].norm + sides[1].norm) / 2, 0.05);
    rf_claim_states(run, fit->rows, 1000), rf_claim_made(run, "runs", 1);
    if (k == 0 && l == 0 && seed == 0 && rf_claim_draws(run)) status = draw_rate(run, fit);
  }
  for (int s = 0; s < 2; s++) rf_class_margin_free(&sides[s]);
  fit_free(fit);
  return status;
}

RfStatus rf_mmv_20(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double tightest = 0, bounded = 0, plain = 0;
  rf_index seeds = rf_claim_repetitions(run, 20);
  rf_claim_require(run, "runs", RF_MMV_SETS * (2 * seeds + 1));
  for (rf_index seed = 0; seed < seeds && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++)
      for (int l = 0; l < (seed == 0 ? 3 : 2) && !status; l++)
        status = rate_run(run, k, l, seed, l < 2 ? &tightest : &plain, &bounded);
  rf_claim_note(run, "L/bound up to %.3f; L t at most %.3g; L t ln(1/L) tends to (|w+|+|w-|)/2", tightest,
                bounded);
  return status;
}

/* ---- MMV-21: low rank, (41)-(43) ----------------------------------------------------------- */

static double predicted_rank(const RfClassMargin sides[2], rf_index d) {
  double p = sides[0].norm, q = sides[1].norm, c = rf_claim_cosine(sides[0].w, sides[1].w, d);
  return (p + q) / (0.5 * (p + q + sqrt((p - q) * (p - q) + 4 * c * c * p * q)));
}

static RfStatus judge_limit_rank(RfClaimRun *run, const Fit *fit, double want, double *seen) {
  const RfNet *net = &fit->result.limit.net;
  double values[RF_CLAIM_MOST_D], total = 0;
  RfStatus status = rf_la_singular(run->context, values, NULL, net->W, net->m, net->d);
  if (status) return status;
  for (rf_index j = 0; j < net->d; j++) total += values[j] * values[j];
  *seen = total / (values[0] * values[0]);
  rf_claim_relative(run, "stable rank at t = infinity", *seen, want, 1e-8);
  rf_claim_at_most(run, "stable rank at t = infinity", *seen, 2, 0);
  return RF_OK;
}

static RfStatus draw_rank(RfClaimRun *run, const Fit *fit, double want) {
  rf_index count = 0;
  while (count < fit->rows && fit->row[2][count] < 2000) count++;
  const double *columns[] = {fit->row[0], fit->row[2], fit->row[3]};
  RfStatus status =
      rf_claim_series(run, "E-MM-9-rank.csv", "ln_t,smoothed_margin,stable_rank", columns, 3, count);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 460, 350, "E-MM-9: MMV Theorem 1, stable rank", "stable rank and its predicted limit");
  RfPlot plot = rf_claim_panel(&svg, 0, 0, "smoothed margin", "stable rank");
  double x[] = {0.3, 2000}, y[] = {want, want};
  plot.top = 90, plot.width = 340,
  plot.x = (RfAxis){.low = 0.3, .high = 2000, .log = true, .label = "smoothed margin"};
  rf_axis_cover(&plot.y, fit->row[3], count), rf_axis_cover(&plot.y, y, 2);
  rf_axis_pad(&plot.y, 0.08);
  rf_plot_axes(&plot);
  rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2, .dashed = true});
  rf_plot_line(&plot, fit->row[2], fit->row[3], count, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
  const RfLegendEntry entries[] = {{"DS-PL2/3 after t2", RF_COLOUR_VERMILION, -1},
                                   {"predicted limit (printed: 2)", RF_COLOUR_BLUE, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 13, RF_COLOUR_INK,
               "Min, Mallada, Vidal, Theorem 1: stable rank");
  rf_svg_legend(&svg, 70, 42, 380, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-9-rank.svg");
}

RfStatus rf_mmv_21(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double planar = NAN, seen = NAN;
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Fit *fit;
      RfClassMargin sides[2] = {{0}, {0}};
      status = fit_on(run, &fit, 21, k, k ? 1 : 3, losses[(k + seed) % 2], seed, -300);
      if (status) break;
      const RfDataset *data = &fit->setting.data;
      for (int s = 0; s < 2 && !status; s++)
        status = rf_margin_class(run->context, &sides[s], data->X, data->y, data->n, data->d, s ? -1 : 1);
      if (!status) fit->want = predicted_rank(sides, data->d);
      fit->setting.flow.observe_inside = 8;
      if (!status) status = rf_claim_flow(run, &fit->result, &fit->setting);
      if (!status) {
        rf_claim_at_most(run, "t1 against Tapp", fit->t1, fit->t_app, 0);
        status = judge_limit_rank(run, fit, fit->want, &seen);
        /* where the supports do not span R^d the limit is approached like smargin^{-1/2} */
        rf_claim_decay_judge(run, "stable rank on the way", &fit->decay,
                             sides[0].spans && sides[1].spans ? 1 : 0.5, k == 0 ? 2e-2 : INFINITY);
        rf_claim_states(run, fit->states, 1000), rf_claim_made(run, "runs", 1);
        if (k == 0 && seed == 0 && rf_claim_draws(run) && !status) status = draw_rank(run, fit, fit->want);
        if (k == 0) planar = seen;
      }
      for (int s = 0; s < 2; s++) rf_class_margin_free(&sides[s]);
      fit_free(fit);
    }
  rf_claim_misprint(run, "MP-MMV-13", "limsup of the stable rank on DS-PL2/3", 2, planar, planar,
                    fabs(planar - 2) <= 1e-6);
  rf_claim_misprint(run, "MP-MMV-11", "sum of (41)-(43) over eps W_max^2, 20 neurons", 4, 4 * sqrt(m),
                    4 / sqrt(m) * m, 4 / sqrt(m) * m <= 4);
  return status;
}

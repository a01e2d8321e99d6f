/* Min, Mallada, Vidal, appendix B: small starts. MMV-06: norms and outputs stay small up to Tapp, Lemma 3;
 * MMV-07: directions follow Proj(w) x_a, Lemmas 4 and 10; MMV-08: Lemma 1, and the true order in eps; MMV-17:
 * Lemma 15 for linear networks. Leaky ReLU, losses with -loss'(0) = 1, summed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mmv/mmv.h"
#include "core/core.h"
#include "la/la.h"
#include "margin/margin.h"
#include "kit/samples.h"
#include "kit/setting.h"

typedef struct Early {
  RfClaimRun *run;
  const RfDataset *data;
  RfLoss loss;
  int claim; /* 6, 7 or 8 */
  double leak, X_max, W_max, log_eps, m;
  double t_app;    /* (1/(4 n X_max)) ln(1/(sqrt(m) eps)) */
  double t_fixed;  /* MMV-08: the error up to here is kept in `error` */
  double error;    /* largest |velocity of the direction - field| */
  double tightest; /* value/bound */
  rf_index moments;
  RfRandom random;
} Early;

static double slope_of(const Early *early, const int8_t *sides, rf_index i) {
  return sides[i] > 0 ? 1 : early->leak;
}

/* MMV-06: ln of max |w_k|^2 sqrt(m)/(2 eps W_max^2), and of max|f|/(2 eps sqrt(m) X_max W_max^2): below 0. */
static void judge_sizes(Early *early, const RfFlowMoment *moment) {
  double eps = early->log_eps, W = 2 * log(early->W_max), largest = -INFINITY;
  for (rf_index k = 0; k < moment->m; k++) {
    double w = rf_la_norm(moment->directions + k * (moment->d + 1), moment->d);
    largest = fmax(largest, 2 * (moment->log_norms[k] + log(w)));
  }
  double norms = largest - (log(2) + eps + W - 0.5 * log(early->m));
  double outputs =
      log(rf_la_max_abs(moment->q, moment->n)) - (log(2) + eps + 0.5 * log(early->m) + log(early->X_max) + W);
  rf_claim_at_most(early->run, "ln of max|w|^2 over its bound", norms, 0, 1e-9);
  rf_claim_at_most(early->run, "ln of max|f| over its bound", outputs, 0, 1e-9);
  early->tightest = fmax(early->tightest, exp(fmax(norms, outputs)));
}

/* d/dt(w/|w|) - s_k Proj(w) x_a = s_k Proj(w) sum_i y_i (rho_i - 1) phi' x_i; rho_i - 1 without
 * cancellation. */
static void difference(const Early *early, double *out, const RfFlowMoment *moment, rf_index k) {
  const RfDataset *data = early->data;
  rf_index d = data->d;
  const int8_t *sides = moment->sides + k * data->n;
  double unit[RF_CLAIM_MOST_D], size = rf_la_norm(moment->directions + k * (d + 1), d);
  memset(out, 0, (size_t)d * sizeof *out);
  for (rf_index i = 0; i < data->n; i++) {
    double q = moment->q[i], off = early->loss == RF_LOSS_EXP ? expm1(-q) : -tanh(q / 2);
    rf_la_axpy(out, data->y[i] * off * slope_of(early, sides, i), data->X + i * d, d);
  }
  for (rf_index j = 0; j < d; j++) unit[j] = moment->directions[k * (d + 1) + j] / size;
  rf_la_axpy(out, -rf_la_dot(out, unit, d), unit, d);
}

/* The engine's field is sum_i rho_i y_i phi' x_i. */
static void judge_engine_field(const Early *early, const RfFlowMoment *moment, rf_index k) {
  const RfDataset *data = early->data;
  rf_index d = data->d;
  double rest[RF_CLAIM_MOST_D], scale = 0;
  memcpy(rest, moment->fields + k * d, (size_t)d * sizeof *rest);
  for (rf_index i = 0; i < data->n; i++) {
    double weight = exp(rf_loss_log_slope(early->loss, moment->q[i]) - moment->log_S);
    rf_la_axpy(rest, -data->y[i] * weight * slope_of(early, moment->sides + k * data->n, i), data->X + i * d,
               d);
    scale += weight * early->X_max;
  }
  rf_claim_at_most(early->run, "the engine's field", rf_la_norm(rest, d) / scale, 0, 1e-9);
}

static void judge_directions(Early *early, const RfFlowMoment *moment) {
  rf_index d = moment->d;
  double n = (double)moment->n, f = rf_la_max_abs(moment->q, moment->n);
  double bound = 2 * n * early->X_max * f, t = exp(moment->log_t);
  double lemma1 = 4 * exp(early->log_eps) * n * sqrt(early->m) * early->X_max * early->X_max * early->W_max *
                  early->W_max;
  rf_index stride = moment->m / 10; /* ten neurons of each state, in turn */
  for (rf_index k = early->moments % stride; k < moment->m; k += stride) {
    double v[RF_CLAIM_MOST_D], reference[RF_CLAIM_MOST_D];
    bool on_plane = false;
    for (rf_index i = 0; i < moment->n; i++) on_plane |= moment->sides[k * moment->n + i] == 0;
    if (on_plane) continue;
    difference(early, v, moment, k);
    double size = rf_la_norm(v, d);
    if (early->claim == 7) {
      judge_engine_field(early, moment, k);
      rf_claim_at_most(early->run, "|d/dt(w/|w|) - s Proj(w) x_a|", size, bound, 1e-9 * bound);
      rf_random_direction(&early->random, reference, d);
      rf_claim_at_most(early->run, "the same along a reference direction", fabs(rf_la_dot(reference, v, d)),
                       bound, 1e-9 * bound);
      if (bound > 0) early->tightest = fmax(early->tightest, size / bound);
    } else {
      rf_claim_at_most(early->run, "|d/dt(w/|w|) - s Proj(w) x_a|", size, lemma1, 1e-9 * lemma1);
      early->tightest = fmax(early->tightest, size / lemma1);
    }
    if (t <= early->t_fixed) early->error = fmax(early->error, size);
  }
}

static void watch(void *observer, const RfFlowMoment *moment) {
  Early *early = observer;
  bool in_time = exp(moment->log_t) <= early->t_app * (1 + 1e-12);
  bool small = rf_la_max_abs(moment->q, moment->n) <= 1;
  if (moment->scale_frozen || !(early->claim == 7 ? small : in_time)) return;
  early->moments++;
  if (early->claim == 6)
    judge_sizes(early, moment);
  else
    judge_directions(early, moment);
}

/* One run with eps0 = c/(4 sqrt(m) X_max W_max^2); t_fixed <= 0: keeps nothing. */
static RfStatus follow(RfClaimRun *run, Early *early, const char *spec, double divide, double leak,
                       rf_index m, double c, RfLoss loss, uint64_t seed, int claim, double t_fixed) {
  RfClaimSetting setting;
  RfFlowResult result;
  RfStatus status = rf_claim_setting_new(run, &setting, spec, divide, RF_INIT_MMV, m, seed, 0);
  if (status) return status;
  const RfDataset *data = &setting.data;
  *early = (Early){.run = run, .data = data, .loss = loss, .claim = claim, .leak = leak, .m = (double)m};
  early->random = rf_claim_random(run, seed);
  for (rf_index i = 0; i < data->n; i++)
    early->X_max = fmax(early->X_max, rf_la_norm(data->X + i * data->d, data->d));
  for (rf_index k = 0; k < m; k++) /* balanced: |w| is the joint norm over sqrt 2 */
    early->W_max = fmax(early->W_max, exp(setting.start.log_norms[k]) / sqrt(2));
  early->log_eps = log(c / (4 * sqrt(early->m) * early->X_max * early->W_max * early->W_max));
  early->t_app = (-0.5 * log(early->m) - early->log_eps) / (4 * (double)data->n * early->X_max);
  early->t_fixed = t_fixed > 0 ? t_fixed : early->t_app;
  setting.problem.leak = leak, setting.problem.loss = loss, setting.problem.log_scale = early->log_eps;
  setting.flow.observe = watch, setting.flow.observer = early, setting.flow.with_alignment = false;
  if (claim == 7) {
    setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = 0.4 * (double)data->n;
    setting.flow.observe_inside = 55, setting.flow.max_steps = 2000;
  } else {
    setting.flow.until = RF_UNTIL_TIME, setting.flow.until_value = early->t_app,
    setting.flow.observe_inside = 250;
  }
  status = rf_claim_flow(run, &result, &setting);
  if (!status) rf_flow_result_free(&result);
  rf_claim_setting_free(&setting);
  return status;
}

static const char *const sets[] = {"DS-PL2", "DS-OS(5,5,5,0.1)"};
static const RfLoss losses[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC2};

/* All settings of the row: two sets, three leaks, two widths, three scales; losses and seeds in turn. */
static RfStatus all_runs(RfClaimRun *run, int claim, double *tightest, rf_index *fewest) {
  const double leaks[] = {0, 0.3, 1}, scales[] = {1, 1e-2, 1e-6};
  const rf_index widths[] = {10, 50};
  RfStatus status = RF_OK;
  *fewest = 1 << 30;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 1) && !status; seed++)
    for (int at = 0; at < 36 && !status; at++) {
      Early early;
      int set = at % 2, leak = at / 2 % 3, width = at / 6 % 2, scale = at / 12;
      status = follow(run, &early, sets[set], set ? 1 : 3, leaks[leak], widths[width], scales[scale],
                      losses[(at + at / 2 + (int)seed) % 2], (uint64_t)seed, claim, 0);
      *tightest = fmax(*tightest, early.tightest);
      if (early.moments < *fewest) *fewest = early.moments;
    }
  return status;
}

RfStatus rf_mmv_06(RfClaimRun *run) {
  double tightest = 0;
  rf_index fewest;
  RfStatus status = all_runs(run, 6, &tightest, &fewest);
  rf_claim_note(run, "at least %lld states per run; value/bound up to %.3f", (long long)fewest, tightest);
  return status;
}

RfStatus rf_mmv_07(RfClaimRun *run) {
  double tightest = 0;
  rf_index fewest;
  RfStatus status = all_runs(run, 7, &tightest, &fewest);
  rf_claim_note(run, "at least %lld states per run; value/bound up to %.3f", (long long)fewest, tightest);
  return status;
}

RfStatus rf_mmv_08(RfClaimRun *run) {
  const double scales[] = {1e-2, 1e-4, 1e-6};
  double tightest = 0, x[3], y[3], worst = 0;
  rf_index fewest;
  RfStatus status = all_runs(run, 8, &tightest, &fewest);
  for (int set = 0; set < 2 && !status; set++) {
    double t_fixed = 0;
    for (int k = 0; k < 3 && !status; k++) {
      Early early;
      status = follow(run, &early, sets[set], set ? 1 : 3, 0, 10, scales[k], RF_LOSS_EXP, 0, 8, t_fixed);
      if (k == 0) t_fixed = early.t_app; /* the shortest of the three */
      x[k] = early.log_eps, y[k] = log(early.error);
    }
    if (status) break;
    worst = fmax(worst, fabs(rf_claim_slope(x, y, 3) - 2));
    rf_claim_close(run, "order of the error in eps at fixed time", rf_claim_slope(x, y, 3), 2, 0.02);
  }
  rf_claim_note(run,
                "at least %lld states per run; error/bound up to %.3f; the error is of order eps^2, not eps",
                (long long)fewest, tightest);
  return status;
}

/* ---- MMV-17: Lemma 15, (31) ---------------------------------------------------------------- */

typedef struct Linear {
  RfClaimRun *run;
  double margin, tightest;
  rf_index states;
} Linear;

/* dL/dt = -sum |velocities|^2 against -|v|^2 L^2 margin^2 / 4, divided by S^2. */
static void watch_linear(void *observer, const RfFlowMoment *moment) {
  Linear *linear = observer;
  rf_index d = moment->d;
  double falls = 0, v2 = 0;
  for (rf_index i = 0; i < moment->n; i++)
    if (moment->q[i] < 0) return;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    const double *v = moment->directions + k * (d + 1), *g = moment->fields + k * d;
    double size2 = exp(2 * moment->log_norms[k]), along = rf_la_dot(g, v, d);
    falls += size2 * (v[d] * v[d] * rf_la_dot(g, g, d) + along * along), v2 += size2 * v[d] * v[d];
  }
  double bound = 0.25 * v2 * exp(2 * (moment->log_loss - moment->log_S)) * linear->margin * linear->margin;
  rf_claim_at_least(linear->run, "fall of the loss against |v|^2 L^2 margin^2/4", falls, bound, 1e-9 * falls);
  linear->tightest = fmax(linear->tightest, bound / falls);
  linear->states++;
}

RfStatus rf_mmv_17(RfClaimRun *run) {
  RfStatus status = RF_OK;
  const RfLoss all[] = {RF_LOSS_EXP, RF_LOSS_LOGISTIC2, RF_LOSS_LOGISTIC};
  double tightest = 0;
  rf_index states = 0;
  for (rf_index draw = 0; draw < 3 * rf_claim_repetitions(run, 20) && !status; draw++) {
    char spec[40];
    RfClaimSetting setting;
    RfLinearMargin margin = {0};
    RfFlowResult result;
    rf_format(spec, sizeof spec, "DS-SEP(10,3,%d)", (int)draw / 3);
    status = rf_claim_setting_new(run, &setting, spec, 1, draw % 2 ? RF_INIT_MMV : RF_INIT_GAUSSIAN, 5,
                                  (uint64_t)draw, draw % 2 ? -3 : -1);
    if (status) break;
    const RfDataset *data = &setting.data;
    status = rf_margin_linear(run->context, &margin, data->X, data->y, data->n, data->d);
    Linear linear = {.run = run, .margin = margin.margin};
    setting.problem.leak = 1, setting.problem.loss = all[draw % 3];
    setting.flow.observe = watch_linear, setting.flow.observer = &linear, setting.flow.observe_inside = 60;
    setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = 1e-40;
    if (!status) status = rf_claim_flow(run, &result, &setting);
    if (!status) rf_flow_result_free(&result);
    rf_claim_states(run, linear.states, 1000);
    tightest = fmax(tightest, linear.tightest), states += linear.states;
    rf_linear_margin_free(&margin);
    rf_claim_setting_free(&setting);
  }
  rf_claim_note(
      run, "%lld states; bound/value up to %.3f with the largest margin; exp, 2 ln(1+e^-q) and ln(1+e^-q)",
      (long long)states, tightest);
  return status;
}

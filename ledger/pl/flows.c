/* Phuong and Lampert: what holds along trajectories. PL-05: the velocity is the one of Lemma A.3; PL-06:
 * balance, Lemma A.4; PL-07: neurons end in extremal sectors, Lemma 1; PL-09: extremal sectors are not left,
 * Lemma 3; PL-10: Lemma B.1; PL-11: after alignment two linear networks, (15), (16). Logistic loss, summed;
 * balanced starts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pl/pl.h"
#include "core/core.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "kit/samples.h"
#include "kit/setting.h"

/* What an observer needs. */
typedef struct Watch {
  RfClaimRun *run;
  const RfDataset *data;
  RfStatus status; /* first failure inside an observer */
  rf_index moments, checked;
  double worst, first[64]; /* a claim's own numbers */
  bool active[64][64];
  int8_t sides[64][64];
  double initial[64][8], norms[64], peak[64];
  double largest; /* X_max */
  double rates;   /* PL-06: printed bound broken by */
  RfRandom random;
  double motion[16][2 * 9], t_before; /* PL-05: (w,a) and its velocity at the last state, and its time */
  rf_index steps;
  const RfExtremal *extremal; /* PL-07, with the neurons outside of its sectors */
  rf_index outside;
} Watch;

static void watch_init(Watch *watch, RfClaimRun *run, RfClaimSetting *setting,
                       void (*observe)(void *, const RfFlowMoment *)) {
  memset(watch, 0, sizeof *watch);
  watch->run = run, watch->data = &setting->data;
  for (rf_index i = 0; i < setting->data.n; i++)
    watch->largest = fmax(watch->largest, rf_la_norm(setting->data.X + i * setting->data.d, setting->data.d));
  setting->flow.observe = observe, setting->flow.observer = watch;
}

/* Runs the flow and hands over a failure of the observer. */
static RfStatus follow(Watch *watch, const RfClaimSetting *setting) {
  RfFlowResult result;
  RfStatus status = rf_claim_flow(watch->run, &result, setting);
  if (!status) rf_flow_result_free(&result);
  return status ? status : watch->status;
}

/* p_i = |loss'(q_i)| / S. */
static double weight_of(const RfFlowMoment *moment, rf_index i) {
  return exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, moment->q[i]) - moment->log_S);
}

/* A sample that the neuron slides on, or sees, with a weight beyond double precision beside the others: late
 * states of data that are not fitted, where the inclusion is 0 to rounding and says nothing. */
static bool weightless(const RfFlowMoment *moment, rf_index k) {
  double most = 0;
  for (rf_index i = 0; i < moment->n; i++) {
    int8_t side = moment->sides[k * moment->n + i];
    double p = weight_of(moment, i);
    if (side == 0 && p < 1e-14) return true;
    if (side >= 0) most = fmax(most, p);
  }
  return most < 1e-14;
}

/* ---- PL-05: Lemma A.3, (45), (46) ---------------------------------------------------------- */

/* Field of one neuron: its sum of active samples (46) projected off the hyperplanes it slides on, an element
 * of the inclusion (45), the only one that keeps the neuron there. */
static void judge_field(Watch *watch, const RfFlowMoment *moment, rf_index k) {
  RfClaimRun *run = watch->run;
  const RfDataset *data = watch->data;
  rf_index d = data->d, sliding = 0;
  const int8_t *sides = moment->sides + k * data->n;
  const double *g = moment->fields + k * d;
  double sum[8] = {0}, projected[8], rest[8], columns[64], f[8], share[2][8], zero[8] = {0}, one[8],
         scale = 0;
  char sector[64] = "";
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * d;
    double p = weight_of(moment, i) * data->y[i];
    scale += fabs(p) * rf_la_norm(x, d);
    sector[i] = sides[i] > 0 ? '+' : sides[i] < 0 ? '-' : '0';
    if (sides[i] > 0) rf_la_axpy(sum, p, x, d);
    if (sides[i] != 0 || sliding == d) continue;
    for (rf_index j = 0; j < d; j++) columns[sliding * d + j] = p * x[j];
    one[sliding++] = 1;
    rf_claim_at_most(run, "a sliding neuron is on its hyperplane",
                     fabs(rf_la_dot(moment->directions + k * (d + 1), x, d)) / rf_la_norm(x, d), 0, 1e-9);
    rf_claim_at_most(run, "and stays there", fabs(rf_la_dot(g, x, d)) / (scale * rf_la_norm(x, d)), 0, 1e-9);
  }
  memcpy(projected, sum, sizeof projected);
  rf_claim_off_span(projected, data, sector);
  for (rf_index j = 0; j < d; j++) rest[j] = g[j] - projected[j], f[j] = g[j] - sum[j];
  rf_claim_at_most(run, "field against the projected sum (46)", rf_la_norm(rest, d) / scale, 0, 1e-9);
  watch->checked++;
  if (sliding == 0) return;
  /* g - sum = sum of share_i p_i y_i x_i, share in [0,1]: found from two corners, the same */
  for (int corner = 0; corner < 2 && !watch->status; corner++) {
    RfLeastSquaresInfo info;
    for (rf_index c = 0; c < sliding; c++) share[corner][c] = corner;
    watch->status = rf_la_box_least_squares_from(run->context, share[corner], rest, &info, columns, f, zero,
                                                 one, d, sliding, d, NULL);
    rf_claim_at_most(run, "distance from the inclusion (45)", rf_la_norm(rest, d) / scale, 0, 1e-9);
  }
  memset(rest, 0, sizeof rest);
  for (rf_index c = 0; c < sliding; c++) rf_la_axpy(rest, share[0][c] - share[1][c], columns + c * d, d);
  rf_claim_at_most(run, "distance of the elements from two corners", rf_la_norm(rest, d) / scale, 0, 1e-9);
  watch->worst++;
}

/* Any other element of the inclusion leaves a hyperplane: shares drawn from the box give a velocity that
 * differs from the field, and then is not orthogonal to all of the samples that carry the neuron. */
static void judge_others(Watch *watch, const RfFlowMoment *moment, rf_index k) {
  const RfDataset *data = watch->data;
  rf_index d = data->d;
  const double *g = moment->fields + k * d;
  for (int draw = 0; draw < 5; draw++) {
    double v[8] = {0}, scale = 0, leaves = 0, other = 0;
    for (rf_index i = 0; i < data->n; i++) {
      int8_t side = moment->sides[k * data->n + i];
      double p = weight_of(moment, i), share = side > 0;
      if (side == 0) share = rf_random_uniform(&watch->random);
      rf_la_axpy(v, share * p * data->y[i], data->X + i * d, d);
      scale += p * rf_la_norm(data->X + i * d, d);
    }
    for (rf_index j = 0; j < d; j++) other += pow(v[j] - g[j], 2);
    for (rf_index i = 0; i < data->n; i++)
      if (moment->sides[k * data->n + i] == 0)
        leaves = fmax(leaves, fabs(rf_la_dot(v, data->X + i * d, d)) / rf_la_norm(data->X + i * d, d));
    if (sqrt(other) > 1e-6 * scale)
      rf_claim_true(watch->run, "another element of the inclusion leaves the hyperplane",
                    leaves > 1e-6 * sqrt(other));
  }
}

/* Between two states in one sector the weights move with dw = S a g, da = S g.w (trapezoidal rule; events of
 * other neurons in between leave an error of first order in the step, up to 0.015). */
static void judge_motion(Watch *watch, const RfFlowMoment *moment, rf_index k) {
  rf_index d = moment->d;
  const double *v = moment->directions + k * (d + 1), *g = moment->fields + k * d;
  double size = exp(moment->log_norms[k]), S = exp(moment->log_S), t = exp(moment->log_t), now[2 * 9];
  double *before = watch->motion[k];
  for (rf_index j = 0; j <= d; j++) now[j] = size * v[j];
  for (rf_index j = 0; j < d; j++) now[9 + j] = S * now[d] * g[j];
  now[9 + d] = S * rf_la_dot(g, now, d);
  /* in an implicit step S may fall by many orders: only where the speeds at both ends agree to a tenth is the
   * trapezoidal rule good to 0.01 */
  double dt = t - watch->t_before, first = rf_la_norm(before + 9, d + 1), speed = rf_la_norm(now + 9, d + 1);
  bool steady = fabs(speed - first) <= 0.1 * speed;
  bool same = memcmp(watch->sides[k], moment->sides + k * moment->n, (size_t)moment->n) == 0;
  if (watch->moments > 0 && same && steady && dt > 0 && dt * speed <= 4e-3 * size &&
      dt * speed > 1e-6 * size) {
    double off = 0;
    for (rf_index j = 0; j <= d; j++)
      off += pow(now[j] - before[j] - dt * (now[9 + j] + before[9 + j]) / 2, 2);
    rf_claim_at_most(watch->run, "step of (w,a) against dt S (a g, g.w)", sqrt(off) / (dt * speed), 0, 0.04);
    watch->steps++;
  }
  memcpy(before, now, sizeof now);
  memcpy(watch->sides[k], moment->sides + k * moment->n, (size_t)moment->n);
}

static void watch_fields(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    judge_motion(watch, moment, k);
    if (watch->moments % 28 == 0 && !weightless(moment, k))
      judge_field(watch, moment, k), judge_others(watch, moment, k);
  }
  watch->t_before = exp(moment->log_t);
  watch->moments++;
}

RfStatus rf_pl_05(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index checked = 0, sliding = 0, sets = rf_claim_repetitions(run, 6);
  for (rf_index seed = 0; (seed < sets || (sliding < 50 && seed < 10 * sets)) && !status; seed++) {
    char spec[40];
    RfClaimSetting setting;
    Watch watch;
    rf_format(spec, sizeof spec, "DS-GEN(8,3,%d)", (int)seed);
    status = rf_claim_setting_new(run, &setting, spec, 1, RF_INIT_BALANCED, 12, (uint64_t)seed, -10);
    if (status) break;
    watch_init(&watch, run, &setting, watch_fields);
    watch.random = rf_claim_random(run, (uint64_t)seed);
    setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = 0.5, setting.flow.max_steps = 4000;
    setting.flow.observe_inside = 3;
    status = follow(&watch, &setting);
    checked += watch.checked, sliding += (rf_index)watch.worst;
    rf_claim_require(run, "steps of a neuron against its velocity", 100);
    rf_claim_made(run, "steps of a neuron against its velocity", watch.steps);
    rf_claim_setting_free(&setting);
  }
  rf_claim_require(run, "fields of sliding neurons", 50);
  rf_claim_made(run, "fields of sliding neurons", sliding);
  rf_claim_note(run, "%lld fields, %lld of neurons that slide", (long long)checked, (long long)sliding);
  return status;
}

/* ---- PL-06: Lemma A.4, (57), (58) ---------------------------------------------------------- */

static void watch_balance(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  rf_index d = moment->d;
  double n = (double)moment->n;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    const double *direction = moment->directions + k * (d + 1);
    if (watch->moments == 0)
      watch->norms[k] = watch->peak[k] = moment->log_norms[k], watch->first[k] = direction[d];
    watch->peak[k] = fmax(watch->peak[k], moment->log_norms[k]);
    double t = exp(moment->log_t), change = 2 * fabs(moment->log_norms[k] - watch->norms[k]);
    rf_claim_at_most(watch->run, "|w|^2 - a^2 over the largest |(w,a)|^2 so far",
                     fabs(pow(direction[d], 2) - rf_la_dot(direction, direction, d)) *
                         exp(2 * (moment->log_norms[k] - watch->peak[k])),
                     0, 1e-7);
    rf_claim_true(watch->run, "a keeps its sign", direction[d] * watch->first[k] > 0);
    rf_claim_at_most(watch->run, "|ln a^2 - ln a(0)^2| against 2 n B V t", change, 2 * n * watch->largest * t,
                     1e-9 * (1 + change));
    watch->rates = fmax(watch->rates, change / (n * watch->largest * t));
  }
  watch->moments++;
}

/* One sample with q = -9: the loss has slope 1 - 1e-4, so a^2 falls almost like e^{-2t}. */
static RfStatus fastest(RfClaimRun *run, double *rate) {
  double x = 1, y = 1, W = 3, a = -3;
  RfNet net = {.m = 1, .d = 1, .W = &W, .a = &a};
  RfFlowStart start = {0};
  RfFlowResult result = {0};
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.until = RF_UNTIL_TIME, settings.until_value = 0.1;
  settings.with_alignment = settings.check_direction = false;
  RfStatus status = rf_flow_start_from_net(run->context, &start, &net);
  RfFlowProblem problem = {.X = &x, .y = &y, .n = 1, .d = 1, .start = &start};
  if (!status) status = rf_claim_run_flow(run, &result, &problem, &settings);
  if (status >= 0) {
    double a2 = exp(2 * result.log_norm_end) * result.net_end.a[0] * result.net_end.a[0];
    *rate = log(9 / a2) / 0.1;
    status = RF_OK;
  }
  rf_flow_result_free(&result);
  rf_flow_start_free(&start);
  return status;
}

RfStatus rf_pl_06(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double largest = 0, rate = 0;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 10) && !status; draw++) {
    char spec[40];
    RfClaimSetting setting;
    Watch watch;
    rf_format(spec, sizeof spec, "DS-GEN(8,3,%d)", (int)draw / 2);
    status = rf_claim_setting_new(run, &setting, draw % 2 ? "DS-PL2" : spec, draw % 2 ? 3 : 1,
                                  RF_INIT_BALANCED, 10, (uint64_t)draw, draw % 3 ? -7 : 0);
    if (status) break;
    watch_init(&watch, run, &setting, watch_balance);
    rf_claim_joint_form(&setting.start);
    setting.flow.observe_inside = 14;
    status = follow(&watch, &setting);
    rf_claim_states(run, watch.moments, 1000);
    largest = fmax(largest, watch.rates / 2);
    rf_claim_setting_free(&setting);
  }
  if (!status) status = fastest(run, &rate);
  if (status) return status;
  rf_claim_at_most(run, "one sample, q = -9: rate of ln a^2", rate, 2, 1e-9);
  rf_claim_misprint(run, "MP-PL-01", "one sample, q = -9: bound on the rate of ln a^2", 1, 2, rate,
                    rate <= 1);
  rf_claim_note(run, "weights integrated as (w,a); rate/bound up to %.3f, %.4f for one sample at q = -9",
                largest, rate / 2);
  return RF_OK;
}

/* ---- PL-07: Lemma 1 ------------------------------------------------------------------------ */

static bool in_extremal(const int8_t *sides, double a, const RfExtremal *extremal, rf_index n) {
  bool dead = true;
  for (rf_index i = 0; i < n; i++) dead &= sides[i] <= 0;
  rf_index count = a > 0 ? extremal->n_positive : extremal->n_negative;
  for (rf_index e = 0; e < count && !dead; e++) {
    const char *sector = (a > 0 ? extremal->positive : extremal->negative)[e].sector;
    bool equal = true;
    for (rf_index i = 0; i < n; i++) equal &= sector[i] == (sides[i] > 0 ? '+' : sides[i] < 0 ? '-' : '0');
    if (equal) return true;
  }
  return dead;
}

/* Neurons outside of the extremal sectors, as long as every |q| <= 1e-3. */
static void watch_sectors(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  rf_index d = moment->d;
  if (moment->scale_frozen || rf_la_max_abs(moment->q, moment->n) > 1e-3) return;
  watch->outside = 0;
  for (rf_index k = 0; k < moment->m; k++)
    watch->outside += !in_extremal(moment->sides + k * moment->n, moment->directions[k * (d + 1) + d],
                                   watch->extremal, moment->n);
  watch->moments = watch->outside > 0 ? 0 : watch->moments + 1; /* states after the T of the lemma */
}

/* Neurons of one start outside at the end of that, and the states after which none was. */
static RfStatus strays(RfClaimRun *run, rf_index *count, rf_index *after, RfClaimSetting *setting,
                       const RfExtremal *extremal, double log_scale) {
  Watch watch;
  watch_init(&watch, run, setting, watch_sectors);
  watch.extremal = extremal, watch.outside = 20;
  setting->problem.log_scale = log_scale;
  setting->flow.until = RF_UNTIL_LOSS, setting->flow.until_value = 0.99 * (double)setting->data.n * log(2);
  RfStatus status = follow(&watch, setting);
  *count = watch.outside, *after = watch.moments;
  return status;
}

/* The first scale of -10, -20, -40, ... from which no neuron strays; nor may one at a half and a quarter of
 * its logarithm. */
static RfStatus threshold(RfClaimRun *run, double *log_eps, rf_index *first, const char *spec, double divide,
                          uint64_t seed, rf_index *sectors) {
  enum { least = -20480 };
  RfClaimSetting setting;
  RfExtremal extremal = {0}, again = {0};
  RfExtremalSettings how = {.leak = 0, .slope = 0.5}, other = {.leak = 0, .slope = 1};
  RfStatus status = rf_claim_setting_new(run, &setting, spec, divide, RF_INIT_BALANCED, 20, seed, -10);
  if (status) return status;
  const RfDataset *data = &setting.data;
  rf_index outside = 1, after = 0;
  status = rf_geometry_extremal(run->context, &extremal, data->X, data->y, data->n, data->d, &how);
  if (!status)
    status = rf_geometry_extremal(run->context, &again, data->X, data->y, data->n, data->d, &other);
  *sectors = extremal.n_positive + extremal.n_negative;
  if (!status)
    rf_claim_close(run, "extremal sectors, whatever the slope of the loss",
                   (double)(again.n_positive + again.n_negative), (double)*sectors, 0);
  for (*log_eps = -10; !status; *log_eps *= 2) {
    status = strays(run, &outside, &after, &setting, &extremal, *log_eps);
    if (*log_eps == -10) *first += outside;
    if (outside == 0 || *log_eps <= least) break;
  }
  rf_claim_close(run, "small enough starts: neurons outside the extremal sectors", (double)outside, 0, 0);
  for (int k = 1; k <= 2 && !status; k++) {
    status = strays(run, &outside, &after, &setting, &extremal, *log_eps * 2 * k);
    rf_claim_close(run, "smaller starts: neurons outside the extremal sectors", (double)outside, 0, 0);
    rf_claim_made(run, "states after T", after);
  }
  rf_extremal_free(&extremal), rf_extremal_free(&again);
  rf_claim_setting_free(&setting);
  return status;
}

RfStatus rf_pl_07(RfClaimRun *run) {
  const char *sets[] = {"DS-PL2", "DS-GEN(6,2,%d)", "DS-GEN(8,3,%d)"};
  rf_index runs = 0, at_first = 0, sectors = 0, outside = 0, seeds = rf_claim_repetitions(run, 5);
  double smallest = 0;
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < seeds && !status; seed++)
    for (int k = 0; k < 3 && !status; k++) {
      char spec[40];
      double log_eps = NAN;
      rf_index number = 0, before = outside;
      rf_format(spec, sizeof spec, sets[k], (int)seed);
      status = threshold(run, &log_eps, &outside, spec, k ? 1 : 3, (uint64_t)seed, &number);
      runs++, sectors += number, smallest = fmin(smallest, log_eps), at_first += outside == before;
      if (k == 0) rf_claim_close(run, "DS-PL2/3: extremal sectors", (double)number, 2, 0);
    }
  rf_claim_require(run, "starts", 3 * seeds), rf_claim_made(run, "starts", runs);
  rf_claim_require(run, "states after T", 60 * seeds);
  rf_claim_note(run,
                "%lld starts of 20 neurons, %lld extremal sectors in all; from ln eps = -10 no neuron strays "
                "in %lld of them (%lld neurons do), from ln eps = %.0f in none",
                (long long)runs, (long long)sectors, (long long)at_first, (long long)outside, smallest);
  return status;
}

/* ---- PL-09: Lemma 3, (63)-(67) ------------------------------------------------------------- */

static void watch_extremal(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  const RfDataset *data = watch->data;
  rf_index d = data->d;
  if (moment->scale_frozen) return;
  watch->moments++;
  for (rf_index k = 0; k < moment->m; k++)
    for (rf_index i = 0; i < data->n; i++) {
      const double *x = data->X + i * d, *direction = moment->directions + k * (d + 1);
      double a = direction[d], size = rf_la_norm(x, d), input = rf_la_dot(direction, x, d) / size;
      double speed = (a > 0 ? 1 : -1) * rf_la_dot(moment->fields + k * d, x, d) / size;
      int8_t side = watch->sides[k][i]; /* the extremal sector it began in */
      if (side == 0) {
        rf_claim_at_most(watch->run, "zero entries stay zero", fabs(input), 0, 1e-12);
        rf_claim_at_most(watch->run, "and do not move", fabs(speed), 0, 1e-12);
      } else {
        rf_claim_true(watch->run, "the sector is kept", side * input > 0);
        rf_claim_at_least(watch->run, "pre-activations move away from 0", side * speed, 0, 1e-12);
      }
    }
}

/* Starts inside the extremal sectors: even neurons in sigma+ with a > 0, odd ones in sigma-. Elements of
 * sigma are combinations of the samples of the class, pushed around where no entry is 0. */
static RfStatus inside_sectors(RfClaimRun *run, const RfDataset *data, const char *spec, double divide,
                               uint64_t seed, rf_index *moments) {
  enum { m = 8 };
  double W[m * 8], a[m];
  RfRandom random = rf_claim_random(run, seed);
  rf_index d = data->d;
  RfNet net = {.m = m, .d = d, .W = W, .a = a};
  Watch watch;
  RfClaimSetting setting = {0};
  for (rf_index k = 0; k < m; k++) {
    double *w = W + k * d, step[8];
    int side = k % 2 ? -1 : 1;
    memset(w, 0, (size_t)d * sizeof *w);
    for (rf_index i = 0; i < data->n; i++)
      if (data->y[i] == side) rf_la_axpy(w, 0.1 + rf_random_uniform(&random), data->X + i * d, d);
    rf_random_direction(&random, step, d);
    rf_la_axpy(step, 1, w, d);
    bool zeros = false;
    for (rf_index i = 0; i < data->n; i++) zeros |= rf_la_dot(w, data->X + i * d, d) == 0;
    if (!zeros && rf_claim_in_cone(step, data, side)) memcpy(w, step, (size_t)d * sizeof *w);
    a[k] = side * rf_la_norm(w, d);
  }
  RfStatus status = rf_claim_setting_from(run, &setting, spec ? spec : "DS-WP1", divide, &net);
  if (status) return status;
  if (!spec) { /* data that no generator makes */
    rf_dataset_free(&setting.data);
    status = rf_dataset_from_arrays(run->context, &setting.data, data->X, data->y, data->n, d, NULL);
    setting.problem.X = setting.data.X, setting.problem.y = setting.data.y, setting.problem.n = data->n;
    setting.problem.d = d;
  }
  if (!status) {
    watch_init(&watch, run, &setting, watch_extremal);
    setting.problem.log_scale = seed % 2 ? -7 : 0, setting.flow.observe_inside = 4;
    for (rf_index k = 0; k < m; k++)
      for (rf_index i = 0; i < data->n; i++) {
        double product = rf_la_dot(W + k * d, data->X + i * d, d);
        watch.sides[k][i] = (int8_t)((product > 0) - (product < 0));
      }
    status = follow(&watch, &setting);
    *moments += watch.moments;
  }
  rf_claim_setting_free(&setting);
  return status;
}

RfStatus rf_pl_09(RfClaimRun *run) {
  const char *sets[] = {"DS-PL2", "DS-OS(5,5,3,0.2)", "DS-PL(40,4)", "orthogonal,n=2", NULL};
  const double X[] = {1, 0, 1, 0.5, 0, -1}, y[] = {1, 1, -1}, divide[] = {3, 1, 1, 1, 1};
  rf_index moments = 0;
  RfStatus status = RF_OK;
  for (int k = 0; k < 5 && !status; k++) {
    RfDataset data = {0};
    status = sets[k] ? rf_claim_data(run, &data, sets[k], divide[k])
                     : rf_dataset_from_arrays(run->context, &data, X, y, 3, 2, NULL);
    for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++)
      status = inside_sectors(run, &data, sets[k], divide[k], (uint64_t)seed, &moments);
    rf_dataset_free(&data);
  }
  rf_claim_note(run, "%lld states, with zero entries on orthogonal samples", (long long)moments);
  return status;
}

/* ---- PL-10: Lemma B.1 ---------------------------------------------------------------------- */

static void watch_activation(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  const RfDataset *data = watch->data;
  rf_index d = data->d;
  for (rf_index k = 0; k < moment->m; k++)
    for (rf_index i = 0; i < data->n; i++) {
      const double *x = data->X + i * d, *direction = moment->directions + k * (d + 1);
      double sign = (direction[d] > 0 ? 1 : -1) * data->y[i], size = rf_la_norm(x, d);
      double speed = data->y[i] * rf_la_dot(moment->fields + k * d, x, d) / size; /* over |a_k| */
      rf_claim_at_least(watch->run, "y_i s_k d<w_k,x_i>/dt", speed, 0, 1e-9);
      if (sign < 0) continue;
      bool active = moment->sides[k * data->n + i] > 0;
      rf_claim_true(watch->run, "once active on its class, always", active || !watch->active[k][i]);
      watch->active[k][i] |= active;
    }
  watch->moments++;
}

RfStatus rf_pl_10(RfClaimRun *run) {
  const char *sets[] = {"DS-PL2", "DS-OS(5,5,3,0.2,%d)", "DS-PL(40,4,%d)", "DS-OS(5,5,2,0.1,%d)"};
  rf_index moments = 0;
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++)
    for (int k = 0; k < 4 && !status; k++) {
      char spec[40];
      RfClaimSetting setting;
      Watch watch;
      if (k == 2 && run->settings->quick) continue; /* millions of comparisons */
      rf_format(spec, sizeof spec, sets[k], (int)seed);
      status =
          rf_claim_setting_new(run, &setting, spec, k ? 1 : 3, seed % 2 ? RF_INIT_GAUSSIAN : RF_INIT_BALANCED,
                               20, (uint64_t)seed, seed % 3 ? log(1e-6) : 0);
      if (status) break;
      watch_init(&watch, run, &setting, watch_activation);
      setting.flow.observe_inside = k == 2 ? 8 : 24; /* the large set makes many steps */
      status = follow(&watch, &setting);
      moments += watch.moments;
      rf_claim_states(run, watch.moments, 1000);
      rf_claim_setting_free(&setting);
    }
  rf_claim_note(run, "%lld states to t = infinity of balanced and unbalanced runs, small and large starts",
                (long long)moments);
  return status;
}

/* ---- PL-11: (15), (16) --------------------------------------------------------------------- */

/* 1 J+, -1 J-, 0 dead, 2 none of them. */
static int group_of(const int8_t *sides, double a, const RfDataset *data) {
  bool seen = false, own = true, other = false;
  for (rf_index i = 0; i < data->n; i++) {
    bool active = sides[i] > 0, mine = (a > 0) == (data->y[i] > 0);
    seen |= active, own &= !mine || active, other |= !mine && active;
  }
  return !seen ? 0 : own && !other ? (a > 0 ? 1 : -1) : 2;
}

static void watch_split(void *observer, const RfFlowMoment *moment) {
  Watch *watch = observer;
  RfClaimRun *run = watch->run;
  const RfDataset *data = watch->data;
  rf_index d = data->d, n = data->n;
  int group[64];
  double sums[2][8] = {{0}}, sizes[2] = {0, 0};
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    group[k] = group_of(moment->sides + k * n, moment->directions[k * (d + 1) + d], data);
    if (group[k] == 2) return; /* before T */
  }
  for (rf_index i = 0; i < n; i++) {
    int own = data->y[i] > 0 ? 1 : -1;
    double f = 0, size = 0, p = weight_of(moment, i);
    for (rf_index k = 0; k < moment->m; k++) { /* (15) */
      const double *v = moment->directions + k * (d + 1);
      double term = exp(2 * moment->log_norms[k]) * v[d] * rf_la_dot(v, data->X + i * d, d);
      if (group[k] == own) f += term, size += fabs(term);
    }
    rf_claim_at_most(run, "(15): output of the own group",
                     fabs(data->y[i] * f - moment->q[i]) / fmax(size, 1e-300), 0, 1e-9);
    rf_la_axpy(sums[own < 0], p * data->y[i], data->X + i * d, d), sizes[own < 0] += p * watch->largest;
  }
  for (rf_index k = 0; k < moment->m; k++) {
    const double *v = moment->directions + k * (d + 1);
    double rest[8];
    if (watch->moments == 0) {
      memcpy(watch->initial[k], v, (size_t)(d + 1) * sizeof *v), watch->norms[k] = moment->log_norms[k];
    } else if (group[k] == 0) {
      double moved = fabs(watch->norms[k] - moment->log_norms[k]);
      for (rf_index j = 0; j <= d; j++) moved = fmax(moved, fabs(watch->initial[k][j] - v[j]));
      rf_claim_at_most(run, "the dead part is constant", moved, 0, 1e-15); /* but for one rounding */
      watch->checked++;
    }
    if (group[k] == 0) continue;
    int s = group[k] < 0;
    for (rf_index j = 0; j < d; j++) rest[j] = moment->fields[k * d + j] - sums[s][j];
    rf_claim_at_most(run, "(16): velocity from the own class", rf_la_norm(rest, d) / fmax(sizes[s], 1e-300),
                     0, 1e-9);
  }
  watch->moments++;
}

RfStatus rf_pl_11(RfClaimRun *run) {
  const char *sets[] = {"DS-PL2", "DS-OS(5,5,3,0.2,%d)", "DS-M2(0.1)"}; /* the last has dead neurons */
  rf_index moments = 0;
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++)
    for (int k = 0; k < 3 && !status; k++) {
      char spec[40];
      RfClaimSetting setting;
      Watch watch;
      rf_format(spec, sizeof spec, sets[k], (int)seed);
      status = rf_claim_setting_new(run, &setting, spec, k ? 1 : 3, RF_INIT_BALANCED, 20, (uint64_t)seed,
                                    log(1e-6));
      if (status) break;
      watch_init(&watch, run, &setting, watch_split);
      setting.flow.observe_inside = 2;
      status = follow(&watch, &setting);
      rf_claim_require(run, "states after T", 100);
      rf_claim_made(run, "states after T", watch.moments);
      if (k == 2) {
        rf_claim_require(run, "states of dead neurons", 100);
        rf_claim_made(run, "states of dead neurons", watch.checked);
      }
      moments += watch.moments;
      rf_claim_setting_free(&setting);
    }
  rf_claim_note(run, "%lld states after alignment", (long long)moments);
  return status;
}

/* Min, Mallada, Vidal, appendix C: the alignment phase at the scale of (28). MMV-10: hyperplanes are crossed
 * one way, (7), (8); MMV-11: how long a pattern lasts; MMV-13: Theorem 1, part 1; MMV-15: the cones trap,
 * Lemma 12; MMV-16: norms, Lemmas 13 and 14. The flow's own events are replayed neuron by neuron. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mmv/mmv.h"
#include "core/core.h"
#include "la/la.h"
#include "kit/samples.h"
#include "kit/setting.h"

enum { m = 50, most_n = 64 };

/* One run from a start INIT-MMV at the scale of (28) with denominator 8, loss e^{-q} or 2 ln(1+e^{-q}). */
typedef struct Aligned {
  RfClaimSetting setting;
  RfAlignmentBounds bounds;
  RfPairFacts pairs;
  double zeta, t1, t_app; /* min(zeta1,zeta2), the bounds */
  RfFlowResult result;
} Aligned;

static void aligned_free(Aligned *at) {
  rf_flow_result_free(&at->result);
  rf_claim_setting_free(&at->setting);
}

/* Until the smoothed margin is `smargin`; 0: until the loss begins to fall. */
static RfStatus aligned_new(RfClaimRun *run, Aligned *at, const char *spec, uint64_t seed, double smargin) {
  RfNet net = {0};
  double zeta2 = 0, W_max = 0;
  memset(at, 0, sizeof *at);
  RfDataset data = {0};
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  if (!status)
    status = rf_net_init(run->context, &net, RF_INIT_MMV, m, data.d, 0, rf_claim_seed(run, "start", seed), 1);
  if (!status) status = rf_claim_setting_from(run, &at->setting, spec, 1, &net);
  RfLoss loss = seed % 2 ? RF_LOSS_LOGISTIC2 : RF_LOSS_EXP;
  if (!status) status = rf_mmv_bounds(run->context, &at->bounds, &at->pairs, &at->setting.data, loss);
  if (!status) status = rf_theory_start_angle(run->context, &zeta2, &net, data.X, data.y, data.n);
  for (rf_index k = 0; k < net.m; k++) W_max = fmax(W_max, rf_la_norm(net.W + k * net.d, net.d));
  if (!status) {
    double n = (double)data.n, log_eps = rf_theory_log_scale(&at->bounds, zeta2, data.n, at->pairs.norm_min,
                                                             at->pairs.norm_max, m, W_max);
    at->zeta = fmin(at->bounds.zeta1, zeta2);
    at->t1 = rf_theory_alignment_end(&at->bounds, zeta2);
    at->t_app = (-0.5 * log(m) - log_eps) / (4 * n * at->pairs.norm_max);
    at->setting.problem.log_scale = log_eps, at->setting.problem.loss = loss;
    at->setting.flow.until = RF_UNTIL_LOSS;
    at->setting.flow.until_value =
        smargin > 0 ? rf_loss_value(loss, smargin) : 0.9 * n * rf_loss_value(loss, 0);
    at->setting.flow.with_alignment = false;
    status = rf_claim_flow(run, &at->result, &at->setting);
  }
  rf_net_free(&net);
  rf_dataset_free(&data);
  if (status) aligned_free(at);
  return status;
}

void rf_mmv_set(char spec[RF_MMV_SPEC], int set, uint64_t seed) {
  static const char *const sets[RF_MMV_SETS] = {"DS-PL2",
                                                "DS-OS(2,2,5,0.5,%d)",
                                                "DS-OS(2,2,5,0.2,%d)",
                                                "DS-OS(2,2,5,0.1,%d)",
                                                "DS-OS(5,5,5,0.5,%d)",
                                                "DS-OS(5,5,5,0.2,%d)",
                                                "DS-OS(5,5,5,0.1,%d)",
                                                "DS-OS(10,10,5,0.5,%d)",
                                                "DS-OS(10,10,5,0.2,%d)",
                                                "DS-OS(10,10,5,0.1,%d)"};
  rf_format(spec, RF_MMV_SPEC, sets[set], (int)seed);
}

static RfStatus aligned_on(RfClaimRun *run, Aligned *at, int set, uint64_t seed, double smargin) {
  char spec[RF_MMV_SPEC];
  rf_mmv_set(spec, set, seed);
  return aligned_new(run, at, spec, seed, smargin);
}

/* ---- replay -------------------------------------------------------------------------------- */

/* A change of pattern of one neuron: the sides before it, when that pattern began, and when it ended. */
typedef struct Change {
  const Aligned *at;
  rf_index neuron, number, sample;
  bool positive; /* the neuron is in V+ */
  const int8_t *before;
  double began, ended;
} Change;

/* Walks through the events of neuron k; `sides` are those of the start, then those of the end. visit may be
 * NULL. Returns the number of changes. */
static rf_index replay(const Aligned *at, rf_index k, int8_t *sides,
                       void (*visit)(void *user, const Change *), void *user) {
  const RfDataset *data = &at->setting.data;
  const double *direction = at->setting.start.directions + k * (data->d + 1);
  double began = 0;
  rf_index number = 0;
  for (rf_index i = 0; i < data->n; i++)
    sides[i] = rf_la_dot(direction, data->X + i * data->d, data->d) > 0 ? 1 : -1;
  for (rf_index e = 0; e < at->result.n_events; e++) {
    const RfFlowEvent *event = &at->result.events[e];
    if (event->neuron != k || event->sample < 0) continue;
    double t = exp(event->log_t);
    Change change = {at, k, number, event->sample, direction[data->d] > 0, sides, began, t};
    if (visit) visit(user, &change);
    sides[event->sample] = (int8_t)-sides[event->sample];
    began = t, number++;
  }
  return number;
}

/* ---- MMV-10: (7), (8) ---------------------------------------------------------------------- */

typedef struct Tally {
  RfClaimRun *run;
  rf_index count;
  double least, largest;
} Tally;

/* |<x_i, x_a>|/|x_i|: the speed of the direction at the hyperplane, outputs below 1e-100. */
static double speed(const Change *change, bool after) {
  const RfDataset *data = &change->at->setting.data;
  double sum[RF_CLAIM_MOST_D] = {0};
  const double *x = data->X + change->sample * data->d;
  for (rf_index i = 0; i < data->n; i++) {
    bool active = i == change->sample && after ? change->before[i] < 0 : change->before[i] > 0;
    if (active) rf_la_axpy(sum, data->y[i], data->X + i * data->d, data->d);
  }
  return data->y[change->sample] * rf_la_dot(sum, x, data->d) / rf_la_norm(x, data->d);
}

static void judge_crossing(void *user, const Change *change) {
  Tally *tally = user;
  const RfPairFacts *pairs = &change->at->pairs;
  bool own = (change->at->setting.data.y[change->sample] > 0) == change->positive;
  bool gains = change->before[change->sample] < 0;
  double least = speed(change, false), bound = pow(pairs->sep, 1.5) * pairs->norm_min / 2;
  rf_claim_true(tally->run, "gains samples of its class, loses the others", gains == own);
  double after = speed(change, true); /* 0 for a neuron that dies there */
  if (after != 0) least = fmin(least, after);
  rf_claim_at_least(tally->run, "speed at the hyperplane", least, bound, 1e-9);
  tally->least = fmin(tally->least, least / bound), tally->count++;
}

RfStatus rf_mmv_10(RfClaimRun *run) {
  Tally tally = {.run = run, .least = INFINITY};
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++) {
    Aligned at;
    int8_t sides[most_n];
    char spec[40];
    rf_format(spec, sizeof spec, "DS-OS(5,5,5,0.1,%d)", (int)seed);
    status = aligned_new(run, &at, spec, (uint64_t)seed, 0);
    if (status) break;
    for (rf_index k = 0; k < m; k++)
      rf_claim_at_most(run, "changes of pattern of a neuron",
                       (double)replay(&at, k, sides, judge_crossing, &tally), (double)at.setting.data.n, 0);
    aligned_free(&at);
  }
  rf_claim_require(run, "crossings", 100);
  rf_claim_made(run, "crossings", tally.count);
  rf_claim_note(run, "%lld crossings; least speed %.2f times sep^{3/2} X_min/2", (long long)tally.count,
                tally.least);
  return status;
}

/* ---- MMV-11: how long a pattern lasts ------------------------------------------------------ */

static void judge_duration(void *user, const Change *change) {
  Tally *tally = user;
  const Aligned *at = change->at;
  const RfDataset *data = &at->setting.data;
  double active = 0;
  for (rf_index i = 0; i < data->n; i++) active += change->before[i] > 0;
  double bound = 4 / (fmin(at->zeta, at->bounds.xi) * sqrt(at->pairs.sep) * at->pairs.norm_min * active);
  rf_claim_at_most(tally->run, "duration of a pattern", change->ended - change->began, bound, 1e-9 * bound);
  tally->largest = fmax(tally->largest, (change->ended - change->began) / bound), tally->count++;
}

/* V+ (V-) never in the cone cos(w,x-) >= sqrt(1-zeta) (x+), at 1000 times until the last arrival. */
static RfStatus judge_avoided(RfClaimRun *run, const Aligned *at, double *closest) {
  enum { times = 1000 };
  const RfDataset *data = &at->setting.data;
  rf_index d = data->d, neurons[m];
  double sums[2][RF_CLAIM_MOST_D], when[times], t1 = 0;
  double *path = RF_NEW(double, m *times *(d + 1));
  if (!path) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for paths");
  rf_claim_class_sum(sums[0], data, -1), rf_claim_class_sum(sums[1], data, 1);
  for (rf_index e = 0; e < at->result.n_events; e++) t1 = fmax(t1, exp(at->result.events[e].log_t));
  for (int t = 0; t < times; t++) when[t] = 1.2 * t1 * t / times;
  for (rf_index k = 0; k < m; k++) neurons[k] = k;
  RfFlowProblem problem = at->setting.problem;
  problem.start = &at->setting.start;
  RfStatus status = rf_flow_align_sample(run->context, path, &problem, neurons, m, when, times);
  for (rf_index p = 0; p < m * times && !status; p++) {
    const double *v = path + p * (d + 1);
    double cosine = rf_claim_cosine(v, sums[v[d] < 0], d), bound = sqrt(1 - at->zeta);
    rf_claim_at_most(run, "cosine with the sum of the other class", cosine, bound, 1e-9);
    *closest = fmin(*closest, bound - cosine);
  }
  rf_free(path);
  return status;
}

RfStatus rf_mmv_11(RfClaimRun *run) {
  Tally tally = {.run = run};
  RfStatus status = RF_OK;
  double closest = 1;
  rf_index seeds = rf_claim_repetitions(run, 20);
  for (rf_index seed = 0; seed < seeds && !status; seed++)
    for (int s = 0; s < RF_MMV_SETS && !status; s++) {
      Aligned at;
      int8_t sides[most_n];
      status = aligned_on(run, &at, s, (uint64_t)seed, 0);
      if (status) break;
      for (rf_index k = 0; k < m; k++) {
        int own = at.setting.start.directions[k * (at.setting.data.d + 1) + at.setting.data.d] > 0 ? 1 : -1;
        replay(&at, k, sides, judge_duration, &tally);
        int cone = rf_claim_cone_of(sides, &at.setting.data); /* a pattern outside does not last for ever */
        rf_claim_true(run, "the last pattern is its cone or dead", cone == own || cone == 0);
      }
      if (seed < 4 && (s == 6 || !run->settings->quick))
        status = judge_avoided(run, &at, &closest); /* 50,000 states each */
      rf_claim_made(run, "runs", 1);
      aligned_free(&at);
    }
  rf_claim_require(run, "runs", RF_MMV_SETS * seeds);
  rf_claim_require(run, "patterns", 100 * seeds), rf_claim_made(run, "patterns", tally.count);
  rf_claim_note(
      run, "%lld patterns; duration/bound up to %.2e; distance of the cosine from the cone at least %.1e",
      (long long)tally.count, tally.largest, closest);
  return status;
}

/* ---- MMV-13: Theorem 1, part 1 ------------------------------------------------------------- */

static void judge_arrival(RfClaimRun *run, const Aligned *at, double *ratio) {
  const RfDataset *data = &at->setting.data;
  double last = 0;
  for (rf_index k = 0; k < m; k++) {
    const double *direction = at->setting.start.directions + k * (data->d + 1);
    int8_t sides[most_n];
    int own = direction[data->d] > 0 ? 1 : -1;
    bool sees = false;
    for (rf_index i = 0; i < data->n; i++)
      sees |= data->y[i] == own && rf_la_dot(direction, data->X + i * data->d, data->d) > 0;
    replay(at, k, sides, NULL, NULL);
    int cone = rf_claim_cone_of(sides, data);
    rf_claim_true(run, "by t1 every neuron is in its cone or dead", cone == own || cone == 0);
    rf_claim_true(run, "those that see a sample of their class are in its cone", !sees || cone == own);
  }
  for (rf_index e = 0; e < at->result.n_events; e++) last = fmax(last, exp(at->result.events[e].log_t));
  rf_claim_at_most(run, "last change of pattern against t1", last, at->t1, 1e-9 * at->t1);
  rf_claim_at_most(run, "t1 against Tapp", at->t1, at->t_app, 1e-9 * at->t_app);
  *ratio = fmax(*ratio, last / at->t1);
}

RfStatus rf_mmv_13(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double ratio = 0, smallest = 0, largest = -INFINITY;
  rf_index runs = 0;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Aligned at;
      status = aligned_on(run, &at, k, (uint64_t)seed, 0);
      if (status) break;
      judge_arrival(run, &at, &ratio);
      smallest = fmin(smallest, at.setting.problem.log_scale),
      largest = fmax(largest, at.setting.problem.log_scale);
      runs++;
      aligned_free(&at);
    }
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  rf_claim_made(run, "runs", runs);
  rf_claim_note(run, "%lld runs, ln eps from %.3g to %.3g; last arrival/t1 up to %.1e", (long long)runs,
                smallest, largest, ratio);
  return status;
}

/* ---- MMV-15: Lemma 12 ---------------------------------------------------------------------- */

static void judge_trap(void *user, const Change *change) {
  Tally *tally = user;
  int cone = rf_claim_cone_of(change->before, &change->at->setting.data);
  rf_claim_true(tally->run, "a neuron in its cone, or dead, changes no more",
                cone == 2 || cone == (change->positive ? -1 : 1));
  tally->count++;
}

/* Dead neurons of an observed run: unchanged from then on. */
typedef struct Still {
  RfClaimRun *run;
  double first[m][RF_CLAIM_MOST_D], norms[m];
  bool dead[m];
  rf_index seen;
} Still;

static void watch_dead(void *observer, const RfFlowMoment *moment) {
  Still *still = observer;
  rf_index d = moment->d;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    const double *v = moment->directions + k * (d + 1);
    bool dead = true;
    for (rf_index i = 0; i < moment->n; i++) dead &= moment->sides[k * moment->n + i] <= 0;
    rf_claim_true(still->run, "once dead, always", dead || !still->dead[k]);
    if (dead && still->dead[k]) {
      double moved = fabs(still->norms[k] - moment->log_norms[k]);
      for (rf_index j = 0; j <= d; j++) moved = fmax(moved, fabs(still->first[k][j] - v[j]));
      rf_claim_at_most(still->run, "a dead neuron stays where it is", moved, 0,
                       1e-15); /* but for one rounding */
      still->seen++;
    } else if (dead) {
      memcpy(still->first[k], v, (size_t)(d + 1) * sizeof *v);
      still->norms[k] = moment->log_norms[k], still->dead[k] = true;
    }
  }
}

static RfStatus judge_still(RfClaimRun *run, uint64_t seed, rf_index *seen) {
  RfClaimSetting setting;
  RfFlowResult result;
  Still still = {.run = run};
  RfStatus status = rf_claim_setting_new(run, &setting, "DS-M2(0.1)", 1, RF_INIT_MMV, m, seed, -20);
  if (status) return status;
  setting.problem.loss = RF_LOSS_EXP;
  setting.flow.observe = watch_dead, setting.flow.observer = &still;
  setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = exp(-50);
  status = rf_claim_flow(run, &result, &setting);
  if (!status) rf_flow_result_free(&result);
  *seen += still.seen;
  rf_claim_setting_free(&setting);
  return status;
}

RfStatus rf_mmv_15(RfClaimRun *run) {
  Tally tally = {.run = run};
  RfStatus status = RF_OK;
  rf_index seen = 0;
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++) {
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Aligned at;
      int8_t sides[most_n];
      status = aligned_on(run, &at, k, (uint64_t)seed, 50);
      if (status) break;
      for (rf_index j = 0; j < m; j++) replay(&at, j, sides, judge_trap, &tally);
      rf_claim_made(run, "runs", 1);
      aligned_free(&at);
    }
    if (!status) status = judge_still(run, (uint64_t)seed, &seen);
  }
  rf_claim_require(run, "states of dead neurons", 100);
  rf_claim_made(run, "states of dead neurons", seen);
  rf_claim_note(
      run,
      "%lld changes of pattern up to smoothed margin 50, none from inside a cone; %lld states of dead "
      "neurons",
      (long long)tally.count, (long long)seen);
  return status;
}

/* ---- MMV-16: Lemmas 13, 14, (30) ----------------------------------------------------------- */

/* ln of sum |w_k|^2 over the neurons in S+ (S-) at t1, at t1 and at 0 (without eps, balanced). */
static RfStatus judge_norms(RfClaimRun *run, const Aligned *at) {
  const RfDataset *data = &at->setting.data;
  double sums[2][2] = {{0, 0}, {0, 0}}, shift[2] = {-INFINITY, -INFINITY}, last = 0;
  RfAlignField field = {.X = data->X, .c = data->y, .n = data->n, .d = data->d};
  for (rf_index e = 0; e < at->result.n_events; e++) last = fmax(last, exp(at->result.events[e].log_t));
  for (int pass = 0; pass < 2; pass++)
    for (rf_index k = 0; k < m; k++) {
      int8_t sides[most_n];
      RfAlignNeuron neuron;
      replay(at, k, sides, NULL, NULL);
      int cone = rf_claim_cone_of(sides, data);
      if (cone != 1 && cone != -1) continue;
      RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field,
                                             at->setting.start.directions + k * (data->d + 1),
                                             at->setting.start.log_norms[k], NULL, last);
      if (status) return status;
      int s = cone < 0;
      if (pass == 0) shift[s] = fmax(shift[s], neuron.log_norm);
      if (pass == 1) sums[s][0] += exp(2 * (neuron.log_norm - shift[s]));
      if (pass == 1) sums[s][1] += exp(2 * at->setting.start.log_norms[k]);
      rf_align_neuron_free(&neuron);
    }
  for (int s = 0; s < 2; s++) {
    double floor = -4 * (double)data->n * at->pairs.norm_max * last;
    rf_claim_at_least(run, "ln of the growth of a class up to t1",
                      log(sums[s][0] / sums[s][1]) + 2 * shift[s], floor, 1e-9);
  }
  return RF_OK;
}

/* Sums of squares of the classes after alignment, scaled by the first one. */
typedef struct Growth {
  RfClaimRun *run;
  const RfDataset *data;
  double before[2], squares, norms; /* the last at the first state after alignment, in units of its scale */
  double shift;
  rf_index states;
} Growth;

static void watch_growth(void *observer, const RfFlowMoment *moment) {
  Growth *growth = observer;
  rf_index d = moment->d;
  double now[2] = {0, 0}, norms = 0;
  if (moment->scale_frozen) return;
  for (rf_index k = 0; k < moment->m; k++) {
    int cone = rf_claim_cone_of(moment->sides + k * moment->n, growth->data);
    if (cone == 0) continue;
    if (cone != (moment->directions[k * (d + 1) + d] > 0 ? 1 : -1)) return; /* not aligned yet */
    double w = rf_la_norm(moment->directions + k * (d + 1), d) * exp(moment->log_norms[k]);
    now[cone < 0] += w * w, norms += w;
  }
  for (int s = 0; s < 2 && growth->states > 0; s++)
    rf_claim_at_least(growth->run, "sum of squares of a class after t1", now[s], growth->before[s],
                      1e-9 * growth->before[s]);
  if (growth->states == 0) growth->squares = now[0] + now[1], growth->norms = norms;
  memcpy(growth->before, now, sizeof now);
  growth->states++;
}

RfStatus rf_mmv_16(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index states = 0;
  Growth growth = {.run = run};
  rf_claim_require(run, "runs", RF_MMV_SETS * rf_claim_repetitions(run, 20));
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++)
    for (int k = 0; k < RF_MMV_SETS && !status; k++) {
      Aligned at;
      char spec[RF_MMV_SPEC];
      rf_mmv_set(spec, k, (uint64_t)seed);
      status = aligned_on(run, &at, k, (uint64_t)seed, 0);
      if (status) break;
      status = judge_norms(run, &at);
      aligned_free(&at);
      RfClaimSetting setting;
      RfFlowResult result;
      if (!status)
        status = rf_claim_setting_new(run, &setting, spec, 1, RF_INIT_MMV, 20, (uint64_t)seed, -60);
      if (status) break;
      growth = (Growth){.run = run, .data = &setting.data};
      setting.problem.loss = seed % 2 ? RF_LOSS_LOGISTIC2 : RF_LOSS_EXP;
      setting.flow.observe = watch_growth, setting.flow.observer = &growth;
      setting.flow.until = RF_UNTIL_LOSS, setting.flow.until_value = exp(-50);
      setting.flow.observe_inside = 9;
      status = rf_claim_flow(run, &result, &setting);
      if (!status) rf_flow_result_free(&result);
      rf_claim_states(run, growth.states, 1000), rf_claim_made(run, "runs", 1);
      states += growth.states;
      rf_claim_setting_free(&setting);
    }
  if (status) return status;
  rf_claim_misprint(run, "MP-MMV-09", "(30) at tau = 0: the right side, against the left one", growth.norms,
                    growth.squares, growth.squares, growth.squares >= growth.norms);
  rf_claim_note(run, "%lld states after alignment", (long long)states);
  return RF_OK;
}

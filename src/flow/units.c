/* Data of any size. With x = s x', theta' = sqrt(s) theta and t' = s t the flow on x is the flow on x': f and
 * the loss are the same, and d theta'/dt' = -grad L(theta'). Data far from size 1 are integrated as x', with
 * s a power of 4, and the result is brought back. */
#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"

static const int ordinary = 10; /* largest entries from 2^-10 to 2^10 are left alone */
static const int most = 500;    /* so that s = 4^k and 1/s are numbers */

/* k with s = 4^k; 0 for data of ordinary size. */
static int size_of(const RfFlowProblem *problem) {
  double largest = 0;
  int exponent = 0;
  for (rf_index j = 0; j < problem->n * problem->d; j++) largest = fmax(largest, fabs(problem->X[j]));
  frexp(largest, &exponent);
  if (!(largest > 0) || (exponent <= ordinary && exponent >= -ordinary)) return 0;
  return exponent > 2 * most ? most : exponent < -2 * most ? -most : exponent / 2;
}

static void limit_back(RfFlowLimit *limit, rf_index n, rf_index d, double s) {
  limit->margin *= s;
  for (rf_index j = 0; j < limit->n_candidates; j++) limit->candidates[j].margin *= s;
  limit->log_size -= 0.5 * log(s);
  for (rf_index i = 0; limit->lambda && i < n; i++) limit->lambda[i] /= s;
  for (rf_index g = 0; g < limit->n_groups; g++)
    for (rf_index j = 0; j < d; j++) limit->groups[g].beta[j] /= s;
}

static void alignment_back(RfAlignment *alignment, rf_index d, double s) {
  alignment->t1 /= s;
  for (rf_index k = 0; k < alignment->m; k++) {
    RfAlignNeuron *neuron = &alignment->neurons[k];
    neuron->t_last /= s, neuron->t_branch /= s, neuron->t_state /= s;
    neuron->G *= s;
    for (rf_index j = 0; j < neuron->n_crossings; j++) neuron->crossings[j].t /= s;
    if (neuron->velocity) rf_la_scale(neuron->velocity, s, d);
  }
}

static void result_back(RfFlowResult *result, double s) {
  double shift = log(s);
  result->log_t_align -= shift, result->log_t_fit -= shift, result->log_t_end -= shift;
  result->log_norm_end -= shift / 2;
  for (rf_index j = 0; j < result->n_events; j++) result->events[j].log_t -= shift;
  for (rf_index j = 0; j < result->n_branches; j++) result->branches[j].log_t -= shift;
  for (rf_index j = 0; j < result->n_trace; j++) {
    RfFlowTrace *row = &result->trace[j];
    row->log_t -= shift, row->log_norm -= shift / 2;
    row->margin *= s, row->smoothed_margin *= s;
  }
  limit_back(&result->limit, result->n, result->d, s);
  alignment_back(&result->alignment, result->d, s);
}

/* Someone who watches a flow on x sees it on x. */
typedef struct Watcher {
  const RfFlowSettings *settings;
  double s;
} Watcher;

static void observe_back(void *observer, const RfFlowMoment *moment) {
  const Watcher *watcher = observer;
  RfFlowMoment seen = *moment;
  double shift = log(watcher->s);
  seen.log_t -= shift;
  for (rf_index k = 0; k < seen.m; k++) seen.log_norms[k] -= shift / 2;
  rf_la_scale(seen.fields, watcher->s, seen.m * seen.d);
  watcher->settings->observe(watcher->settings->observer, &seen);
}

RfStatus rf_flow_run(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                     const RfFlowSettings *settings) {
  memset(result, 0, sizeof *result);
  RfStatus status = rf_flow_check_problem(context, problem, settings);
  if (status) return status;
  int k = problem->freeze_second ? 0 : size_of(problem); /* a frozen layer keeps its own size */
  if (k == 0) return rf_flow_run_scaled(context, result, problem, settings);
  RfFlowProblem inner = *problem;
  RfFlowSettings inside = *settings;
  double s = ldexp(1, 2 * k), *X = RF_NEW_TABLE(double, problem->n, problem->d);
  if (!X) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the data");
  for (rf_index j = 0; j < problem->n * problem->d; j++) X[j] = ldexp(problem->X[j], -2 * k);
  inner.X = X;
  inner.log_scale += 0.5 * log(s);
  if (settings->until == RF_UNTIL_TIME) inside.until_value *= s;
  Watcher watcher = {.settings = settings, .s = s};
  if (settings->observe) inside.observe = observe_back, inside.observer = &watcher;
  status = rf_flow_run_scaled(context, result, &inner, &inside);
  if (status >= 0) result_back(result, s);
  rf_free(X);
  return status;
}

/* Data of any size and any spread. With x = s x', theta' = sqrt(s) theta and t' = s t the flow on x is the
 * flow on x': f and the loss are the same, and d theta'/dt' = -grad L(theta'). Data far from size 1 are
 * integrated as x', with s a power of 4, and rows of very different lengths in coordinates of their own
 * (graded.c); the result is brought back. */
#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"
#include "flow/graded.h"

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

static void rows_back(const RfGraded *graded, double *rows, rf_index count, rf_index stride) {
  for (rf_index k = 0; rows && k < count; k++) rf_graded_back(graded, rows + k * stride);
}

/* Every vector of the result in the coordinates of the caller. */
static void turn_back(RfFlowResult *result, const RfGraded *graded) {
  rf_index d = result->d;
  RfFlowLimit *limit = &result->limit;
  rows_back(graded, result->net_end.W, result->net_end.m, d);
  rows_back(graded, limit->net.W, limit->net.m, d);
  for (rf_index j = 0; j < limit->n_candidates; j++)
    rows_back(graded, limit->candidates[j].net.W, limit->candidates[j].net.m, d);
  for (rf_index g = 0; g < limit->n_groups; g++) rows_back(graded, limit->groups[g].beta, 1, d);
  for (rf_index k = 0; k < result->alignment.m; k++) {
    RfAlignNeuron *neuron = &result->alignment.neurons[k];
    rows_back(graded, neuron->direction, 1, d);
    rows_back(graded, neuron->velocity, 1, d);
    rows_back(graded, neuron->branch_direction, 1, d);
  }
}

/* Someone who watches a flow on x sees it on x. */
typedef struct Watcher {
  const RfFlowSettings *settings;
  double s;
  const RfGraded *graded;
} Watcher;

static void observe_back(void *observer, const RfFlowMoment *moment) {
  const Watcher *watcher = observer;
  RfFlowMoment seen = *moment;
  double shift = log(watcher->s);
  seen.log_t -= shift;
  for (rf_index k = 0; k < seen.m; k++) seen.log_norms[k] -= shift / 2;
  rf_la_scale(seen.fields, watcher->s, seen.m * seen.d);
  rows_back(watcher->graded, seen.directions, seen.m, seen.d + 1);
  rows_back(watcher->graded, seen.fields, seen.m, seen.d);
  watcher->settings->observe(watcher->settings->observer, &seen);
}

/* The start in other coordinates. */
static RfStatus turn_start(RfContext *context, RfFlowStart *start, const RfFlowStart *given,
                           const RfGraded *graded) {
  rf_index d = given->d;
  RfStatus status = rf_flow_start_new(context, start, given->m, d);
  if (status) return status;
  memcpy(start->directions, given->directions, (size_t)(given->m * (d + 1)) * sizeof(double));
  memcpy(start->log_norms, given->log_norms, (size_t)given->m * sizeof(double));
  for (rf_index k = 0; k < given->m; k++) rf_graded_turn(graded, start->directions + k * (d + 1));
  return RF_OK;
}

/* The run on X, which is the data over s = 4^k, to be turned as well where that helps. */
static RfStatus run_inside(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                           const RfFlowSettings *settings, double *X, double s, bool turn) {
  RfFlowProblem inner = *problem;
  RfFlowSettings inside = *settings;
  RfGraded graded = {0};
  RfFlowStart start = {0};
  inner.X = X;
  RfStatus status = turn ? rf_graded_new(context, &graded, X, problem->n, problem->d) : RF_OK;
  if (!status && turn) status = turn_start(context, &start, problem->start, &graded);
  if (turn) inner.start = &start;
  inner.log_scale += 0.5 * log(s);
  if (settings->until == RF_UNTIL_TIME) inside.until_value *= s;
  Watcher watcher = {.settings = settings, .s = s, .graded = &graded};
  if (settings->observe) inside.observe = observe_back, inside.observer = &watcher;
  if (!status) status = rf_flow_run_scaled(context, result, &inner, &inside);
  if (status >= 0) result_back(result, s), turn_back(result, &graded);
  rf_flow_start_free(&start);
  rf_graded_free(&graded);
  return status;
}

RfStatus rf_flow_run(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                     const RfFlowSettings *settings) {
  memset(result, 0, sizeof *result);
  RfStatus status = rf_flow_check_problem(context, problem, settings);
  if (status) return status;
  int k = problem->freeze_second ? 0 : size_of(problem); /* a frozen layer keeps its own size */
  /* what is to be proved is about the numbers as they are given */
  bool turn = !settings->prove_alignment && rf_rows_spread(problem->X, problem->n, problem->d);
  if (k == 0 && !turn) return rf_flow_run_scaled(context, result, problem, settings);
  double *X = RF_NEW_TABLE(double, problem->n, problem->d);
  if (!X) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the data");
  for (rf_index j = 0; j < problem->n * problem->d; j++) X[j] = ldexp(problem->X[j], -2 * k);
  status = run_inside(context, result, problem, settings, X, ldexp(1, 2 * k), turn);
  rf_free(X);
  return status;
}

/* Theorems on random data. The suite draws the same ones every time; RF_TEST_SEED=S or `clock` draws others,
 * and the seed is printed. Every run is checked for what holds along any flow (must not depend on the
 * theorem): a^2-|w|^2, the energy identity, the smoothed margin, finite numbers. */
#ifndef RF_THEOREM_H
#define RF_THEOREM_H

#include "rf_test.h"

/* Printed once per program. */
static inline uint64_t theorem_seed(void) {
  static uint64_t seed;
  static bool known;
  if (!known) seed = rf_test_seed("RF_TEST_SEED", 1);
  known = true;
  return seed;
}

/* Random numbers of one case of one theorem. */
static inline RfRandom theorem_random(int theorem, rf_index number) {
  RfRandom random;
  rf_random_init(&random, theorem_seed(), (uint64_t)theorem * 1000000 + (uint64_t)number);
  return random;
}

typedef struct Case {
  RfContext context;
  RfDataset data;
  RfNet net; /* the start at scale 1 */
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowSettings settings;
  RfFlowResult result;
  RfStatus status;
} Case;

/* How the runs of a theorem ended; an undecided run says nothing, but there must be few. */
typedef struct Count {
  rf_index runs, undecided;
} Count;

static inline void case_new(Case *c, const char *generator, const double *X, const double *y, rf_index n,
                            rf_index d) {
  memset(c, 0, sizeof *c);
  rf_context_init(&c->context);
  if (generator)
    assert_ok(&c->context, rf_data_generate(&c->context, &c->data, generator));
  else
    assert_ok(&c->context, rf_dataset_from_arrays(&c->context, &c->data, X, y, n, d, "case"));
  rf_flow_settings_init(&c->settings);
  c->problem =
      (RfFlowProblem){.X = c->data.X, .y = c->data.y, .n = c->data.n, .d = c->data.d, .start = &c->start};
}

/* After problem.leak is set. */
static inline void case_init(Case *c, RfInit init, rf_index m, uint64_t seed, double log_scale) {
  assert_ok(&c->context, rf_net_init(&c->context, &c->net, init, m, c->data.d, c->problem.leak, seed, 1));
  assert_ok(&c->context, rf_flow_start_from_net(&c->context, &c->start, &c->net));
  c->problem.log_scale = log_scale;
}

static inline void case_free(Case *c) {
  rf_flow_result_free(&c->result);
  rf_flow_start_free(&c->start);
  rf_net_free(&c->net);
  rf_dataset_free(&c->data);
}

static inline void case_print(const Case *c, const char *what) {
  fprintf(stderr, "%s: %s %s; leak %.17g loss %s ln scale %.17g\n", what, rf_status_name(c->status),
          c->result.limit.why, c->problem.leak, rf_loss_name(c->problem.loss), c->problem.log_scale);
  rf_test_print_matrix("X", c->data.X, c->data.n, c->data.d);
  rf_test_print_matrix("y", c->data.y, 1, c->data.n);
  rf_test_print_matrix("W", c->net.W, c->net.m, c->net.d);
  rf_test_print_matrix("a", c->net.a, 1, c->net.m);
}

#define case_assert(c, condition)                                                                            \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      case_print((c), #condition);                                                                           \
      fail_msg("%s", #condition);                                                                            \
    }                                                                                                        \
  } while (0)

/* What holds along every flow. */
static inline void case_invariants(const Case *c) {
  const RfFlowResult *r = &c->result;
  case_assert(c, r->monitors.balance_error <= 1e-8);
  if (r->monitors.energy_error > 1e-5) print_error("energy %.3g\n", r->monitors.energy_error);
  case_assert(c, r->monitors.energy_error <= 1e-5);
  case_assert(c, r->monitors.smoothed_margin_monotone);
  for (rf_index k = 0; k < r->m * r->d; k++) case_assert(c, isfinite(r->limit.net.W[k]));
  for (rf_index k = 0; k < r->m; k++) case_assert(c, isfinite(r->limit.net.a[k]));
  case_assert(c, isfinite(r->limit.margin));
  for (rf_index e = 0; e < r->n_events; e++) {
    case_assert(c, !isnan(r->events[e].log_t) || c->problem.in_limit);
    if (e > 0 && !c->problem.in_limit) case_assert(c, r->events[e].log_t >= r->events[e - 1].log_t - 1e-9);
  }
  for (rf_index t = 0; t < r->n_trace; t++) {
    case_assert(c, !isnan(r->trace[t].log_loss) && !isnan(r->trace[t].margin));
    if (t > 0) case_assert(c, r->trace[t].log_loss <= r->trace[t - 1].log_loss + 1e-9);
  }
  if (r->limit.outcome == RF_FLOW_CONVERGED && !c->problem.freeze_second) {
    RfContext context;
    RfKkt kkt;
    rf_context_init(&context);
    assert_ok(&context, rf_certify_kkt(&context, &kkt, &r->limit.net, c->data.X, c->data.y, c->data.n));
    case_assert(c, kkt.stationarity <= 1e-10 && fabs(kkt.complementarity) <= 1e-10);
    rf_kkt_free(&kkt);
  }
}

/* Runs; true when there is a limit to judge. */
static inline bool case_run(Case *c, Count *count) {
  c->settings.branches = RF_BRANCHES_FOLLOW;
  c->settings.trace = 50;
  c->status = rf_flow_run(&c->context, &c->result, &c->problem, &c->settings);
  count->runs++;
  case_assert(c, c->status >= 0 && c->status != RF_INTERRUPTED);
  case_invariants(c);
  count->undecided += c->result.limit.outcome == RF_FLOW_UNDECIDED;
  return c->result.limit.outcome == RF_FLOW_CONVERGED || c->result.limit.outcome == RF_FLOW_STOPPED;
}

static inline void count_check(const Count *count) {
  if (count->undecided > 0) print_message("%d of %d undecided\n", (int)count->undecided, (int)count->runs);
  assert_true((double)count->undecided <= 1 + 0.05 * (double)count->runs);
}

/* On orthogonally separable data a neuron with a > 0 only gains positive and loses negative samples (MMV
 * Lemma 12 and its path; PL), the others the other way round: at most one event for each neuron and sample.
 */
static inline void case_event_bound(const Case *c) {
  const RfFlowResult *r = &c->result;
  uint8_t *seen = calloc((size_t)(r->m * r->n), 1);
  for (rf_index e = 0; e < r->n_events; e++) {
    rf_index at = r->events[e].neuron * r->n + r->events[e].sample;
    case_assert(c, !seen[at] && r->events[e].kind != RF_EVENT_SLIDE);
    seen[at] = 1;
  }
  free(seen);
}

static inline double theorem_cosine(const double *a, const double *b, rf_index d) {
  return rf_la_dot(a, b, d) / (rf_la_norm(a, d) * rf_la_norm(b, d));
}

/* P(Binomial(n, p) <= k). */
static inline double theorem_tail(rf_index k, rf_index n, double p) {
  double sum = 0;
  for (rf_index j = 0; j <= k; j++)
    sum += exp(lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1) +
               (double)j * log(p) + (double)(n - j) * log1p(-p));
  return sum;
}

#endif

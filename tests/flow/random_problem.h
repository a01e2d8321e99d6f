/* Random small flow problems of every kind, also ugly ones (duplicates with conflicting labels, mirrored
 * copies, zero rows, integer grids, collinear samples, zero neurons), and what must hold of a result,
 * recomputed outside the flow. */
#ifndef RF_RANDOM_PROBLEM_H
#define RF_RANDOM_PROBLEM_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reluflow/reluflow.h"
#include "la/la.h"
#include "core/core.h"

enum { RANDOM_SAMPLES = 12, RANDOM_INPUTS = 4, RANDOM_NEURONS = 6 };

typedef struct RandomProblem {
  rf_index n, d, m;
  double X[RANDOM_SAMPLES * RANDOM_INPUTS], y[RANDOM_SAMPLES];
  RfNet net;
  RfFlowStart start;
  RfFlowProblem flow;
} RandomProblem;

static inline void random_problem_data(RfRandom *random, RandomProblem *p) {
  rf_index kind = rf_random_below(random, 6);
  for (rf_index k = 0; k < p->n * p->d; k++) {
    double g = rf_random_gaussian(random);
    p->X[k] = kind == 1 ? (double)(rf_random_below(random, 5) - 2) : g;
  }
  for (rf_index i = 0; i < p->n; i++) p->y[i] = rf_random_sign(random);
  for (rf_index i = 1; i < p->n && kind == 2; i++) { /* copies, some mirrored */
    if (rf_random_below(random, 2)) continue;
    rf_index from = rf_random_below(random, i);
    double sign = rf_random_sign(random);
    for (rf_index j = 0; j < p->d; j++) p->X[i * p->d + j] = sign * p->X[from * p->d + j];
  }
  for (rf_index i = 0; i < p->n && kind == 3; i++) /* separable by the first coordinate */
    p->X[i * p->d] = p->y[i] * (0.2 + fabs(p->X[i * p->d]));
  for (rf_index i = 1; i < p->n && kind == 4; i++) /* all on one line */
    for (rf_index j = 0; j < p->d; j++) p->X[i * p->d + j] = p->X[j] * p->X[i * p->d];
}

/* Problem `number` of the seed; with_frozen: one in twelve has a frozen second layer. */
static inline RfStatus random_problem_new(RfContext *context, RandomProblem *p, uint64_t seed,
                                          rf_index number, bool with_frozen) {
  RfRandom random;
  rf_random_init(&random, seed, (uint64_t)number);
  memset(p, 0, sizeof *p);
  p->n = 1 + rf_random_below(&random, RANDOM_SAMPLES), p->d = 1 + rf_random_below(&random, RANDOM_INPUTS),
  p->m = 1 + rf_random_below(&random, RANDOM_NEURONS);
  random_problem_data(&random, p);
  double leaks[] = {0, 0, 0.1, 0.5, 0.9, 1}, leak = leaks[rf_random_below(&random, 6)];
  if (rf_random_below(&random, 3) == 0) leak = rf_random_uniform(&random);
  RfInit inits[] = {RF_INIT_BALANCED, RF_INIT_BALANCED, RF_INIT_BALANCED_GAUSSIAN, RF_INIT_GAUSSIAN,
                    RF_INIT_HE};
  RfStatus status = rf_net_init(context, &p->net, inits[rf_random_below(&random, 5)], p->m, p->d, leak,
                                (uint64_t)number, 1);
  if (status) return status;
  if (rf_random_below(&random, 20) == 0) { /* a zero neuron, or one without w or a */
    rf_index k = rf_random_below(&random, p->m), what = rf_random_below(&random, 3);
    if (what != 1) memset(p->net.W + k * p->d, 0, (size_t)p->d * sizeof(double));
    if (what != 0) p->net.a[k] = 0;
  }
  status = rf_flow_start_from_net(context, &p->start, &p->net);
  double scales[] = {1e-2, 1e-3, 1e-6, 1e-6, 1e-100, 1};
  p->flow = (RfFlowProblem){.X = p->X,
                            .y = p->y,
                            .n = p->n,
                            .d = p->d,
                            .leak = leak,
                            .loss = (RfLoss)rf_random_below(&random, 3),
                            .mean = rf_random_below(&random, 4) == 0,
                            .start = &p->start,
                            .log_scale = log(scales[rf_random_below(&random, 6)]),
                            .in_limit = rf_random_below(&random, 8) == 0,
                            .freeze_second = rf_random_below(&random, 12) == 0 && with_frozen};
  if (p->flow.freeze_second) p->flow.in_limit = false; /* the limit of scale 0 is not defined then */
  return status;
}

static inline void random_problem_free(RandomProblem *p) {
  rf_net_free(&p->net);
  rf_flow_start_free(&p->start);
}

static inline void random_problem_rows(const char *name, const double *A, rf_index rows, rf_index cols) {
  fprintf(stderr, "%s (%lld x %lld):\n", name, (long long)rows, (long long)cols);
  for (rf_index i = 0; i < rows; i++) {
    for (rf_index j = 0; j < cols; j++) fprintf(stderr, " %.17g", A[i * cols + j]);
    fputc('\n', stderr);
  }
}

static inline void random_problem_print(const RandomProblem *p, rf_index number) {
  fprintf(stderr, "problem %d: n %d d %d m %d leak %.17g loss %s mean %d ln scale %.17g limit %d freeze %d\n",
          (int)number, (int)p->n, (int)p->d, (int)p->m, p->flow.leak, rf_loss_name(p->flow.loss),
          p->flow.mean, p->flow.log_scale, p->flow.in_limit, p->flow.freeze_second);
  random_problem_rows("X", p->X, p->n, p->d);
  random_problem_rows("y", p->y, 1, p->n);
  random_problem_rows("W", p->net.W, p->m, p->d);
  random_problem_rows("a", p->net.a, 1, p->m);
}

/* Are the multipliers of the limit the only ones? Certainly when the subgradients of the tight samples are
 * independent and none is on a kink. */
static inline bool random_problem_unique(RfContext *context, const RandomProblem *p,
                                         const RfFlowLimit *limit) {
  enum { HEIGHT = RANDOM_NEURONS * (RANDOM_INPUTS + 1) };
  double A[HEIGHT * RANDOM_SAMPLES], b[HEIGHT] = {0};
  rf_index width = limit->n_support, d = p->d, rank = 0;
  for (rf_index s = 0; s < width; s++)
    for (rf_index k = 0; k < p->m; k++) {
      const double *x = p->X + limit->support[s] * d, *w = limit->net.W + k * d;
      double h = rf_la_dot(w, x, d), slope = h > 0 ? 1 : p->flow.leak;
      bool kink = fabs(h) <= 1e-9 * rf_la_norm(w, d) * rf_la_norm(x, d);
      if (kink && limit->net.a[k] != 0) return false; /* a free slope */
      for (rf_index j = 0; j < d; j++) A[(k * (d + 1) + j) * width + s] = limit->net.a[k] * slope * x[j];
      A[(k * (d + 1) + d) * width + s] = slope * h;
    }
  if (width == 0 || rf_la_least_squares(context, A, b, p->m * (d + 1), width, 1e-9, &rank)) return false;
  return rank == width;
}

/* A live neuron that vanishes must not grow faster than the limit under c = lambda y (where lambda is
 * not unique, the flow's own need not be the one told here). */
static inline void random_problem_escape(RfContext *context, const RandomProblem *p,
                                         const RfFlowResult *result, char *text, size_t size) {
  const RfFlowLimit *limit = &result->limit;
  double c[RANDOM_SAMPLES];
  for (rf_index i = 0; i < p->n; i++) c[i] = limit->lambda[i] * p->y[i];
  RfAlignField field = {.X = p->X, .c = c, .n = p->n, .d = p->d, .leak = p->flow.leak};
  if (p->flow.freeze_second || !random_problem_unique(context, p, limit)) return;
  for (rf_index v = 0; v < limit->n_vanishing; v++) {
    rf_index k = limit->vanishing[v];
    const double *w = result->net_end.W + k * p->d;
    double neuron[RANDOM_INPUTS + 1], norm = hypot(rf_la_norm(w, p->d), result->net_end.a[k]);
    if (!(norm > 1e-200)) continue; /* its direction is not known here */
    for (rf_index j = 0; j < p->d; j++) neuron[j] = w[j] / norm;
    neuron[p->d] = result->net_end.a[k] / norm;
    RfAlignNeuron way;
    if (rf_flow_align_neuron(context, &way, &field, neuron, 0, NULL, INFINITY)) continue;
    if (way.G > 1 + 1e-5) snprintf(text, size, "vanishing neuron %d escapes with rate %.9g", (int)k, way.G);
    rf_align_neuron_free(&way);
  }
}

/* "" or what is wrong with a result called converged; residual: stationarity recomputed by certify. */
static inline const char *random_problem_wrong(RfContext *context, const RandomProblem *p,
                                               const RfFlowResult *result, double *residual, char *text,
                                               size_t size) {
  const RfFlowLimit *limit = &result->limit;
  RfKkt kkt = {0};
  bool frozen = p->flow.freeze_second;
  double norm2 = frozen ? rf_la_dot(limit->net.W, limit->net.W, p->m * p->d) : rf_net_norm2(&limit->net);
  text[0] = '\0';
  *residual = 0;
  if (!(fabs(norm2 - 1) < 1e-9)) snprintf(text, size, "|theta|^2 = %.17g", norm2);
  if (!(limit->margin > 0)) snprintf(text, size, "margin %g", limit->margin);
  RfStatus status = frozen ? rf_certify_kkt_first_layer(context, &kkt, &limit->net, p->X, p->y, p->n)
                           : rf_certify_kkt(context, &kkt, &limit->net, p->X, p->y, p->n);
  if (status || !kkt.holds)
    snprintf(text, size, "KKT status %d stationarity %g complementarity %g", status, kkt.stationarity,
             kkt.complementarity);
  if (!status) *residual = fmax(kkt.stationarity, fabs(kkt.complementarity));
  if (!status && fabs(kkt.margin - limit->margin) > 1e-9 * limit->margin)
    snprintf(text, size, "margin %.17g, recomputed %.17g", limit->margin, kkt.margin);
  if (!(limit->stationarity < context->tol.kkt))
    snprintf(text, size, "reported stationarity %g", limit->stationarity);
  rf_kkt_free(&kkt);
  random_problem_escape(context, p, result, text, size);
  return text;
}

typedef struct RandomTally {
  rf_index count, outcomes[6], failures, late, wrong;
  double slowest, total, residual; /* residual: largest of the converged */
} RandomTally;

/* Runs one problem within `limit` seconds and counts it in tally[frozen]; true when something is wrong, which
 * is printed. */
static inline bool random_problem_run(RandomTally *tally, RfFlowOutcome *outcome, uint64_t seed,
                                      rf_index number, bool with_frozen, double limit, bool print) {
  RfContext context;
  RandomProblem p;
  RfFlowSettings settings;
  RfFlowResult result = {0};
  char text[256] = "";
  rf_context_init(&context);
  *outcome = RF_FLOW_INTERRUPTED;
  RfStatus status = random_problem_new(&context, &p, seed, number, with_frozen);
  rf_flow_settings_init(&settings);
  double began = rf_clock_seconds(), residual = 0;
  context.deadline = began + limit;
  if (!status) status = rf_flow_run(&context, &result, &p.flow, &settings);
  double seconds = rf_clock_seconds() - began;
  RandomTally *mine = &tally[p.flow.freeze_second];
  context.deadline = INFINITY;
  mine->count++;
  mine->slowest = fmax(mine->slowest, seconds);
  mine->total += seconds;
  if (status < 0) {
    mine->failures++;
    snprintf(text, sizeof text, "failure %d: %.200s", status, context.error);
  } else if (status == RF_INTERRUPTED) {
    mine->late++;
    snprintf(text, sizeof text, "no end after %.1f s", seconds);
  } else {
    *outcome = result.limit.outcome;
    mine->outcomes[*outcome]++;
    if (*outcome == RF_FLOW_CONVERGED) {
      random_problem_wrong(&context, &p, &result, &residual, text, sizeof text);
      mine->residual = fmax(mine->residual, residual);
    }
    if (isnan(result.limit.margin)) snprintf(text, sizeof text, "margin is NaN");
    for (rf_index k = 0; k < p.m * p.d; k++)
      if (!isfinite(result.limit.net.W[k])) snprintf(text, sizeof text, "a weight is not finite");
  }
  mine->wrong += text[0] != '\0';
  if (text[0] || print) {
    fprintf(stderr, "%lld %s %s %.3fs %s\n", (long long)number,
            status >= 0 ? rf_flow_outcome_name(result.limit.outcome) : "", result.limit.why, seconds, text);
    if (text[0]) random_problem_print(&p, number);
  }
  rf_flow_result_free(&result);
  random_problem_free(&p);
  return text[0] != '\0';
}

#endif

/* Flows with a known solution, for the tests of the integrators: one neuron, one positive sample x, loss
 * e^-q. The only weight is p = 1, so in the clock dtau = S dt the neuron obeys dw = a x, da = w.x whatever
 * the margin: with G = |x|, u = x/G the numbers w.u +- a grow like e^(+-G tau), and w orthogonal to u rests.
 * In the coordinates of the integrators (unit vector and log-norm) the equations are not linear. */
#ifndef RF_KNOWN_FLOW_H
#define RF_KNOWN_FLOW_H

#include "flow/flow_internal.h"
#include "net/net.h"
#include "rf_test.h"

enum { KNOWN_D = 3, KNOWN_SIZE = KNOWN_D + 2 }; /* w, a, rho */

typedef struct KnownFlow {
  RfContext context;
  double x[KNOWN_D], y;
  double first[KNOWN_SIZE]; /* the state at tau = 0 */
  RfFlowStart start;
  RfFlowProblem problem;
  RfSystem system;
} KnownFlow;

static inline void known_flow_new(KnownFlow *k, uint64_t seed) {
  RfRandom random;
  memset(k, 0, sizeof *k);
  rf_context_init(&k->context);
  rf_random_init(&random, seed, 0);
  k->y = 1;
  assert_ok(&k->context, rf_flow_start_new(&k->context, &k->start, 1, KNOWN_D));
  double *v = k->start.directions, inner = 0;
  for (int j = 0; j < KNOWN_D; j++) k->x[j] = rf_random_gaussian(&random), v[j] = rf_random_gaussian(&random);
  double length = rf_la_norm(k->x, KNOWN_D);
  for (int j = 0; j < KNOWN_D; j++) k->x[j] /= length, inner += v[j] * k->x[j];
  if (inner < 0) /* the neuron sees the sample, and with a > 0 it goes on seeing it */
    for (int j = 0; j < KNOWN_D; j++) v[j] = -v[j];
  v[KNOWN_D] = 0.2 + rf_random_uniform(&random);
  rf_la_scale(v, 1 / rf_la_norm(v, KNOWN_D + 1), KNOWN_D + 1);
  k->start.log_norms[0] = -1;
  k->problem =
      (RfFlowProblem){.X = k->x, .y = &k->y, .n = 1, .d = KNOWN_D, .loss = RF_LOSS_EXP, .start = &k->start};
  assert_ok(&k->context, rf_system_new(&k->context, &k->system, &k->problem));
  assert_ok(&k->context, rf_system_refresh_unit(&k->system, 0));
  assert_int_equal(k->system.units, 1);
  assert_false(k->system.balanced[0]);
  memcpy(k->first, k->system.y, sizeof k->first);
}

static inline void known_flow_free(KnownFlow *k) {
  rf_system_free(&k->system);
  rf_flow_start_free(&k->start);
}

/* The state at tau, exactly; y in the order of the system: w, a, rho. */
static inline void known_flow_at(const KnownFlow *k, double *y, double tau) {
  double along = rf_la_dot(k->first, k->x, KNOWN_D), a = k->first[KNOWN_D];
  double plus = (along + a) * exp(tau), minus = (along - a) * exp(-tau);
  for (int j = 0; j < KNOWN_D; j++) y[j] = k->first[j] + ((plus + minus) / 2 - along) * k->x[j];
  y[KNOWN_D] = (plus - minus) / 2;
  double norm = rf_la_norm(y, KNOWN_D + 1);
  rf_la_scale(y, 1 / norm, KNOWN_D + 1);
  y[KNOWN_D + 1] = k->first[KNOWN_D + 1] + log(norm);
}

/* Largest difference of two states. */
static inline double known_flow_error(const double *y, const double *exact) {
  double worst = 0;
  for (int j = 0; j < KNOWN_SIZE; j++) worst = fmax(worst, fabs(y[j] - exact[j]));
  return worst;
}

/* Middle of the slopes log2(error(h)/error(h/2)) that were measured: the order a method shows. */
static inline double known_flow_order(double *slopes, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && slopes[j] < slopes[j - 1]; j--) {
      double swap = slopes[j];
      slopes[j] = slopes[j - 1], slopes[j - 1] = swap;
    }
  return slopes[count / 2];
}

#endif

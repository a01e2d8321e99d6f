/* Early alignment: NB-05 (Maennel, Bousquet, Gelly), NB-06 (Boursier, Flammarion). */
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "geometry/geometry.h"
#include "kit/data.h"
#include "kit/samples.h"
#include "flow/flow.h"
#include "la/la.h"
#include "neighbours/neighbours.h"

enum { most_d = 4 };

/* The direction of the list that is nearest to w, as a distance. */
static double nearest(const double *w, const RfExtremal *extremal, int side, rf_index d, rf_index *which) {
  rf_index count = side > 0 ? extremal->n_positive : extremal->n_negative;
  const RfExtremalDirection *list = side > 0 ? extremal->positive : extremal->negative;
  double best = 2, size = rf_la_norm(w, d);
  for (rf_index e = 0; e < count; e++) {
    double apart = 0;
    for (rf_index j = 0; j < d; j++) apart += pow(w[j] / size - list[e].direction[j], 2);
    if (sqrt(apart) < best) best = sqrt(apart), *which = e;
  }
  return best;
}

/* ---- NB-05 ------------------------------------------------------------------------------------------- */

/* The final velocity of a neuron points along its limit direction. */
static RfStatus follow_many(RfClaimRun *run, const RfDataset *data, const RfExtremal *extremal,
                            RfRandom *random, rf_index neurons) {
  double c[16];
  for (rf_index i = 0; i < data->n; i++) c[i] = 0.5 * data->y[i];
  RfAlignField field = {.X = data->X, .c = c, .n = data->n, .d = data->d};
  for (rf_index k = 0; k < neurons; k++) {
    RfAlignNeuron neuron;
    double v[most_d + 1];
    int side = rf_random_sign(random) > 0 ? 1 : -1;
    rf_index which = -1;
    rf_random_direction(random, v, data->d);
    rf_la_scale(v, sqrt(0.5), data->d), v[data->d] = side * sqrt(0.5);
    RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, INFINITY);
    if (status < 0) return status;
    if (neuron.G > 1e-6) { /* the others die */
      double w[most_d];
      for (rf_index j = 0; j < data->d; j++) w[j] = side * neuron.velocity[j];
      rf_claim_at_most(run, "end of a neuron against the nearest extremal direction",
                       nearest(w, extremal, side, data->d, &which), 0, 1e-7);
      rf_claim_made(run, "neurons", 1);
    } else {
      rf_claim_dropped(run, "neurons", 1);
    }
    rf_align_neuron_free(&neuron);
  }
  return RF_OK;
}

RfStatus rf_nb_05(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index sets = rf_claim_repetitions(run, 20), directions = 0, neurons = 100;
  for (rf_index k = 0; k < sets && !status; k++) {
    char spec[64];
    RfDataset data = {0};
    RfExtremal extremal = {0};
    RfExtremalSettings settings = {.slope = 0.5};
    RfRandom random = rf_claim_random(run, (uint64_t)k);
    rf_format(spec, sizeof spec, "gaussian,n=%d,d=%d,seed=%d", 4 + (int)(k % 5), 2 + (int)(k % 2), (int)k);
    status = rf_claim_generate(run, &data, spec);
    if (!status)
      status = rf_geometry_extremal(run->context, &extremal, data.X, data.y, data.n, data.d, &settings);
    if (!status) rf_claim_true(run, "the list of directions is complete", extremal.complete);
    if (!status) status = follow_many(run, &data, &extremal, &random, neurons);
    directions += extremal.n_positive + extremal.n_negative;
    rf_extremal_free(&extremal);
    rf_dataset_free(&data);
  }
  rf_claim_require(run, "neurons", sets * neurons / 5);
  rf_claim_note(run, "%lld neurons on %lld data sets, which have %lld extremal directions in all",
                (long long)sets * (long long)neurons, (long long)sets, (long long)directions);
  return status;
}

/* ---- NB-06 ------------------------------------------------------------------------------------------- */

/* Gradient descent of 1/2 sum (f(x_i) - y_i)^2 from weights of size 1e-9: while outputs are small the
 * residual is y. Own loop, so that nothing of the engine is used on this side. */
static void descend(double *W, double *a, rf_index m, const double *X, const double *target, rf_index n,
                    rf_index d) {
  const double step = 2e-3;
  for (int t = 0; t < 20000; t++) {
    double residual[16], largest = 0;
    for (rf_index i = 0; i < n; i++) {
      residual[i] = target[i];
      for (rf_index k = 0; k < m; k++) residual[i] -= a[k] * fmax(0, rf_la_dot(W + k * d, X + i * d, d));
    }
    for (rf_index k = 0; k < m; k++) {
      double g[most_d] = {0}, da;
      for (rf_index i = 0; i < n; i++)
        if (rf_la_dot(W + k * d, X + i * d, d) > 0) rf_la_axpy(g, residual[i], X + i * d, d);
      da = rf_la_dot(g, W + k * d, d);
      rf_la_axpy(W + k * d, step * a[k], g, d);
      a[k] += step * da, largest = fmax(largest, fabs(a[k]));
    }
    if (largest > 1e-3) return; /* the end of early alignment */
  }
}

static RfStatus one_regression(RfClaimRun *run, rf_index draw, double *worst, rf_index *grown) {
  enum { n = 6, d = 2, m = 12 };
  double X[n * d], scaled[n * d], target[n], label[n], W[m * d], a[m];
  RfExtremal extremal = {0};
  RfExtremalSettings settings = {.slope = 1};
  RfRandom random = rf_claim_random(run, (uint64_t)draw);
  for (int i = 0; i < n; i++) {
    target[i] = rf_random_gaussian(&random), label[i] = target[i] > 0 ? 1 : -1;
    for (int j = 0; j < d; j++)
      X[i * d + j] = rf_random_gaussian(&random), scaled[i * d + j] = fabs(target[i]) * X[i * d + j];
  }
  RfStatus status = rf_geometry_extremal(run->context, &extremal, scaled, label, n, d, &settings);
  if (status) return status;
  for (int k = 0; k < m; k++) {
    rf_random_direction(&random, W + k * d, d);
    rf_la_scale(W + k * d, 1e-9, d), a[k] = 1e-9 * (k % 2 ? -1 : 1);
  }
  descend(W, a, m, X, target, n, d);
  double largest = 0;
  for (int k = 0; k < m; k++) largest = fmax(largest, rf_la_norm(W + k * d, d));
  for (int k = 0; k < m; k++) { /* those that have grown have had the time to turn */
    rf_index which = -1;
    if (rf_la_norm(W + k * d, d) < 1e-6) {
      rf_claim_dropped(run, "neurons", 1);
      continue;
    }
    double off = nearest(W + k * d, &extremal, a[k] > 0 ? 1 : -1, d, &which);
    rf_claim_at_most(run, "a neuron of the regression against the directions of (|y|x, sign y)", off, 0,
                     0.02);
    *worst = fmax(*worst, off), ++*grown;
    rf_claim_made(run, "neurons", 1);
  }
  rf_extremal_free(&extremal);
  return RF_OK;
}

/* sum_i y_i phi(<w,x_i>) = sum_i sign(y_i) phi(<w,|y_i|x_i>): one potential, so the same directions. */
RfStatus rf_nb_06(RfClaimRun *run) {
  rf_index draws = rf_claim_repetitions(run, 20), grown = 0;
  double worst = 0;
  RfStatus status = RF_OK;
  rf_claim_require(run, "neurons", 2 * draws);
  for (rf_index draw = 0; draw < 10 * draws && (draw < draws || grown < 2 * draws) && !status; draw++)
    status = one_regression(run, draw, &worst, &grown); /* on some data hardly a neuron grows in time */
  rf_claim_note(run, "largest distance %.4f", worst);
  return status;
}

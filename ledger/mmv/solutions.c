/* Min, Mallada, Vidal, appendices E and F: which solutions exist. MMV-23: no solution for phi'(0) > 0;
 * MMV-24: several for phi'(0) = 0; MMV-25: (46) and (50); MMV-26: starts on hyperplanes. Loss e^{-q}. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "mmv/mmv.h"
#include "flow/flow.h"
#include "la/la.h"
#include "kit/samples.h"
#include "kit/setting.h"

/* ---- one neuron, one sample x = (1,0) ------------------------------------------------------ */

/* theta = (w1, w2, v); velocity of the flow with phi'(0) = at_zero. */
static void velocity(double *out, const double *theta, double y, double at_zero) {
  double u = theta[0], v = theta[2], slope = u > 0 ? 1 : u < 0 ? 0 : at_zero;
  double weight = y * exp(-y * v * fmax(u, 0));
  out[0] = weight * v * slope, out[1] = 0, out[2] = weight * fmax(u, 0);
}

typedef void (*Candidate)(double *theta, double t, double parameter);

/* sup over [0,1] of |theta(t) - theta(0) - integral of F|, Simpson on each of `steps` cells. */
static double integral_residual(Candidate path, double parameter, double y, double at_zero, double until) {
  enum { steps = 20000 };
  double sum[3] = {0}, start[3], worst = 0, h = until / steps;
  path(start, 0, parameter);
  for (int s = 0; s < steps; s++) {
    double at[3], F[3][3];
    for (int k = 0; k < 3; k++) path(at, (s + 0.5 * k) * h, parameter), velocity(F[k], at, y, at_zero);
    double off = 0;
    for (int j = 0; j < 3; j++) {
      sum[j] += h / 6 * (F[0][j] + 4 * F[1][j] + F[2][j]);
      off = fmax(off, fabs(at[j] - start[j] - sum[j])); /* `at` is the end of the cell */
    }
    worst = fmax(worst, off);
  }
  return worst;
}

/* Stays, or crosses the boundary with a constant speed: parameter < 0 into Sdead, > 0 to the active side. */
static void straight(double *theta, double t, double speed) {
  theta[0] = speed * t, theta[1] = 1, theta[2] = 1;
}

/* Steps of Euler's method; *left: time after which the pattern stays dead; returns the final w.x. */
static double euler(double h, double at_zero, int *changes) {
  double theta[3] = {0, 1, 1}, F[3];
  *changes = 0;
  for (double t = 0; t < 1 - h / 2; t += h) {
    double before = theta[0];
    velocity(F, theta, -1, at_zero);
    for (int j = 0; j < 3; j++) theta[j] += h * F[j];
    *changes += (before > 0) != (theta[0] > 0) || (before < 0) != (theta[0] < 0);
  }
  return theta[0];
}

/* ---- MMV-23: E.3 --------------------------------------------------------------------------- */

RfStatus rf_mmv_23(RfClaimRun *run) {
  const double slopes[] = {0.1, 1}, shares[] = {-2, -1, -0.5, -0.1, 0.1, 0.5, 1, 2};
  rf_claim_close(run, "phi'(0) = 0: the constant path", integral_residual(straight, 0, -1, 0, 1), 0, 0);
  for (int k = 0; k < 2; k++) {
    double a = slopes[k], least = 0.01 * a;
    rf_claim_at_least(run, "phi'(0) > 0: staying", integral_residual(straight, 0, -1, a, 1), least, 0);
    for (int s = 0; s < 8; s++)
      rf_claim_at_least(run, "phi'(0) > 0: leaving", integral_residual(straight, shares[s] * a, -1, a, 1),
                        least, 0);
    for (double h = 0.1; h > 5e-5; h /= 10) { /* one overshoot of size a h: no limit in pattern */
      int changes;
      rf_claim_relative(run, "Euler: overshoot/step", -euler(h, a, &changes) / h, a, 1e-12);
      rf_claim_close(run, "Euler: changes of pattern", changes, 1, 0);
    }
  }
  rf_claim_note(run, "every limit of Euler's method stays on the boundary, where the residual is a t");
  return RF_OK;
}

/* ---- MMV-24: E.4, (47) --------------------------------------------------------------------- */

/* (47): v^2 - u^2 = 1, u = sinh s, v = cosh s, ds/dt = exp(-sinh(2s)/2). Runge-Kutta of order 4 from a table.
 */
enum { table_steps = 40000 };
typedef struct Leaving {
  double s[table_steps + 1], h;
} Leaving;
static double leaving_rate(double s) { return exp(-0.5 * sinh(2 * s)); }

static void leaving_table(Leaving *table, double until) {
  double s = 0, h = until / table_steps;
  table->h = h;
  for (int k = 0; k <= table_steps; k++) {
    table->s[k] = s;
    double k1 = leaving_rate(s), k2 = leaving_rate(s + h / 2 * k1), k3 = leaving_rate(s + h / 2 * k2),
           k4 = leaving_rate(s + h * k3);
    s += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
}

/* Waits until t0, then follows (47): residual of the integral equation on the table's grid. */
static double leaving_residual(const Leaving *table) {
  double sum[2] = {0, 0}, worst = 0;
  for (int k = 0; k + 2 <= table_steps; k += 2) {
    double F[3][2], at[3] = {0, 0, 0};
    for (int p = 0; p < 3; p++) {
      double s = table->s[k + p], theta[3] = {sinh(s), 1, cosh(s)}, v[3];
      velocity(v, theta, 1, 1); /* at s = 0 the value from the right */
      F[p][0] = v[0], F[p][1] = v[2], at[0] = theta[0], at[1] = theta[2];
    }
    for (int j = 0; j < 2; j++) sum[j] += table->h / 3 * (F[0][j] + 4 * F[1][j] + F[2][j]);
    worst = fmax(worst, fmax(fabs(at[0] - sum[0]), fabs(at[1] - 1 - sum[1])));
  }
  return worst;
}

/* The engine follows the regular solution, and the other one when told to start on the active side. */
static RfStatus engine_follows(RfClaimRun *run) {
  const double x[] = {1, 0}, c[] = {1}, w[] = {0, sqrt(0.5), sqrt(0.5)};
  const int8_t active[] = {1};
  RfAlignField field = {.X = x, .c = c, .n = 1, .d = 2};
  RfAlignNeuron neuron;
  for (int k = 0; k < 2; k++) {
    RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, w, 0, k ? active : NULL, INFINITY);
    if (status) return status;
    rf_claim_close(run, k ? "from the active side: S+" : "the engine: regular, dead", neuron.destiny,
                   k ? RF_DESTINY_S_PLUS : RF_DESTINY_DEAD, 0);
    rf_align_neuron_free(&neuron);
  }
  return RF_OK;
}

RfStatus rf_mmv_24(RfClaimRun *run) {
  Leaving *table = RF_NEW(Leaving, 1);
  if (!table) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a table");
  rf_claim_close(run, "the constant path", integral_residual(straight, 0, 1, 0, 5), 0, 0);
  leaving_table(table, 10);
  double residual = leaving_residual(table);
  /* waiting until t0 = 0, 1, 5 adds nothing to the integral: F = 0 on the boundary */
  for (int k = 0; k < 3; k++) {
    const double wait[] = {0, 1, 5};
    double before = integral_residual(straight, 0, 1, 0, wait[k]);
    rf_claim_at_most(run, "leaving along (47) at t0", before + residual, 0, 1e-9);
  }
  double end = table->s[table_steps];
  rf_claim_true(run, "the two solutions differ", sinh(end) > 0.5);
  rf_claim_note(run,
                "leaving at t0: w.x = %.6f ten units later, the constant path stays at 0; only it is regular",
                sinh(end));
  rf_free(table);
  return engine_follows(run);
}

/* ---- MMV-25: (46), (50) -------------------------------------------------------------------- */

static RfStatus judge_gradient(RfClaimRun *run, const RfDataset *data, double X_max, uint64_t seed,
                               double *least) {
  enum { m = 6 };
  double f[64], size2 = 0, loss = 0;
  RfNet net;
  RfRandom random = rf_claim_random(run, seed);
  rf_index d = data->d;
  RfStatus status =
      rf_net_init(run->context, &net, RF_INIT_MMV, m, d, 0, rf_claim_seed(run, "start", seed), 1);
  if (status) return status;
  double scale = exp(0.7 * rf_random_gaussian(&random) - 1);
  rf_la_scale(net.W, scale, m * d), rf_la_scale(net.a, scale, m);
  status = rf_net_outputs(run->context, f, &net, data->X, data->n);
  for (rf_index i = 0; i < data->n && !status; i++) loss += exp(-data->y[i] * f[i]);
  for (rf_index k = 0; k < m && !status; k++) {
    double push[RF_CLAIM_MOST_D] = {0}, out = 0, *w = net.W + k * d; /* minus the gradient */
    bool active = false;
    for (rf_index i = 0; i < data->n; i++) {
      const double *x = data->X + i * d;
      double input = rf_la_dot(w, x, d), weight = data->y[i] * exp(-data->y[i] * f[i]);
      if (input <= 0) continue;
      active = true;
      rf_la_axpy(push, weight * net.a[k], x, d), out += weight * input;
    }
    size2 += rf_la_dot(push, push, d) + out * out;
    if (!active) continue;
    for (rf_index i = 0; i < data->n; i++) {
      double normal = data->y[i] * (net.a[k] > 0 ? 1 : -1) * rf_la_dot(data->X + i * d, push, d);
      rf_claim_true(run, "(46): y_i s_k <x_i, -grad> > 0", normal > 0);
      *least = fmin(*least, normal / (rf_la_norm(data->X + i * d, d) * rf_la_norm(push, d)));
    }
  }
  double bound = X_max * loss * sqrt(rf_net_norm2(&net));
  if (!status)
    rf_claim_at_most(run, "(50): |grad L| against X_max L |theta|", sqrt(size2), bound, 1e-9 * bound);
  rf_net_free(&net);
  return status;
}

RfStatus rf_mmv_25(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(5,5,5,0.1)", "gen:DS-OS(5,5,3,0.5,1)",
                        "gen:DS-OS(7,3,2,0.2,2)"};
  RfStatus status = RF_OK;
  double least = 1;
  for (int k = 0; k < 4 && !status; k++) {
    RfDataset data = {0};
    RfAlignmentBounds bounds;
    RfPairFacts pairs;
    status = rf_claim_data(run, &data, sets[k], k ? 1 : 3);
    if (!status) status = rf_mmv_bounds(run->context, &bounds, &pairs, &data, RF_LOSS_EXP);
    for (rf_index t = 0; t < rf_claim_repetitions(run, 500) && !status; t++)
      status = judge_gradient(run, &data, pairs.norm_max, (uint64_t)t, &least);
    rf_dataset_free(&data);
  }
  rf_claim_misprint(run, "MP-MMV-14", "least cosine of y_i s_k x_i with +grad L, and with -grad L", -least,
                    least, least, -least > 0);
  rf_claim_misprint(run, "MP-MMV-01", "the same sign in (2): least cosine of the velocity with y_i s_k x_i",
                    -least, least, least, -least > 0);
  rf_claim_note(run, "least cosine of y_i s_k x_i with the push %.4f", least);
  return status;
}

/* ---- MMV-26: appendix F -------------------------------------------------------------------- */

/* A neuron exactly on `planes` hyperplanes and active elsewhere: a first step with phi'(0) = share on them,
 * then the engine; the engine itself decides when share is negative. */
static RfStatus arrive_from_plane(RfClaimRun *run, RfDestiny *destiny, const RfDataset *data, const double *v,
                                  const char *sector, double share) {
  RfAlignField field = {.X = data->X, .c = data->y, .n = data->n, .d = data->d};
  RfAlignNeuron neuron;
  rf_index d = data->d;
  double start[RF_CLAIM_MOST_D], push[RF_CLAIM_MOST_D] = {0};
  memcpy(start, v, (size_t)(d + 1) * sizeof *start);
  for (rf_index i = 0; i < data->n && share >= 0; i++)
    rf_la_axpy(push, data->y[i] * (sector[i] == '+' ? 1 : sector[i] == '0' ? share : 0), data->X + i * d, d);
  rf_la_axpy(start, 1e-9 * v[d], push, d);
  start[d] = (v[d] > 0 ? 1 : -1) * rf_la_norm(start, d);
  rf_la_scale(start, 1 / rf_la_norm(start, d + 1), d + 1);
  RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, start, 0, NULL, INFINITY);
  if (status) return status;
  *destiny = neuron.destiny;
  rf_align_neuron_free(&neuron);
  return RF_OK;
}

static RfStatus judge_plane_start(RfClaimRun *run, const RfDataset *data, RfRandom *random, rf_index planes,
                                  rf_index *tested) {
  const double shares[] = {-1, 0, 0.5, 1};
  double v[RF_CLAIM_MOST_D];
  char sector[64];
  RfDestiny destiny[4];
  rf_index d = data->d, from = rf_random_below(random, data->n), active = 0;
  rf_random_direction(random, v, d);
  memset(sector, '+', sizeof sector);
  for (rf_index p = 0; p < planes; p++) sector[(from + p) % data->n] = '0';
  rf_claim_off_span(v, data, sector);
  rf_la_scale(v, sqrt(0.5) / rf_la_norm(v, d), d);
  v[d] = sqrt(0.5) * rf_random_sign(random);
  for (rf_index i = 0; i < data->n; i++)
    if (sector[i] != '0')
      sector[i] = rf_la_dot(v, data->X + i * d, d) > 0 ? '+' : '-', active += sector[i] == '+';
  if (active == 0) return RF_OK; /* in Sdead: regular solutions stay */
  for (int k = 0; k < 4; k++) {
    RfStatus status = arrive_from_plane(run, &destiny[k], data, v, sector, shares[k]);
    if (status) return status;
    rf_claim_close(run, "final membership for every subgradient", destiny[k], destiny[0], 0);
  }
  ++*tested;
  return RF_OK;
}

RfStatus rf_mmv_26(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(5,5,5,0.1)", "gen:DS-OS(10,10,5,0.2)",
                        "gen:DS-OS(2,2,5,0.5)"};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  rf_index tested = 0;
  for (int k = 0; k < 4 && !status; k++) {
    RfDataset data = {0};
    status = rf_claim_data(run, &data, sets[k], 1);
    for (rf_index t = 0; t < rf_claim_repetitions(run, 500) && !status; t++)
      status = judge_plane_start(run, &data, &random, 1 + (data.d > 2 ? t % 3 : 0), &tested);
    rf_dataset_free(&data);
  }
  rf_claim_note(run,
                "%lld starts on one, two or three hyperplanes, subgradients 0, 1/2, 1 and the engine's own",
                (long long)tested);
  return status;
}

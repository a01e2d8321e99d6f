/* LLWA appendix A.1: the means mu, mu+, mu-, and the assumptions A.1, A.2, A.3, A.8 with their slacks.
 *
 * A.2 is one pass over half of the Gram matrix in tiles. A.1 asks for a direction: the plane is searched
 * completely by branch and bound on the angle, other dimensions by ascent from good starts; a direction found
 * proves A.1, a failure of A.2 refutes it (Lemma G.1), and what lies between stays open. */
#include "theory/theory_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

RfAssumption rf_assumption(double slack, double tolerance) {
  RfAssumption assumption = {slack > tolerance ? RF_YES : RF_NO, slack};
  if (isnan(slack)) assumption.holds = RF_UNKNOWN;
  return assumption;
}

void rf_theory_mean(double *mu, const RfDataset *data, double positive, double negative) {
  memset(mu, 0, (size_t)data->d * sizeof *mu);
  for (rf_index i = 0; i < data->n; i++) {
    double weight = (data->y[i] > 0 ? positive : -negative) / (double)data->n;
    rf_la_axpy(mu, weight, data->X + i * data->d, data->d);
  }
}

/* ---- A.2 --------------------------------------------------------------------------------------------- */

enum { TILE = 256 };
static const double GRAM_WORK_LIMIT = 4e12; /* multiplications; beyond it A.2 is left open */

/* Adds the terms of one tile of the Gram matrix to the row sums, and by symmetry to the column sums. */
static void add_tile(double *sums, const double *products, const double *y, rf_index row, rf_index rows,
                     rf_index column, rf_index columns, double weight) {
  for (rf_index i = 0; i < rows; i++)
    for (rf_index j = 0; j < columns; j++) {
      double p = y[row + i] * y[column + j] * products[i * columns + j];
      if (p < 0) p *= weight;
      sums[row + i] += p;
      if (row != column) sums[column + j] += p;
    }
}

/* min_i (1/n) sum_j (p_ij - ((1-leak)/leak) max(0,-p_ij)), p_ij = <z_i,z_j>: negative products count 1/leak
 * times. */
static RfStatus second_slack(RfContext *context, double *slack, const RfDataset *data, double leak) {
  rf_index n = data->n, d = data->d;
  RfStatus status = RF_OK;
  *slack = NAN;
  if ((double)n * (double)n * (double)d > GRAM_WORK_LIMIT) return RF_OK;
  double *products = RF_NEW(double, (rf_index)TILE *TILE), *sums = RF_NEW(double, n), least = INFINITY;
  if (!products || !sums) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for inner products");
  for (rf_index row = 0; row < n && !status; row += TILE) {
    rf_index rows = n - row < TILE ? n - row : TILE;
    for (rf_index column = row; column < n; column += TILE) {
      rf_index columns = n - column < TILE ? n - column : TILE;
      rf_la_product_nt(products, data->X + row * d, data->X + column * d, rows, columns, d);
      add_tile(sums, products, data->y, row, rows, column, columns, 1 / leak);
    }
    if (rf_context_stop(context)) status = RF_INTERRUPTED;
  }
  for (rf_index i = 0; i < n && !status; i++) least = fmin(least, sums[i] / (double)n);
  if (!status) *slack = least;
  rf_free(products);
  rf_free(sums);
  return status;
}

/* The limit leak -> 0: minus infinity as soon as one product is negative, otherwise min <mu,z_i>. */
static double second_slack_relu(const RfTheoryProblem *problem, const double *mu, double tolerance) {
  const RfDataset *data = problem->data;
  double least = INFINITY;
  if (isnan(problem->pairs->sep)) return NAN;
  if (problem->pairs->sep < -tolerance) return -INFINITY;
  for (rf_index i = 0; i < data->n; i++)
    least = fmin(least, data->y[i] * rf_la_dot(mu, data->X + i * data->d, data->d));
  return least;
}

/* ---- A.1 --------------------------------------------------------------------------------------------- */

/* The quantities of A.1 at a unit direction w. */
typedef struct Direction {
  double along;       /* <mu,w> */
  double margin;      /* min <z_i,w> */
  double mean, worst; /* of |P x_i|, P the projection on the complement of w */
} Direction;

/* A direction that does not separate earns nothing: two negative factors would multiply to a positive number.
 */
static double slack_at(const Direction *at, double leak) {
  double gain = at->margin > 0 && at->along > 0 ? leak * at->along * at->margin : 0;
  return gain - at->mean * at->worst;
}

static Direction look(const RfDataset *data, const double *mu, const double *w) {
  rf_index n = data->n, d = data->d;
  Direction at = {rf_la_dot(mu, w, d), INFINITY, 0, 0};
  for (rf_index i = 0; i < n; i++) {
    const double *x = data->X + i * d;
    double product = rf_la_dot(x, w, d), square = 0;
    for (rf_index j = 0; j < d; j++) square += (x[j] - product * w[j]) * (x[j] - product * w[j]);
    at.margin = fmin(at.margin, data->y[i] * product);
    at.mean += sqrt(square) / (double)n;
    at.worst = fmax(at.worst, sqrt(square));
  }
  return at;
}

static double slack_of(const RfDataset *data, const double *mu, const double *w, double leak) {
  Direction at = look(data, mu, w);
  return slack_at(&at, leak);
}

/* Ascent by random steps around the best direction so far, the step shrinking on failure. */
static void climb(double *best, double *slack, const RfDataset *data, const double *mu, double leak,
                  double *trial, rf_index evaluations) {
  rf_index d = data->d;
  double step = 0.5;
  RfRandom random;
  rf_random_init(&random, 1, 1);
  for (rf_index k = 0; k < evaluations && step > 1e-9; k++) {
    for (rf_index j = 0; j < d; j++)
      trial[j] = best[j] + step * rf_random_gaussian(&random) / sqrt((double)d);
    double norm = rf_la_norm(trial, d);
    if (norm == 0) continue;
    rf_la_scale(trial, 1 / norm, d);
    double value = slack_of(data, mu, trial, leak);
    if (value > *slack) {
      *slack = value;
      memcpy(best, trial, (size_t)d * sizeof *best);
      step = fmin(0.5, 2 * step);
    } else
      step *= 0.9;
  }
}

static void consider(double *best, double *slack, const RfDataset *data, const double *mu, double leak,
                     const double *direction) {
  double norm = rf_la_norm(direction, data->d);
  if (!(norm > 0)) return;
  double *unit = RF_NEW(double, data->d);
  if (!unit) return; /* one start less */
  for (rf_index j = 0; j < data->d; j++) unit[j] = direction[j] / norm;
  double value = slack_of(data, mu, unit, leak);
  if (value > *slack) {
    *slack = value;
    memcpy(best, unit, (size_t)data->d * sizeof *unit);
  }
  rf_free(unit);
}

/* In the plane: every direction within `half` of angle t has a slack of at most
 * leak (<mu,w>+|mu|h)(margin+X h) - (mean-Mh)_+ (worst-Xh)_+ with X the largest and M the mean norm.
 * Intervals whose bound does not exceed the best slack (plus a small part of the scale) are dropped. */
static bool search_plane(double *best, double *slack, const RfDataset *data, const double *mu, double leak,
                         double largest) {
  enum { DEPTH = 60 };
  struct {
    double t, half;
  } stack[2 * DEPTH + 8];
  double mu_norm = rf_la_norm(mu, 2), mean_norm = 0, pi = 3.14159265358979323846;
  double finest = 1e-9 * largest * largest;
  int top = 0;
  rf_index looked = 0;
  for (rf_index i = 0; i < data->n; i++) mean_norm += rf_la_norm(data->X + 2 * i, 2) / (double)data->n;
  for (int k = 0; k < 4; k++) stack[top].t = k * pi / 2, stack[top++].half = pi / 4;
  while (top > 0) {
    double t = stack[--top].t, h = stack[top].half, w[2] = {cos(t), sin(t)};
    if (++looked > 200000) return false;
    Direction at = look(data, mu, w);
    double value = slack_at(&at, leak);
    if (value > *slack) *slack = value, memcpy(best, w, sizeof w);
    double along = fmax(0, at.along + mu_norm * h), margin = fmax(0, at.margin + largest * h);
    double bound = leak * along * margin - fmax(0, at.mean - mean_norm * h) * fmax(0, at.worst - largest * h);
    if (bound <= fmax(*slack, 0) + finest) continue;
    for (int side = -1; side <= 1; side += 2) stack[top].t = t + side * h / 2, stack[top++].half = h / 2;
  }
  return true;
}

static RfStatus first_assumption(RfContext *context, RfPrincipal *principal, const RfTheoryProblem *problem,
                                 const double *mu, double largest) {
  const RfDataset *data = problem->data;
  rf_index d = data->d, budget = (rf_index)fmin(2000, 1e8 / ((double)data->n * (double)d));
  double slack = -INFINITY, *trial = RF_NEW(double, d);
  bool complete = d <= 1;
  principal->a1_direction = RF_NEW(double, d);
  if (!trial || !principal->a1_direction) {
    rf_free(trial);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  }
  double *best = principal->a1_direction;
  consider(best, &slack, data, mu, problem->leak, problem->linear->w);
  consider(best, &slack, data, mu, problem->leak, mu);
  if (d == 2)
    complete = search_plane(best, &slack, data, mu, problem->leak, largest);
  else
    climb(best, &slack, data, mu, problem->leak, trial, budget);
  principal->a1 = rf_assumption(slack, 1e-12 * largest * largest);
  if (principal->a1.holds == RF_NO && !complete && principal->a2.holds != RF_NO)
    principal->a1.holds = RF_UNKNOWN;
  rf_free(trial);
  return RF_OK;
}

/* ---- all --------------------------------------------------------------------------------------------- */

static void mean_norms(RfPrincipal *principal, double *mu, const RfDataset *data, double leak) {
  rf_theory_mean(mu, data, 1, leak);
  principal->mu_plus_norm = rf_la_norm(mu, data->d);
  rf_theory_mean(mu, data, leak, 1);
  principal->mu_minus_norm = rf_la_norm(mu, data->d);
}

RfStatus rf_theory_principal(RfContext *context, RfPrincipal *principal, const RfTheoryProblem *problem) {
  const RfDataset *data = problem->data;
  const RfAssumption no = {RF_NO, NAN}, open = {RF_UNKNOWN, NAN};
  double largest = problem->pairs->norm_max, slack, *mu = RF_NEW(double, data->d);
  RfStatus status = RF_OK;
  if (!mu) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a mean");
  principal->a1 = principal->a5 = principal->a9 = problem->linear->separable ? open : no;
  mean_norms(principal, mu, data, problem->leak);
  double difference = principal->mu_plus_norm - principal->mu_minus_norm;
  principal->a3 = rf_assumption(difference, context->tol.zero * largest);
  principal->a8 = rf_assumption(-difference, context->tol.zero * largest);
  rf_theory_mean(mu, data, 1, 1);
  if (problem->leak > 0)
    status = second_slack(context, &slack, data, problem->leak);
  else
    slack = second_slack_relu(problem, mu, context->tol.zero);
  principal->a2 = rf_assumption(slack, context->tol.zero * largest * largest);
  if (!status && problem->linear->separable)
    status = first_assumption(context, principal, problem, mu, largest);
  if (!status && problem->linear->separable) {
    if (problem->leak > 0)
      status = rf_theory_one_sided(context, principal, problem);
    else
      principal->a5 = principal->a9 = no;
  }
  rf_free(mu);
  return status;
}

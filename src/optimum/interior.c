/* Primal-dual interior point steps for the master: constraints lambda >= 0 (multipliers z) and
 * s_j = (1 - v_j^2)/2 >= 0 (multipliers c_j, the sizes of the neurons). With C_j the map lambda -> r_j on the
 * present face and q_j = C_j^T r_j = grad v_j^2/2, a step for the central value mu solves
 *
 *     [ diag(z/lambda) + sum_j c_j C_j^T C_j + (c_j/s_j) q_j q_j^T ] dl = b - sum_j (mu/s_j) q_j + mu/lambda.
 *
 * The right-hand side is minus the gradient of the barrier -b.lambda/mu - sum log lambda - sum log s_j (times
 * mu), and the matrix is positive definite, so dl descends on it whatever the multipliers are: Armijo's rule
 * makes every step safe, and good multipliers make it fast. v_j^2 is piecewise quadratic, so near a solution
 * the steps are Newton's. */
#include "optimum/master_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

static RfStatus grow_work(RfContext *context, RfMaster *master) {
  rf_index n = master->p->n, r = master->p->r, want = master->count;
  if (want <= master->work_count) return RF_OK;
  want += want / 2;
  rf_free(master->C), rf_free(master->q), rf_free(master->dc), rf_free(master->value);
  master->work_count = 0;
  master->C = RF_NEW(double, want *(r + 1) * n), master->q = RF_NEW(double, want *n);
  master->dc = RF_NEW(double, want), master->value = RF_NEW(double, want);
  if (!master->C || !master->q || !master->dc || !master->value)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld patterns", (long long)want);
  master->work_count = want;
  return RF_OK;
}

static double slack(const RfPattern *j) { return (1 - j->v) * (1 + j->v) / 2; }

/* Block of the stacked matrix: sqrt(c) C, then sqrt(c/s) q. */
static void assemble(RfMaster *master, rf_index at) {
  rf_index n = master->p->n, r = master->p->r;
  RfPattern *j = &master->list[at];
  double *C = master->C + at * (r + 1) * n, *q = master->q + at * n, s = slack(j);
  rf_pattern_solve(master, j, master->lambda);
  rf_pattern_map(master, j, C);
  memset(q, 0, (size_t)n * sizeof *q);
  for (rf_index k = 0; k < r; k++) rf_short_axpy(q, j->r[k], C + k * n, n);
  double root = sqrt(j->c);
  for (rf_index k = 0; k < r * n; k++) C[k] *= root;
  for (rf_index i = 0; i < n; i++) C[r * n + i] = sqrt(j->c / s) * q[i];
}

static bool factor_and_solve(RfContext *context, RfMaster *master) {
  rf_index n = master->p->n;
  double *H = master->H, *copy = H + n * n;
  for (rf_index i = 0; i < n; i++) master->scale[i] = 1 / sqrt(H[i * n + i]);
  for (double ridge = 0; ridge < rf_ridge_last; ridge = ridge == 0 ? rf_ridge_first : 100 * ridge) {
    for (rf_index i = 0; i < n; i++) {
      for (rf_index k = 0; k < n; k++) copy[i * n + k] = H[i * n + k] * master->scale[i] * master->scale[k];
      copy[i * n + i] += ridge;
      master->dl[i] = master->G[i] * master->scale[i];
    }
    if (rf_la_cholesky(context, copy, n) != RF_OK) continue;
    rf_la_cholesky_solve(copy, master->dl, n);
    for (rf_index i = 0; i < n; i++) master->dl[i] *= master->scale[i];
    return true;
  }
  return false;
}

/* Direction for the present mu; *slope is the derivative of the barrier along it. */
static bool direction(RfContext *context, RfMaster *master, double *slope) {
  const RfReduced *p = master->p;
  rf_index n = p->n;
  double mu = master->mu;
  for (rf_index j = 0; j < master->count; j++) assemble(master, j);
  rf_la_product_tn(master->H, master->C, master->C, n, n, master->count * (p->r + 1));
  for (rf_index i = 0; i < n; i++) {
    master->H[i * n + i] += master->z[i] / master->lambda[i];
    master->G[i] = p->b[i] + mu / master->lambda[i];
  }
  for (rf_index j = 0; j < master->count; j++)
    rf_la_axpy(master->G, -mu / slack(&master->list[j]), master->q + j * n, n);
  if (!factor_and_solve(context, master)) return false;
  *slope = -rf_la_dot(master->G, master->dl, n) / mu;
  for (rf_index i = 0; i < n; i++)
    master->dz[i] = mu / master->lambda[i] - master->z[i] - master->z[i] / master->lambda[i] * master->dl[i];
  for (rf_index j = 0; j < master->count; j++) {
    const RfPattern *pattern = &master->list[j];
    double s = slack(pattern);
    master->dc[j] = mu / s - pattern->c + pattern->c / s * rf_la_dot(master->q + j * n, master->dl, n);
  }
  return isfinite(*slope);
}

/* The barrier at lambda + t dl minus the barrier at the start; infinity outside. Leaves the trial point in
 * place. */
static double try_step(RfMaster *master, double t) {
  const RfReduced *p = master->p;
  double change = -t * rf_la_dot(p->b, master->dl, p->n) / master->mu;
  for (rf_index i = 0; i < p->n; i++) {
    master->lambda[i] = master->start[i] + t * master->dl[i];
    if (!(master->lambda[i] > 0)) return INFINITY;
    change -= log(master->lambda[i] / master->start[i]);
  }
  for (rf_index j = 0; j < master->count; j++) {
    double before = (1 - master->value[j]) * (1 + master->value[j]) / 2;
    rf_pattern_solve(master, &master->list[j], master->lambda);
    double now = slack(&master->list[j]);
    if (!(now > 0)) return INFINITY;
    change -= log(now / before);
  }
  return change;
}

/* Multipliers within a factor of the central value mu/s, so that a bad one cannot spoil the next direction.
 */
static double keep_central(double z, double s, double mu) {
  return fmin(fmax(z, mu / s / rf_central_factor), mu / s * rf_central_factor);
}

static void move_multipliers(RfMaster *master) {
  const RfReduced *p = master->p;
  double t = 1;
  for (rf_index i = 0; i < p->n; i++)
    if (master->dz[i] < 0) t = fmin(t, -0.98 * master->z[i] / master->dz[i]);
  for (rf_index j = 0; j < master->count; j++)
    if (master->dc[j] < 0) t = fmin(t, -0.98 * master->list[j].c / master->dc[j]);
  for (rf_index i = 0; i < p->n; i++)
    master->z[i] = keep_central(master->z[i] + t * master->dz[i], master->lambda[i], master->mu);
  for (rf_index j = 0; j < master->count; j++)
    master->list[j].c =
        keep_central(master->list[j].c + t * master->dc[j], slack(&master->list[j]), master->mu);
}

/* One step for the present mu; *decrement is minus the slope. False when the arithmetic gives out. */
static bool advance(RfContext *context, RfMaster *master, double *decrement) {
  const RfReduced *p = master->p;
  double slope, t = 1;
  if (!direction(context, master, &slope)) return false;
  *decrement = -slope;
  memcpy(master->start, master->lambda, (size_t)p->n * sizeof(double));
  for (rf_index j = 0; j < master->count; j++) {
    double s = slack(&master->list[j]), fall = rf_la_dot(master->q + j * p->n, master->dl, p->n);
    master->value[j] = master->list[j].v;
    if (fall > 0) t = fmin(t, 1.5 * s / fall); /* first guess; the trial decides */
  }
  for (rf_index i = 0; i < p->n; i++)
    if (master->dl[i] < 0) t = fmin(t, -0.98 * master->start[i] / master->dl[i]);
  double change;
  while ((change = try_step(master, t)) > 0.01 * t * slope + rf_armijo_noise && t > rf_shortest_step)
    t *= 0.6;
  if (!(t > rf_shortest_step)) {
    try_step(master, 0);
    return false;
  }
  move_multipliers(master);
  return true;
}

double rf_master_gap(const RfMaster *master) {
  double terms = (double)(master->p->n + master->count);
  return terms * master->mu / rf_la_dot(master->p->b, master->lambda, master->p->n);
}

void rf_master_restore(RfMaster *master, double gap) {
  const RfReduced *p = master->p;
  double largest = 0;
  for (rf_index j = 0; j < master->count; j++)
    largest = fmax(largest, rf_pattern_solve(master, &master->list[j], master->lambda));
  bool first = master->mu == 0;
  double aim =
      first ? 0.5 : 1 - fmin(0.02, gap); /* as far inside as the gap is wide: from farther steps are short */
  if (largest > aim || first) rf_la_scale(master->lambda, aim / largest, p->n);
  for (rf_index j = 0; j < master->count; j++) rf_pattern_solve(master, &master->list[j], master->lambda);
  master->mu = fmax(master->mu, gap * rf_la_dot(p->b, master->lambda, p->n) / (double)(p->n + master->count));
  for (rf_index i = 0; i < p->n; i++) master->z[i] = master->mu / master->lambda[i];
  for (rf_index j = 0; j < master->count; j++) master->list[j].c = master->mu / slack(&master->list[j]);
}

RfStatus rf_master_run(RfContext *context, RfMaster *master, double goal, rf_index max_steps,
                       rf_index *steps) {
  RfStatus status = grow_work(context, master);
  if (status) return status;
  double decrement = INFINITY;
  for (rf_index k = 0; k < max_steps; k++) {
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    if (decrement < 1) {
      double gap = rf_master_gap(master);
      if (gap <= goal * 1.001) break;
      master->mu *= fmax(decrement < 0.1 ? 0.02 : 0.1, goal / gap);
    }
    ++*steps;
    if (!advance(context, master, &decrement)) break;
  }
  return RF_OK;
}

/* The weights of a step of the fit, ahead of it. Under constant weights c margins move by q' = K c,
 *
 *   K = sum_u |a||w| A_u P_u (1 + w w^T/|w|^2) P_u A_u^T,   A_u = y slope_u x of all samples, one per row,
 *
 * P_u on the hyperplanes the unit slides on, and weights fall as margins grow: K D, D = -dc/dq, is how fast
 * they come to rest against each other. Where thousands of long samples push that is a thousand times faster
 * than the fit itself, and weights continued from the step before are stable over a thousandth of it. So the
 * step takes c = gamma c_before + (1 - gamma) c(q after): BDF2, since h_old K c_before is what the last step
 * brought. q after is found with K on a few directions in which the samples are long (one basis for all
 * units, by iterating the span of the last one, and the direction of each unit); in the others margins are
 * continued: a method that is implicit where it is stiff (F.4a). */
#include "flow/large/walk_ahead.h"

#include <math.h>
#include <string.h>

#include "flow/flow_tolerances.h"
#include "la/la.h"

enum { MOST_VECTORS = 32, MOST_COLUMNS = 100, FIRST_ROUNDS = 4, MOST_NEWTON = 8 };

double rf_walk_push(RfLoss loss, double q, double log_S) {
  return exp(fmin(RF_TOL_WALL, rf_loss_log_slope(loss, q) - log_S));
}

void rf_walk_ahead_free(RfWalkAhead *ahead) {
  rf_free(ahead->basis);
  rf_free(ahead->unit);
  rf_free(ahead->image);
  rf_free(ahead->core);
  rf_free(ahead->v);
  memset(ahead, 0, sizeof *ahead);
}

/* |a||w| of a walker. */
static double size_of(const RfWalker *w, rf_index d) {
  double norm = rf_la_norm(w->w, d);
  return norm * norm * exp(2 * w->log_norm);
}

/* ---- the basis ------------------------------------------------------------------------------- */

static void orthonormalise(double *basis, rf_index count, rf_index d) {
  for (rf_index k = 0; k < count; k++) {
    double *v = basis + k * d;
    for (int pass = 0; pass < 2; pass++) {
      for (rf_index l = 0; l < k; l++) rf_la_axpy(v, -rf_la_quick_dot(v, basis + l * d, d), basis + l * d, d);
      double norm = rf_la_norm(v, d);
      rf_la_scale(v, norm > 0 ? 1 / norm : 0, d);
    }
  }
}

/* Vectors of the last basis, or drawn ones, by sum D x x^T. image: room for vectors x n. */
static void iterate(RfWalkAhead *ahead, const RfWalk *walk, const double *bend, rf_index known) {
  rf_index n = walk->n, d = walk->d, count = ahead->vectors;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index k = known * d; k < count * d; k++) ahead->basis[k] = rf_random_gaussian(&random);
  for (int round = known < count ? 0 : FIRST_ROUNDS - 1; round < FIRST_ROUNDS && count > 0; round++) {
    rf_rows_images(ahead->image, ahead->basis, &walk->gram->data, count, walk->gram->threads);
    for (rf_index k = 0; k < count; k++)
      for (rf_index i = 0; i < n; i++) ahead->image[k * n + i] *= bend[i];
    rf_rows_combine(ahead->basis, ahead->image, &walk->gram->data, count, walk->gram->threads);
    orthonormalise(ahead->basis, count, d);
  }
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Those whose part of the margins counts. */
static RfStatus choose_units(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk) {
  double most = 0;
  ahead->unit = RF_NEW(rf_index, walk->m);
  if (!ahead->unit) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the fit");
  for (rf_index k = 0; k < walk->m; k++)
    if (walk->walker[k].state != RF_WALK_DEAD) most = fmax(most, size_of(&walk->walker[k], walk->d));
  for (rf_index k = 0; k < walk->m; k++) {
    const RfWalker *w = &walk->walker[k];
    if (w->state != RF_WALK_DEAD && size_of(w, walk->d) > RF_TOL_WALK_UNIT * most)
      ahead->unit[ahead->units++] = k;
  }
  return RF_OK;
}

static double slope_of(const RfWalk *walk, double side) { return side > 0 ? 1 : side < 0 ? walk->leak : 0; }

/* Trace of K D: what the units chosen see of the weights. */
static double stiffness_of(const RfWalkAhead *ahead, const RfWalk *walk, const double *bend) {
  double sum = 0;
  for (rf_index k = 0; k < ahead->units; k++) {
    const RfWalker *w = &walk->walker[ahead->unit[k]];
    double part = 0;
    for (rf_index i = 0; i < walk->n; i++) {
      double slope = slope_of(walk, w->side[i]);
      part += slope * slope * bend[i] * walk->gram->square[i];
    }
    sum += size_of(w, walk->d) * part;
  }
  return sum;
}

/* x.v on the hyperplanes the units hold. */
static RfStatus set_images(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk,
                           const RfSystem *system) {
  rf_index n = walk->n, d = walk->d, each = ahead->vectors + 1;
  double *rows = RF_NEW(double, each *d);
  if (!rows) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the fit");
  for (rf_index k = 0; k < ahead->units; k++) {
    rf_index u = ahead->unit[k];
    const RfSlide *slide = &system->slide[u];
    const double *w = walk->walker[u].w;
    memcpy(rows, ahead->basis, (size_t)(ahead->vectors * d) * sizeof(double));
    double norm = rf_la_norm(w, d), *last = rows + ahead->vectors * d;
    for (rf_index j = 0; j < d; j++) last[j] = w[j] / norm;
    for (rf_index v = 0; v < ahead->vectors; v++)
      for (rf_index r = 0; r < slide->rank; r++)
        rf_la_axpy(rows + v * d, -rf_la_quick_dot(slide->basis + r * d, rows + v * d, d),
                   slide->basis + r * d, d);
    rf_rows_images(ahead->image + k * each * n, rows, &walk->gram->data, each, walk->gram->threads);
  }
  rf_free(rows);
  return RF_OK;
}

static RfStatus make_room(RfContext *context, RfWalkAhead *ahead) {
  rf_index n = ahead->n, most = ahead->columns > ahead->vectors ? ahead->columns : ahead->vectors;
  ahead->image = RF_NEW(double, 3 * most * n);
  ahead->core = RF_NEW(double, most *(most + 2));
  ahead->v = RF_NEW(double, 4 * n);
  if (!ahead->image || !ahead->core || !ahead->v)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the fit");
  ahead->column = ahead->image + most * n, ahead->weighed = ahead->column + most * n;
  ahead->alpha = ahead->core + most * most, ahead->right = ahead->alpha + most;
  ahead->push = ahead->v + n, ahead->move = ahead->push + n, ahead->rate = ahead->move + n;
  return RF_OK;
}

RfStatus rf_walk_ahead_new(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk, const RfSystem *system,
                           const double *bend, double h, const RfWalkAhead *before) {
  rf_index n = walk->n, d = walk->d, known = 0;
  memset(ahead, 0, sizeof *ahead);
  ahead->n = n, ahead->d = d;
  RfStatus status = choose_units(context, ahead, walk);
  if (status || ahead->units == 0 || ahead->units > MOST_COLUMNS) return status;
  ahead->stiffness = stiffness_of(ahead, walk, bend);
  if (!(2 * h * ahead->stiffness > RF_TOL_WALK_STIFF)) return RF_OK; /* and columns = 0 */
  rf_index vectors = MOST_COLUMNS / ahead->units - 1;
  vectors = vectors < MOST_VECTORS ? vectors : MOST_VECTORS;
  ahead->vectors = vectors = vectors < d ? vectors : d;
  ahead->columns = ahead->units * (vectors + 1);
  ahead->basis = RF_NEW(double, vectors *d + 1);
  if (!ahead->basis) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the fit");
  if (before->basis) {
    known = before->vectors < vectors ? before->vectors : vectors;
    memcpy(ahead->basis, before->basis, (size_t)(known * d) * sizeof(double));
  }
  status = make_room(context, ahead);
  if (status) return status;
  iterate(ahead, walk, bend, known);
  return set_images(context, ahead, walk, system);
}

/* ---- the equation of a step ------------------------------------------------------------------ */

/* Columns of the root of K under the sides and sizes of now. */
static void set_columns(RfWalkAhead *ahead, const RfWalk *walk, const double *y) {
  rf_index n = ahead->n, each = ahead->vectors + 1;
  for (rf_index k = 0; k < ahead->units; k++) {
    const RfWalker *w = &walk->walker[ahead->unit[k]];
    double size = sqrt(size_of(w, ahead->d));
    for (rf_index i = 0; i < n; i++) ahead->move[i] = size * y[i] * slope_of(walk, w->side[i]);
    for (rf_index v = k * each; v < (k + 1) * each; v++)
      for (rf_index i = 0; i < n; i++) ahead->column[v * n + i] = ahead->move[i] * ahead->image[v * n + i];
  }
}

/* core = 1 + beta B^T D B at the margins v, factored; false: it is not positive. */
static bool factor(RfContext *context, RfWalkAhead *ahead, RfLoss loss, double beta) {
  rf_index n = ahead->n, count = ahead->columns;
  for (rf_index i = 0; i < n; i++)
    ahead->move[i] = -beta * ahead->push[i] * rf_loss_curvature(loss, ahead->v[i]);
  for (rf_index k = 0; k < count; k++)
    for (rf_index i = 0; i < n; i++)
      ahead->weighed[k * n + i] =
          ahead->column[k * n + i] != 0 ? ahead->column[k * n + i] * ahead->move[i] : 0;
  rf_la_product_nt(ahead->core, ahead->weighed, ahead->column, count, count, n);
  for (rf_index k = 0; k < count; k++) ahead->core[k * count + k] += 1;
  return rf_la_cholesky(context, ahead->core, count) == RF_OK;
}

/* |c| of the step from the weights after it, in push. */
static double mixed(const RfWalkAhead *ahead, const RfWalkPast *past, double gamma, rf_index i) {
  return gamma * past->push[i] / past->fall + (1 - gamma) * ahead->push[i];
}

/* v += h B alpha with alpha = B^T (c - c before): a minimum of a convex function. */
static bool solve(RfContext *context, RfWalkAhead *ahead, const RfWalkPast *past, double h, double gamma) {
  rf_index n = ahead->n, count = ahead->columns;
  bool afresh = true, solved = false;
  memset(ahead->alpha, 0, (size_t)count * sizeof(double));
  for (int round = 0; round < MOST_NEWTON && !solved; round++) {
    double most = 0;
    for (rf_index i = 0; i < n; i++) ahead->push[i] = rf_walk_push(past->loss, ahead->v[i], past->log_S);
    if (afresh && !factor(context, ahead, past->loss, h * (1 - gamma))) return false;
    for (rf_index i = 0; i < n; i++) ahead->move[i] = mixed(ahead, past, gamma, i) - past->push[i];
    rf_la_apply(ahead->right, ahead->column, ahead->move, count, n, n);
    for (rf_index k = 0; k < count; k++) ahead->right[k] -= ahead->alpha[k];
    rf_la_cholesky_solve(ahead->core, ahead->right, count);
    rf_la_combine(ahead->move, ahead->column, ahead->right, count, n, n);
    for (rf_index i = 0; i < n; i++) most = fmax(most, h * fabs(ahead->move[i]));
    if (!isfinite(most)) return false;
    double part = most > RF_TOL_WALK_NEWTON ? RF_TOL_WALK_NEWTON / most : 1;
    for (rf_index i = 0; i < n; i++) ahead->v[i] += part * h * ahead->move[i];
    rf_la_axpy(ahead->alpha, part, ahead->right, count);
    solved = most <= RF_TOL_WALK_SOLVED;
    afresh = most > RF_TOL_WALK_CHORD;
  }
  for (rf_index i = 0; i < n; i++) ahead->push[i] = rf_walk_push(past->loss, ahead->v[i], past->log_S);
  return true;
}

bool rf_walk_ahead_weights(RfContext *context, RfWalkAhead *ahead, const RfWalk *walk, const RfWalkPast *past,
                           double h, double *c) {
  rf_index n = ahead->n;
  if (ahead->columns == 0 || !(h * ahead->stiffness > RF_TOL_WALK_STIFF)) return false;
  double gamma = 0.5 * h / (h + past->age); /* so that c is that of the middle */
  set_columns(ahead, walk, past->y);
  for (rf_index i = 0; i < n; i++) ahead->v[i] = past->q[i] + h / past->h_old * (past->q[i] - past->q_old[i]);
  if (!solve(context, ahead, past, h, gamma)) return false;
  for (rf_index i = 0; i < n; i++) c[i] = mixed(ahead, past, gamma, i);
  return true;
}

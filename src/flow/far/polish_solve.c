/* The convex problem of a polish (F.7) with its groups as they are: Newton's method on its KKT equations with
 * an active set; minimum-norm steps, so that where the solution is not unique the nearest one is found.
 * Accepted on the residual and on every margin, never on a small step. */
#include "flow/far/polish_dual.h"
#include "flow/far/polish_solve.h"
#include "flow/flow_tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Row of sample i: y_i s_g D_gi P_g x_i (times the group's weight), group after group; without P_g where the
 * hyperplanes are equations of their own. */
static void constraint_row(double *row, const RfPolish *polish, const RfSystem *system, rf_index i,
                           bool project) {
  rf_index d = system->d, n = system->n;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    const RfPolishGroup *group = &polish->groups[g];
    const RfSlide *slide = &system->slide[group->unit];
    double *out = row + g * d;
    double factor = system->problem->y[i] * group->sign * group->weight * system->slope[group->unit * n + i];
    for (rf_index j = 0; j < d; j++) out[j] = factor * system->problem->X[i * d + j];
    for (rf_index r = 0; r < slide->rank && project; r++)
      rf_la_axpy(out, -rf_la_quick_dot(slide->basis + r * d, out, d), slide->basis + r * d, d);
  }
}

/* Rows of very different lengths (graded.c): a projected row mixes the coordinates, so hyperplanes become
 * equations with multipliers of their own, and unknowns and multipliers are solved for in units of their
 * sizes.
 */
typedef struct Newton {
  rf_index N, r; /* unknowns, active constraints */
  bool graded;
  rf_index planes;    /* graded: equations b.z_g = 0 */
  double *plane_rows; /* planes rows of N */
  double *force;      /* planes: their multipliers */
  double *unit;       /* N + most + planes: units of the unknowns */
  double *blur;       /* n: rounding of the margins; 0 where rows are alike */
  const double *aim;  /* n: margins of the active samples; NULL = 1 */
  rf_index most;      /* room for active constraints */
  rf_index *active;   /* r samples */
  double *rows;       /* r rows of N */
  double *z, *lambda; /* N, r */
  double *matrix, *right, *gradient, *trial;
  double *copy;   /* of matrix, for its factors */
  int32_t *pivot; /* N + most */
  double *row;
  uint8_t *is_active; /* n */
  uint64_t *tried;    /* 3 n + 10: active sets there were, as numbers */
  bool dual;          /* polish_dual.c solves: no matrix of order N + r */
} Newton;

/* Rounding of row.z, a sum that may be small beside its terms: half a unit in the last place for each of its
 * terms, and one for each entry of z. */
static double rounding_of(const Newton *newton, const double *row) {
  double sum = 0;
  for (rf_index j = 0; j < newton->N && newton->graded; j++) sum += fabs(row[j] * newton->z[j]);
  return fmax(RF_TOL_ROUNDING, 0.5 * DBL_EPSILON * (double)(newton->N + 1)) * sum;
}

static void all_margins(RfPolish *polish, const RfSystem *system, const Newton *newton) {
  for (rf_index i = 0; i < system->n; i++) {
    constraint_row(newton->row, polish, system, i, !newton->graded);
    polish->margins[i] = system->seen[i] ? rf_la_quick_dot(newton->row, newton->z, newton->N) : INFINITY;
    if (newton->graded) newton->blur[i] = rounding_of(newton, newton->row);
  }
}

static double aim_of(const Newton *newton, rf_index r) {
  return newton->aim ? newton->aim[newton->active[r]] : 1;
}

/* Length of row r, the unit of its multiplier; 1 where rows are alike. */
static double row_length(const Newton *newton, rf_index r) {
  return newton->graded ? fmax(rf_la_norm(newton->rows + r * newton->N, newton->N), RF_TOL_TINY) : 1;
}

/* Unknowns from which the equations are solved in the multipliers, and active samples that they are solved
 * for at most. */
enum { DUAL_FROM = 150, MOST_ACTIVE = 3000 };

/* Active sets that are tried. */
static rf_index most_rounds(const RfSystem *system) { return 3 * system->n + 10; }

static void newton_free(Newton *newton) {
  rf_free(newton->active);
  rf_free(newton->rows);
  rf_free(newton->matrix);
  rf_free(newton->copy);
  rf_free(newton->pivot);
  rf_free(newton->is_active);
  rf_free(newton->tried);
  rf_free(newton->plane_rows);
}

/* The hyperplanes of the groups as equations. */
static RfStatus newton_planes(RfContext *context, Newton *newton, const RfPolish *polish,
                              const RfSystem *system) {
  rf_index N = newton->N, d = system->d, at = 0;
  newton->plane_rows = RF_NEW(double, newton->planes *(N + 1) + N + newton->most + newton->planes);
  if (!newton->plane_rows) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  newton->force = newton->plane_rows + newton->planes * N;
  newton->unit = newton->force + newton->planes;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    const RfSlide *slide = &system->slide[polish->groups[g].unit];
    for (rf_index r = 0; r < slide->rank; r++)
      memcpy(newton->plane_rows + at++ * N + g * d, slide->basis + r * d, (size_t)d * sizeof(double));
  }
  return RF_OK;
}

static RfStatus newton_new(RfContext *context, Newton *newton, const RfPolish *polish,
                           const RfSystem *system) {
  rf_index N = polish->n_groups * system->d, n = system->n;
  bool may_dual = !system->problem->freeze_second;
  memset(newton, 0, sizeof *newton);
  rf_index most = n < N + 64 ? n : N + 64; /* more than N tight samples are more than it needs */
  newton->dual = may_dual && N > DUAL_FROM;
  if (newton->dual && most > MOST_ACTIVE) most = MOST_ACTIVE;
  newton->graded = system->spread && !newton->dual && !system->problem->freeze_second;
  for (rf_index g = 0; g < polish->n_groups && newton->graded; g++)
    newton->planes += system->slide[polish->groups[g].unit].rank;
  rf_index total = N + most + newton->planes, square = newton->dual ? most * (N + most) : total * total;
  newton->N = N, newton->most = most;
  newton->active = RF_NEW(rf_index, n);
  newton->is_active = RF_NEW(uint8_t, n);
  newton->tried = RF_NEW(uint64_t, most_rounds(system));
  newton->rows = RF_NEW(double, most *N + 4 * N + 3 * n);
  newton->matrix = RF_NEW(double, square + total);
  newton->copy = RF_NEW(double, newton->dual ? 1 : square);
  newton->pivot = RF_NEW(int32_t, total);
  if (!newton->active || !newton->is_active || !newton->tried || !newton->rows || !newton->matrix ||
      !newton->copy || !newton->pivot) {
    newton_free(newton);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  }
  newton->z = newton->rows + most * N;
  newton->gradient = newton->z + N;
  newton->trial = newton->gradient + N;
  newton->row = newton->trial + N;
  newton->lambda = newton->row + N;
  newton->blur = newton->lambda + 2 * n;
  newton->right = newton->matrix + square;
  RfStatus status = newton->graded ? newton_planes(context, newton, polish, system) : RF_OK;
  if (status) newton_free(newton);
  return status;
}

/* Gradient and Hessian of sum |z_g| (or half the sum of squares). false: a group has vanished. */
static bool objective(const RfPolish *polish, const RfSystem *system, Newton *newton, double *hessian,
                      rf_index stride) {
  rf_index d = system->d;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    const double *z = newton->z + g * d;
    double norm = rf_la_norm(z, d), *gradient = newton->gradient + g * d;
    if (system->problem->freeze_second) {
      for (rf_index i = 0; i < d; i++) {
        gradient[i] = z[i];
        if (hessian) hessian[(g * d + i) * stride + g * d + i] = 1;
      }
      continue;
    }
    if (!(norm > 0)) return false;
    for (rf_index i = 0; i < d; i++) gradient[i] = z[i] / norm;
    for (rf_index i = 0; i < d && hessian; i++)
      for (rf_index j = 0; j < d; j++)
        hessian[(g * d + i) * stride + g * d + j] = ((i == j) - gradient[i] * gradient[j]) / norm;
  }
  return true;
}

static double stationarity(const Newton *newton) {
  double worst = 0;
  memcpy(newton->trial, newton->gradient, (size_t)newton->N * sizeof(double));
  for (rf_index r = 0; r < newton->r; r++)
    rf_la_axpy(newton->trial, -newton->lambda[r], newton->rows + r * newton->N, newton->N);
  for (rf_index r = 0; r < newton->planes; r++)
    rf_la_axpy(newton->trial, -newton->force[r], newton->plane_rows + r * newton->N, newton->N);
  for (rf_index j = 0; j < newton->N; j++) worst = fmax(worst, fabs(newton->trial[j]));
  return worst;
}

static double infeasibility(const Newton *newton, const RfPolish *polish, const RfSystem *system) {
  double worst = 0;
  for (rf_index r = 0; r < newton->r; r++) {
    const double *row = newton->rows + r * newton->N;
    double known =
        newton->graded ? rounding_of(newton, row) + rf_polish_moved(polish, system, newton->z, row) : 0;
    worst = fmax(worst, fabs(rf_la_quick_dot(row, newton->z, newton->N) - aim_of(newton, r)) - known);
  }
  return worst;
}

/* By LU factors where the pivots say that the matrix is far from singular, by least squares otherwise: a
 * solution that is not unique is the one of minimum norm. */
static RfStatus newton_solve(RfContext *context, Newton *newton, rf_index total) {
  double least = INFINITY, most = 0;
  if (rf_context_stop(context)) return RF_INTERRUPTED;
  memcpy(newton->copy, newton->matrix, (size_t)(total * total) * sizeof(double));
  bool regular = total > 40 && rf_la_lu(newton->copy, newton->pivot, total);
  for (rf_index j = 0; j < total && regular; j++) {
    least = fmin(least, fabs(newton->copy[j * total + j]));
    most = fmax(most, fabs(newton->copy[j * total + j]));
  }
  if (!regular || !(least > RF_TOL_PIVOT * most))
    return rf_la_least_squares(context, newton->matrix, newton->right, total, total, RF_TOL_RANK, NULL);
  rf_la_lu_solve(newton->copy, newton->pivot, newton->right, total);
  return RF_OK;
}

/* Graded: units in which H and A are of order one, z_g in those of sqrt |z_g|, since H is 1/|z_g|, and the
 * multipliers as that makes the rows. The equations are divided by their largest coefficients. */
static void set_units(const RfPolish *polish, const RfSystem *system, Newton *newton, rf_index total) {
  rf_index N = newton->N, d = system->d;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double norm = rf_la_norm(newton->z + g * d, d);
    for (rf_index j = 0; j < d; j++) newton->unit[g * d + j] = sqrt(norm);
  }
  for (rf_index k = 0; k < newton->r + newton->planes; k++) {
    const double *row = newton->matrix + (N + k) * total;
    double largest = RF_TOL_TINY;
    for (rf_index j = 0; j < N; j++) largest = fmax(largest, fabs(row[j] * newton->unit[j]));
    newton->unit[N + k] = 1 / largest;
  }
  for (rf_index i = 0; i < total; i++) {
    double *row = newton->matrix + i * total, largest;
    for (rf_index j = 0; j < total; j++) row[j] *= newton->unit[j];
    largest = rf_la_max_abs(row, total);
    if (!(largest > 0)) continue;
    rf_la_scale(row, 1 / largest, total);
    newton->right[i] /= largest;
  }
}

/* Graded: the largest part by which the step moves a group, or a term of an active margin: those that are
 * small are known to what changes the margin, and so are the coordinates in which rows are long. */
static double graded_size(const RfPolish *polish, const RfSystem *system, const Newton *newton) {
  rf_index N = newton->N, d = system->d;
  double size = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double norm = rf_la_norm(newton->z + g * d, d);
    for (rf_index j = g * d; j < (g + 1) * d; j++) {
      double longest = RF_TOL_TINY;
      for (rf_index r = 0; r < newton->r; r++) longest = fmax(longest, fabs(newton->rows[r * N + j]));
      size = fmax(size, fabs(newton->right[j]) / fmin(norm, fmax(fabs(newton->z[j]), 1 / longest)));
    }
  }
  return size;
}

/* One equation with its multiplier: -A^T beside H, A below it. */
static void border(Newton *newton, const double *row, rf_index at, rf_index total) {
  for (rf_index j = 0; j < newton->N; j++) {
    newton->matrix[j * total + at] = -row[j];
    newton->matrix[at * total + j] = row[j];
  }
}

/* [H -A^T; A 0] (dz, dlambda) = -(gradient - A^T lambda, A z - 1), least squares. */
static RfStatus newton_step(RfContext *context, const RfPolish *polish, const RfSystem *system,
                            Newton *newton, double *size) {
  rf_index N = newton->N, r = newton->r, total = N + r + newton->planes, d = system->d;
  memset(newton->matrix, 0, (size_t)(total * total) * sizeof(double));
  if (!objective(polish, system, newton, newton->matrix, total)) {
    *size = INFINITY;
    return RF_OK;
  }
  stationarity(newton);
  for (rf_index j = 0; j < N; j++) newton->right[j] = -newton->trial[j];
  for (rf_index k = 0; k < r; k++) {
    border(newton, newton->rows + k * N, N + k, total);
    newton->right[N + k] = aim_of(newton, k) - rf_la_quick_dot(newton->rows + k * N, newton->z, N);
  }
  for (rf_index k = 0; k < newton->planes; k++) { /* z is on them */
    border(newton, newton->plane_rows + k * N, N + r + k, total);
    newton->right[N + r + k] = 0;
  }
  if (newton->graded) set_units(polish, system, newton, total);
  RfStatus status = newton_solve(context, newton, total);
  if (status) return status;
  double factor = 1;
  for (rf_index j = 0; j < total && newton->graded; j++) newton->right[j] *= newton->unit[j];
  *size = newton->graded ? graded_size(polish, system, newton) : rf_la_max_abs(newton->right, total);
  for (rf_index g = 0; g < polish->n_groups && !system->problem->freeze_second; g++) {
    double norm = rf_la_norm(newton->z + g * d, d), move = rf_la_norm(newton->right + g * d, d);
    if (move > 0.7 * norm) factor = fmin(factor, 0.7 * norm / move);
  }
  rf_la_axpy(newton->z, factor, newton->right, N);
  rf_la_axpy(newton->lambda, factor, newton->right + N, r);
  for (rf_index k = 0; k < newton->planes; k++) newton->force[k] += factor * newton->right[N + r + k];
  for (rf_index g = 0; g < polish->n_groups && newton->graded; g++)
    rf_system_put_on(system, polish->groups[g].unit, newton->z + g * d);
  *size /= factor;
  return RF_OK;
}

/* First multipliers by least squares. */
static RfStatus first_multipliers(RfContext *context, Newton *newton) {
  rf_index N = newton->N, r = newton->r, count = r + newton->planes, longest = N > count ? N : count;
  double *A = newton->matrix, *b = newton->right;
  for (rf_index k = 0; k < r; k++) {
    double length = row_length(newton, k);
    for (rf_index j = 0; j < N; j++) A[j * count + k] = newton->rows[k * N + j] / length;
  }
  for (rf_index k = 0; k < newton->planes; k++)
    for (rf_index j = 0; j < N; j++) A[j * count + r + k] = newton->plane_rows[k * N + j];
  memset(b, 0, (size_t)longest * sizeof(double));
  memcpy(b, newton->gradient, (size_t)N * sizeof(double));
  RfStatus status = rf_la_least_squares(context, A, b, N, count, RF_TOL_RANK, NULL);
  for (rf_index k = 0; k < r; k++) newton->lambda[k] = b[k] / row_length(newton, k);
  for (rf_index k = 0; k < newton->planes; k++) newton->force[k] = b[r + k];
  return status;
}

/* What the size of a step is relative to. */
static double largest_unknown(const Newton *newton) {
  return newton->graded ? 1 : fmax(1, rf_la_max_abs(newton->z, newton->N));
}

/* Steps of Newton's method that do not become half as long after so many of them are rounding of equations
 * that are nearly dependent. */
enum { NEWTON_STALE = 6 };

static RfStatus solve_active(RfContext *context, const RfPolish *polish, const RfSystem *system,
                             Newton *newton) {
  double size = INFINITY, scale, least = INFINITY;
  int stale = 0;
  RfStatus status = RF_OK;
  if (newton->r > 0) {
    if (!objective(polish, system, newton, NULL, 0)) return RF_OK;
    status = first_multipliers(context, newton);
  }
  if (newton->dual && !status)
    status = rf_polish_dual(context, newton->z, newton->lambda, newton->rows, newton->r, polish->n_groups,
                            system->d);
  for (int round = 0; round < 50 && !status && !newton->dual; round++) {
    status = newton_step(context, polish, system, newton, &size);
    if (!isfinite(size)) break;
    scale = largest_unknown(newton);
    if (size <= RF_TOL_NEWTON * scale) break;
    if (round > 8 && size <= RF_TOL_NEWTON_LATE * scale) break;
    stale = size < 0.5 * least ? 0 : stale + 1;
    if (stale == 0) least = size;
    if (round > 8 && stale >= NEWTON_STALE && size <= RF_TOL_NEWTON_LOST * scale) break; /* longer: below */
    if (round > 14 && size > RF_TOL_NEWTON_LOST * scale)
      break; /* a group vanishes, or the equations contradict each other */
  }
  if (!status && !objective(polish, system, newton, NULL, 0)) memset(newton->gradient, 0, sizeof(double));
  return status;
}

static void activate(Newton *newton, const RfPolish *polish, const RfSystem *system, rf_index i) {
  constraint_row(newton->rows + newton->r * newton->N, polish, system, i, !newton->graded);
  newton->lambda[newton->r] = 0;
  newton->active[newton->r++] = i;
  newton->is_active[i] = 1;
}

static void deactivate(Newton *newton, rf_index r) {
  newton->is_active[newton->active[r]] = 0;
  newton->r--;
  newton->active[r] = newton->active[newton->r];
  newton->lambda[r] = newton->lambda[newton->r];
  memmove(newton->rows + r * newton->N, newton->rows + newton->r * newton->N,
          (size_t)newton->N * sizeof(double));
}

/* Where the multipliers are not unique the flow has its own: those nearest to its weights p, scaled. The term
 * 1e-6 |lambda - p sum| is next to nothing where they are unique. columns (count of N, in newton->matrix),
 * the tight samples (newton->active), their lengths (by which columns are divided) and a first solution
 * (newton->lambda) are given. */
static RfStatus own_multipliers(RfContext *context, RfPolish *polish, const RfSystem *system, Newton *newton,
                                rf_index count, const double *length) {
  const double near = RF_TOL_OWN;
  rf_index N = newton->N, rows = N + count;
  double *x = newton->lambda, *columns = newton->matrix, *right = newton->right, sum = 0, off = 0;
  double reach = newton->graded ? rf_system_reach(system) : 1;
  for (rf_index t = 0; t < count; t++) sum += fmax(0, x[t]);
  for (rf_index t = count - 1; t >= 0; t--) { /* the columns grow by count entries each */
    memmove(columns + t * rows, columns + t * N, (size_t)N * sizeof(double));
    memset(columns + t * rows + N, 0, (size_t)count * sizeof(double));
    columns[t * rows + N + t] = near;
    x[t] = sum * system->p[newton->active[t]] * length[t] / reach;
    right[N + t] = near * x[t];
  }
  memcpy(right, newton->gradient, (size_t)N * sizeof(double));
  /* from there: where others are as good, what 1e-6 of it pulls at a multiplier that is 0 is rounding */
  RfStatus status = rf_la_nnls_from(context, x, NULL, NULL, columns, right, rows, count, rows, NULL);
  if (status) return status == RF_ERR_MEMORY ? status : RF_OK;
  memcpy(newton->trial, newton->gradient, (size_t)N * sizeof(double));
  for (rf_index t = 0; t < count; t++) rf_la_axpy(newton->trial, -fmax(0, x[t]), columns + t * rows, N);
  off = rf_la_max_abs(newton->trial, N);
  if (!(off <= RF_TOL_OWN_OFF * fmax(1, rf_la_max_abs(newton->gradient, N)))) return RF_OK;
  for (rf_index t = 0; t < count; t++) polish->lambda[newton->active[t]] = fmax(0, x[t]) / length[t];
  return RF_OK;
}

/* The equations have no solution where fewer samples are tight than there are groups: sizes t_g of the groups
 * can then be exchanged at equal margins, and the sum of |t_g z_g| falls until one of them is nothing. Which
 * one, on the way of steepest descent -(c - M^T mu), c_g = |z_g|, M the parts of the groups in the tight
 * margins (count columns, of newton->matrix); the groups go there. -1: there is no such way. */
static RfStatus idle_group(RfContext *context, RfPolish *polish, const RfSystem *system, Newton *newton,
                           rf_index count) {
  rf_index d = system->d, G = polish->n_groups, longest = G > count ? G : count;
  double *M = RF_NEW(double, G *count + longest + 2 * G), *mu = M + G * count, *fall = mu + longest;
  double *size = fall + G, least = 0;
  polish->idle = -1;
  if (!M) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  for (rf_index t = 0; t < count; t++) {
    double most = RF_TOL_TINY;
    for (rf_index g = 0; g < G; g++) {
      M[g * count + t] = rf_la_quick_dot(newton->matrix + t * newton->N + g * d, newton->z + g * d, d);
      most = fmax(most, fabs(M[g * count + t]));
    }
    for (rf_index g = 0; g < G; g++) M[g * count + t] /= most;
  }
  memset(mu, 0, (size_t)longest * sizeof(double));
  for (rf_index g = 0; g < G; g++) mu[g] = size[g] = rf_la_norm(newton->z + g * d, d);
  double *copy = newton->copy; /* N entries and more */
  memcpy(copy, M, (size_t)(G * count) * sizeof(double));
  RfStatus status = rf_la_least_squares(context, copy, mu, G, count, RF_TOL_RANK, NULL);
  double floor = -RF_TOL_RANK * rf_la_max_abs(size, G);
  for (rf_index g = 0; g < G && !status; g++) {
    fall[g] = rf_la_quick_dot(M + g * count, mu, count) - size[g];
    if (fall[g] < fmin(least, floor)) least = fall[g], polish->idle = g;
  }
  for (rf_index g = 0; g < G && polish->idle >= 0; g++)
    rf_la_scale(polish->beta + g * d, 1 - fall[g] / least, d);
  rf_free(M);
  return status;
}

/* Multipliers >= 0 on all tight samples by nonnegative least squares: the Newton multipliers may be one of
 * many choices and have a wrong sign where another choice has not. */
static RfStatus certify_multipliers(RfContext *context, RfPolish *polish, const RfSystem *system,
                                    Newton *newton) {
  rf_index N = newton->N, count = 0, most = newton->most;
  double *columns = newton->matrix, *x = newton->lambda, *length = newton->rows; /* no longer needed */
  rf_index *tight = newton->active;
  for (rf_index i = 0; i < system->n && count < most; i++) {
    if (!(polish->margins[i] <= 1 + RF_TOL_TIGHT + newton->blur[i])) continue;
    constraint_row(columns + count * N, polish, system, i, true);
    length[count] = newton->graded ? system->x_norm[i] : 1;
    rf_la_scale(columns + count * N, 1 / length[count], N);
    tight[count++] = i;
  }
  memset(polish->lambda, 0, (size_t)system->n * sizeof(double));
  RfStatus status = RF_OK;
  if (count > 0)
    status = rf_la_nnls(context, x, newton->trial, NULL, columns, newton->gradient, N, count, N, NULL);
  if (status == RF_ERR_MEMORY || count == 0) return status;
  for (rf_index t = 0; t < count; t++) polish->lambda[tight[t]] = fmax(0, x[t]) / length[t];
  polish->residual = rf_la_max_abs(newton->trial, N);
  double scale = system->problem->freeze_second ? fmax(1, rf_la_max_abs(newton->gradient, N)) : 1;
  polish->ok = polish->residual <= RF_TOL_STATIONARY * scale;
  if (polish->ok) return own_multipliers(context, polish, system, newton, count, length);
  return newton->dual ? RF_OK : idle_group(context, polish, system, newton, count);
}

/* What is wrong with the present solution: an active constraint not met, the most violated of the others
 * (worst), the most negative multiplier (wrong); -1 where there is none. */
typedef struct Findings {
  bool feasible;
  rf_index worst, wrong;
} Findings;

static Findings examine(RfPolish *polish, const RfSystem *system, const Newton *newton) {
  Findings found = {
      .feasible = infeasibility(newton, polish, system) < RF_TOL_STATIONARY, .worst = -1, .wrong = -1};
  double slack = -RF_TOL_VIOLATED, negative = -RF_TOL_VIOLATED;
  for (rf_index r = 0; r < newton->r; r++)
    if (newton->lambda[r] * row_length(newton, r) < negative)
      negative = newton->lambda[r] * row_length(newton, r), found.wrong = r;
  all_margins(polish, system, newton);
  for (rf_index i = 0; i < system->n; i++)
    if (!newton->is_active[i] && polish->margins[i] + newton->blur[i] - 1 < slack)
      slack = polish->margins[i] + newton->blur[i] - 1, found.worst = i;
  return found;
}

/* Starts from the state, scaled to least margin 1, with the samples that carry weight as active. false: not
 * separated. */
static bool begin(RfPolish *polish, const RfSystem *system, Newton *newton) {
  double least = INFINITY;
  memcpy(newton->z, polish->beta, (size_t)newton->N * sizeof(double));
  all_margins(polish, system, newton);
  for (rf_index i = 0; i < system->n; i++) least = fmin(least, polish->margins[i]);
  if (!(least > 0)) return false;
  rf_la_scale(newton->z, 1 / least, newton->N);
  double reach = newton->graded ? rf_system_reach(system) : 1;
  for (rf_index i = 0; i < system->n && newton->r < newton->most; i++) {
    double push = system->p[i] * (newton->graded ? system->x_norm[i] : 1);
    if (system->seen[i] && push > RF_TOL_ACTIVE * reach) activate(newton, polish, system, i);
  }
  return true;
}

/* Takes the samples with positive multipliers of the last certificate as the active set; false: that is no
 * progress. */
static bool restart_from_certificate(RfPolish *polish, const RfSystem *system, Newton *newton) {
  bool left_out = false;
  newton->r = 0;
  memset(newton->is_active, 0, (size_t)system->n);
  for (rf_index i = 0; i < system->n; i++) {
    if (polish->margins[i] > 1 + RF_TOL_TIGHT + newton->blur[i]) continue;
    if (!(polish->lambda[i] > 0))
      left_out = true;
    else if (newton->r < newton->most)
      activate(newton, polish, system, i);
  }
  return left_out && newton->r > 0;
}

/* Newton's method sends a group to nothing: its length over that before, against the largest such ratio. */
static bool collapses(const RfPolish *polish, const Newton *newton, rf_index d) {
  double least = INFINITY, most = 0;
  for (rf_index g = 0; g < polish->n_groups && newton->graded; g++) {
    double before = rf_la_norm(polish->beta + g * d, d), now = rf_la_norm(newton->z + g * d, d);
    double ratio = now / fmax(before, RF_TOL_TINY);
    if (!isfinite(ratio)) return false;
    least = fmin(least, ratio), most = fmax(most, ratio);
  }
  return least <= RF_TOL_COLLAPSED * most;
}

/* The active set has been tried before: where the equations have no solution samples come and go for ever. */
static bool tried_before(const Newton *newton, rf_index n, rf_index round) {
  newton->tried[round] = rf_pattern_hash((const int8_t *)newton->is_active, n);
  for (rf_index k = 0; k < round; k++)
    if (newton->tried[k] == newton->tried[round]) return true;
  return false;
}

RfStatus rf_polish_solve(RfContext *context, RfPolish *polish, const RfSystem *system) {
  rf_index n = system->n, N = polish->n_groups * system->d;
  Newton newton;
  RfStatus status = newton_new(context, &newton, polish, system);
  if (status) return status;
  polish->ok = false;
  polish->idle = -1;
  bool going = begin(polish, system, &newton);
  for (rf_index round = 0; round < most_rounds(system) && going && !status; round++) {
    if (tried_before(&newton, n, round)) break;
    memcpy(polish->beta, newton.z, (size_t)N * sizeof(double));
    status = solve_active(context, polish, system, &newton);
    if (status) break;
    Findings found = examine(polish, system, &newton);
    if (found.feasible && found.worst < 0) {
      memcpy(polish->beta, newton.z, (size_t)N * sizeof(double));
      status = certify_multipliers(context, polish, system, &newton);
      going = !polish->ok && found.wrong >= 0 && restart_from_certificate(polish, system, &newton);
      continue;
    }
    bool gone = !found.feasible && collapses(polish, &newton, system->d);
    if (gone && found.worst >= 0 && newton.r < newton.most) { /* a sample that keeps it was left out */
      memcpy(newton.z, polish->beta, (size_t)N * sizeof(double));
      activate(&newton, polish, system, found.worst);
      continue;
    }
    if (gone) { /* the equations are those without it */
      memcpy(polish->beta, newton.z, (size_t)N * sizeof(double));
      going = false;
      continue;
    }
    if (!found.feasible) memcpy(newton.z, polish->beta, (size_t)N * sizeof(double));
    if (found.wrong >= 0)
      deactivate(&newton, found.wrong);
    else if (found.feasible && newton.r < newton.most)
      activate(&newton, polish, system, found.worst);
    else
      going = false; /* too many equalities, or a vanished group */
  }
  newton_free(&newton);
  return status;
}

RfStatus rf_polish_solve_aimed(RfContext *context, RfPolish *polish, const RfSystem *system,
                               const double *aim, bool *solved) {
  Newton newton;
  RfStatus status = newton_new(context, &newton, polish, system);
  *solved = false;
  if (status) return status;
  newton.aim = aim;
  memcpy(newton.z, polish->beta, (size_t)newton.N * sizeof(double));
  for (rf_index i = 0; i < system->n && newton.r < newton.most; i++)
    if (polish->lambda[i] > 0) activate(&newton, polish, system, i);
  if (newton.graded) status = solve_active(context, polish, system, &newton);
  if (!status && newton.graded && infeasibility(&newton, polish, system) < RF_TOL_STATIONARY &&
      stationarity(&newton) < RF_TOL_STATIONARY) {
    *solved = true;
    for (rf_index r = 0; r < newton.r; r++) *solved = *solved && newton.lambda[r] > 0;
    memcpy(polish->beta, newton.z, (size_t)newton.N * sizeof(double));
  }
  newton_free(&newton);
  return status;
}

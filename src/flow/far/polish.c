/* The limit direction from a state near it. With patterns and signs fixed, and u_g = sum |a_k| w_k per group
 * g, a KKT direction of the margin problem solves the convex problem minimise sum_g |u_g|  subject to  y_i
 * sum_g s_g D_gi (P_g x_i).u_g >= 1, P_g the projection on the hyperplanes the group slides on (with a frozen
 * second layer: half the sum of squares instead of the norms). Newton's method on its KKT equations with an
 * active set; minimum-norm steps, so that where the solution is not unique the nearest one is found. Accepted
 * on the residual and on every margin, never on a small step. */
#include "flow/far/polish_dual.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rf_polish_free(RfPolish *polish) {
  rf_free(polish->groups);
  rf_free(polish->group_of);
  rf_free(polish->size);
  rf_free(polish->beta);
  rf_free(polish->lambda);
  memset(polish, 0, sizeof *polish);
}

/* ---- groups -------------------------------------------------------------------------------- */

static double unit_size(const RfSystem *system, rf_index u, double top) {
  double rho = system->y[system->units * (system->d + 1) + u];
  const double *w = system->y + u * system->d;
  return exp(2 * (rho - top)) * (system->problem->freeze_second ? rf_la_dot(w, w, system->d) : 1);
}

static double largest_rho(const RfSystem *system) {
  double top = -INFINITY;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) top = fmax(top, system->y[system->units * (system->d + 1) + u]);
  return top;
}

static rf_index find_group(const RfPolish *polish, const RfSystem *system, rf_index u, int sign) {
  rf_index n = system->n;
  for (rf_index g = 0; g < polish->n_groups; g++)
    if (polish->groups[g].sign == sign &&
        memcmp(system->sigma + polish->groups[g].unit * n, system->sigma + u * n, (size_t)n) == 0)
      return g;
  return -1;
}

static RfStatus make_groups(RfContext *context, RfPolish *polish, const RfSystem *system) {
  rf_index units = system->units, n = system->n;
  double top = largest_rho(system), total = 0;
  memset(polish, 0, sizeof *polish);
  polish->n_units = units;
  polish->groups = RF_NEW(RfPolishGroup, units);
  polish->group_of = RF_NEW(rf_index, units);
  polish->size = RF_NEW(double, units);
  polish->lambda = RF_NEW(double, 2 * n);
  if (!polish->groups || !polish->group_of || !polish->size || !polish->lambda)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for groups");
  polish->margins = polish->lambda + n;
  for (rf_index u = 0; u < units; u++) {
    polish->group_of[u] = -1;
    if (system->dead[u]) continue;
    double a = system->y[units * system->d + u];
    int sign = a >= 0 ? 1 : -1;
    rf_index g = find_group(polish, system, u, sign);
    if (g < 0) {
      g = polish->n_groups++;
      polish->groups[g] = (RfPolishGroup){u, sign, 0, 0};
    }
    polish->group_of[u] = g;
    double size = unit_size(system, u, top);
    polish->groups[g].share += size, total += size;
    polish->groups[g].weight += a * a;
  }
  double heaviest = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    polish->groups[g].share /= total;
    polish->groups[g].weight = system->problem->freeze_second ? sqrt(polish->groups[g].weight) : 1;
    heaviest = fmax(heaviest, polish->groups[g].weight);
  }
  polish->heaviest = polish->n_groups > 0 ? heaviest : 1;
  for (rf_index g = 0; g < polish->n_groups; g++) polish->groups[g].weight /= polish->heaviest;
  return RF_OK;
}

/* Back from weights relative to the heaviest group, with which the problem was solved, to the true ones. */
static void true_weights(RfPolish *polish, rf_index n, rf_index d) {
  double heaviest = polish->heaviest;
  if (heaviest == 1) return;
  for (rf_index g = 0; g < polish->n_groups; g++) polish->groups[g].weight *= heaviest;
  rf_la_scale(polish->beta, 1 / heaviest, polish->n_groups * d);
  for (rf_index i = 0; i < n; i++) polish->lambda[i] = polish->lambda[i] / heaviest / heaviest;
}

/* Removes group g; its units belong to no group. */
static void drop_group(RfPolish *polish, rf_index g, rf_index d) {
  for (rf_index u = 0; u < polish->n_units; u++) {
    if (polish->group_of[u] == g) polish->group_of[u] = -1;
    if (polish->group_of[u] > g) polish->group_of[u]--;
  }
  rf_index after = polish->n_groups - g - 1;
  memmove(polish->groups + g, polish->groups + g + 1, (size_t)after * sizeof *polish->groups);
  if (polish->beta)
    memmove(polish->beta + g * d, polish->beta + (g + 1) * d, (size_t)(after * d) * sizeof(double));
  polish->n_groups--;
}

static rf_index smallest_group(const RfPolish *polish) {
  rf_index least = 0;
  for (rf_index g = 1; g < polish->n_groups; g++)
    if (polish->groups[g].share < polish->groups[least].share) least = g;
  return least;
}

/* beta_g of the state, up to a common factor. */
static void group_vectors(RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  double top = largest_rho(system);
  memset(polish->beta, 0, (size_t)(polish->n_groups * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    rf_index g = polish->group_of[u];
    if (g < 0) continue;
    double a = system->y[units * d + u], rho = system->y[units * (d + 1) + u];
    double factor = system->problem->freeze_second ? fabs(a) * exp(rho - top) / polish->groups[g].weight
                                                   : fabs(a) * exp(2 * (rho - top));
    rf_la_axpy(polish->beta + g * d, factor, system->y + u * d, d);
  }
}

/* ---- the convex problem -------------------------------------------------------------------- */

/* Row of sample i: y_i s_g D_gi P_g x_i (times the group's weight), group after group. */
static void constraint_row(double *row, const RfPolish *polish, const RfSystem *system, rf_index i) {
  rf_index d = system->d, n = system->n;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    const RfPolishGroup *group = &polish->groups[g];
    const RfSlide *slide = &system->slide[group->unit];
    double *out = row + g * d;
    double factor = system->problem->y[i] * group->sign * group->weight * system->slope[group->unit * n + i];
    for (rf_index j = 0; j < d; j++) out[j] = factor * system->problem->X[i * d + j];
    for (rf_index r = 0; r < slide->rank; r++)
      rf_la_axpy(out, -rf_la_dot(slide->basis + r * d, out, d), slide->basis + r * d, d);
  }
}

static void all_margins(RfPolish *polish, const RfSystem *system, const double *z, double *row) {
  for (rf_index i = 0; i < system->n; i++) {
    constraint_row(row, polish, system, i);
    polish->margins[i] = system->seen[i] ? rf_la_dot(row, z, polish->n_groups * system->d) : INFINITY;
  }
}

typedef struct Newton {
  rf_index N, r;      /* unknowns, active constraints */
  rf_index most;      /* room for active constraints */
  rf_index *active;   /* r samples */
  double *rows;       /* r rows of N */
  double *z, *lambda; /* N, r */
  double *matrix, *right, *gradient, *trial;
  double *copy;   /* of matrix, for its factors */
  int32_t *pivot; /* N + most */
  double *row;
  uint8_t *is_active; /* n */
  bool dual;          /* polish_dual.c solves: no matrix of order N + r */
} Newton;

/* Unknowns from which the equations are solved in the multipliers, and active samples that they are solved
 * for at most. */
enum { DUAL_FROM = 150, MOST_ACTIVE = 3000 };

static void newton_free(Newton *newton) {
  rf_free(newton->active);
  rf_free(newton->rows);
  rf_free(newton->matrix);
  rf_free(newton->copy);
  rf_free(newton->pivot);
  rf_free(newton->is_active);
}

static RfStatus newton_new(RfContext *context, Newton *newton, rf_index N, rf_index n, bool may_dual) {
  memset(newton, 0, sizeof *newton);
  rf_index most = n < N + 64 ? n : N + 64; /* more than N tight samples are more than it needs */
  newton->dual = may_dual && N > DUAL_FROM;
  if (newton->dual && most > MOST_ACTIVE) most = MOST_ACTIVE;
  rf_index square = newton->dual ? most * (N + most) : (N + most) * (N + most);
  newton->N = N, newton->most = most;
  newton->active = RF_NEW(rf_index, n);
  newton->is_active = RF_NEW(uint8_t, n);
  newton->rows = RF_NEW(double, most *N + 4 * N + 2 * n);
  newton->matrix = RF_NEW(double, square + (N + most));
  newton->copy = RF_NEW(double, newton->dual ? 1 : square);
  newton->pivot = RF_NEW(int32_t, N + most);
  if (!newton->active || !newton->is_active || !newton->rows || !newton->matrix || !newton->copy ||
      !newton->pivot) {
    newton_free(newton);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  }
  newton->z = newton->rows + most * N;
  newton->gradient = newton->z + N;
  newton->trial = newton->gradient + N;
  newton->row = newton->trial + N;
  newton->lambda = newton->row + N;
  newton->right = newton->matrix + square;
  return RF_OK;
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
  for (rf_index j = 0; j < newton->N; j++) worst = fmax(worst, fabs(newton->trial[j]));
  return worst;
}

static double infeasibility(const Newton *newton) {
  double worst = 0;
  for (rf_index r = 0; r < newton->r; r++)
    worst = fmax(worst, fabs(rf_la_dot(newton->rows + r * newton->N, newton->z, newton->N) - 1));
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

/* [H -A^T; A 0] (dz, dlambda) = -(gradient - A^T lambda, A z - 1), least squares. */
static RfStatus newton_step(RfContext *context, const RfPolish *polish, const RfSystem *system,
                            Newton *newton, double *size) {
  rf_index N = newton->N, r = newton->r, total = N + r, d = system->d;
  memset(newton->matrix, 0, (size_t)(total * total) * sizeof(double));
  if (!objective(polish, system, newton, newton->matrix, total)) {
    *size = INFINITY;
    return RF_OK;
  }
  stationarity(newton);
  for (rf_index j = 0; j < N; j++) newton->right[j] = -newton->trial[j];
  for (rf_index k = 0; k < r; k++) {
    const double *row = newton->rows + k * N;
    for (rf_index j = 0; j < N; j++) {
      newton->matrix[j * total + N + k] = -row[j];
      newton->matrix[(N + k) * total + j] = row[j];
    }
    newton->right[N + k] = 1 - rf_la_dot(row, newton->z, N);
  }
  RfStatus status = newton_solve(context, newton, total);
  if (status) return status;
  double factor = 1;
  for (rf_index g = 0; g < polish->n_groups && !system->problem->freeze_second; g++) {
    double norm = rf_la_norm(newton->z + g * d, d), move = rf_la_norm(newton->right + g * d, d);
    if (move > 0.7 * norm) factor = fmin(factor, 0.7 * norm / move);
  }
  rf_la_axpy(newton->z, factor, newton->right, N);
  rf_la_axpy(newton->lambda, factor, newton->right + N, r);
  *size = rf_la_max_abs(newton->right, total) / factor;
  return RF_OK;
}

static RfStatus solve_active(RfContext *context, const RfPolish *polish, const RfSystem *system,
                             Newton *newton) {
  double size = INFINITY, scale;
  RfStatus status = RF_OK;
  if (newton->r > 0) { /* first multipliers by least squares */
    rf_index N = newton->N, longest = N > newton->r ? N : newton->r;
    double *A = newton->matrix, *b = newton->right;
    if (!objective(polish, system, newton, NULL, 0)) return RF_OK;
    for (rf_index k = 0; k < newton->r; k++)
      for (rf_index j = 0; j < N; j++) A[j * newton->r + k] = newton->rows[k * N + j];
    memset(b, 0, (size_t)longest * sizeof(double));
    memcpy(b, newton->gradient, (size_t)N * sizeof(double));
    status = rf_la_least_squares(context, A, b, N, newton->r, RF_TOL_RANK, NULL);
    memcpy(newton->lambda, b, (size_t)newton->r * sizeof(double));
  }
  if (newton->dual && !status)
    status = rf_polish_dual(context, newton->z, newton->lambda, newton->rows, newton->r, polish->n_groups,
                            system->d);
  for (int round = 0; round < 50 && !status && !newton->dual; round++) {
    status = newton_step(context, polish, system, newton, &size);
    if (!isfinite(size)) break;
    scale = fmax(1, rf_la_max_abs(newton->z, newton->N));
    if (size <= RF_TOL_NEWTON * scale) break;
    if (round > 8 && size <= RF_TOL_NEWTON_LATE * scale) break;
    if (round > 14 && size > RF_TOL_NEWTON_LOST * scale)
      break; /* a group vanishes, or the equations contradict each other */
  }
  if (!status && !objective(polish, system, newton, NULL, 0)) memset(newton->gradient, 0, sizeof(double));
  return status;
}

static void activate(Newton *newton, const RfPolish *polish, const RfSystem *system, rf_index i) {
  constraint_row(newton->rows + newton->r * newton->N, polish, system, i);
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
 * the tight samples (newton->active) and a first solution (newton->lambda) are given. */
static RfStatus own_multipliers(RfContext *context, RfPolish *polish, const RfSystem *system, Newton *newton,
                                rf_index count) {
  const double near = RF_TOL_OWN;
  rf_index N = newton->N, rows = N + count;
  double *x = newton->lambda, *columns = newton->matrix, *right = newton->right, sum = 0, off = 0;
  for (rf_index t = 0; t < count; t++) sum += fmax(0, x[t]);
  for (rf_index t = count - 1; t >= 0; t--) { /* the columns grow by count entries each */
    memmove(columns + t * rows, columns + t * N, (size_t)N * sizeof(double));
    memset(columns + t * rows + N, 0, (size_t)count * sizeof(double));
    columns[t * rows + N + t] = near;
    right[N + t] = near * sum * system->p[newton->active[t]];
  }
  memcpy(right, newton->gradient, (size_t)N * sizeof(double));
  RfStatus status = rf_la_nnls(context, x, NULL, NULL, columns, right, rows, count, rows, NULL);
  if (status) return status == RF_ERR_MEMORY ? status : RF_OK;
  memcpy(newton->trial, newton->gradient, (size_t)N * sizeof(double));
  for (rf_index t = 0; t < count; t++) rf_la_axpy(newton->trial, -fmax(0, x[t]), columns + t * rows, N);
  off = rf_la_max_abs(newton->trial, N);
  if (!(off <= RF_TOL_OWN_OFF * fmax(1, rf_la_max_abs(newton->gradient, N)))) return RF_OK;
  for (rf_index t = 0; t < count; t++) polish->lambda[newton->active[t]] = fmax(0, x[t]);
  return RF_OK;
}

/* Multipliers >= 0 on all tight samples by nonnegative least squares: the Newton multipliers may be one of
 * many choices and have a wrong sign where another choice has not. */
static RfStatus certify_multipliers(RfContext *context, RfPolish *polish, const RfSystem *system,
                                    Newton *newton) {
  rf_index N = newton->N, count = 0, most = newton->most;
  double *columns = newton->matrix, *x = newton->lambda;
  rf_index *tight = newton->active;
  for (rf_index i = 0; i < system->n && count < most; i++) {
    if (!(polish->margins[i] <= 1 + RF_TOL_TIGHT)) continue;
    constraint_row(columns + count * N, polish, system, i);
    tight[count++] = i;
  }
  memset(polish->lambda, 0, (size_t)system->n * sizeof(double));
  RfStatus status = RF_OK;
  if (count > 0)
    status = rf_la_nnls(context, x, newton->trial, NULL, columns, newton->gradient, N, count, N, NULL);
  if (status == RF_ERR_MEMORY || count == 0) return status;
  for (rf_index t = 0; t < count; t++) polish->lambda[tight[t]] = fmax(0, x[t]);
  polish->residual = rf_la_max_abs(newton->trial, N);
  double scale = system->problem->freeze_second ? fmax(1, rf_la_max_abs(newton->gradient, N)) : 1;
  polish->ok = polish->residual <= RF_TOL_STATIONARY * scale;
  return polish->ok ? own_multipliers(context, polish, system, newton, count) : RF_OK;
}

/* What is wrong with the present solution: an active constraint not met, the most violated of the others
 * (worst), the most negative multiplier (wrong); -1 where there is none. */
typedef struct Findings {
  bool feasible;
  rf_index worst, wrong;
} Findings;

static Findings examine(RfPolish *polish, const RfSystem *system, const Newton *newton) {
  Findings found = {.feasible = infeasibility(newton) < RF_TOL_STATIONARY, .worst = -1, .wrong = -1};
  double slack = -RF_TOL_VIOLATED, negative = -RF_TOL_VIOLATED;
  for (rf_index r = 0; r < newton->r; r++)
    if (newton->lambda[r] < negative) negative = newton->lambda[r], found.wrong = r;
  all_margins(polish, system, newton->z, newton->row);
  for (rf_index i = 0; i < system->n; i++)
    if (!newton->is_active[i] && polish->margins[i] - 1 < slack)
      slack = polish->margins[i] - 1, found.worst = i;
  return found;
}

/* Starts from the state, scaled to least margin 1, with the samples that carry weight as active. false: not
 * separated. */
static bool begin(RfPolish *polish, const RfSystem *system, Newton *newton) {
  double least = INFINITY;
  memcpy(newton->z, polish->beta, (size_t)newton->N * sizeof(double));
  all_margins(polish, system, newton->z, newton->row);
  for (rf_index i = 0; i < system->n; i++) least = fmin(least, polish->margins[i]);
  if (!(least > 0)) return false;
  rf_la_scale(newton->z, 1 / least, newton->N);
  for (rf_index i = 0; i < system->n && newton->r < newton->most; i++)
    if (system->seen[i] && system->p[i] > RF_TOL_ACTIVE) activate(newton, polish, system, i);
  return true;
}

/* Takes the samples with positive multipliers of the last certificate as the active set; false: that is no
 * progress. */
static bool restart_from_certificate(RfPolish *polish, const RfSystem *system, Newton *newton) {
  bool left_out = false;
  newton->r = 0;
  memset(newton->is_active, 0, (size_t)system->n);
  for (rf_index i = 0; i < system->n; i++) {
    if (polish->margins[i] > 1 + RF_TOL_TIGHT) continue;
    if (!(polish->lambda[i] > 0))
      left_out = true;
    else if (newton->r < newton->most)
      activate(newton, polish, system, i);
  }
  return left_out && newton->r > 0;
}

/* One solve with the groups as they are; polish->ok tells whether it worked. */
static RfStatus solve_groups(RfContext *context, RfPolish *polish, const RfSystem *system) {
  rf_index n = system->n, N = polish->n_groups * system->d;
  Newton newton;
  RfStatus status = newton_new(context, &newton, N, n, !system->problem->freeze_second);
  if (status) return status;
  polish->ok = false;
  bool going = begin(polish, system, &newton);
  for (rf_index round = 0; round < 3 * n + 10 && going && !status; round++) {
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

/* ---- result -------------------------------------------------------------------------------- */

/* |theta/|theta| - limit| over the live units, the limit having the state's split inside each group. */
static double distance_to_state(const RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  double top = largest_rho(system), norm_state = 0, norm_limit = 0, inner = 0;
  bool frozen = system->problem->freeze_second;
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    rf_index g = polish->group_of[u];
    const double *w = system->y + u * d;
    double a = system->y[units * d + u], size = exp(system->y[units * (d + 1) + u] - top);
    double norm2 = rf_la_dot(w, w, d) + (frozen ? 0 : a * a);
    norm_state += size * size * norm2;
    if (g < 0) continue;
    const double *beta = polish->beta + g * d;
    double length = rf_la_norm(beta, d);
    if (length == 0) continue;
    if (frozen) {
      double factor = fabs(a) / polish->groups[g].weight;
      inner += size * factor * rf_la_dot(w, beta, d);
      norm_limit += factor * factor * length * length;
    } else { /* w = split beta/sqrt|beta|, a = +-split sqrt|beta|, split^2 = size^2 / sum size^2 */
      double split = size / sqrt(polish->groups[g].share);
      inner += size * split * (rf_la_dot(w, beta, d) / sqrt(length) + fabs(a) * sqrt(length));
      norm_limit += 2 * split * split * length;
    }
  }
  if (!(norm_state > 0) || !(norm_limit > 0)) return INFINITY;
  /* shares are relative to their sum: the scale of `split` drops out */
  double cosine = inner / sqrt(norm_state * norm_limit);
  return sqrt(fmax(0, 2 - 2 * cosine));
}

/* Under settled weights a unit of group g follows the field along beta: of its size e^rho the part
 * (|a| + w.beta/|beta|)/sqrt(2) grows with the group, the rest dies out. */
static void final_sizes(RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  for (rf_index u = 0; u < units; u++) {
    rf_index g = polish->group_of[u];
    polish->size[u] = system->y[units * (d + 1) + u];
    if (g < 0 || system->problem->freeze_second) continue;
    const double *beta = polish->beta + g * d;
    double along = rf_la_dot(system->y + u * d, beta, d) / rf_la_norm(beta, d);
    double part = (fabs(system->y[units * d + u]) + along) / sqrt(2.0);
    if (part > 0) polish->size[u] += log(part);
  }
}

/* A group that the solution makes vanish: with multipliers that are not unique nonnegative least squares
 * finds some that make it stationary at any size. -1: none. */
static rf_index vanished_group(const RfPolish *polish, rf_index d) {
  double total = 0, least = INFINITY;
  rf_index at = -1;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double length = rf_la_norm(polish->beta + g * d, d);
    total += length;
    if (length < least) least = length, at = g;
  }
  return least <= RF_TOL_VANISHED * total ? at : -1;
}

/* Does some choice of slopes in [leak,1] hold the group on its hyperplanes under the weights system->c? */
static RfStatus slides_hold(const RfSystem *system, rf_index unit, double *slopes, bool *hold) {
  const RfSlide *slide = &system->slide[unit];
  double leak = system->problem->leak, gap = 0;
  if (rf_slide_dependent(slide)) {
    RfStatus status = rf_system_slide_gap(system, unit, true, &gap, slopes);
    *hold = gap <= RF_TOL_SLOPE_LIMIT;
    return status;
  }
  rf_system_slide_slopes(system, unit, slopes);
  *hold = true;
  for (rf_index z = 0; z < slide->n_planes; z++)
    if (!(slopes[z] >= leak - RF_TOL_SLOPE_LIMIT && slopes[z] <= 1 + RF_TOL_SLOPE_LIMIT)) *hold = false;
  return RF_OK;
}

/* Is group g of the solution on the sides it was solved with? */
static bool sides_hold(const RfPolish *polish, const RfSystem *system, rf_index g) {
  rf_index n = system->n, d = system->d;
  const double *beta = polish->beta + g * d;
  double length = rf_la_norm(beta, d);
  for (rf_index i = 0; i < n && system->problem->leak < 1; i++) {
    double across = rf_la_dot(beta, system->problem->X + i * d, d);
    if (system->sigma[polish->groups[g].unit * n + i] * across <
        -RF_TOL_SIDE_LIMIT * length * system->x_norm[i])
      return false;
  }
  return true;
}

/* The point counts only when every group is on its sides, and every slide legal under the multipliers. */
static RfStatus check_slides(RfContext *context, RfPolish *polish, RfSystem *system) {
  rf_index n = system->n;
  double *c = system->c, *own = RF_NEW(double, 2 * n + system->d);
  if (!own) return rf_fail(context, RF_ERR_MEMORY, "out of memory for slides");
  RfStatus status = RF_OK;
  for (rf_index i = 0; i < n; i++)
    own[i] = (system->seen[i] ? polish->lambda[i] : RF_TOL_WALL_LIMIT) * system->problem->y[i];
  system->c = own;
  for (rf_index g = 0; g < polish->n_groups && polish->ok && !status; g++) {
    polish->ok = sides_hold(polish, system, g);
    if (polish->ok && system->slide[polish->groups[g].unit].n_on > 0)
      status = slides_hold(system, polish->groups[g].unit, own + n, &polish->ok);
  }
  system->c = c;
  rf_free(own);
  return status;
}

RfStatus rf_polish(RfContext *context, RfPolish *polish, RfSystem *system, double share_min) {
  rf_index d = system->d;
  RfStatus status = make_groups(context, polish, system);
  if (status) return status;
  rf_system_fields(system, system->y);
  while (polish->n_groups > 1) {
    rf_index g = smallest_group(polish);
    if (polish->groups[g].share >= share_min) break;
    drop_group(polish, g, d);
  }
  if (polish->n_groups == 0) return RF_OK;
  polish->beta = RF_NEW(double, polish->n_groups *d);
  if (!polish->beta) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  for (;;) {
    group_vectors(polish, system);
    status = solve_groups(context, polish, system);
    if (status || polish->n_groups == 1) break;
    rf_index g = polish->ok && !system->problem->freeze_second ? vanished_group(polish, d) : -1;
    if (polish->ok && g < 0) break;
    if (g < 0) g = smallest_group(polish);
    if (!polish->ok && polish->groups[g].share > RF_TOL_SHARE_DROP) break;
    drop_group(polish, g, d);
  }
  if (!status && polish->ok) status = check_slides(context, polish, system);
  if (status) return status;
  true_weights(polish, system->n, d);
  polish->objective = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double length = rf_la_norm(polish->beta + g * d, d);
    polish->objective += system->problem->freeze_second ? 0.5 * length * length : length;
  }
  polish->distance = distance_to_state(polish, system);
  final_sizes(polish, system);
  return RF_OK;
}

/* The equations of the polish in the multipliers. Stationarity says u_g = b_g v_g with v_g = A_g^T lambda,
 * |v_g| = 1, A_g the rows of the active samples as group g sees them; what is left is
 *
 *   sum_g b_g A_g v_g = 1 (active samples),   |v_g|^2 = 1 (groups),
 *
 * of order samples + groups instead of samples + groups x d. Newton's method, its matrix
 * [A diag(b) A^T, A_g v_g; (A_g v_g)^T, 0] symmetric. */
#include "flow/far/polish_dual.h"

#include <math.h>
#include <string.h>

#include "flow/flow_tolerances.h"
#include "la/la.h"

typedef struct Dual {
  rf_index r, groups, d, N;
  const double *rows; /* r of N */
  double *lambda, *b; /* r; groups */
  double *v, *images; /* N: A_g^T lambda; r x groups: A_g v_g */
  double *scaled, *matrix, *copy, *right;
  int32_t *pivot;
} Dual;

static void dual_free(Dual *dual) {
  rf_free(dual->b);
  rf_free(dual->pivot);
}

static RfStatus dual_new(RfContext *context, Dual *dual, const double *rows, double *lambda, rf_index r,
                         rf_index groups, rf_index d) {
  rf_index N = groups * d, order = r + groups;
  *dual = (Dual){.r = r, .groups = groups, .d = d, .N = N, .rows = rows};
  dual->lambda = lambda;
  dual->b = RF_NEW(double, groups + N + r * groups + r * N + 2 * order * order + order);
  dual->pivot = RF_NEW(int32_t, order);
  if (!dual->b || !dual->pivot) {
    dual_free(dual);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  }
  dual->v = dual->b + groups;
  dual->images = dual->v + N;
  dual->scaled = dual->images + r * groups;
  dual->matrix = dual->scaled + r * N;
  dual->copy = dual->matrix + order * order;
  dual->right = dual->copy + order * order;
  return RF_OK;
}

/* v, images and the right-hand side at lambda, b. */
static void evaluate(Dual *dual) {
  rf_index r = dual->r, d = dual->d, groups = dual->groups;
  rf_la_combine(dual->v, dual->rows, dual->lambda, r, dual->N, dual->N);
  for (rf_index k = 0; k < r; k++) {
    double sum = 0;
    for (rf_index g = 0; g < groups; g++) {
      double image = rf_la_quick_dot(dual->rows + k * dual->N + g * d, dual->v + g * d, d);
      dual->images[k * groups + g] = image;
      sum += dual->b[g] * image;
    }
    dual->right[k] = 1 - sum;
  }
  for (rf_index g = 0; g < groups; g++)
    dual->right[r + g] = 0.5 * (1 - rf_la_quick_dot(dual->v + g * d, dual->v + g * d, d));
}

static void fill_matrix(Dual *dual) {
  rf_index r = dual->r, d = dual->d, groups = dual->groups, order = r + groups;
  for (rf_index k = 0; k < r; k++)
    for (rf_index g = 0; g < groups; g++)
      for (rf_index j = g * d; j < (g + 1) * d; j++)
        dual->scaled[k * dual->N + j] = dual->b[g] * dual->rows[k * dual->N + j];
  rf_la_product_nt(dual->copy, dual->scaled, dual->rows, r, r, dual->N);
  memset(dual->matrix, 0, (size_t)(order * order) * sizeof(double));
  for (rf_index k = 0; k < r; k++) {
    memcpy(dual->matrix + k * order, dual->copy + k * r, (size_t)r * sizeof(double));
    for (rf_index g = 0; g < groups; g++)
      dual->matrix[k * order + r + g] = dual->matrix[(r + g) * order + k] = dual->images[k * groups + g];
  }
  memcpy(dual->copy, dual->matrix, (size_t)(order * order) * sizeof(double));
}

/* By LU factors where the pivots say that the matrix is far from singular, else the solution of least norm.
 */
static RfStatus solve(RfContext *context, Dual *dual) {
  rf_index order = dual->r + dual->groups;
  double least = INFINITY, most = 0;
  bool regular = rf_la_lu(dual->copy, dual->pivot, order);
  for (rf_index j = 0; j < order && regular; j++) {
    least = fmin(least, fabs(dual->copy[j * order + j]));
    most = fmax(most, fabs(dual->copy[j * order + j]));
  }
  if (!regular || !(least > RF_TOL_PIVOT * RF_TOL_PIVOT * most))
    return rf_la_least_squares(context, dual->matrix, dual->right, order, order, RF_TOL_RANK, NULL);
  rf_la_lu_solve(dual->copy, dual->pivot, dual->right, order);
  return RF_OK;
}

RfStatus rf_polish_dual(RfContext *context, double *z, double *lambda, const double *rows, rf_index r,
                        rf_index groups, rf_index d) {
  Dual dual;
  RfStatus status = dual_new(context, &dual, rows, lambda, r, groups, d);
  if (status) return status;
  for (rf_index g = 0; g < groups; g++) dual.b[g] = rf_la_norm(z + g * d, d);
  for (int round = 0; round < 60 && !status; round++) {
    double factor = 1, step = 0, scale = rf_la_max_abs(lambda, r);
    evaluate(&dual);
    fill_matrix(&dual);
    status = rf_context_stop(context) ? RF_INTERRUPTED : solve(context, &dual);
    if (status) break;
    for (rf_index g = 0; g < groups; g++) {
      double move = fabs(dual.right[r + g]);
      if (move > 0.5 * dual.b[g]) factor = fmin(factor, 0.5 * dual.b[g] / move);
      step = fmax(step, move / dual.b[g] * scale);
    }
    step = fmax(step, rf_la_max_abs(dual.right, r));
    if (!isfinite(step)) break;
    rf_la_axpy(lambda, factor, dual.right, r);
    rf_la_axpy(dual.b, factor, dual.right + r, groups);
    if (step <= RF_TOL_NEWTON * scale || (round > 8 && step <= RF_TOL_NEWTON_LATE * scale)) break;
    if (round > 20 && step > RF_TOL_NEWTON_LOST * scale) break;
  }
  if (!status) evaluate(&dual);
  for (rf_index g = 0; g < groups && !status; g++)
    for (rf_index j = g * d; j < (g + 1) * d; j++) z[j] = dual.b[g] * dual.v[j];
  dual_free(&dual);
  return status;
}

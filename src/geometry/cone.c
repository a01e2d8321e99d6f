/* The cones S+, S- and S_dead: a witness, or a certificate that the cone is empty.
 *
 * With unit rows u_i, "u_i.w > 0 on P and u_j.w <= 0 on N" is one nonnegative least squares problem: columns
 * (u_i;1) for P and (-u_j;0) for N, right side (0;1). With residual (r;t), t = |(r;t)|^2 and the optimality
 * conditions give u_i.(-r) >= t and u_j.(-r) <= 0: for t > 0 the witness is -r; for t = 0 the solution is a
 * combination of P that equals one of N (Motzkin's alternative). Putting N into the strict part first gives
 * the witness of largest margin.
 *
 * S_dead, not strictly: with f = -sum u_i and columns u_i the residual r has u_i.r <= 0 for all i. r != 0 is
 * a witness; r = 0 gives a strictly positive combination equal to 0 (Stiemke's alternative), which together
 * with full rank leaves only w = 0. */
#include "geometry_internal.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* Witnesses of cones thinner than this are refined. */
static const double thin = 1e-3;

typedef struct ConeWork {
  double *unit;              /* n rows of d, zero rows stay 0 */
  double *norms;             /* n */
  double *columns;           /* n columns of d+1 */
  double *target, *residual; /* d+1 */
  double *weights;           /* n */
  int8_t *side;              /* n: +1 must be > 0, -1 must be <= 0, 0 zero row */
} ConeWork;

void rf_cone_free(RfCone *cone) {
  if (!cone) return;
  rf_free(cone->witness);
  rf_free(cone->certificate);
  *cone = (RfCone){.nonempty = RF_UNKNOWN};
}

static void work_free(ConeWork *work) {
  rf_free(work->unit);
  rf_free(work->norms);
  rf_free(work->columns);
  rf_free(work->target);
  rf_free(work->residual);
  rf_free(work->weights);
  rf_free(work->side);
}

static RfStatus work_new(RfContext *context, ConeWork *work, const double *X, rf_index n, rf_index d) {
  rf_index entries = 0;
  bool fits = rf_multiply_sizes(&entries, n, d + 1);
  *work = (ConeWork){.unit = fits ? RF_NEW(double, entries) : NULL,
                     .norms = RF_NEW(double, n),
                     .columns = fits ? RF_NEW(double, entries) : NULL,
                     .target = RF_NEW(double, d + 1),
                     .residual = RF_NEW(double, d + 1),
                     .weights = RF_NEW(double, n),
                     .side = RF_NEW(int8_t, n)};
  if (!work->unit || !work->norms || !work->columns || !work->target || !work->residual || !work->weights ||
      !work->side)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the cones of %lld samples", (long long)n);
  for (rf_index i = 0; i < n; i++) {
    double norm = work->norms[i] = rf_la_norm(X + i * d, d);
    for (rf_index k = 0; k < d && norm > 0; k++) work->unit[i * d + k] = X[i * d + k] / norm;
  }
  return RF_OK;
}

/* Where w stands in the cone: 2 strictly inside, 1 inside with zeros where they are allowed, 0 outside. */
static int place(const RfContext *context, const ConeWork *work, const double *w, rf_index n, rf_index d) {
  double norm = rf_la_norm(w, d), zero = context->tol.zero * norm;
  int result = norm > 0 ? 2 : 0;
  for (rf_index i = 0; i < n && result > 0; i++) {
    if (work->norms[i] == 0) {
      if (work->side[i] > 0) result = 0;
      continue;
    }
    double value = work->side[i] * rf_la_dot(w, work->unit + i * d, d);
    if (value <= zero) result = work->side[i] < 0 && value >= -zero ? 1 : 0;
  }
  return result;
}

static RfStatus accept(RfContext *context, RfCone *cone, const double *w, bool interior, rf_index d) {
  double norm = rf_la_norm(w, d);
  cone->witness = rf_copy_doubles(w, d);
  if (!cone->witness) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  rf_la_scale(cone->witness, 1 / norm, d);
  cone->nonempty = RF_YES;
  cone->interior = interior;
  return RF_OK;
}

/* weights refer to unit rows; the certificate to the rows themselves. */
static RfStatus refuse(RfContext *context, RfCone *cone, const ConeWork *work, const double *X,
                       RfConeKind kind, rf_index n, rf_index d) {
  double *sum = work->residual, total = 0, scale = 0;
  cone->certificate = RF_NEW(double, n);
  if (!cone->certificate) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  memset(sum, 0, (size_t)d * sizeof *sum);
  for (rf_index i = 0; i < n; i++) {
    cone->certificate[i] = work->norms[i] > 0 ? work->weights[i] / work->norms[i] : work->weights[i];
    total += cone->certificate[i];
  }
  for (rf_index i = 0; i < n; i++) {
    double value = cone->certificate[i] /= total;
    rf_la_axpy(sum, kind == RF_CONE_DEAD ? value : value * work->side[i], X + i * d, d);
    scale += value * work->norms[i];
  }
  cone->nonempty = RF_NO;
  cone->residual = scale > 0 ? rf_la_norm(sum, d) / scale : 0;
  return RF_OK;
}

/* The witness -r has relative error eps/|r|: thin cones need a second look. The rows with weight are tight,
 * so w is the least vector with column . w = 1 (strict rows) or 0 on them. Kept when no row gets worse than
 * before. */
RfStatus rf_separator_refine(RfContext *context, double *w, const double *columns, const double *weights,
                             rf_index count, rf_index dim) {
  rf_index tight = 0, rank = 0;
  for (rf_index i = 0; i < count; i++) tight += weights[i] > 0;
  rf_index longest = tight > dim ? tight : dim;
  double *rows = RF_NEW(double, tight *dim), *x = RF_NEW(double, longest);
  RfStatus status = RF_OK;
  if (!rows || !x) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
    goto done;
  }
  tight = 0;
  for (rf_index i = 0; i < count; i++) {
    if (!(weights[i] > 0)) continue;
    memcpy(rows + tight * dim, columns + i * (dim + 1), (size_t)dim * sizeof *rows);
    x[tight++] = columns[i * (dim + 1) + dim];
  }
  status = rf_la_least_squares(context, rows, x, tight, dim, context->tol.rank / 1e3, &rank);
  if (status) goto done;
  double before = INFINITY, after = INFINITY, old = rf_la_norm(w, dim), length = rf_la_norm(x, dim);
  for (rf_index i = 0; i < count; i++) {
    before = fmin(before, rf_la_dot(columns + i * (dim + 1), w, dim) / old);
    after = fmin(after, rf_la_dot(columns + i * (dim + 1), x, dim) / length);
  }
  if (length > 0 && (after >= before || !(old > 0)))
    for (rf_index k = 0; k < dim; k++) w[k] = x[k] / length;
done:
  rf_free(rows);
  rf_free(x);
  return status;
}

/* The least squares problem of the top of this file; strict puts the nonstrict side into the strict part. On
 * return the first d entries of work->residual are the witness -r and *gap = |(r;t)|. */
static RfStatus separate(RfContext *context, ConeWork *work, double *gap, bool strict, rf_index n,
                         rf_index d) {
  RfLeastSquaresInfo info;
  for (rf_index i = 0; i < n; i++) {
    double *column = work->columns + i * (d + 1);
    for (rf_index k = 0; k < d; k++) column[k] = work->side[i] * work->unit[i * d + k];
    column[d] = work->side[i] > 0 || (strict && work->norms[i] > 0) ? 1 : 0;
  }
  memset(work->target, 0, (size_t)d * sizeof(double));
  work->target[d] = 1;
  RfStatus status = rf_la_nnls(context, work->weights, work->residual, &info, work->columns, work->target,
                               d + 1, n, d + 1, NULL);
  *gap = info.residual;
  rf_la_scale(work->residual, -1, d);
  if (!status && *gap > context->tol.emptiness && *gap < thin)
    status = rf_separator_refine(context, work->residual, work->columns, work->weights, n, d);
  return status;
}

/* The cone of w with the signs of work->side, at least one of them +1. */
static RfStatus find_sided(RfContext *context, RfCone *cone, ConeWork *work, const double *X, rf_index n,
                           rf_index d) {
  double gap = 0;
  for (int strict = 1; strict >= 0; strict--) {
    RfStatus status = separate(context, work, &gap, strict, n, d);
    if (status) return status;
    int where = place(context, work, work->residual, n, d);
    if (gap > context->tol.emptiness && where > (strict ? 1 : 0))
      return accept(context, cone, work->residual, where == 2, d);
  }
  if (gap <= context->tol.emptiness) return refuse(context, cone, work, X, RF_CONE_POSITIVE, n, d);
  return RF_OK; /* between the two tolerances: not decided */
}

/* A unit vector orthogonal to all rows, when they do not span. */
static RfStatus null_direction(RfContext *context, double *w, bool *found, const ConeWork *work, rf_index n,
                               rf_index d) {
  rf_index least = n < d ? n : d, rank = 0;
  double *values = RF_NEW(double, least + 1), *right = RF_NEW(double, (least + 1) * d);
  RfStatus status = RF_ERR_MEMORY;
  *found = false;
  if (!values || !right) {
    rf_fail(context, status, "out of memory for the null space of %lld columns", (long long)d);
    goto done;
  }
  status = rf_la_singular(context, values, right, work->unit, n, d);
  if (status) goto done;
  while (rank < least && values[rank] > context->tol.rank * values[0]) rank++;
  if (rank == d) goto done;
  *found = true;
  double best = 0;
  for (rf_index k = 0; k < d; k++) { /* the unit vector e_k that the row space covers least, projected */
    double covered = 0;
    for (rf_index j = 0; j < rank; j++) covered += right[j * d + k] * right[j * d + k];
    if (1 - covered <= best) continue;
    best = 1 - covered;
    memset(w, 0, (size_t)d * sizeof *w);
    w[k] = 1;
  }
  for (int pass = 0; pass < 2; pass++)
    for (rf_index j = 0; j < rank; j++) rf_la_axpy(w, -rf_la_dot(w, right + j * d, d), right + j * d, d);
done:
  rf_free(values);
  rf_free(right);
  return status;
}

static RfStatus find_dead(RfContext *context, RfCone *cone, ConeWork *work, const double *X, rf_index n,
                          rf_index d) {
  double gap = 0;
  bool found;
  RfLeastSquaresInfo info;
  RfStatus status = separate(context, work, &gap, true, n, d);
  if (status) return status;
  if (gap > context->tol.emptiness && place(context, work, work->residual, n, d) == 2)
    return accept(context, cone, work->residual, true, d);
  status = null_direction(context, work->target, &found, work, n, d);
  if (status) return status;
  if (found) return accept(context, cone, work->target, false, d);
  memset(work->target, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < n; i++) rf_la_axpy(work->target, -1, work->unit + i * d, d);
  status = rf_la_nnls(context, work->weights, work->residual, &info, work->unit, work->target, d, n, d, NULL);
  if (status) return status;
  if (info.residual > context->tol.emptiness * (double)n)
    return place(context, work, work->residual, n, d) > 0 ? accept(context, cone, work->residual, false, d)
                                                          : RF_OK;
  for (rf_index i = 0; i < n; i++) work->weights[i] = work->norms[i] > 0 ? work->weights[i] + 1 : 0;
  return refuse(context, cone, work, X, RF_CONE_DEAD, n, d);
}

/* A zero row that must be positive: the certificate is that row alone. */
static rf_index impossible_row(const ConeWork *work, rf_index n) {
  for (rf_index i = 0; i < n; i++)
    if (work->side[i] > 0 && work->norms[i] == 0) return i;
  return -1;
}

RfStatus rf_geometry_cone(RfContext *context, RfCone *cone, RfConeKind kind, const double *X, const double *y,
                          const double *hint, rf_index n, rf_index d) {
  *cone = (RfCone){.nonempty = RF_UNKNOWN};
  if (d < 1) return rf_fail(context, RF_ERR_USAGE, "cones need at least one column");
  ConeWork work = {0};
  rf_index strict = 0;
  RfStatus status = work_new(context, &work, X, n, d);
  if (status) goto done;
  for (rf_index i = 0; i < n; i++) {
    bool own = kind == RF_CONE_DEAD ? false : (kind == RF_CONE_POSITIVE) == (y[i] > 0);
    work.side[i] = own ? 1 : -1;
    strict += own;
  }
  rf_index impossible = impossible_row(&work, n);
  if (impossible >= 0) {
    work.weights[impossible] = 1;
    status = refuse(context, cone, &work, X, kind, n, d);
  } else if (hint && place(context, &work, hint, n, d) == 2) {
    status = accept(context, cone, hint, true, d);
  } else {
    status =
        strict > 0 ? find_sided(context, cone, &work, X, n, d) : find_dead(context, cone, &work, X, n, d);
  }
done:
  work_free(&work);
  if (status) rf_cone_free(cone);
  return status;
}

/* Hyperplanes through the origin: the rows of a dataset as distinct unit normals in their row space, and the
 * restriction of an arrangement to one of its hyperplanes. Both merge parallel normals: sorted by
 * |projection| on a fixed direction, parallel ones are neighbours. Each normal carries a bound on its
 * rounding error, which grows when a restriction shortens it, so that degenerate data stay degenerate after
 * several restrictions. */
#include "geometry_internal.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

RfStatus rf_normals_new(RfContext *context, RfNormals *normals, rf_index count, rf_index dim) {
  rf_index entries = 0;
  bool fits = rf_multiply_sizes(&entries, count, dim);
  *normals = (RfNormals){.count = count,
                         .dim = dim,
                         .normal = fits ? RF_NEW(double, entries) : NULL,
                         .noise = RF_NEW(double, count)};
  if (normals->normal && normals->noise) return RF_OK;
  rf_normals_free(normals);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld hyperplanes", (long long)count);
}

void rf_normals_free(RfNormals *normals) {
  rf_free(normals->normal);
  rf_free(normals->noise);
  *normals = (RfNormals){0};
}

/* ---- merging ------------------------------------------------------------------------------------ */

typedef struct Merge {
  RfNormals *normals; /* in: all; out: distinct ones in front, count changed */
  rf_index *rep, *order;
  int8_t *sign;
  double *project;
  double zero; /* sine of the angle below which two normals are one */
  bool merged, doubtful;
} Merge;

/* Shell sort with Ciura's gaps: no recursion, no extra memory, fast on the short lists of deep restrictions.
 */
static void sort_by_projection(const Merge *merge) {
  rf_index count = merge->normals->count, *order = merge->order, gap = 1;
  const double *key = merge->project;
  while (gap < count / 3) gap = 9 * gap / 4 + 1;
  for (;; gap = gap * 4 / 9 > 1 ? gap * 4 / 9 : 1) {
    for (rf_index i = gap; i < count; i++) {
      rf_index value = order[i], at = i;
      for (; at >= gap && key[order[at - gap]] > key[value]; at -= gap) order[at] = order[at - gap];
      order[at] = value;
    }
    if (gap == 1) return;
  }
}

/* |a - b| or |a + b|, whichever is smaller: the sine of the angle between the lines, to first order. */
static double line_distance(const double *a, const double *b, rf_index dim, int8_t *sign) {
  double minus = 0, plus = 0;
  for (rf_index k = 0; k < dim; k++) {
    minus += (a[k] - b[k]) * (a[k] - b[k]);
    plus += (a[k] + b[k]) * (a[k] + b[k]);
  }
  *sign = plus < minus ? -1 : 1;
  return sqrt(plus < minus ? plus : minus);
}

/* Any direction will do; entries of modulus below 1 keep |projection difference| <= sqrt(dim) |difference|.
 */
static const double probe[8] = {0.8319, -0.4207, 0.6733, 0.9461, -0.5519, 0.3631, -0.7879, 0.4973};

/* rep[i] = the earliest normal parallel to i, itself when it is the first. */
static void find_parallels(Merge *merge) {
  const RfNormals *normals = merge->normals;
  rf_index count = normals->count, dim = normals->dim;
  for (rf_index i = 0; i < count; i++) {
    merge->rep[i] = merge->order[i] = i;
    merge->sign[i] = 1;
    double sum = 0;
    for (rf_index k = 0; k < dim; k++) sum += normals->normal[i * dim + k] * probe[k & 7];
    merge->project[i] = fabs(sum);
  }
  sort_by_projection(merge);
  double reach = sqrt((double)dim);
  for (rf_index at = 1; at < count; at++) {
    rf_index i = merge->order[at];
    for (rf_index back = at - 1; back >= 0; back--) {
      rf_index j = merge->order[back];
      double noise = normals->noise[i] + normals->noise[j], limit = fmax(merge->zero, 8 * noise);
      if (merge->project[i] - merge->project[j] > 4 * limit * reach) break;
      int8_t sign;
      double distance = line_distance(normals->normal + i * dim, normals->normal + j * dim, dim, &sign);
      /* clearly one line: rounding explains the distance; clearly two: well above the limit */
      if (distance > fmax(merge->zero / 30, 4 * noise) && distance < 4 * limit) merge->doubtful = true;
      if (distance > limit) continue;
      rf_index low = i < j ? i : j, high = i < j ? j : i; /* point the later one at the earlier one */
      if (merge->rep[high] == high || low < merge->rep[high]) merge->rep[high] = low;
    }
  }
}

static void merge_parallels(Merge *merge) {
  RfNormals *normals = merge->normals;
  rf_index dim = normals->dim, kept = 0;
  find_parallels(merge);
  for (rf_index i = 0; i < normals->count; i++) { /* rep[i] <= i: earlier entries are final */
    rf_index first = merge->rep[i];
    if (first == i) {
      if (kept != i) {
        memcpy(normals->normal + kept * dim, normals->normal + i * dim, (size_t)dim * sizeof(double));
        normals->noise[kept] = normals->noise[i];
      }
      merge->rep[i] = kept++;
    } else {
      merge->merged = true;
      merge->rep[i] = merge->rep[first];
      (void)line_distance(normals->normal + i * dim, normals->normal + merge->rep[i] * dim, dim,
                          &merge->sign[i]);
    }
  }
  normals->count = kept;
}

/* ---- the planes of a dataset -------------------------------------------------------------------- */

void rf_planes_free(RfPlanes *planes) {
  rf_free(planes->basis);
  rf_free(planes->plane_of);
  rf_free(planes->sign_of);
  rf_normals_free(&planes->planes);
  *planes = (RfPlanes){0};
}

void rf_planes_lift(double *out, const RfPlanes *planes, const double *w) {
  if (planes->basis)
    rf_la_combine(out, planes->basis, w, planes->rank, planes->d, planes->d);
  else
    memcpy(out, w, (size_t)planes->d * sizeof *out);
}

void rf_planes_lower(double *out, const RfPlanes *planes, const double *w) {
  if (planes->basis)
    rf_la_apply(out, planes->basis, w, planes->rank, planes->d, planes->d);
  else
    memcpy(out, w, (size_t)planes->d * sizeof *out);
}

/* Nonzero rows, unit length, in order. */
static void unit_rows(RfPlanes *planes, double *unit, const double *X) {
  rf_index d = planes->d;
  planes->rows = 0;
  for (rf_index i = 0; i < planes->n; i++) {
    double norm = rf_la_norm(X + i * d, d);
    planes->plane_of[i] = norm > 0 ? planes->rows : -1;
    if (!(norm > 0)) continue;
    double *row = unit + planes->rows++ * d;
    for (rf_index k = 0; k < d; k++) row[k] = X[i * d + k] / norm;
    double again = rf_la_norm(row, d); /* subnormal rows lose digits in the first division */
    for (rf_index k = 0; k < d; k++) row[k] /= again;
  }
}

static RfStatus find_basis(RfContext *context, RfPlanes *planes, const double *unit) {
  rf_index least = planes->rows < planes->d ? planes->rows : planes->d;
  double *values = RF_NEW(double, least);
  double *right = RF_NEW_TABLE(double, least, planes->d);
  RfStatus status = RF_OK;
  if (!values || !right)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a row space");
  else
    status = rf_la_singular(context, values, right, unit, planes->rows, planes->d);
  if (!status)
    while (planes->rank < least && values[planes->rank] > context->tol.rank * values[0]) planes->rank++;
  rf_free(values);
  if (!status && planes->rank < planes->d)
    planes->basis = right;
  else
    rf_free(right);
  return status;
}

static RfStatus merge_rows(RfContext *context, RfPlanes *planes) {
  rf_index rows = planes->rows;
  Merge merge = {.normals = &planes->planes,
                 .rep = RF_NEW(rf_index, rows),
                 .order = RF_NEW(rf_index, rows),
                 .sign = RF_NEW(int8_t, rows),
                 .project = RF_NEW(double, rows),
                 .zero = context->tol.zero};
  RfStatus status = RF_OK;
  if (!merge.rep || !merge.order || !merge.sign || !merge.project) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld hyperplanes", (long long)rows);
    goto done;
  }
  merge_parallels(&merge);
  planes->doubtful = merge.doubtful;
  for (rf_index i = 0; i < planes->n; i++) {
    rf_index row = planes->plane_of[i];
    if (row < 0) continue;
    planes->plane_of[i] = merge.rep[row];
    planes->sign_of[i] = merge.sign[row];
  }
done:
  rf_free(merge.rep);
  rf_free(merge.order);
  rf_free(merge.sign);
  rf_free(merge.project);
  return status;
}

RfStatus rf_planes_new(RfContext *context, RfPlanes *planes, const double *X, rf_index n, rf_index d) {
  rf_index entries = 0;
  *planes = (RfPlanes){.n = n, .d = d};
  if (n < 0 || d < 1) return rf_fail(context, RF_ERR_USAGE, "hyperplanes need at least one column");
  if (!rf_multiply_sizes(&entries, n, d)) return rf_fail(context, RF_ERR_MEMORY, "matrix too large");
  double *unit = RF_NEW(double, entries);
  planes->plane_of = RF_NEW(rf_index, n);
  planes->sign_of = RF_NEW(int8_t, n);
  RfStatus status = RF_OK;
  if (!unit || !planes->plane_of || !planes->sign_of) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld hyperplanes", (long long)n);
    goto done;
  }
  unit_rows(planes, unit, X);
  status = find_basis(context, planes, unit);
  if (!status) status = rf_normals_new(context, &planes->planes, planes->rows, planes->rank);
  if (status) goto done;
  if (planes->basis)
    rf_la_product_nt(planes->planes.normal, unit, planes->basis, planes->rows, planes->rank, d);
  else
    memcpy(planes->planes.normal, unit, (size_t)(planes->rows * d) * sizeof(double));
  for (rf_index i = 0; i < planes->rows; i++) {
    double *normal = planes->planes.normal + i * planes->rank;
    planes->planes.noise[i] = DBL_EPSILON * (planes->basis ? 4 : 1);
    rf_la_scale(normal, 1 / rf_la_norm(normal, planes->rank), planes->rank);
  }
  status = merge_rows(context, planes);
done:
  rf_free(unit);
  if (status) rf_planes_free(planes);
  return status;
}

/* ---- restriction -------------------------------------------------------------------------------- */

RfStatus rf_restriction_new(RfContext *context, RfRestriction *work, rf_index count, rf_index dim) {
  *work = (RfRestriction){.rep = RF_NEW(rf_index, count),
                          .sign = RF_NEW(int8_t, count),
                          .length = RF_NEW(double, count),
                          .reflector = RF_NEW(double, dim),
                          .project = RF_NEW(double, count),
                          .order = RF_NEW(rf_index, count)};
  RfStatus status = rf_normals_new(context, &work->child, count, dim - 1);
  if (!status &&
      (!work->rep || !work->sign || !work->length || !work->reflector || !work->project || !work->order))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a restriction");
  if (status) rf_restriction_free(work);
  return status;
}

void rf_restriction_free(RfRestriction *work) {
  rf_normals_free(&work->child);
  rf_free(work->rep);
  rf_free(work->sign);
  rf_free(work->length);
  rf_free(work->reflector);
  rf_free(work->project);
  rf_free(work->order);
  *work = (RfRestriction){0};
}

void rf_restrict(RfRestriction *work, const RfNormals *parent, rf_index count, rf_index onto, double zero) {
  rf_index dim = parent->dim;
  double *v = work->reflector; /* scaled to |v|^2 = 2, so that the reflection is x - v (v.x) */
  memcpy(v, parent->normal + onto * dim, (size_t)dim * sizeof *v);
  double scale = 1 / sqrt(1 + fabs(v[0]));
  v[0] += v[0] >= 0 ? 1 : -1;
  for (rf_index k = 0; k < dim; k++) v[k] *= scale;
  for (rf_index i = 0; i < count; i++) {
    const double *x = parent->normal + i * dim;
    double *child = work->child.normal + i * (dim - 1), dot = 0, square = 0;
    for (rf_index k = 0; k < dim; k++) dot += v[k] * x[k];
    for (rf_index k = 1; k < dim; k++) {
      child[k - 1] = x[k] - dot * v[k];
      square += child[k - 1] * child[k - 1];
    }
    double inverse = 1 / (work->length[i] = sqrt(square));
    for (rf_index k = 0; k < dim - 1; k++) child[k] *= inverse;
    /* x - u (u.x): the errors of x and, times |u.x|, of u, and the rounding of this step, as independent ones
     */
    double own = parent->noise[i], other = parent->noise[onto], shared = fmax(0, 1 - square);
    work->child.noise[i] = sqrt(own * own + shared * other * other + DBL_EPSILON * DBL_EPSILON) * inverse;
  }
  work->child.count = count;
  work->child.dim = dim - 1;
  Merge merge = {&work->child, work->rep, work->order, work->sign, work->project, zero, false, false};
  merge_parallels(&merge);
  work->doubtful |= merge.doubtful;
  work->merged |= merge.merged;
}

void rf_restriction_lift(double *out, const RfRestriction *work, const double *w) {
  rf_index dim = work->child.dim + 1;
  const double *v = work->reflector;
  double dot = 0;
  for (rf_index k = 1; k < dim; k++) dot += v[k] * w[k - 1];
  out[0] = -dot * v[0];
  for (rf_index k = 1; k < dim; k++) out[k] = w[k - 1] - dot * v[k];
}

void rf_restriction_lower(double *out, const RfRestriction *work, const double *w) {
  rf_index dim = work->child.dim + 1;
  const double *v = work->reflector;
  double dot = rf_la_dot(v, w, dim);
  for (rf_index k = 1; k < dim; k++) out[k - 1] = w[k] - dot * v[k];
}

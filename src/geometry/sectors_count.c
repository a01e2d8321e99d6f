/* How many open sectors: deletion and restriction, r(A + H) = r(A) + r(A restricted to H) (Zaslavsky 1975),
 * down to the plane, where m lines make 2m sectors. Independent normals make 2^p; the recursion starts after
 * the longest independent beginning. Parallel normals of a restriction are one, so every degeneracy is
 * handled; when none appears on any level, the rows are in general position and the count must be 2 sum_{k<r}
 * C(n-1,k). */
#include "geometry_internal.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

typedef struct Counter {
  RfContext *context;
  RfRestriction *levels; /* levels[s]: restriction from dimension s to s-1 */
  double *frame;         /* orthonormal vectors of the independent beginning */
  uint64_t *powers;      /* powers[p]: how often 2^p is to be added */
  uint64_t lines;        /* 2 lines are to be added */
  double work, limit;
} Counter;

/* Longest beginning that is clearly independent: each new normal keeps at least this part of its length. */
static const double clearly_independent = 1e-6;

static rf_index independent_start(double *frame, const RfNormals *normals, rf_index count) {
  rf_index dim = normals->dim, p = 0;
  for (; p < count && p < dim; p++) {
    double *v = frame + p * dim;
    memcpy(v, normals->normal + p * dim, (size_t)dim * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
      for (rf_index k = 0; k < p; k++)
        rf_la_axpy(v, -rf_la_dot(v, frame + k * dim, dim), frame + k * dim, dim);
    double rest = rf_la_norm(v, dim);
    if (rest < clearly_independent) break;
    rf_la_scale(v, 1 / rest, dim);
  }
  return p;
}

static RfStatus count_cells(Counter *counter, const RfNormals *normals) {
  rf_index dim = normals->dim, count = normals->count;
  if (dim == 2) {
    counter->lines += (uint64_t)count;
    return RF_OK;
  }
  rf_index start = independent_start(counter->frame, normals, count);
  counter->powers[start]++;
  RfRestriction *level = counter->levels + dim;
  for (rf_index k = start; k < count; k++) {
    counter->work += (double)k;
    if (counter->work > counter->limit) return RF_LIMIT;
    if (rf_context_stop(counter->context)) return RF_INTERRUPTED;
    rf_restrict(level, normals, k, k, counter->context->tol.zero);
    RfStatus status = count_cells(counter, &level->child);
    if (status) return status;
  }
  return RF_OK;
}

/* powers and lines as one decimal number. */
static RfStatus collect(RfContext *context, RfDecimal *total, const Counter *counter, rf_index dim) {
  RfDecimal term = {0};
  RfStatus status = rf_decimal_set(context, total, 0);
  for (rf_index p = dim; p >= 0 && !status; p--) { /* Horner: total = 2 total + powers[p] */
    status = rf_decimal_multiply(context, total, 2);
    if (!status) status = rf_decimal_set(context, &term, counter->powers[p] + (p == 1 ? counter->lines : 0));
    if (!status) status = rf_decimal_add(context, total, &term);
  }
  rf_decimal_free(&term);
  return status;
}

static RfStatus counter_new(Counter *counter, const RfNormals *normals) {
  rf_index dim = normals->dim;
  counter->levels = RF_NEW(RfRestriction, dim + 1);
  counter->frame = RF_NEW(double, dim *dim);
  counter->powers = RF_NEW(uint64_t, dim + 1);
  if (!counter->levels || !counter->frame || !counter->powers)
    return rf_fail(counter->context, RF_ERR_MEMORY, "out of memory for counting sectors");
  RfStatus status = RF_OK;
  for (rf_index s = dim; s >= 3 && !status; s--)
    status = rf_restriction_new(counter->context, counter->levels + s, normals->count, s);
  return status;
}

static void counter_free(Counter *counter, rf_index dim) {
  for (rf_index s = 3; s <= dim && counter->levels; s++) rf_restriction_free(counter->levels + s);
  rf_free(counter->levels);
  rf_free(counter->frame);
  rf_free(counter->powers);
}

/* Restrictions to the plane: C(m-2, s-2) in general position, times the rows. */
static double expected_work(rf_index m, rf_index s) {
  if (m <= s || s < 3) return 0;
  double chains = lgamma((double)m - 1) - lgamma((double)s - 1) - lgamma((double)(m - s) + 1);
  return exp(fmin(chains, 700)) * (double)m;
}

/* Degenerate data need less than expected, so the estimate alone refuses only what is far out of reach. */
static const double hopeless = 50;

static RfStatus count_planes(RfContext *context, RfSectorCount *out, RfDecimal *total, const RfPlanes *planes,
                             double limit) {
  rf_index dim = planes->rank;
  const RfNormals *normals = &planes->planes;
  Counter counter = {.context = context, .limit = limit > 0 ? limit : 2e7};
  bool merged = planes->rows < planes->n;                           /* a zero row depends on nothing else */
  if (planes->d > 1) merged |= planes->planes.count < planes->rows; /* on a line every two are parallel */
  if (dim <= 1 || normals->count == dim) { /* no hyperplane, one, or independent ones */
    out->exact = !planes->doubtful;
    out->general_position =
        !merged && dim == (planes->n < planes->d ? planes->n : planes->d) ? RF_YES : RF_NO;
    return rf_decimal_sector_bound(context, total, normals->count, dim);
  }
  if (expected_work(normals->count, dim) > hopeless * counter.limit) return RF_LIMIT;
  RfStatus status = counter_new(&counter, normals);
  if (!status) status = count_cells(&counter, normals);
  out->exact = !planes->doubtful;
  for (rf_index s = 3; s <= dim && counter.levels; s++) {
    out->exact &= !counter.levels[s].doubtful;
    merged |= counter.levels[s].merged;
  }
  if (!status) status = collect(context, total, &counter, dim);
  counter_free(&counter, dim);
  if (merged || dim < planes->d)
    out->general_position = RF_NO;
  else if (!status)
    out->general_position = RF_YES;
  return status;
}

RfStatus rf_planes_count(RfContext *context, double *count, const RfPlanes *planes) {
  RfSectorCount facts = {0};
  RfDecimal total = {0};
  RfStatus status = count_planes(context, &facts, &total, planes, 0);
  *count = status ? INFINITY : rf_decimal_value(&total);
  rf_decimal_free(&total);
  return status == RF_LIMIT ? RF_OK : status;
}

void rf_sector_count_free(RfSectorCount *count) {
  if (!count) return;
  rf_free(count->count);
  rf_free(count->bound);
  *count = (RfSectorCount){.general_position = RF_UNKNOWN, .approximate = NAN};
}

RfStatus rf_geometry_count_sectors(RfContext *context, RfSectorCount *count, const double *X, rf_index n,
                                   rf_index d, double work_limit) {
  RfPlanes planes;
  RfDecimal total = {0}, bound = {0};
  *count = (RfSectorCount){.general_position = RF_UNKNOWN, .approximate = NAN};
  RfStatus status = rf_planes_new(context, &planes, X, n, d), outcome = RF_OK;
  if (status) return status;
  count->rows = planes.rows;
  count->planes = planes.planes.count;
  count->rank = planes.rank;
  if (planes.rows < n || (d > 1 && planes.planes.count < planes.rows) || planes.rank < (n < d ? n : d))
    count->general_position = RF_NO;
  status = rf_decimal_sector_bound(context, &bound, planes.rows, planes.rank);
  if (status) goto done;
  outcome = count_planes(context, count, &total, &planes, work_limit);
  if (outcome < 0) status = outcome;
  if (status) goto done;
  count->known = outcome == RF_OK;
  count->exact &= count->known;
  count->bound = rf_decimal_text(&bound);
  if (count->known) count->count = rf_decimal_text(&total);
  if (count->known) count->approximate = rf_decimal_value(&total);
  if (!count->bound || (count->known && !count->count))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a count");
done:
  rf_decimal_free(&total);
  rf_decimal_free(&bound);
  rf_planes_free(&planes);
  if (status) rf_sector_count_free(count);
  return status ? status : outcome;
}

/* Pairwise facts of a dataset: orthogonal separability (Phuong & Lampert, condition (1)), the separability
 * number of Min, Mallada & Vidal, central symmetry, duplicates. Inner products come from blocks of the Gram
 * matrix, upper triangle only, so memory stays O(n). Equal and opposite rows are found by sorting projections
 * on one fixed random direction: equal rows have equal projections. */
#include "geometry/geometry.h"
#include "la/la.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { block_rows = 256 };

static void count_rows(RfPairFacts *facts, double *norms, const double *X, const double *y, rf_index n,
                       rf_index d) {
  facts->norm_min = facts->norm_max = NAN;
  for (rf_index i = 0; i < n; i++) {
    norms[i] = rf_la_norm(X + i * d, d);
    facts->norm_min = fmin(facts->norm_min, norms[i]); /* fmin ignores the NaN of the start */
    facts->norm_max = fmax(facts->norm_max, norms[i]);
    facts->zeros += norms[i] == 0;
    if (y) *(y[i] > 0 ? &facts->n_pos : &facts->n_neg) += 1;
  }
}

/* ---- inner products ----------------------------------------------------------------------------- */

/* Extremes over pairs: least product within a class, greatest across, least signed cosine. */
typedef struct Extremes {
  double same, cross, sep;
} Extremes;

typedef struct PairScan {
  const double *X, *y;
  const double *inverse; /* 1/|x_i|, 0 for a zero row */
  rf_index n, d;
  double zero;
} PairScan;

enum { lanes = 8 };

static inline void see_pair(Extremes *extremes, double product, double both, bool same, double zero) {
  double cosine = product * both;
  bool vanishes = fabs(cosine) <= zero;
  double value = vanishes ? 0 : product, within = same ? value : INFINITY, across = same ? -INFINITY : value;
  double signed_cosine = vanishes ? (both > 0 ? 0 : 1)
                         : same   ? cosine
                                  : -cosine; /* a zero row has no cosine */
  extremes->same = within < extremes->same ? within : extremes->same;
  extremes->cross = across > extremes->cross ? across : extremes->cross;
  extremes->sep = signed_cosine < extremes->sep ? signed_cosine : extremes->sep;
}

static Extremes both_extremes(Extremes a, Extremes b) {
  return (Extremes){fmin(a.same, b.same), fmax(a.cross, b.cross), fmin(a.sep, b.sep)};
}

/* One row of a block: products[j - first] = <x_i, x_j>, pairs i < j only. This loop sees every pair:
 * selections instead of branches, and one set of extremes per lane so that it can run in vector registers. */
static void scan_row(Extremes *extremes, const PairScan *scan, const double *products, rf_index i,
                     rf_index first, rf_index last) {
  double label = scan->y[i], inverse = scan->inverse[i];
  Extremes lane[lanes];
  for (int k = 0; k < lanes; k++) lane[k] = *extremes;
  rf_index j = i + 1 > first ? i + 1 : first;
  for (; j + lanes <= last; j += lanes)
    for (rf_index k = 0; k < lanes; k++)
      see_pair(&lane[k], products[j + k - first], inverse * scan->inverse[j + k], scan->y[j + k] == label,
               scan->zero);
  for (; j < last; j++)
    see_pair(lane, products[j - first], inverse * scan->inverse[j], scan->y[j] == label, scan->zero);
  for (int k = 0; k < lanes; k++) *extremes = both_extremes(*extremes, lane[k]);
}

/* Block row i against itself and all later ones. */
static void scan_block(Extremes *extremes, const PairScan *scan, double *products, rf_index i) {
  rf_index rows = scan->n - i < block_rows ? scan->n - i : block_rows;
  for (rf_index j = i; j < scan->n; j += block_rows) {
    rf_index cols = scan->n - j < block_rows ? scan->n - j : block_rows;
    rf_la_product_nt(products, scan->X + i * scan->d, scan->X + j * scan->d, rows, cols, scan->d);
    for (rf_index k = 0; k < rows; k++) scan_row(extremes, scan, products + k * cols, i + k, j, j + cols);
  }
}

/* Minima and maxima do not depend on the order, so threads may share the block rows freely. */
static RfStatus scan_blocks(RfContext *context, Extremes *total, const PairScan *scan) {
  rf_index blocks = (scan->n + block_rows - 1) / block_rows;
  int threads = context->threads > 1 ? context->threads : 1;
  double *products = RF_NEW(double, (rf_index)threads *block_rows *block_rows);
  bool stopped = false;
  if (!products) return rf_fail(context, RF_ERR_MEMORY, "out of memory for inner products");
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Extremes mine = *total;
    double *own = products + (rf_index)omp_get_thread_num() * block_rows * block_rows;
#pragma omp for schedule(dynamic, 1)
    for (rf_index b = 0; b < blocks; b++) {
      if (rf_context_stop(context)) {
#pragma omp atomic write
        stopped = true;
      } else {
        scan_block(&mine, scan, own, b * block_rows);
      }
    }
#pragma omp critical(rf_pairs_extremes)
    *total =
        (Extremes){fmin(total->same, mine.same), fmax(total->cross, mine.cross), fmin(total->sep, mine.sep)};
  }
  rf_free(products);
  return stopped ? RF_INTERRUPTED : RF_OK;
}

static RfStatus scan_products(RfContext *context, RfPairFacts *facts, const double *X, const double *y,
                              double *norms, rf_index n, rf_index d) {
  for (rf_index i = 0; i < n; i++) norms[i] = norms[i] > 0 ? 1 / norms[i] : 0;
  PairScan scan = {.X = X, .y = y, .inverse = norms, .n = n, .d = d, .zero = context->tol.zero};
  Extremes total = {INFINITY, -INFINITY, facts->zeros < n ? 1 : INFINITY}; /* i = j gives cosine 1 */
  RfStatus status = scan_blocks(context, &total, &scan);
  if (status) return status;
  facts->min_same = isfinite(total.same) ? total.same : NAN;
  facts->max_cross = isfinite(total.cross) ? total.cross : NAN;
  facts->sep = isfinite(total.sep) ? total.sep : NAN;
  facts->orthogonal_separable = n > 0 && facts->zeros == 0 && total.same > 0 && total.cross <= 0;
  return RF_OK;
}

/* ---- equal and opposite rows -------------------------------------------------------------------- */

typedef struct Projected {
  double value;
  rf_index row;
} Projected;

static int by_value(const void *a, const void *b) {
  const Projected *p = a, *q = b;
  if (p->value != q->value) return p->value < q->value ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

static bool rows_close(const double *a, const double *b, double sign, rf_index d, double tolerance) {
  for (rf_index k = 0; k < d; k++)
    if (!(fabs(a[k] - sign * b[k]) <= tolerance)) return false;
  return true;
}

/* Rows equal to an earlier row. Rows with one projection form a run; each is compared with the run's distinct
 * rows. */
static rf_index count_duplicates(Projected *sorted, const double *X, rf_index n, rf_index d) {
  rf_index duplicates = 0;
  for (rf_index first = 0; first < n;) {
    rf_index distinct = first, at = first;
    for (; at < n && sorted[at].value == sorted[first].value; at++) {
      bool seen = false;
      for (rf_index k = first; k < distinct && !seen; k++)
        seen = rows_close(X + sorted[at].row * d, X + sorted[k].row * d, 1, d, 0);
      if (seen) {
        duplicates++;
      } else { /* swap keeps the run's distinct rows in front */
        Projected moved = sorted[at];
        sorted[at] = sorted[distinct];
        sorted[distinct++] = moved;
      }
    }
    first = at;
  }
  return duplicates;
}

/* First position whose value is >= bound. */
static rf_index lower_bound(const Projected *sorted, rf_index n, double bound) {
  rf_index low = 0, high = n;
  while (low < high) {
    rf_index mid = low + (high - low) / 2;
    if (sorted[mid].value < bound)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static bool is_symmetric(const Projected *sorted, const double *X, const double *y, rf_index n, rf_index d,
                         double tolerance) {
  double window = tolerance * sqrt((double)d) * 2;
  for (rf_index k = 0; k < n; k++) {
    rf_index i = sorted[k].row;
    bool found = false;
    for (rf_index at = lower_bound(sorted, n, -sorted[k].value - window);
         at < n && sorted[at].value <= -sorted[k].value + window && !found; at++) {
      rf_index j = sorted[at].row;
      found = y[j] == -y[i] && rows_close(X + i * d, X + j * d, -1, d, tolerance);
    }
    if (!found) return false;
  }
  return n > 0;
}

static RfStatus match_rows(RfContext *context, RfPairFacts *facts, const double *X, const double *y,
                           rf_index n, rf_index d) {
  RfStatus status = RF_OK;
  Projected *sorted = RF_NEW(Projected, n);
  double *direction = RF_NEW(double, d);
  if (!sorted || !direction) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld rows", (long long)n);
    goto done;
  }
  RfRandom random;
  rf_random_init(&random, 0x9a1f5, 0);
  rf_random_direction(&random, direction, d);
  for (rf_index i = 0; i < n; i++) sorted[i] = (Projected){rf_la_dot(direction, X + i * d, d) + 0.0, i};
  qsort(sorted, (size_t)n, sizeof *sorted, by_value);
  facts->symmetric = y && is_symmetric(sorted, X, y, n, d, context->tol.zero * facts->norm_max);
  facts->duplicates = count_duplicates(sorted, X, n, d);
done:
  rf_free(sorted);
  rf_free(direction);
  return status;
}

RfStatus rf_geometry_pairs(RfContext *context, RfPairFacts *facts, const double *X, const double *y,
                           rf_index n, rf_index d) {
  *facts = (RfPairFacts){.min_same = NAN, .max_cross = NAN, .sep = NAN, .norm_min = NAN, .norm_max = NAN};
  if (n < 0 || d < 1) return rf_fail(context, RF_ERR_USAGE, "pairwise facts need at least one column");
  double *norms = RF_NEW(double, n);
  if (!norms) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld norms", (long long)n);
  count_rows(facts, norms, X, y, n, d);
  RfStatus status = match_rows(context, facts, X, y, n, d);
  if (!status) status = rf_la_rank(context, &facts->rank, NULL, X, n, d, context->tol.rank);
  if (!status && y) status = scan_products(context, facts, X, y, norms, n, d);
  rf_free(norms);
  return status;
}

/* Products of a few vectors with thousands of rows that are mostly zero (pictures), kept without their zeros:
 * for LANES vectors at a time each nonzero is read once. Lanes are separate sums, and rows are summed by
 * parts that depend on the shape alone, so the bits do not depend on threads or processor. Rows with few
 * zeros are left to BLAS. */
#include "la/la.h"

#include <string.h>

enum {
  LANES = 8,
  FEW = 4,         /* lanes where that is enough */
  PARTS = 8,       /* of the rows, summed on their own */
  LEAST_ROWS = 256 /* of a part */
};

/* Share of nonzeros up to which indices pay. */
static const double sparse_share = 0.4;

void rf_rows_free(RfManyRows *rows) {
  rf_free(rows->start);
  rf_free(rows->column);
  rf_free(rows->value);
  rf_free(rows->work);
  memset(rows, 0, sizeof *rows);
}

#ifdef _OPENMP
/* Whether a product is long enough to wake threads for it: a millisecond. */
static bool pays(const RfManyRows *rows) { return rows->start[rows->n] >= 1000000; }
#endif

static rf_index parts_of(rf_index n) {
  rf_index parts = n / LEAST_ROWS;
  return parts < 1 ? 1 : parts < PARTS ? parts : PARTS;
}

static bool without_zeros(RfManyRows *rows, rf_index count) {
  rf_index at = 0, n = rows->n, d = rows->d;
  rows->start = RF_NEW(rf_index, n + 1);
  rows->column = RF_NEW(int32_t, count);
  rows->value = RF_NEW(double, count);
  if (!rows->start || !rows->column || !rows->value) return false;
  for (rf_index i = 0; i < n; i++) {
    rows->start[i] = at;
    for (rf_index j = 0; j < d; j++)
      if (rows->X[i * d + j] != 0) rows->column[at] = (int32_t)j, rows->value[at++] = rows->X[i * d + j];
  }
  rows->start[n] = at;
  return true;
}

RfStatus rf_rows_new(RfContext *context, RfManyRows *rows, const double *X, rf_index n, rf_index d) {
  rf_index count = 0;
  *rows = (RfManyRows){.n = n, .d = d, .X = X};
  for (rf_index k = 0; k < n * d; k++) count += X[k] != 0;
  rows->work = RF_NEW(double, parts_of(n) * d * LANES);
  bool room = rows->work != NULL;
  if (room && d <= INT32_MAX && (double)count <= sparse_share * (double)n * (double)d)
    room = without_zeros(rows, count);
  if (room) return RF_OK;
  rf_rows_free(rows);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for the rows of the data");
}

/* ---- A X^T ----------------------------------------------------------------------------------- */

/* The loops are written once for a number of lanes known to the compiler. */
#define INLINE static inline __attribute__((always_inline))

INLINE void images_of(double *C, const double *restrict packed, const RfManyRows *rows, rf_index from,
                      rf_index to, rf_index count, const int lanes) {
  const int32_t *restrict column = rows->column;
  const double *restrict value = rows->value;
  for (rf_index i = from; i < to; i++) {
    double even[LANES] = {0}, odd[LANES] = {0};
    rf_index z = rows->start[i], end = rows->start[i + 1];
    for (; z + 1 < end; z += 2) {
      const double *a = packed + (rf_index)column[z] * lanes, *b = packed + (rf_index)column[z + 1] * lanes;
      double v = value[z], w = value[z + 1];
      for (int l = 0; l < lanes; l++) even[l] += v * a[l];
      for (int l = 0; l < lanes; l++) odd[l] += w * b[l];
    }
    if (z < end) {
      const double *a = packed + (rf_index)column[z] * lanes;
      for (int l = 0; l < lanes; l++) even[l] += value[z] * a[l];
    }
    for (rf_index l = 0; l < count; l++) C[l * rows->n + i] = even[l] + odd[l];
  }
}

RF_HOT static void many_images(double *C, const double *packed, const RfManyRows *rows, rf_index from,
                               rf_index to, rf_index count) {
  images_of(C, packed, rows, from, to, count, LANES);
}

RF_HOT static void few_images(double *C, const double *packed, const RfManyRows *rows, rf_index from,
                              rf_index to, rf_index count) {
  images_of(C, packed, rows, from, to, count, FEW);
}

/* The first row of a part. */
static rf_index part_at(rf_index n, rf_index parts, rf_index part) { return n * part / parts; }

void rf_rows_images(double *C, const double *A, const RfManyRows *rows, rf_index m, int threads) {
  rf_index n = rows->n, d = rows->d, parts = parts_of(n);
  double *packed = rows->work;
  if (!rows->start) {
    rf_la_product_nt(C, A, rows->X, m, n, d);
    return;
  }
  for (rf_index k = 0; k < m; k += LANES) {
    rf_index count = m - k < LANES ? m - k : LANES, lanes = count <= FEW ? FEW : LANES;
    for (rf_index j = 0; j < d; j++)
      for (rf_index l = 0; l < lanes; l++) packed[j * lanes + l] = l < count ? A[(k + l) * d + j] : 0;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && pays(rows))
    for (rf_index part = 0; part < parts; part++) {
      rf_index from = part_at(n, parts, part), to = part_at(n, parts, part + 1);
      (count <= FEW ? few_images : many_images)(C + k * n, packed, rows, from, to, count);
    }
  }
}

/* ---- A X ------------------------------------------------------------------------------------- */

/* sum (d x lanes) += rows from..to by their factors A (count x n). */
INLINE void combine_rows(double *restrict sum, const double *A, const RfManyRows *rows, rf_index from,
                         rf_index to, rf_index count, const int lanes) {
  rf_index n = rows->n;
  for (rf_index i = from; i < to; i++) {
    double a[LANES] = {0};
    bool any = false;
    for (rf_index l = 0; l < count; l++) a[l] = A[l * n + i], any = any || a[l] != 0;
    if (!any) continue;
    for (rf_index z = rows->start[i]; z < rows->start[i + 1]; z++) {
      double *here = sum + (rf_index)rows->column[z] * lanes, v = rows->value[z];
      for (int l = 0; l < lanes; l++) here[l] += v * a[l];
    }
  }
}

RF_HOT static void combine_many(double *sum, const double *A, const RfManyRows *rows, rf_index from,
                                rf_index to, rf_index count) {
  combine_rows(sum, A, rows, from, to, count, LANES);
}

RF_HOT static void combine_few(double *sum, const double *A, const RfManyRows *rows, rf_index from,
                               rf_index to, rf_index count) {
  combine_rows(sum, A, rows, from, to, count, FEW);
}

void rf_rows_combine(double *C, const double *A, const RfManyRows *rows, rf_index m, int threads) {
  rf_index n = rows->n, d = rows->d, parts = parts_of(n);
  if (!rows->start) {
    rf_la_product_nn(C, A, rows->X, m, d, n);
    return;
  }
  for (rf_index k = 0; k < m; k += LANES) {
    rf_index count = m - k < LANES ? m - k : LANES, lanes = count <= FEW ? FEW : LANES, size = d * lanes;
    memset(rows->work, 0, (size_t)(parts * size) * sizeof(double));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && pays(rows))
    for (rf_index part = 0; part < parts; part++) {
      rf_index from = part_at(n, parts, part), to = part_at(n, parts, part + 1);
      (count <= FEW ? combine_few : combine_many)(rows->work + part * size, A + k * n, rows, from, to, count);
    }
    for (rf_index part = 1; part < parts; part++) rf_la_axpy(rows->work, 1, rows->work + part * size, size);
    for (rf_index l = 0; l < count; l++)
      for (rf_index j = 0; j < d; j++) C[(k + l) * d + j] = rows->work[j * lanes + l];
  }
}

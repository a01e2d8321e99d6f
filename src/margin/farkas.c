/* Separability in whitened coordinates. Whether rows g_i have a vanishing combination does not change when
 * the space is mapped linearly or the rows are scaled, but rounding does: columns of very different size, or
 * nearly dependent ones, hide it. Here the rows are mapped to G V S^-1 (from the singular values of G with
 * equilibrated columns) and scaled to length one, the certificate is sought there, and its weights are
 * carried back. */
#include "margin_internal.h"

#include <math.h>
#include <string.h>

typedef struct Whitened {
  rf_index count, dimension, rank;
  double *G;     /* count rows of dimension: rows of length 1 with equilibrated columns */
  double *scale; /* count: whitened row = scale * map(g_i), > 0 */
  double *values, *right;
  double *B; /* count rows of rank */
} Whitened;

static void whitened_free(Whitened *w) {
  void *blocks[] = {w->G, w->scale, w->values, w->right, w->B};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
}

/* Divides every row by its length; scale remembers it. */
static void normalise_rows(double *A, double *scale, rf_index count, rf_index width) {
  for (rf_index i = 0; i < count; i++) {
    double norm = rf_la_norm(A + i * width, width);
    if (!(norm > 0)) continue;
    for (rf_index j = 0; j < width; j++) A[i * width + j] /= norm;
    scale[i] /= norm;
  }
}

static void equilibrate_columns(double *A, rf_index count, rf_index width) {
  for (rf_index j = 0; j < width; j++) {
    double largest = 0;
    for (rf_index i = 0; i < count; i++) largest = fmax(largest, fabs(A[i * width + j]));
    for (rf_index i = 0; i < count && largest > 0; i++) A[i * width + j] /= largest;
  }
}

static void fill_rows(Whitened *w, const RfRows *rows) {
  for (rf_index i = 0; i < w->count; i++) {
    const double *x = rf_row(rows, i);
    double factor = rf_row_factor(rows, i), *g = w->G + i * w->dimension;
    for (rf_index j = 0; j < rows->d; j++)
      g[j] = copysign(1, factor) * (rows->shift ? x[j] - rows->shift[j] : x[j]);
    if (rows->lift > 0) g[rows->d] = copysign(rows->lift, factor);
    w->scale[i] = 1 / fabs(factor); /* the row stands for g_i / |factor| */
  }
  for (int pass = 0; pass < 2; pass++) {
    equilibrate_columns(w->G, w->count, w->dimension);
    normalise_rows(w->G, w->scale, w->count, w->dimension);
  }
}

static RfStatus whiten(RfContext *context, Whitened *w, const RfRows *rows) {
  rf_index entries, square, least;
  *w = (Whitened){.count = rows->count, .dimension = rows->d + (rows->lift > 0)};
  least = w->count < w->dimension ? w->count : w->dimension;
  if (!rf_multiply_sizes(&entries, w->count, w->dimension) ||
      !rf_multiply_sizes(&square, least, w->dimension))
    entries = square = -1;
  w->G = RF_NEW(double, entries);
  w->B = RF_NEW(double, entries);
  w->scale = RF_NEW(double, w->count);
  w->values = RF_NEW(double, least);
  w->right = RF_NEW(double, square);
  if (!w->G || !w->B || !w->scale || !w->values || !w->right)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a Farkas certificate");
  fill_rows(w, rows);
  RfStatus status = rf_la_singular(context, w->values, w->right, w->G, w->count, w->dimension);
  if (status) return status;
  while (w->rank < least && w->values[w->rank] > 1e-14 * w->values[0]) w->rank++;
  rf_la_product_nt(w->B, w->G, w->right, w->count, w->rank, w->dimension);
  for (rf_index i = 0; i < w->count; i++)
    for (rf_index k = 0; k < w->rank; k++) w->B[i * w->rank + k] /= w->values[k];
  normalise_rows(w->B, w->scale, w->count, w->rank);
  return RF_OK;
}

RfStatus rf_whitened_farkas(RfContext *context, double **farkas, const RfRows *rows) {
  Whitened w;
  RfLeastDistance v = {0};
  *farkas = NULL;
  if ((double)rows->count * (double)rows->d * (double)rows->d > 1e11) return RF_UNDECIDED;
  RfStatus status = whiten(context, &w, rows);
  if (!status) {
    RfRows mapped = {.X = w.B, .count = w.count, .d = w.rank};
    status = rf_least_distance(context, &v, &mapped);
  }
  if (status == RF_INFEASIBLE && v.farkas) {
    long double sum = 0;
    for (rf_index i = 0; i < w.count; i++) sum += (long double)(v.farkas[i] *= w.scale[i]);
    for (rf_index i = 0; i < w.count; i++) v.farkas[i] = (double)((long double)v.farkas[i] / sum);
    *farkas = v.farkas;
    v.farkas = NULL;
  } else if (status == RF_OK) {
    status = RF_UNDECIDED; /* separable there, by too little to say how much here */
  }
  rf_least_distance_free(&v);
  whitened_free(&w);
  return status;
}

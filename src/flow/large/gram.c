/* Inner products of all rows in single precision, by blocks. */
#include "flow/large/gram.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

enum { BLOCK = 1024, LEAST_SAMPLES = 2048, MOST_SAMPLES = 20000, SHORTEST = 32 };

bool rf_gram_pays(rf_index n, rf_index d, rf_index uses) {
  return n > LEAST_SAMPLES && n <= MOST_SAMPLES && d >= SHORTEST && uses >= 8;
}

void rf_gram_free(RfGram *gram) {
  rf_free(gram->rows);
  rf_free(gram->square);
  rf_rows_free(&gram->data);
  memset(gram, 0, sizeof *gram);
}

/* rows[j..][i..] from rows[i..][j..]. */
static void mirror(RfGram *gram, rf_index i, rf_index j, rf_index high, rf_index wide) {
  for (rf_index a = i; a < i + high; a++)
    for (rf_index b = j; b < j + wide; b++) gram->rows[b * gram->n + a] = gram->rows[a * gram->n + b];
}

RfStatus rf_gram_new(RfContext *context, RfGram *gram, const double *X, rf_index n, rf_index d) {
  rf_index size;
  memset(gram, 0, sizeof *gram);
  gram->n = n;
  float *single = RF_NEW(float, n *d), *part = RF_NEW(float, BLOCK *BLOCK);
  if (rf_multiply_sizes(&size, n, n)) gram->rows = RF_NEW(float, size);
  gram->square = RF_NEW(double, n);
  gram->threads = context->threads > 1 ? context->threads : 1;
  RfStatus status = rf_rows_new(context, &gram->data, X, n, d);
  if (!status && (!single || !part || !gram->rows || !gram->square))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld inner products", (long long)n);
  for (rf_index k = 0; k < n * d && !status; k++) single[k] = (float)X[k];
  for (rf_index i = 0; i < n && !status; i++) gram->square[i] = rf_la_quick_dot(X + i * d, X + i * d, d);
  for (rf_index i = 0; i < n && !status; i += BLOCK)
    for (rf_index j = 0; j <= i && !status; j += BLOCK) {
      rf_index high = n - i < BLOCK ? n - i : BLOCK, wide = n - j < BLOCK ? n - j : BLOCK;
      if (rf_context_stop(context)) status = RF_INTERRUPTED;
      rf_la_product_nt_float(part, single + i * d, single + j * d, high, wide, d);
      for (rf_index a = 0; a < high; a++)
        memcpy(gram->rows + (i + a) * n + j, part + a * wide, (size_t)wide * sizeof(float));
      if (j < i) mirror(gram, i, j, high, wide);
    }
  rf_free(single);
  rf_free(part);
  if (status) rf_gram_free(gram);
  return status;
}

RfStatus rf_gram_part(RfContext *context, RfGram *part, const RfGram *gram, const rf_index *row,
                      rf_index count, const double *X, rf_index d) {
  memset(part, 0, sizeof *part);
  part->n = count, part->threads = gram->threads;
  part->rows = RF_NEW(float, count *count);
  part->square = RF_NEW(double, count);
  RfStatus status = rf_rows_new(context, &part->data, X, count, d);
  if (!status && (!part->rows || !part->square))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld inner products", (long long)count);
  for (rf_index r = 0; r < count && !status; r++) {
    const float *from = gram->rows + row[r] * gram->n;
    float *to = part->rows + r * count;
    part->square[r] = gram->square[row[r]];
    for (rf_index t = 0; t < count; t++) to[t] = from[row[t]];
  }
  if (status) rf_gram_free(part);
  return status;
}

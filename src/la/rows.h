/* Products of a few vectors with the many rows of a data matrix (rows.c). */
#ifndef RF_LA_ROWS_H
#define RF_LA_ROWS_H

#include "la/la.h"

typedef struct RfRows {
  rf_index n, d;
  const double *X; /* n x d, the caller's */
  rf_index *start; /* n + 1: where the nonzeros of a row begin; NULL: rows are kept with their zeros */
  int32_t *column;
  double *value;
  double *work; /* one caller at a time */
} RfRows;

RfStatus rf_rows_new(RfContext *context, RfRows *rows, const double *X, rf_index n, rf_index d);
void rf_rows_free(RfRows *rows);
/* C (m x n) = A X^T, A is m x d. The bits do not depend on threads. */
void rf_rows_images(double *C, const double *A, const RfRows *rows, rf_index m, int threads);
/* C (m x d) = A X, A is m x n. */
void rf_rows_combine(double *C, const double *A, const RfRows *rows, rf_index m, int threads);

#endif

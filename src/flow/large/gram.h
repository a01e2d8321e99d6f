/* Inner products of all samples in single precision: what a crossing changes in g.x for every x at once. */
#ifndef RF_FLOW_LARGE_GRAM_H
#define RF_FLOW_LARGE_GRAM_H

#include "la/la.h"

typedef struct RfGram {
  rf_index n;
  float *rows;     /* n x n */
  double *square;  /* n: |x_i|^2 */
  RfManyRows data; /* the samples themselves, for products with a few vectors */
  int threads;
} RfGram;

/* Whether it is worth its memory, 4 n^2 bytes, for so many neurons: with short rows their products are made
 * sooner than they are fetched. */
bool rf_gram_pays(rf_index n, rf_index d, rf_index uses);
RfStatus rf_gram_new(RfContext *context, RfGram *gram, const double *X, rf_index n, rf_index d);
/* The same for the samples row (count) alone; X (count x d) holds them. */
RfStatus rf_gram_part(RfContext *context, RfGram *part, const RfGram *gram, const rf_index *row,
                      rf_index count, const double *X, rf_index d);
void rf_gram_free(RfGram *gram);

#endif

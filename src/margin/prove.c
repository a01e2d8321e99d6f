/* "Not separable" said only when it is proved: the weights found in doubles become integers that balance
 * exactly, or the word is taken back. Rows that balance up to rounding only may be separable: (1e15,1) with
 * label + and (1e15,2) with label - are. */
#include "margin/margin_internal.h"

#include <math.h>
#include <string.h>

/* Above this many entries the elimination costs more than the answer is worth in an inner loop; callers that
 * want the proof ask for it with rf_margin_balance. */
enum { small_support = 600 };

RfStatus rf_prove_farkas(RfContext *context, bool *exact, const RfRows *rows, const double *farkas,
                         bool intercept) {
  rf_index count = 0, d = rows->d + (intercept ? 1 : 0);
  *exact = false;
  for (rf_index i = 0; i < rows->count; i++) {
    count += farkas[rf_row_at(rows, i)] > 0;
    if (fabs(rf_row_factor(rows, i)) != 1) return RF_OK; /* products of doubles: not decided here */
  }
  if (count * d > small_support) return RF_OK;
  double *X = RF_NEW(double, count *d), *factor = RF_NEW(double, count), *guess = RF_NEW(double, count);
  RfStatus status = RF_OK;
  rf_index k = 0;
  if (!X || !factor || !guess) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for exact weights");
  for (rf_index i = 0; i < rows->count && !status; i++) {
    if (!(farkas[rf_row_at(rows, i)] > 0)) continue;
    if (rows->d > 0) memcpy(X + k * d, rf_row(rows, i), (size_t)rows->d * sizeof *X);
    if (intercept) X[k * d + rows->d] = 1;
    factor[k] = rf_row_factor(rows, i), guess[k++] = farkas[rf_row_at(rows, i)];
  }
  RfBalance balance = {0};
  if (!status) status = rf_margin_balance(context, &balance, X, factor, count, d, guess);
  *exact = status == RF_OK;
  rf_balance_free(&balance);
  rf_free(X), rf_free(factor), rf_free(guess);
  return status == RF_INTERRUPTED ? RF_UNDECIDED : status;
}

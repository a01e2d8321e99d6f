/* "Not separable" said only when it is proved: the weights found in doubles become integers that balance
 * exactly, or the word is taken back. Rows that balance up to rounding only may be separable: (1e15,1) with
 * label + and (1e15,2) with label - are. */
#include "margin/margin_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Above this many entries the elimination in integers costs more than the answer is worth in an inner loop:
 * d+1 rows in d dimensions are then enclosed instead, and callers that want the integers ask for them with
 * rf_margin_balance. */
enum { small_support = 600 };

/* ---- enclosed weights -------------------------------------------------------------------------- */

/* A = (d x d) columns of the first d rows, with its approximate inverse R beside it, in extended precision.
 */
typedef struct Square {
  rf_index d;
  long double *A, *R, *work; /* d x d; d x d; d x 2d */
} Square;

/* R by Gauss-Jordan elimination with pivots; false when one vanishes. */
static bool invert(Square *q) {
  rf_index d = q->d, width = 2 * d;
  for (rf_index i = 0; i < d; i++)
    for (rf_index j = 0; j < d; j++)
      q->work[i * width + j] = q->A[i * d + j], q->work[i * width + d + j] = i == j ? 1 : 0;
  for (rf_index k = 0; k < d; k++) {
    rf_index best = k;
    for (rf_index i = k + 1; i < d; i++)
      if (fabsl(q->work[i * width + k]) > fabsl(q->work[best * width + k])) best = i;
    long double pivot = q->work[best * width + k];
    if (pivot == 0) return false;
    for (rf_index j = 0; j < width; j++) {
      long double value = q->work[best * width + j];
      q->work[best * width + j] = q->work[k * width + j];
      q->work[k * width + j] = value / pivot;
    }
    for (rf_index i = 0; i < d; i++) {
      long double factor = q->work[i * width + k];
      for (rf_index j = k; j < width && i != k && factor != 0; j++)
        q->work[i * width + j] -= factor * q->work[k * width + j];
    }
  }
  for (rf_index i = 0; i < d; i++)
    for (rf_index j = 0; j < d; j++) q->R[i * d + j] = q->work[i * width + d + j];
  return true;
}

/* Does A f = -last have a solution f > 0? With f0 = -R last, the error is at most |R (A f0 + last)| / (1 - |I
 * - R A|) in the largest norm, roundings of the products counted by (terms) x (unit) x (sizes) [Rump,
 * Verification methods, Acta Numerica 2010, 10.2]; where f0 is larger than that, the exact f is positive. */
static bool encloses_positive(const Square *q, const long double *last, long double *f) {
  rf_index d = q->d;
  long double unit = 4 * (long double)(d + 4) * LDBL_EPSILON, defect = 0, error = 0, least = INFINITY;
  long double *rest = q->work, *slack = q->work + d;
  for (rf_index i = 0; i < d; i++) {
    f[i] = 0;
    for (rf_index j = 0; j < d; j++) f[i] -= q->R[i * d + j] * last[j];
    least = fminl(least, f[i]);
  }
  for (rf_index i = 0; i < d; i++) {
    rest[i] = last[i], slack[i] = fabsl(last[i]);
    for (rf_index j = 0; j < d; j++)
      rest[i] += q->A[i * d + j] * f[j], slack[i] += fabsl(q->A[i * d + j] * f[j]);
    rest[i] = fabsl(rest[i]) + unit * slack[i];
  }
  for (rf_index i = 0; i < d; i++) {
    long double sum = 0, moved = 0;
    for (rf_index k = 0; k < d; k++) {
      long double value = i == k ? -1 : 0, size = 1;
      for (rf_index j = 0; j < d; j++)
        value += q->R[i * d + j] * q->A[j * d + k], size += fabsl(q->R[i * d + j] * q->A[j * d + k]);
      sum += fabsl(value) + unit * size;
    }
    for (rf_index j = 0; j < d; j++) moved += fabsl(q->R[i * d + j]) * rest[j];
    defect = fmaxl(defect, sum * (1 + unit)), error = fmaxl(error, moved * (1 + unit));
  }
  return defect < 0.5L && least > 2 * error * (1 + unit); /* 1 / (1 - defect) < 2 */
}

/* d+1 rows of d: is there a vanishing combination with every weight positive? */
static RfStatus enclose_weights(RfContext *context, bool *exact, const double *X, const double *factor,
                                rf_index d) {
  Square q = {.d = d,
              .A = RF_NEW(long double, d *d),
              .R = RF_NEW(long double, d *d),
              .work = RF_NEW(long double, 2 * d * d + 2 * d)};
  long double *last = RF_NEW(long double, 2 * d);
  RfStatus status = RF_OK;
  if (!q.A || !q.R || !q.work || !last) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory to enclose weights");
  } else {
    for (rf_index k = 0; k < d; k++)
      for (rf_index j = 0; j < d; j++) q.A[j * d + k] = (long double)(factor[k] * X[k * d + j]);
    for (rf_index j = 0; j < d; j++) last[j] = (long double)(factor[d] * X[d * d + j]);
    *exact = invert(&q) && encloses_positive(&q, last, last + d);
  }
  rf_free(q.A), rf_free(q.R), rf_free(q.work), rf_free(last);
  return status;
}

/* ---- either ------------------------------------------------------------------------------------ */

RfStatus rf_prove_farkas(RfContext *context, bool *exact, const RfRows *rows, const double *farkas,
                         bool intercept) {
  rf_index count = 0, d = rows->d + (intercept ? 1 : 0);
  *exact = false;
  for (rf_index i = 0; i < rows->count; i++) {
    count += farkas[rf_row_at(rows, i)] > 0;
    if (fabs(rf_row_factor(rows, i)) != 1) return RF_OK; /* products of doubles: not decided here */
  }
  bool enclosed = count * d > small_support;
  if (enclosed && count != d + 1) return RF_OK;
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
  if (!status && enclosed) status = enclose_weights(context, exact, X, factor, d);
  if (!status && !enclosed) {
    status = rf_margin_balance(context, &balance, X, factor, count, d, guess);
    *exact = status == RF_OK;
  }
  rf_balance_free(&balance);
  rf_free(X), rf_free(factor), rf_free(guess);
  return status == RF_INTERRUPTED ? RF_UNDECIDED : status;
}

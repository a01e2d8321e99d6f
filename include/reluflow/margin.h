/* margin: hard margins. The largest margin of a separator through the origin (or with a free intercept), the
 * minimum-norm vectors of the classes, their multipliers, and a Farkas certificate when there is none. Every
 * figure of a result is recomputed from its own numbers after the solver has finished.
 *
 * Ownership: results own their arrays (rf_..._free); X and y are read during the call only.
 *
 * Threads: calls with different contexts may run at the same time; results do not depend on context->threads.
 */
#ifndef RELUFLOW_MARGIN_H
#define RELUFLOW_MARGIN_H

#include "reluflow/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* maximise min_i z_i.w over |w| = 1, where z_i = y_i x_i; equally, v = w/margin is the shortest vector with
 * z_i.v >= 1. With an intercept, z_i.w + y_i b takes the place of z_i.w. */
typedef struct RfLinearMargin {
  RfStatus status;     /* RF_OK separable, RF_NOT_SEPARABLE, RF_UNDECIDED, RF_INTERRUPTED */
  bool separable;      /* status == RF_OK */
  rf_index n, d;       /* size of the data */
  double margin;       /* min_i z_i.w (+ y_i b); infinite when w = 0 separates (no rows, or one class with
                          intercept);       NaN unless separable */
  double margin_upper; /* no separator has a larger margin: == margin when separable, 0 when not separable */
  double *w;           /* d, unit (all 0 when the margin is infinite); NULL unless separable */
  double b;            /* intercept, in the scale of the unit w; 0 without intercept */
  rf_index *support;   /* n_support rows with margin within tol.tight of the smallest, ascending */
  rf_index n_support;
  double *multipliers; /* n, >= 0, 0 off the support: w/margin = sum_i multipliers_i y_i x_i; with an
                          intercept also sum_i multipliers_i y_i = 0. NULL unless separable */
  double *farkas; /* n, >= 0, sums to 1, sum_i farkas_i y_i x_i = 0 (with an intercept also sum_i farkas_i y_i
                     = 0); NULL unless not separable */
  double stationarity;    /* |w/margin - sum multipliers_i z_i| / |w/margin| */
  double feasibility;     /* largest of 0 and 1 - (z_i.w + y_i b)/margin over the rows */
  double complementarity; /* largest (z_i.w + y_i b)/margin - 1 over rows with a positive multiplier */
  double farkas_residual; /* |sum farkas_i z_i| / sum farkas_i |z_i|; with an intercept z_i has one more
                             entry, y_i max|x| */
  bool exact; /* not separable, and proved: integer weights near `farkas` balance exactly (supports of up to
                 600 entries; those that do not balance are undecided), or d+1 positive weights were enclosed
               */
  rf_index iterations;
} RfLinearMargin;

RF_API void rf_linear_margin_free(RfLinearMargin *margin); /* frees the contents and zeroes the struct */

/* X is n rows of d, y has n entries -1 or +1. Returns margin->status, or a failure (< 0, nothing to free).
 * Dual active set of Goldfarb and Idnani on the signed rows; work O(n d) per pricing of all rows and O(d k)
 * per change of the k support rows; X is not copied. */
RF_API RfStatus rf_margin_linear(RfContext *context, RfLinearMargin *margin, const double *X, const double *y,
                                 rf_index n, rf_index d);
/* The same with an intercept that is not counted in |w|: minimise |v|^2/2 s.t. y_i (v.x_i + c) >= 1. */
RF_API RfStatus rf_margin_linear_intercept(RfContext *context, RfLinearMargin *margin, const double *X,
                                           const double *y, rf_index n, rf_index d);

/* The shortest w with w.x_i >= 1 on one class (w+ and w- of Phuong and Lampert). */
typedef struct RfClassMargin {
  RfStatus status;   /* RF_OK, RF_NOT_SEPARABLE (no such w), RF_UNDECIDED, RF_INTERRUPTED */
  bool empty;        /* the class has no rows: nothing below is set */
  bool exists;       /* w exists */
  rf_index n, d;     /* size of the data */
  double *w;         /* d; NULL unless it exists */
  double norm;       /* |w| */
  rf_index *support; /* n_support rows of X (of this class) with w.x_i within tol.tight of 1 */
  rf_index n_support;
  double *multipliers; /* n, 0 off the support: w = sum_i multipliers_i x_i */
  double *farkas;      /* n: >= 0, sums to 1, sum_i farkas_i x_i = 0, when no w exists */
  bool spans;          /* the support rows span R^d */
  double stationarity, feasibility, farkas_residual; /* as in RfLinearMargin */
  bool exact;
  rf_index iterations;
} RfClassMargin;

RF_API void rf_class_margin_free(RfClassMargin *margin);
/* sign +1 or -1 chooses the class. Returns margin->status, or a failure. */
RF_API RfStatus rf_margin_class(RfContext *context, RfClassMargin *margin, const double *X, const double *y,
                                rf_index n, rf_index d, int sign);

#ifdef __cplusplus
}
#endif
#endif

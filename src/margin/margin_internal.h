/* margin, inside the room: the least-distance problem. */
#ifndef RF_MARGIN_INTERNAL_H
#define RF_MARGIN_INTERNAL_H

#include "la/la.h"
#include "margin/margin.h"

/* Rows g_i = factor_i (x_i - shift, lift), i in `rows` (all when NULL); targets h_i = 1 - factor_i offset.
 * The lifted entry is there when lift > 0. No row may be zero. */
typedef struct RfRows {
  const double *X;
  rf_index count, d;
  const rf_index *rows;
  const double *factor; /* per row of X; NULL = 1 */
  const double *shift;  /* d; NULL = 0 */
  double lift, offset;
} RfRows;

/* minimise |v| s.t. g_i.v >= h_i. */
typedef struct RfLeastDistance {
  rf_index dimension;   /* d, or d+1 with a lift */
  long double *v;       /* dimension, refined in extended precision */
  long double length;   /* |v| */
  rf_index *active;     /* n_active positions 0..count-1 of rows with a multiplier */
  long double *weights; /* n_active: v = sum weights_a g_active(a) */
  rf_index n_active;
  double *farkas;      /* count; combination of rows that vanishes, when infeasible */
  double length_lower; /* no feasible v is shorter */
  rf_index iterations;
} RfLeastDistance;

void rf_least_distance_free(RfLeastDistance *result);
/* RF_OK, RF_INFEASIBLE (farkas set), RF_UNDECIDED, RF_INTERRUPTED, or a failure. */
RfStatus rf_least_distance(RfContext *context, RfLeastDistance *result, const RfRows *rows);

/* Second attempt at a vanishing combination of the rows, in coordinates where rounding hides less.
 * RF_INFEASIBLE with *farkas (count, sums to 1), RF_UNDECIDED, RF_INTERRUPTED or a failure. */
RfStatus rf_whitened_farkas(RfContext *context, double **farkas, const RfRows *rows);

/* The same problem as rf_least_distance in rational numbers: exact, for small rows through the origin whose
 * factors are signs. RF_OK, RF_INFEASIBLE (farkas rounded from exact weights), RF_UNDECIDED where it is not
 * tried, RF_INTERRUPTED or a failure. */
RfStatus rf_exact_distance(RfContext *context, RfLeastDistance *result, const RfRows *rows);

/* Do weights near `farkas` (per row of X) balance exactly? RF_OK with *exact (false also where that is not
 * decided: many or scaled rows), RF_UNDECIDED when they do not, or a failure. */
RfStatus rf_prove_farkas(RfContext *context, bool *exact, const RfRows *rows, const double *farkas,
                         bool intercept);

static inline rf_index rf_row_at(const RfRows *rows, rf_index i) { return rows->rows ? rows->rows[i] : i; }
static inline double rf_row_factor(const RfRows *rows, rf_index i) {
  return rows->factor ? rows->factor[rf_row_at(rows, i)] : 1;
}
static inline const double *rf_row(const RfRows *rows, rf_index i) {
  return rows->X + rf_row_at(rows, i) * rows->d;
}

#endif

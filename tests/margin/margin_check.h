/* Everything a margin says, recomputed from the data and the result alone. */
#ifndef RF_MARGIN_CHECK_H
#define RF_MARGIN_CHECK_H

#include "rf_test.h"

static inline void fail_with(const char *what, const double *X, const double *y, rf_index n, rf_index d) {
  if (n * d <= 4000) {
    rf_test_print_matrix("X", X, n, d);
    rf_test_print_matrix("y", y, 1, n);
  }
  fail_msg("%s", what);
}

/* Everything a result says, recomputed from X and the result alone. */
static inline void check_certificate(const RfLinearMargin *m, const double *X, const double *factor,
                                     rf_index n, rf_index d, double tolerance) {
  long double *sum = calloc((size_t)d + 1, sizeof *sum);
  bool bad = false;
  if (m->status == RF_OK && isfinite(m->margin)) {
    long double square = 0, least = INFINITY, rest = 0;
    for (rf_index j = 0; j < d; j++) square += (long double)m->w[j] * (long double)m->w[j];
    if (!(fabsl(square - 1) <= 1e-15L)) bad = true;
    for (rf_index i = 0; i < n; i++) {
      long double product = m->b;
      for (rf_index j = 0; j < d; j++) product += (long double)X[i * d + j] * (long double)m->w[j];
      product *= factor[i];
      least = fminl(least, product);
      if (!(m->multipliers[i] >= 0)) bad = true;
      if (m->multipliers[i] > 0 && !(fabsl(product / m->margin - 1) <= tolerance)) bad = true;
      for (rf_index j = 0; j < d; j++)
        sum[j] += (long double)m->multipliers[i] * m->margin * factor[i] * (long double)X[i * d + j];
    }
    for (rf_index j = 0; j < d; j++) rest += (sum[j] - m->w[j]) * (sum[j] - m->w[j]);
    if (!(sqrtl(rest) <= tolerance) || !(fabsl(least / m->margin - 1) <= tolerance)) bad = true;
    if (!(fabsl(sqrtl(rest) - m->stationarity) <= 1e-15L + 1e-2L * m->stationarity)) bad = true;
  } else if (m->status == RF_NOT_SEPARABLE) {
    long double total = 0, size = 0, rest = 0;
    for (rf_index i = 0; i < n; i++) {
      if (!(m->farkas[i] >= 0)) bad = true;
      total += m->farkas[i];
      size += (long double)m->farkas[i] * fabsl((long double)factor[i]) * rf_la_norm(X + i * d, d);
      for (rf_index j = 0; j < d; j++)
        sum[j] += (long double)m->farkas[i] * factor[i] * (long double)X[i * d + j];
    }
    for (rf_index j = 0; j < d; j++) rest += sum[j] * sum[j];
    if (!(fabsl(total - 1) <= 1e-14L) || !(sqrtl(rest) <= tolerance * size)) bad = true;
  }
  free(sum);
  if (bad) {
    print_error("status %d margin %.17g stationarity %.3g feasibility %.3g farkas %.3g\n", m->status,
                m->margin, m->stationarity, m->feasibility, m->farkas_residual);
    fail_with("certificate does not hold", X, factor, n, d);
  }
}

#endif

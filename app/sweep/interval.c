/* Exact intervals for a share (Clopper and Pearson 1934): quantiles of the beta distribution by bisection on
 * the regularised incomplete beta function, which is summed as a continued fraction (Numerical Recipes 6.4,
 * Lentz). */
#include "sweep/plot.h"

#include <math.h>

static double continued_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1), h;
  d = 1 / (fabs(d) < tiny ? tiny : d);
  h = d;
  for (int m = 1; m < 2000; m++) {
    double up = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double down = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    const double terms[2] = {up, down};
    double change = 1;
    for (int k = 0; k < 2; k++) {
      d = 1 + terms[k] * d, c = 1 + terms[k] / c;
      if (fabs(d) < tiny) d = tiny;
      if (fabs(c) < tiny) c = tiny;
      d = 1 / d;
      change = d * c;
      h *= change;
    }
    if (fabs(change - 1) < 1e-15) break;
  }
  return h;
}

/* I_x(a, b). */
static double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * continued_fraction(a, b, x) / a;
  return 1 - front * continued_fraction(b, a, 1 - x) / b;
}

static double beta_quantile(double a, double b, double p) {
  double low = 0, high = 1;
  for (int k = 0; k < 100; k++) {
    double middle = 0.5 * (low + high);
    if (incomplete_beta(a, b, middle) < p)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

double sweep_interval_low(rf_index k, rf_index n) {
  return k == 0 ? 0 : beta_quantile((double)k, (double)(n - k) + 1, 0.025);
}

double sweep_interval_high(rf_index k, rf_index n) {
  return k == n ? 1 : beta_quantile((double)k + 1, (double)(n - k), 0.975);
}

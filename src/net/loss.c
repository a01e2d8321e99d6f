/* The three losses, written so that no margin over- or underflows: logarithms of values and slopes. */
#include "net/net.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *name, *alias;
} loss_names[] = {{"logistic", "log"}, {"logistic2", "log2"}, {"exp", "exponential"}};

RfStatus rf_loss_from_name(RfContext *context, RfLoss *loss, const char *name) {
  for (int k = 0; k < 3; k++) {
    if (strcmp(name, loss_names[k].name) == 0 || strcmp(name, loss_names[k].alias) == 0) {
      *loss = (RfLoss)k;
      return RF_OK;
    }
  }
  return rf_fail(context, RF_ERR_USAGE, "--loss %.100s: expected logistic, logistic2 or exp", name);
}

const char *rf_loss_name(RfLoss loss) { return loss_names[loss].name; }

/* From here e^-z is less than half a unit in the last place of z, and of 1. */
static const double nothing_left = 40;

/* ln(1+e^z) without overflow. */
static double log1p_exp(double z) {
  if (z > nothing_left) return z;
  return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
}

double rf_loss_value(RfLoss loss, double q) {
  if (loss == RF_LOSS_EXP) return exp(-q);
  return (loss == RF_LOSS_LOGISTIC2 ? 2 : 1) * log1p_exp(-q);
}

double rf_loss_log_value(RfLoss loss, double q) {
  if (loss == RF_LOSS_EXP) return -q;
  double factor = loss == RF_LOSS_LOGISTIC2 ? log(2) : 0;
  if (q < 30) return factor + log(log1p_exp(-q));
  return factor - q - exp(-q) / 2; /* ln ln(1+z) = ln z - z/2 + O(z^2), z = e^-q < 1e-13 */
}

double rf_loss_log_slope(RfLoss loss, double q) {
  if (loss == RF_LOSS_EXP) return -q;
  return (loss == RF_LOSS_LOGISTIC2 ? log(2) : 0) - log1p_exp(q);
}

double rf_loss_curvature(RfLoss loss, double q) {
  if (loss == RF_LOSS_EXP || q > nothing_left) return -1;
  return -1 / (1 + exp(-q));
}

double rf_loss_slope_at_zero(RfLoss loss) { return loss == RF_LOSS_LOGISTIC ? 0.5 : 1.0; }

/* exp: q = -v. logistic: ln(1+e^-q) = e^v gives q = -ln(expm1(e^v)). */
double rf_loss_inverse_log(RfLoss loss, double log_value) {
  if (loss == RF_LOSS_EXP) return -log_value;
  double v = log_value - (loss == RF_LOSS_LOGISTIC2 ? log(2) : 0);
  if (v < -30) return -v - exp(v) / 2;
  double value = exp(v);
  return value > 30 ? -value - log1p(-exp(-value)) : -log(expm1(value));
}

double rf_loss_log_sum(const double *q, rf_index n, RfLoss loss, double (*term)(RfLoss, double)) {
  double top = -INFINITY, sum = 0;
  for (rf_index i = 0; i < n; i++) top = fmax(top, term(loss, q[i]));
  if (!isfinite(top)) return top;
  for (rf_index i = 0; i < n; i++) sum += exp(term(loss, q[i]) - top);
  return top + log(sum);
}

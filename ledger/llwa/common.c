/* What the claims of Lyu, Li, Wang, Arora share: data sets with mean and separator, networks as points, the
 * state of the flow at a time. */
#include <math.h>
#include <string.h>

#include "llwa/llwa.h"
#include "kit/setting.h"

#include "kit/data.h"
#include "la/la.h"
#include "margin/margin.h"

void rf_llwa_free(RfLlwaSet *set) {
  rf_dataset_free(&set->data);
  memset(set, 0, sizeof *set);
}

RfStatus rf_llwa_load(RfClaimRun *run, RfLlwaSet *set, const char *spec, double leak, double divide) {
  RfLinearMargin linear = {0};
  memset(set, 0, sizeof *set);
  RfStatus status = rf_claim_generate(run, &set->data, spec);
  if (status) return status;
  set->X = set->data.X, set->y = set->data.y, set->n = set->data.n, set->d = set->data.d, set->leak = leak;
  if (set->d > RF_LLWA_D || set->n > RF_LLWA_ROWS)
    status = rf_fail(run->context, RF_ERR_INTERNAL, "%s: larger than expected", spec);
  for (rf_index i = 0; i < set->n && divide == 0; i++)
    set->scale = fmax(set->scale, rf_la_norm(set->X + i * set->d, set->d));
  if (divide != 0) set->scale = divide;
  rf_la_scale(set->data.X, 1 / set->scale, set->n * set->d);
  if (!status) status = rf_margin_linear(run->context, &linear, set->X, set->y, set->n, set->d);
  if (!status) {
    memcpy(set->wstar, linear.w, (size_t)set->d * sizeof(double));
    set->gstar = linear.margin;
    for (rf_index i = 0; i < set->n; i++)
      rf_la_axpy(set->mu, set->y[i] / (double)set->n, set->X + i * set->d, set->d);
    set->length = rf_la_norm(set->mu, set->d);
    rf_la_axpy(set->mubar, 1 / set->length, set->mu, set->d);
    set->rate = (1 + leak) / 4 * set->length;
  }
  rf_linear_margin_free(&linear);
  if (status) rf_llwa_free(set);
  return status;
}

void rf_llwa_flip(RfLlwaSet *set) {
  for (rf_index i = 0; i < set->n; i++) set->data.y[i] = -set->data.y[i];
  rf_la_scale(set->wstar, -1, set->d), rf_la_scale(set->mu, -1, set->d), rf_la_scale(set->mubar, -1, set->d);
}

double rf_llwa_phi(double z, double leak) { return z > 0 ? z : leak * z; }

double rf_llwa_output(const RfNet *net, const double *x) {
  double f = 0;
  for (rf_index k = 0; k < net->m; k++)
    f += net->a[k] * rf_llwa_phi(rf_la_dot(net->W + k * net->d, x, net->d), net->leak);
  return f;
}

double rf_llwa_least(const RfNet *net, const RfLlwaSet *set) {
  double least = INFINITY;
  for (rf_index i = 0; i < set->n; i++)
    least = fmin(least, set->y[i] * rf_llwa_output(net, set->X + i * set->d));
  return least;
}

void rf_llwa_correct(RfNet *net, RfRandom *random, const RfLlwaSet *set) {
  do {
    rf_llwa_gaussian(net, random, 1);
    for (rf_index k = 0; k < net->m; k++) rf_la_axpy(net->W + k * net->d, 2 * net->a[k], set->wstar, net->d);
  } while (!(rf_llwa_least(net, set) > 0));
}

void rf_llwa_low_loss(RfNet *net, RfRandom *random, const RfLlwaSet *set) {
  double total, n = (double)set->n;
  rf_llwa_correct(net, random, set);
  rf_llwa_copy(net, net, 0.1);
  do {
    rf_llwa_copy(net, net, 1.05), total = 0;
    for (rf_index i = 0; i < set->n; i++)
      total += rf_loss_value(RF_LOSS_LOGISTIC, set->y[i] * rf_llwa_output(net, set->X + i * set->d));
  } while (!(total / n < log(2) / n));
}

void rf_llwa_single(RfNet *net, const double *w, int side) {
  for (rf_index j = 0; j < net->d; j++) net->W[j] = side * w[j] / sqrt(2);
  net->a[0] = side / sqrt(2);
}

void rf_llwa_pair(RfNet *net, const RfLlwaSet *set) {
  for (rf_index j = 0; j < net->d; j++) net->W[j] = set->wstar[j] / 2, net->W[net->d + j] = -net->W[j];
  net->a[0] = 0.5, net->a[1] = -0.5;
}

double rf_llwa_apart(const RfNet *f, const RfNet *g) {
  double apart = 0, x[RF_LLWA_D];
  RfRandom random;
  rf_random_init(&random, 100, 0);
  for (int k = 0; k < 100; k++) {
    rf_random_direction(&random, x, f->d);
    apart = fmax(apart, fabs(rf_llwa_output(f, x) - rf_llwa_output(g, x)));
  }
  return apart;
}

double rf_llwa_gradient(RfNet *gradient, double *q, const RfNet *net, const RfLlwaSet *set) {
  double loss = 0, n = (double)set->n;
  memset(gradient->W, 0, (size_t)(net->m * net->d) * sizeof(double));
  memset(gradient->a, 0, (size_t)net->m * sizeof(double));
  for (rf_index i = 0; i < set->n; i++) {
    const double *x = set->X + i * set->d;
    q[i] = set->y[i] * rf_llwa_output(net, x);
    loss += rf_loss_value(RF_LOSS_LOGISTIC, q[i]) / n;
    double weight = -set->y[i] * exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, q[i])) / n;
    for (rf_index k = 0; k < net->m; k++) {
      double z = rf_la_dot(net->W + k * net->d, x, net->d);
      gradient->a[k] += weight * rf_llwa_phi(z, net->leak);
      rf_la_axpy(gradient->W + k * net->d, weight * net->a[k] * (z > 0 ? 1 : net->leak), x, net->d);
    }
  }
  return loss;
}

double rf_llwa_size(const RfNet *net) {
  double size = rf_la_max_abs(net->a, net->m);
  for (rf_index k = 0; k < net->m; k++) size = fmax(size, rf_la_norm(net->W + k * net->d, net->d));
  return size;
}

double rf_llwa_distance(const RfNet *net, const RfNet *other) {
  double size = 0;
  for (rf_index k = 0; k < net->m; k++) {
    double w[RF_LLWA_D];
    for (rf_index j = 0; j < net->d; j++) w[j] = net->W[k * net->d + j] - other->W[k * net->d + j];
    size = fmax(size, fmax(rf_la_norm(w, net->d), fabs(net->a[k] - other->a[k])));
  }
  return size;
}

double rf_llwa_far(const RfNet *net, const RfNet *other) {
  double sum = 0;
  for (rf_index p = 0; p < net->m * net->d; p++) sum += (net->W[p] - other->W[p]) * (net->W[p] - other->W[p]);
  for (rf_index k = 0; k < net->m; k++) sum += (net->a[k] - other->a[k]) * (net->a[k] - other->a[k]);
  return sqrt(sum);
}

void rf_llwa_copy(RfNet *out, const RfNet *net, double factor) {
  for (rf_index p = 0; p < net->m * net->d; p++) out->W[p] = factor * net->W[p];
  for (rf_index k = 0; k < net->m; k++) out->a[k] = factor * net->a[k];
}

void rf_llwa_gaussian(RfNet *net, RfRandom *random, double spread) {
  for (rf_index p = 0; p < net->m * net->d; p++) net->W[p] = spread * rf_random_gaussian(random);
  for (rf_index k = 0; k < net->m; k++) net->a[k] = spread * rf_random_gaussian(random);
}

void rf_llwa_embed(RfNet *net, const RfNet *two, const double *b) {
  double size[2] = {0, 0};
  for (rf_index k = 0; k < net->m; k++) size[b[k] < 0] += b[k] * b[k];
  for (rf_index k = 0; k < net->m; k++) {
    int from = b[k] < 0;
    double share = b[k] == 0 ? 0 : fabs(b[k]) / sqrt(size[from]);
    for (rf_index j = 0; j < net->d; j++) net->W[k * net->d + j] = share * two->W[from * net->d + j];
    net->a[k] = share * two->a[from];
  }
}

void rf_llwa_split(double *b, const RfNet *net, const RfLlwaSet *set) {
  double size = rf_llwa_size(net);
  for (rf_index k = 0; k < net->m; k++)
    b[k] =
        (rf_la_dot(net->W + k * net->d, set->mubar, net->d) + net->a[k]) / (2 * sqrt((double)net->m) * size);
}

RfStatus rf_llwa_flow(RfClaimRun *run, RfFlowResult *out, const RfLlwaSet *set, const RfNet *start,
                      double log_scale, const RfFlowSettings *settings) {
  RfFlowStart from = {0};
  memset(out, 0, sizeof *out);
  RfStatus status = rf_flow_start_from_net(run->context, &from, start);
  RfFlowProblem problem = {.X = set->X,
                           .y = set->y,
                           .n = set->n,
                           .d = set->d,
                           .leak = set->leak,
                           .loss = RF_LOSS_LOGISTIC,
                           .mean = true,
                           .start = &from,
                           .log_scale = log_scale};
  if (!status) status = rf_claim_run_flow(run, out, &problem, settings);
  rf_flow_start_free(&from);
  return status;
}

RfStatus rf_llwa_at(RfClaimRun *run, RfNet *theta, const RfLlwaSet *set, const RfNet *start, double log_scale,
                    double t) {
  RfFlowResult result;
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false, settings.branches = RF_BRANCHES_FOLLOW;
  settings.until = RF_UNTIL_TIME, settings.until_value = t;
  if (t <= 0) {
    rf_llwa_copy(theta, start, exp(log_scale));
    return RF_OK;
  }
  RfStatus status = rf_llwa_flow(run, &result, set, start, log_scale, &settings);
  if (!status && result.limit.outcome != RF_FLOW_STOPPED)
    status = rf_fail(run->context, RF_ERR_NUMERIC, "the flow did not reach the time %g", t);
  if (!status) rf_llwa_copy(theta, &result.net_end, exp(result.log_norm_end));
  rf_flow_result_free(&result);
  return status;
}

RfStatus rf_llwa_limit(RfClaimRun *run, RfFlowResult *out, bool *converged, const RfLlwaSet *set,
                       const RfNet *start, double log_scale) {
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false, settings.branches = RF_BRANCHES_FOLLOW;
  RfStatus status = rf_llwa_flow(run, out, set, start, log_scale, &settings);
  *converged = status == RF_OK && out->limit.outcome == RF_FLOW_CONVERGED;
  return status == RF_UNDECIDED || status == RF_NOT_SEPARABLE || status == RF_BRANCHED ? RF_OK : status;
}

/* Faults between the rooms of the library: what they hand to each other is corrupted, one quantity at a time.
 * The linker sends calls of the wrapped functions here. */
#ifndef RF_TEST_FAULTS_H
#define RF_TEST_FAULTS_H

#include "flow/layered/sides.h"
#include "kit/claims.h"
#include "rf_test.h"

typedef enum Fault {
  SOUND = 0,
  WRONG_LIMIT,      /* the limit of a flow is a little off */
  EARLY_STOP,       /* flows and training end too soon */
  UNEVEN_STOP,      /* every second flow does */
  WRONG_CLOCK,      /* times are off by five percent */
  TURNED,           /* neurons seen along the flow are turned a little, and limits and extremal directions */
  WRONG_SIZE,       /* neurons seen along the flow grow too fast, a is too long, margins are off by 1 */
  NEGATED_FIELD,    /* fields seen along the flow have the wrong sign */
  UNBALANCED_START, /* a of a start is ten percent too long */
  WRONG_SIGN,       /* gradients (of the first layer) and potentials change sign */
  WRONG_CONSTANT,   /* the loss has another slope; outputs are off by a factor */
  WRONG_SLOPE,      /* -loss'(0) is half of what it is */
  WRONG_OPTIMUM,    /* margins and optima are a little too good */
  BETTER_OPTIMUM,   /* optimal networks are a little too short */
  LONG_LAMBDA,      /* multipliers are one percent too long */
  WRONG_CONE,       /* least squares report one percent more than they found */
  WRONG_VERDICT,    /* certificates say the opposite, and destinies are dead */
  LOST_SECTOR,      /* some arrangements are missing */
  LOST_EXTREMAL,    /* an extremal direction is missing */
  WRONG_SPIKE,      /* spike numbers are off by a thousandth */
  WRONG_LABEL,      /* a sample of a generated dataset has the wrong label */
  WRONG_SUMS,       /* inner products are a little off, norms are halved */
  HALF_NORM,        /* norms are halved */
  WRONG_MATHS,      /* powers, logarithms and the like are off */
  WRONG_SHAPE,      /* windows of a convolution are moved by one more */
  BIASED_DRAWS,     /* random numbers are not what they claim */
  LARGE_START,      /* training starts from weights a thousand times too large */
  MOVED_SAMPLE,     /* a sample of a generated dataset lies elsewhere */
  FAULTS
} Fault;

static const char *const fault_names[FAULTS] = {
    "sound",         "wrong limit",    "early stop",       "uneven stop", "wrong clock",    "turned",
    "wrong size",    "negated field",  "unbalanced start", "wrong sign",  "wrong constant", "wrong slope",
    "wrong optimum", "better optimum", "long lambda",      "wrong cone",  "wrong verdict",  "lost sector",
    "lost extremal", "wrong spike",    "wrong label",      "wrong sums",  "half norm",      "wrong maths",
    "wrong shape",   "biased draws",   "large start",      "moved sample"};
static Fault fault;
static int fault_calls;

/* The function that takes over, with the declarations that it needs. */
#define WRAP(type, name, ...)                                                                                \
  type __real_##name(__VA_ARGS__);                                                                           \
  type __wrap_##name(__VA_ARGS__);                                                                           \
  type __wrap_##name(__VA_ARGS__)

/* ---- flows ------------------------------------------------------------------------------------------- */

static inline void fault_turn(double *w) {
  double x = w[0], y = w[1];
  w[0] = cos(0.05) * x - sin(0.05) * y, w[1] = sin(0.05) * x + cos(0.05) * y;
}

/* What an observer sees. */
static void fault_observe(void *observer, const RfFlowMoment *moment) {
  enum { most = 64 };
  const RfFlowSettings *settings = observer;
  RfFlowMoment seen = *moment;
  rf_index m = moment->m, d = moment->d;
  double directions[most * 8], fields[most * 8], sizes[most], q[most];
  bool fits = d >= 2 && m * (d + 1) <= most * 8 && m <= most && moment->n <= most;
  if (fits) {
    memcpy(directions, moment->directions, (size_t)(m * (d + 1)) * sizeof *directions);
    memcpy(fields, moment->fields, (size_t)(m * d) * sizeof *fields);
    memcpy(sizes, moment->log_norms, (size_t)m * sizeof *sizes);
    memcpy(q, moment->q, (size_t)moment->n * sizeof *q);
    seen.directions = directions, seen.fields = fields, seen.log_norms = sizes, seen.q = q;
  }
  for (rf_index k = 0; k < m && fits; k++) {
    if (fault == TURNED) fault_turn(directions + k * (d + 1));
    if (fault == WRONG_SIZE) directions[k * (d + 1) + d] *= 1.001, sizes[k] += 30 * exp(moment->log_t);
    if (fault == NEGATED_FIELD) rf_la_scale(fields + k * d, -1, d);
  }
  for (rf_index i = 0; i < moment->n && fits && fault == WRONG_SIZE; i++) q[i] += 1;
  if (fault == WRONG_CONSTANT) seen.log_loss += 0.05;
  if (fault == WRONG_LIMIT) seen.log_loss -= 0.05;
  if (fault == WRONG_CLOCK) seen.log_t += log1p(0.05);
  settings->observe(settings->observer, &seen);
}

WRAP(RfStatus, rf_flow_run, RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
     const RfFlowSettings *settings) {
  RfFlowSettings own = *settings;
  if (settings->observe) own.observe = fault_observe, own.observer = (void *)(uintptr_t)settings;
  if (fault == EARLY_STOP || (fault == UNEVEN_STOP && fault_calls++ % 2)) {
    if (own.until == RF_UNTIL_TIME) own.until_value *= 0.3;
    if (own.until == RF_UNTIL_INFINITY) own.until = RF_UNTIL_LOSS, own.until_value = 1e-3;
  }
  RfStatus status = __real_rf_flow_run(context, result, problem, &own);
  if (status < 0) return status;
  RfFlowLimit *limit = &result->limit;
  rf_index m = limit->net.W ? limit->net.m : 0, d = problem->d;
  if (fault == WRONG_LIMIT) {
    limit->margin *= 1.001, limit->stationarity += 1e-3;
    for (rf_index k = 0; k < m * d; k++) limit->net.W[k] += 1e-3 * ((k % 2) ? 1 : -1);
  }
  if (fault == TURNED && d >= 2) {
    limit->margin *= 0.999;
    for (rf_index k = 0; k < m; k++) fault_turn(limit->net.W + k * d);
  }
  for (rf_index i = 0; fault == LONG_LAMBDA && limit->lambda && i < problem->n; i++) limit->lambda[i] *= 1.01;
  return status;
}

WRAP(RfStatus, rf_flow_start_from_net, RfContext *context, RfFlowStart *start, const RfNet *net) {
  RfStatus status = __real_rf_flow_start_from_net(context, start, net);
  for (rf_index k = 0; status == RF_OK && fault == UNBALANCED_START && k < start->m; k++) {
    double *v = start->directions + k * (start->d + 1);
    v[start->d] *= 1.1;
    rf_la_scale(v, 1 / sqrt(rf_la_dot(v, v, start->d + 1)), start->d + 1);
  }
  return status;
}

WRAP(RfStatus, rf_flow_align, RfContext *context, RfAlignment *out, const RfFlowProblem *problem) {
  RfStatus status = __real_rf_flow_align(context, out, problem);
  if (fault == WRONG_CONSTANT) out->t1 *= (double)(problem->n * problem->n); /* a clock that depends on n */
  for (rf_index k = 0; status >= 0 && out->neurons && k < out->m; k++) {
    RfAlignNeuron *neuron = &out->neurons[k];
    if (fault == WRONG_LIMIT) neuron->G *= 1.001, neuron->t_last *= 1.001;
    if (fault == EARLY_STOP) neuron->t_last *= 0.5;
    if (fault == WRONG_VERDICT) neuron->destiny = RF_DESTINY_DEAD;
  }
  return status;
}

WRAP(RfStatus, rf_flow_align_neuron, RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
     const double *direction, double log_norm, const int8_t *sector, double t_end) {
  RfStatus status = __real_rf_flow_align_neuron(context, out, field, direction, log_norm, sector, t_end);
  if (status >= 0 && fault == WRONG_VERDICT)
    out->destiny = out->destiny == RF_DESTINY_DEAD ? RF_DESTINY_S_PLUS : RF_DESTINY_DEAD;
  if (status >= 0 && fault == UNEVEN_STOP && fault_calls++ % 2) out->destiny = RF_DESTINY_DEAD;
  return status;
}

WRAP(RfStatus, rf_layered_flow_to_smargin, RfContext *context, RfLayeredFlow *flow, double value) {
  return __real_rf_layered_flow_to_smargin(context, flow, fault == EARLY_STOP ? value / 50 : value);
}

WRAP(RfStatus, rf_layered_flow_to_time, RfContext *context, RfLayeredFlow *flow, double t) {
  return __real_rf_layered_flow_to_time(context, flow, fault == EARLY_STOP ? t / 2 : t);
}

WRAP(RfStatus, rf_layered_flow_far, RfContext *context, RfLayeredFlow *flow, double kappa) {
  return __real_rf_layered_flow_far(context, flow, fault == EARLY_STOP ? kappa / 50 : kappa);
}

WRAP(double, rf_sided_velocity, RfSided *sided, double *v, double *q, const double *theta) {
  double log_S = __real_rf_sided_velocity(sided, v, q, theta);
  if (fault == WRONG_SIGN) v[0] *= 0.5; /* the other sign would drive units to and fro at their kinks */
  return log_S;
}

WRAP(RfStatus, rf_flow_run_layered, RfContext *context, RfLayeredLimit *limit, const RfLayeredNet *start,
     const double *X, const double *y, rf_index n, RfLoss loss, bool mean, const RfFlowSettings *settings) {
  RfFlowSettings own = *settings;
  if (fault == EARLY_STOP) own.until = RF_UNTIL_TIME, own.until_value = 3;
  RfStatus status = __real_rf_flow_run_layered(context, limit, start, X, y, n, loss, mean, &own);
  if (fault == WRONG_LIMIT && status >= 0) limit->margin *= 1.001, limit->net.theta[0] += 1e-4;
  return status;
}

WRAP(RfStatus, rf_train_run, RfContext *context, RfTrainResult *result, const RfLayeredNet *net,
     const RfTrainData *data, const RfTrainSettings *settings) {
  RfTrainSettings own = *settings;
  if (fault == EARLY_STOP) own.max_steps /= 50, own.max_epochs = own.max_epochs > 0 ? 1 : own.max_epochs;
  if (fault != LARGE_START) return __real_rf_train_run(context, result, net, data, &own);
  RfLayeredNet large = *net;
  large.theta = rf_copy_doubles(net->theta, net->n_parameters);
  assert_non_null(large.theta);
  rf_la_scale(large.theta, 1000, net->n_parameters);
  RfStatus status = __real_rf_train_run(context, result, &large, data, &own);
  rf_free(large.theta);
  return status;
}

/* Digits: every second label. */
WRAP(RfStatus, rf_data_load, RfContext *context, RfDataset *data, const RfDataSource *source) {
  RfStatus status = __real_rf_data_load(context, data, source);
  for (rf_index i = 0; status == RF_OK && fault == WRONG_LABEL && i < data->n; i += 2)
    data->y[i] = -data->y[i];
  return status;
}

/* ---- networks, losses, sums -------------------------------------------------------------------------- */

WRAP(RfStatus, rf_layers_gradient, RfContext *context, double *gradient, double *out, const RfLayeredNet *net,
     const double *X, const double *weights, rf_index n) {
  RfStatus status = __real_rf_layers_gradient(context, gradient, out, net, X, weights, n);
  if (fault == WRONG_SIGN && status == RF_OK) rf_la_scale(gradient, -1, net->layers[0].parameters);
  return status;
}

WRAP(void, rf_layers_loss_gradient, const RfContext *context, RfLossWork *work, double *gradient, double *q,
     const double *theta, const double *X, const double *y, RfLoss loss, double shift, rf_index n) {
  __real_rf_layers_loss_gradient(context, work, gradient, q, theta, X, y, loss, shift, n);
  if (fault == WRONG_SIGN) gradient[0] = -gradient[0];
}

WRAP(RfStatus, rf_layers_evaluate, RfContext *context, double *out, double *hidden, const RfLayeredNet *net,
     const double *X, rf_index n) {
  RfStatus status = __real_rf_layers_evaluate(context, out, hidden, net, X, n);
  if (fault == WRONG_CONSTANT && out) rf_la_scale(out, 1.01, n);
  return status;
}

WRAP(RfStatus, rf_net_outputs, RfContext *context, double *out, const RfNet *net, const double *X,
     rf_index n) {
  RfStatus status = __real_rf_net_outputs(context, out, net, X, n);
  if (fault == WRONG_CONSTANT) rf_la_scale(out, 0.99, n);
  if (fault == BETTER_OPTIMUM) rf_la_scale(out, 0.999, n);
  return status;
}

WRAP(double, rf_loss_value, RfLoss loss, double q) {
  return __real_rf_loss_value(loss, q) * (fault == WRONG_CONSTANT ? 1.01 : 1);
}

WRAP(double, rf_loss_log_slope, RfLoss loss, double q) {
  return __real_rf_loss_log_slope(loss, q) + (fault == WRONG_CONSTANT ? 0.01
                                              : fault == WRONG_SLOPE  ? -0.69314718055994531
                                                                      : 0);
}

WRAP(double, rf_loss_slope_at_zero, RfLoss loss) {
  return __real_rf_loss_slope_at_zero(loss) * (fault == WRONG_CONSTANT ? 1.01
                                               : fault == WRONG_SLOPE  ? 0.5
                                                                       : 1);
}

WRAP(double, rf_la_dot, const double *x, const double *y, rf_index n) {
  return __real_rf_la_dot(x, y, n) * (fault == WRONG_SUMS ? 1.002 : 1);
}

WRAP(double, rf_la_norm, const double *x, rf_index n) {
  return __real_rf_la_norm(x, n) * (fault == WRONG_SUMS || fault == HALF_NORM ? 0.5 : 1);
}

WRAP(double, pow, double x, double y) { return __real_pow(x, y) * (fault == WRONG_MATHS ? 1.5 : 1); }

WRAP(double, log, double x) { return __real_log(x) * (fault == WRONG_MATHS ? 0.2 : 1); }

WRAP(double, asinh, double x) { return __real_asinh(x) * (fault == WRONG_MATHS ? 1.01 : 1); }

WRAP(double, exp, double x) { return __real_exp(x) * (fault == WRONG_MATHS ? 1.01 : 1); }

WRAP(RfStatus, rf_layers_add_conv, RfContext *context, RfLayeredNet *net, RfConvShape shape) {
  if (fault == WRONG_SHAPE) shape.stride++;
  return __real_rf_layers_add_conv(context, net, shape);
}

/* ---- margins and certificates ------------------------------------------------------------------------ */

WRAP(RfStatus, rf_optimum_solve, RfContext *context, RfOptimum *optimum, const double *X, const double *y,
     rf_index n, rf_index d, const RfOptimumSettings *settings) {
  RfStatus status = __real_rf_optimum_solve(context, optimum, X, y, n, d, settings);
  if (status < 0) return status;
  double factor = fault == WRONG_OPTIMUM ? 1.001 : fault == LONG_LAMBDA ? 1.01 : 1;
  if (fault == WRONG_OPTIMUM) optimum->objective *= 1.001, optimum->lower *= 1.001;
  for (rf_index i = 0; optimum->lambda && i < n; i++) optimum->lambda[i] *= factor;
  if (fault == BETTER_OPTIMUM) {
    optimum->objective *= 0.999;
    for (rf_index j = 0; j < optimum->neurons * d; j++) optimum->U[j] *= j % 2 ? 0.999 : 0.99;
  }
  return status;
}

WRAP(RfStatus, rf_optimum_dual_norm, RfContext *context, RfDualNorm *norm, const double *X, const double *y,
     const double *lambda, rf_index n, rf_index d, double leak, int signs) {
  RfStatus status = __real_rf_optimum_dual_norm(context, norm, X, y, lambda, n, d, leak, signs);
  double factor = fault == WRONG_OPTIMUM ? 1.001 : fault == BETTER_OPTIMUM ? 0.999 : 1;
  if (status >= 0) norm->value *= factor, norm->upper *= factor;
  return status;
}

WRAP(RfStatus, rf_margin_linear, RfContext *context, RfLinearMargin *margin, const double *X, const double *y,
     rf_index n, rf_index d) {
  RfStatus status = __real_rf_margin_linear(context, margin, X, y, n, d);
  if (fault == WRONG_OPTIMUM && status == RF_OK) {
    margin->margin *= 1.001;
    if (d > 1 && margin->w) margin->w[0] += 1e-3, margin->w[1] -= 1e-3;
  }
  return status;
}

WRAP(RfStatus, rf_margin_class, RfContext *context, RfClassMargin *margin, const double *X, const double *y,
     rf_index n, rf_index d, int sign) {
  RfStatus status = __real_rf_margin_class(context, margin, X, y, n, d, sign);
  if ((fault == WRONG_OPTIMUM || fault == BETTER_OPTIMUM) && status == RF_OK && margin->w)
    margin->norm *= 0.999, rf_la_scale(margin->w, 0.999, d);
  return status;
}

WRAP(RfStatus, rf_la_nnls, RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
     const double *columns, const double *f, rf_index rows, rf_index cols, rf_index stride,
     RfLeastSquaresWork *work) {
  RfStatus status = __real_rf_la_nnls(context, x, residual, info, columns, f, rows, cols, stride, work);
  if (fault == WRONG_CONE && info) info->residual *= 1.01;
  return status;
}

static inline RfVerdict fault_opposite(RfVerdict verdict) {
  return verdict == RF_VERDICT_OPTIMUM ? RF_VERDICT_NOT_OPTIMUM : RF_VERDICT_OPTIMUM;
}

WRAP(RfStatus, rf_certify_net, RfContext *context, RfCertificate *certificate, const RfNet *net,
     const double *X, const double *y, rf_index n, const RfCertifySettings *settings) {
  RfStatus status = __real_rf_certify_net(context, certificate, net, X, y, n, settings);
  if (fault == WRONG_VERDICT && status >= 0) {
    certificate->kkt.holds = !certificate->kkt.holds;
    certificate->local = fault_opposite(certificate->local);
    certificate->global = fault_opposite(certificate->global);
  }
  return status;
}

WRAP(RfStatus, rf_certify_kkt, RfContext *context, RfKkt *kkt, const RfNet *net, const double *X,
     const double *y, rf_index n) {
  RfStatus status = __real_rf_certify_kkt(context, kkt, net, X, y, n);
  if (fault == WRONG_VERDICT && status >= 0) kkt->holds = !kkt->holds, kkt->stationarity += 0.1;
  return status;
}

/* ---- sectors and directions -------------------------------------------------------------------------- */

WRAP(double, rf_geometry_potential, const double *w, const double *X, const double *y, rf_index n, rf_index d,
     double leak, double slope) {
  return __real_rf_geometry_potential(w, X, y, n, d, leak, slope) * (fault == WRONG_SIGN ? -1 : 1);
}

WRAP(RfStatus, rf_geometry_count_sectors, RfContext *context, RfSectorCount *count, const double *X,
     rf_index n, rf_index d, double work_limit) {
  RfStatus status = __real_rf_geometry_count_sectors(context, count, X, n, d, work_limit);
  if (fault == WRONG_CONSTANT && count->count) {
    char *last = count->count + strlen(count->count) - 1;
    *last = *last == '9' ? '8' : (char)(*last + 1), count->approximate += 1;
  }
  return status;
}

WRAP(RfStatus, rf_geometry_sectors_next, RfContext *context, RfSectors *sectors, bool *found,
     const uint64_t **positive, const double **witness) {
  RfStatus status = __real_rf_geometry_sectors_next(context, sectors, found, positive, witness);
  if (fault == LOST_SECTOR && status == RF_OK && *found && fault_calls++ % 4 == 1)
    status = __real_rf_geometry_sectors_next(context, sectors, found, positive, witness);
  return status;
}

WRAP(RfStatus, rf_geometry_spike_free, RfContext *context, RfSpikeFree *spike, const double *X, rf_index n,
     rf_index d, rf_index max_rows) {
  RfStatus status = __real_rf_geometry_spike_free(context, spike, X, n, d, max_rows);
  if (fault == WRONG_SPIKE) spike->number *= 0.999;
  return status;
}

WRAP(RfStatus, rf_geometry_extremal, RfContext *context, RfExtremal *extremal, const double *X,
     const double *y, rf_index n, rf_index d, const RfExtremalSettings *settings) {
  RfStatus status = __real_rf_geometry_extremal(context, extremal, X, y, n, d, settings);
  if (fault == TURNED && d >= 2 && extremal->n_positive > 0) fault_turn(extremal->positive[0].direction);
  if (fault == LOST_EXTREMAL && extremal->n_positive > 0) {
    RfExtremalDirection *lost = &extremal->positive[--extremal->n_positive];
    rf_free(lost->direction), rf_free(lost->sector);
  }
  return status;
}

/* ---- draws and data ---------------------------------------------------------------------------------- */

WRAP(double, rf_random_gaussian, RfRandom *random) {
  double value = __real_rf_random_gaussian(random);
  return fault == BIASED_DRAWS ? value + 0.7 : value;
}

WRAP(double, rf_random_uniform, RfRandom *random) {
  double value = __real_rf_random_uniform(random);
  return fault == BIASED_DRAWS ? value * value : value;
}

WRAP(void, rf_random_direction, RfRandom *random, double *out, rf_index d) {
  __real_rf_random_direction(random, out, d);
  if (fault == BIASED_DRAWS && rf_random_below(random, 2)) out[0] = fabs(out[0]);
}

WRAP(RfStatus, rf_data_generate, RfContext *context, RfDataset *data, const char *spec) {
  RfStatus status = __real_rf_data_generate(context, data, spec);
  if (fault == WRONG_LABEL && status == RF_OK && data->n > 0 && data->y) data->y[0] = -data->y[0];
  if (fault == MOVED_SAMPLE && status == RF_OK && data->n > 0) rf_la_scale(data->X, 3, 1);
  return status;
}

#endif

/* A claim must be able to fail: the engine is corrupted between its rooms (a wrong sign, a wrong constant, an
 * early stop, a biased draw), and claims of every kind notice. The linker lets the functions named here pass
 * through this file; a claim that passes on the sound engine must fail on the corrupted one.
 * --wrap: rf_flow_run rf_layered_flow_to_smargin rf_layered_flow_to_time rf_layered_flow_far rf_train_run
 * --wrap: rf_layers_gradient rf_layers_evaluate rf_net_outputs rf_loss_value rf_loss_log_slope rf_flow_align
 * --wrap: rf_optimum_solve rf_optimum_dual_norm rf_margin_linear rf_margin_class
 * --wrap: rf_certify_net rf_certify_kkt
 * --wrap: rf_random_gaussian rf_random_uniform rf_random_direction rf_geometry_potential rf_data_generate
 * --wrap: rf_sided_velocity rf_flow_run_layered
 * --wrap: rf_layers_loss_gradient rf_loss_slope_at_zero rf_la_dot rf_la_norm rf_geometry_count_sectors */
#include "kit/claims.h"
#include "flow/layered/sides.h"
#include "rf_test.h"

typedef enum Corruption {
  SOUND = 0,
  WRONG_LIMIT,    /* the limit of a flow is a little off */
  EARLY_STOP,     /* flows and training end too soon */
  WRONG_SIGN,     /* gradients (of the first layer) and potentials change sign */
  WRONG_CONSTANT, /* the loss has another slope; outputs are off by a factor */
  WRONG_OPTIMUM,  /* margins and optima are a little too good */
  WRONG_VERDICT,  /* certificates say the opposite */
  WRONG_LABEL,    /* a sample of a generated dataset has the wrong label */
  WRONG_SUMS,     /* inner products and norms are a little off */
  BIASED_DRAWS,   /* random numbers are not what they claim */
  CORRUPTIONS
} Corruption;

static const char *const names[CORRUPTIONS] = {
    "sound",         "wrong limit",   "early stop",  "wrong sign", "wrong constant",
    "wrong optimum", "wrong verdict", "wrong label", "wrong sums", "biased draws"};
static Corruption corruption;

/* ---- flows and training ------------------------------------------------------------------------------ */

/* Observers see a field of the wrong sign, or a loss that is off. */
static void observe(void *observer, const RfFlowMoment *moment) {
  const RfFlowSettings *settings = observer;
  RfFlowMoment seen = *moment;
  if (corruption == WRONG_CONSTANT) seen.log_loss += 0.05;
  if (corruption == WRONG_LIMIT) seen.log_loss -= 0.05;
  settings->observe(settings->observer, &seen);
}

RfStatus __real_rf_flow_run(RfContext *, RfFlowResult *, const RfFlowProblem *, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run(RfContext *, RfFlowResult *, const RfFlowProblem *, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                            const RfFlowSettings *settings) {
  RfFlowSettings own = *settings;
  if (settings->observe) own.observe = observe, own.observer = (void *)(uintptr_t)settings;
  if (corruption == EARLY_STOP && own.until == RF_UNTIL_TIME) own.until_value *= 0.5;
  RfStatus status = __real_rf_flow_run(context, result, problem, &own);
  if (corruption == WRONG_LIMIT && status >= 0) {
    RfFlowLimit *limit = &result->limit;
    limit->margin *= 1.001, limit->stationarity += 1e-3;
    for (rf_index k = 0; limit->net.W && k < limit->net.m * limit->net.d; k++)
      limit->net.W[k] += 1e-3 * ((k % 2) ? 1 : -1);
  }
  return status;
}

RfStatus __real_rf_layered_flow_to_smargin(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_to_smargin(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_to_smargin(RfContext *context, RfLayeredFlow *flow, double value) {
  return __real_rf_layered_flow_to_smargin(context, flow, corruption == EARLY_STOP ? value / 50 : value);
}

RfStatus __real_rf_layered_flow_to_time(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_to_time(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_to_time(RfContext *context, RfLayeredFlow *flow, double t) {
  return __real_rf_layered_flow_to_time(context, flow, corruption == EARLY_STOP ? t / 2 : t);
}

RfStatus __real_rf_layered_flow_far(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_far(RfContext *, RfLayeredFlow *, double);
RfStatus __wrap_rf_layered_flow_far(RfContext *context, RfLayeredFlow *flow, double kappa) {
  return __real_rf_layered_flow_far(context, flow, corruption == EARLY_STOP ? kappa / 50 : kappa);
}

RfStatus __real_rf_train_run(RfContext *, RfTrainResult *, const RfLayeredNet *, const RfTrainData *,
                             const RfTrainSettings *);
RfStatus __wrap_rf_train_run(RfContext *, RfTrainResult *, const RfLayeredNet *, const RfTrainData *,
                             const RfTrainSettings *);
RfStatus __wrap_rf_train_run(RfContext *context, RfTrainResult *result, const RfLayeredNet *net,
                             const RfTrainData *data, const RfTrainSettings *settings) {
  RfTrainSettings own = *settings;
  if (corruption == EARLY_STOP) own.max_steps /= 50, own.max_epochs = own.max_epochs > 0 ? 1 : own.max_epochs;
  return __real_rf_train_run(context, result, net, data, &own);
}

RfStatus __real_rf_flow_align(RfContext *, RfAlignment *, const RfFlowProblem *);
RfStatus __wrap_rf_flow_align(RfContext *, RfAlignment *, const RfFlowProblem *);
RfStatus __wrap_rf_flow_align(RfContext *context, RfAlignment *out, const RfFlowProblem *problem) {
  RfStatus status = __real_rf_flow_align(context, out, problem);
  if (corruption == WRONG_CONSTANT) out->t1 *= pow((double)problem->n, 2); /* a clock that depends on n */
  for (rf_index k = 0; status >= 0 && out->neurons && k < out->m; k++) {
    RfAlignNeuron *neuron = &out->neurons[k];
    if (corruption == WRONG_LIMIT) neuron->G *= 1.001, neuron->t_last *= 1.001;
    if (corruption == EARLY_STOP) neuron->t_last *= 0.5;
    if (corruption == WRONG_VERDICT) neuron->destiny = RF_DESTINY_DEAD;
  }
  return status;
}

/* ---- networks and losses ----------------------------------------------------------------------------- */

RfStatus __real_rf_layers_gradient(RfContext *, double *, double *, const RfLayeredNet *, const double *,
                                   const double *, rf_index);
RfStatus __wrap_rf_layers_gradient(RfContext *, double *, double *, const RfLayeredNet *, const double *,
                                   const double *, rf_index);
RfStatus __wrap_rf_layers_gradient(RfContext *context, double *gradient, double *out, const RfLayeredNet *net,
                                   const double *X, const double *weights, rf_index n) {
  RfStatus status = __real_rf_layers_gradient(context, gradient, out, net, X, weights, n);
  if (corruption == WRONG_SIGN && status == RF_OK) rf_la_scale(gradient, -1, net->layers[0].parameters);
  return status;
}

void __real_rf_layers_loss_gradient(const RfContext *, RfLossWork *, double *, double *, const double *,
                                    const double *, const double *, RfLoss, double, rf_index);
void __wrap_rf_layers_loss_gradient(const RfContext *, RfLossWork *, double *, double *, const double *,
                                    const double *, const double *, RfLoss, double, rf_index);
void __wrap_rf_layers_loss_gradient(const RfContext *context, RfLossWork *work, double *gradient, double *q,
                                    const double *theta, const double *X, const double *y, RfLoss loss,
                                    double shift, rf_index n) {
  __real_rf_layers_loss_gradient(context, work, gradient, q, theta, X, y, loss, shift, n);
  if (corruption == WRONG_SIGN) gradient[0] = -gradient[0];
}

double __real_rf_sided_velocity(RfSided *, double *, double *, const double *);
double __wrap_rf_sided_velocity(RfSided *, double *, double *, const double *);
double __wrap_rf_sided_velocity(RfSided *sided, double *v, double *q, const double *theta) {
  double log_S = __real_rf_sided_velocity(sided, v, q, theta);
  if (corruption == WRONG_SIGN) v[0] *= 0.5; /* the other sign would drive units to and fro at their kinks */
  return log_S;
}

RfStatus __real_rf_flow_run_layered(RfContext *, RfLayeredLimit *, const RfLayeredNet *, const double *,
                                    const double *, rf_index, RfLoss, bool, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run_layered(RfContext *, RfLayeredLimit *, const RfLayeredNet *, const double *,
                                    const double *, rf_index, RfLoss, bool, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run_layered(RfContext *context, RfLayeredLimit *limit, const RfLayeredNet *start,
                                    const double *X, const double *y, rf_index n, RfLoss loss, bool mean,
                                    const RfFlowSettings *settings) {
  RfFlowSettings own = *settings;
  if (corruption == EARLY_STOP) own.until = RF_UNTIL_TIME, own.until_value = 3;
  RfStatus status = __real_rf_flow_run_layered(context, limit, start, X, y, n, loss, mean, &own);
  if (corruption == WRONG_LIMIT && status >= 0) limit->margin *= 1.001, limit->net.theta[0] += 1e-4;
  return status;
}

RfStatus __real_rf_layers_evaluate(RfContext *, double *, double *, const RfLayeredNet *, const double *,
                                   rf_index);
RfStatus __wrap_rf_layers_evaluate(RfContext *, double *, double *, const RfLayeredNet *, const double *,
                                   rf_index);
RfStatus __wrap_rf_layers_evaluate(RfContext *context, double *out, double *hidden, const RfLayeredNet *net,
                                   const double *X, rf_index n) {
  RfStatus status = __real_rf_layers_evaluate(context, out, hidden, net, X, n);
  if (corruption == WRONG_CONSTANT && out) rf_la_scale(out, 1.01, n);
  return status;
}

RfStatus __real_rf_net_outputs(RfContext *, double *, const RfNet *, const double *, rf_index);
RfStatus __wrap_rf_net_outputs(RfContext *, double *, const RfNet *, const double *, rf_index);
RfStatus __wrap_rf_net_outputs(RfContext *context, double *out, const RfNet *net, const double *X,
                               rf_index n) {
  RfStatus status = __real_rf_net_outputs(context, out, net, X, n);
  if (corruption == WRONG_CONSTANT) rf_la_scale(out, 0.99, n);
  return status;
}

double __real_rf_loss_value(RfLoss, double);
double __wrap_rf_loss_value(RfLoss, double);
double __wrap_rf_loss_value(RfLoss loss, double q) {
  return __real_rf_loss_value(loss, q) * (corruption == WRONG_CONSTANT ? 1.01 : 1);
}

double __real_rf_loss_log_slope(RfLoss, double);
double __wrap_rf_loss_log_slope(RfLoss, double);
double __wrap_rf_loss_log_slope(RfLoss loss, double q) {
  return __real_rf_loss_log_slope(loss, q) + (corruption == WRONG_CONSTANT ? 0.01 : 0);
}

double __real_rf_loss_slope_at_zero(RfLoss);
double __wrap_rf_loss_slope_at_zero(RfLoss);
double __wrap_rf_loss_slope_at_zero(RfLoss loss) {
  return __real_rf_loss_slope_at_zero(loss) * (corruption == WRONG_CONSTANT ? 1.01 : 1);
}

double __real_rf_la_dot(const double *, const double *, rf_index);
double __wrap_rf_la_dot(const double *, const double *, rf_index);
double __wrap_rf_la_dot(const double *x, const double *y, rf_index n) {
  return __real_rf_la_dot(x, y, n) * (corruption == WRONG_SUMS ? 1.002 : 1);
}

double __real_rf_la_norm(const double *, rf_index);
double __wrap_rf_la_norm(const double *, rf_index);
double __wrap_rf_la_norm(const double *x, rf_index n) {
  return __real_rf_la_norm(x, n) * (corruption == WRONG_SUMS ? 0.5 : 1);
}

double __real_rf_geometry_potential(const double *, const double *, const double *, rf_index, rf_index,
                                    double, double);
double __wrap_rf_geometry_potential(const double *, const double *, const double *, rf_index, rf_index,
                                    double, double);
double __wrap_rf_geometry_potential(const double *w, const double *X, const double *y, rf_index n, rf_index d,
                                    double leak, double slope) {
  return __real_rf_geometry_potential(w, X, y, n, d, leak, slope) * (corruption == WRONG_SIGN ? -1 : 1);
}

RfStatus __real_rf_geometry_count_sectors(RfContext *, RfSectorCount *, const double *, rf_index, rf_index,
                                          double);
RfStatus __wrap_rf_geometry_count_sectors(RfContext *, RfSectorCount *, const double *, rf_index, rf_index,
                                          double);
RfStatus __wrap_rf_geometry_count_sectors(RfContext *context, RfSectorCount *count, const double *X,
                                          rf_index n, rf_index d, double work_limit) {
  RfStatus status = __real_rf_geometry_count_sectors(context, count, X, n, d, work_limit);
  if (corruption == WRONG_CONSTANT && count->count) {
    char *last = count->count + strlen(count->count) - 1;
    *last = *last == '9' ? '8' : (char)(*last + 1), count->approximate += 1;
  }
  return status;
}

/* ---- margins and certificates ------------------------------------------------------------------------ */

RfStatus __real_rf_optimum_solve(RfContext *, RfOptimum *, const double *, const double *, rf_index, rf_index,
                                 const RfOptimumSettings *);
RfStatus __wrap_rf_optimum_solve(RfContext *, RfOptimum *, const double *, const double *, rf_index, rf_index,
                                 const RfOptimumSettings *);
RfStatus __wrap_rf_optimum_solve(RfContext *context, RfOptimum *optimum, const double *X, const double *y,
                                 rf_index n, rf_index d, const RfOptimumSettings *settings) {
  RfStatus status = __real_rf_optimum_solve(context, optimum, X, y, n, d, settings);
  if (corruption == WRONG_OPTIMUM && status >= 0) {
    optimum->objective *= 1.001, optimum->lower *= 1.001;
    for (rf_index k = 0; optimum->lambda && k < n; k++) optimum->lambda[k] *= 1.001;
  }
  return status;
}

RfStatus __real_rf_optimum_dual_norm(RfContext *, RfDualNorm *, const double *, const double *,
                                     const double *, rf_index, rf_index, double, int);
RfStatus __wrap_rf_optimum_dual_norm(RfContext *, RfDualNorm *, const double *, const double *,
                                     const double *, rf_index, rf_index, double, int);
RfStatus __wrap_rf_optimum_dual_norm(RfContext *context, RfDualNorm *norm, const double *X, const double *y,
                                     const double *lambda, rf_index n, rf_index d, double leak, int signs) {
  RfStatus status = __real_rf_optimum_dual_norm(context, norm, X, y, lambda, n, d, leak, signs);
  if (corruption == WRONG_OPTIMUM && status >= 0) norm->value *= 1.001, norm->upper *= 1.001;
  return status;
}

RfStatus __real_rf_margin_linear(RfContext *, RfLinearMargin *, const double *, const double *, rf_index,
                                 rf_index);
RfStatus __wrap_rf_margin_linear(RfContext *, RfLinearMargin *, const double *, const double *, rf_index,
                                 rf_index);
RfStatus __wrap_rf_margin_linear(RfContext *context, RfLinearMargin *margin, const double *X, const double *y,
                                 rf_index n, rf_index d) {
  RfStatus status = __real_rf_margin_linear(context, margin, X, y, n, d);
  if (corruption == WRONG_OPTIMUM && status == RF_OK) {
    margin->margin *= 1.001;
    if (d > 1 && margin->w) margin->w[0] += 1e-3, margin->w[1] -= 1e-3;
  }
  return status;
}

RfStatus __real_rf_margin_class(RfContext *, RfClassMargin *, const double *, const double *, rf_index,
                                rf_index, int);
RfStatus __wrap_rf_margin_class(RfContext *, RfClassMargin *, const double *, const double *, rf_index,
                                rf_index, int);
RfStatus __wrap_rf_margin_class(RfContext *context, RfClassMargin *margin, const double *X, const double *y,
                                rf_index n, rf_index d, int sign) {
  RfStatus status = __real_rf_margin_class(context, margin, X, y, n, d, sign);
  if (corruption == WRONG_OPTIMUM && status == RF_OK && margin->w)
    margin->norm *= 0.999, rf_la_scale(margin->w, 0.999, d);
  return status;
}

static RfVerdict opposite(RfVerdict verdict) {
  return verdict == RF_VERDICT_OPTIMUM ? RF_VERDICT_NOT_OPTIMUM : RF_VERDICT_OPTIMUM;
}

RfStatus __real_rf_certify_net(RfContext *, RfCertificate *, const RfNet *, const double *, const double *,
                               rf_index, const RfCertifySettings *);
RfStatus __wrap_rf_certify_net(RfContext *, RfCertificate *, const RfNet *, const double *, const double *,
                               rf_index, const RfCertifySettings *);
RfStatus __wrap_rf_certify_net(RfContext *context, RfCertificate *certificate, const RfNet *net,
                               const double *X, const double *y, rf_index n,
                               const RfCertifySettings *settings) {
  RfStatus status = __real_rf_certify_net(context, certificate, net, X, y, n, settings);
  if (corruption == WRONG_VERDICT && status >= 0) {
    certificate->kkt.holds = !certificate->kkt.holds;
    certificate->local = opposite(certificate->local), certificate->global = opposite(certificate->global);
  }
  return status;
}

RfStatus __real_rf_certify_kkt(RfContext *, RfKkt *, const RfNet *, const double *, const double *, rf_index);
RfStatus __wrap_rf_certify_kkt(RfContext *, RfKkt *, const RfNet *, const double *, const double *, rf_index);
RfStatus __wrap_rf_certify_kkt(RfContext *context, RfKkt *kkt, const RfNet *net, const double *X,
                               const double *y, rf_index n) {
  RfStatus status = __real_rf_certify_kkt(context, kkt, net, X, y, n);
  if (corruption == WRONG_VERDICT && status >= 0) kkt->holds = !kkt->holds, kkt->stationarity += 0.1;
  return status;
}

/* ---- draws and data ---------------------------------------------------------------------------------- */

double __real_rf_random_gaussian(RfRandom *);
double __wrap_rf_random_gaussian(RfRandom *);
double __wrap_rf_random_gaussian(RfRandom *random) {
  double value = __real_rf_random_gaussian(random);
  return corruption == BIASED_DRAWS ? fabs(value) : value;
}

double __real_rf_random_uniform(RfRandom *);
double __wrap_rf_random_uniform(RfRandom *);
double __wrap_rf_random_uniform(RfRandom *random) {
  double value = __real_rf_random_uniform(random);
  return corruption == BIASED_DRAWS ? value * value : value;
}

void __real_rf_random_direction(RfRandom *, double *, rf_index);
void __wrap_rf_random_direction(RfRandom *, double *, rf_index);
void __wrap_rf_random_direction(RfRandom *random, double *out, rf_index d) {
  __real_rf_random_direction(random, out, d);
  if (corruption == BIASED_DRAWS) out[0] = fabs(out[0]);
}

RfStatus __real_rf_data_generate(RfContext *, RfDataset *, const char *);
RfStatus __wrap_rf_data_generate(RfContext *, RfDataset *, const char *);
RfStatus __wrap_rf_data_generate(RfContext *context, RfDataset *data, const char *spec) {
  RfStatus status = __real_rf_data_generate(context, data, spec);
  if (corruption == WRONG_LABEL && status == RF_OK && data->n > 0 && data->y) data->y[0] = -data->y[0];
  return status;
}

/* ---- the test ---------------------------------------------------------------------------------------- */

static const RfClaim *find_claim(const char *id) {
  for (rf_index k = 0; k < rf_claims_count(); k++)
    if (strcmp(rf_claim_at(k)->id, id) == 0) return rf_claim_at(k);
  return NULL;
}

static RfClaimResult run_claim(const RfClaim *claim, Corruption how) {
  RfContext context;
  RfClaimResult result;
  RfClaimSettings settings = rf_claim_settings_default();
  rf_context_init(&context);
  rf_context_limit(&context, 60);
  settings.quick = true;
  corruption = how;
  (void)rf_claims_run(&context, &result, &claim, 1, &settings);
  corruption = SOUND;
  rf_claim_result_free(&result);
  return result;
}

/* One claim of each kind and what it must notice, wrong signs, wrong constants and early stops among them. */
static const struct {
  const char *claim;
  RfClaimKind kind;
  Corruption how;
} rows[] = {
    {"WP-05", RF_CLAIM_IDENTITY, WRONG_OPTIMUM},       {"VSS-02", RF_CLAIM_IDENTITY, WRONG_SIGN},
    {"LLWA-13", RF_CLAIM_BOUND, WRONG_CONSTANT},       {"LLWA-13", RF_CLAIM_BOUND, EARLY_STOP},
    {"LLWA-17", RF_CLAIM_LIMIT, EARLY_STOP},           {"VSS-06", RF_CLAIM_LIMIT, WRONG_LIMIT},
    {"MMV-14", RF_CLAIM_RATE, WRONG_CONSTANT},         {"MMV-14", RF_CLAIM_RATE, WRONG_LABEL},
    {"PL-15", RF_CLAIM_PROBABILITY, WRONG_VERDICT},    {"VSS-08", RF_CLAIM_PROBABILITY, BIASED_DRAWS},
    {"PL-17", RF_CLAIM_CONSTRUCTION, WRONG_CONSTANT},  {"PL-17", RF_CLAIM_CONSTRUCTION, WRONG_VERDICT},
    {"VSS-13", RF_CLAIM_COUNTER_EXAMPLE, EARLY_STOP},  {"VSS-14", RF_CLAIM_COUNTER_EXAMPLE, WRONG_CONSTANT},
    {"VSS-16", RF_CLAIM_COUNTER_EXAMPLE, WRONG_LIMIT}, {"VSS-23", RF_CLAIM_FIGURE, EARLY_STOP},
    {"WP-26", RF_CLAIM_TABLE, WRONG_OPTIMUM},          {"WP-27", RF_CLAIM_TABLE, WRONG_LABEL},
};

static void every_kind_can_fail(void **state) {
  (void)state;
  bool seen[RF_CLAIM_TABLE + 1] = {false};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    const RfClaim *claim = find_claim(rows[k].claim);
    assert_non_null(claim);
    assert_int_equal(claim->kind, rows[k].kind);
    RfClaimResult sound = run_claim(claim, SOUND), corrupted = run_claim(claim, rows[k].how);
    if (sound.verdict != RF_CLAIM_PASS)
      print_error("%s fails on the sound engine: %s\n", claim->id, sound.note);
    assert_int_equal(sound.verdict, RF_CLAIM_PASS);
    if (corrupted.verdict != RF_CLAIM_FAIL)
      print_error("%s does not notice: %s\n", claim->id, names[rows[k].how]);
    assert_int_equal(corrupted.verdict, RF_CLAIM_FAIL);
    assert_true(strlen(corrupted.note) > 0);
    seen[claim->kind] = true;
  }
  for (int kind = 0; kind <= RF_CLAIM_TABLE; kind++) assert_true(seen[kind]);
}

/* Nearly every quick claim notices some corruption; the rest are arithmetic without the engine. */
static void most_claims_notice(void **state) {
  (void)state;
  rf_index asked = 0, noticed = 0;
  for (rf_index k = 0; k < rf_claims_count(); k++) {
    const RfClaim *claim = rf_claim_at(k);
    if (claim->cost != RF_CLAIM_QUICK) continue;
    bool fails = false;
    for (int c = SOUND + 1; c < CORRUPTIONS && !fails; c++)
      fails = run_claim(claim, (Corruption)c).verdict == RF_CLAIM_FAIL;
    if (!fails) print_message("%s (%s) notices no corruption\n", claim->id, rf_claim_kind_name(claim->kind));
    asked++, noticed += fails;
  }
  print_message("%lld of %lld quick claims notice a corruption\n", (long long)noticed, (long long)asked);
  assert_true(asked > 50 && 10 * noticed >= 8 * asked);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_can_fail),
                                     cmocka_unit_test(most_claims_notice)};
  return cmocka_run_group_tests_name("claims/corruption", tests, NULL, NULL);
}

/* Every claim of Wang and Pilanci can fail: it passes on the sound engine and notices the corruptions named
 * beside it. The linker lets these functions pass through this file.
 * --wrap: rf_flow_run rf_train_run rf_optimum_solve rf_optimum_dual_norm rf_margin_class rf_la_nnls
 * --wrap: rf_la_norm rf_loss_log_slope rf_loss_slope_at_zero rf_geometry_sectors_next
 * --wrap: rf_geometry_spike_free rf_geometry_extremal rf_net_outputs rf_data_generate */
#include "kit/claims.h"
#include "rf_test.h"

typedef enum Corruption {
  SOUND = 0,
  EARLY_STOP,    /* flows and training end too soon */
  UNEVEN_STOP,   /* only every second flow does */
  WRONG_CLOCK,   /* times are off by five percent: another slope of the loss at 0 */
  TURNED,        /* neurons seen along the flow are turned a little, and limits with them */
  WRONG_SIZE,    /* neurons seen along the flow grow too fast, a is too long, margins are off by 1 */
  WRONG_OPTIMUM, /* optima and class vectors are a little too good */
  LONG_LAMBDA,   /* multipliers are one percent too long */
  WRONG_CONE,    /* least squares report one percent more than they found */
  WRONG_SLOPE,   /* -loss'(0) = 1/4, as printed */
  LOST_SECTOR,   /* one arrangement is missing */
  WRONG_SPIKE,   /* spike numbers are off by a thousandth */
  HALF_NORM,     /* norms of vectors are halved */
  WRONG_LABEL,   /* a sample of a generated dataset has the wrong label */
  CORRUPTIONS
} Corruption;

static Corruption corruption;
static int calls;

/* ---- flows and training ---------------------------------------------------------------------------- */

static void turn(double *w) {
  double x = w[0], y = w[1];
  w[0] = cos(0.05) * x - sin(0.05) * y, w[1] = sin(0.05) * x + cos(0.05) * y;
}

typedef struct Watched {
  const RfFlowSettings *settings;
} Watched;

static void observe(void *observer, const RfFlowMoment *moment) {
  const RfFlowSettings *settings = ((const Watched *)observer)->settings;
  RfFlowMoment seen = *moment;
  double directions[64 * 8];
  if (corruption == TURNED && moment->d >= 2 && moment->m * (moment->d + 1) <= 64 * 8) {
    memcpy(directions, moment->directions, (size_t)(moment->m * (moment->d + 1)) * sizeof *directions);
    for (rf_index k = 0; k < moment->m; k++) turn(directions + k * (moment->d + 1));
    seen.directions = directions;
  }
  double sizes[64], q[64];
  if (corruption == WRONG_SIZE && moment->d >= 2 && moment->m * (moment->d + 1) <= 64 * 8) {
    memcpy(directions, moment->directions, (size_t)(moment->m * (moment->d + 1)) * sizeof *directions);
    for (rf_index k = 0; k < moment->m && k < 64; k++) {
      directions[k * (moment->d + 1) + moment->d] *= 1.001;
      sizes[k] = moment->log_norms[k] + 30 * exp(moment->log_t);
    }
    for (rf_index i = 0; i < moment->n && i < 64; i++) q[i] = moment->q[i] + 1;
    seen.directions = directions, seen.log_norms = sizes, seen.q = q;
  }
  if (corruption == WRONG_CLOCK) seen.log_t += log(1.05);
  settings->observe(settings->observer, &seen);
}

RfStatus __real_rf_flow_run(RfContext *, RfFlowResult *, const RfFlowProblem *, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run(RfContext *, RfFlowResult *, const RfFlowProblem *, const RfFlowSettings *);
RfStatus __wrap_rf_flow_run(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                            const RfFlowSettings *settings) {
  RfFlowSettings own = *settings;
  Watched watched = {settings};
  if (settings->observe) own.observe = observe, own.observer = &watched;
  if (corruption == EARLY_STOP || (corruption == UNEVEN_STOP && calls++ % 2)) {
    if (own.until == RF_UNTIL_TIME) own.until_value *= 0.3;
    if (own.until == RF_UNTIL_INFINITY) own.until = RF_UNTIL_LOSS, own.until_value = 1e-3;
  }
  RfStatus status = __real_rf_flow_run(context, result, problem, &own);
  if (status >= 0 && corruption == TURNED && result->limit.net.W && problem->d >= 2) {
    result->limit.margin *= 0.999;
    for (rf_index k = 0; k < result->limit.net.m; k++) turn(result->limit.net.W + k * problem->d);
  }
  for (rf_index i = 0; status >= 0 && corruption == LONG_LAMBDA && result->limit.lambda && i < problem->n;
       i++)
    result->limit.lambda[i] *= 1.01;
  return status;
}

RfStatus __real_rf_train_run(RfContext *, RfTrainResult *, const RfLayeredNet *, const RfTrainData *,
                             const RfTrainSettings *);
RfStatus __wrap_rf_train_run(RfContext *, RfTrainResult *, const RfLayeredNet *, const RfTrainData *,
                             const RfTrainSettings *);
RfStatus __wrap_rf_train_run(RfContext *context, RfTrainResult *result, const RfLayeredNet *net,
                             const RfTrainData *data, const RfTrainSettings *settings) {
  RfTrainSettings own = *settings;
  if (corruption == EARLY_STOP) own.max_steps /= 50;
  return __real_rf_train_run(context, result, net, data, &own);
}

/* ---- optima ------------------------------------------------------------------------------------------ */

RfStatus __real_rf_optimum_solve(RfContext *, RfOptimum *, const double *, const double *, rf_index, rf_index,
                                 const RfOptimumSettings *);
RfStatus __wrap_rf_optimum_solve(RfContext *, RfOptimum *, const double *, const double *, rf_index, rf_index,
                                 const RfOptimumSettings *);
RfStatus __wrap_rf_optimum_solve(RfContext *context, RfOptimum *optimum, const double *X, const double *y,
                                 rf_index n, rf_index d, const RfOptimumSettings *settings) {
  RfStatus status = __real_rf_optimum_solve(context, optimum, X, y, n, d, settings);
  if (status == RF_OK && corruption == WRONG_OPTIMUM) {
    optimum->objective *= 0.999;
    for (rf_index j = 0; j < optimum->neurons * d; j++) optimum->U[j] *= j % 2 ? 0.999 : 0.99;
  }
  for (rf_index i = 0; status == RF_OK && corruption == LONG_LAMBDA && optimum->lambda && i < n; i++)
    optimum->lambda[i] *= 1.01;
  return status;
}

RfStatus __real_rf_optimum_dual_norm(RfContext *, RfDualNorm *, const double *, const double *,
                                     const double *, rf_index, rf_index, double, int);
RfStatus __wrap_rf_optimum_dual_norm(RfContext *, RfDualNorm *, const double *, const double *,
                                     const double *, rf_index, rf_index, double, int);
RfStatus __wrap_rf_optimum_dual_norm(RfContext *context, RfDualNorm *norm, const double *X, const double *y,
                                     const double *lambda, rf_index n, rf_index d, double leak, int signs) {
  RfStatus status = __real_rf_optimum_dual_norm(context, norm, X, y, lambda, n, d, leak, signs);
  if (status == RF_OK && corruption == WRONG_OPTIMUM) norm->value *= 0.999, norm->upper *= 0.999;
  return status;
}

RfStatus __real_rf_margin_class(RfContext *, RfClassMargin *, const double *, const double *, rf_index,
                                rf_index, int);
RfStatus __wrap_rf_margin_class(RfContext *, RfClassMargin *, const double *, const double *, rf_index,
                                rf_index, int);
RfStatus __wrap_rf_margin_class(RfContext *context, RfClassMargin *margin, const double *X, const double *y,
                                rf_index n, rf_index d, int sign) {
  RfStatus status = __real_rf_margin_class(context, margin, X, y, n, d, sign);
  if (status == RF_OK && corruption == WRONG_OPTIMUM && margin->w) {
    margin->norm *= 0.999;
    for (rf_index j = 0; j < d; j++) margin->w[j] *= 0.999;
  }
  return status;
}

RfStatus __real_rf_la_nnls(RfContext *, double *, double *, RfLeastSquaresInfo *, const double *,
                           const double *, rf_index, rf_index, rf_index, RfLeastSquaresWork *);
RfStatus __wrap_rf_la_nnls(RfContext *, double *, double *, RfLeastSquaresInfo *, const double *,
                           const double *, rf_index, rf_index, rf_index, RfLeastSquaresWork *);
RfStatus __wrap_rf_la_nnls(RfContext *context, double *x, double *residual, RfLeastSquaresInfo *info,
                           const double *columns, const double *f, rf_index rows, rf_index cols,
                           rf_index stride, RfLeastSquaresWork *work) {
  RfStatus status = __real_rf_la_nnls(context, x, residual, info, columns, f, rows, cols, stride, work);
  if (corruption == WRONG_CONE && info) info->residual *= 1.01;
  return status;
}

/* ---- points, sectors, data ----------------------------------------------------------------- */

double __real_rf_la_norm(const double *, rf_index);
double __wrap_rf_la_norm(const double *, rf_index);
double __wrap_rf_la_norm(const double *x, rf_index n) {
  return __real_rf_la_norm(x, n) * (corruption == HALF_NORM ? 0.5 : 1);
}

double __real_rf_loss_log_slope(RfLoss, double);
double __wrap_rf_loss_log_slope(RfLoss, double);
double __wrap_rf_loss_log_slope(RfLoss loss, double q) {
  return __real_rf_loss_log_slope(loss, q) - (corruption == WRONG_SLOPE ? log(2) : 0);
}

double __real_rf_loss_slope_at_zero(RfLoss);
double __wrap_rf_loss_slope_at_zero(RfLoss);
double __wrap_rf_loss_slope_at_zero(RfLoss loss) {
  return __real_rf_loss_slope_at_zero(loss) * (corruption == WRONG_SLOPE ? 0.5 : 1);
}

RfStatus __real_rf_geometry_sectors_next(RfContext *, RfSectors *, bool *, const uint64_t **,
                                         const double **);
RfStatus __wrap_rf_geometry_sectors_next(RfContext *, RfSectors *, bool *, const uint64_t **,
                                         const double **);
RfStatus __wrap_rf_geometry_sectors_next(RfContext *context, RfSectors *sectors, bool *found,
                                         const uint64_t **positive, const double **witness) {
  RfStatus status = __real_rf_geometry_sectors_next(context, sectors, found, positive, witness);
  if (corruption == LOST_SECTOR && status == RF_OK && *found && calls++ % 4 == 1)
    status = __real_rf_geometry_sectors_next(context, sectors, found, positive, witness);
  return status;
}

RfStatus __real_rf_geometry_spike_free(RfContext *, RfSpikeFree *, const double *, rf_index, rf_index,
                                       rf_index);
RfStatus __wrap_rf_geometry_spike_free(RfContext *, RfSpikeFree *, const double *, rf_index, rf_index,
                                       rf_index);
RfStatus __wrap_rf_geometry_spike_free(RfContext *context, RfSpikeFree *spike, const double *X, rf_index n,
                                       rf_index d, rf_index max_rows) {
  RfStatus status = __real_rf_geometry_spike_free(context, spike, X, n, d, max_rows);
  if (corruption == WRONG_SPIKE) spike->number *= 0.999;
  return status;
}

RfStatus __real_rf_geometry_extremal(RfContext *, RfExtremal *, const double *, const double *, rf_index,
                                     rf_index, const RfExtremalSettings *);
RfStatus __wrap_rf_geometry_extremal(RfContext *, RfExtremal *, const double *, const double *, rf_index,
                                     rf_index, const RfExtremalSettings *);
RfStatus __wrap_rf_geometry_extremal(RfContext *context, RfExtremal *extremal, const double *X,
                                     const double *y, rf_index n, rf_index d,
                                     const RfExtremalSettings *settings) {
  RfStatus status = __real_rf_geometry_extremal(context, extremal, X, y, n, d, settings);
  if (corruption == TURNED && d >= 2 && extremal->n_positive > 0) turn(extremal->positive[0].direction);
  return status;
}

RfStatus __real_rf_net_outputs(RfContext *, double *, const RfNet *, const double *, rf_index);
RfStatus __wrap_rf_net_outputs(RfContext *, double *, const RfNet *, const double *, rf_index);
RfStatus __wrap_rf_net_outputs(RfContext *context, double *out, const RfNet *net, const double *X,
                               rf_index n) {
  RfStatus status = __real_rf_net_outputs(context, out, net, X, n);
  for (rf_index i = 0; corruption == WRONG_OPTIMUM && i < n; i++) out[i] *= 0.999;
  return status;
}

RfStatus __real_rf_data_generate(RfContext *, RfDataset *, const char *);
RfStatus __wrap_rf_data_generate(RfContext *, RfDataset *, const char *);
RfStatus __wrap_rf_data_generate(RfContext *context, RfDataset *data, const char *spec) {
  RfStatus status = __real_rf_data_generate(context, data, spec);
  if (corruption == WRONG_LABEL && status == RF_OK && data->n > 0 && data->y) data->y[0] = -data->y[0];
  return status;
}

/* ---- the test ------------------------------------------------------------------------------ */

static const struct {
  const char *id;
  Corruption notices[3]; /* each of these must make it fail */
} rows[] = {
    {"WP-01", {WRONG_OPTIMUM, WRONG_CONE}},
    {"WP-02", {WRONG_OPTIMUM, LONG_LAMBDA}},
    {"WP-03", {LOST_SECTOR}},
    {"WP-04", {TURNED, LONG_LAMBDA, EARLY_STOP}},
    {"WP-05", {WRONG_CONE, WRONG_OPTIMUM}},
    {"WP-06", {WRONG_OPTIMUM, WRONG_LABEL}},
    {"WP-07", {WRONG_LABEL}},
    {"WP-08", {WRONG_SPIKE}},
    {"WP-09", {TURNED, LONG_LAMBDA, WRONG_CONE}},
    {"WP-10", {WRONG_SIZE}},
    {"WP-11", {UNEVEN_STOP}},
    {"WP-12", {WRONG_SLOPE}},
    {"WP-13", {WRONG_SIZE}},
    {"WP-14", {WRONG_SIZE}},
    {"WP-15", {WRONG_CLOCK, TURNED}},
    {"WP-16", {WRONG_CLOCK}},
    {"WP-17", {WRONG_CLOCK, EARLY_STOP, TURNED}},
    {"WP-18", {TURNED, EARLY_STOP}},
    {"WP-19", {TURNED, WRONG_LABEL}},
    {"WP-20", {HALF_NORM}},
    {"WP-21", {LOST_SECTOR}},
    {"WP-22", {TURNED, LONG_LAMBDA, EARLY_STOP}},
    {"WP-23", {TURNED, EARLY_STOP, WRONG_OPTIMUM}},
    {"WP-24", {TURNED, EARLY_STOP, WRONG_OPTIMUM}},
    {"WP-25", {WRONG_CONE, WRONG_OPTIMUM}},
    {"WP-26", {WRONG_OPTIMUM, LONG_LAMBDA, WRONG_LABEL}},
    {"WP-27", {WRONG_OPTIMUM, LONG_LAMBDA, WRONG_LABEL}},
    {"WP-28", {WRONG_OPTIMUM, LONG_LAMBDA}},
    {"WP-29", {EARLY_STOP}},
    {"WP-30", {EARLY_STOP}},
};

static RfClaimResult run_claim(const RfClaim *claim, Corruption how) {
  RfContext context;
  RfClaimResult result;
  RfClaimSettings settings = rf_claim_settings_default();
  RfClaim copy = *claim;
  const RfClaim *list[] = {&copy};
  rf_context_init(&context);
  rf_context_limit(&context, 60);
  settings.quick = true, copy.cost = RF_CLAIM_QUICK;
  corruption = how, calls = 0;
  (void)rf_claims_run(&context, &result, list, 1, &settings);
  corruption = SOUND;
  rf_claim_result_free(&result);
  return result;
}

static void every_claim_can_fail(void **state) {
  (void)state;
  rf_index claims = 0, silent = 0;
  for (rf_index k = 0; k < rf_claims_count(); k++) claims += rf_claim_matches(rf_claim_at(k), "WP");
  assert_int_equal(claims, sizeof rows / sizeof rows[0]);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    const RfClaim *claim = NULL;
    for (rf_index k = 0; k < rf_claims_count(); k++)
      if (strcmp(rf_claim_at(k)->id, rows[r].id) == 0) claim = rf_claim_at(k);
    assert_non_null(claim);
    RfClaimResult sound = run_claim(claim, SOUND);
    if (sound.verdict != RF_CLAIM_PASS) fail_msg("%s on the sound engine: %s", claim->id, sound.note);
    for (int c = 0; c < 3 && rows[r].notices[c]; c++) {
      RfClaimResult corrupted = run_claim(claim, rows[r].notices[c]);
      if (corrupted.verdict != RF_CLAIM_PASS) continue;
      print_error("%s does not notice corruption %d\n", claim->id, (int)rows[r].notices[c]);
      silent++;
    }
  }
  assert_int_equal(silent, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_claim_can_fail)};
  return cmocka_run_group_tests_name("ledger/wp/claims", tests, NULL, NULL);
}

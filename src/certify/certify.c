/* The whole certificate of a network: KKT residuals, the bounds of the global optimum, and the two verdicts.
 */
#include "certify_internal.h"

#include "reluflow/train.h"

#include <math.h>
#include <string.h>

const char *rf_verdict_name(RfVerdict verdict) {
  switch (verdict) {
  case RF_VERDICT_OPTIMUM: return "optimum";
  case RF_VERDICT_NOT_OPTIMUM: return "not-optimum";
  default: return "unknown";
  }
}

RfCertifyTolerances rf_certify_tolerances(const RfContext *context) {
  double x = context->tol.kkt;
  return (RfCertifyTolerances){.kkt = x,
                               .kink = RF_CERTIFY_KINK * x,
                               .tight = RF_CERTIFY_TIGHT * x,
                               .zero_neuron = RF_CERTIFY_ZERO * x,
                               .gap = context->tol.gap};
}

void rf_certify_settings_init(RfCertifySettings *settings) {
  *settings = (RfCertifySettings){.global = true, .time_limit = 60, .most_kinks = 12};
}

void rf_certificate_free(RfCertificate *certificate) {
  rf_kkt_free(&certificate->kkt);
  rf_net_free(&certificate->witness);
  rf_free(certificate->direction);
  rf_optimum_free(&certificate->optimum);
  memset(certificate, 0, sizeof *certificate);
}

/* ---- bounds ----------------------------------------------------------------------------------------- */

/* Is lambda dual feasible, and which direction violates it most? Its own bound is sum(lambda)/max(M, 1). */
static RfStatus check_dual(RfContext *context, RfCertificate *c, const double *X, const double *y,
                           double leak) {
  RfDualNorm norm = {0};
  const RfKkt *kkt = &c->kkt;
  RfStatus status = rf_optimum_dual_norm(context, &norm, X, y, kkt->lambda, kkt->n, kkt->d, leak, 0);
  if (status >= 0) {
    double slack = context->tol.gap, sum = 0;
    c->dual_feasible = norm.upper <= 1 + slack ? RF_YES : norm.value > 1 + slack ? RF_NO : RF_UNKNOWN;
    c->dual_norm = norm.upper;
    c->violation = fmax(0, norm.value - 1);
    c->direction = norm.u;
    c->direction_sign = norm.sign;
    norm.u = NULL;
    for (rf_index i = 0; i < kkt->n; i++) sum += kkt->lambda[i];
    double bound = isfinite(norm.upper) ? sum / fmax(1, norm.upper) : 0;
    if (!(c->lower >= bound)) c->lower = bound;
  }
  rf_dual_norm_free(&norm);
  return status;
}

static RfStatus find_bounds(RfContext *context, RfCertificate *c, const RfNet *net, const double *X,
                            const double *y, rf_index n, const RfCertifySettings *settings) {
  const RfOptimum *optimum = settings->optimum;
  RfStatus status = RF_OK;
  if (!optimum) {
    RfOptimumSettings search;
    rf_optimum_settings_init(&search);
    search.leak = net->leak;
    search.time_limit = settings->time_limit;
    if (isfinite(context->deadline)) { /* leave some of the caller's time for the verdicts */
      double left = 0.8 * (context->deadline - rf_clock_seconds());
      if (!(search.time_limit > 0) || left < search.time_limit)
        search.time_limit = fmax(left, RF_CERTIFY_LEAST_TIME);
    }
    search.seed = settings->seed;
    status = rf_optimum_solve(context, &c->optimum, X, y, n, net->d, &search);
    if (status < 0) return status;
    optimum = &c->optimum;
  }
  c->lower = optimum->lower;
  c->best = optimum->objective;
  c->width_needed = optimum->neurons;
  return status == RF_INTERRUPTED && !rf_context_stop(context)
             ? RF_OK
             : status; /* its own time limit is no reason to stop */
}

/* ---- verdicts --------------------------------------------------------------------------------------- */

/* A KKT point whose objective meets the certified bound. */
static bool meets_bound(const RfCertificate *c) { return c->kkt.holds && c->gap <= c->tolerances.gap; }

/* The order matters: a better network refutes both, however small the gap; a global optimum is a local one.
 */
static void decide_global(RfCertificate *c) {
  double objective = c->kkt.objective, gap = c->tolerances.gap;
  if (c->local == RF_VERDICT_NOT_OPTIMUM) {
    c->global = RF_VERDICT_NOT_OPTIMUM;
    c->global_why = "there is a better network of the same width: the witness";
  } else if (meets_bound(c)) {
    c->global = c->local = RF_VERDICT_OPTIMUM;
    c->global_why = "it meets the certified lower bound of networks of any width";
    c->local_why = "it attains the certified global optimum";
  } else if (c->gap <= gap) {
    c->global_why =
        "its objective is within the tolerance of the best possible, but it is not a KKT point to it";
  } else if (c->best < objective * (1 - gap) && c->width_needed <= c->kkt.m) {
    c->global = RF_VERDICT_NOT_OPTIMUM;
    c->global_why = "a network with no more neurons has a larger margin";
  } else if (c->best < objective * (1 - gap)) {
    c->global_why = "a wider network has a larger margin; whether one of this width has is not known";
  } else {
    c->global_why = "the certified lower bound is not close enough to decide";
  }
}

static void not_separating(RfCertificate *c) {
  c->local = c->global = RF_VERDICT_NOT_OPTIMUM;
  c->local_why = c->global_why = "the network does not separate the data, so it satisfies no margin at all";
}

/* Each layer against its own problem with the other frozen. At kinks the frozen slopes are leak, which may
 * make the layer's problem a different one: only a vanishing gap counts then. */
static RfStatus compare_layers(RfContext *context, RfCertificate *c, const RfNet *net, const double *X,
                               const double *y, rf_index n) {
  RfLayeredNet layered = {0};
  RfStatus status = rf_train_from_net(context, &layered, net);
  if (!status) status = rf_certify_each_layer(context, c->layers, &layered, X, y, n);
  c->layers_known = status == RF_OK;
  for (int l = 0; l < 2 && c->layers_known; l++) {
    double gap = c->layers[l].gap;
    c->layer_verdicts[l] = gap <= context->tol.gap            ? RF_VERDICT_OPTIMUM
                           : c->kkt.n_kinks > 0 || !(gap > 0) ? RF_VERDICT_UNKNOWN
                                                              : RF_VERDICT_NOT_OPTIMUM;
  }
  rf_layers_free(&layered);
  return status == RF_ERR_MEMORY ? status : RF_OK;
}

/* The nearest KKT point, and with settings->prove an exact one. Wide networks are looked at with their
 * neurons on one ray merged. */
static RfStatus find_nearest(RfContext *context, RfCertificate *c, const RfPoint *point, const RfNet *net,
                             bool prove) {
  RfKktSystem found = {0};
  RfPoint merged = {0};
  rf_index *place = NULL;
  RfStatus status = RF_OK;
  if (point->m * (point->d + 1) > RF_KKT_MOST_UNKNOWNS) {
    place = RF_NEW(rf_index, point->m);
    status = place ? rf_point_merge(context, &merged, place, point)
                   : rf_fail(context, RF_ERR_MEMORY, "out of memory for a KKT point");
  }
  if (!status) status = rf_certify_nearest(context, &c->nearest, &found, place ? &merged : point);
  if (!status && prove) status = rf_certify_prove(context, &c->proved, &found, net, place);
  rf_kkt_system_free(&found);
  rf_point_free(&merged);
  rf_free(place);
  return status;
}

static RfStatus certify_point(RfContext *context, RfCertificate *c, const RfNet *net, const double *X,
                              const double *y, rf_index n, const RfCertifySettings *settings) {
  RfPoint point = {0};
  RfStatus status = rf_point_new(context, &point, net, X, y, n);
  if (!status) status = find_nearest(context, c, &point, net, settings->prove);
  if (!status && settings->global) status = find_bounds(context, c, net, X, y, n, settings);
  if (!status && settings->global) status = check_dual(context, c, X, y, net->leak);
  if (settings->global) c->gap = (c->kkt.objective - c->lower) / c->kkt.objective;
  if (!status) status = rf_certify_local(context, c, &point, meets_bound(c), settings);
  if (!status) status = compare_layers(context, c, net, X, y, n);
  if (status >= 0 && settings->global) decide_global(c);
  rf_point_free(&point);
  return status;
}

RfStatus rf_certify_net(RfContext *context, RfCertificate *certificate, const RfNet *net, const double *X,
                        const double *y, rf_index n, const RfCertifySettings *settings) {
  RfCertifySettings usual;
  rf_certify_settings_init(&usual);
  if (!settings) settings = &usual;
  *certificate = (RfCertificate){.tolerances = rf_certify_tolerances(context),
                                 .nearest = {.distance = NAN, .stationarity = NAN},
                                 .proved = {.asked = settings->prove,
                                            .why = "the network does not separate the data",
                                            .distance = NAN,
                                            .radius = NAN,
                                            .margin_lower = NAN,
                                            .margin_upper = NAN,
                                            .slack = NAN},
                                 .norm2_drop = NAN,
                                 .lower = NAN,
                                 .best = NAN,
                                 .gap = NAN,
                                 .dual_norm = NAN,
                                 .violation = NAN,
                                 .dual_feasible = RF_UNKNOWN,
                                 .local_why = "not decided",
                                 .global_why = settings->global ? "not decided" : "not asked for"};
  RfStatus status = rf_certify_kkt(context, &certificate->kkt, net, X, y, n);
  if (status == RF_NOT_SEPARABLE) {
    not_separating(certificate);
    RfStatus bounds =
        settings->global && n > 0 ? find_bounds(context, certificate, net, X, y, n, settings) : RF_OK;
    if (bounds < 0 || bounds == RF_INTERRUPTED) status = bounds;
  } else if (status == RF_OK || status == RF_LIMIT) {
    status = certify_point(context, certificate, net, X, y, n, settings);
  }
  certificate->interrupted = status == RF_INTERRUPTED;
  if (status < 0) rf_certificate_free(certificate);
  return status;
}

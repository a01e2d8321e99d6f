/* Certificates for layered networks: the projection of theta on the cone of the gradients, and each layer
 * against its own convex problem (Vardi, Shamir, Srebro: Problems 2 and 4, equation (11)). */
#include "certify_tolerances.h"
#include "certify/layered_slopes.h"

#include "reluflow/certify.h"
#include "layers/layers.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "margin/margin.h"

void rf_layered_kkt_free(RfLayeredKkt *kkt) {
  if (!kkt) return;
  rf_free(kkt->margins);
  rf_free(kkt->lambda);
  memset(kkt, 0, sizeof *kkt);
}

/* The network scaled to min margin 1: its weights, the outputs' gradients there, and the margins. */
typedef struct Scaled {
  RfLayeredNet net;
  double *J, *q; /* n rows of n_parameters; n */
  double margin;
} Scaled;

static void scaled_free(Scaled *s) {
  rf_layers_free(&s->net);
  rf_free(s->J);
  rf_free(s->q);
}

/* theta -> theta / min_q^{1/D}: then the smallest margin is 1. */
static RfStatus scale(RfContext *context, Scaled *s, const RfLayeredNet *net, const double *X,
                      const double *y, rf_index n) {
  rf_index D = rf_layers_homogeneity(net), size;
  memset(s, 0, sizeof *s);
  if (D == 0)
    return rf_fail(context, RF_ERR_USAGE,
                   "certificates need a homogeneous network (no residual connections)");
  RfStatus status = rf_layers_copy(context, &s->net, net);
  if (status) return status;
  s->q = RF_NEW(double, n);
  if (rf_multiply_sizes(&size, n, net->n_parameters)) s->J = RF_NEW(double, size);
  if (!s->q || !s->J) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  status = rf_layers_evaluate(context, s->q, NULL, net, X, n);
  if (status) return status;
  double least = INFINITY, norm = rf_la_norm(net->theta, net->n_parameters);
  for (rf_index i = 0; i < n; i++) s->q[i] *= y[i], least = fmin(least, s->q[i]);
  s->margin = least / pow(norm, (double)D);
  if (!(least > 0)) return RF_NOT_SEPARABLE;
  rf_la_scale(s->net.theta, pow(least, -1.0 / (double)D), net->n_parameters);
  rf_la_scale(s->q, 1 / least, n);
  return rf_layers_jacobian(context, s->J, &s->net, X, n);
}

/* Hidden inputs that count as zero, on samples that carry weight. */
static RfStatus count_kinks(RfContext *context, RfLayeredKkt *kkt, const RfLayeredNet *net, const double *X,
                            rf_index n) {
  rf_index width = rf_layers_hidden(net);
  double *hidden = RF_NEW(double, n *width), *out = RF_NEW(double, n);
  RfStatus status = RF_OK;
  if (!hidden || !out) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  if (!status) status = rf_layers_evaluate(context, out, hidden, net, X, n);
  double largest = status ? 0 : rf_la_max_abs(hidden, n * width);
  for (rf_index k = 0; k < n * width && !status; k++)
    kkt->kinks += kkt->lambda[k / width] > 0 &&
                  fabs(hidden[k]) <= rf_certify_tolerances(context).kink * largest && net->leak < 1;
  rf_free(hidden);
  rf_free(out);
  return status;
}

/* minimise stationarity^2 + complementarity^2 over lambda >= 0: columns (y_i J_i, (2/|theta|)(q_i - 1)),
 * target (theta, 0). At kinks every choice of slopes is a column; those that would help are found one by one.
 */
static RfStatus project(RfContext *context, RfLayeredKkt *kkt, const Scaled *s, const double *X,
                        const double *y) {
  rf_index P = s->net.n_parameters, rows = P + 1, n = kkt->n, size;
  double norm = rf_la_norm(s->net.theta, P), *columns = NULL, *target = RF_NEW(double, rows),
         *rest = RF_NEW(double, rows);
  RfLeastSquaresInfo info;
  RfStatus status = RF_OK;
  if (rf_multiply_sizes(&size, n, rows)) columns = RF_NEW(double, size);
  if (!columns || !target || !rest) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
    goto done;
  }
  memcpy(target, s->net.theta, (size_t)P * sizeof *target);
  for (rf_index i = 0; i < n; i++) {
    for (rf_index p = 0; p < P; p++) columns[i * rows + p] = y[i] * s->J[i * P + p];
    columns[i * rows + P] = 2 / norm * (s->q[i] - 1);
  }
  status = rf_la_nnls(context, kkt->lambda, rest, &info, columns, target, rows, n, rows, NULL);
  if (status < 0) goto done;
  if (rf_la_norm(rest, rows) > context->tol.kkt * norm && s->net.leak < 1) /* not yet: perhaps at kinks */
    status = rf_certify_layered_slopes(context, kkt->lambda, rest, &s->net, X, y, s->q, columns, target, n);
  if (status < 0) goto done;
  kkt->objective = norm * norm / 2;
  kkt->stationarity = rf_la_norm(rest, P) / norm;
  kkt->complementarity = fabs(rest[P]) / norm;
  kkt->holds = kkt->stationarity <= context->tol.kkt && kkt->complementarity <= context->tol.kkt;
done:
  rf_free(columns);
  rf_free(target);
  rf_free(rest);
  return status;
}

RfStatus rf_certify_layered_kkt(RfContext *context, RfLayeredKkt *kkt, const RfLayeredNet *net,
                                const double *X, const double *y, rf_index n) {
  Scaled s;
  memset(kkt, 0, sizeof *kkt);
  kkt->n = n;
  RfStatus status = scale(context, &s, net, X, y, n);
  kkt->margin = s.margin;
  if (!status) {
    kkt->lambda = RF_NEW(double, n);
    if (!kkt->lambda) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  }
  if (!status) status = project(context, kkt, &s, X, y);
  if (!status) status = count_kinks(context, kkt, &s.net, X, n);
  if (!status) kkt->margins = s.q, s.q = NULL;
  scaled_free(&s);
  if (status < 0)
    rf_layered_kkt_free(kkt);
  else
    kkt->status = status;
  return status;
}

/* nearest[l] = smallest |input| of a hidden unit of layer l or later over all samples, relative to the
 * largest input of its layer; infinite for the last layer. Below the tolerance of a kink the layer's problem
 * is not smooth here. */
static RfStatus kink_distances(RfContext *context, double *nearest, const RfLayeredNet *net, const double *X,
                               rf_index n) {
  rf_index width = rf_layers_hidden(net), at = width;
  double *hidden = RF_NEW(double, n *width), *out = RF_NEW(double, n);
  RfStatus status = RF_OK;
  if (!hidden || !out) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  if (!status) status = rf_layers_evaluate(context, out, hidden, net, X, n);
  nearest[net->n_layers - 1] = INFINITY;
  for (rf_index l = net->n_layers - 2; l >= 0 && !status; l--) {
    double least = INFINITY, largest = 0;
    at -= net->layers[l].outputs;
    for (rf_index i = 0; i < n; i++)
      for (rf_index k = 0; k < net->layers[l].outputs; k++) {
        double size = fabs(hidden[i * width + at + k]);
        least = fmin(least, size), largest = fmax(largest, size);
      }
    nearest[l] = fmin(nearest[l + 1], net->leak == 1 ? INFINITY : largest > 0 ? least / largest : 0);
  }
  rf_free(hidden);
  rf_free(out);
  return status;
}

RfStatus rf_certify_each_layer(RfContext *context, RfLayerVerdict *verdicts, const RfLayeredNet *net,
                               const double *X, const double *y, rf_index n) {
  Scaled s;
  RfStatus status = scale(context, &s, net, X, y, n);
  rf_index P = net->n_parameters;
  double *G = status ? NULL : RF_NEW(double, n *P), *nearest = RF_NEW(double, net->n_layers);
  if (!status && (!G || !nearest))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  if (!status) status = kink_distances(context, nearest, &s.net, X, n);
  for (rf_index l = 0; l < net->n_layers && !status; l++) {
    const RfLayer *layer = &net->layers[l];
    rf_index size = layer->parameters;
    RfLinearMargin best;
    for (rf_index i = 0; i < n; i++)
      memcpy(G + i * size, s.J + i * P + layer->offset, (size_t)size * sizeof *G);
    status = rf_margin_linear(context, &best, G, y, n, size);
    double norm = rf_la_norm(rf_layers_weights(&s.net, l), size);
    verdicts[l].norm2 = norm * norm;
    verdicts[l].best = status ? NAN : 1 / (best.margin * best.margin);
    verdicts[l].gap = (verdicts[l].norm2 - verdicts[l].best) / verdicts[l].norm2;
    verdicts[l].verdict = nearest[l] <= rf_certify_tolerances(context).kink ? RF_VERDICT_UNKNOWN
                          : verdicts[l].gap <= RF_CERTIFY_LAYER_GAP * context->tol.kkt
                              ? RF_VERDICT_OPTIMUM
                              : RF_VERDICT_NOT_OPTIMUM;
    if (status >= 0) rf_linear_margin_free(&best);
  }
  rf_free(G);
  rf_free(nearest);
  scaled_free(&s);
  return status;
}

void rf_layered_certificate_free(RfLayeredCertificate *c) {
  if (!c) return;
  rf_layered_kkt_free(&c->kkt);
  rf_free(c->layers);
  memset(c, 0, sizeof *c);
}

/* Linear and fully connected: the network is x -> <u,x>, and D/2 |u|^{2/D} is the least |theta|^2/2 that
 * gives u (VSS Theorem 3.1), so the optimum is D/2 margin^{-2/D}. */
static RfStatus linear_bound(RfContext *context, RfLayeredCertificate *c, const RfLayeredNet *net,
                             const double *X, const double *y, rf_index n) {
  RfLinearMargin linear;
  double D = (double)net->n_layers;
  for (rf_index l = 0; l < net->n_layers; l++)
    if (net->layers[l].kind != RF_LAYER_DENSE || net->leak != 1) return RF_OK;
  RfStatus status = rf_margin_linear(context, &linear, X, y, n, rf_layers_inputs(net));
  if (status < 0) return status;
  if (!status) {
    c->lower = D / 2 * pow(linear.margin, -2 / D);
    c->gap = (c->kkt.objective - c->lower) / c->kkt.objective;
  }
  rf_linear_margin_free(&linear);
  return RF_OK;
}

static void judge(const RfContext *context, RfLayeredCertificate *c) {
  c->local_why = "No layer refutes it; nothing is proved about moves of several layers at once.";
  for (rf_index l = 0; l < c->n_layers; l++)
    if (c->layers[l].verdict == RF_VERDICT_NOT_OPTIMUM) c->local = RF_VERDICT_NOT_OPTIMUM;
  if (c->local == RF_VERDICT_NOT_OPTIMUM)
    c->local_why = "A layer can be shortened by itself while every margin stays at least 1.";
  c->global = c->local;
  c->global_why = c->local == RF_VERDICT_NOT_OPTIMUM ? "It is not even a local optimum."
                                                     : "No bound is known for networks of this kind.";
  if (isnan(c->gap)) return;
  if (c->gap <= RF_CERTIFY_LAYER_GAP * context->tol.kkt) {
    c->global = c->local = RF_VERDICT_OPTIMUM;
    c->global_why = c->local_why =
        "A linear, fully connected network that attains the bound given by the max-margin separator.";
  } else {
    c->global = RF_VERDICT_NOT_OPTIMUM;
    c->global_why = "The max-margin separator needs smaller weights.";
  }
}

RfStatus rf_certify_layered(RfContext *context, RfLayeredCertificate *c, const RfLayeredNet *net,
                            const double *X, const double *y, rf_index n) {
  memset(c, 0, sizeof *c);
  c->lower = c->gap = NAN;
  c->n_layers = net->n_layers;
  c->local_why = c->global_why = "The network does not separate the data.";
  RfStatus status = rf_certify_layered_kkt(context, &c->kkt, net, X, y, n);
  if (status == RF_NOT_SEPARABLE) return status;
  if (!status) {
    c->layers = RF_NEW(RfLayerVerdict, net->n_layers);
    if (!c->layers) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  }
  if (!status) status = rf_certify_each_layer(context, c->layers, net, X, y, n);
  if (!status) status = linear_bound(context, c, net, X, y, n);
  if (!status)
    judge(context, c);
  else
    rf_layered_certificate_free(c);
  return status;
}

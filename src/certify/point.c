/* A network scaled to min margin 1. The scale is found in two steps, |theta| near 1 first, so that networks
 * of size 1e-150 or 1e150 are ordinary. */
#include "certify_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

void rf_point_free(RfPoint *point) {
  void *blocks[] = {point->W, point->a, point->z, point->q, point->row_norm, point->neuron_norm, point->zero};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
  memset(point, 0, sizeof *point);
}

static RfStatus check_input(RfContext *context, const RfNet *net, const double *X, const double *y,
                            rf_index n) {
  if (n < 0) return rf_fail(context, RF_ERR_USAGE, "certify: negative number of samples");
  if (!(net->leak >= 0 && net->leak <= 1))
    return rf_fail(context, RF_ERR_USAGE, "certify: leak outside [0, 1]");
  for (rf_index i = 0; i < net->m * net->d; i++)
    if (!isfinite(net->W[i])) return rf_fail(context, RF_ERR_USAGE, "certify: W is not finite");
  for (rf_index k = 0; k < net->m; k++)
    if (!isfinite(net->a[k])) return rf_fail(context, RF_ERR_USAGE, "certify: a is not finite");
  for (rf_index i = 0; i < n * net->d; i++)
    if (!isfinite(X[i]))
      return rf_fail(context, RF_ERR_USAGE, "certify: row %lld is not finite", (long long)(i / net->d));
  for (rf_index i = 0; i < n; i++)
    if (y[i] != 1 && y[i] != -1)
      return rf_fail(context, RF_ERR_USAGE, "certify: label %lld is not -1 or +1", (long long)i);
  return RF_OK;
}

static RfStatus allocate(RfContext *context, RfPoint *p) {
  rf_index products, weights;
  if (!rf_multiply_sizes(&products, p->n, p->m) || !rf_multiply_sizes(&weights, p->m, p->d))
    products = weights = -1;
  p->W = RF_NEW(double, weights);
  p->a = RF_NEW(double, p->m);
  p->z = RF_NEW(double, products);
  p->q = RF_NEW(double, p->n);
  p->row_norm = RF_NEW(double, p->n);
  p->neuron_norm = RF_NEW(double, p->m);
  p->zero = RF_NEW(bool, p->m);
  if (p->W && p->a && p->z && p->q && p->row_norm && p->neuron_norm && p->zero) return RF_OK;
  return rf_fail(context, RF_ERR_MEMORY, "out of memory to certify %lld neurons on %lld samples",
                 (long long)p->m, (long long)p->n);
}

/* (W, a) divided by the power of two next to |theta|, which is exact; returns its logarithm, minus infinity
 * for the zero network. */
static double copy_normalised(RfPoint *p, const RfNet *net) {
  double norm = hypot(rf_la_norm(net->W, p->m * p->d), rf_la_norm(net->a, p->m));
  int exponent = 0;
  frexp(norm, &exponent);
  for (rf_index i = 0; i < p->m * p->d; i++) p->W[i] = ldexp(net->W[i], -exponent);
  for (rf_index k = 0; k < p->m; k++) p->a[k] = ldexp(net->a[k], -exponent);
  long double square = 0;
  for (rf_index i = 0; i < p->m * p->d; i++) square += (long double)p->W[i] * (long double)p->W[i];
  for (rf_index k = 0; k < p->m; k++) square += (long double)p->a[k] * (long double)p->a[k];
  p->norm2 = (double)square;
  return norm > 0 ? exponent * log(2) : -INFINITY;
}

static void evaluate(RfPoint *p) {
  rf_la_product_nt(p->z, p->X, p->W, p->n, p->m, p->d);
  for (rf_index i = 0; i < p->n; i++) {
    long double sum = 0;
    for (rf_index k = 0; k < p->m; k++) {
      double z = p->z[i * p->m + k];
      sum += (long double)p->a[k] * (long double)(z > 0 ? z : p->leak * z);
    }
    p->q[i] = (double)(sum * (long double)p->y[i]);
  }
}

/* The smallest margin, or 0 when it is positive only by rounding. */
static double smallest_margin(const RfPoint *p) {
  double least = INFINITY, size = 0;
  for (rf_index k = 0; k < p->m; k++) size += fabs(p->a[k]) * p->neuron_norm[k];
  for (rf_index i = 0; i < p->n; i++) {
    double rounding = 4 * DBL_EPSILON * size * p->row_norm[i];
    double q = p->q[i] > 0 && p->q[i] <= rounding ? 0 : p->q[i];
    least = fmin(least, q);
  }
  return p->n > 0 ? least : 0;
}

/* With rows of very different lengths the margin of a long one may be a difference of terms 1e12 times as
 * large, which the weights, known to rounding, do not determine any better than to 1e-4. The least margin is
 * then the largest number that no margin is known to be below, and margins within their rounding of it are
 * equal to it. */
static double settle_margins(RfPoint *p, double least) {
  double size = 0, sure = INFINITY;
  bool matters = false;
  for (rf_index k = 0; k < p->m; k++) size += fabs(p->a[k]) * p->neuron_norm[k];
  double rounding = RF_CERTIFY_ROUNDING * size;
  for (rf_index i = 0; i < p->n; i++) {
    matters = matters || (rounding * p->row_norm[i] > RF_CERTIFY_ROUNDED * least && p->q[i] < 2 * least);
    sure = fmin(sure, p->q[i] + rounding * p->row_norm[i]);
  }
  if (!matters) return least;
  for (rf_index i = 0; i < p->n; i++)
    if (fabs(p->q[i] - sure) <= rounding * p->row_norm[i]) p->q[i] = sure;
  return sure;
}

/* theta / sqrt(least) has min margin 1: f is homogeneous of degree 2, and of degree 1 in W alone. */
static void scale_to_margin(RfPoint *p, double least) {
  double root = p->first_layer ? least : sqrt(least);
  for (rf_index i = 0; i < p->m * p->d; i++) p->W[i] /= root;
  for (rf_index k = 0; k < p->m; k++) p->neuron_norm[k] /= root;
  for (rf_index k = 0; k < p->m && !p->first_layer; k++) p->a[k] /= root;
  for (rf_index i = 0; i < p->n * p->m; i++) p->z[i] /= root;
  for (rf_index i = 0; i < p->n; i++) p->q[i] /= least;
  p->norm2 /= root * root;
}

/* W divided by |W|, a by its largest entry; returns ln |W|. */
static double copy_layers(RfPoint *p, double *a_size, const RfNet *net) {
  double norm = rf_la_norm(net->W, p->m * p->d);
  *a_size = rf_la_max_abs(net->a, p->m);
  for (rf_index i = 0; i < p->m * p->d && norm > 0; i++) p->W[i] = net->W[i] / norm;
  for (rf_index k = 0; k<p->m && * a_size> 0; k++) p->a[k] = net->a[k] / *a_size;
  p->norm2 = 1;
  return norm > 0 && *a_size > 0 ? log(norm) : -INFINITY;
}

/* Everything after the copies; log_norm = ln of the size divided out. */
static RfStatus finish_point(RfContext *context, RfPoint *point, double log_norm) {
  evaluate(point);
  for (rf_index i = 0; i < point->n; i++) point->row_norm[i] = rf_la_norm(point->X + i * point->d, point->d);
  for (rf_index k = 0; k < point->m; k++)
    point->neuron_norm[k] = rf_la_norm(point->W + k * point->d, point->d);
  double least = smallest_margin(point);
  point->margin = isfinite(log_norm) ? least / point->norm2 : 0;
  if (!(point->margin > 0)) return RF_NOT_SEPARABLE;
  least = settle_margins(point, least);
  point->margin = least / point->norm2;
  scale_to_margin(point, least);
  point->log_scale = -log_norm - (point->first_layer ? 1 : 0.5) * log(least);
  for (rf_index k = 0; k < point->m; k++)
    point->zero[k] = point->neuron_norm[k] * fabs(point->a[k]) <=
                     rf_certify_tolerances(context).zero_neuron * point->norm2;
  return RF_OK;
}

static RfStatus begin_point(RfContext *context, RfPoint *point, const RfNet *net, const double *X,
                            const double *y, rf_index n) {
  *point = (RfPoint){.n = n, .m = net->m, .d = net->d, .X = X, .y = y, .leak = net->leak};
  RfStatus status = check_input(context, net, X, y, n);
  if (!status) status = allocate(context, point);
  if (status) rf_point_free(point);
  return status;
}

RfStatus rf_point_new(RfContext *context, RfPoint *point, const RfNet *net, const double *X, const double *y,
                      rf_index n) {
  RfStatus status = begin_point(context, point, net, X, y, n);
  return status ? status : finish_point(context, point, copy_normalised(point, net));
}

RfStatus rf_point_new_first_layer(RfContext *context, RfPoint *point, double *a_size, const RfNet *net,
                                  const double *X, const double *y, rf_index n) {
  RfStatus status = begin_point(context, point, net, X, y, n);
  if (status) return status;
  point->first_layer = true;
  double log_norm = copy_layers(point, a_size, net);
  status = finish_point(context, point, log_norm);
  point->log_scale -= log(*a_size);
  return status;
}

bool rf_point_is_kink(const RfContext *context, const RfPoint *p, rf_index i, rf_index k) {
  double input = fabs(p->z[i * p->m + k]), known = rf_certify_tolerances(context).kink;
  double most = p->neuron_norm[k] * p->row_norm[i];
  return input <= known * most &&
         (input * fabs(p->a[k]) <= RF_CERTIFY_KINK_SHARE * known || input <= RF_CERTIFY_ROUNDING * most);
}

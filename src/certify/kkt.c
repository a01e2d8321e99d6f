/* KKT residuals of a two-layer network: scale to min margin 1, merge proportional neurons, project. Neurons
 * that are positive multiples of each other, (w_k, a_k) = c_k (w, a), have subgradient blocks in the same
 * proportions, so one neuron of size |c| stands for all of them and the residual is handed back in the same
 * proportions. */
#include "certify_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rf_kkt_free(RfKkt *kkt) {
  void *blocks[] = {kkt->margins, kkt->lambda, kkt->residual_W, kkt->residual_a, kkt->kinks};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
  memset(kkt, 0, sizeof *kkt);
}

static RfStatus out_of_memory(RfContext *context) {
  rf_fail(context, RF_ERR_MEMORY, "out of memory for KKT residuals");
  return RF_ERR_MEMORY;
}

/* ---- proportional neurons --------------------------------------------------------------------------- */

typedef struct Keyed {
  double key; /* fixed linear form of the unit neuron: equal for proportional ones */
  rf_index neuron;
} Keyed;

static int by_key(const void *left, const void *right) {
  const Keyed *a = left, *b = right;
  return a->key < b->key ? -1 : a->key > b->key ? 1 : a->neuron < b->neuron ? -1 : 1;
}

static double size_of(const RfPoint *p, rf_index k) { return hypot(p->neuron_norm[k], p->a[k]); }

static bool proportional(const RfPoint *p, rf_index j, rf_index k) {
  double one = size_of(p, j), two = size_of(p, k), worst = fabs(p->a[j] / one - p->a[k] / two);
  for (rf_index i = 0; i < p->d; i++)
    worst = fmax(worst, fabs(p->W[j * p->d + i] / one - p->W[k * p->d + i] / two));
  return worst <= RF_CERTIFY_PROPORTIONAL;
}

/* group[k] = the neuron that stands for k (itself when alone), members before sorting by key. */
static RfStatus find_groups(RfContext *context, rf_index *group, const RfPoint *p) {
  Keyed *keyed = RF_NEW(Keyed, p->m);
  if (!keyed) return out_of_memory(context);
  for (rf_index k = 0; k < p->m; k++) {
    double size = size_of(p, k), sum = size > 0 ? p->a[k] / size : 4;
    for (rf_index i = 0; i < p->d && size > 0; i++) sum += cos((double)i) * p->W[k * p->d + i] / size;
    keyed[k] = (Keyed){sum, k};
    group[k] = k;
  }
  qsort(keyed, (size_t)p->m, sizeof *keyed, by_key);
  for (rf_index at = 1; at < p->m; at++) {
    rf_index k = keyed[at].neuron, leader = group[keyed[at - 1].neuron];
    if (size_of(p, k) > 0 && size_of(p, leader) > 0 && proportional(p, leader, k)) group[k] = leader;
  }
  rf_free(keyed);
  return RF_OK;
}

/* The network of leaders, each of the size of its whole group. at[k]: its position for leaders. relative:
 * what a was divided by once more where only the first layer moves. */
static RfStatus merge(RfContext *context, RfPoint *merged, double *relative, rf_index *at, double *share,
                      const rf_index *group, const RfPoint *p) {
  RfNet net = {0};
  rf_index m = 0;
  for (rf_index k = 0; k < p->m; k++)
    if (group[k] == k) at[k] = m++;
  RfStatus status = rf_net_new(context, &net, m, p->d, p->leak);
  if (status) return status;
  double *square = RF_NEW(double, p->m);
  if (!square) {
    rf_net_free(&net);
    return out_of_memory(context);
  }
  for (rf_index k = 0; k < p->m; k++) square[group[k]] += size_of(p, k) * size_of(p, k);
  for (rf_index k = 0; k < p->m; k++) {
    rf_index leader = group[k];
    double factor = size_of(p, leader) > 0 ? sqrt(square[leader]) / size_of(p, leader) : 1;
    share[k] = square[leader] > 0 ? size_of(p, k) / sqrt(square[leader]) : 1;
    if (leader != k) continue;
    for (rf_index i = 0; i < p->d; i++) net.W[at[k] * p->d + i] = p->W[k * p->d + i] * factor;
    net.a[at[k]] = p->a[k] * factor;
  }
  double a_size = 1;
  status = p->first_layer ? rf_point_new_first_layer(context, merged, &a_size, &net, p->X, p->y, p->n)
                          : rf_point_new(context, merged, &net, p->X, p->y, p->n);
  *relative = a_size;
  rf_free(square);
  rf_net_free(&net);
  return status;
}

RfStatus rf_point_merge(RfContext *context, RfPoint *merged, rf_index *place, const RfPoint *p) {
  rf_index *group = RF_NEW(rf_index, p->m), *at = RF_NEW(rf_index, p->m);
  double *share = RF_NEW(double, p->m), relative;
  RfStatus status = group && at && share ? find_groups(context, group, p) : out_of_memory(context);
  if (!status) status = merge(context, merged, &relative, at, share, group, p);
  for (rf_index k = 0; k < p->m && !status; k++) place[k] = at[group[k]];
  rf_free(group), rf_free(at), rf_free(share);
  return status;
}

/* ---- residuals ----------------------------------------------------------------------------- */

static double left_by(const RfProjection *p) { return fmax(p->stationarity, fabs(p->complementarity)); }

/* Any multipliers that leave little will do. Beside rows of very different lengths a small multiplier of a
 * sample beyond the margin is found where one of a tight sample leaves nothing, and least squares cannot tell
 * them apart: then those of the tight samples alone are asked too. */
static RfStatus project(RfContext *context, RfProjection *projection, const RfPoint *p) {
  RfProjectionSettings settings = {0};
  RfProjection tight = {0};
  RfStatus status = rf_project(context, projection, p, &settings);
  if (status || left_by(projection) <= context->tol.kkt) return status;
  settings.tight_only = true;
  status = rf_project(context, &tight, p, &settings);
  if (status == RF_OK && left_by(&tight) < left_by(projection)) {
    RfProjection other = *projection;
    *projection = tight, tight = other;
  }
  rf_projection_free(&tight);
  return status < 0 || status == RF_INTERRUPTED ? status : RF_OK;
}

static RfStatus fill_projection(RfContext *context, RfKkt *kkt, const RfPoint *p) {
  rf_index *group = RF_NEW(rf_index, p->m), *at = RF_NEW(rf_index, p->m);
  double *share = RF_NEW(double, p->m);
  RfPoint merged = {0};
  RfProjection projection = {0};
  RfStatus status = group && at && share ? find_groups(context, group, p) : out_of_memory(context);
  double relative = 1;
  if (!status) status = merge(context, &merged, &relative, at, share, group, p);
  if (!status) status = project(context, &projection, &merged);
  if (status >= 0 && projection.lambda) {
    for (rf_index k = 0; k < p->m; k++) {
      const double *r = projection.residual + at[group[k]] * (p->d + 1);
      for (rf_index i = 0; i < p->d; i++) kkt->residual_W[k * p->d + i] = share[k] * r[i] / relative;
      kkt->residual_a[k] = share[k] * r[p->d];
    }
    for (rf_index i = 0; i < p->n; i++) kkt->lambda[i] = projection.lambda[i] / relative / relative;
    for (rf_index at_kink = 0; at_kink < kkt->n_kinks && projection.slopes; at_kink++) {
      RfKink *kink = &kkt->kinks[at_kink];
      kink->slope = projection.slopes[kink->sample * merged.m + at[group[kink->neuron]]];
    }
    kkt->stationarity = projection.stationarity;
    kkt->complementarity = projection.complementarity;
    kkt->iterations = projection.iterations;
    kkt->holds = kkt->stationarity <= context->tol.kkt && fabs(kkt->complementarity) <= context->tol.kkt;
  }
  rf_projection_free(&projection);
  rf_point_free(&merged);
  rf_free(group);
  rf_free(at);
  rf_free(share);
  return status;
}

static RfStatus fill_kinks(RfContext *context, RfKkt *kkt, const RfPoint *p) {
  for (int pass = 0; pass < 2; pass++) {
    rf_index found = 0;
    for (rf_index k = 0; k < p->m; k++)
      for (rf_index i = 0; i < p->n && p->a[k] != 0; i++) {
        if (!rf_point_is_kink(context, p, i, k)) continue;
        double size = p->neuron_norm[k] * p->row_norm[i];
        if (pass) kkt->kinks[found] = (RfKink){k, i, p->leak, size > 0 ? p->z[i * p->m + k] / size : 0};
        found++;
      }
    if (pass) break;
    kkt->n_kinks = found;
    kkt->kinks = RF_NEW(RfKink, found);
    if (!kkt->kinks) return out_of_memory(context);
  }
  return RF_OK;
}

static RfStatus fill(RfContext *context, RfKkt *kkt, const RfPoint *p) {
  rf_index weights = p->m * p->d;
  kkt->margins = rf_copy_doubles(p->q, p->n);
  kkt->lambda = RF_NEW(double, p->n);
  kkt->residual_W = RF_NEW(double, weights);
  kkt->residual_a = RF_NEW(double, p->m);
  if (!kkt->margins || !kkt->lambda || !kkt->residual_W || !kkt->residual_a) return out_of_memory(context);
  for (rf_index k = 0; k < p->m; k++) {
    kkt->balance_error = fmax(kkt->balance_error, fabs(p->neuron_norm[k] - fabs(p->a[k])) / sqrt(p->norm2));
    kkt->n_zero += p->zero[k];
  }
  kkt->objective = 0.5 * p->norm2;
  kkt->log_scale = p->log_scale;
  RfStatus status = fill_kinks(context, kkt, p);
  return status ? status : fill_projection(context, kkt, p);
}

/* What rf_certify_kkt does once the network is a point; status is that of the point, which is freed. */
static RfStatus certify_point(RfContext *context, RfKkt *kkt, RfPoint *point, RfStatus status) {
  kkt->stationarity = kkt->complementarity = NAN;
  kkt->objective = INFINITY;
  if (status >= 0) kkt->margin = point->margin;
  if (status == RF_OK) status = fill(context, kkt, point);
  if (status < 0)
    rf_kkt_free(kkt);
  else
    kkt->status = status;
  rf_point_free(point);
  return status;
}

RfStatus rf_certify_kkt(RfContext *context, RfKkt *kkt, const RfNet *net, const double *X, const double *y,
                        rf_index n) {
  RfPoint point;
  *kkt = (RfKkt){.n = n, .m = net->m, .d = net->d};
  RfStatus status = rf_point_new(context, &point, net, X, y, n);
  return certify_point(context, kkt, &point, status);
}

RfStatus rf_certify_kkt_first_layer(RfContext *context, RfKkt *kkt, const RfNet *net, const double *X,
                                    const double *y, rf_index n) {
  RfPoint point;
  double size = 1; /* of a: the point has it divided out */
  *kkt = (RfKkt){.n = n, .m = net->m, .d = net->d};
  RfStatus status = rf_point_new_first_layer(context, &point, &size, net, X, y, n);
  status = certify_point(context, kkt, &point, status);
  if (status < 0) return status;
  kkt->margin *= size;
  kkt->objective = kkt->objective / size / size;
  for (rf_index i = 0; i < n && kkt->lambda; i++) kkt->lambda[i] = kkt->lambda[i] / size / size;
  for (rf_index i = 0; i < net->m * net->d && kkt->residual_W; i++) kkt->residual_W[i] /= size;
  return status;
}

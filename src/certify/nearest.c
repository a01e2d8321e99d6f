/* The nearest KKT point. A network that was trained in single precision, or stopped early, is no KKT point to
 * 1e-8, and its residual says little: an input that should be 0 is 1e-8, the slope there is then one number
 * instead of an interval, and the residual is of order 1. So: guess which inputs and margins are meant to be
 * 0 and 1 (those within eta, eta = X, 10 X, ...), solve the KKT equations of that pattern by Newton's method
 * from where the network is, and measure how far that is.
 *
 * Unknowns: w_k, a_k, the multipliers lambda_i of tight samples, and nu_ik = lambda_i y_i a_k h_ik of inputs
 * on the kink. w_k = a_k sum_i lambda_i y_i h_ik x_i + sum_kinks nu_ik x_i      (h_ik fixed off the kinks)
 *   a_k = sum_i lambda_i y_i h_ik w_k.x_i      1 = y_i sum_k a_k h_ik w_k.x_i      0 = w_k.x_i on the kinks
 * As many equations as unknowns; steps are of least norm, as proportional neurons may share their size in any
 * way. */
#include "certify_internal.h"

#include "net/net.h"

#include <math.h>
#include <string.h>

enum { most_steps = 15, most_rungs = 6 };

void rf_kkt_system_free(RfKktSystem *s) {
  void *blocks[] = {s->tight, s->kinks, s->slopes, s->unknowns, s->F, s->J};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) rf_free(blocks[i]);
  memset(s, 0, sizeof *s);
}

/* Is the slope inside (leak, 1), so that the input must be 0? */
static bool is_pinned(double slope, double leak) {
  double edge = RF_CERTIFY_PINNED * (1 - leak);
  return slope > leak + edge && slope < 1 - edge;
}

/* Tight samples and kinks as the projection at eta sees them. */
static void find_pattern(const RfContext *at_eta, RfKktSystem *s, const RfProjection *projection) {
  const RfPoint *p = s->p;
  for (rf_index i = 0; i < p->n; i++) {
    if (!(projection->lambda[i] > 0)) continue;
    s->tight[s->n_tight++] = i;
    for (rf_index k = 0; k < p->m; k++) {
      rf_index at = i * p->m + k;
      s->slopes[at] = p->z[at] > 0 ? 1 : p->leak;
      if (p->zero[k] || p->leak == 1 || !projection->slopes || !rf_point_is_kink(at_eta, p, i, k)) continue;
      double slope = projection->slopes[at];
      s->slopes[at] = slope > 0.5 * (1 + p->leak) ? 1 : p->leak;
      if (!is_pinned(slope, p->leak)) continue;
      s->slopes[at] = 0;
      s->kinks[s->n_kinks++] = at;
    }
  }
}

static RfStatus system_new(RfContext *context, RfKktSystem *s, const RfContext *at_eta, const RfPoint *p,
                           const RfProjection *projection) {
  *s = (RfKktSystem){.p = p,
                     .tight = RF_NEW(rf_index, p->n),
                     .kinks = RF_NEW(rf_index, p->n * p->m),
                     .slopes = RF_NEW(double, p->n * p->m)};
  if (!s->tight || !s->kinks || !s->slopes)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a KKT point");
  find_pattern(at_eta, s, projection);
  s->size = p->m * (p->d + 1) + s->n_tight + s->n_kinks;
  if (s->size > RF_KKT_MOST_UNKNOWNS) return RF_LIMIT;
  s->unknowns = RF_NEW(double, s->size);
  s->F = RF_NEW(double, s->size);
  s->J = RF_NEW(double, s->size * s->size);
  if (!s->unknowns || !s->F || !s->J) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a KKT point");
  double *a = s->unknowns + p->m * p->d, *lambda = a + p->m, *nu = lambda + s->n_tight;
  for (rf_index k = 0; k < p->m; k++) {
    for (rf_index j = 0; j < p->d && !p->zero[k]; j++) s->unknowns[k * p->d + j] = p->W[k * p->d + j];
    a[k] = p->zero[k] ? 0 : p->a[k];
  }
  for (rf_index t = 0; t < s->n_tight; t++) lambda[t] = projection->lambda[s->tight[t]];
  for (rf_index e = 0; e < s->n_kinks; e++) {
    rf_index i = s->kinks[e] / p->m, k = s->kinks[e] % p->m;
    nu[e] = projection->lambda[i] * p->y[i] * p->a[k] * projection->slopes[s->kinks[e]];
  }
  return RF_OK;
}

/* What tight sample t and neuron k contribute to F and J: columns and rows of w_k, a_k and lambda_t. */
static void add_pair(RfKktSystem *s, rf_index t, rf_index k) {
  const RfPoint *p = s->p;
  rf_index i = s->tight[t], weights = p->m * p->d, row_a = weights + k, row_q = weights + p->m + t;
  const double *x = p->X + i * p->d, *w = s->unknowns + k * p->d;
  double a = s->unknowns[row_a], lambda = s->unknowns[row_q], slope = p->y[i] * s->slopes[i * p->m + k];
  double z = rf_la_dot(w, x, p->d), *J = s->J;
  for (rf_index j = 0; j < p->d; j++) {
    rf_index row_w = k * p->d + j;
    s->F[row_w] -= lambda * a * slope * x[j];
    J[row_w * s->size + row_a] -= lambda * slope * x[j];
    J[row_w * s->size + row_q] -= a * slope * x[j];
    J[row_a * s->size + row_w] -= lambda * slope * x[j];
    J[row_q * s->size + row_w] -= a * slope * x[j];
  }
  s->F[row_a] -= lambda * slope * z;
  s->F[row_q] -= a * slope * z;
  J[row_a * s->size + row_q] -= slope * z;
  J[row_q * s->size + row_a] -= slope * z;
}

static void evaluate(RfKktSystem *s) {
  const RfPoint *p = s->p;
  rf_index own = p->m * (p->d + 1), pairs = own + s->n_tight;
  memset(s->J, 0, (size_t)(s->size * s->size) * sizeof *s->J);
  for (rf_index r = 0; r < s->size; r++) {
    s->F[r] = r < own ? s->unknowns[r] : r < pairs ? 1 : 0;
    if (r < own) s->J[r * s->size + r] = 1;
  }
  for (rf_index t = 0; t < s->n_tight; t++)
    for (rf_index k = 0; k < p->m; k++) add_pair(s, t, k);
  for (rf_index e = 0; e < s->n_kinks; e++) {
    rf_index i = s->kinks[e] / p->m, k = s->kinks[e] % p->m, row = pairs + e;
    const double *x = p->X + i * p->d;
    s->F[row] = rf_la_dot(s->unknowns + k * p->d, x, p->d);
    for (rf_index j = 0; j < p->d; j++) {
      s->F[k * p->d + j] -= s->unknowns[row] * x[j];
      s->J[(k * p->d + j) * s->size + row] -= x[j];
      s->J[row * s->size + k * p->d + j] = x[j];
    }
  }
}

/* Newton steps until the equations hold to rounding or stop improving. */
static RfStatus newton(RfContext *context, RfKktSystem *s) {
  double best = INFINITY;
  double *kept = rf_copy_doubles(s->unknowns, s->size);
  RfStatus status = kept ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for a KKT point");
  for (int step = 0; step < most_steps && !status; step++) {
    evaluate(s);
    double norm = rf_la_norm(s->F, s->size);
    if (!(norm < best)) break;
    best = norm;
    memcpy(kept, s->unknowns, (size_t)s->size * sizeof *kept);
    if (norm == 0) break;
    rf_index rank;
    status = rf_la_least_squares(context, s->J, s->F, s->size, s->size, context->tol.rank, &rank);
    for (rf_index r = 0; r < s->size && !status; r++) s->unknowns[r] -= s->F[r];
  }
  if (kept) memcpy(s->unknowns, kept, (size_t)s->size * sizeof *kept);
  rf_free(kept);
  return status;
}

/* The network of the unknowns judged as any other, and its distance from the one given. */
static RfStatus judge(RfContext *context, RfNearest *nearest, const RfKktSystem *s, double eta) {
  const RfPoint *p = s->p;
  RfNet net = {0};
  RfKkt kkt = {0};
  RfStatus status = rf_net_new(context, &net, p->m, p->d, p->leak);
  if (status) return status;
  memcpy(net.W, s->unknowns, (size_t)(p->m * p->d) * sizeof *net.W);
  memcpy(net.a, s->unknowns + p->m * p->d, (size_t)p->m * sizeof *net.a);
  status = rf_certify_kkt(context, &kkt, &net, p->X, p->y, p->n);
  double square = 0;
  for (rf_index r = 0; r < p->m * p->d; r++) square += (net.W[r] - p->W[r]) * (net.W[r] - p->W[r]);
  for (rf_index k = 0; k < p->m; k++) square += (net.a[k] - p->a[k]) * (net.a[k] - p->a[k]);
  double distance = sqrt(square / p->norm2), residual = fmax(kkt.stationarity, fabs(kkt.complementarity));
  if (status == RF_OK && residual <= RF_CERTIFY_POLISHED && distance <= RF_CERTIFY_STRAY * eta)
    *nearest = (RfNearest){.found = true, .distance = distance, .stationarity = residual};
  rf_kkt_free(&kkt);
  rf_net_free(&net);
  return status < 0 ? status : RF_OK;
}

/* One guess of the pattern. */
static RfStatus try_pattern(RfContext *context, RfNearest *nearest, RfKktSystem *found, const RfPoint *p,
                            double eta) {
  RfContext at_eta = *context;
  RfProjection projection = {0};
  RfProjectionSettings settings = {.tight_only = true};
  RfKktSystem system = {0};
  at_eta.tol.kkt = eta;
  RfStatus status = rf_project(&at_eta, &projection, p, &settings);
  if (!status && projection.stationarity > RF_CERTIFY_STRAY * eta) status = RF_LIMIT; /* another pattern */
  if (!status) status = system_new(context, &system, &at_eta, p, &projection);
  if (!status) status = newton(context, &system);
  if (!status) status = judge(context, nearest, &system, eta);
  if (!status && nearest->found && found)
    *found = system;
  else
    rf_kkt_system_free(&system);
  rf_projection_free(&projection);
  return status == RF_LIMIT || status == RF_ERR_NUMERIC ? RF_OK : status;
}

RfStatus rf_certify_nearest(RfContext *context, RfNearest *nearest, RfKktSystem *found,
                            const RfPoint *point) {
  *nearest = (RfNearest){.distance = NAN, .stationarity = NAN};
  if (point->m * (point->d + 1) > RF_KKT_MOST_UNKNOWNS) return RF_OK;
  double eta = context->tol.kkt;
  RfStatus status = RF_OK;
  for (int rung = 0; rung < most_rungs && !nearest->found && !status; rung++, eta *= 10) {
    status = try_pattern(context, nearest, found, point, eta);
    if (!status && rf_context_stop(context)) return RF_INTERRUPTED;
  }
  return status;
}

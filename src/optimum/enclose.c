/* Bounds of results in the caller's coordinates, with every rounding accounted for.
 *
 * A network: margins are enclosed in doubles first, y f(x) up to (d + K + 4) u sum |u_kj x_ij|, and the rows
 * that may be the smallest again with 113 bits; |u_k| is rounded up. phi is 1-Lipschitz, so an error of z is
 * no more in phi(z), whatever side it is on.
 *
 * Multipliers: the reduced problem has rows norm_i q_i, q_i = Q^T xhat_i, instead of x_i. With u any unit
 * vector, x_i.u = norm_i xhat_i.(Q u) + (x_i - norm_i q_i).u and |Q u| <= (1 + eta), so that
 *     M(lambda) <= (1 + eta) M_reduced + sum_i lambda_i |x_i - norm_i q_i|,
 * which puts back whatever the change of coordinates has dropped. */
#include "optimum/enclose.h"
#include "optimum/wide.h"
#include "la/la.h"

#include <string.h>

/* ---- networks --------------------------------------------------------------------------------- */

typedef struct Net {
  const double *U, *sign;
  rf_index K, d;
  double leak, length; /* sum |u_k| */
} Net;

/* y f(x), and in *size what bounds the sum of all terms' sizes, sum_j |u_kj x_j| <= |u_k| |x|. */
static double plain_margin(const Net *net, const double *x, double y, double *size) {
  double f = 0;
  for (rf_index k = 0; k < net->K; k++)
    f += net->sign[k] * rf_phi(rf_la_dot(net->U + k * net->d, x, net->d), net->leak);
  /* products below the range of doubles are lost */
  *size = net->length * rf_la_norm(x, net->d) * rf_length_slack + DBL_MIN;
  return y * f;
}

/* Lower bound of y f(x) with 113 bits. */
static double wide_margin(const Net *net, const double *x, double y) {
  RfWide f = 0;
  double size = 0;
  for (rf_index k = 0; k < net->K; k++) {
    RfWide z = rf_wide_dot(net->U + k * net->d, x, net->d, &size);
    f += (RfWide)net->sign[k] * (z > 0 ? z : (RfWide)net->leak * z);
  }
  RfWide error = (RfWide)((double)(net->d + net->K + 4) * rf_wide_roundoff) * (RfWide)size;
  return rf_wide_down((RfWide)y * f - error);
}

double rf_enclose_margin(const double *U, const double *sign, rf_index K, const double *X, const double *y,
                         rf_index n, rf_index d, double leak) {
  Net net = {U, sign, K, d, leak, 0};
  for (rf_index k = 0; k < K; k++) net.length += rf_la_norm(U + k * d, d);
  double unit = (double)(d + K + 4) * rf_unit_roundoff, most = INFINITY, least = INFINITY, size;
  for (rf_index i = 0; i < n; i++) {
    double near = plain_margin(&net, X + i * d, y[i], &size);
    most = fmin(most, near + 2 * unit * size);
  }
  for (rf_index i = 0; i < n; i++) {
    double near = plain_margin(&net, X + i * d, y[i], &size);
    if (near - 2 * unit * size <= most) least = fmin(least, wide_margin(&net, X + i * d, y[i]));
  }
  return least; /* rows passed over have margins above `most`, which is above the smallest one */
}

double rf_enclose_length(const double *u, rf_index d) {
  RfWide square = rf_wide_dot(u, u, d, NULL);
  return rf_wide_root_up(square + square * (RfWide)((double)(d + 2) * rf_wide_roundoff));
}

double rf_enclose_size(const double *U, rf_index K, rf_index d) {
  RfWide sum = 0;
  for (rf_index k = 0; k < K; k++) sum += (RfWide)rf_enclose_length(U + k * d, d);
  return rf_wide_up(sum + sum * (RfWide)((double)(K + 2) * rf_wide_roundoff));
}

double rf_enclose_objective(const double *U, const double *sign, rf_index K, const double *X, const double *y,
                            rf_index n, rf_index d, double leak) {
  double margin = rf_enclose_margin(U, sign, K, X, y, n, d, leak);
  if (K == 0 || !(margin > 0) || !isfinite(margin)) return INFINITY;
  double size = rf_enclose_size(U, K, d);
  return nextafter(size / margin, INFINITY); /* a correctly rounded quotient is at most half an ulp low */
}

/* ---- multipliers ------------------------------------------------------------------------------ */

/* |Q u| <= 1 + eta for unit u: the largest eigenvalue of Q Q^T is at most 1 + |Q Q^T - I|_F. */
static double basis_excess(const RfReduced *p) {
  if (!p->basis) return 0;
  double square = 0, each = (double)(p->d + 2) * rf_unit_roundoff * rf_length_slack;
  for (rf_index a = 0; a < p->r; a++)
    for (rf_index b = 0; b <= a; b++) {
      double g = rf_la_dot(p->basis + a * p->d, p->basis + b * p->d, p->d);
      if (a == b && g == 0) continue; /* the padded row of zeros */
      double off = fabs(g - (a == b)) + 2 * each;
      square += (a == b ? 1 : 2) * off * off;
    }
  return sqrt(square) * rf_length_slack;
}

/* |x - norm Q^T xhat|, rounded up. part is work (d wide numbers). */
static double row_error(RfWide *part, const RfReduced *p, rf_index i, const double *x) {
  const double *unit = p->X + i * p->r;
  RfWide square = 0;
  double size = p->norm[i] * (double)(p->r + 1);
  for (rf_index j = 0; j < p->d; j++) part[j] = p->basis ? 0 : (RfWide)unit[j];
  for (rf_index k = 0; k < p->r && p->basis; k++)
    for (rf_index j = 0; j < p->d; j++) part[j] += (RfWide)unit[k] * (RfWide)p->basis[k * p->d + j];
  for (rf_index j = 0; j < p->d; j++) {
    RfWide off = (RfWide)x[j] - (RfWide)p->norm[i] * part[j];
    square += off * off;
  }
  double root = rf_wide_root_up(square) * rf_length_slack;
  return root + size * (double)(p->d + p->r) * 4 * rf_wide_roundoff;
}

/* The same in doubles. Q^T xhat has an error of at most (r + 1) u sum_k |xhat_k| |q_kj| in entry j, which is
 * at most (r + 1) u |xhat| |Q|_F in length, and |Q|_F^2 <= r (1 + eta) <= 2 r. part is work (d numbers). */
static double row_error_plain(double *part, const RfReduced *p, rf_index i, const double *x) {
  memset(part, 0, (size_t)p->d * sizeof *part);
  for (rf_index k = 0; k < p->r; k++) rf_la_axpy(part, p->X[i * p->r + k], p->basis + k * p->d, p->d);
  for (rf_index j = 0; j < p->d; j++) part[j] = x[j] - p->norm[i] * part[j];
  double terms = (double)(p->r + p->d + 8), size = p->norm[i] * sqrt(2 * (double)p->r) + rf_la_norm(x, p->d);
  return (rf_la_norm(part, p->d) + 2 * terms * rf_unit_roundoff * size) * rf_length_slack;
}

/* sum_i lambda_i |x_i - norm_i q_i|, where lambda_i norm_i is rounded, before and after scaling. In doubles
 * first where that is long with 113 bits: it will do unless it costs a share of the gap that is asked for. */
static RfStatus lost_by_rows(RfContext *context, double *lost, const RfReduced *p, const double *lambda,
                             const double *X, double reduced) {
  RfWide *part = rf_alloc(p->d, sizeof *part);
  double *plain = RF_NEW(double, p->d);
  bool quick = p->basis && (double)p->n * (double)p->r * (double)p->d > rf_wide_work;
  RfStatus status = part && plain ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for a bound");
  for (int wide = quick ? 0 : 1; wide < 2 && !status; wide++) {
    *lost = 0;
    for (rf_index i = 0; i < p->n; i++) {
      if (!(lambda[i] > 0)) continue;
      const double *x = X + p->row[i] * p->d;
      double error = wide ? row_error(part, p, i, x) : row_error_plain(plain, p, i, x);
      *lost += lambda[i] * (error + 4 * DBL_EPSILON * p->norm[i]);
    }
    if (*lost <= rf_lost_share * context->tol.gap * reduced || rf_context_stop(context)) break;
  }
  rf_free(part), rf_free(plain);
  return status;
}

RfStatus rf_enclose_norm(RfContext *context, double *norm, const RfReduced *p, const double *lambda,
                         const double *X, double reduced) {
  double lost = 0, excess = basis_excess(p);
  RfStatus status = lost_by_rows(context, &lost, p, lambda, X, reduced);
  *norm = (reduced * (1 + excess) + lost * rf_length_slack) * (1 + 8 * DBL_EPSILON);
  return status;
}

RfStatus rf_enclose_linear_norm(RfContext *context, double *norm, const double *lambda, const double *X,
                                const double *y, rf_index n, rf_index d) {
  RfWide *sum = rf_alloc(d, sizeof *sum), square = 0;
  if (!sum) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a bound");
  double size = 0;
  for (rf_index i = 0; i < n; i++) {
    if (!(lambda[i] > 0)) continue;
    size += lambda[i] * rf_la_norm(X + i * d, d) * rf_length_slack;
    for (rf_index j = 0; j < d; j++) sum[j] += (RfWide)(y[i] * lambda[i]) * (RfWide)X[i * d + j];
  }
  for (rf_index j = 0; j < d; j++) square += sum[j] * sum[j];
  double error = size * (double)(n + d + 4) * 2 * rf_wide_roundoff;
  *norm = rf_add_up(rf_wide_root_up(square + square * (RfWide)((double)(d + 2) * rf_wide_roundoff)), error);
  rf_free(sum);
  return RF_OK;
}

double rf_enclose_sum(const double *lambda, rf_index n) {
  RfWide sum = 0;
  for (rf_index i = 0; i < n; i++) sum += (RfWide)lambda[i];
  return rf_wide_down(sum - sum * (RfWide)((double)(n + 2) * rf_wide_roundoff));
}

double rf_enclose_quotient(const double *lambda, rf_index n, double norm) {
  double sum = rf_enclose_sum(lambda, n), value = sum / norm;
  while ((RfWide)value * (RfWide)norm > (RfWide)sum) value = nextafter(value, 0);
  return value;
}

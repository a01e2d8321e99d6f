/* An independent judge of certificates: balls of 300 bits for margins and norms, and multipliers in the space
 * of u_k = |a_k| w_k for local optima. Include <arb.h> first. */
#ifndef RF_CERTIFY_CHECK_H
#define RF_CERTIFY_CHECK_H

#include "rf_test.h"

enum { check_bits = 300 };

static inline void print_case(const RfNet *net, const double *X, const double *y, rf_index n) {
  fprintf(stderr, "leak %.17g\n", net->leak);
  rf_test_print_matrix("X", X, n, net->d);
  rf_test_print_matrix("y", y, 1, n);
  rf_test_print_matrix("W", net->W, net->m, net->d);
  rf_test_print_matrix("a", net->a, 1, net->m);
}

/* q = y_i f(x_i), exactly up to the radius of the ball. */
static inline void exact_margin(arb_t q, const RfNet *net, const double *x, double y) {
  arb_t z, term, factor;
  arb_init(z);
  arb_init(term);
  arb_init(factor);
  arb_zero(q);
  for (rf_index k = 0; k < net->m; k++) {
    arb_zero(z);
    for (rf_index j = 0; j < net->d; j++) {
      arb_set_d(term, net->W[k * net->d + j]);
      arb_set_d(factor, x[j]);
      arb_addmul(z, term, factor, check_bits);
    }
    if (!arb_is_positive(z)) {
      arb_set_d(factor, net->leak);
      arb_mul(z, z, factor, check_bits);
    }
    arb_set_d(factor, net->a[k]);
    arb_addmul(q, z, factor, check_bits);
  }
  arb_set_d(factor, y);
  arb_mul(q, q, factor, check_bits);
  arb_clear(z);
  arb_clear(term);
  arb_clear(factor);
}

static inline double exact_norm2(const RfNet *net) {
  arb_t sum, term;
  arb_init(sum);
  arb_init(term);
  for (rf_index i = 0; i < net->m * net->d; i++) {
    arb_set_d(term, net->W[i]);
    arb_addmul(sum, term, term, check_bits);
  }
  for (rf_index k = 0; k < net->m; k++) {
    arb_set_d(term, net->a[k]);
    arb_addmul(sum, term, term, check_bits);
  }
  double value = arf_get_d(arb_midref(sum), ARF_RND_NEAR);
  arb_clear(sum);
  arb_clear(term);
  return value;
}

static inline double exact_least_margin(const RfNet *net, const double *X, const double *y, rf_index n) {
  arb_t q;
  double least = INFINITY;
  arb_init(q);
  for (rf_index i = 0; i < n; i++) {
    exact_margin(q, net, X + i * net->d, y[i]);
    least = fmin(least, arf_get_d(arb_midref(q), ARF_RND_NEAR));
  }
  arb_clear(q);
  return least;
}

/* The witness has margin >= 1 - 1e-12 and is shorter than the network at min margin 1, by what was said. */
static inline void check_witness(const RfCertificate *c, const RfNet *net, const double *X, const double *y,
                                 rf_index n) {
  double margin = exact_least_margin(&c->witness, X, y, n),
         own = exact_norm2(net) / exact_least_margin(net, X, y, n);
  double drop = 1 - exact_norm2(&c->witness) / own;
  if (!(margin >= 1 - 1e-12) || !(drop > 0) || !(fabs(drop - c->norm2_drop) <= 1e-12)) {
    print_case(net, X, y, n);
    rf_test_print_matrix("witness W", c->witness.W, c->witness.m, c->witness.d);
    rf_test_print_matrix("witness a", c->witness.a, 1, c->witness.m);
    fail_msg("witness: margin %.17g, drop %.17g, told %.17g", margin, drop, c->norm2_drop);
  }
}

/* Lower bound of min sum |u_k| over one branch: slopes fixed at the own-class kinks (bits of `branch`),
 * anything in [leak,1] at the opposite ones. Multipliers from least squares over all vertices; then, for any
 * lambda >= 0 and slopes inside, sum(lambda) / max_k |sum_i lambda_i y_i s_k h_ik x_i| bounds it, whatever
 * the solver did. */
static inline double branch_bound(const RfNet *net, const double *X, const double *y, rf_index n,
                                  rf_index branch, rf_index *own_kinks, double tight, double kink) {
  rf_index m = net->m, d = net->d, count = 0, own = 0;
  double *columns = RF_NEW(double, (n << m) * m * d), *f = RF_NEW(double, m *d), *x = RF_NEW(double, n << m);
  rf_index *owner = RF_NEW(rf_index, n << m);
  double least = exact_least_margin(net, X, y, n);
  for (rf_index i = 0; i < n; i++) {
    RfContext context;
    rf_context_init(&context);
    double q;
    assert_int_equal(rf_net_outputs(&context, &q, net, X + i * d, 1), RF_OK);
    if (y[i] * q > least * (1 + tight)) continue;
    rf_index first = own;
    for (rf_index choice = 0; choice < (rf_index)1 << m; choice++) {
      bool repeated = false;
      own = first;
      for (rf_index k = 0; k < m; k++) {
        const double *w = net->W + k * d;
        double z = rf_la_dot(w, X + i * d, d), size = rf_la_norm(w, d) * rf_la_norm(X + i * d, d);
        bool at_kink = fabs(z) <= kink * size && net->leak < 1, one = choice >> k & 1;
        double slope = z > 0 ? 1 : net->leak;
        if (at_kink && y[i] * net->a[k] > 0)
          slope = branch >> own++ & 1 ? 1 : net->leak, repeated = repeated || one;
        else if (at_kink)
          slope = one ? 1 : net->leak;
        else
          repeated = repeated || one;
        for (rf_index j = 0; j < d; j++)
          columns[(count * m + k) * d + j] = y[i] * (net->a[k] > 0 ? 1 : -1) * slope * X[i * d + j];
      }
      if (!repeated) owner[count++] = i;
    }
  }
  *own_kinks = own;
  for (rf_index k = 0; k < m; k++)
    for (rf_index j = 0; j < d; j++) f[k * d + j] = net->W[k * d + j] / rf_la_norm(net->W + k * d, d);
  RfContext context;
  rf_context_init(&context);
  assert_ok(&context, rf_la_nnls(&context, x, NULL, NULL, columns, f, m * d, count, m * d, NULL));
  arb_t norm, entry, term, weight;
  arb_init(norm);
  arb_init(entry);
  arb_init(term);
  arb_init(weight);
  double largest = 0, sum = 0;
  for (rf_index k = 0; k < m; k++) {
    arb_zero(norm);
    for (rf_index j = 0; j < d; j++) {
      arb_zero(entry);
      for (rf_index c = 0; c < count; c++) {
        arb_set_d(term, columns[(c * m + k) * d + j]);
        arb_set_d(weight, x[c]);
        arb_addmul(entry, term, weight, check_bits);
      }
      arb_addmul(norm, entry, entry, check_bits);
    }
    arb_sqrt(norm, norm, check_bits);
    largest = fmax(largest, arf_get_d(arb_midref(norm), ARF_RND_CEIL));
  }
  for (rf_index c = 0; c < count; c++) sum += x[c];
  arb_clear(norm);
  arb_clear(entry);
  arb_clear(term);
  arb_clear(weight);
  rf_free(columns);
  rf_free(f);
  rf_free(x);
  rf_free(owner);
  return largest > 0 ? sum / largest : 0;
}

/* A network without zero neurons that is said to be a local optimum: optimal in every branch. */
static inline void check_local_optimum(const RfNet *net, const double *X, const double *y, rf_index n) {
  double objective = 0.5 * exact_norm2(net) / exact_least_margin(net, X, y, n);
  rf_index own = 0;
  for (rf_index branch = 0; branch < (rf_index)1 << own; branch++) {
    double bound = branch_bound(net, X, y, n, branch, &own, 1e-9, 1e-9);
    if (!(bound >= objective * (1 - 1e-7))) {
      print_case(net, X, y, n);
      fail_msg("said to be a local optimum, but branch %lld has bound %.17g, objective %.17g",
               (long long)branch, bound, objective);
    }
  }
}

#endif

/* Margins to sixty digits: on the support set of the answer, v = Z^T (Z Z^T)^-1 1 is solved in 300-bit balls,
 * which also prove that the support is the right one (positive multipliers, every other row beyond 1). */
#include <arb.h>
#include <arb_mat.h>

#include "rf_test.h"

enum { bits = 300 };

/* Encloses |v| and the multipliers for the support of m, and checks that they are the optimum. */
static void check_digits(const RfLinearMargin *m, const double *X, const double *y, rf_index n, rf_index d) {
  slong size = 0;
  rf_index index[64];
  for (rf_index i = 0; i < n; i++)
    if (m->multipliers[i] > 0) index[size++] = i;
  arb_mat_t Z, T, G, one, mu, v;
  arb_mat_init(Z, size, (slong)d);
  arb_mat_init(T, (slong)d, size);
  arb_mat_init(G, size, size);
  arb_mat_init(one, size, 1);
  arb_mat_init(mu, size, 1);
  arb_mat_init(v, (slong)d, 1);
  for (slong p = 0; p < size; p++) {
    arb_one(arb_mat_entry(one, p, 0));
    for (rf_index j = 0; j < d; j++)
      arb_set_d(arb_mat_entry(Z, p, (slong)j), y[index[p]] * X[index[p] * d + j]);
  }
  arb_mat_transpose(T, Z);
  arb_mat_mul(G, Z, T, bits);
  assert_true(arb_mat_solve(mu, G, one, bits));
  arb_mat_mul(v, T, mu, bits);
  arb_t norm, term, product;
  arb_init(norm);
  arb_init(term);
  arb_init(product);
  for (rf_index j = 0; j < d; j++)
    arb_addmul(norm, arb_mat_entry(v, (slong)j, 0), arb_mat_entry(v, (slong)j, 0), bits);
  arb_sqrt(norm, norm, bits);
  for (slong p = 0; p < size; p++) { /* dual feasible, and the multipliers agree */
    assert_true(arb_is_positive(arb_mat_entry(mu, p, 0)));
    double exact = arf_get_d(arb_midref(arb_mat_entry(mu, p, 0)), ARF_RND_NEAR);
    assert_relative(m->multipliers[index[p]], exact, 1e-15);
  }
  for (rf_index i = 0; i < n; i++) { /* primal feasible, in balls: strictly beyond 1 off the support */
    arb_zero(product);
    for (rf_index j = 0; j < d; j++) {
      arb_set_d(term, y[i] * X[i * d + j]);
      arb_addmul(product, term, arb_mat_entry(v, (slong)j, 0), bits);
    }
    arb_sub_ui(product, product, 1, bits);
    assert_true(m->multipliers[i] > 0 ? arb_contains_zero(product) : arb_is_positive(product));
  }
  arb_inv(term, norm, bits);
  assert_relative(m->margin, arf_get_d(arb_midref(term), ARF_RND_NEAR), 3e-16);
  double length = arf_get_d(arb_midref(norm), ARF_RND_NEAR);
  for (rf_index j = 0; j < d; j++)
    assert_close(m->w[j], arf_get_d(arb_midref(arb_mat_entry(v, (slong)j, 0)), ARF_RND_NEAR) / length, 3e-16);
  arb_clear(norm);
  arb_clear(term);
  arb_clear(product);
  arb_mat_clear(Z);
  arb_mat_clear(T);
  arb_mat_clear(G);
  arb_mat_clear(one);
  arb_mat_clear(mu);
  arb_mat_clear(v);
}

static void margins_to_the_last_bit(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 41, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(40); trial++) {
    rf_index n = 5 + rf_random_below(&random, 40), d = 2 + rf_random_below(&random, 5);
    double X[45 * 6], y[45], w[6];
    rf_random_direction(&random, w, d);
    for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
    for (rf_index i = 0; i < n; i++) y[i] = rf_la_dot(w, X + i * d, d) > 0 ? 1 : -1;
    RfLinearMargin m;
    assert_ok(&context, rf_margin_linear(&context, &m, X, y, n, d));
    check_digits(&m, X, y, n, d);
    rf_linear_margin_free(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(margins_to_the_last_bit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

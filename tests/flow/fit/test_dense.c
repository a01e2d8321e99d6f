/* First crossings of the dense output of a step: those that sampling finds, and dips far shorter than any
 * sampling. */
#include "flow/fit/dense.h"

#include <math.h>

#include "core/core.h"
#include "flow/flow_internal.h"
#include "rf_test.h"

/* The eight terms of the cubic with these ends and slopes. */
static void cubic(double *terms, double v0, double v1, double s0, double s1) {
  double step = v1 - v0, bend = s0 - step;
  memset(terms, 0, RF_DENSE_TERMS * sizeof *terms);
  terms[0] = v0, terms[1] = step, terms[2] = bend, terms[3] = step - s1 - bend;
}

/* Random polynomials against 100,000 samples. */
static void as_samples_find_it(void **state) {
  (void)state;
  enum { SAMPLES = 100000 };
  RfRandom random;
  rf_random_init(&random, 20, 0);
  int crossing = 0, problems = (int)rf_test_iterations(60);
  for (int p = 0; p < problems; p++) {
    double terms[RF_DENSE_TERMS], low = -1, high = -1;
    for (int j = 0; j < RF_DENSE_TERMS; j++) terms[j] = rf_random_gaussian(&random) * (j > 3 ? 4 : 1);
    double floor = terms[0] - 0.5 * rf_random_uniform(&random);
    int at = 1;
    while (at <= SAMPLES && !(rf_dense_value(terms, (double)at / SAMPLES) < floor)) at++;
    bool found = rf_dense_first_below(terms, floor, &low, &high);
    if (at <= SAMPLES) assert_true(found);
    if (!found) continue;
    crossing++;
    assert_true(low < high && rf_dense_value(terms, low) >= floor - 1e-14);
    assert_true(rf_dense_value(terms, high) <= floor + 1e-14);
    assert_true(low <= (double)at / SAMPLES);
  }
  assert_true(4 * crossing > problems);
}

/* A unit 1e-9 before a hyperplane goes 4e-8 beyond it and is back after 2e-7 of the step. */
static void short_dips(void **state) {
  (void)state;
  for (double slope = 1e-2; slope > 1e-6; slope *= 0.1) {
    double terms[RF_DENSE_TERMS], low, high, v0 = 0.01 * slope * slope;
    cubic(terms, v0, 1, -slope, 2); /* about v0 - slope s + s^2: least at slope/2 */
    assert_true(rf_dense_first_below(terms, 0, &low, &high));
    assert_true(rf_dense_value(terms, low) >= 0 && rf_dense_value(terms, high) < 0);
    assert_true(high < slope);
    assert_false(rf_dense_first_below(terms, -slope * slope, &low, &high));
  }
}

/* It only touches the floor, or never comes near it. */
static void none(void **state) {
  (void)state;
  double terms[RF_DENSE_TERMS], low, high;
  cubic(terms, 1, 1, -1, 1); /* least 0.75 in the middle */
  assert_false(rf_dense_first_below(terms, 0.75 - 1e-12, &low, &high));
  assert_true(rf_dense_first_below(terms, 0.75 + 1e-12, &low, &high));
  assert_true(low < 0.5 && high <= 0.5 && rf_dense_value(terms, high) < 0.75 + 1e-12);
  cubic(terms, 1, 2, 0, 0);
  assert_false(rf_dense_first_below(terms, 0, &low, &high));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_samples_find_it), cmocka_unit_test(short_dips),
                                     cmocka_unit_test(none)};
  return cmocka_run_group_tests_name("flow/fit/dense", tests, NULL, NULL);
}

/* Spike-free: the sign test against brute force over directions (WP-08), witnesses rechecked by least
 * squares, reference values, duplicates, dependent rows. */
#include "geometry_test.h"

/* Least |z| with Xz = (Xu)_+ for unit u, infinity when out of range; by least squares on X itself. */
static double needed(RfContext *context, const double *X, const double *u, rf_index n, rf_index d) {
  double A[64], b[16] = {0}, want[16], square = 0, error = 0;
  rf_index rank;
  memcpy(A, X, (size_t)(n * d) * sizeof *A);
  for (rf_index i = 0; i < n; i++) want[i] = b[i] = fmax(0, rf_la_dot(X + i * d, u, d));
  assert_ok(context, rf_la_least_squares(context, A, b, n, d, 1e-11, &rank));
  for (rf_index i = 0; i < n; i++) error = fmax(error, fabs(rf_la_dot(X + i * d, b, d) - want[i]));
  for (rf_index k = 0; k < d; k++) square += b[k] * b[k];
  return error > 1e-8 * rf_la_norm(X, n * d) ? INFINITY : sqrt(square);
}

static double sampled_number(RfContext *context, const double *X, rf_index n, rf_index d, RfRandom *random) {
  double u[8], best = 0;
  for (rf_index k = 0; k < 3000; k++) {
    rf_random_direction(random, u, d);
    best = fmax(best, needed(context, X, u, n, d));
    if (isinf(best)) break;
  }
  return best;
}

static rf_index agree(RfContext *context, const double *X, rf_index n, rf_index d, RfRandom *random) {
  RfSpikeFree spike;
  assert_ok(context, rf_geometry_spike_free(context, &spike, X, n, d, 0));
  double sampled = sampled_number(context, X, n, d, random);
  bool fine = spike.holds != RF_UNKNOWN && (spike.holds == RF_NO) == (spike.witness != NULL);
  if (spike.holds == RF_YES) fine &= sampled <= 1 + 1e-9 && spike.number == 1;
  if (spike.holds == RF_NO) {
    double at_witness = needed(context, X, spike.witness, n, d);
    fine &= at_witness > 1 + 1e-12 && spike.number >= sampled - 1e-9;
    fine &= isinf(spike.number) ? isinf(at_witness) : fabs(at_witness - spike.number) < 1e-9 * spike.number;
    fine &= fabs(rf_la_norm(spike.witness, d) - 1) < 1e-14;
  }
  if (!fine) {
    rf_test_print_matrix("X", X, n, d);
    fail_msg("holds %d, number %.12g, sampled %.12g", (int)spike.holds, spike.number, sampled);
  }
  rf_index holds = spike.holds;
  rf_spike_free_free(&spike);
  return holds;
}

static void against_sampling(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 81, 0);
  rf_index holds = 0, tried = rf_test_iterations(60);
  for (rf_index k = 0; k < tried; k++) {
    rf_index d = 1 + rf_random_below(&random, 4), n = 1 + rf_random_below(&random, 4);
    double *X = k % 3 ? random_rows(&random, n, d) : random_integers(&random, n, d, 2);
    if (k % 3 == 1) /* rows near each other: M has negative entries more often */
      for (rf_index i = 0; i < n; i++)
        for (rf_index j = 0; j < d; j++) X[i * d + j] = fabs(X[i * d + j]) + (j == 0 ? 2 : 0);
    holds += agree(&context, X, n, d, &random);
    rf_free(X);
  }
  if (tried >= 60) assert_true(holds * 20 >= tried); /* enough of them hold for the test to mean something */
}

static void two_and_three_rows(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 82, 0);
  for (rf_index k = 0; k < rf_test_iterations(200); k++) { /* n = 2: iff <x1,x2> >= 0 */
    double *X = random_rows(&random, 2, 2);
    RfSpikeFree spike;
    assert_ok(&context, rf_geometry_spike_free(&context, &spike, X, 2, 2, 0));
    assert_int_equal(spike.holds, rf_la_dot(X, X + 2, 2) >= 0 ? RF_YES : RF_NO);
    rf_spike_free_free(&spike);
    rf_free(X);
  }
}

static void reference_values(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  json_t *root = load_json(rf_test_golden(), "convex/spikefree.json");
  for (int k = 0; k < 2; k++) {
    rf_index n, d;
    double *X = json_rows(json_object_get(root, k ? "F2" : "F1"), &n, &d);
    RfSpikeFree spike;
    assert_ok(&context, rf_geometry_spike_free(&context, &spike, X, n, d, 0));
    assert_int_equal(spike.holds, json_is_true(json_object_get(root, k ? "F2_spikefree" : "F1_spikefree")));
    assert_close(spike.number, json_number_value(json_object_get(root, k ? "F2_max_ratio" : "F1_max_ratio")),
                 1e-11);
    rf_spike_free_free(&spike);
    rf_free(X);
  }
  json_decref(root);
}

static void degenerate(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 83, 0);
  double opposite[2] = {1, -1}, twice[6] = {1, 2, 2, 4, 0, 0}, orthogonal[9] = {1, 1, 0, 1, -1, 0, 0, 0, 3};
  double dependent[6] = {1, 0, 0, 1, 1, 1};
  assert_int_equal(agree(&context, opposite, 2, 1, &random), RF_NO);
  assert_int_equal(agree(&context, twice, 3, 2, &random), RF_YES);
  assert_int_equal(agree(&context, orthogonal, 3, 3, &random), RF_YES);
  assert_int_equal(agree(&context, dependent, 3, 2, &random), RF_NO);
  RfSpikeFree spike;
  assert_ok(&context, rf_geometry_spike_free(&context, &spike, opposite, 0, 1, 0));
  assert_int_equal(spike.holds, RF_YES);
  rf_spike_free_free(&spike);
  double *X = random_rows(&random, 12, 12); /* too many rows for the number, not for the answer */
  assert_ok(&context, rf_geometry_spike_free(&context, &spike, X, 12, 12, 0));
  assert_true(spike.holds == RF_NO && isnan(spike.number) && spike.witness);
  rf_spike_free_free(&spike);
  rf_free(X);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(against_sampling), cmocka_unit_test(two_and_three_rows),
                                     cmocka_unit_test(reference_values), cmocka_unit_test(degenerate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

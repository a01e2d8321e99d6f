/* Coordinates for rows of very different lengths: lengths and inner products stay, the longest row is a
 * multiple of e_1 exactly, and turning there and back gives the vector again. */
#include "rf_test.h"

#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"
#include "flow/graded.h"

enum { N = 6, D = 4 };

static void coordinates(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_context_init(&context);
  rf_random_init(&random, 12, 0);
  for (int round = 0; round < 50; round++) {
    double X[N * D], turned[N * D], v[D], w[D];
    RfGraded graded;
    for (rf_index i = 0; i < N; i++) {
      double length = pow(10, 12 * rf_random_uniform(&random) - 6);
      for (rf_index j = 0; j < D; j++) X[i * D + j] = length * rf_random_gaussian(&random);
    }
    if (round % 3 == 0) /* a row twice, and none left for the last coordinate */
      for (rf_index i = 3; i < N; i++) memcpy(X + i * D, X + (i - 3) * D, D * sizeof(double));
    memcpy(turned, X, sizeof X);
    assert_ok(&context, rf_graded_new(&context, &graded, turned, N, D));
    rf_index longest = 0;
    for (rf_index i = 0; i < N; i++) {
      if (rf_la_norm(X + i * D, D) > rf_la_norm(X + longest * D, D)) longest = i;
      for (rf_index k = 0; k < N; k++) {
        double size = rf_la_norm(X + i * D, D) * rf_la_norm(X + k * D, D);
        assert_close(rf_la_dot(turned + i * D, turned + k * D, D) / size,
                     rf_la_dot(X + i * D, X + k * D, D) / size, 1e-14);
      }
    }
    for (rf_index j = 1; j < D; j++) assert_true(turned[longest * D + j] == 0);
    for (rf_index j = 0; j < D; j++) w[j] = v[j] = rf_random_gaussian(&random);
    rf_graded_turn(&graded, w);
    for (rf_index i = 0; i < N; i++)
      assert_close(rf_la_dot(turned + i * D, w, D) / rf_la_norm(X + i * D, D),
                   rf_la_dot(X + i * D, v, D) / rf_la_norm(X + i * D, D), 1e-13);
    rf_graded_back(&graded, w);
    for (rf_index j = 0; j < D; j++) assert_close(w[j], v[j], 1e-14);
    rf_graded_free(&graded);
  }
}

static void only_where_it_helps(void **state) {
  (void)state;
  const double alike[] = {1, 2, 0, 0, -500, 3}, spread[] = {1, 2, 0, 0, -5000, 3}, line[] = {1, 1e9, 1e-9};
  assert_false(rf_rows_spread(alike, 3, 2)); /* a row of zeros has no length */
  assert_true(rf_rows_spread(spread, 3, 2));
  assert_true(rf_rows_spread(line, 3, 1)); /* nothing to turn, but margins are those of long rows */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(coordinates), cmocka_unit_test(only_where_it_helps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

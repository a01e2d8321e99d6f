/* The least-distance problem, min |v| with g_i.v >= h_i: its conditions recomputed here from the rows alone,
 * on random, repeated, lifted and scaled rows; infeasible ones end with a combination that vanishes. */
#include "margin/margin_internal.h"
#include "rf_test.h"

/* Row i of the problem, dimension entries, and its target. */
static double row_of(double *g, const RfRows *rows, rf_index i) {
  double factor = rf_row_factor(rows, i);
  for (rf_index j = 0; j < rows->d; j++)
    g[j] = factor * (rf_row(rows, i)[j] - (rows->shift ? rows->shift[j] : 0));
  if (rows->lift > 0) g[rows->d] = factor * rows->lift;
  return 1 - factor * rows->offset;
}

static void check(const RfRows *rows, const RfLeastDistance *r) {
  double g[16], sum[16] = {0}, gap = 0, length = 0;
  for (rf_index j = 0; j < r->dimension; j++) length += (double)(r->v[j] * r->v[j]);
  length = sqrt(length);
  assert_relative((double)r->length, length, 1e-14);
  for (rf_index i = 0; i < rows->count; i++) {
    double h = row_of(g, rows, i), value = 0;
    for (rf_index j = 0; j < r->dimension; j++) value += g[j] * (double)r->v[j];
    assert_true(value - h >= -1e-11 * (1 + length * rf_la_norm(g, r->dimension)));
  }
  for (rf_index a = 0; a < r->n_active; a++) {
    double h = row_of(g, rows, r->active[a]), weight = (double)r->weights[a];
    assert_true(weight >= 0);
    gap += weight * h;
    for (rf_index j = 0; j < r->dimension; j++) sum[j] += weight * g[j];
  }
  for (rf_index j = 0; j < r->dimension; j++) assert_close(sum[j], (double)r->v[j], 1e-11 * (1 + length));
  assert_close(gap, length * length, 1e-10 * (1 + length * length)); /* no duality gap */
  assert_true(r->length_lower <= length * (1 + 1e-12));
}

static void random_rows(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_index solved = 0, infeasible = 0;
  rf_context_init(&context);
  rf_random_init(&random, 17, 0);
  for (rf_index t = 0; t < rf_test_iterations(400); t++) {
    rf_index n = 1 + rf_random_below(&random, 12), d = 1 + rf_random_below(&random, 5);
    double X[12 * 5], factor[12];
    for (rf_index i = 0; i < n; i++) {
      factor[i] = exp(rf_random_gaussian(&random));
      for (rf_index j = 0; j < d; j++)
        X[i * d + j] = i > 0 && t % 5 == 0 ? X[j] : rf_random_gaussian(&random) + (t % 2 ? 1.5 : 0);
    }
    RfRows rows = {.X = X, .count = n, .d = d, .factor = t % 3 ? factor : NULL, .lift = t % 4 ? 0 : 1};
    RfLeastDistance r = {0};
    RfStatus status = rf_least_distance(&context, &r, &rows);
    if (status == RF_OK) {
      check(&rows, &r);
      solved++;
    } else if (status == RF_INFEASIBLE) {
      double g[16], sum[16] = {0}, total = 0;
      for (rf_index i = 0; i < n; i++) {
        row_of(g, &rows, i);
        assert_true(r.farkas[i] >= 0);
        total += r.farkas[i];
        for (rf_index j = 0; j < d + (rows.lift > 0); j++) sum[j] += r.farkas[i] * g[j];
      }
      assert_true(total > 0);
      for (rf_index j = 0; j < d + (rows.lift > 0); j++) assert_close(sum[j] / total, 0, 1e-9);
      infeasible++;
    } else {
      fail_msg("random rows %d: status %d (%s)", (int)t, status, context.error);
    }
    rf_least_distance_free(&r);
  }
  print_message("%d solved, %d infeasible\n", (int)solved, (int)infeasible);
  assert_true(solved > 0 && infeasible > 0);
}

/* One row: v = g h / |g|^2. Two opposite rows: infeasible. */
static void small_ones(void **state) {
  (void)state;
  RfContext context;
  RfLeastDistance r = {0};
  rf_context_init(&context);
  const double one[] = {3, 4}, opposite[] = {3, 4, -6, -8};
  RfRows rows = {.X = one, .count = 1, .d = 2};
  assert_ok(&context, rf_least_distance(&context, &r, &rows));
  assert_close((double)r.v[0], 0.12, 1e-17);
  assert_close((double)r.v[1], 0.16, 1e-16);
  rf_least_distance_free(&r);
  rows = (RfRows){.X = opposite, .count = 2, .d = 2};
  assert_int_equal(rf_least_distance(&context, &r, &rows), RF_INFEASIBLE);
  assert_relative(r.farkas[0], 2 * r.farkas[1], 1e-12);
  rf_least_distance_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_ones), cmocka_unit_test(random_rows)};
  return cmocka_run_group_tests_name("margin/least_distance", tests, NULL, NULL);
}

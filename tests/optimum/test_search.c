/* The exact search: the same answer by any number of threads, with rays and without, on one half of the
 * sphere where that is enough, and never below a value that is attained. */
#include "rf_test.h"
#include "optimum/optimum_internal.h"
#include "reluflow/data.h"

#include <math.h>
#include <string.h>

static RfSearch search(const RfReduced *p, const double *lambda, double target, double room, int threads) {
  RfContext context;
  rf_context_init(&context);
  context.threads = threads;
  RfSearch s = {.target = target, .room = room, .stop_after = 1000};
  assert_ok(&context, rf_search_run(&context, &s, p, lambda, 1));
  return s;
}

/* Random unit rows in d coordinates, labels and multipliers; `even` adds the antipode of every row with the
 * same label and weight, so that sum lambda y x vanishes. */
static void problem(RfReduced *p, double *lambda, rf_index n, rf_index d, bool even, uint64_t seed) {
  RfRandom random;
  rf_random_init(&random, seed, 1);
  rf_index r = d + d % 2, all = even ? 2 * n : n;
  *p = (RfReduced){.n = all, .r = r, .d = d, .scale = 1};
  p->X = calloc((size_t)(all * r), sizeof(double)), p->y = calloc((size_t)all, sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    rf_random_direction(&random, p->X + i * r, d);
    p->y[i] = rf_random_uniform(&random) < 0.5 ? 1 : -1;
    lambda[i] = 0.2 + rf_random_uniform(&random);
    if (!even) continue;
    for (rf_index k = 0; k < d; k++) p->X[(n + i) * r + k] = -p->X[i * r + k];
    p->y[n + i] = p->y[i], lambda[n + i] = lambda[i];
  }
}

static void problem_free(RfReduced *p) { free(p->X), free(p->y); }

/* The largest value that climbs from many starts find. */
static double climbed(const RfReduced *p, const double *lambda, uint64_t seed) {
  RfContext context;
  rf_context_init(&context);
  RfOracle oracle;
  RfRandom random;
  double u[16], best = 0;
  rf_random_init(&random, seed, 2);
  assert_ok(&context, rf_oracle_new(&context, &oracle, p));
  for (int k = 0; k < 300; k++) {
    memset(u, 0, sizeof u);
    rf_random_direction(&random, u, p->d);
    best = fmax(best, rf_oracle_climb(&oracle, lambda, u, 1));
  }
  rf_oracle_free(&oracle);
  return best;
}

static void test_value(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 24; seed++) {
    RfReduced p;
    double lambda[64];
    rf_index d = 3 + (rf_index)(seed % 6);
    problem(&p, lambda, 20, d, seed % 4 == 0, seed);
    double best = climbed(&p, lambda, seed);
    for (int step = 0; step < 2;
         step++) { /* just above the maximum nothing is found; just below something is */
      double target = best * (step == 0 ? 1 + 1e-9 : 1 - 1e-6);
      RfSearch one = search(&p, lambda, target, 0, 1), three = search(&p, lambda, target, 0, 3);
      assert_true(one.upper >= best);
      if (one.found.count == 0) assert_true(step == 0 && one.upper == target);
      assert_true(one.upper == three.upper && one.nodes == three.nodes && one.best == three.best);
      assert_int_equal(one.found.count, three.found.count);
      for (rf_index k = 0; k < one.found.count; k++) assert_true(one.found.value[k] == three.found.value[k]);
      RfSearch half = search(&p, lambda, target, 1e-12 * target, 2);
      assert_true(half.upper >= best);
      if (seed % 4 == 0 && step == 0) assert_true(half.nodes < one.nodes && half.upper == target);
      if (seed % 4 != 0) assert_true(half.nodes == one.nodes);
      rf_directions_free(&one.found), rf_directions_free(&three.found), rf_directions_free(&half.found);
    }
    problem_free(&p);
  }
}

/* Rays give way where rows are nearly dependent: the answer is the same as with them. */
static void test_near_dependence(void **state) {
  (void)state;
  RfReduced p;
  double lambda[64];
  problem(&p, lambda, 20, 3, false, 5);
  double best = climbed(&p, lambda, 5);
  RfSearch apart = search(&p, lambda, best * (1 + 1e-6), 0, 1);
  for (rf_index i = 1; i < p.n; i++)
    if (p.y[i] == p.y[0]) { /* a row of the same class, almost the first one */
      memcpy(p.X + i * p.r, p.X, (size_t)p.r * sizeof(double));
      p.X[i * p.r] += 1e-9;
      break;
    }
  best = climbed(&p, lambda, 5);
  RfSearch near = search(&p, lambda, best * (1 + 1e-6), 0, 1);
  assert_true(apart.found.count == 0 && near.found.count == 0 && near.upper >= best);
  problem_free(&p);
}

/* The plane: never below a value on a fine grid, close to it, also where rows are almost or exactly parallel.
 */
static void test_plane(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 12; seed++) {
    RfContext context;
    rf_context_init(&context);
    RfReduced p;
    double lambda[64], best = 0, total = 0, step = 3.14159e-4;
    problem(&p, lambda, 20, 2, false, 100 + seed);
    p.leak = seed % 3 == 0 ? 0.3 : 0;
    for (rf_index i = 1; i < 6 && seed % 2; i++) { /* a crowd of rows */
      double angle = 0.7 + (double)i * (seed % 4 == 1 ? 1e-15 : 0);
      p.X[2 * i] = cos(angle), p.X[2 * i + 1] = sin(angle);
    }
    RfSearch s = {.target = 0};
    assert_ok(&context, rf_search_plane(&context, &s, &p, lambda, 1));
    for (int k = 0; k < 20000; k++) {
      double u[2] = {cos(k * step), sin(k * step)};
      best = fmax(best, rf_oracle_value(&p, lambda, u, 1));
    }
    for (rf_index i = 0; i < p.n; i++) total += lambda[i];
    assert_true(s.upper >= best && s.upper <= best + step * total && s.best <= s.upper);
    assert_true(s.upper - s.best <= 1e-11 * s.best);
    rf_directions_free(&s.found);
    problem_free(&p);
  }
}

/* The kernels for few dimensions against the loop for any: the same rows with zeros behind them. */
static void test_kernels(void **state) {
  (void)state;
  enum { n = 17, wide = 14 };
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 7, 1);
  for (rf_index r = 2; r <= 12; r += 2) {
    RfBox few, any;
    double V[n * 12], W[n * wide] = {0};
    assert_ok(&context, rf_box_new(&context, &few, n, r));
    assert_ok(&context, rf_box_new(&context, &any, n, wide));
    for (rf_index i = 0; i < n; i++) {
      rf_random_direction(&random, V + i * r, r);
      memcpy(W + i * wide, V + i * r, (size_t)r * sizeof(double));
      few.coef[i] = any.coef[i] = rf_random_uniform(&random);
      few.low[i] = any.low[i] = i % 5 == 0 ? few.coef[i] : 0.2;
      few.high[i] = any.high[i] = i % 5 == 0 ? few.coef[i] : i % 3 == 0 ? INFINITY : 0.8;
    }
    few.V = V, any.V = W;
    rf_box_residual(&few), rf_box_residual(&any);
    for (rf_index k = 0; k < r; k++) assert_true(fabs(few.res[k] - any.res[k]) < 1e-14);
    for (int sweep = 0; sweep < 3; sweep++) {
      double a = rf_box_sweep(&few), b = rf_box_sweep(&any);
      assert_true(fabs(a - b) < 1e-13);
    }
    for (rf_index i = 0; i < n; i++) assert_true(fabs(few.coef[i] - any.coef[i]) < 1e-13);
    rf_box_free(&few), rf_box_free(&any);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_value), cmocka_unit_test(test_near_dependence),
                                     cmocka_unit_test(test_plane), cmocka_unit_test(test_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

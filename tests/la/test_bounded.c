/* Least squares with bounds against planted solutions, brute force over active sets, and the optimality
 * conditions recomputed here. */
#include "rf_test.h"

typedef struct Case {
  rf_index rows, cols;
  double *A, *f, *low, *high, *x, *residual;
} Case;

static void case_new(Case *c, rf_index rows, rf_index cols) {
  *c = (Case){.rows = rows, .cols = cols};
  c->A = RF_NEW(double, rows *cols);
  c->f = RF_NEW(double, rows);
  c->low = RF_NEW(double, cols);
  c->high = RF_NEW(double, cols);
  c->x = RF_NEW(double, cols);
  c->residual = RF_NEW(double, rows);
  for (rf_index j = 0; j < cols; j++) c->high[j] = INFINITY;
}

static void case_free(Case *c) {
  double *blocks[] = {c->A, c->f, c->low, c->high, c->x, c->residual};
  for (int i = 0; i < 6; i++) rf_free(blocks[i]);
}

static void case_print(const Case *c) {
  rf_test_print_matrix("columns", c->A, c->cols, c->rows);
  rf_test_print_matrix("f", c->f, 1, c->rows);
  rf_test_print_matrix("low", c->low, 1, c->cols);
  rf_test_print_matrix("high", c->high, 1, c->cols);
  rf_test_print_matrix("x", c->x, 1, c->cols);
}

/* Optimality recomputed in long double: residual as told, x inside, gradient signs. */
static void check_optimal(const Case *c, const RfLeastSquaresInfo *info, double tolerance) {
  long double *r = calloc((size_t)c->rows + 1, sizeof *r);
  long double scale = 0, norm = 0, told = 0;
  for (rf_index i = 0; i < c->rows; i++) r[i] = c->f[i];
  for (rf_index i = 0; i < c->rows; i++) scale += (long double)c->f[i] * c->f[i];
  scale = sqrtl(scale);
  for (rf_index j = 0; j < c->cols; j++) {
    long double column = 0;
    for (rf_index i = 0; i < c->rows; i++) {
      r[i] -= (long double)c->A[j * c->rows + i] * c->x[j];
      column += (long double)c->A[j * c->rows + i] * c->A[j * c->rows + i];
    }
    scale += sqrtl(column) * fabsl((long double)c->x[j]);
  }
  bool bad = false;
  for (rf_index i = 0; i < c->rows; i++) {
    norm += r[i] * r[i];
    if (!(fabsl(r[i] - c->residual[i]) <= tolerance * scale)) bad = true;
    told += (long double)c->residual[i] * c->residual[i];
  }
  if (!(fabsl(sqrtl(norm) - info->residual) <= tolerance * scale)) bad = true;
  for (rf_index j = 0; j < c->cols; j++) {
    long double g = 0, column = 0;
    for (rf_index i = 0; i < c->rows; i++) {
      g += (long double)c->A[j * c->rows + i] * r[i];
      column += (long double)c->A[j * c->rows + i] * c->A[j * c->rows + i];
    }
    g /= column > 0 ? sqrtl(column) : 1;
    if (!(c->x[j] >= c->low[j] && c->x[j] <= c->high[j])) bad = true;
    if (c->x[j] < c->high[j] && g > tolerance * scale) bad = true;
    if (c->x[j] > c->low[j] && -g > tolerance * scale) bad = true;
  }
  free(r);
  if (bad) {
    case_print(c);
    fail_msg("not optimal (told residual %.17g)", (double)sqrtl(told));
  }
}

static RfStatus run(Case *c, RfLeastSquaresInfo *info, RfLeastSquaresWork *work, bool box) {
  RfContext context;
  rf_context_init(&context);
  RfStatus status =
      box ? rf_la_box_least_squares(&context, c->x, c->residual, info, c->A, c->f, c->low, c->high, c->rows,
                                    c->cols, c->rows, work)
          : rf_la_nnls(&context, c->x, c->residual, info, c->A, c->f, c->rows, c->cols, c->rows, work);
  if (status != RF_OK) {
    case_print(c);
    fail_msg("status %d: %s", status, context.error);
  }
  return status;
}

static void gaussian(RfRandom *random, double *out, rf_index n) {
  for (rf_index i = 0; i < n; i++) out[i] = rf_random_gaussian(random);
}

/* x with `active` positive entries, a residual orthogonal to those columns and obtuse to the others. */
static void plant(Case *c, double *x, RfRandom *random, rf_index active, double size) {
  double *r = RF_NEW(double, c->rows);
  gaussian(random, c->A, c->rows * c->cols);
  gaussian(random, r, c->rows);
  double square = rf_la_dot(r, r, c->rows);
  for (rf_index j = 0; j < c->cols; j++) {
    double *a = c->A + j * c->rows, g = rf_la_dot(a, r, c->rows);
    x[j] = j < active ? 0.5 + rf_random_uniform(random) : 0;
    if (j < active) /* twice: orthogonal to the residual to the last bit that matters */
      for (int pass = 0; pass < 2; pass++, g = rf_la_dot(a, r, c->rows))
        rf_la_axpy(a, -g / square, r, c->rows);
    else if (g > 0)
      rf_la_scale(a, -1, c->rows);
  }
  for (rf_index i = 0; i < c->rows; i++) {
    long double sum = size * r[i];
    for (rf_index j = 0; j < active; j++) sum += (long double)c->A[j * c->rows + i] * x[j];
    c->f[i] = (double)sum;
  }
  rf_free(r);
}

static void planted_nonnegative(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 1, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(300); trial++) {
    rf_index rows = 4 + rf_random_below(&random, 30), cols = 1 + rf_random_below(&random, 60);
    rf_index most = rows / 3 < cols ? rows / 3 : cols, active = rf_random_below(&random, most + 1);
    Case c;
    RfLeastSquaresInfo info;
    case_new(&c, rows, cols);
    double *x = RF_NEW(double, cols);
    plant(&c, x, &random, active, trial % 3 ? 1 : 1e-3);
    run(&c, &info, NULL, trial % 2);
    check_optimal(&c, &info, 1e-13);
    for (rf_index j = 0; j < cols; j++)
      if (!(fabs(c.x[j] - x[j]) <= 1e-12)) {
        case_print(&c);
        rf_test_print_matrix("planted", x, 1, cols);
        fail_msg("entry %lld: %.17g, planted %.17g", (long long)j, c.x[j], x[j]);
      }
    assert_int_equal(info.active, active);
    rf_free(x);
    case_free(&c);
  }
}

/* An orthonormal-like planted system, where 1e-15 is attainable. */
static void planted_to_the_last_digit(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 2, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(50); trial++) {
    Case c;
    RfLeastSquaresInfo info;
    case_new(&c, 64, 8);
    double x[8];
    plant(&c, x, &random, 5, 0.25);
    run(&c, &info, NULL, false);
    for (int j = 0; j < 8; j++) assert_close(c.x[j], x[j], 3e-15);
    case_free(&c);
  }
}

/* Objective of the best solution over all 3^cols choices of at-low, at-high, free. */
static double brute_force(const Case *c) {
  RfContext context;
  rf_context_init(&context);
  double best = INFINITY;
  rf_index choices = 1;
  for (rf_index j = 0; j < c->cols; j++) choices *= 3;
  for (rf_index choice = 0; choice < choices; choice++) {
    double M[64], b[16], x[16];
    rf_index free_columns[16], n_free = 0, code = choice, rank;
    bool ok = true;
    for (rf_index i = 0; i < c->rows; i++) b[i] = c->f[i];
    for (rf_index j = 0; j < c->cols; j++, code /= 3) {
      if (code % 3 == 2) {
        free_columns[n_free++] = j;
        continue;
      }
      x[j] = code % 3 ? c->high[j] : c->low[j];
      if (!isfinite(x[j])) ok = false;
      for (rf_index i = 0; i < c->rows && ok; i++) b[i] -= c->A[j * c->rows + i] * x[j];
    }
    if (!ok) continue;
    for (rf_index i = 0; i < c->rows; i++)
      for (rf_index k = 0; k < n_free; k++) M[i * n_free + k] = c->A[free_columns[k] * c->rows + i];
    rf_la_least_squares(&context, M, b, c->rows, n_free, 1e-12, &rank);
    for (rf_index k = 0; k < n_free; k++) {
      rf_index j = free_columns[k];
      x[j] = b[k];
      if (x[j] < c->low[j] - 1e-13 || x[j] > c->high[j] + 1e-13) ok = false;
    }
    if (!ok) continue;
    double square = 0;
    for (rf_index i = 0; i < c->rows; i++) {
      double r = c->f[i];
      for (rf_index j = 0; j < c->cols; j++) r -= c->A[j * c->rows + i] * x[j];
      square += r * r;
    }
    best = fmin(best, sqrt(square));
  }
  return best;
}

/* Small integers make ties, zero, duplicate and dependent columns common. */
static void agrees_with_brute_force(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(1500); trial++) {
    Case c;
    RfLeastSquaresInfo info;
    rf_index rows = 1 + rf_random_below(&random, 4), cols = 1 + rf_random_below(&random, 5);
    bool box = trial % 2, integers = trial % 3 > 0;
    case_new(&c, rows, cols);
    for (rf_index i = 0; i < rows * cols; i++)
      c.A[i] = integers ? (double)(rf_random_below(&random, 5) - 2) : rf_random_gaussian(&random);
    for (rf_index i = 0; i < rows; i++) c.f[i] = (double)(rf_random_below(&random, 7) - 3);
    for (rf_index j = 0; box && j < cols; j++) {
      rf_index kind = rf_random_below(&random, 5);
      c.low[j] = kind == 0 ? -INFINITY : (double)(rf_random_below(&random, 3) - 1);
      c.high[j] = kind == 1 ? INFINITY : kind == 2 ? c.low[j] : fmax(c.low[j], -1) + 1;
    }
    run(&c, &info, NULL, box);
    check_optimal(&c, &info, 1e-13);
    double best = brute_force(&c);
    if (!(fabs(info.residual - best) <= 1e-13 * (1 + rf_la_norm(c.x, cols)) * 10)) {
      case_print(&c);
      fail_msg("residual %.17g, brute force %.17g", info.residual, best);
    }
    case_free(&c);
  }
}

static void wide_and_tall(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 4, 0);
  rf_index shapes[][2] = {{5, 3000}, {40, 400}, {400, 40}, {150, 150}, {1, 200}, {200, 1}, {60, 2000}};
  for (int s = 0; s < 7; s++)
    for (int box = 0; box < 2; box++) {
      Case c;
      RfLeastSquaresInfo info;
      case_new(&c, shapes[s][0], shapes[s][1]);
      gaussian(&random, c.A, c.rows * c.cols);
      gaussian(&random, c.f, c.rows);
      for (rf_index j = 0; box && j < c.cols; j++) {
        c.low[j] = -rf_random_uniform(&random) * 0.1;
        c.high[j] = rf_random_uniform(&random) * 0.1;
      }
      run(&c, &info, NULL, box);
      check_optimal(&c, &info, 1e-12);
      case_free(&c);
    }
}

/* Nearly dependent, duplicated and zero columns in one system; far more columns than rows, one tight cone. */
static void degenerate(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 5, 0);
  for (rf_index trial = 0; trial < rf_test_iterations(300); trial++) {
    Case c;
    RfLeastSquaresInfo info;
    rf_index rows = 2 + rf_random_below(&random, 8), cols = 4 + rf_random_below(&random, 200);
    case_new(&c, rows, cols);
    gaussian(&random, c.A, rows * cols);
    gaussian(&random, c.f, rows);
    for (rf_index j = 1; j < cols; j++) {
      double *a = c.A + j * rows;
      const double *other = c.A + rf_random_below(&random, j) * rows;
      double noise = pow(10, -18 * rf_random_uniform(&random));
      switch (rf_random_below(&random, 5)) {
      case 0: memset(a, 0, (size_t)rows * sizeof *a); break;
      case 1: memcpy(a, other, (size_t)rows * sizeof *a); break;
      case 2:
        for (rf_index i = 0; i < rows; i++) a[i] = other[i] + noise * a[i];
        break;
      case 3:
        for (rf_index i = 0; i < rows; i++) a[i] = noise * a[i] - other[i];
        break;
      default: break;
      }
    }
    run(&c, &info, NULL, false);
    check_optimal(&c, &info, 1e-12);
    case_free(&c);
  }
}

static void scales(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 6, 0);
  double factors[] = {1, 1e-150, 1e150, 1e-290, 1e290};
  for (rf_index trial = 0; trial < rf_test_iterations(60); trial++) {
    Case c, scaled;
    RfLeastSquaresInfo info;
    case_new(&c, 6, 12);
    case_new(&scaled, 6, 12);
    gaussian(&random, c.A, 72);
    gaussian(&random, c.f, 6);
    run(&c, &info, NULL, false);
    double column_scale = factors[rf_random_below(&random, 3)], f_scale = factors[trial % 5];
    /* powers of two, so that the scaled problem is the same problem */
    column_scale = exp2(round(log2(column_scale)));
    f_scale = exp2(round(log2(f_scale)));
    if (fabs(log10(f_scale) - log10(column_scale)) > 300) f_scale = column_scale;
    for (int i = 0; i < 72; i++) scaled.A[i] = c.A[i] * column_scale;
    for (int i = 0; i < 6; i++) scaled.f[i] = c.f[i] * f_scale;
    run(&scaled, &info, NULL, trial % 2);
    for (int j = 0; j < 12; j++)
      assert_close(scaled.x[j] / (f_scale / column_scale), c.x[j], 1e-13 * (1 + rf_la_norm(c.x, 12)));
    case_free(&c);
    case_free(&scaled);
  }
}

static void warm_start_gives_the_same(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 7, 0);
  RfContext context;
  rf_context_init(&context);
  RfLeastSquaresWork *work;
  assert_ok(&context, rf_la_least_squares_work_new(&context, &work, 30, 60));
  for (rf_index trial = 0; trial < rf_test_iterations(200); trial++) {
    Case c;
    RfLeastSquaresInfo cold, warm;
    case_new(&c, 2 + rf_random_below(&random, 28), 1 + rf_random_below(&random, 59));
    double *x = RF_NEW(double, c.cols);
    gaussian(&random, c.A, c.rows * c.cols);
    gaussian(&random, c.f, c.rows);
    run(&c, &cold, work, false);
    for (rf_index j = 0; j < c.cols; j++) x[j] = trial % 2 ? c.x[j] : rf_random_gaussian(&random);
    assert_ok(&context,
              rf_la_nnls_from(&context, x, c.residual, &warm, c.A, c.f, c.rows, c.cols, c.rows, work));
    assert_close(warm.residual, cold.residual, 1e-13 * (1 + rf_la_norm(x, c.cols)));
    memcpy(c.x, x, (size_t)c.cols * sizeof *x);
    check_optimal(&c, &warm, 1e-13);
    if (trial % 2) assert_true(warm.iterations <= 3);
    for (rf_index j = 0; j < c.cols; j++) c.low[j] = -1, c.high[j] = 0.5;
    run(&c, &cold, work, true);
    for (rf_index j = 0; j < c.cols; j++) x[j] = trial % 2 ? c.x[j] : rf_random_gaussian(&random);
    assert_ok(&context, rf_la_box_least_squares_from(&context, x, c.residual, &warm, c.A, c.f, c.low, c.high,
                                                     c.rows, c.cols, c.rows, work));
    assert_close(warm.residual, cold.residual, 1e-13 * (1 + rf_la_norm(x, c.cols)));
    rf_free(x);
    case_free(&c);
  }
  rf_la_least_squares_work_free(work);
}

/* A right-hand side near or below the smallest normal number, from both corners of a box. */
static void vanishing_right_side(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  const double A[] = {0.490612, -1.3047, 0.818329}, low = 0, high = 1;
  const double sizes[] = {3.9e-311, 5e-324, 1e-300, 1e-200, 1e-30};
  for (int k = 0; k < 5; k++)
    for (int corner = 0; corner < 2; corner++) {
      double f[3], x = corner, residual[3];
      RfLeastSquaresInfo info;
      for (int i = 0; i < 3; i++) f[i] = sizes[k] * A[i];
      assert_ok(&context, rf_la_box_least_squares_from(&context, &x, residual, &info, A, f, &low, &high, 3, 1,
                                                       3, NULL));
      assert_true(x >= 0 && fabs(x - sizes[k]) <= fmax(1e-9 * sizes[k], 1e-110));
      for (int i = 0; i < 3; i++) assert_true(fabs(residual[i]) <= fmax(1e-9 * sizes[k], 1e-110));
    }
}

static void sizes_zero_and_one(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfLeastSquaresInfo info;
  double one = 2, f = 4, x = 7, r = 0, minus = -4, two[2] = {1, 1}, ends[2] = {3, 4};
  assert_ok(&context, rf_la_nnls(&context, &x, &r, &info, &one, &f, 1, 1, 1, NULL));
  assert_true(x == 2 && r == 0 && info.residual == 0);
  assert_ok(&context, rf_la_nnls(&context, &x, &r, &info, &one, &minus, 1, 1, 1, NULL));
  assert_true(x == 0 && r == -4 && info.residual == 4 && info.active == 0);
  assert_ok(&context, rf_la_nnls(&context, NULL, &r, &info, NULL, &f, 1, 0, 1, NULL));
  assert_true(r == 4 && info.residual == 4);
  assert_ok(&context, rf_la_nnls(&context, two, NULL, NULL, NULL, NULL, 0, 2, 0, NULL));
  assert_true(two[0] == 0 && two[1] == 0);
  assert_ok(&context,
            rf_la_box_least_squares(&context, &x, &r, &info, &one, &f, ends, ends + 1, 1, 1, 1, NULL));
  assert_true(x == 3 && r == -2);
  f = 0;
  assert_ok(&context,
            rf_la_box_least_squares(&context, &x, &r, &info, &one, &f, ends, ends + 1, 1, 1, 1, NULL));
  assert_true(x == 3 && r == -6);
}

static void bad_input_is_refused(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  double A = NAN, f = 1, x = 0, low = 2, high = 1, fine = 1;
  assert_int_equal(rf_la_nnls(&context, &x, NULL, NULL, &A, &f, 1, 1, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_la_nnls(&context, &x, NULL, NULL, &fine, &A, 1, 1, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_la_nnls(&context, &x, NULL, NULL, &fine, &f, -1, 1, 1, NULL), RF_ERR_USAGE);
  assert_int_equal(rf_la_box_least_squares(&context, &x, NULL, NULL, &fine, &f, &low, &high, 1, 1, 1, NULL),
                   RF_ERR_USAGE);
  A = INFINITY;
  assert_int_equal(rf_la_nnls(&context, &x, NULL, NULL, &A, &f, 1, 1, 1, NULL), RF_ERR_USAGE);
}

static void a_cancelled_run_gives_a_feasible_point(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  RfLeastSquaresInfo info;
  rf_context_init(&context);
  rf_random_init(&random, 8, 0);
  Case c;
  case_new(&c, 80, 300);
  gaussian(&random, c.A, c.rows * c.cols);
  gaussian(&random, c.f, c.rows);
  int cancel = 1;
  context.cancel = &cancel;
  assert_int_equal(rf_la_nnls(&context, c.x, c.residual, &info, c.A, c.f, c.rows, c.cols, c.rows, NULL),
                   RF_INTERRUPTED);
  for (rf_index j = 0; j < c.cols; j++) assert_true(c.x[j] >= 0);
  assert_true(info.violation > 1e-6);
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planted_nonnegative),
      cmocka_unit_test(planted_to_the_last_digit),
      cmocka_unit_test(agrees_with_brute_force),
      cmocka_unit_test(wide_and_tall),
      cmocka_unit_test(degenerate),
      cmocka_unit_test(scales),
      cmocka_unit_test(warm_start_gives_the_same),
      cmocka_unit_test(vanishing_right_side),
      cmocka_unit_test(sizes_zero_and_one),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(a_cancelled_run_gives_a_feasible_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pictures of the optimum for two samples: whole markup without a number that is not finite, whatever the
 * data, and the polar set where WP has it. */
#include "rf_markup.h"
#include "rf_test.h"
#include "present/present.h"

typedef struct Case {
  const char *name;
  double X[4], y[2];
  rf_index d;
} Case;

static const Case cases[] = {
    {"WP F.1", {1.65, -0.47, -0.47, 1.35}, {1, -1}, 2},
    {"WP F.2", {1.65, 0.47, 0.47, 1.35}, {1, 1}, 2},
    {"equal", {1, 2, 1, 2}, {-1, -1}, 2},
    {"same ray", {2, 4, 1, 2}, {1, 1}, 2},
    {"antipodal", {2, 4, -1, -2}, {1, 1}, 2},
    {"one dimension", {3, -2}, {1, -1}, 1},
    {"orthogonal", {1, 0, 0, 1}, {1, -1}, 2},
    {"large", {1e100, 0, 2e99, 1e100}, {1, 1}, 2},
    {"small", {1e-100, 0, 2e-101, 1e-100}, {1, 1}, 2},
    {"two sizes", {1e6, 0, 0, 1e-6}, {1, 1}, 2},
};

static void solve(RfOptimum *o, const Case *c, double leak, int signs) {
  RfContext context;
  rf_context_init(&context);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.signs = signs;
  assert_ok(&context, rf_optimum_solve(&context, o, c->X, c->y, 2, c->d, &settings));
}

static void check_whole(const RfSvg *svg, const Case *c, const char *picture) {
  const char *text = rf_text_string(&svg->text);
  assert_false(svg->text.failed);
  if (!well_formed(text) || strstr(text, "\"nan") || strstr(text, "\"inf") || strstr(text, "\"-inf") ||
      strstr(text, ",nan") || strstr(text, ",inf") || strstr(text, "-nan"))
    fail_msg("%s, %s: broken picture", c->name, picture);
}

static void test_whole(void **state) {
  (void)state;
  int drawn = 0;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    for (int way = 0; way < 6; way++) {
      RfOptimum o;
      int signs = way % 3 - 1;
      solve(&o, &cases[k], way < 3 ? 0 : 0.3, signs);
      if (isfinite(o.objective)) {
        RfSvg svg;
        rf_svg_optimum_ellipsoid(&svg, &o, cases[k].X, cases[k].y, signs);
        check_whole(&svg, &cases[k], "ellipsoid");
        rf_svg_free(&svg);
        rf_svg_optimum_polar(&svg, &o, cases[k].X, cases[k].y, signs);
        check_whole(&svg, &cases[k], "polar");
        rf_svg_free(&svg);
        drawn++;
      }
      rf_optimum_free(&o);
    }
  assert_true(drawn >= 20);
}

/* Width over height of the first polygon of the picture, which is the set. */
static double shape(const RfSvg *svg) {
  const char *at = strstr(rf_text_string(&svg->text), "<polygon");
  assert_non_null(at);
  at = strstr(at, "points=\"");
  assert_non_null(at);
  at += 8;
  double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  rf_index count = 0;
  while (*at != '"') {
    char *end;
    double value = strtod(at, &end);
    assert_true(end != at);
    int axis = (int)(count++ % 2);
    low[axis] = fmin(low[axis], value), high[axis] = fmax(high[axis], value);
    for (at = end; *at == ',' || *at == ' ';) at++;
  }
  assert_true(count > 100 && count % 2 == 0);
  return (high[0] - low[0]) / (high[1] - low[1]);
}

/* F.1: spikes of length |x_1| and |x_2|, so the polar set is 2/|x_1| wide and 2/|x_2| high. */
static void test_shapes(void **state) {
  (void)state;
  double ratio = hypot(1.65, 0.47) / hypot(0.47, 1.35);
  RfOptimum o;
  solve(&o, &cases[0], 0, 0);
  RfSvg svg;
  rf_svg_optimum_ellipsoid(&svg, &o, cases[0].X, cases[0].y, 0);
  assert_relative(shape(&svg), ratio, 1e-3);
  rf_svg_free(&svg);
  rf_svg_optimum_polar(&svg, &o, cases[0].X, cases[0].y, 0);
  assert_relative(shape(&svg), 1 / ratio, 1e-3);
  rf_svg_free(&svg);
  rf_optimum_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

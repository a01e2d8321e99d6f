/* Axes with round ticks, and lines clipped to their frame. */
#include "rf_markup.h"
#include "rf_test.h"
#include "present/present.h"

static void ticks_are_round_and_inside(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 3, 0);
  for (rf_index k = 0; k < rf_test_iterations(2000); k++) {
    double size = pow(10, 40 * rf_random_uniform(&random) - 20), low = size * rf_random_gaussian(&random);
    RfAxis axis = {low, low + size * (0.01 + rf_random_uniform(&random)), false, NULL, 0};
    double ticks[12];
    int count = rf_axis_ticks(ticks, &axis, 6);
    if (count < 2 || count > 7) print_error("[%g, %g]: %d ticks\n", axis.low, axis.high, count);
    assert_in_range(count, 2, 7);
    double slack = 1e-8 * (axis.high - axis.low);
    for (int i = 0; i < count; i++)
      assert_true(ticks[i] >= axis.low - slack && ticks[i] <= axis.high + slack);
  }
  RfAxis decades = {1e-300, 1e300, true, NULL, 0}, one = {2, 3, true, NULL, 0},
         empty = {1, 1, false, NULL, 0};
  double ticks[12];
  assert_in_range(rf_axis_ticks(ticks, &decades, 8), 4, 8);
  assert_in_range(rf_axis_ticks(ticks, &one, 6), 2, 7);
  assert_int_equal(rf_axis_ticks(ticks, &empty, 6), 0);
  RfAxis turn = {-180, 180, false, NULL, 45};
  assert_int_equal(rf_axis_ticks(ticks, &turn, 3), 9);
  assert_close(ticks[5], 45, 1e-12);
}

static void axes_cover_what_is_finite(void **state) {
  (void)state;
  double values[] = {NAN, 3, -1, INFINITY, 0};
  RfAxis axis = {1, -1, false, NULL, 0}, log_axis = {1, -1, true, NULL, 0}, none = {1, -1, false, NULL, 0};
  rf_axis_cover(&axis, values, 5);
  assert_close(axis.low, -1, 0);
  assert_close(axis.high, 3, 0);
  rf_axis_cover(&log_axis, values, 5);
  assert_close(log_axis.low, 3, 0);
  rf_axis_pad(&log_axis, 0.1);
  assert_true(log_axis.low < 3 && log_axis.high > 3);
  rf_axis_pad(&none, 0.1);
  assert_true(none.low < none.high);
}

static void lines_are_clipped(void **state) {
  (void)state;
  RfSvg svg;
  rf_svg_begin(&svg, 300, 200, "t", "d");
  RfPlot plot = {&svg, 50, 20, 200, 100, {0, 1, false, "x", 0}, {0, 1, false, "y", 0}};
  size_t before = svg.text.length;
  double x[] = {-5, 0.5, NAN, 0.2, 9}, y[] = {0.5, 0.5, 0.5, 0.1, 0.1};
  rf_plot_line(&plot, x, y, 5, (RfPen){0});
  const char *drawn = svg.text.data + before;
  assert_non_null(strstr(drawn, "points=\"50.00,70.00 150.00,70.00\""));
  assert_non_null(strstr(drawn, "points=\"90.00,110.00 250.00,110.00\""));
  rf_plot_axes(&plot);
  rf_plot_marks(&plot, x, y, 5, RF_MARK_DISC, RF_COLOUR_BLUE);
  rf_svg_end(&svg);
  assert_true(well_formed(svg.text.data));
  assert_null(strstr(svg.text.data, "nan"));
  rf_svg_free(&svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ticks_are_round_and_inside),
                                     cmocka_unit_test(axes_cover_what_is_finite),
                                     cmocka_unit_test(lines_are_clipped)};
  return cmocka_run_group_tests_name("present/plot", tests, NULL, NULL);
}

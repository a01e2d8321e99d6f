/* Pictures: well-formed markup whatever the input. */
#include "rf_markup.h"
#include "rf_test.h"
#include "present/present.h"

static void every_shape_is_well_formed(void **state) {
  (void)state;
  RfSvg svg;
  RfPen pen = {.colour = RF_COLOUR_BLUE, .dashed = true, .opacity = 0.5};
  rf_svg_begin(&svg, 300, 200, "a < b & c", "\"quoted\"");
  rf_svg_line(&svg, 0, 0, 1, 1, pen);
  rf_svg_circle(&svg, 5, 5, 3, pen);
  rf_svg_arrow(&svg, 0, 0, 50, 50, pen);
  rf_svg_arrow(&svg, 0, 0, 0, 0, pen);
  rf_svg_sector(&svg, 50, 50, 40, 0, 1, RF_COLOUR_GREEN, 0.2);
  rf_svg_sector(&svg, 50, 50, 40, 0, 7, RF_COLOUR_GREEN, 0.2);
  rf_svg_arc(&svg, 50, 50, 40, -1, 3, pen);
  for (int mark = RF_MARK_DISC; mark <= RF_MARK_TRIANGLE; mark++)
    rf_svg_mark(&svg, 9, 9, 4, (RfMark)mark, RF_COLOUR_SKY);
  rf_svg_label(&svg, 10, 10, RF_ANCHOR_END, 12, RF_COLOUR_INK, "w* <&> x");
  rf_svg_label_turned(&svg, 10, 10, -90, 12, RF_COLOUR_INK, "<up>");
  RfLegendEntry entries[] = {
      {"a line", RF_COLOUR_BLUE, -1}, {"a patch", RF_COLOUR_GREEN, -3}, {"disc", RF_COLOUR_SKY, 0}};
  assert_true(rf_svg_legend(&svg, 0, 0, 100, entries, 3) > 20);
  rf_svg_end(&svg);
  assert_true(well_formed(svg.text.data));
  rf_svg_free(&svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape_is_well_formed)};
  return cmocka_run_group_tests_name("present/svg", tests, NULL, NULL);
}

/* Pages stand alone: well-formed markup whatever the texts, nothing loaded from elsewhere. */
#include "rf_markup.h"
#include "rf_test.h"
#include "present/present.h"

static void pages_stand_alone(void **state) {
  (void)state;
  RfSvg svg;
  rf_svg_begin(&svg, 300, 200, "a < b & c", "\"quoted\"");
  rf_svg_end(&svg);
  RfText page = {0};
  rf_html_begin(&page, "T<itle", "sub & title");
  rf_html_verdict(&page, RF_GOOD, "good > bad");
  rf_html_section(&page, "<S>");
  rf_html_paragraph(&page, "<p>");
  rf_html_preformatted(&page, "<pre>");
  rf_html_picture(&page, &svg, "caption");
  rf_html_end(&page);
  assert_true(well_formed(page.data));
  assert_null(strstr(page.data, "src="));  /* nothing is loaded from elsewhere */
  assert_null(strstr(page.data, "href=")); /* nor linked */
  rf_text_free(&page);
  rf_svg_free(&svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages_stand_alone)};
  return cmocka_run_group_tests_name("present/html", tests, NULL, NULL);
}

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

/* A word of the glossary explains itself once in a paragraph, and only as a word; the text around stays. */
static void glossary_words(void **state) {
  (void)state;
  RfText page = {0};
  rf_html_paragraph(&page, "a KKT point & a KKT point, no orKKT point");
  assert_non_null(strstr(page.data, "<p>a <dfn tabindex=\"0\" data-says=\""));
  assert_non_null(strstr(page.data, "\">KKT point</dfn> &amp; a KKT point, no orKKT point</p>"));
  assert_true(well_formed(page.data));
  rf_text_free(&page);
}

/* The script that plays comes with pictures that have ways, and with no others. */
static void only_ways_are_played(void **state) {
  (void)state;
  for (int ways = 0; ways < 2; ways++) {
    RfSvg svg;
    RfText page = {0};
    rf_svg_begin(&svg, 300, 200, "t", "d");
    if (ways) rf_svg_group(&svg, "ways"), rf_svg_group_end(&svg);
    rf_svg_end(&svg);
    rf_html_begin(&page, "T", "s");
    rf_html_fold(&page, "more <");
    rf_html_picture(&page, &svg, "caption");
    rf_html_fold_end(&page);
    rf_html_end(&page);
    assert_int_equal(strstr(page.data, "<script>") != NULL, ways);
    assert_non_null(strstr(page.data, "<details><summary>more &lt;</summary>"));
    rf_text_free(&page);
    rf_svg_free(&svg);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages_stand_alone), cmocka_unit_test(glossary_words),
                                     cmocka_unit_test(only_ways_are_played)};
  return cmocka_run_group_tests_name("present/html", tests, NULL, NULL);
}

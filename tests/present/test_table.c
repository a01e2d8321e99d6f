/* Tables: columns aligned by what is seen, and as markup. */
#include "present/present.h"
#include "rf_test.h"

static void tables(void **state) {
  (void)state;
  RfTable table;
  RfText text = {0};
  rf_table_init(&table, "lr", "name|value");
  rf_table_cell(&table, "%s", "\xCE\xB1"); /* one column wide */
  rf_table_cell(&table, "%d", 1000);
  rf_table_cell(&table, "longer");
  rf_table_cell(&table, "2");
  rf_table_print(&text, &table, 1);
  assert_string_equal(rf_text_string(&text), " name    value\n \xCE\xB1        1000\n longer      2\n");
  rf_text_free(&text);
  rf_table_html(&text, &table);
  assert_non_null(strstr(text.data, "<td class=\"r\">1000</td>"));
  rf_text_free(&text);
  rf_table_free(&table);
  rf_table_init(&table, "l", NULL);
  rf_table_print(&text, &table, 0);
  assert_string_equal(rf_text_string(&text), "");
  rf_table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tables)};
  return cmocka_run_group_tests_name("present/table", tests, NULL, NULL);
}

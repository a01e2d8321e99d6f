/* Growing text, wrapping, tables, escapes, and files that are written whole. */
#include "rf_test.h"

#include <dirent.h>
#include <unistd.h>
#include "present/present.h"

static void text_grows(void **state) {
  (void)state;
  RfText text = {0};
  assert_string_equal(rf_text_string(&text), "");
  for (int i = 0; i < 1000; i++) rf_text_addf(&text, "%04d", i);
  assert_int_equal(text.length, 4000);
  assert_int_equal(strncmp(text.data + 3996, "0999", 5), 0);
  char long_piece[1000];
  memset(long_piece, 'x', sizeof long_piece - 1);
  long_piece[999] = '\0';
  rf_text_addf(&text, "<%s>", long_piece);
  assert_int_equal(text.length, 5001);
  assert_int_equal(text.data[5000], '>');
  rf_text_style(&text, RF_BAD);
  assert_int_equal(text.length, 5001); /* no colour unless asked for */
  rf_text_free(&text);
  assert_null(text.data);
}

static void colours_when_asked(void **state) {
  (void)state;
  RfText text = {.colour = true};
  rf_text_styled(&text, RF_GOOD, "yes");
  assert_string_equal(rf_text_string(&text), "\033[1;32myes\033[0m");
  rf_text_free(&text);
}

static void wrapping(void **state) {
  (void)state;
  RfText text = {0};
  rf_text_wrap(&text, "one two  three\nfour", 2, 9);
  assert_string_equal(rf_text_string(&text), "one two\n  three\n  four\n");
  rf_text_free(&text);
  rf_text_wrap(&text, "", 2, 9);
  assert_string_equal(rf_text_string(&text), "\n");
  rf_text_free(&text);
  rf_text_wrap(&text, "averyveryverylongword x", 0, 5);
  assert_string_equal(rf_text_string(&text), "averyveryverylongword\nx\n");
  rf_text_free(&text);
}

static void escapes(void **state) {
  (void)state;
  RfText text = {0};
  rf_text_add_escaped(&text, "<a & \"b\">\xFF\x02\xC3\xA9");
  assert_string_equal(rf_text_string(&text), "&lt;a &amp; &quot;b&quot;&gt;\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9");
  rf_text_free(&text);
}

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

static rf_index entries(const char *folder) {
  DIR *dir = opendir(folder);
  rf_index count = 0;
  for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) count += entry->d_name[0] != '.';
  closedir(dir);
  return count;
}

static void files_are_whole(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  char folder[] = "/tmp/rf_report_XXXXXX", path[64], read_back[16] = "";
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/out", folder);
  assert_ok(&context, rf_file_write(&context, path, "first", 5));
  assert_ok(&context, rf_file_write(&context, path, "again", 5));
  FILE *file = fopen(path, "r");
  assert_int_equal(fread(read_back, 1, sizeof read_back, file), 5);
  fclose(file);
  assert_string_equal(read_back, "again");
  assert_int_equal(entries(folder), 1); /* nothing left beside it */
  assert_int_equal(rf_file_write(&context, folder, "x", 1), RF_ERR_IO);
  assert_ok(&context, rf_file_write(&context, "/dev/null", "x", 1));
  assert_int_equal(rf_file_write(&context, "/dev/full", "x", 1), RF_ERR_IO);
  assert_non_null(strstr(context.error, "/dev/full"));
  snprintf(path, sizeof path, "%s/none/out", folder);
  assert_int_equal(rf_file_write(&context, path, "x", 1), RF_ERR_IO);
  snprintf(path, sizeof path, "%s/out", folder);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_grows), cmocka_unit_test(colours_when_asked),
      cmocka_unit_test(wrapping),   cmocka_unit_test(escapes),
      cmocka_unit_test(tables),     cmocka_unit_test(files_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

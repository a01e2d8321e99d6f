/* Files are written whole or not at all, and nothing is left beside them. */
#include <dirent.h>
#include <unistd.h>

#include "present/present.h"
#include "rf_test.h"

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
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_whole)};
  return cmocka_run_group_tests_name("present/file", tests, NULL, NULL);
}

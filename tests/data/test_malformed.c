/* The table malformed.txt: every text is refused with one line that says where. Values of flags come from the
 * table. */
#include "data_test.h"

typedef struct Case {
  char name[64], format[8], place[16], flags[64];
  unsigned char text[512];
  size_t size;
} Case;

/* Undoes \n \r \t \0 \xHH. */
static size_t unescape(unsigned char *out, const char *text) {
  size_t size = 0;
  for (const char *p = text; *p && *p != '\n'; p++) {
    if (*p != '\\') {
      out[size++] = (unsigned char)*p;
      continue;
    }
    p++;
    if (*p == 'x') {
      char digits[3] = {p[1], p[2], 0};
      out[size++] = (unsigned char)strtol(digits, NULL, 16);
      p += 2;
    } else {
      out[size++] = *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p == 't' ? '\t' : 0;
    }
  }
  return size;
}

static bool next_case(FILE *table, Case *item) {
  char line[1024];
  while (fgets(line, sizeof line, table)) {
    int used = 0;
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%63[^|]|%7[^|]|%15[^|]|%63[^|]|%n", item->name, item->format, item->place,
                            item->flags, &used),
                     4);
    item->size = unescape(item->text, line + used);
    return true;
  }
  return false;
}

static void set_flags(RfDataSource *source, char *flags) {
  char *value = strchr(flags, ' ');
  if (!value) return;
  *value++ = 0;
  if (strcmp(flags, "--label") == 0) source->label = value;
  if (strcmp(flags, "--classes") == 0) source->classes = value;
  if (strcmp(flags, "--limit") == 0) source->limit = atol(value);
  if (strcmp(flags, "--divide") == 0) source->divide = atof(value);
  if (strcmp(flags, "--bias") == 0) source->has_bias = true, source->bias = atof(value);
}

static void check_case(Case *item) {
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  bool csv = strcmp(item->format, "csv") == 0;
  source.path = csv ? "t.csv" : "t.svm";
  set_flags(&source, item->flags);
  RfStatus status = rf_data_parse(context, &dataset, &source, csv ? RF_FORMAT_CSV : RF_FORMAT_LIBSVM,
                                  item->text, item->size);
  if (status != RF_ERR_INPUT && status != RF_ERR_USAGE)
    print_error("%s: status %d\n", item->name, (int)status);
  assert_true(status == RF_ERR_INPUT || status == RF_ERR_USAGE);
  assert_one_line(context);
  assert_null(dataset.X);
  char start[64];
  snprintf(start, sizeof start, "%s:%s: ", source.path, item->place);
  if (strcmp(item->place, "-") != 0 && strncmp(context->error, start, strlen(start)) != 0) {
    print_error("%s: expected %s..., got %s\n", item->name, start, context->error);
    fail();
  }
}

static void table(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/malformed.txt", RF_SOURCE_DIR);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  Case item;
  int count = 0;
  for (; next_case(file, &item); count++) check_case(&item);
  fclose(file);
  assert_true(count >= 60);
}

/* Names with line ends or of any length keep the message on one line. */
static void awkward_paths(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  char path[2000];
  memset(path, 'p', sizeof path - 1);
  path[sizeof path - 1] = 0;
  source.path = path;
  assert_int_equal(rf_data_parse(context, &dataset, &source, RF_FORMAT_CSV, "1\n", 2), RF_ERR_INPUT);
  assert_non_null(strstr(context->error, ":1:1: expected"));
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_IO);
  assert_one_line(context);
  source.path = "line\nend";
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_IO);
  assert_one_line(context);
  source.path = "/";
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_IO);
  assert_non_null(strstr(context->error, "directory"));
  source.path = "";
  assert_int_equal(rf_data_load(context, &dataset, &source), RF_ERR_USAGE);
}

static void flags_that_do_not_fit(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  RfDataSource source;
  rf_data_source_init(&source);
  source.labels_path = "y.npy";
  assert_int_equal(parse_text(context, &dataset, &source, RF_FORMAT_CSV, "1,2\n"), RF_ERR_USAGE);
  source.labels_path = NULL, source.label = "0";
  assert_int_equal(parse_text(context, &dataset, &source, RF_FORMAT_LIBSVM, "1 1:2\n"), RF_ERR_USAGE);
}

static void too_many_labels(void **state) {
  (void)state;
  RfContext *context = fresh_context();
  RfDataset dataset;
  char *text = malloc(70000 * 24), *p = text;
  for (int i = 0; i < 70000; i++) p += sprintf(p, "1,%d.5\n", i);
  assert_int_equal(parse_text(context, &dataset, NULL, RF_FORMAT_CSV, text), RF_ERR_INPUT);
  assert_non_null(strstr(context->error, "65537:3: "));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table),
      cmocka_unit_test(awkward_paths),
      cmocka_unit_test(flags_that_do_not_fit),
      cmocka_unit_test(too_many_labels),
  };
  return cmocka_run_group_tests_name("data/malformed", tests, NULL, NULL);
}

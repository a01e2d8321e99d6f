/* Shared by the tests of this room: datasets from text, files in a scratch folder. */
#ifndef RF_DATA_TEST_H
#define RF_DATA_TEST_H

#include "rf_test.h"
#include "data/data_internal.h"

#include <unistd.h>

/* A context without surprises. */
static inline RfContext *fresh_context(void) {
  static RfContext context;
  rf_context_init(&context);
  return &context;
}

/* Parses a text under the name "t.csv" (or another one) with the given transforms. */
static inline RfStatus parse_text(RfContext *context, RfDataset *dataset, const RfDataSource *source,
                                  RfDataFormat format, const char *text) {
  RfDataSource named;
  if (source)
    named = *source;
  else
    rf_data_source_init(&named);
  if (!named.path) named.path = format == RF_FORMAT_LIBSVM ? "t.svm" : "t.csv";
  return rf_data_parse(context, dataset, &named, format, text, strlen(text));
}

static inline const char *scratch_path(const char *name) {
  static char path[4][256];
  static int turn;
  const char *folder = getenv("TMPDIR");
  char *out = path[turn++ % 4];
  snprintf(out, sizeof path[0], "%s/rf-test-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name);
  return out;
}

static inline void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* One line, no control characters, not cut in the middle of nowhere. */
static inline void assert_one_line(const RfContext *context) {
  assert_true(strlen(context->error) > 0);
  assert_null(strchr(context->error, '\n'));
  assert_null(strchr(context->error, '\r'));
}

static inline void assert_same_dataset(const RfDataset *a, const RfDataset *b) {
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->d, b->d);
  assert_int_equal(a->n_classes, b->n_classes);
  assert_memory_equal(a->X, b->X, (size_t)(a->n * a->d) * sizeof(double));
  assert_memory_equal(a->class_of, b->class_of, (size_t)a->n * sizeof(int32_t));
  assert_int_equal(a->y == NULL, b->y == NULL);
  if (a->y) assert_memory_equal(a->y, b->y, (size_t)a->n * sizeof(double));
  for (rf_index k = 0; k < a->n_classes; k++) assert_string_equal(a->class_names[k], b->class_names[k]);
}

#endif

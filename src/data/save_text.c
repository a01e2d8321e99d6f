/* Datasets as CSV, TSV and LIBSVM text. Numbers have as many digits as it takes to read them back exactly;
 * labels are the class names. When the names would not give the same signs again (half of a binary set), -1
 * and 1 are written. */
#include "data/data_internal.h"
#include "core/core.h"

#include <string.h>

/* What the reader would make of these names. */
bool rf_save_names_keep_signs(const RfDataset *dataset) {
  double a, b;
  if (dataset->n_classes < 1 || dataset->n_classes > 2 || !dataset->y) return true;
  const char *first = dataset->class_names[0];
  bool number = rf_number_whole(&a, first, strlen(first)) == RF_NUMBER_FINITE;
  if (dataset->n_classes == 1) return dataset->n == 0 || (dataset->y[0] > 0) == !(number && a <= 0);
  const char *second = dataset->class_names[1];
  if (number && rf_number_whole(&b, second, strlen(second)) == RF_NUMBER_FINITE) return a < b;
  return strcmp(first, second) < 0;
}

const char *rf_save_label(const RfDataset *dataset, rf_index i, bool names) {
  if (names) return dataset->class_names[dataset->class_of[i]];
  return dataset->y[i] > 0 ? "1" : "-1";
}

static void write_cell(RfSink *sink, const char *text, char separator) {
  size_t length = strlen(text);
  bool quote = length == 0 || strchr(text, separator) || strchr(text, '"') || text[0] == '#' ||
               text[0] == ' ' || text[length - 1] == ' ' || strchr(text, '\t');
  if (!quote) {
    rf_sink_write(sink, text, length);
    return;
  }
  rf_sink_text(sink, "\"");
  for (; *text; text++) {
    if (*text == '"') rf_sink_text(sink, "\"");
    rf_sink_write(sink, text, 1);
  }
  rf_sink_text(sink, "\"");
}

static RfStatus check_names(RfContext *context, const RfDataset *dataset) {
  for (rf_index k = 0; k < dataset->n_classes; k++) {
    if (!strpbrk(dataset->class_names[k], "\r\n")) continue;
    return rf_fail(context, RF_ERR_USAGE, "the name of class %lld contains a line end; write .npz",
                   (long long)k);
  }
  return RF_OK;
}

RfStatus rf_save_csv(RfContext *context, RfSink *sink, const RfDataset *dataset, char separator) {
  char text[RF_NUMBER_SIZE + 1];
  bool names = rf_save_names_keep_signs(dataset);
  RfStatus status = check_names(context, dataset);
  if (status) return status;
  for (rf_index j = 0; j < dataset->d; j++) {
    rf_sink_text(sink, "x");
    rf_number_format(text, (double)j);
    rf_sink_text(sink, text);
    rf_sink_write(sink, &separator, 1);
  }
  rf_sink_text(sink, "label\n");
  for (rf_index i = 0; i < dataset->n; i++) {
    if (i % 1024 == 0 && rf_context_stop(context))
      return rf_fail(context, RF_INTERRUPTED, "interrupted while writing");
    for (rf_index j = 0; j < dataset->d; j++) {
      int length = rf_number_format(text, dataset->X[i * dataset->d + j]);
      text[length] = separator;
      rf_sink_write(sink, text, (size_t)length + 1);
    }
    write_cell(sink, rf_save_label(dataset, i, names), separator);
    rf_sink_text(sink, "\n");
  }
  return RF_OK;
}

static bool is_plus_zero(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits == 0;
}

/* Zeros are left out, except in the last column of the first row, which keeps the number of columns. Labels
 * of LIBSVM files are numbers: classes with other names get their number 0, 1, ... */
RfStatus rf_save_libsvm(RfContext *context, RfSink *sink, const RfDataset *dataset) {
  char number[RF_NUMBER_SIZE];
  bool names = rf_save_names_keep_signs(dataset);
  bool numeric = names && rf_labels_all_numbers(dataset->class_names, dataset->n_classes);
  for (rf_index i = 0; i < dataset->n; i++) {
    if (i % 1024 == 0 && rf_context_stop(context))
      return rf_fail(context, RF_INTERRUPTED, "interrupted while writing");
    if (names && !numeric && dataset->n_classes > 1) {
      rf_number_format(number, (double)dataset->class_of[i]);
      rf_sink_text(sink, number);
    } else {
      rf_sink_text(sink, rf_save_label(dataset, i, numeric));
    }
    for (rf_index j = 0; j < dataset->d; j++) {
      double x = dataset->X[i * dataset->d + j];
      if (is_plus_zero(x) && !(i == 0 && j == dataset->d - 1)) continue;
      rf_number_format(number, (double)(j + 1));
      rf_sink_text(sink, " ");
      rf_sink_text(sink, number);
      rf_sink_text(sink, ":");
      rf_number_format(number, x);
      rf_sink_text(sink, number);
    }
    rf_sink_text(sink, "\n");
  }
  return RF_OK;
}

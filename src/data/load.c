/* From a source to a dataset: which format, which reader, then the transforms. Endings decide; without a
 * known ending the first bytes do. */
#include "data/data_internal.h"
#include "core/core.h"

#include <string.h>

void rf_data_source_init(RfDataSource *source) {
  memset(source, 0, sizeof *source);
  source->limit = -1;
  source->divide = 1;
}

static bool ends_with(const char *path, size_t length, const char *ending) {
  size_t size = strlen(ending);
  return length > size && rf_letters_equal(path + length - size, ending, size);
}

RfDataFormat rf_data_format_of_path(const char *path) {
  static const struct {
    const char *ending;
    RfDataFormat format;
  } endings[] = {{".csv", RF_FORMAT_CSV},    {".tsv", RF_FORMAT_CSV},         {".libsvm", RF_FORMAT_LIBSVM},
                 {".svm", RF_FORMAT_LIBSVM}, {".svmlight", RF_FORMAT_LIBSVM}, {".npz", RF_FORMAT_NPZ},
                 {".npy", RF_FORMAT_NPY}};
  size_t length = strlen(path);
  if (ends_with(path, length, ".gz")) length -= 3;
  for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
    if (ends_with(path, length, endings[k].ending)) return endings[k].format;
  }
  return RF_FORMAT_AUTO;
}

/* LIBSVM text: the first line with content is a label and then digits:something. */
static bool looks_like_libsvm(const char *text, size_t size) {
  const char *p = text, *limit = text + size;
  while (p < limit && (*p == '#' || *p == '\n' || *p == '\r')) {
    while (p < limit && *p != '\n') p++;
    if (p < limit) p++;
  }
  while (p < limit && *p != ' ' && *p != '\t' && *p != '\n') p++;
  while (p < limit && (*p == ' ' || *p == '\t')) p++;
  const char *digits = p;
  while (p < limit && *p >= '0' && *p <= '9') p++;
  return p > digits && p < limit && *p == ':';
}

static RfDataFormat format_of_bytes(const RfStream *stream) {
  const unsigned char *head = stream->head;
  size_t size = stream->head_size;
  if (size >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 8 && head[2] <= 14) return RF_FORMAT_IDX;
  if (size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return RF_FORMAT_NPY;
  if (size >= 4 && memcmp(head, "PK\3\4", 4) == 0) return RF_FORMAT_NPZ;
  return looks_like_libsvm((const char *)head, size) ? RF_FORMAT_LIBSVM : RF_FORMAT_CSV;
}

static RfStatus read_format(RfContext *context, RfDataset *dataset, RfStream *stream,
                            const RfDataSource *source, RfDataFormat format) {
  if (source->labels_path && format != RF_FORMAT_NPY && format != RF_FORMAT_IDX) {
    return rf_fail(context, RF_ERR_USAGE,
                   "--labels goes with .npy and idx files, %.200s has its labels inside", stream->name);
  }
  if (source->label && format != RF_FORMAT_CSV) {
    return rf_fail(context, RF_ERR_USAGE, "--label goes with .csv and .tsv files");
  }
  switch (format) {
  case RF_FORMAT_LIBSVM: return rf_libsvm_read(context, dataset, stream, source);
  case RF_FORMAT_NPZ: return rf_npz_read(context, dataset, stream, source);
  case RF_FORMAT_NPY:
  case RF_FORMAT_IDX: return rf_array_pair_read(context, dataset, stream, source);
  default: return rf_csv_read(context, dataset, stream, source);
  }
}

static RfStatus finish(RfContext *context, RfDataset *dataset, const RfDataSource *source, RfStatus status) {
  if (!status && !dataset->name) {
    dataset->name = rf_copy_text(source->path ? source->path : "");
    if (!dataset->name) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a dataset");
  }
  if (!status) status = rf_labels_check(context, dataset);
  if (!status) status = rf_data_transform(context, dataset, source);
  if (status) rf_dataset_free(dataset);
  return status;
}

RfStatus rf_data_parse(RfContext *context, RfDataset *dataset, const RfDataSource *source,
                       RfDataFormat format, const void *bytes, size_t size) {
  RfStream stream;
  memset(dataset, 0, sizeof *dataset);
  RfStatus status =
      rf_stream_open_memory(context, &stream, source->path ? source->path : "<memory>", bytes, size);
  if (!status && format == RF_FORMAT_AUTO) format = format_of_bytes(&stream);
  if (!status) status = read_format(context, dataset, &stream, source, format);
  rf_stream_close(&stream);
  return finish(context, dataset, source, status);
}

RfStatus rf_data_load(RfContext *context, RfDataset *dataset, const RfDataSource *source) {
  memset(dataset, 0, sizeof *dataset);
  if (!source->path || !*source->path) return rf_fail(context, RF_ERR_USAGE, "expected a dataset");
  if (strncmp(source->path, "gen:", 4) == 0)
    return finish(context, dataset, source, rf_data_generate(context, dataset, source->path));
  RfStream stream;
  RfDataFormat format = rf_data_format_of_path(source->path);
  RfStatus status = rf_stream_open(context, &stream, source->path);
  if (!status && format == RF_FORMAT_AUTO) format = format_of_bytes(&stream);
  if (!status) status = read_format(context, dataset, &stream, source, format);
  rf_stream_close(&stream);
  return finish(context, dataset, source, status);
}

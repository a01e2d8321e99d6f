/* Which writer, by the ending of the path. */
#include "data/data_internal.h"
#include "core/core.h"

#include <string.h>

RfStatus rf_data_save(RfContext *context, const RfDataset *dataset, const char *path) {
  RfSink sink;
  RfDataFormat format = rf_data_format_of_path(path);
  size_t length = strlen(path);
  if (format != RF_FORMAT_CSV && format != RF_FORMAT_LIBSVM && format != RF_FORMAT_NPZ) {
    return rf_fail(context, RF_ERR_USAGE, "%.200s: expected an ending .csv, .tsv, .libsvm or .npz", path);
  }
  if (length > 3 && rf_letters_equal(path + length - 3, ".gz", 4)) {
    return rf_fail(context, RF_ERR_USAGE, "%.200s: compressed files are read but not written", path);
  }
  RfStatus status = rf_sink_open(context, &sink, path);
  if (status) return status;
  bool tabs = length > 4 && rf_letters_equal(path + length - 4, ".tsv", 5);
  if (format == RF_FORMAT_NPZ)
    status = rf_save_npz_dataset(context, &sink, dataset);
  else if (format == RF_FORMAT_LIBSVM)
    status = rf_save_libsvm(context, &sink, dataset);
  else
    status = rf_save_csv(context, &sink, dataset, tabs ? '\t' : ',');
  return rf_sink_close(context, &sink, status);
}

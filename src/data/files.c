/* Whole files and .npz archives for other rooms: thin covers of the streams, archives and sinks of this one.
 */
#include "data/data_internal.h"

#include <string.h>

static int64_t default_limit(void) {
  RfDataSource source;
  rf_data_source_init(&source);
  return rf_data_memory_limit(&source);
}

RfStatus rf_data_read_file(RfContext *context, unsigned char **bytes, size_t *size, const char *path) {
  RfStream stream;
  *bytes = NULL, *size = 0;
  RfStatus status = rf_stream_open(context, &stream, path);
  if (!status) status = rf_stream_slurp(context, &stream, bytes, size, default_limit());
  rf_stream_close(&stream);
  return status;
}

RfStatus rf_data_write_file(RfContext *context, const char *path, const void *bytes, size_t size) {
  RfSink sink;
  RfStatus status = rf_sink_open(context, &sink, path);
  if (status) return status;
  rf_sink_write(&sink, bytes, size);
  return rf_sink_close(context, &sink, RF_OK);
}

RfStatus rf_data_npz_find(RfContext *context, RfArray *array, bool *found, const char *name, const char *path,
                          const void *bytes, size_t size) {
  RfStream stream;
  RfZip zip = {0};
  memset(array, 0, sizeof *array);
  *found = false;
  RfStatus status = rf_stream_open_memory(context, &stream, path, bytes, size);
  if (!status) status = rf_zip_open(context, &zip, &stream, default_limit());
  if (!status) status = rf_zip_read_npy(context, array, &zip, name, default_limit(), found);
  rf_zip_close(&zip);
  rf_stream_close(&stream);
  return status;
}

RfStatus rf_data_npz_write(RfContext *context, const char *path, const RfNpzMember *members, int count) {
  RfSink sink;
  if (count < 0 || count > RF_NPZ_MEMBERS)
    return rf_fail(context, RF_ERR_USAGE, "at most %d arrays", RF_NPZ_MEMBERS);
  RfStatus status = rf_sink_open(context, &sink, path);
  if (status) return status;
  rf_save_npz(&sink, members, count);
  return rf_sink_close(context, &sink, RF_OK);
}

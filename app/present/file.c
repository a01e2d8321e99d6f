/* Files that are never half written, by the one writer of the library. */
#include "data/data.h"
#include "present/present.h"

RfStatus rf_file_write(RfContext *context, const char *path, const char *data, size_t length) {
  return rf_data_write_file(context, path, data, length);
}

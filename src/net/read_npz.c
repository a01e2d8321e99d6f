/* Networks in .npz files: W (m x d), a (m), leak (one number, optional). */
#include "net/net_internal.h"

#include <string.h>

static RfStatus fail_array(RfContext *context, const RfStream *stream, const char *what) {
  return rf_fail_offset(context, stream->name, 0, "expected %s", what);
}

static RfStatus take_arrays(RfContext *context, RfNet *net, RfStream *stream, const RfArray *W,
                            const RfArray *a, const RfArray *leak) {
  rf_index m = W->dimensions == 2 ? W->shape[0] : 0, d = W->dimensions == 2 ? W->shape[1] : 0, longest = 1;
  if (!W->values || W->dimensions != 2) return fail_array(context, stream, "W as a matrix of numbers, m x d");
  for (int k = 0; k < a->dimensions; k++) longest = a->shape[k] > longest ? a->shape[k] : longest;
  if (!a->values || a->dimensions < 1 || a->count != m || (m > 0 && longest != m)) {
    return fail_array(context, stream, "a with one number for every row of W");
  }
  if (leak->item_size > 0 && (!leak->values || leak->count != 1))
    return fail_array(context, stream, "leak as one number");
  double slope = leak->values ? leak->values[0] : 0;
  return rf_net_from_arrays(context, net, stream->name, W->values, a->values, m, d, slope);
}

RfStatus rf_net_read_npz(RfContext *context, RfNet *net, bool *leak_stated, RfStream *stream,
                         const RfNetNames *names) {
  RfZip zip;
  RfArray W = {0}, a = {0}, leak = {0};
  bool has_W = false, has_a = false;
  RfDataSource defaults;
  rf_data_source_init(&defaults);
  int64_t limit = rf_data_memory_limit(&defaults);
  RfStatus status = rf_zip_open(context, &zip, stream, limit);
  if (!status) status = rf_zip_read_npy(context, &W, &zip, names->W, limit, &has_W);
  if (!status) status = rf_zip_read_npy(context, &a, &zip, names->a, limit, &has_a);
  if (!status) status = rf_zip_read_npy(context, &leak, &zip, "leak", limit, leak_stated);
  if (!status && (!has_W || !has_a)) {
    status = rf_fail_offset(context, stream->name, 0, "expected arrays %s and %s, found no %s", names->W,
                            names->a, has_W ? names->a : names->W);
  }
  if (!status) status = take_arrays(context, net, stream, &W, &a, &leak);
  rf_array_free(&W);
  rf_array_free(&a);
  rf_array_free(&leak);
  rf_zip_close(&zip);
  return status;
}

/* Networks in .npz files: W (m x d), a (m), leak (one number, optional). */
#include "net/net_internal.h"

#include <string.h>

static RfStatus fail_array(RfContext *context, const RfNetBytes *file, const char *what) {
  return rf_fail_offset(context, file->name, 0, "expected %s", what);
}

static RfStatus take_arrays(RfContext *context, RfNet *net, const RfNetBytes *file, const RfArray *W,
                            const RfArray *a, const RfArray *leak) {
  rf_index m = W->dimensions == 2 ? W->shape[0] : 0, d = W->dimensions == 2 ? W->shape[1] : 0, longest = 1;
  if (!W->values || W->dimensions != 2) return fail_array(context, file, "W as a matrix of numbers, m x d");
  for (int k = 0; k < a->dimensions; k++) longest = a->shape[k] > longest ? a->shape[k] : longest;
  if (!a->values || a->dimensions < 1 || a->count != m || (m > 0 && longest != m)) {
    return fail_array(context, file, "a with one number for every row of W");
  }
  if (leak->item_size > 0 && (!leak->values || leak->count != 1))
    return fail_array(context, file, "leak as one number");
  double slope = leak->values ? leak->values[0] : 0;
  return rf_net_from_arrays(context, net, file->name, W->values, a->values, m, d, slope);
}

static RfStatus find(RfContext *context, RfArray *array, bool *found, const char *name,
                     const RfNetBytes *file) {
  return rf_data_npz_find(context, array, found, name, file->name, file->bytes, file->size);
}

RfStatus rf_net_read_npz(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                         const RfNetNames *names) {
  RfArray W = {0}, a = {0}, leak = {0};
  bool has_W = false, has_a = false;
  RfStatus status = find(context, &W, &has_W, names->W, file);
  if (!status) status = find(context, &a, &has_a, names->a, file);
  if (!status) status = find(context, &leak, leak_stated, "leak", file);
  if (!status && (!has_W || !has_a)) {
    status = rf_fail_offset(context, file->name, 0, "expected arrays %s and %s, found no %s", names->W,
                            names->a, has_W ? names->a : names->W);
  }
  if (!status) status = take_arrays(context, net, file, &W, &a, &leak);
  rf_array_free(&W);
  rf_array_free(&a);
  rf_array_free(&leak);
  return status;
}

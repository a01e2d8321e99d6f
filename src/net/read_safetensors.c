/* Networks in .safetensors files: the length of a JSON header in eight little-endian bytes, the header (name,
 * dtype, shape and data_offsets of every tensor), then the tensors. A two-layer PyTorch state dict has a
 * weight m x d and a weight 1 x m; which is which follows from the shapes unless --map names them. */
#include "net/net_internal.h"
#include "core/core.h"

#include <jansson.h>
#include <string.h>

typedef struct TensorFile {
  RfContext *context;
  const char *name;
  const unsigned char *data; /* behind the header */
  int64_t data_size;
  json_t *header;
} TensorFile;

typedef struct Tensor {
  const char *name;
  RfItemType type;
  int dimensions;
  rf_index shape[2];
  rf_index count;
  const unsigned char *items;
} Tensor;

static RfStatus fail_tensor(const TensorFile *file, const char *tensor, const char *what) {
  char shown[RF_SHOWN_SIZE];
  rf_shown(shown, tensor, strlen(tensor));
  return rf_fail_offset(file->context, file->name, 8, "tensor '%s': %s", shown, what);
}

/* ---- one tensor ------------------------------------------------------------------------------ */

static bool take_type(RfItemType *type, const char *name) {
  static const struct {
    const char *name;
    RfItemType type;
  } types[] = {{"F64", {RF_ITEM_FLOAT, 8, false}},
               {"F32", {RF_ITEM_FLOAT, 4, false}},
               {"F16", {RF_ITEM_FLOAT, 2, false}},
               {"BF16", {RF_ITEM_BFLOAT, 2, false}}};
  for (size_t k = 0; name && k < sizeof types / sizeof types[0]; k++) {
    if (strcmp(name, types[k].name) != 0) continue;
    *type = types[k].type;
    return true;
  }
  return false;
}

static bool take_shape(Tensor *tensor, const json_t *shape) {
  size_t dimensions = json_array_size(shape);
  if (!json_is_array(shape) || dimensions > 2) return false;
  tensor->dimensions = (int)dimensions, tensor->count = 1;
  for (size_t k = 0; k < dimensions; k++) {
    const json_t *size = json_array_get(shape, k);
    if (!json_is_integer(size) || json_integer_value(size) < 0) return false;
    tensor->shape[k] = json_integer_value(size);
    if (!rf_multiply_sizes(&tensor->count, tensor->count, tensor->shape[k])) return false;
  }
  return true;
}

static RfStatus take_tensor(const TensorFile *file, Tensor *tensor, const char *name, const json_t *entry) {
  const json_t *offsets = json_object_get(entry, "data_offsets");
  const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
  rf_index bytes;
  *tensor = (Tensor){.name = name};
  if (!take_type(&tensor->type, json_string_value(json_object_get(entry, "dtype")))) {
    return fail_tensor(file, name, "expected dtype F64, F32, F16 or BF16");
  }
  if (!take_shape(tensor, json_object_get(entry, "shape"))) {
    return fail_tensor(file, name, "expected a shape of at most two dimensions");
  }
  if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last)) {
    return fail_tensor(file, name, "expected data_offsets [begin, end]");
  }
  json_int_t begin = json_integer_value(first), end = json_integer_value(last);
  if (begin < 0 || end < begin || end > file->data_size)
    return fail_tensor(file, name, "data_offsets leave the file");
  if (!rf_multiply_sizes(&bytes, tensor->count, tensor->type.size) || bytes != end - begin) {
    return fail_tensor(file, name, "data_offsets do not fit the shape");
  }
  tensor->items = file->data + begin;
  return RF_OK;
}

static bool is_bias(const char *name) {
  size_t length = strlen(name);
  return length >= 4 && strcmp(name + length - 4, "bias") == 0;
}

static bool is_zero(const Tensor *tensor) {
  for (rf_index k = 0; k < tensor->count; k++) {
    if (rf_item_value(tensor->items + k * tensor->type.size, tensor->type) != 0) return false;
  }
  return true;
}

/* ---- which tensors --------------------------------------------------------------------------- */

/* Biases must be zero; the other tensors, at most two of them, go to found[]. */
static RfStatus sort_tensors(const TensorFile *file, Tensor found[2], int *count, const RfNetNames *names) {
  const char *name;
  json_t *entry;
  *count = 0;
  json_object_foreach(file->header, name, entry) {
    Tensor tensor;
    bool wanted = strcmp(name, names->W) == 0 || strcmp(name, names->a) == 0;
    if (strcmp(name, "__metadata__") == 0 || (names->given && !wanted && !is_bias(name))) continue;
    RfStatus status = take_tensor(file, &tensor, name, entry);
    if (status) return status;
    if (is_bias(name) && !(names->given && wanted)) {
      if (!is_zero(&tensor)) return fail_tensor(file, name, "expected no bias or a bias of zeros");
      continue;
    }
    if (*count == 2) return fail_tensor(file, name, "expected two weights; --map NAME=W,NAME=a chooses them");
    found[(*count)++] = tensor;
  }
  return RF_OK;
}

/* a is 1 x m, m x 1 or m numbers where W is m x d. */
static bool fits(const Tensor *W, const Tensor *a) {
  return W->dimensions == 2 && a->dimensions >= 1 && a->count == W->shape[0] &&
         (a->dimensions == 1 || a->shape[0] == 1 || a->shape[1] == 1);
}

static RfStatus choose(const TensorFile *file, Tensor *W, Tensor *a, const RfNetNames *names) {
  Tensor found[2] = {{0}};
  int count;
  RfStatus status = sort_tensors(file, found, &count, names);
  if (status) return status;
  if (count < 2) {
    return rf_fail_offset(file->context, file->name, 8, "expected two weights%s, found %d",
                          names->given ? " with the names of --map" : "", count);
  }
  bool straight = fits(found, found + 1), turned = fits(found + 1, found);
  if (names->given)
    straight &= strcmp(found[0].name, names->W) == 0, turned &= strcmp(found[1].name, names->W) == 0;
  else if (straight && turned)
    straight = strcmp(found[0].name, found[1].name) < 0; /* 1 x 1 both: in order of names */
  if (!straight && !turned) {
    return rf_fail_offset(file->context, file->name, 8,
                          "expected weights of shapes m x d and 1 x m (one output)");
  }
  *W = found[straight ? 0 : 1], *a = found[straight ? 1 : 0];
  return RF_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static RfStatus open_header(TensorFile *file, const unsigned char *bytes, size_t size) {
  uint64_t length = 0;
  if (size < 8) return rf_fail_offset(file->context, file->name, 0, "expected eight bytes of header length");
  for (int k = 0; k < 8; k++) length |= (uint64_t)bytes[k] << (8 * k);
  if (length > size - 8) {
    return rf_fail_offset(file->context, file->name, 0, "expected a header of %llu bytes",
                          (unsigned long long)length);
  }
  json_error_t error;
  locale_t before = rf_locale_enter();
  file->header = json_loadb((const char *)bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
  rf_locale_leave(before);
  if (!json_is_object(file->header)) {
    char shown[RF_SHOWN_SIZE];
    const char *text = file->header ? "not an object" : error.text;
    rf_shown(shown, text, strlen(text));
    return rf_fail_offset(file->context, file->name, 8 + (file->header ? 0 : error.position),
                          "expected a JSON object as header: %s", shown);
  }
  file->data = bytes + 8 + length;
  file->data_size = (int64_t)(size - 8 - (size_t)length);
  return RF_OK;
}

/* "leak" in the metadata, a text as all metadata are. */
static RfStatus take_leak(const TensorFile *file, double *leak, bool *stated) {
  const char *text =
      json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), "leak"));
  *leak = 0, *stated = text != NULL;
  if (!text || rf_number_whole(leak, text, strlen(text)) == RF_NUMBER_FINITE) return RF_OK;
  return rf_fail_offset(file->context, file->name, 8, "expected a number as leak in the metadata");
}

static RfStatus take_net(const TensorFile *file, RfNet *net, bool *leak_stated, const RfNetNames *names) {
  Tensor W = {0}, a = {0};
  double leak = 0;
  RfStatus status = choose(file, &W, &a, names);
  if (!status) status = take_leak(file, &leak, leak_stated);
  if (status) return status;
  double *values = RF_NEW(double, W.count + a.count);
  if (!values) return rf_fail(file->context, RF_ERR_MEMORY, "out of memory for %.200s", file->name);
  for (rf_index k = 0; k < W.count; k++) values[k] = rf_item_value(W.items + k * W.type.size, W.type);
  for (rf_index k = 0; k < a.count; k++)
    values[W.count + k] = rf_item_value(a.items + k * a.type.size, a.type);
  status = rf_net_from_arrays(file->context, net, file->name, values, values + W.count, W.shape[0],
                              W.shape[1], leak);
  rf_free(values);
  return status;
}

RfStatus rf_net_read_safetensors(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                                 const RfNetNames *names) {
  TensorFile tensors = {.context = context, .name = file->name};
  RfStatus status = open_header(&tensors, file->bytes, file->size);
  if (!status) status = take_net(&tensors, net, leak_stated, names);
  json_decref(tensors.header);
  return status;
}

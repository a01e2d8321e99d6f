/* Network files: which format, which reader or writer. */
#include "net/net_internal.h"
#include "core/core.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef enum NetFormat { NET_UNKNOWN, NET_JSON, NET_NPZ, NET_SAFETENSORS } NetFormat;

static NetFormat format_of_path(const char *path) {
  static const struct {
    const char *ending;
    NetFormat format;
  } endings[] = {{".json", NET_JSON}, {".npz", NET_NPZ}, {".safetensors", NET_SAFETENSORS}};
  size_t length = strlen(path);
  if (length > 3 && rf_letters_equal(path + length - 3, ".gz", 4)) length -= 3;
  for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
    size_t size = strlen(endings[k].ending);
    if (length > size && rf_letters_equal(path + length - size, endings[k].ending, size))
      return endings[k].format;
  }
  return NET_UNKNOWN;
}

/* A zip archive, a JSON object behind eight bytes of length, or a JSON object. */
static NetFormat format_of_bytes(const RfNetBytes *file) {
  if (file->size >= 4 && memcmp(file->bytes, "PK\3\4", 4) == 0) return NET_NPZ;
  if (file->size >= 9 && file->bytes[8] == '{' && file->bytes[7] == 0) return NET_SAFETENSORS;
  return NET_JSON;
}

/* "fc1.weight=W,fc2.weight=a": every part is NAME=W or NAME=a, both must occur. */
RfStatus rf_net_names(RfContext *context, RfNetNames *names, const char *map) {
  *names = (RfNetNames){.W = "W", .a = "a", .given = map != NULL};
  if (!map) return RF_OK;
  names->W[0] = names->a[0] = 0;
  for (const char *part = map; *part;) {
    size_t length = strcspn(part, ",");
    if (length < 3 || part[length - 2] != '=' || (part[length - 1] != 'W' && part[length - 1] != 'a') ||
        length - 2 >= sizeof names->W) {
      return rf_fail(context, RF_ERR_USAGE, "--map %.100s: expected NAME=W,NAME=a", map);
    }
    char *out = part[length - 1] == 'W' ? names->W : names->a;
    if (out[0])
      return rf_fail(context, RF_ERR_USAGE, "--map %.100s: two names for %c", map, part[length - 1]);
    memcpy(out, part, length - 2);
    out[length - 2] = 0;
    part += length + (part[length] == ',');
  }
  if (names->W[0] && names->a[0] && strcmp(names->W, names->a) != 0) return RF_OK;
  return rf_fail(context, RF_ERR_USAGE, "--map %.100s: expected two different names, NAME=W,NAME=a", map);
}

RfStatus rf_net_from_arrays(RfContext *context, RfNet *net, const char *name, const double *W,
                            const double *a, rf_index m, rf_index d, double leak) {
  if (m < 1 || d < 1) return rf_fail_offset(context, name, 0, "expected at least one neuron with one input");
  if (!(leak >= 0 && leak <= 1)) return rf_fail_offset(context, name, 0, "expected a leak between 0 and 1");
  for (rf_index k = 0; k < m * d; k++) {
    if (isfinite(W[k])) continue;
    return rf_fail_offset(context, name, 0, "expected a finite number in row %lld, column %lld of W",
                          (long long)(k / d), (long long)(k % d));
  }
  for (rf_index k = 0; k < m; k++) {
    if (!isfinite(a[k])) {
      return rf_fail_offset(context, name, 0, "expected a finite number in entry %lld of a", (long long)k);
    }
  }
  RfStatus status = rf_net_new(context, net, m, d, leak);
  if (status) return status;
  memcpy(net->W, W, (size_t)(m * d) * sizeof *W);
  memcpy(net->a, a, (size_t)m * sizeof *a);
  return RF_OK;
}

RfStatus rf_net_parse(RfContext *context, RfNet *net, bool *leak_stated, const char *name, const char *map,
                      const void *bytes, size_t size) {
  RfNetNames names;
  RfNetBytes file = {name, bytes, size};
  memset(net, 0, sizeof *net);
  *leak_stated = false;
  RfStatus status = rf_net_names(context, &names, map);
  if (status) return status;
  NetFormat format = format_of_path(name);
  if (format == NET_UNKNOWN) format = format_of_bytes(&file);
  switch (format) {
  case NET_NPZ: return rf_net_read_npz(context, net, leak_stated, &file, &names);
  case NET_SAFETENSORS: return rf_net_read_safetensors(context, net, leak_stated, &file, &names);
  default: return rf_net_read_json(context, net, leak_stated, &file, &names);
  }
}

RfStatus rf_net_load(RfContext *context, RfNet *net, bool *leak_stated, const char *path, const char *map) {
  unsigned char *bytes;
  size_t size;
  bool stated;
  if (!leak_stated) leak_stated = &stated;
  memset(net, 0, sizeof *net);
  *leak_stated = false;
  if (!path || !*path) return rf_fail(context, RF_ERR_USAGE, "expected a network file");
  RfStatus status = rf_data_read_file(context, &bytes, &size, path);
  if (!status) status = rf_net_parse(context, net, leak_stated, path, map, bytes, size);
  rf_free(bytes);
  return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A text that grows; after a failed allocation it stays as it is and says so. */
typedef struct NetText {
  char *text;
  size_t used, capacity;
  bool failed;
} NetText;

static void add_text(NetText *out, const char *text) {
  size_t length = strlen(text);
  if (out->used + length > out->capacity && !out->failed) {
    size_t capacity = 2 * out->capacity + length + 1024;
    char *larger = (char *)rf_resize(out->text, (rf_index)capacity, 1);
    if (larger)
      out->text = larger, out->capacity = capacity;
    else
      out->failed = true;
  }
  if (out->failed) return;
  memcpy(out->text + out->used, text, length);
  out->used += length;
}

static void add_numbers(NetText *out, const double *values, rf_index count) {
  char text[RF_NUMBER_SIZE];
  add_text(out, "[");
  for (rf_index k = 0; k < count; k++) {
    rf_number_format(text, values[k]);
    if (k > 0) add_text(out, ", ");
    add_text(out, text);
  }
  add_text(out, "]");
}

static RfStatus save_json(RfContext *context, const RfNet *net, const char *path) {
  char text[RF_NUMBER_SIZE];
  NetText out = {0};
  rf_number_format(text, net->leak);
  add_text(&out, "{\"leak\": ");
  add_text(&out, text);
  add_text(&out, ",\n \"a\": ");
  add_numbers(&out, net->a, net->m);
  add_text(&out, ",\n \"W\": [");
  for (rf_index k = 0; k < net->m; k++) {
    if (k > 0) add_text(&out, ",\n  ");
    add_numbers(&out, net->W + k * net->d, net->d);
  }
  add_text(&out, "]}\n");
  RfStatus status = out.failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", path)
                               : rf_data_write_file(context, path, out.text, out.used);
  rf_free(out.text);
  return status;
}

static RfStatus save_npz(RfContext *context, const RfNet *net, const char *path) {
  RfNpzMember members[3] = {
      {.name = "W", .dimensions = 2, .shape = {net->m, net->d}, .items = net->W},
      {.name = "a", .dimensions = 1, .shape = {net->m, 0}, .items = net->a},
      {.name = "leak", .dimensions = 0, .items = &net->leak},
  };
  const rf_index counts[3] = {net->m * net->d, net->m, 1};
  for (int k = 0; k < 3; k++) {
    memcpy(members[k].type, rf_npz_double_type(), strlen(rf_npz_double_type()) + 1);
    members[k].bytes = (size_t)counts[k] * sizeof(double);
  }
  return rf_data_npz_write(context, path, members, 3);
}

RfStatus rf_net_save(RfContext *context, const RfNet *net, const char *path) {
  NetFormat format = format_of_path(path);
  size_t length = strlen(path);
  bool packed = length > 3 && rf_letters_equal(path + length - 3, ".gz", 4);
  if (format == NET_NPZ && !packed) return save_npz(context, net, path);
  if (format == NET_JSON && !packed) return save_json(context, net, path);
  return rf_fail(context, RF_ERR_USAGE, "%.200s: expected an ending .npz or .json", path);
}

/* Network files: which format, which reader or writer. */
#include "net/net_internal.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef enum NetFormat { NET_UNKNOWN, NET_JSON, NET_NPZ, NET_SAFETENSORS } NetFormat;

static NetFormat format_of_path(const char *path) {
  static const struct {
    const char *ending;
    NetFormat format;
  } endings[] = {{".json", NET_JSON}, {".npz", NET_NPZ}, {".safetensors", NET_SAFETENSORS}};
  size_t length = strlen(path);
  if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
  for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
    size_t size = strlen(endings[k].ending);
    if (length > size && strncasecmp(path + length - size, endings[k].ending, size) == 0)
      return endings[k].format;
  }
  return NET_UNKNOWN;
}

/* A zip archive, a JSON object behind eight bytes of length, or a JSON object. */
static NetFormat format_of_bytes(const RfStream *stream) {
  const unsigned char *head = stream->head;
  if (stream->head_size >= 4 && memcmp(head, "PK\3\4", 4) == 0) return NET_NPZ;
  if (stream->head_size >= 9 && head[8] == '{' && head[7] == 0) return NET_SAFETENSORS;
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

static RfStatus read_stream(RfContext *context, RfNet *net, bool *leak_stated, RfStream *stream,
                            const char *path, const char *map) {
  RfNetNames names;
  RfStatus status = rf_net_names(context, &names, map);
  if (status) return status;
  NetFormat format = format_of_path(path);
  if (format == NET_UNKNOWN) format = format_of_bytes(stream);
  switch (format) {
  case NET_NPZ: return rf_net_read_npz(context, net, leak_stated, stream, &names);
  case NET_SAFETENSORS: return rf_net_read_safetensors(context, net, leak_stated, stream, &names);
  default: return rf_net_read_json(context, net, leak_stated, stream, &names);
  }
}

RfStatus rf_net_load_stated(RfContext *context, RfNet *net, bool *leak_stated, const char *path,
                            const char *map) {
  RfStream stream;
  memset(net, 0, sizeof *net);
  *leak_stated = false;
  if (!path || !*path) return rf_fail(context, RF_ERR_USAGE, "expected a network file");
  RfStatus status = rf_stream_open(context, &stream, path);
  if (!status) status = read_stream(context, net, leak_stated, &stream, path, map);
  rf_stream_close(&stream);
  return status;
}

RfStatus rf_net_load(RfContext *context, RfNet *net, const char *path, const char *map) {
  bool leak_stated;
  return rf_net_load_stated(context, net, &leak_stated, path, map);
}

RfStatus rf_net_parse(RfContext *context, RfNet *net, bool *leak_stated, const char *name, const char *map,
                      const void *bytes, size_t size) {
  RfStream stream;
  memset(net, 0, sizeof *net);
  *leak_stated = false;
  RfStatus status = rf_stream_open_memory(context, &stream, name, bytes, size);
  if (!status) status = read_stream(context, net, leak_stated, &stream, name, map);
  rf_stream_close(&stream);
  return status;
}

/* ---- writing
 * ------------------------------------------------------------------------------------------------------ */

static void write_numbers(RfSink *sink, const double *values, rf_index count) {
  char text[RF_NUMBER_SIZE];
  rf_sink_text(sink, "[");
  for (rf_index k = 0; k < count; k++) {
    rf_number_format(text, values[k]);
    if (k > 0) rf_sink_text(sink, ", ");
    rf_sink_text(sink, text);
  }
  rf_sink_text(sink, "]");
}

static void save_json(RfSink *sink, const RfNet *net) {
  char text[RF_NUMBER_SIZE];
  rf_number_format(text, net->leak);
  rf_sink_text(sink, "{\"leak\": ");
  rf_sink_text(sink, text);
  rf_sink_text(sink, ",\n \"a\": ");
  write_numbers(sink, net->a, net->m);
  rf_sink_text(sink, ",\n \"W\": [");
  for (rf_index k = 0; k < net->m; k++) {
    if (k > 0) rf_sink_text(sink, ",\n  ");
    write_numbers(sink, net->W + k * net->d, net->d);
  }
  rf_sink_text(sink, "]}\n");
}

static void save_npz(RfSink *sink, const RfNet *net) {
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
  rf_save_npz(sink, members, 3);
}

RfStatus rf_net_save(RfContext *context, const RfNet *net, const char *path) {
  RfSink sink;
  NetFormat format = format_of_path(path);
  size_t length = strlen(path);
  if (format == NET_UNKNOWN || format == NET_SAFETENSORS ||
      (length > 3 && strcasecmp(path + length - 3, ".gz") == 0)) {
    return rf_fail(context, RF_ERR_USAGE, "%.200s: expected an ending .npz or .json", path);
  }
  RfStatus status = rf_sink_open(context, &sink, path);
  if (status) return status;
  if (format == NET_NPZ)
    save_npz(&sink, net);
  else
    save_json(&sink, net);
  return rf_sink_close(context, &sink, RF_OK);
}

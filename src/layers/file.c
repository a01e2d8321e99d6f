/* Layered networks in JSON:
 *
 *   {"activation": "relu" | "leaky" | "linear", "leak": 0.1, "residual": false | true | [1, 2],
 *    "layers": [{"kind": "dense", "shape": [outputs, inputs], "weights": [[...], ...]},
 *               {"kind": "diagonal", "shape": [size], "weights": [...]},
 *               {"kind": "conv", "shape": [out, in, kernel_h, kernel_w], "input": [in, height, width],
 *                "stride": 1, "padding": 0, "weights": [...]},
 *               {"kind": "shared", "shape": [outputs, inputs], "pattern": [[0, 1, -1], ...], "weights":
 * [...]}]}
 *
 * Weights may be nested or flat, row by row. "residual": true marks every layer after the first that has as
 * many outputs as inputs; a list names them. A layer with "fixed": true is not trained. The weights of all
 * layers may be left out together, for networks that are to be initialised. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "core/core.h"
#include "layers/layers.h"

/* Numbers of weights beyond this are refused when the file does not contain them. */
static const rf_index most_absent_weights = (rf_index)1 << 25;

typedef struct Reader {
  RfContext *context;
  const char *name; /* of the file */
  rf_index layer;   /* at hand; -1 at the top */
  RfLayeredNet *net;
} Reader;

static RfStatus refuse(const Reader *r, const char *member, const char *expected) {
  char where[64] = "";
  if (r->layer >= 0)
    rf_format(where, sizeof where, "layers[%lld]%s", (long long)r->layer, *member ? "." : "");
  return rf_fail(r->context, RF_ERR_INPUT, "%.200s: %s%s: expected %s", r->name, where, member, expected);
}

/* A whole number in [low, high]. */
static bool take_index(rf_index *out, const json_t *item, double low, double high) {
  double value = json_number_value(item);
  if (!json_is_number(item) || value != floor(value) || !(value >= low && value <= high)) return false;
  *out = (rf_index)value;
  return true;
}

/* Exactly `count` positive sizes. */
static RfStatus take_sizes(const Reader *r, rf_index *out, const json_t *layer, const char *member,
                           rf_index count, const char *expected) {
  const json_t *list = json_object_get(layer, member);
  bool good = json_is_array(list) && (rf_index)json_array_size(list) == count;
  for (rf_index k = 0; k < count && good; k++)
    good = take_index(&out[k], json_array_get(list, (size_t)k), 1, 1 << 30);
  return good ? RF_OK : refuse(r, member, expected);
}

/* Numbers of nested lists, in order; false when there are more than `count`, or something else. */
static bool flatten(double *out, rf_index *at, rf_index count, const json_t *item, int depth) {
  if (json_is_number(item)) {
    double value = json_number_value(item);
    if (*at >= count || !isfinite(value)) return false;
    out[(*at)++] = value;
    return true;
  }
  if (!json_is_array(item) || depth > 4) return false;
  for (size_t k = 0; k < json_array_size(item); k++)
    if (!flatten(out, at, count, json_array_get(item, k), depth + 1)) return false;
  return true;
}

static RfStatus add_dense(const Reader *r, const json_t *layer) {
  rf_index shape[2];
  RfStatus status = take_sizes(r, shape, layer, "shape", 2, "[outputs, inputs]");
  return status ? status : rf_layers_add_dense(r->context, r->net, shape[1], shape[0]);
}

static RfStatus add_diagonal(const Reader *r, const json_t *layer) {
  rf_index size;
  RfStatus status = take_sizes(r, &size, layer, "shape", 1, "[size]");
  return status ? status : rf_layers_add_diagonal(r->context, r->net, size);
}

static RfStatus add_conv(const Reader *r, const json_t *layer) {
  rf_index shape[4], input[3], stride = 1, padding = 0;
  RfStatus status = take_sizes(r, shape, layer, "shape", 4, "[out, in, kernel_h, kernel_w]");
  if (!status) status = take_sizes(r, input, layer, "input", 3, "[channels, height, width]");
  if (status) return status;
  const json_t *given = json_object_get(layer, "stride");
  if (given && !take_index(&stride, given, 1, 1 << 20)) return refuse(r, "stride", "a positive whole number");
  given = json_object_get(layer, "padding");
  if (given && !take_index(&padding, given, 0, 1 << 20)) return refuse(r, "padding", "a whole number >= 0");
  if (input[0] != shape[1]) return refuse(r, "input", "as many channels as shape says");
  return rf_layers_add_conv(r->context, r->net,
                            (RfConvShape){.channels_in = shape[1],
                                          .height = input[1],
                                          .width = input[2],
                                          .channels_out = shape[0],
                                          .kernel_h = shape[2],
                                          .kernel_w = shape[3],
                                          .stride = stride,
                                          .padding = padding});
}

static RfStatus add_shared(const Reader *r, const json_t *layer) {
  rf_index shape[2], entries;
  const json_t *rows = json_object_get(layer, "pattern");
  RfStatus status = take_sizes(r, shape, layer, "shape", 2, "[outputs, inputs]");
  if (status) return status;
  bool good = json_is_array(rows) && (rf_index)json_array_size(rows) == shape[0] &&
              rf_multiply_sizes(&entries, shape[0], shape[1]);
  for (rf_index o = 0; o < shape[0] && good; o++) /* before memory is asked for */
    good = (rf_index)json_array_size(json_array_get(rows, (size_t)o)) == shape[1];
  if (!good) return refuse(r, "pattern", "a row of parameter numbers for every output");
  int32_t *pattern = RF_NEW(int32_t, entries);
  if (!pattern) return rf_fail(r->context, RF_ERR_MEMORY, "out of memory for %.200s", r->name);
  for (rf_index k = 0; k < entries && good; k++) {
    rf_index value;
    const json_t *row = json_array_get(rows, (size_t)(k / shape[1]));
    good = take_index(&value, json_array_get(row, (size_t)(k % shape[1])), -1, INT32_MAX);
    if (good) pattern[k] = (int32_t)value;
  }
  status = good ? rf_layers_add_shared(r->context, r->net, pattern, shape[1], shape[0])
                : refuse(r, "pattern", "whole numbers, -1 for a zero");
  rf_free(pattern);
  return status;
}

static double count_numbers(const json_t *item, int depth) {
  double count = json_is_number(item);
  for (size_t k = 0; depth <= 4 && k < json_array_size(item); k++)
    count += count_numbers(json_array_get(item, k), depth + 1);
  return count;
}

/* Before memory is asked for: a shape asks for no more weights than the file has, or than may be left out.
 * (Sharing patterns are in the file entry by entry.) */
static RfStatus check_size(const Reader *r, const json_t *layer) {
  const json_t *shape = json_object_get(layer, "shape"), *weights = json_object_get(layer, "weights");
  bool given = weights && !json_is_null(weights);
  double size = 1;
  for (size_t k = 0; k < json_array_size(shape); k++) size *= json_number_value(json_array_get(shape, k));
  const char *kind = json_string_value(json_object_get(layer, "kind"));
  if ((kind && strcmp(kind, "shared") == 0) || !(size > (double)most_absent_weights)) return RF_OK;
  if (given && count_numbers(weights, 0) >= size) return RF_OK;
  return refuse(r, "shape", given ? "a shape that fits the weights" : "a smaller network");
}

static RfStatus take_layer(const Reader *r, const json_t *layer) {
  static const struct {
    const char *name;
    RfStatus (*add)(const Reader *, const json_t *);
  } kinds[] = {{"dense", add_dense}, {"diagonal", add_diagonal}, {"conv", add_conv}, {"shared", add_shared}};
  const char *kind = json_string_value(json_object_get(layer, "kind"));
  if (!json_is_object(layer)) return refuse(r, "", "an object with kind, shape and weights");
  for (size_t k = 0; kind && k < sizeof kinds / sizeof kinds[0]; k++) {
    if (strcmp(kind, kinds[k].name) != 0) continue;
    RfStatus status = kinds[k].add(r, layer);
    if (status == RF_ERR_USAGE) { /* a shape that does not fit: say in which file */
      char why[sizeof r->context->error];
      memcpy(why, r->context->error, sizeof why);
      return rf_fail(r->context, RF_ERR_INPUT, "%.200s: layers[%lld]: %.200s", r->name, (long long)r->layer,
                     why);
    }
    return status;
  }
  return refuse(r, "kind", "dense, diagonal, conv or shared");
}

/* Weights into the last layer; *given tells whether there are any. */
static RfStatus take_weights(const Reader *r, bool *given, const json_t *layer) {
  const RfLayer *last = &r->net->layers[r->net->n_layers - 1];
  const json_t *weights = json_object_get(layer, "weights");
  rf_index count = 0;
  *given = weights && !json_is_null(weights);
  if (!*given) return RF_OK;
  double *out = rf_layers_weights(r->net, r->net->n_layers - 1);
  if (json_is_array(weights) && flatten(out, &count, last->parameters, weights, 0) &&
      count == last->parameters)
    return RF_OK;
  char expected[64];
  rf_format(expected, sizeof expected, "%lld finite numbers", (long long)last->parameters);
  return refuse(r, "weights", expected);
}

static RfStatus take_residual(Reader *r, const json_t *residual) {
  RfLayeredNet *net = r->net;
  r->layer = -1;
  for (rf_index l = 1; json_is_true(residual) && l < net->n_layers; l++)
    net->layers[l].residual = net->layers[l].inputs == net->layers[l].outputs;
  for (size_t k = 0; k < json_array_size(residual); k++) {
    rf_index l;
    if (!take_index(&l, json_array_get(residual, k), 1, (double)(net->n_layers - 1)) ||
        net->layers[l].inputs != net->layers[l].outputs)
      return refuse(r, "residual", "numbers of layers after the first with as many outputs as inputs");
    net->layers[l].residual = true;
  }
  if (residual && !json_is_boolean(residual) && !json_is_array(residual))
    return refuse(r, "residual", "true, false or a list of layers");
  return RF_OK;
}

static RfStatus take_leak(const Reader *r, double *leak, const json_t *root) {
  const json_t *activation = json_object_get(root, "activation"), *given = json_object_get(root, "leak");
  const char *name = json_string_value(activation);
  if (given && !(json_is_number(given) && json_number_value(given) >= 0 && json_number_value(given) <= 1))
    return refuse(r, "leak", "a number from 0 to 1");
  *leak = given ? json_number_value(given) : 0;
  if (!activation || (name && strcmp(name, "leaky") == 0)) return RF_OK;
  double implied = name && strcmp(name, "linear") == 0 ? 1 : 0;
  if (!name || (implied == 0 && strcmp(name, "relu") != 0))
    return refuse(r, "activation", "relu, leaky or linear");
  if (given && *leak != implied) return refuse(r, "leak", implied > 0 ? "1 for linear" : "0 for relu");
  *leak = implied;
  return RF_OK;
}

static RfStatus take_net(Reader *r, bool *weighted, const json_t *root) {
  const json_t *layers = json_object_get(root, "layers");
  double leak = 0;
  r->layer = -1;
  if (!json_is_array(layers) || json_array_size(layers) == 0)
    return refuse(r, "layers", "a list of at least one layer");
  RfStatus status = take_leak(r, &leak, root);
  if (!status) status = rf_layers_new(r->context, r->net, leak);
  for (size_t k = 0; k < json_array_size(layers) && !status; k++) {
    const json_t *layer = json_array_get(layers, k);
    bool given;
    r->layer = (rf_index)k;
    status = check_size(r, layer);
    if (!status) status = take_layer(r, layer);
    if (!status) status = take_weights(r, &given, layer);
    if (status) break;
    r->net->layers[k].fixed = json_is_true(json_object_get(layer, "fixed"));
    if (k == 0) *weighted = given;
    if (given != *weighted) status = refuse(r, "weights", "weights for every layer, or for none");
    if (!given && r->net->n_parameters > most_absent_weights)
      status = refuse(r, "shape", "a smaller network");
  }
  return status ? status : take_residual(r, json_object_get(root, "residual"));
}

/* The root object of a JSON text; NULL, with a failure in the context, when it is none. */
static json_t *parse(RfContext *context, const char *name, const unsigned char *bytes, size_t size) {
  json_error_t error;
  size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  locale_t before = rf_locale_enter();
  json_t *root = json_loadb((const char *)bytes + mark, size - mark,
                            JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);
  rf_locale_leave(before);
  if (json_is_object(root)) return root;
  char shown[RF_SHOWN_SIZE];
  if (root)
    rf_fail_at(context, name, 1, 1, "expected a JSON object");
  else
    rf_fail_at(context, name, error.line > 0 ? error.line : 1, error.column > 0 ? error.column : 1,
               "expected JSON: %s", rf_shown(shown, error.text, strlen(error.text)));
  json_decref(root);
  return NULL;
}

/* net from a parsed text, which is given back. */
static RfStatus read_root(RfContext *context, RfLayeredNet *net, bool *weighted, const char *name,
                          json_t *root) {
  char shown[RF_SHOWN_SIZE];
  Reader reader = {.context = context, .name = rf_shown(shown, name, strlen(name)), .net = net};
  RfStatus status = take_net(&reader, weighted, root);
  json_decref(root);
  if (status) rf_layers_free(net);
  return status;
}

RfStatus rf_layers_parse(RfContext *context, RfLayeredNet *net, bool *weighted, const char *name,
                         const void *bytes, size_t size) {
  memset(net, 0, sizeof *net);
  *weighted = false;
  json_t *root = parse(context, name, bytes, size);
  return root ? read_root(context, net, weighted, name, root) : RF_ERR_INPUT;
}

/* The root of a text that has a list of layers and no matrix W; NULL for any other text. */
static json_t *layered_root(RfContext *context, const char *name, const unsigned char *bytes, size_t size) {
  bool mentioned = false;
  for (size_t k = 0; k + 8 <= size && !mentioned; k++) mentioned = memcmp(bytes + k, "\"layers\"", 8) == 0;
  json_t *root = mentioned ? parse(context, name, bytes, size) : NULL;
  if (root && json_is_array(json_object_get(root, "layers")) && !json_is_array(json_object_get(root, "W")))
    return root;
  json_decref(root);
  return NULL;
}

RfStatus rf_layers_load(RfContext *context, RfLayeredNet *net, bool *layered, bool *weighted,
                        const char *path) {
  unsigned char *bytes = NULL;
  size_t size = 0, start = 0;
  memset(net, 0, sizeof *net);
  *layered = *weighted = false;
  if (!path || !*path) return rf_fail(context, RF_ERR_USAGE, "expected a network file");
  if (strcmp(path, "-") == 0) return RF_OK;
  RfStatus status = rf_data_read_file(context, &bytes, &size, path);
  if (status) return status;
  while (start < size && bytes[start] && strchr(" \t\r\n\xef\xbb\xbf", bytes[start])) start++;
  json_t *root = start < size && bytes[start] == '{' ? layered_root(context, path, bytes, size) : NULL;
  *layered = root != NULL;
  if (root) status = read_root(context, net, weighted, path, root);
  rf_free(bytes);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Text that grows; out of memory is remembered and reported at the end. */
typedef struct Page {
  char *text;
  size_t used, room;
  bool failed;
} Page;

static void put(Page *page, const char *piece) {
  size_t length = strlen(piece);
  if (!page->failed && page->used + length > page->room) {
    size_t room = 2 * (page->used + length) + 256;
    char *text = rf_resize(page->text, (rf_index)room, 1);
    if (text)
      page->text = text, page->room = room;
    else
      page->failed = true;
  }
  if (page->failed) return;
  memcpy(page->text + page->used, piece, length);
  page->used += length;
}

static void write_number(Page *page, double value) {
  char text[RF_NUMBER_SIZE];
  rf_number_format(text, value);
  put(page, text);
}

static void write_row(Page *page, const double *values, rf_index count) {
  put(page, "[");
  for (rf_index k = 0; k < count; k++) {
    if (k > 0) put(page, ", ");
    write_number(page, values[k]);
  }
  put(page, "]");
}

static void write_indices(Page *page, const char *key, const rf_index *values, rf_index count) {
  put(page, key);
  for (rf_index k = 0; k < count; k++) {
    put(page, k > 0 ? ", " : "[");
    write_number(page, (double)values[k]);
  }
  put(page, "]");
}

static void write_layer(Page *page, const RfLayeredNet *net, rf_index l) {
  const RfLayer *layer = &net->layers[l];
  const RfConvShape *s = &layer->conv;
  rf_index shape[4], sizes = rf_layers_shape(shape, layer);
  put(page, "{\"kind\": \"");
  put(page, rf_layers_kind_name(layer->kind));
  write_indices(page, "\", \"shape\": ", shape, sizes);
  if (layer->kind == RF_LAYER_CONV) {
    const rf_index input[] = {s->channels_in, s->height, s->width};
    write_indices(page, ", \"input\": ", input, 3);
    put(page, ", \"stride\": ");
    write_number(page, (double)s->stride);
    put(page, ", \"padding\": ");
    write_number(page, (double)s->padding);
  }
  if (layer->kind == RF_LAYER_SHARED) {
    put(page, ", \"pattern\": ");
    for (rf_index k = 0; k < layer->outputs * layer->inputs; k++) {
      put(page, k == 0 ? "[[" : k % layer->inputs ? ", " : "], [");
      write_number(page, layer->pattern[k]);
    }
    put(page, "]]");
  }
  if (layer->fixed) put(page, ", \"fixed\": true");
  put(page, ",\n   \"weights\": ");
  write_row(page, rf_layers_weights(net, l), layer->parameters);
  put(page, "}");
}

RfStatus rf_layers_save(RfContext *context, const RfLayeredNet *net, const char *path) {
  Page page = {0};
  put(&page, "{\"activation\": \"");
  put(&page, net->leak == 0 ? "relu" : net->leak == 1 ? "linear" : "leaky");
  put(&page, "\", \"leak\": ");
  write_number(&page, net->leak);
  put(&page, ", \"residual\": [");
  bool first = true;
  for (rf_index l = 0; l < net->n_layers; l++) {
    if (!net->layers[l].residual) continue;
    if (!first) put(&page, ", ");
    write_number(&page, (double)l);
    first = false;
  }
  put(&page, "],\n \"layers\": [\n  ");
  for (rf_index l = 0; l < net->n_layers; l++) {
    if (l > 0) put(&page, ",\n  ");
    write_layer(&page, net, l);
  }
  put(&page, "]}\n");
  RfStatus status = page.failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory for %s", path)
                                : rf_data_write_file(context, path, page.text, page.used);
  rf_free(page.text);
  return status;
}

/* Layered networks: storage and shapes. */
#include "layers/layers.h"

#include <math.h>
#include <string.h>

RfStatus rf_layers_new(RfContext *context, RfLayeredNet *net, double leak) {
  memset(net, 0, sizeof *net);
  if (!(leak >= 0 && leak <= 1)) return rf_fail(context, RF_ERR_USAGE, "leak must lie in [0,1]");
  net->leak = leak;
  return RF_OK;
}

void rf_layers_free(RfLayeredNet *net) {
  if (!net) return;
  for (rf_index l = 0; l < net->n_layers; l++) rf_free(net->layers[l].pattern);
  rf_free(net->layers);
  rf_free(net->theta);
  memset(net, 0, sizeof *net);
}

static RfStatus no_memory(RfContext *context) {
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a layered network");
}

/* Appends a layer and its zero weights; takes over layer.pattern, also on failure. */
static RfStatus append(RfContext *context, RfLayeredNet *net, RfLayer layer) {
  RfStatus status = RF_OK;
  rf_index total;
  if (layer.inputs < 1 || layer.outputs < 1)
    status = rf_fail(context, RF_ERR_USAGE, "layer %lld: sizes must be positive", (long long)net->n_layers);
  else if (net->n_layers > 0 && net->layers[net->n_layers - 1].outputs != layer.inputs)
    status = rf_fail(context, RF_ERR_USAGE, "layer %lld takes %lld inputs, but the layer before gives %lld",
                     (long long)net->n_layers, (long long)layer.inputs,
                     (long long)net->layers[net->n_layers - 1].outputs);
  else if (!rf_add_sizes(&total, net->n_parameters, layer.parameters))
    status = no_memory(context);
  if (status) goto refuse;

  RfLayer *layers = rf_resize(net->layers, net->n_layers + 1, sizeof *layers);
  if (layers) net->layers = layers;
  double *theta = rf_resize(net->theta, total, sizeof *theta);
  if (theta) net->theta = theta;
  if (!layers || !theta) {
    status = no_memory(context);
    goto refuse;
  }
  memset(theta + net->n_parameters, 0, (size_t)layer.parameters * sizeof *theta);
  layer.offset = net->n_parameters;
  layers[net->n_layers++] = layer;
  net->n_parameters = total;
  return RF_OK;
refuse:
  rf_free(layer.pattern);
  return status;
}

RfStatus rf_layers_add_dense(RfContext *context, RfLayeredNet *net, rf_index inputs, rf_index outputs) {
  RfLayer layer = {.kind = RF_LAYER_DENSE, .inputs = inputs, .outputs = outputs};
  if (!rf_multiply_sizes(&layer.parameters, inputs, outputs))
    return rf_fail(context, RF_ERR_USAGE, "dense layer of %lld x %lld is not possible", (long long)outputs,
                   (long long)inputs);
  return append(context, net, layer);
}

RfStatus rf_layers_add_diagonal(RfContext *context, RfLayeredNet *net, rf_index inputs) {
  RfLayer layer = {.kind = RF_LAYER_DIAGONAL, .inputs = inputs, .outputs = inputs, .parameters = inputs};
  return append(context, net, layer);
}

static bool product3(rf_index *out, rf_index a, rf_index b, rf_index c) {
  return rf_multiply_sizes(out, a, b) && rf_multiply_sizes(out, *out, c);
}

RfStatus rf_layers_add_conv(RfContext *context, RfLayeredNet *net, RfConvShape s) {
  RfLayer layer = {.kind = RF_LAYER_CONV};
  const rf_index positive[] = {s.channels_in, s.height,   s.width, s.channels_out,
                               s.kernel_h,    s.kernel_w, s.stride};
  for (size_t k = 0; k < sizeof positive / sizeof positive[0]; k++)
    if (positive[k] < 1 || positive[k] > 1 << 20)
      return rf_fail(context, RF_ERR_USAGE, "convolution: sizes, kernel and stride must be 1..2^20");
  if (s.padding < 0 || s.padding >= s.kernel_h || s.padding >= s.kernel_w)
    return rf_fail(context, RF_ERR_USAGE, "convolution: padding must be >= 0 and smaller than the kernel");
  if (s.kernel_h > s.height + 2 * s.padding || s.kernel_w > s.width + 2 * s.padding)
    return rf_fail(context, RF_ERR_USAGE, "convolution: the kernel is larger than the padded input");
  s.height_out = (s.height + 2 * s.padding - s.kernel_h) / s.stride + 1;
  s.width_out = (s.width + 2 * s.padding - s.kernel_w) / s.stride + 1;
  layer.conv = s;
  if (!product3(&layer.inputs, s.channels_in, s.height, s.width) ||
      !product3(&layer.outputs, s.channels_out, s.height_out, s.width_out) ||
      !product3(&layer.parameters, s.channels_out, s.channels_in, s.kernel_h * s.kernel_w))
    return rf_fail(context, RF_ERR_USAGE, "convolution too large");
  return append(context, net, layer);
}

/* The parameters a pattern uses are 0..max without a hole; the count, or -1 when it is not so. */
static rf_index pattern_parameters(const int32_t *pattern, rf_index entries, bool *seen) {
  rf_index most = -1;
  for (rf_index k = 0; k < entries; k++) {
    if (pattern[k] < -1 || pattern[k] >= entries) return -1;
    if (pattern[k] > most) most = pattern[k];
    if (pattern[k] >= 0) seen[pattern[k]] = true;
  }
  for (rf_index p = 0; p <= most; p++)
    if (!seen[p]) return -1;
  return most + 1;
}

RfStatus rf_layers_add_shared(RfContext *context, RfLayeredNet *net, const int32_t *pattern, rf_index inputs,
                              rf_index outputs) {
  rf_index entries;
  if (inputs < 1 || outputs < 1 || !rf_multiply_sizes(&entries, inputs, outputs))
    return rf_fail(context, RF_ERR_USAGE, "sharing pattern: sizes must be positive");
  RfLayer layer = {.kind = RF_LAYER_SHARED, .inputs = inputs, .outputs = outputs};
  layer.pattern = RF_NEW(int32_t, entries);
  bool *seen = RF_NEW(bool, entries);
  if (!layer.pattern || !seen) {
    rf_free(layer.pattern);
    rf_free(seen);
    return no_memory(context);
  }
  memcpy(layer.pattern, pattern, (size_t)entries * sizeof *pattern);
  layer.parameters = pattern_parameters(pattern, entries, seen);
  rf_free(seen);
  if (layer.parameters < 1) {
    rf_free(layer.pattern);
    return rf_fail(context, RF_ERR_USAGE,
                   "sharing pattern: entries must be -1 or parameter numbers 0,1,... with none left out");
  }
  return append(context, net, layer);
}

RfStatus rf_layers_set_residual(RfContext *context, RfLayeredNet *net) {
  if (net->n_layers < 2) return rf_fail(context, RF_ERR_USAGE, "a residual layer needs a layer before it");
  RfLayer *last = &net->layers[net->n_layers - 1];
  if (last->inputs != last->outputs)
    return rf_fail(context, RF_ERR_USAGE, "a residual layer needs as many outputs as inputs");
  last->residual = true;
  return RF_OK;
}

RfStatus rf_layers_copy(RfContext *context, RfLayeredNet *out, const RfLayeredNet *net) {
  memset(out, 0, sizeof *out);
  out->leak = net->leak;
  for (rf_index l = 0; l < net->n_layers; l++) {
    RfLayer layer = net->layers[l];
    if (layer.pattern) {
      layer.pattern = RF_NEW_TABLE(int32_t, layer.inputs, layer.outputs);
      if (layer.pattern)
        memcpy(layer.pattern, net->layers[l].pattern,
               (size_t)(layer.inputs * layer.outputs) * sizeof(int32_t));
    }
    RfStatus status =
        net->layers[l].pattern && !layer.pattern ? no_memory(context) : append(context, out, layer);
    if (status) {
      rf_layers_free(out);
      return status;
    }
  }
  if (net->n_parameters > 0) memcpy(out->theta, net->theta, (size_t)net->n_parameters * sizeof(double));
  return RF_OK;
}

const char *rf_layers_kind_name(RfLayerKind kind) {
  static const char *const names[] = {"dense", "diagonal", "conv", "shared"};
  return names[kind];
}

rf_index rf_layers_shape(rf_index shape[4], const RfLayer *layer) {
  shape[0] = layer->outputs, shape[1] = layer->inputs;
  if (layer->kind == RF_LAYER_DIAGONAL) return 1;
  if (layer->kind != RF_LAYER_CONV) return 2;
  shape[0] = layer->conv.channels_out, shape[1] = layer->conv.channels_in;
  shape[2] = layer->conv.kernel_h, shape[3] = layer->conv.kernel_w;
  return 4;
}

/* Inputs that one output reads: for a sharing pattern, of the output that reads most. */
static rf_index fan_in(const RfLayer *layer) {
  rf_index most = 1;
  if (layer->kind == RF_LAYER_DENSE) return layer->inputs;
  if (layer->kind == RF_LAYER_CONV)
    return layer->conv.channels_in * layer->conv.kernel_h * layer->conv.kernel_w;
  for (rf_index o = 0; layer->pattern && o < layer->outputs; o++) {
    rf_index count = 0;
    for (rf_index i = 0; i < layer->inputs; i++) count += layer->pattern[o * layer->inputs + i] >= 0;
    if (count > most) most = count;
  }
  return most;
}

void rf_layers_init_uniform(RfLayeredNet *net, RfRandom *random, double spread) {
  for (rf_index l = 0; l < net->n_layers; l++) {
    double size = spread / sqrt((double)fan_in(&net->layers[l])), *w = rf_layers_weights(net, l);
    for (rf_index p = 0; p < net->layers[l].parameters; p++)
      w[p] = size * (2 * rf_random_uniform(random) - 1);
  }
}

void rf_layers_init(RfLayeredNet *net, uint64_t seed, double spread) {
  RfRandom random;
  rf_random_init(&random, seed, 0);
  rf_layers_init_uniform(net, &random, spread);
}

rf_index rf_layers_inputs(const RfLayeredNet *net) { return net->n_layers ? net->layers[0].inputs : 0; }

rf_index rf_layers_outputs_count(const RfLayeredNet *net) {
  return net->n_layers ? net->layers[net->n_layers - 1].outputs : 0;
}

rf_index rf_layers_hidden(const RfLayeredNet *net) {
  rf_index total = 0;
  for (rf_index l = 0; l + 1 < net->n_layers; l++) total += net->layers[l].outputs;
  return total;
}

rf_index rf_layers_homogeneity(const RfLayeredNet *net) {
  for (rf_index l = 0; l < net->n_layers; l++)
    if (net->layers[l].residual) return 0;
  return net->n_layers;
}

double *rf_layers_weights(const RfLayeredNet *net, rf_index layer) {
  return net->theta + net->layers[layer].offset;
}

/* Convolution: output (c, r, q) reads input (c', r*stride + kr - padding, q*stride + kq - padding) with
 * filter entry (c, c', kr, kq); the matrix entry is that parameter when kr and kq fall inside the kernel. */
static rf_index conv_entry(const RfConvShape *s, rf_index o, rf_index i) {
  rf_index plane_out = s->height_out * s->width_out, plane_in = s->height * s->width;
  rf_index c = o / plane_out, r = o % plane_out / s->width_out, q = o % s->width_out;
  rf_index b = i / plane_in, row = i % plane_in / s->width, column = i % s->width;
  rf_index kr = row + s->padding - r * s->stride, kq = column + s->padding - q * s->stride;
  if (kr < 0 || kr >= s->kernel_h || kq < 0 || kq >= s->kernel_w) return -1;
  return ((c * s->channels_in + b) * s->kernel_h + kr) * s->kernel_w + kq;
}

rf_index rf_layers_entry(const RfLayeredNet *net, rf_index l, rf_index o, rf_index i) {
  const RfLayer *layer = &net->layers[l];
  rf_index parameter = -1;
  switch (layer->kind) {
  case RF_LAYER_DENSE: parameter = o * layer->inputs + i; break;
  case RF_LAYER_DIAGONAL: parameter = o == i ? i : -1; break;
  case RF_LAYER_CONV: parameter = conv_entry(&layer->conv, o, i); break;
  case RF_LAYER_SHARED: parameter = layer->pattern[o * layer->inputs + i]; break;
  }
  return parameter < 0 ? -1 : layer->offset + parameter;
}

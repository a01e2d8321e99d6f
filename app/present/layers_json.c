/* Layered networks in JSON, in the form that rf_layers_load reads, and what they are certified to be. */
#include <math.h>

#include "present/present_internal.h"
#include "layers/layers.h"

static void layer_json(RfJson *json, const RfLayeredNet *net, rf_index l) {
  const RfLayer *layer = &net->layers[l];
  rf_index shape[4], sizes = rf_layers_shape(shape, layer);
  bool conv = layer->kind == RF_LAYER_CONV;
  rf_json_object(json, NULL);
  rf_json_string(json, "kind", rf_layers_kind_name(layer->kind));
  rf_json_integers(json, "shape", shape, sizes);
  if (layer->kind == RF_LAYER_SHARED) {
    rf_json_array(json, "pattern");
    for (rf_index o = 0; o < layer->outputs; o++) {
      rf_json_array(json, NULL);
      for (rf_index i = 0; i < layer->inputs; i++)
        rf_json_integer(json, NULL, layer->pattern[o * layer->inputs + i]);
      rf_json_end(json);
    }
    rf_json_end(json);
  } else {
    rf_json_null(json, "pattern");
  }
  if (conv) {
    const rf_index input[] = {layer->conv.channels_in, layer->conv.height, layer->conv.width};
    rf_json_integers(json, "input", input, 3);
    rf_json_integer(json, "stride", layer->conv.stride);
    rf_json_integer(json, "padding", layer->conv.padding);
  }
  rf_json_boolean(json, "fixed", layer->fixed);
  rf_json_numbers(json, "weights", rf_layers_weights(net, l), layer->parameters);
  rf_json_end(json);
}

void rf_json_layered_net(RfJson *json, const RfLayeredNet *net) {
  rf_json_string(json, "activation", net->leak == 0 ? "relu" : net->leak == 1 ? "linear" : "leaky");
  rf_json_array(json, "residual");
  for (rf_index l = 0; l < net->n_layers; l++)
    if (net->layers[l].residual) rf_json_integer(json, NULL, l);
  rf_json_end(json);
  rf_json_array(json, "layers");
  for (rf_index l = 0; l < net->n_layers; l++) layer_json(json, net, l);
  rf_json_end(json);
}

/* Members of table `certify` that a layered network has; the others are null. */
void rf_json_layered_certificate(RfJson *json, const RfLayeredCertificate *c) {
  const RfLayeredKkt *kkt = &c->kkt;
  rf_json_number(json, "margin", kkt->margin);
  rf_json_numbers(json, "margins", kkt->margins, kkt->n);
  rf_json_number(json, "objective", kkt->lambda ? kkt->objective : NAN);
  rf_json_object(json, "kkt");
  rf_json_boolean(json, "holds", kkt->holds);
  rf_json_number(json, "stationarity", kkt->lambda ? kkt->stationarity : NAN);
  rf_json_number(json, "complementarity", kkt->lambda ? kkt->complementarity : NAN);
  rf_json_numbers(json, "lambda", kkt->lambda, kkt->n);
  rf_json_null(json, "kinks");
  rf_json_null(json, "nearest");
  rf_json_end(json);
  rf_json_null(json, "tolerances");
  rf_json_null(json, "zero_neurons");
  rf_json_null(json, "balance_error");
  rf_json_object(json, "local");
  rf_json_string(json, "verdict", rf_verdict_name(c->local));
  rf_json_string(json, "why", c->local_why);
  rf_json_null(json, "own_kinks");
  rf_json_null(json, "witness");
  rf_json_end(json);
  rf_json_object(json, "global");
  rf_json_string(json, "verdict", rf_verdict_name(c->global));
  rf_json_string(json, "why", c->global_why);
  rf_json_number(json, "objective", kkt->lambda ? kkt->objective : NAN);
  rf_json_number(json, "lower", c->lower);
  rf_json_number(json, "gap", c->gap);
  rf_json_end(json);
  if (!c->layers) {
    rf_json_null(json, "layers");
    return;
  }
  rf_json_array(json, "layers");
  for (rf_index l = 0; l < c->n_layers; l++) {
    rf_json_object(json, NULL);
    rf_json_integer(json, "layer", l);
    rf_json_string(json, "verdict", rf_verdict_name(c->layers[l].verdict));
    rf_json_number(json, "gap", c->layers[l].gap);
    rf_json_end(json);
  }
  rf_json_end(json);
}

void rf_text_layered_certificate(RfText *page, const RfLayeredCertificate *c, int width) {
  const RfLayeredKkt *kkt = &c->kkt;
  RfTable table;
  if (!kkt->lambda) {
    rf_text_add(page, "The network does not separate these data: some y f(x) is not positive.\n");
    return;
  }
  rf_text_addf(page, "%s: stationarity %.3g, complementarity %.3g, margin %.9g\n",
               kkt->holds ? "A KKT point" : "Not a KKT point", kkt->stationarity, kkt->complementarity,
               kkt->margin);
  rf_text_addf(page, "Local: %s. ", rf_verdict_name(c->local));
  rf_text_wrap(page, c->local_why, 2, width);
  rf_text_addf(page, "Global: %s. ", rf_verdict_name(c->global));
  rf_text_wrap(page, c->global_why, 2, width);
  rf_table_init(&table, "rrrrl", "layer|squared norm|best|gap|its own problem");
  for (rf_index l = 0; l < c->n_layers; l++) {
    rf_table_cell(&table, "%lld", (long long)l);
    rf_table_cell(&table, "%.9g", c->layers[l].norm2);
    rf_table_cell(&table, "%.9g", c->layers[l].best);
    rf_table_cell(&table, "%.2e", c->layers[l].gap);
    rf_table_cell(&table, "%s", rf_verdict_name(c->layers[l].verdict));
  }
  rf_table_print(page, &table, 2);
  rf_table_free(&table);
}

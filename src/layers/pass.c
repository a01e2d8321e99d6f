/* The passes of pass_template.h in double and float, and the shapes they share. */
#include "pass.h"

#include <string.h>

#include "conv.h"
#include "la/la.h"

rf_index rf_pass_widest(const RfLayeredNet *net) {
  rf_index most = 0;
  for (rf_index l = 0; l < net->n_layers; l++)
    if (net->layers[l].outputs > most) most = net->layers[l].outputs;
  return most;
}

rf_index rf_pass_patch(const RfConvShape *s) { return s->channels_in * s->kernel_h * s->kernel_w; }

rf_index rf_pass_patches(const RfLayeredNet *net) {
  rf_index most = 1;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfConvShape *s = &net->layers[l].conv;
    if (net->layers[l].kind != RF_LAYER_CONV) continue;
    rf_index size = rf_pass_patch(s) * s->height_out * s->width_out;
    if (size > most) most = size;
  }
  return most;
}

/* Scratch of convolutions by the kernels of conv.h; 0 = none. */
static rf_index conv_scratch(const RfLayeredNet *net) {
  rf_index most = 0;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    if (layer->kind != RF_LAYER_CONV || !rf_conv_suits(&layer->conv)) continue;
    rf_index room = rf_conv_room(&layer->conv);
    if (room > most) most = room;
  }
  return most;
}

rf_index rf_pass_rows(rf_index widest, size_t size) {
  const rf_index cache = 204800; /* bytes */
  rf_index rows = cache / (widest * (rf_index)size);
  return rows < 8 ? 8 : rows > 512 ? 512 : rows;
}

/* 0 <= q*stride + kq - padding < width. */
void rf_pass_span(rf_index *first, rf_index *end, const RfConvShape *s, rf_index kq) {
  rf_index shift = s->padding - kq, past = s->width + shift;
  *first = shift > 0 ? (shift + s->stride - 1) / s->stride : 0;
  *end = past > 0 ? (past + s->stride - 1) / s->stride : 0;
  if (*end > s->width_out) *end = s->width_out;
  if (*first > *end) *first = *end;
}

#define product_nt_double     rf_la_product_nt
#define product_nn_double     rf_la_product_nn
#define product_tn_double     rf_la_product_tn
#define add_product_nt_double rf_la_add_product_nt
#define add_product_tn_double rf_la_add_product_tn
#define REAL                  double
#define NAME(x)               x##_double
#include "conv_pass.h"
/* then, with them: */
#include "pass_body.h"
#undef REAL
#undef NAME

#define product_nt_float     rf_la_product_nt_float
#define product_nn_float     rf_la_product_nn_float
#define product_tn_float     rf_la_product_tn_float
#define add_product_nt_float rf_la_add_product_nt_float
#define add_product_tn_float rf_la_add_product_tn_float
#define REAL                 float
#define NAME(x)              x##_float
#include "conv_pass.h"
/* then, with them: */
#include "pass_body.h"
#undef REAL
#undef NAME

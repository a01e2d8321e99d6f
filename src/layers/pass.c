/* Forward and backward passes. For a block of rows Z_l = A_l M_l^T with A_l = phi(Z_{l-1}) and M_l the
 * layer's matrix: dense     two matrix products forward/backward and one for the gradient, G^T A; conv the
 * same per sample on unfolded patches; diagonal, shared   direct loops over the structural non-zeros. */
#include "pass.h"

#include <string.h>

#include "reluflow/la.h"

static rf_index largest_outputs(const RfLayeredNet *net) {
  rf_index most = 0;
  for (rf_index l = 0; l < net->n_layers; l++)
    if (net->layers[l].outputs > most) most = net->layers[l].outputs;
  return most;
}

static rf_index patch_size(const RfConvShape *s) { return s->channels_in * s->kernel_h * s->kernel_w; }

RfStatus rf_pass_new(RfContext *context, RfPass *pass, const RfLayeredNet *net) {
  memset(pass, 0, sizeof *pass);
  pass->net = net;
  rf_index most = largest_outputs(net), patches = 1;
  bool complete = true;
  pass->z = RF_NEW(double *, net->n_layers);
  pass->input = RF_NEW(double *, net->n_layers);
  if (!pass->z || !pass->input) goto fail;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    pass->z[l] = RF_NEW(double, rf_pass_block * layer->outputs);
    if (l > 0) pass->input[l] = RF_NEW(double, rf_pass_block * layer->inputs);
    if (!pass->z[l] || (l > 0 && !pass->input[l])) complete = false;
    if (layer->kind == RF_LAYER_CONV) {
      rf_index size = patch_size(&layer->conv) * layer->conv.height_out * layer->conv.width_out;
      if (size > patches) patches = size;
    }
  }
  pass->g = RF_NEW(double, rf_pass_block *most);
  pass->g_next = RF_NEW(double, rf_pass_block *most);
  pass->columns = RF_NEW(double, patches);
  if (complete && pass->g && pass->g_next && pass->columns) return RF_OK;
fail:
  rf_pass_free(pass);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a layered network");
}

void rf_pass_free(RfPass *pass) {
  if (pass->net)
    for (rf_index l = 0; l < pass->net->n_layers; l++) {
      if (pass->z) rf_free(pass->z[l]);
      if (pass->input) rf_free(pass->input[l]);
    }
  rf_free(pass->z);
  rf_free(pass->input);
  rf_free(pass->g);
  rf_free(pass->g_next);
  rf_free(pass->columns);
  memset(pass, 0, sizeof *pass);
}

/* columns[(b,kr,kq)][(r,q)] = image[b][r*stride+kr-padding][q*stride+kq-padding], 0 outside; or, when fold is
 * set, adds columns back into image (the adjoint). */
static void unfold(double *columns, double *image, const RfConvShape *s, bool fold) {
  double *out = columns;
  for (rf_index b = 0; b < s->channels_in; b++)
    for (rf_index kr = 0; kr < s->kernel_h; kr++)
      for (rf_index kq = 0; kq < s->kernel_w; kq++)
        for (rf_index r = 0; r < s->height_out; r++) {
          rf_index row = r * s->stride + kr - s->padding;
          double *line = image + (b * s->height + row) * s->width;
          for (rf_index q = 0; q < s->width_out; q++, out++) {
            rf_index column = q * s->stride + kq - s->padding;
            bool inside = row >= 0 && row < s->height && column >= 0 && column < s->width;
            if (!fold) *out = inside ? line[column] : 0;
            if (fold && inside) line[column] += *out;
          }
        }
}

static void conv_forward(RfPass *pass, double *Z, const double *A, const RfLayer *layer, const double *w,
                         rf_index rows) {
  const RfConvShape *s = &layer->conv;
  rf_index plane = s->height_out * s->width_out;
  for (rf_index i = 0; i < rows; i++) {
    unfold(pass->columns, (double *)(uintptr_t)(A + i * layer->inputs), s, false);
    rf_la_product_nn(Z + i * layer->outputs, w, pass->columns, s->channels_out, plane, patch_size(s));
  }
}

static void apply_layer(RfPass *pass, double *Z, const double *A, const RfLayer *layer, rf_index rows) {
  const double *w = pass->net->theta + layer->offset;
  rf_index in = layer->inputs, out = layer->outputs;
  switch (layer->kind) {
  case RF_LAYER_DENSE: rf_la_product_nt(Z, A, w, rows, out, in); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) Z[i * in + j] = w[j] * A[i * in + j];
    break;
  case RF_LAYER_CONV: conv_forward(pass, Z, A, layer, w, rows); break;
  case RF_LAYER_SHARED:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index o = 0; o < out; o++) {
        const int32_t *entry = layer->pattern + o * in;
        double sum = 0;
        for (rf_index j = 0; j < in; j++)
          if (entry[j] >= 0) sum += w[entry[j]] * A[i * in + j];
        Z[i * out + o] = sum;
      }
    break;
  }
}

void rf_pass_forward(RfPass *pass, const double *X, rf_index rows) {
  const RfLayeredNet *net = pass->net;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    const double *A = X;
    if (l > 0) {
      const double *before = pass->z[l - 1];
      for (rf_index k = 0; k < rows * layer->inputs; k++)
        pass->input[l][k] = before[k] > 0 ? before[k] : net->leak * before[k];
      A = pass->input[l];
    }
    apply_layer(pass, pass->z[l], A, layer, rows);
    if (layer->residual) rf_la_axpy(pass->z[l], 1, pass->z[l - 1], rows * layer->outputs);
  }
}

/* gradient += d/dw of <G, A M^T>. */
static void accumulate(RfPass *pass, double *gradient, const double *G, const double *A, const RfLayer *layer,
                       rf_index rows) {
  rf_index in = layer->inputs, out = layer->outputs;
  switch (layer->kind) {
  case RF_LAYER_DENSE: rf_la_add_product_tn(gradient, G, A, out, in, rows); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) gradient[j] += G[i * in + j] * A[i * in + j];
    break;
  case RF_LAYER_CONV: {
    const RfConvShape *s = &layer->conv;
    rf_index plane = s->height_out * s->width_out, patch = patch_size(s);
    for (rf_index i = 0; i < rows; i++) {
      unfold(pass->columns, (double *)(uintptr_t)(A + i * in), s, false);
      rf_la_add_product_nt(gradient, G + i * out, pass->columns, s->channels_out, patch, plane);
    }
    break;
  }
  case RF_LAYER_SHARED:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index o = 0; o < out; o++) {
        const int32_t *entry = layer->pattern + o * in;
        for (rf_index j = 0; j < in; j++)
          if (entry[j] >= 0) gradient[entry[j]] += G[i * out + o] * A[i * in + j];
      }
    break;
  }
}

/* H = G M: sensitivities of the layer's input. */
static void pull_back(RfPass *pass, double *H, const double *G, const RfLayer *layer, rf_index rows) {
  const double *w = pass->net->theta + layer->offset;
  rf_index in = layer->inputs, out = layer->outputs;
  switch (layer->kind) {
  case RF_LAYER_DENSE: rf_la_product_nn(H, G, w, rows, in, out); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) H[i * in + j] = w[j] * G[i * in + j];
    break;
  case RF_LAYER_CONV: {
    const RfConvShape *s = &layer->conv;
    rf_index plane = s->height_out * s->width_out;
    memset(H, 0, (size_t)(rows * in) * sizeof *H);
    for (rf_index i = 0; i < rows; i++) {
      rf_la_product_tn(pass->columns, w, G + i * out, patch_size(s), plane, s->channels_out);
      unfold(pass->columns, H + i * in, s, true);
    }
    break;
  }
  case RF_LAYER_SHARED:
    memset(H, 0, (size_t)(rows * in) * sizeof *H);
    for (rf_index i = 0; i < rows; i++)
      for (rf_index o = 0; o < out; o++) {
        const int32_t *entry = layer->pattern + o * in;
        for (rf_index j = 0; j < in; j++)
          if (entry[j] >= 0) H[i * in + j] += w[entry[j]] * G[i * out + o];
      }
    break;
  }
}

void rf_pass_backward(RfPass *pass, double *gradient, const double *X, const double *weights, rf_index rows,
                      bool skip_fixed) {
  const RfLayeredNet *net = pass->net;
  rf_index last = net->n_layers - 1;
  memcpy(pass->g, weights, (size_t)(rows * net->layers[last].outputs) * sizeof *weights);
  for (rf_index l = last; l >= 0; l--) {
    const RfLayer *layer = &net->layers[l];
    const double *A = l > 0 ? pass->input[l] : X;
    if (!(layer->fixed && skip_fixed)) accumulate(pass, gradient + layer->offset, pass->g, A, layer, rows);
    if (l == 0) break;
    pull_back(pass, pass->g_next, pass->g, layer, rows);
    const double *before = pass->z[l - 1];
    for (rf_index k = 0; k < rows * layer->inputs; k++) pass->g_next[k] *= before[k] > 0 ? 1 : net->leak;
    if (layer->residual) rf_la_axpy(pass->g_next, 1, pass->g, rows * layer->inputs);
    double *swap = pass->g;
    pass->g = pass->g_next, pass->g_next = swap;
  }
}

/* Forward and backward passes over a block of samples, written once for double and float: include with REAL
 * and NAME(x) defined, and product_nt_REAL etc. naming the matrix products.
 *
 * For a block of rows, Z_l = A_l M_l^T with A_l = phi(Z_{l-1}) and M_l the matrix of layer l:
 *   dense              one matrix product forward, one back, one for the gradient G^T A;
 *   conv               the same per sample on unfolded patches;
 *   diagonal, shared   direct loops over the structural non-zeros.
 * The usual head, a dense layer with one output, is fused: f_i = sum_k a_k phi(z_ik) and, going back,
 * da_k += r_i phi(z_ik), dz_ik = r_i a_k phi'(z_ik) are one sweep each over Z, and phi(Z) is never stored. */

RfStatus NAME(rf_pass_new)(RfContext *context, NAME(RfPass) * pass, const RfLayeredNet *net,
                           const REAL *theta) {
  memset(pass, 0, sizeof *pass);
  pass->net = net, pass->theta = theta, pass->leak = (REAL)net->leak;
  const RfLayer *head = &net->layers[net->n_layers - 1];
  pass->fused_head =
      net->n_layers > 1 && head->kind == RF_LAYER_DENSE && head->outputs == 1 && !head->residual;
  rf_index most = rf_pass_widest(net), patches = rf_pass_patches(net), scratch = conv_scratch(net);
  pass->block = rf_pass_rows(most, sizeof(REAL));
  bool complete = true;
  pass->z = RF_NEW(REAL *, net->n_layers);
  pass->input = RF_NEW(REAL *, net->n_layers);
  if (!pass->z || !pass->input) goto fail;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    bool stored = l > 0 && !(pass->fused_head && layer == head);
    pass->z[l] = RF_NEW(REAL, pass->block * layer->outputs);
    if (stored) pass->input[l] = RF_NEW(REAL, pass->block * layer->inputs);
    if (!pass->z[l] || (stored && !pass->input[l])) complete = false;
  }
  pass->g = RF_NEW(REAL, pass->block * most);
  pass->g_next = RF_NEW(REAL, pass->block * most);
  pass->columns = RF_NEW(REAL, patches);
  if (scratch > 0) pass->conv = RF_NEW(REAL, scratch);
  if (complete && pass->g && pass->g_next && pass->columns && (scratch == 0 || pass->conv)) return RF_OK;
fail:
  NAME(rf_pass_free)(pass);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a layered network");
}

void NAME(rf_pass_free)(NAME(RfPass) * pass) {
  for (rf_index l = 0; pass->net && l < pass->net->n_layers; l++) {
    if (pass->z) rf_free(pass->z[l]);
    if (pass->input) rf_free(pass->input[l]);
  }
  rf_free(pass->z);
  rf_free(pass->input);
  rf_free(pass->g);
  rf_free(pass->g_next);
  rf_free(pass->columns);
  rf_free(pass->conv);
  memset(pass, 0, sizeof *pass);
}

/* columns[(b,kr,kq)][(r,q)] = image[b][r*stride+kr-padding][q*stride+kq-padding], 0 outside. */
static void NAME(unfold)(REAL *columns, const REAL *image, const RfConvShape *s) {
  for (rf_index b = 0; b < s->channels_in; b++)
    for (rf_index kr = 0; kr < s->kernel_h; kr++)
      for (rf_index kq = 0; kq < s->kernel_w; kq++)
        for (rf_index r = 0; r < s->height_out; r++) {
          rf_index row = r * s->stride + kr - s->padding, first, end;
          rf_pass_span(&first, &end, s, kq);
          if (row < 0 || row >= s->height) first = end = s->width_out;
          const REAL *line = image + (b * s->height + row) * s->width + kq - s->padding;
          rf_index q = 0;
          for (; q < first; q++) *columns++ = 0;
          for (; q < end; q++) *columns++ = line[q * s->stride];
          for (; q < s->width_out; q++) *columns++ = 0;
        }
}

/* The adjoint: adds columns back into image. */
static void NAME(fold)(REAL *image, const REAL *columns, const RfConvShape *s) {
  for (rf_index b = 0; b < s->channels_in; b++)
    for (rf_index kr = 0; kr < s->kernel_h; kr++)
      for (rf_index kq = 0; kq < s->kernel_w; kq++)
        for (rf_index r = 0; r < s->height_out; r++, columns += s->width_out) {
          rf_index row = r * s->stride + kr - s->padding, first, end;
          if (row < 0 || row >= s->height) continue;
          rf_pass_span(&first, &end, s, kq);
          REAL *line = image + (b * s->height + row) * s->width + kq - s->padding;
          for (rf_index q = first; q < end; q++) line[q * s->stride] += columns[q];
        }
}

static void NAME(apply_layer)(NAME(RfPass) * pass, REAL *Z, const REAL *A, const RfLayer *layer,
                              rf_index rows) {
  const REAL *w = pass->theta + layer->offset;
  rf_index in = layer->inputs, out = layer->outputs;
  switch (layer->kind) {
  case RF_LAYER_DENSE: NAME(product_nt)(Z, A, w, rows, out, in); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) Z[i * in + j] = w[j] * A[i * in + j];
    break;
  case RF_LAYER_CONV:
    if (rf_conv_suits(&layer->conv)) {
      NAME(conv_forward)(pass, Z, A, layer, rows);
      break;
    }
    for (rf_index i = 0; i < rows; i++) {
      const RfConvShape *s = &layer->conv;
      NAME(unfold)(pass->columns, A + i * in, s);
      NAME(product_nn)
      (Z + i * out, w, pass->columns, s->channels_out, s->height_out * s->width_out, rf_pass_patch(s));
    }
    break;
  case RF_LAYER_SHARED:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index o = 0; o < out; o++) {
        const int32_t *entry = layer->pattern + o * in;
        REAL sum = 0;
        for (rf_index j = 0; j < in; j++)
          if (entry[j] >= 0) sum += w[entry[j]] * A[i * in + j];
        Z[i * out + o] = sum;
      }
    break;
  }
}

/* f_i = sum_k a_k phi(z_ik), with phi(z) = max(z, leak z) free of branches. */
RF_HOT static void NAME(head_forward)(REAL *f, const REAL *Z, const REAL *a, REAL leak, rf_index rows,
                                      rf_index m) {
  for (rf_index i = 0; i < rows; i++) {
    const REAL *z = Z + i * m;
    REAL sums[16] = {0}, sum = 0;
    rf_index k = 0;
    for (; k + 16 <= m; k += 16)
      for (int lane = 0; lane < 16; lane++) {
        REAL h = z[k + lane], low = leak * h;
        sums[lane] += a[k + lane] * (h > low ? h : low);
      }
    for (; k < m; k++) sum += a[k] * (z[k] > 0 ? z[k] : leak * z[k]);
    for (int lane = 0; lane < 16; lane++) sum += sums[lane];
    f[i] = sum;
  }
}

/* da_k += r_i phi(z_ik); G_ik = r_i a_k phi'(z_ik). da may be NULL (fixed head). */
RF_HOT static void NAME(head_backward)(REAL *restrict G, REAL *restrict da, const REAL *restrict Z,
                                       const REAL *restrict a, const REAL *restrict r, REAL leak,
                                       rf_index rows, rf_index m) {
  for (rf_index i = 0; i < rows; i++) {
    const REAL *restrict z = Z + i * m;
    REAL *restrict g = G + i * m;
    REAL weight = r[i];
    REAL low = weight * leak;
    for (rf_index k = 0; k < m; k++) g[k] = a[k] * (z[k] > 0 ? weight : low);
    if (da)
      for (rf_index k = 0; k < m; k++) da[k] += z[k] * (z[k] > 0 ? weight : low);
  }
}

/* out = phi(z), out *= phi'(z), out += x. */
RF_HOT static void NAME(activate)(REAL *restrict out, const REAL *restrict z, REAL leak, rf_index count) {
  for (rf_index k = 0; k < count; k++) {
    REAL low = leak * z[k];
    out[k] = z[k] > 0 ? z[k] : low;
  }
}

RF_HOT static void NAME(gate)(REAL *restrict out, const REAL *restrict z, REAL leak, rf_index count) {
  for (rf_index k = 0; k < count; k++) {
    REAL low = leak * out[k];
    out[k] = z[k] > 0 ? out[k] : low;
  }
}

RF_HOT static void NAME(add)(REAL *restrict out, const REAL *restrict x, rf_index count) {
  for (rf_index k = 0; k < count; k++) out[k] += x[k];
}

const REAL *NAME(rf_pass_forward)(NAME(RfPass) * pass, const REAL *X, rf_index rows) {
  const RfLayeredNet *net = pass->net;
  rf_index last = net->n_layers - 1;
  for (rf_index l = 0; l <= last; l++) {
    const RfLayer *layer = &net->layers[l];
    const REAL *A = X, *before = l > 0 ? pass->z[l - 1] : NULL;
    if (l == last && pass->fused_head) {
      NAME(head_forward)(pass->z[l], before, pass->theta + layer->offset, pass->leak, rows, layer->inputs);
      break;
    }
    if (l > 0) {
      NAME(activate)(pass->input[l], before, pass->leak, rows * layer->inputs);
      A = pass->input[l];
    }
    NAME(apply_layer)(pass, pass->z[l], A, layer, rows);
    if (layer->residual) NAME(add)(pass->z[l], before, rows * layer->outputs);
  }
  return pass->z[last];
}

/* gradient += d/dw of <G, A M^T>. */
static void NAME(accumulate)(NAME(RfPass) * pass, REAL *gradient, const REAL *G, const REAL *A,
                             const RfLayer *layer, rf_index rows) {
  rf_index in = layer->inputs, out = layer->outputs;
  switch (layer->kind) {
  case RF_LAYER_DENSE: NAME(add_product_tn)(gradient, G, A, out, in, rows); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) gradient[j] += G[i * in + j] * A[i * in + j];
    break;
  case RF_LAYER_CONV:
    if (rf_conv_suits(&layer->conv)) {
      NAME(conv_accumulate)(pass, gradient, G, A, layer, rows);
      break;
    }
    for (rf_index i = 0; i < rows; i++) {
      const RfConvShape *s = &layer->conv;
      NAME(unfold)(pass->columns, A + i * in, s);
      NAME(add_product_nt)
      (gradient, G + i * out, pass->columns, s->channels_out, rf_pass_patch(s), s->height_out * s->width_out);
    }
    break;
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
static void NAME(pull_back)(NAME(RfPass) * pass, REAL *H, const REAL *G, const RfLayer *layer,
                            rf_index rows) {
  const REAL *w = pass->theta + layer->offset;
  rf_index in = layer->inputs, out = layer->outputs;
  if (layer->kind == RF_LAYER_CONV && rf_conv_suits(&layer->conv)) {
    NAME(conv_pull_back)(pass, H, G, layer, rows);
    return;
  }
  if (layer->kind == RF_LAYER_CONV || layer->kind == RF_LAYER_SHARED)
    memset(H, 0, (size_t)(rows * in) * sizeof *H);
  switch (layer->kind) {
  case RF_LAYER_DENSE: NAME(product_nn)(H, G, w, rows, in, out); break;
  case RF_LAYER_DIAGONAL:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index j = 0; j < in; j++) H[i * in + j] = w[j] * G[i * in + j];
    break;
  case RF_LAYER_CONV:
    for (rf_index i = 0; i < rows; i++) {
      const RfConvShape *s = &layer->conv;
      NAME(product_tn)
      (pass->columns, w, G + i * out, rf_pass_patch(s), s->height_out * s->width_out, s->channels_out);
      NAME(fold)(H + i * in, pass->columns, s);
    }
    break;
  case RF_LAYER_SHARED:
    for (rf_index i = 0; i < rows; i++)
      for (rf_index o = 0; o < out; o++) {
        const int32_t *entry = layer->pattern + o * in;
        for (rf_index j = 0; j < in; j++)
          if (entry[j] >= 0) H[i * in + j] += w[entry[j]] * G[i * out + o];
      }
    break;
  }
}

void NAME(rf_pass_backward)(NAME(RfPass) * pass, REAL *gradient, const REAL *X, const REAL *weights,
                            rf_index rows, bool skip_fixed) {
  const RfLayeredNet *net = pass->net;
  rf_index l = net->n_layers - 1;
  if (pass->fused_head) {
    const RfLayer *head = &net->layers[l];
    REAL *da = head->fixed && skip_fixed ? NULL : gradient + head->offset;
    NAME(head_backward)
    (pass->g, da, pass->z[l - 1], pass->theta + head->offset, weights, pass->leak, rows, head->inputs);
    l--;
  } else {
    memcpy(pass->g, weights, (size_t)(rows * net->layers[l].outputs) * sizeof *weights);
  }
  for (; l >= 0; l--) {
    const RfLayer *layer = &net->layers[l];
    if (!(layer->fixed && skip_fixed))
      NAME(accumulate)(pass, gradient + layer->offset, pass->g, l > 0 ? pass->input[l] : X, layer, rows);
    if (l == 0) break;
    NAME(pull_back)(pass, pass->g_next, pass->g, layer, rows);
    NAME(gate)(pass->g_next, pass->z[l - 1], pass->leak, rows * layer->inputs);
    if (layer->residual) NAME(add)(pass->g_next, pass->g, rows * layer->inputs);
    REAL *swap = pass->g;
    pass->g = pass->g_next, pass->g_next = swap;
  }
}

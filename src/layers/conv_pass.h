/* Convolutions of the passes with the kernels of conv.h, for one number type: include with REAL and NAME(x)
 * defined, inside pass.c. Scratch memory is pass->conv, rf_conv_room numbers. */

typedef struct NAME(Conv) {
  const NAME(RfConvKernel) * kernel;
  const RfConvShape *s;
  rf_index in, out;         /* channels rounded up to whole vectors */
  rf_index high, wide;      /* of a bordered source plane */
  rf_index tall, broad;     /* of a bordered plane of sensitivities; its border is kernel_h, kernel_w */
  REAL *weights, *gradient; /* packed */
  REAL *source, *slopes, *turned, *tile;
} NAME(Conv);

static rf_index NAME(whole)(rf_index count, rf_index lanes) { return (count + lanes - 1) / lanes * lanes; }

static NAME(Conv) NAME(conv_begin)(NAME(RfPass) * pass, const RfConvShape *s) {
  NAME(Conv) c = {.kernel = NAME(rf_conv_kernel)(), .s = s};
  rf_index lanes = c.kernel->lanes, taps = s->kernel_h * s->kernel_w, pixels = c.kernel->pixels;
  c.in = NAME(whole)(s->channels_in, lanes), c.out = NAME(whole)(s->channels_out, lanes);
  c.high = s->height + 2 * s->padding + s->kernel_h;
  c.wide = s->width + 2 * s->padding + s->kernel_w + pixels * s->stride; /* a tile may read past the row */
  c.tall = s->height_out + 2 * s->kernel_h, c.broad = s->width_out + 2 * s->kernel_w + pixels;
  rf_index forward = taps * s->channels_in * c.out, back = taps * s->channels_out * c.in;
  rf_index weights = forward > back ? forward : back, align = 64 / (rf_index)sizeof(REAL);
  REAL *at = pass->conv;
  at += (align - (rf_index)((uintptr_t)at / sizeof(REAL)) % align) % align;
  c.weights = at, c.gradient = c.weights + weights;
  c.turned = c.gradient + weights, c.tile = c.turned + s->height_out * s->width_out * c.out;
  c.source = c.tile + 2 * RF_CONV_PIXELS * lanes, c.slopes = c.source + s->channels_in * c.high * c.wide;
  return c;
}

/* planes x (rows x cols) into planes with a border of zeros. */
static void NAME(border)(REAL *out, const REAL *x, rf_index planes, rf_index rows, rf_index cols,
                         rf_index high, rf_index wide, rf_index top, rf_index left) {
  memset(out, 0, (size_t)(planes * high * wide) * sizeof *out);
  for (rf_index b = 0; b < planes; b++)
    for (rf_index r = 0; r < rows; r++)
      memcpy(out + (b * high + r + top) * wide + left, x + (b * rows + r) * cols, (size_t)cols * sizeof *out);
}

/* A row of tiles of one phase: pixel t of the tile at `first` is column first + t*spread. Writes channels
 * lane.. of the planes `out`. */
static void NAME(scatter)(REAL *out, const REAL *tile, rf_index channels, rf_index plane, rf_index pixels,
                          rf_index spread, rf_index lanes) {
  for (rf_index c = 0; c < channels; c++)
    for (rf_index t = 0; t < pixels; t++) out[c * plane + t * spread] = tile[t * 2 * lanes + c];
}

/* weights[(b*taps + k)*out + a] = w[a][b][k]. */
static void NAME(conv_pack)(NAME(Conv) * c, const REAL *w) {
  const RfConvShape *s = c->s;
  rf_index taps = s->kernel_h * s->kernel_w;
  memset(c->weights, 0, (size_t)(taps * s->channels_in * c->out) * sizeof(REAL));
  for (rf_index a = 0; a < s->channels_out; a++)
    for (rf_index k = 0; k < taps * s->channels_in; k++)
      c->weights[k * c->out + a] = w[a * taps * s->channels_in + k];
}

static void NAME(conv_forward)(NAME(RfPass) * pass, REAL *Z, const REAL *A, const RfLayer *layer,
                               rf_index rows) {
  const RfConvShape *s = &layer->conv;
  NAME(Conv) c = NAME(conv_begin)(pass, s);
  rf_index taps = s->kernel_h * s->kernel_w, offset[RF_CONV_TAPS], at[RF_CONV_TAPS];
  rf_index lanes = c.kernel->lanes, pixels = c.kernel->pixels, plane = s->height_out * s->width_out;
  for (rf_index k = 0; k < taps; k++)
    offset[k] = k / s->kernel_w * c.wide + k % s->kernel_w, at[k] = k * c.out;
  RfConvTaps list = {taps, s->channels_in, c.high * c.wide, taps * c.out, s->stride, offset, at};
  NAME(conv_pack)(&c, pass->theta + layer->offset);
  for (rf_index i = 0; i < rows; i++) {
    NAME(border)
    (c.source, A + i * layer->inputs, s->channels_in, s->height, s->width, c.high, c.wide, s->padding,
     s->padding);
    for (rf_index from = 0; from < c.out; from += 2 * lanes) {
      int vectors = c.out - from > lanes ? 2 : 1;
      rf_index left = s->channels_out - from, channels = left < 2 * lanes ? left : 2 * lanes;
      for (rf_index r = 0; r < s->height_out; r++)
        for (rf_index q = 0; q < s->width_out; q += pixels) {
          rf_index some = s->width_out - q < pixels ? s->width_out - q : pixels;
          c.kernel->correlate(c.tile, c.source + r * s->stride * c.wide + q * s->stride, c.weights + from,
                              &list, vectors);
          NAME(scatter)
          (Z + i * layer->outputs + from * plane + r * s->width_out + q, c.tile, channels, plane, some, 1,
           lanes);
        }
    }
  }
}

/* gradient += sum over pixels of G and the source, from packed sums. */
static void NAME(conv_accumulate)(NAME(RfPass) * pass, REAL *gradient, const REAL *G, const REAL *A,
                                  const RfLayer *layer, rf_index rows) {
  const RfConvShape *s = &layer->conv;
  NAME(Conv) c = NAME(conv_begin)(pass, s);
  rf_index taps = s->kernel_h * s->kernel_w, offset[RF_CONV_TAPS], plane = s->height_out * s->width_out;
  rf_index lanes = c.kernel->lanes, tiles = (taps + c.kernel->taps - 1) / c.kernel->taps;
  RfConvPixels list = {s->height_out, s->width_out, c.out, s->stride * c.wide, s->stride};
  for (rf_index k = 0; k < taps; k++) offset[k] = k / s->kernel_w * c.wide + k % s->kernel_w;
  memset(c.gradient, 0, (size_t)(taps * s->channels_in * c.out) * sizeof(REAL));
  memset(c.turned, 0, (size_t)(plane * c.out) * sizeof(REAL));
  for (rf_index i = 0; i < rows; i++) {
    NAME(border)
    (c.source, A + i * layer->inputs, s->channels_in, s->height, s->width, c.high, c.wide, s->padding,
     s->padding);
    const REAL *g = G + i * layer->outputs;
    for (rf_index first = 0; first < plane; first += 8) /* a few pixels at a time stay in cache */
      for (rf_index a = 0; a < s->channels_out; a++)
        for (rf_index p = first; p < first + 8 && p < plane; p++) c.turned[p * c.out + a] = g[a * plane + p];
    for (rf_index from = 0; from < c.out; from += 2 * lanes)
      for (rf_index b = 0; b < s->channels_in; b++)
        for (rf_index t = 0; t < tiles; t++) {
          rf_index k = t * taps / tiles, end = (t + 1) * taps / tiles;
          c.kernel->collect(c.gradient + (b * taps + k) * c.out + from, c.source + b * c.high * c.wide,
                            c.turned + from, offset + k, (int)(end - k), list, c.out - from > lanes ? 2 : 1);
        }
  }
  for (rf_index a = 0; a < s->channels_out; a++)
    for (rf_index k = 0; k < taps * s->channels_in; k++)
      gradient[a * taps * s->channels_in + k] += c.gradient[k * c.out + a];
}

/* Taps that reach an input row (or column) of this phase: kernel index = phase modulo the stride. Pixel
 * (row, column) of the input, shifted by the padding, gets G at ((row - kr)/stride, (column - kq)/stride). */
static rf_index NAME(reaching)(rf_index *offset, rf_index *at, const NAME(Conv) * c, rf_index row,
                               rf_index column) {
  const RfConvShape *s = c->s;
  rf_index count = 0;
  for (rf_index kr = row % s->stride; kr < s->kernel_h; kr += s->stride)
    for (rf_index kq = column % s->stride; kq < s->kernel_w; kq += s->stride) {
      /* row - kr is a multiple of the stride and may be negative: the border holds it */
      rf_index r = (row - kr) / s->stride + s->kernel_h, q = (column - kq) / s->stride + s->kernel_w;
      offset[count] = r * c->broad + q;
      at[count++] = (kr * s->kernel_w + kq) * c->in;
    }
  return count;
}

static void NAME(conv_back_row)(const NAME(Conv) * c, REAL *H, rf_index row) {
  const RfConvShape *s = c->s;
  rf_index offset[RF_CONV_TAPS], at[RF_CONV_TAPS], lanes = c->kernel->lanes, plane = s->height * s->width;
  RfConvTaps list = {0, s->channels_out, c->tall * c->broad, s->kernel_h * s->kernel_w * c->in, 1, offset,
                     at};
  for (rf_index phase = 0; phase < s->stride && phase < s->width; phase++)
    for (rf_index q = phase; q < s->width; q += c->kernel->pixels * s->stride) {
      rf_index left = (s->width - q + s->stride - 1) / s->stride,
               some = left < c->kernel->pixels ? left : c->kernel->pixels;
      list.count = NAME(reaching)(offset, at, c, row + s->padding, q + s->padding);
      for (rf_index from = 0; from < c->in; from += 2 * lanes) {
        rf_index rest = s->channels_in - from;
        c->kernel->correlate(c->tile, c->slopes, c->weights + from, &list, c->in - from > lanes ? 2 : 1);
        NAME(scatter)
        (H + from * plane + row * s->width + q, c->tile, rest < 2 * lanes ? rest : 2 * lanes, plane, some,
         s->stride, lanes);
      }
    }
}

static void NAME(conv_pull_back)(NAME(RfPass) * pass, REAL *H, const REAL *G, const RfLayer *layer,
                                 rf_index rows) {
  const RfConvShape *s = &layer->conv;
  NAME(Conv) c = NAME(conv_begin)(pass, s);
  rf_index taps = s->kernel_h * s->kernel_w;
  const REAL *w = pass->theta + layer->offset;
  memset(c.weights, 0, (size_t)(taps * s->channels_out * c.in) * sizeof(REAL));
  for (rf_index a = 0; a < s->channels_out; a++)
    for (rf_index b = 0; b < s->channels_in; b++)
      for (rf_index k = 0; k < taps; k++)
        c.weights[(a * taps + k) * c.in + b] = w[(a * s->channels_in + b) * taps + k];
  for (rf_index i = 0; i < rows; i++) {
    NAME(border)
    (c.slopes, G + i * layer->outputs, s->channels_out, s->height_out, s->width_out, c.tall, c.broad,
     s->kernel_h, s->kernel_w);
    for (rf_index row = 0; row < s->height; row++) NAME(conv_back_row)(&c, H + i * layer->inputs, row);
  }
}

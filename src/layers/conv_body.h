/* The two kernels of conv.h for one number type and one kind of vectors: include after one of the vector_*.h.
 */

#define INLINE TARGET static inline __attribute__((always_inline))

INLINE void NAME(correlate_tile)(REAL *tile, const REAL *source, const REAL *weights, const RfConvTaps *taps,
                                 const int V) {
  VEC sum[TILE_PIXELS][2];
  rf_index step = taps->step;
  for (int t = 0; t < TILE_PIXELS; t++)
    for (int v = 0; v < V; v++) sum[t][v] = ZERO();
  for (rf_index b = 0; b < taps->channels; b++) {
    const REAL *plane = source + b * taps->plane, *channel = weights + b * taps->channel;
    for (rf_index k = 0; k < taps->count; k++) {
      const REAL *x = plane + taps->offset[k], *at = channel + taps->at[k];
      VEC w[2];
      for (int v = 0; v < V; v++) w[v] = LOAD(at + v * LANES);
      for (int t = 0; t < TILE_PIXELS; t++) {
        VEC pixel = SPREAD(x[t * step]);
        for (int v = 0; v < V; v++) sum[t][v] = FMA(pixel, w[v], sum[t][v]);
      }
    }
  }
  for (int t = 0; t < TILE_PIXELS; t++)
    for (int v = 0; v < V; v++) STORE(tile + (2 * t + v) * LANES, sum[t][v]);
}

TARGET static void NAME(conv_correlate)(REAL *tile, const REAL *source, const REAL *weights,
                                        const RfConvTaps *taps, int vectors) {
  if (vectors > 1)
    NAME(correlate_tile)(tile, source, weights, taps, 2);
  else
    NAME(correlate_tile)(tile, source, weights, taps, 1);
}

INLINE void NAME(collect_tile)(REAL *out, const REAL *source, const REAL *G, const rf_index *offset,
                               RfConvPixels p, const int J, const int V) {
  VEC sum[TILE_TAPS][2];
  const REAL *tap[TILE_TAPS];
  for (int j = 0; j < J; j++) {
    tap[j] = source + offset[j];
    for (int v = 0; v < V; v++) sum[j][v] = LOAD(out + j * p.padded + v * LANES);
  }
  for (rf_index r = 0; r < p.rows; r++)
    for (rf_index q = 0; q < p.cols; q++) {
      const REAL *g = G + (r * p.cols + q) * p.padded;
      rf_index at = r * p.line + q * p.step;
      VEC slope[2];
      for (int v = 0; v < V; v++) slope[v] = LOAD(g + v * LANES);
      for (int j = 0; j < J; j++) {
        VEC x = SPREAD(tap[j][at]);
        for (int v = 0; v < V; v++) sum[j][v] = FMA(x, slope[v], sum[j][v]);
      }
    }
  for (int j = 0; j < J; j++)
    for (int v = 0; v < V; v++) STORE(out + j * p.padded + v * LANES, sum[j][v]);
}

TARGET static void NAME(conv_collect)(REAL *out, const REAL *source, const REAL *G, const rf_index *offset,
                                      int count, RfConvPixels p, int vectors) {
#define TAPS(j)                                                                                              \
  case j:                                                                                                    \
    if (vectors > 1)                                                                                         \
      NAME(collect_tile)(out, source, G, offset, p, (j) < TILE_TAPS ? (j) : TILE_TAPS, 2);                   \
    else                                                                                                     \
      NAME(collect_tile)(out, source, G, offset, p, (j) < TILE_TAPS ? (j) : TILE_TAPS, 1);                   \
    break;
  switch (count) { TAPS(1) TAPS(2) TAPS(3) TAPS(4) TAPS(5) TAPS(6) TAPS(7) TAPS(8) TAPS(9) }
#undef TAPS
}

static const KERNEL NAME(conv_kernel) = {TILE_PIXELS, LANES, TILE_TAPS, NAME(conv_correlate),
                                         NAME(conv_collect)};
#undef INLINE

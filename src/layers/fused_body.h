/* The kernel for one number type and one kind of vectors: include after one of the vector_*.h. TILE_ROWS and
 * TILE_VECS say how many samples and vectors of neurons (or inputs and vectors) a tile of accumulators holds.
 *
 * A tile is written for constant sizes and inlined once per size, so that its accumulators are registers. */

#define INLINE TARGET static inline __attribute__((always_inline))

/* Z = X WT for TILE_ROWS samples and V vectors of neurons; H = phi(Z); partial sums of a phi(Z) in F. */
INLINE void NAME(forward_tile)(VEC *F, REAL *H, const REAL *X, const REAL *WT, const REAL *a, REAL leak,
                               RfFusedShape shape, const int V) {
  VEC z[TILE_ROWS][TILE_VECS];
  for (int i = 0; i < TILE_ROWS; i++)
    for (int v = 0; v < V; v++) z[i][v] = ZERO();
  for (rf_index j = 0; j < shape.inputs; j++) {
    VEC w[TILE_VECS];
    for (int v = 0; v < V; v++) w[v] = LOAD(WT + j * shape.padded + v * LANES);
    for (int i = 0; i < TILE_ROWS; i++) {
      VEC x = SPREAD(X[i * shape.inputs + j]);
      for (int v = 0; v < V; v++) z[i][v] = FMA(x, w[v], z[i][v]);
    }
  }
  VEC low = SPREAD(leak);
  for (int i = 0; i < TILE_ROWS; i++)
    for (int v = 0; v < V; v++) {
      VEC h = MAX(z[i][v], MUL(low, z[i][v]));
      STORE(H + i * shape.padded + v * LANES, h);
      F[i] = FMA(h, LOAD(a + v * LANES), F[i]);
    }
}

/* GT += X^T H for J inputs and V vectors of neurons, over the whole block. */
INLINE void NAME(backward_tile)(REAL *GT, const REAL *H, const REAL *X, RfFusedShape shape, const int J,
                                const int V) {
  VEC g[TILE_ROWS][TILE_VECS];
  for (int j = 0; j < J; j++)
    for (int v = 0; v < V; v++) g[j][v] = LOAD(GT + j * shape.padded + v * LANES);
  for (rf_index i = 0; i < RF_FUSED_ROWS; i++) {
    VEC h[TILE_VECS];
    for (int v = 0; v < V; v++) h[v] = LOAD(H + i * shape.padded + v * LANES);
    for (int j = 0; j < J; j++) {
      VEC x = SPREAD(X[i * shape.inputs + j]);
      for (int v = 0; v < V; v++) g[j][v] = FMA(x, h[v], g[j][v]);
    }
  }
  for (int j = 0; j < J; j++)
    for (int v = 0; v < V; v++) STORE(GT + j * shape.padded + v * LANES, g[j][v]);
}

TARGET static void NAME(backward_piece)(REAL *GT, const REAL *H, const REAL *X, RfFusedShape shape, int J,
                                        int V) {
#define PIECE(j, v)                                                                                          \
  case (j)*8 + (v):                                                                                          \
    if ((j) <= TILE_ROWS && (v) <= TILE_VECS) NAME(backward_tile)                                            \
    (GT, H, X, shape, (j) < TILE_ROWS ? (j) : TILE_ROWS, (v) < TILE_VECS ? (v) : TILE_VECS);                 \
    break;
#define PIECES(j) PIECE(j, 1) PIECE(j, 2) PIECE(j, 3) PIECE(j, 4)
  switch (J * 8 + V) { PIECES(1) PIECES(2) PIECES(3) PIECES(4) PIECES(5) PIECES(6) }
#undef PIECES
#undef PIECE
}

TARGET static void NAME(forward_piece)(VEC *F, REAL *H, const REAL *X, const REAL *WT, const REAL *a,
                                       REAL leak, RfFusedShape shape, int V) {
  switch (V) {
  case 1: NAME(forward_tile)(F, H, X, WT, a, leak, shape, 1); break;
  case 2: NAME(forward_tile)(F, H, X, WT, a, leak, shape, 2); break;
  /* NOLINTNEXTLINE(bugprone-branch-clone): a constant each, for the compiler to unroll */
  case 3: NAME(forward_tile)(F, H, X, WT, a, leak, shape, 3); break;
  default: NAME(forward_tile)(F, H, X, WT, a, leak, shape, TILE_VECS); break;
  }
}

/* Tile t of `tiles` covers [t count / tiles, (t+1) count / tiles): sizes differ by one at most. */
TARGET static void NAME(fused_forward)(REAL *F, REAL *H, const REAL *X, const REAL *WT, const REAL *a,
                                       REAL leak, RfFusedShape shape) {
  rf_index vectors = shape.padded / LANES, tiles = (vectors + TILE_VECS - 1) / TILE_VECS;
  for (rf_index i = 0; i < RF_FUSED_ROWS; i += TILE_ROWS) {
    VEC sums[TILE_ROWS];
    for (int s = 0; s < TILE_ROWS; s++) sums[s] = ZERO();
    for (rf_index t = 0; t < tiles; t++) {
      rf_index from = t * vectors / tiles, end = (t + 1) * vectors / tiles;
      NAME(forward_piece)
      (sums, H + i * shape.padded + from * LANES, X + i * shape.inputs, WT + from * LANES, a + from * LANES,
       leak, shape, (int)(end - from));
    }
    for (int s = 0; s < TILE_ROWS; s++) F[i + s] = SUM(sums[s]);
  }
}

TARGET static void NAME(fused_backward)(REAL *GT, REAL *H, const REAL *X, const REAL *r, REAL leak,
                                        RfFusedShape shape) {
  for (rf_index i = 0; i < RF_FUSED_ROWS; i++) {
    REAL *h = H + i * shape.padded;
    VEC up = SPREAD(r[i]), low = SPREAD(leak * r[i]);
    for (rf_index k = 0; k < shape.padded; k += LANES) {
      VEC old = LOAD(h + k);
      STORE(h + k, STEP(old, up, low));
    }
  }
  rf_index vectors = shape.padded / LANES, tiles = (vectors + TILE_VECS - 1) / TILE_VECS;
  rf_index bands = (shape.inputs + TILE_ROWS - 1) / TILE_ROWS;
  for (rf_index t = 0; t < tiles; t++) {
    rf_index from = t * vectors / tiles, end = (t + 1) * vectors / tiles;
    for (rf_index b = 0; b < bands; b++) {
      rf_index first = b * shape.inputs / bands, last = (b + 1) * shape.inputs / bands;
      NAME(backward_piece)
      (GT + first * shape.padded + from * LANES, H + from * LANES, X + first, shape, (int)(last - first),
       (int)(end - from));
    }
  }
}

#undef INLINE

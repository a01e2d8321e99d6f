/* Convolutions without unfolded patches, on processors with wide vectors: vectors run over channels, a tile
 * of accumulators covers some pixels of a row. Sources are copied once into planes with a border of zeros, so
 * that no pixel needs a test. One sample at a time; the same bits for any number of threads. */
#ifndef RF_LAYERS_CONV_H
#define RF_LAYERS_CONV_H

#include "layers/layers.h"

/* Sum over channels and taps at some pixels of one row: tile[t][lane] = sum over b, k of
 * source[b*plane + offset[k] + t*step] * weights[b*channel + at[k] + lane], t < pixels, lane < vectors*LANES;
 * tile has rows of 2*LANES. */
typedef struct RfConvTaps {
  rf_index count, channels, plane, channel, step;
  const rf_index *offset, *at;
} RfConvTaps;

/* Where the weight gradient comes from: G holds rows x cols pixels of `padded` channels each, the source
 * pixel of (r, q) is source[offset[k] + r*line + q*step]. */
typedef struct RfConvPixels {
  rf_index rows, cols, padded, line, step;
} RfConvPixels;

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names */
#define RF_CONV_KERNEL(REAL, NAME)                                                                           \
  typedef struct NAME {                                                                                      \
    rf_index pixels, lanes, taps; /* of a tile */                                                            \
    void (*correlate)(REAL * tile, const REAL *source, const REAL *weights, const RfConvTaps *taps,          \
                      int vectors);                                                                          \
    /* out[k*padded + lane] += sum over pixels of source pixel * G, for `count` <= taps offsets. */          \
    void (*collect)(REAL * out, const REAL *source, const REAL *G, const rf_index *offset, int count,        \
                    RfConvPixels pixels, int vectors);                                                       \
  } NAME;
RF_CONV_KERNEL(double, RfConvKernel_double)
RF_CONV_KERNEL(float, RfConvKernel_float)
#undef RF_CONV_KERNEL
/* NOLINTEND(bugprone-macro-parentheses) */

/* The kernel of this processor; NULL where there is none. */
const RfConvKernel_double *rf_conv_kernel_double(void);
const RfConvKernel_float *rf_conv_kernel_float(void);

/* Largest kernel that is done this way, in taps. */
enum { RF_CONV_TAPS = 64, RF_CONV_LANES = 16, RF_CONV_PIXELS = 8 };

bool rf_conv_suits(const RfConvShape *shape);
/* Numbers of scratch memory for one convolution. */
rf_index rf_conv_room(const RfConvShape *shape);

#endif

/* layers: layered networks, as a list of layers over one flat parameter vector.
 *
 *   z_1 = L_1(x),   z_l = L_l(phi(z_{l-1})) + [residual] z_{l-1},   f(x) = z_D,   phi(z) = max(z, leak z)
 *
 * where L_l is linear in its input and in its own parameters u^(l): dense, diagonal, convolutional, or an
 * arbitrary sharing pattern (Vardi, Shamir, Srebro: every matrix entry is zero or one coordinate of u^(l)).
 * Without residual connections f is homogeneous of degree D in theta = (u^(1), ..., u^(D)). phi'(0) = leak.
 *
 * Ownership: a network owns its layers and theta (rf_layers_free); rf_layers_weights points into theta.
 *
 * Threads: calls with different contexts may run at the same time; a network may be read by several. Results
 * do not depend on context->threads. */
#ifndef RELUFLOW_LAYERS_H
#define RELUFLOW_LAYERS_H

#include "reluflow/core.h"
#include "reluflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RfLayerKind {
  RF_LAYER_DENSE = 0,    /* W: outputs rows of inputs */
  RF_LAYER_DIAGONAL = 1, /* w: one weight per coordinate, outputs = inputs */
  RF_LAYER_CONV =
      2, /* filters [channels_out][channels_in][kernel_h][kernel_w], features [channel][row][column] */
  RF_LAYER_SHARED = 3 /* entry (o,i) of the matrix is parameter pattern[o*inputs+i], or 0 where that is -1 */
} RfLayerKind;

typedef struct RfConvShape {
  rf_index channels_in, height, width; /* of the input */
  rf_index channels_out, kernel_h, kernel_w, stride, padding;
  rf_index height_out,
      width_out; /* (height + 2 padding - kernel_h)/stride + 1, likewise; filled in by rf_layers_add_conv */
} RfConvShape;

typedef struct RfLayer {
  RfLayerKind kind;
  rf_index inputs, outputs; /* flattened sizes */
  rf_index parameters;      /* length of u^(l) */
  rf_index offset;          /* of u^(l) in theta */
  RfConvShape conv;         /* RF_LAYER_CONV only */
  int32_t *pattern;         /* RF_LAYER_SHARED only: outputs x inputs */
  bool residual;            /* adds its input z_{l-1}; needs inputs == outputs and l >= 2 */
  bool fixed;               /* not trained */
} RfLayer;

typedef struct RfLayeredNet {
  rf_index n_layers, n_parameters;
  RfLayer *layers;
  double *theta; /* n_parameters, layer by layer, each layer row-major */
  double leak;   /* 0 ReLU, 1 linear */
} RfLayeredNet;

/* ---- building: start empty, then add layers from the input to the output ------------------- */

RF_API RfStatus rf_layers_new(RfContext *context, RfLayeredNet *net, double leak);
RF_API void rf_layers_free(RfLayeredNet *net);
RF_API RfStatus rf_layers_copy(RfContext *context, RfLayeredNet *out, const RfLayeredNet *net);
/* Each adds one layer with zero weights. inputs must equal the outputs of the layer before. */
RF_API RfStatus rf_layers_add_dense(RfContext *context, RfLayeredNet *net, rf_index inputs, rf_index outputs);
RF_API RfStatus rf_layers_add_diagonal(RfContext *context, RfLayeredNet *net, rf_index inputs);
RF_API RfStatus rf_layers_add_conv(RfContext *context, RfLayeredNet *net, RfConvShape shape);
/* pattern is copied; its largest entry + 1 is the number of parameters, all of which must be used. */
RF_API RfStatus rf_layers_add_shared(RfContext *context, RfLayeredNet *net, const int32_t *pattern,
                                     rf_index inputs, rf_index outputs);
/* Makes the last layer residual. */
RF_API RfStatus rf_layers_set_residual(RfContext *context, RfLayeredNet *net);

/* ---- what a network is --------------------------------------------------------------------- */

/* D without residual connections; 0 when f is not homogeneous in theta. */
RF_API rf_index rf_layers_homogeneity(const RfLayeredNet *net);
RF_API double *rf_layers_weights(const RfLayeredNet *net, rf_index layer);

/* "dense", "diagonal", "conv", "shared". */
RF_API const char *rf_layers_kind_name(RfLayerKind kind);

/* Every weight uniform in +-spread/sqrt(fan-in), fan-in = inputs that one output of the layer reads; the same
 * seed gives the same weights. */
RF_API void rf_layers_init(RfLayeredNet *net, uint64_t seed, double spread);

/* ---- files --------------------------------------------------------------------------------- */

/* JSON, described in docs/data.md. *weighted is false when the file gives shapes only: then the weights are
 * zero. Refusals name the member: "x.json: layers[1].weights: expected 6 finite numbers". */
RF_API RfStatus rf_layers_parse(RfContext *context, RfLayeredNet *net, bool *weighted, const char *name,
                                const void *bytes, size_t size);
/* As rf_layers_parse, from a file. *layered is false, and net empty, when the file is not JSON with a member
 * "layers" and without "W": then it may be one for rf_net_load. */
RF_API RfStatus rf_layers_load(RfContext *context, RfLayeredNet *net, bool *layered, bool *weighted,
                               const char *path);
/* Beside, then renamed. Reading gives the same bits again. */
RF_API RfStatus rf_layers_save(RfContext *context, const RfLayeredNet *net, const char *path);

/* ---- evaluation ---------------------------------------------------------------------------- */

/* out: n rows of outputs. hidden (may be NULL): n rows of all hidden pre-activations z_1, ..., z_{D-1}. */
RF_API RfStatus rf_layers_evaluate(RfContext *context, double *out, double *hidden, const RfLayeredNet *net,
                                   const double *X, rf_index n);
/* gradient (n_parameters) = sum_i sum_o weights[i][o] d f_o(x_i)/d theta; zero on fixed layers. out (n rows
 * of outputs) may be NULL. Uses context->threads; the result does not depend on their number. */
RF_API RfStatus rf_layers_gradient(RfContext *context, double *gradient, double *out, const RfLayeredNet *net,
                                   const double *X, const double *weights, rf_index n);

/* In which numbers a network is trained. */
typedef enum RfPrecision { RF_DOUBLE = 0, RF_FLOAT = 1 } RfPrecision;

#ifdef __cplusplus
}
#endif
#endif

/* One forward and backward pass over a block of samples, in double and in float. Internal to layers and
 * train's twin. */
#ifndef RF_LAYERS_PASS_H
#define RF_LAYERS_PASS_H

#include "reluflow/layers.h"

/* Samples per block: large enough for the matrix kernels, small enough for the features to stay in cache. */
enum { rf_pass_block = 64 };

typedef struct RfPass {
  const RfLayeredNet *net;
  double **z;         /* z[l]: block rows of outputs of layer l */
  double **input;     /* input[l]: block rows of phi(z[l-1]); NULL for l = 0, which reads X itself */
  double *g, *g_next; /* sensitivities d/dz of the current layer and of the one before */
  double *columns;    /* unfolded patches of one sample (convolutions) */
} RfPass;

RfStatus rf_pass_new(RfContext *context, RfPass *pass, const RfLayeredNet *net);
void rf_pass_free(RfPass *pass);
/* Fills z and input for `rows` samples (<= rf_pass_block); the outputs are pass->z[n_layers-1]. */
void rf_pass_forward(RfPass *pass, const double *X, rf_index rows);
/* After rf_pass_forward on the same X: gradient += sum over rows and outputs of weights * df/dtheta, for
 * every layer l with trained[l] (NULL: all). */
void rf_pass_backward(RfPass *pass, double *gradient, const double *X, const double *weights, rf_index rows,
                      bool skip_fixed);

#endif

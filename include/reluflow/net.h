/* net: two-layer networks f(x) = sum_k a_k phi(w_k . x), phi(z) = max(z, leak z), their losses, margins,
 * gradients and activation patterns, and the files they live in.
 *
 * Ownership: a network owns W and a (rf_net_free); names are constants.
 *
 * Threads: calls with different contexts may run at the same time; a network may be read by several. */
#ifndef RELUFLOW_NET_H
#define RELUFLOW_NET_H

#include "reluflow/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RfNet {
  rf_index m, d;
  double *W;   /* m rows of d */
  double *a;   /* m */
  double leak; /* slope for non-positive inputs, 0 = ReLU, 1 = linear */
} RfNet;

RF_API void rf_net_free(RfNet *net);
RF_API RfStatus rf_net_new(RfContext *context, RfNet *net, rf_index m, rf_index d, double leak);
RF_API RfStatus rf_net_copy(RfContext *context, RfNet *out, const RfNet *net);

/* Outputs f(x_i), i < n. */
RF_API RfStatus rf_net_outputs(RfContext *context, double *out, const RfNet *net, const double *X,
                               rf_index n);
/* |theta|^2 = |W|_F^2 + |a|^2. */
RF_API double rf_net_norm2(const RfNet *net);
/* min_i y_i f(x_i) / |theta|^2; margins (n, may be NULL) receives y_i f(x_i). 0 for the zero network. */
RF_API RfStatus rf_net_margin(RfContext *context, double *margin, double *margins, const RfNet *net,
                              const double *X, const double *y, rf_index n);

/* ---- files ----------------------------------------------------------------------------------- */

/* .npz and .json with W (m x d), a (m) and leak (0 when absent), or .safetensors with the two weights of a
 * PyTorch state dict; other endings by the first bytes, "-" is standard input. map,
 * "fc1.weight=W,fc2.weight=a", names the arrays; NULL: W and a, for .safetensors by shape. Biases other than
 * zero are refused. *leak_stated (may be NULL) tells whether the file says what the leak is. */
RF_API RfStatus rf_net_load(RfContext *context, RfNet *net, bool *leak_stated, const char *path,
                            const char *map);
/* The same from bytes in memory (not compressed), format by the ending of `name` or by the first bytes. */
RF_API RfStatus rf_net_parse(RfContext *context, RfNet *net, bool *leak_stated, const char *name,
                             const char *map, const void *bytes, size_t size);
/* Writes .npz or .json by ending; beside, then renamed. Reading gives the same bits again. */
RF_API RfStatus rf_net_save(RfContext *context, const RfNet *net, const char *path);

typedef enum RfLoss { RF_LOSS_LOGISTIC = 0, RF_LOSS_LOGISTIC2 = 1, RF_LOSS_EXP = 2 } RfLoss;

RF_API RfStatus rf_loss_from_name(RfContext *context, RfLoss *loss, const char *name);
RF_API const char *rf_loss_name(RfLoss loss);
RF_API double rf_loss_value(RfLoss loss, double q); /* loss(q) */

/* ---- initialisers: networks at scale 1; a scale eps is carried as ln eps --------------------- */

typedef enum RfInit {
  RF_INIT_BALANCED = 0,          /* w uniform on the unit sphere, a = +-1 */
  RF_INIT_BALANCED_GAUSSIAN = 1, /* w ~ N(0, I), a = +-|w| */
  RF_INIT_GAUSSIAN = 2,          /* w ~ N(0, I), a ~ N(0, ca^2) */
  RF_INIT_MMV = 3,               /* w ~ N(0, I/d), a = +-|w| */
  RF_INIT_UNBALANCED = 4,        /* every weight ~ N(0, 1) */
  RF_INIT_XAVIER = 5,            /* uniform, |w_kj| <= sqrt(6/(d+m)), |a_k| <= sqrt(6/(m+1)) */
  RF_INIT_HE = 6                 /* w ~ N(0, 2I/d), a ~ N(0, 2/m) */
} RfInit;

/* balanced, balanced-gaussian, gaussian, mmv, unb (unbalanced), xavier, he. */
RF_API RfStatus rf_init_from_name(RfContext *context, RfInit *init, const char *name);
RF_API const char *rf_init_name(RfInit init);
/* A fresh network of m neurons in dimension d. Neuron k draws from its own stream of the seed: apart from the
 * factors of xavier and he, a wider network contains the narrower one. ca is the spread of a for
 * RF_INIT_GAUSSIAN (1 = as w). */
RF_API RfStatus rf_net_init(RfContext *context, RfNet *net, RfInit init, rf_index m, rf_index d, double leak,
                            uint64_t seed, double ca);

#ifdef __cplusplus
}
#endif
#endif

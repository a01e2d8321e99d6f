/* net: two-layer networks f(x) = sum_k a_k phi(w_k . x), phi(z) = max(z, leak z), their losses, margins,
 * gradients and activation patterns, and the files they live in. */
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

typedef enum RfLoss { RF_LOSS_LOGISTIC = 0, RF_LOSS_LOGISTIC2 = 1, RF_LOSS_EXP = 2 } RfLoss;

RF_API RfStatus rf_loss_from_name(RfContext *context, RfLoss *loss, const char *name);
RF_API const char *rf_loss_name(RfLoss loss);
RF_API double rf_loss_value(RfLoss loss, double q);               /* loss(q) */
RF_API double rf_loss_log_value(RfLoss loss, double q);           /* ln loss(q), right for q = 1e300 */
RF_API double rf_loss_log_slope(RfLoss loss, double q);           /* ln(-loss'(q)) */
RF_API double rf_loss_curvature(RfLoss loss, double q);           /* d/dq ln(-loss'(q)), in [-1,0] */
RF_API double rf_loss_slope_at_zero(RfLoss loss);                 /* b0 = -loss'(0): 1/2, 1, 1 */
RF_API double rf_loss_inverse_log(RfLoss loss, double log_value); /* q with ln loss(q) = log_value */

#ifdef __cplusplus
}
#endif
#endif

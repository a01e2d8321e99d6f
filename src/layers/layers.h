/* layers' door to the other rooms: sizes, the Jacobian, the inner loop of training. */
#ifndef RF_LAYERS_LAYERS_H
#define RF_LAYERS_LAYERS_H

#include "net/net.h"
#include "reluflow/layers.h"

rf_index rf_layers_inputs(const RfLayeredNet *net);
rf_index rf_layers_outputs_count(const RfLayeredNet *net);
/* Number of hidden pre-activations: the sum of outputs of all layers but the last. */
rf_index rf_layers_hidden(const RfLayeredNet *net);
/* The matrix entry (o,i) of a layer as an index into theta, -1 for a structural zero. */
rf_index rf_layers_entry(const RfLayeredNet *net, rf_index layer, rf_index o, rf_index i);
/* The sizes that a file gives: [outputs, inputs], [size] or [out, in, kernel_h, kernel_w]; returns how many.
 */
rf_index rf_layers_shape(rf_index shape[4], const RfLayer *layer);
/* Row i = d f(x_i)/d theta for a network with one output: n rows of n_parameters. Fixed layers included. */
RfStatus rf_layers_jacobian(RfContext *context, double *jacobian, const RfLayeredNet *net, const double *X,
                            rf_index n);
/* As rf_layers_init, from a stream of random numbers that is under way. */
void rf_layers_init_uniform(RfLayeredNet *net, RfRandom *random, double spread);

/* ---- the inner loop of training -------------------------------------------------------------- */

/* Memory for repeated gradients of one network shape, in double or in float. */
typedef struct RfLossWork RfLossWork;

RfStatus rf_layers_loss_work_new(RfContext *context, RfLossWork **work, const RfLayeredNet *net,
                                 RfPrecision precision, rf_index most_rows);
void rf_layers_loss_work_free(RfLossWork *work);
/* For a network with one output, the shapes of net and the weights theta:
 *   q_i = y_i f(x_i),   gradient = e^{-shift} d/dtheta sum_i loss(q_i)
 * over n <= most_rows samples, zero on fixed layers. shift keeps late gradients from underflowing (use the
 * logarithm of the loss; 0 otherwise). Allocates nothing. Uses context->threads; the bits do not depend on
 * their number. */
void rf_layers_loss_gradient(const RfContext *context, RfLossWork *work, double *gradient, double *q,
                             const double *theta, const double *X, const double *y, RfLoss loss, double shift,
                             rf_index n);
void rf_layers_loss_gradient_float(const RfContext *context, RfLossWork *work, float *gradient, float *q,
                                   const float *theta, const float *X, const float *y, RfLoss loss,
                                   double shift, rf_index n);

#endif

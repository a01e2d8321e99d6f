/* Two-layer networks as layered networks and back: theta = (W row by row, a). */
#include <string.h>

#include "reluflow/train.h"
#include "core/core.h"

RfStatus rf_train_from_net(RfContext *context, RfLayeredNet *out, const RfNet *net) {
  RfStatus status = rf_layers_new(context, out, net->leak);
  if (!status) status = rf_layers_add_dense(context, out, net->d, net->m);
  if (!status) status = rf_layers_add_dense(context, out, net->m, 1);
  if (status) {
    rf_layers_free(out);
    return status;
  }
  memcpy(out->theta, net->W, (size_t)(net->m * net->d) * sizeof(double));
  memcpy(out->theta + net->m * net->d, net->a, (size_t)net->m * sizeof(double));
  return RF_OK;
}

RfStatus rf_train_to_net(RfContext *context, RfNet *out, const RfLayeredNet *net) {
  bool two_dense = net->n_layers == 2 && net->layers[0].kind == RF_LAYER_DENSE &&
                   net->layers[1].kind == RF_LAYER_DENSE && net->layers[1].outputs == 1 &&
                   !net->layers[1].residual;
  if (!two_dense)
    return rf_fail(context, RF_ERR_USAGE, "only two dense layers with one output make a two-layer network");
  RfStatus status = rf_net_new(context, out, net->layers[0].outputs, net->layers[0].inputs, net->leak);
  if (status) return status;
  memcpy(out->W, net->theta, (size_t)(out->m * out->d) * sizeof(double));
  memcpy(out->a, net->theta + out->m * out->d, (size_t)out->m * sizeof(double));
  return RF_OK;
}

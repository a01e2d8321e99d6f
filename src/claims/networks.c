/* Networks and data that several claims share. */
#include <math.h>
#include <string.h>

#include "claims_internal.h"
#include "networks.h"

RfStatus rf_claim_dense(RfContext *context, RfLayeredNet *net, const rf_index *widths, rf_index depth,
                        double leak) {
  RfStatus status = rf_layers_new(context, net, leak);
  for (rf_index l = 0; l < depth && !status; l++)
    status = rf_layers_add_dense(context, net, widths[l], widths[l + 1]);
  if (status) rf_layers_free(net);
  return status;
}

RfStatus rf_claim_diagonal(RfContext *context, RfLayeredNet *net, rf_index d, rf_index depth, double leak) {
  RfStatus status = rf_layers_new(context, net, leak);
  for (rf_index l = 0; l + 1 < depth && !status; l++) status = rf_layers_add_diagonal(context, net, d);
  if (!status) status = rf_layers_add_dense(context, net, d, 1);
  if (status) rf_layers_free(net);
  return status;
}

RfStatus rf_claim_two_patches(RfContext *context, RfLayeredNet *net, double leak) {
  const int32_t filter[] = {0, 1, -1, -1, -1, -1, 0, 1};
  RfStatus status = rf_layers_new(context, net, leak);
  if (!status) status = rf_layers_add_shared(context, net, filter, 4, 2);
  if (!status) status = rf_layers_add_dense(context, net, 2, 1);
  if (status) rf_layers_free(net);
  return status;
}

void rf_claim_gaussian_weights(RfRandom *random, RfLayeredNet *net, double spread) {
  for (rf_index p = 0; p < net->n_parameters; p++) net->theta[p] = spread * rf_random_gaussian(random);
}

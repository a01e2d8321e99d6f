/* Networks and data that several claims share. */
#include <math.h>
#include <string.h>

#include "kit/claims_internal.h"
#include "kit/networks.h"
#include "kit/setting.h"
#include "la/la.h"

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

void rf_claim_separable(RfRandom *random, double *X, double *y, rf_index n, rf_index d) {
  double v[16];
  rf_random_direction(random, v, d);
  for (rf_index i = 0; i < n; i++) {
    double along;
    do {
      for (rf_index j = 0; j < d; j++) X[i * d + j] = rf_random_gaussian(random);
      along = rf_la_dot(X + i * d, v, d);
    } while (fabs(along) < 0.3);
    y[i] = along > 0 ? 1 : -1;
  }
}

RfStatus rf_claim_limit(RfClaimRun *run, RfFlowResult *flow, const RfNet *start, const double *X,
                        const double *y, rf_index n, RfLoss loss) {
  RfFlowStart from = {0};
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false;
  memset(flow, 0, sizeof *flow);
  RfStatus status = rf_flow_start_from_net(run->context, &from, start);
  RfFlowProblem problem = {
      .X = X, .y = y, .n = n, .d = start->d, .leak = start->leak, .loss = loss, .start = &from};
  if (!status) status = rf_claim_run_flow(run, flow, &problem, &settings);
  rf_flow_start_free(&from);
  if (status) rf_flow_result_free(flow);
  return status;
}

RfStatus rf_claim_layered_limit(RfClaimRun *run, RfLayeredLimit *limit, const RfLayeredNet *start,
                                const double *X, const double *y, rf_index n, RfLoss loss) {
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.check_direction = false;
  RfStatus status = rf_flow_run_layered(run->context, limit, start, X, y, n, loss, false, &settings);
  rf_claim_count_flow(run, status);
  return status > 0 && status != RF_INTERRUPTED ? RF_OK : status;
}

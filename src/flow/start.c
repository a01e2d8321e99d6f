/* Where the flow starts: networks as unit directions and log-norms. */
#include <math.h>
#include <string.h>

#include "flow/flow.h"
#include "la/la.h"

void rf_flow_start_free(RfFlowStart *start) {
  if (!start) return;
  rf_free(start->directions);
  rf_free(start->log_norms);
  memset(start, 0, sizeof *start);
}

RfStatus rf_flow_start_new(RfContext *context, RfFlowStart *start, rf_index m, rf_index d) {
  rf_index entries;
  memset(start, 0, sizeof *start);
  if (m < 0 || d < 0) return rf_fail(context, RF_ERR_USAGE, "a start needs a width and a dimension >= 0");
  start->m = m, start->d = d;
  if (rf_multiply_sizes(&entries, m, d + 1)) start->directions = RF_NEW(double, entries);
  start->log_norms = RF_NEW(double, m);
  if (start->directions && start->log_norms) return RF_OK;
  rf_flow_start_free(start);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a start of width %lld", (long long)m);
}

RfStatus rf_flow_start_from_net(RfContext *context, RfFlowStart *start, const RfNet *net) {
  rf_index d = net->d;
  RfStatus status = rf_flow_start_new(context, start, net->m, d);
  for (rf_index k = 0; !status && k < net->m; k++) {
    double *v = start->directions + k * (d + 1);
    if (d > 0) memcpy(v, net->W + k * d, (size_t)d * sizeof(double));
    v[d] = net->a[k];
    double largest = rf_la_max_abs(v, d + 1);
    if (!isfinite(largest)) {
      rf_flow_start_free(start);
      return rf_fail(context, RF_ERR_USAGE, "weights of neuron %lld are not finite", (long long)k);
    }
    if (largest > 0) { /* by a power of two first, so that tiny and huge weights keep all their bits */
      int exponent;
      frexp(largest, &exponent);
      for (rf_index j = 0; j <= d; j++) v[j] = ldexp(v[j], -exponent);
      double norm = rf_la_norm(v, d + 1);
      rf_la_scale(v, 1 / norm, d + 1);
      start->log_norms[k] = log(norm) + exponent * log(2);
    } else {
      start->log_norms[k] = -INFINITY;
    }
  }
  return status;
}

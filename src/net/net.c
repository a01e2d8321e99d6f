/* Two-layer networks: storage, outputs, norm and normalised margin. */
#include "net/net.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

void rf_net_free(RfNet *net) {
  if (!net) return;
  rf_free(net->W);
  rf_free(net->a);
  memset(net, 0, sizeof *net);
}

RfStatus rf_net_new(RfContext *context, RfNet *net, rf_index m, rf_index d, double leak) {
  rf_index entries;
  memset(net, 0, sizeof *net);
  if (m < 0 || d < 0) return rf_fail(context, RF_ERR_USAGE, "a network needs a width and a dimension >= 0");
  if (!(leak >= 0 && leak <= 1)) return rf_fail(context, RF_ERR_USAGE, "leak must lie in [0,1]");
  net->m = m, net->d = d, net->leak = leak;
  if (rf_multiply_sizes(&entries, m, d)) net->W = RF_NEW(double, entries);
  net->a = RF_NEW(double, m);
  if (net->W && net->a) return RF_OK;
  rf_net_free(net);
  return rf_fail(context, RF_ERR_MEMORY, "out of memory for a network of width %lld", (long long)m);
}

RfStatus rf_net_copy(RfContext *context, RfNet *out, const RfNet *net) {
  RfStatus status = rf_net_new(context, out, net->m, net->d, net->leak);
  if (status) return status;
  if (net->m > 0 && net->d > 0) memcpy(out->W, net->W, (size_t)(net->m * net->d) * sizeof(double));
  if (net->m > 0) memcpy(out->a, net->a, (size_t)net->m * sizeof(double));
  return RF_OK;
}

/* Samples are taken in blocks, so that the pre-activations of a block stay in cache. */
RfStatus rf_net_outputs(RfContext *context, double *out, const RfNet *net, const double *X, rf_index n) {
  rf_index block = net->m > 4096 ? 16 : 64;
  double *H = RF_NEW_TABLE(double, block, net->m);
  if (!H) return rf_fail(context, RF_ERR_MEMORY, "out of memory for network outputs");
  for (rf_index start = 0; start < n; start += block) {
    rf_index rows = n - start < block ? n - start : block;
    rf_la_product_nt(H, X + start * net->d, net->W, rows, net->m, net->d);
    for (rf_index i = 0; i < rows; i++) {
      double sum = 0;
      for (rf_index k = 0; k < net->m; k++) {
        double z = H[i * net->m + k];
        sum += net->a[k] * (z > 0 ? z : net->leak * z);
      }
      out[start + i] = sum;
    }
  }
  rf_free(H);
  return RF_OK;
}

double rf_net_norm2(const RfNet *net) {
  double w = rf_la_norm(net->W, net->m * net->d), a = rf_la_norm(net->a, net->m);
  return w * w + a * a;
}

RfStatus rf_net_margin(RfContext *context, double *margin, double *margins, const RfNet *net, const double *X,
                       const double *y, rf_index n) {
  double *q = margins ? margins : RF_NEW(double, n);
  if (!q) return rf_fail(context, RF_ERR_MEMORY, "out of memory for margins");
  RfStatus status = rf_net_outputs(context, q, net, X, n);
  if (!status) {
    double least = INFINITY, norm2 = rf_net_norm2(net);
    for (rf_index i = 0; i < n; i++) {
      q[i] *= y[i];
      least = fmin(least, q[i]);
    }
    *margin = norm2 > 0 && n > 0 ? least / norm2 : 0;
  }
  if (!margins) rf_free(q);
  return status;
}

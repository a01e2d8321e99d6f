/* Limits against the proved optimum: NB-02 (Chizat, Bach), NB-03 (Mishkin, Pilanci). */
#include <math.h>

#include "core/core.h"
#include "kit/data.h"
#include "kit/networks.h"
#include "la/la.h"
#include "neighbours/neighbours.h"
#include "reluflow/optimum.h"

/* The flow from an order-1 start of width m; *share: its margin over the optimal one. */
static RfStatus one_limit(RfClaimRun *run, RfFlowResult *flow, const RfDataset *data, rf_index m,
                          uint64_t start, bool *arrived) {
  RfNet net = {0};
  *arrived = false;
  RfStatus status =
      rf_net_init(run->context, &net, RF_INIT_BALANCED, m, data->d, 0, rf_claim_seed(run, "start", start), 1);
  if (status) return status;
  status = rf_claim_limit(run, flow, &net, data->X, data->y, data->n, RF_LOSS_LOGISTIC);
  *arrived = status == RF_OK;
  rf_net_free(&net);
  return status > 0 && status != RF_INTERRUPTED ? RF_OK : status;
}

static RfStatus solved(RfClaimRun *run, RfDataset *data, RfOptimum *best, rf_index k) {
  char spec[64];
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  rf_format(spec, sizeof spec, "gaussian,n=5,d=3,seed=%d", (int)k);
  RfStatus status = rf_claim_generate(run, data, spec);
  if (!status) status = rf_optimum_solve(run->context, best, data->X, data->y, data->n, data->d, &settings);
  if (!status) rf_claim_at_most(run, "gap of the optimum", best->gap, 0, 1e-7);
  return status;
}

/* |theta|^2/2 at min margin 1 is 1/(2 margin); no network is below `lower`. */
RfStatus rf_nb_02(RfClaimRun *run) {
  static const rf_index widths[] = {4, 32};
  rf_index hits[2] = {0}, runs[2] = {0}, limits = 0, sets = rf_claim_repetitions(run, 10), starts = 8;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < sets && !status; k++) {
    RfDataset data = {0};
    RfOptimum best = {0};
    status = solved(run, &data, &best, k);
    for (rf_index s = 0; s < 2 * starts && !status; s++) {
      RfFlowResult flow;
      bool arrived;
      rf_index w = s % 2;
      status = one_limit(run, &flow, &data, widths[w], (uint64_t)(1000 * k + s), &arrived);
      runs[w]++; /* a start that never separates does not reach it either */
      if (!arrived) continue;
      double share = flow.limit.margin * 2 * best.objective;
      rf_claim_at_most(run, "margin of a limit over the proved optimum", flow.limit.margin * 2 * best.lower,
                       1, 1e-9);
      hits[w] += share >= 1 - 1e-6, limits++;
      rf_flow_result_free(&flow);
    }
    rf_optimum_free(&best);
    rf_dataset_free(&data);
  }
  rf_claim_require(run, "limits", sets * starts);
  rf_claim_made(run, "limits", limits), rf_claim_dropped(run, "limits", runs[0] + runs[1] - limits);
  /* one-sided: were the shares equal, the wide ones would fall this far below the pooled share by chance */
  double pooled = (double)(hits[0] + hits[1]) / (double)(runs[0] + runs[1]);
  rf_claim_probability(run, "wide networks reach the optimum at least as often", hits[1], runs[1], pooled,
                       false);
  rf_claim_note(run, "the optimum is reached from %lld of %lld starts of width 4, %lld of %lld of width 32",
                (long long)hits[0], (long long)runs[0], (long long)hits[1], (long long)runs[1]);
  return status;
}

/* Strong duality and complementary slackness: at every optimal network sum_i lam_i y_i s phi(<w,x_i>)/|w| = 1
 * for each of its neurons (s the sign of a), with the one lam of the certificate; lam is unique on the data
 * drawn here when the limits agree on it. */
RfStatus rf_nb_03(RfClaimRun *run) {
  rf_index sets = rf_claim_repetitions(run, 10), optimal = 0;
  if (sets < 4) sets = 4; /* on some data narrow networks stop at other KKT points */
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < sets && !status; k++) {
    RfDataset data = {0};
    RfOptimum best = {0};
    status = solved(run, &data, &best, k);
    for (rf_index s = 0; s < 3 && !status; s++) {
      RfFlowResult flow;
      bool arrived;
      status = one_limit(run, &flow, &data, 32, (uint64_t)(1000 * k + s), &arrived);
      if (!arrived) continue;
      const RfNet *net = &flow.limit.net;
      bool reaches = flow.limit.margin * 2 * best.objective >= 1 - 1e-9;
      for (rf_index j = 0; j < net->m && reaches; j++) {
        const double *w = net->W + j * net->d;
        double size = rf_la_norm(w, net->d), sum = 0;
        if (size < 1e-5) continue;
        for (rf_index i = 0; i < data.n; i++)
          sum += best.lambda[i] * data.y[i] * fmax(0, rf_la_dot(w, data.X + i * data.d, data.d) / size);
        rf_claim_close(run, "a neuron of an optimal network in the dual", sum * (net->a[j] > 0 ? 1 : -1), 1,
                       1e-5);
      }
      optimal += reaches;
      rf_flow_result_free(&flow);
    }
    rf_optimum_free(&best);
    rf_dataset_free(&data);
  }
  rf_claim_require(run, "limits that are optimal", sets);
  rf_claim_made(run, "limits that are optimal", optimal);
  return status;
}

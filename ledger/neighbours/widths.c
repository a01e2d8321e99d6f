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

/* The optimal set on DS-V3, from lam = 1/sqrt 2 on each of the four samples: tight are the four directions at
 * 45 degrees, each sample sees two of them, and the optimal networks are c >= 0 with M c = 1, M of rank 3:
 * dimension 4 - 3 = 1, c = (t, sqrt 2 - t, t, sqrt 2 - t), minimal width 2 at the ends. */
static RfStatus optimal_set(RfClaimRun *run) {
  const double X[] = {1, 0, 0, 1, -1, 0, 0, -1}, y[] = {1, 1, 1, 1};
  RfOptimum best = {0};
  RfOptimumSettings settings;
  double M[16], values[4];
  rf_optimum_settings_init(&settings);
  RfStatus status = rf_optimum_solve(run->context, &best, X, y, 4, 2, &settings);
  if (!status) rf_claim_relative(run, "DS-V3: the optimum", best.objective, 2 * sqrt(2), 1e-7);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      double angle = acos(-1.0) / 4 * (2 * k + 1);
      M[4 * i + k] = fmax(0, X[2 * i] * cos(angle) + X[2 * i + 1] * sin(angle));
    }
  if (!status) status = rf_la_singular(run->context, values, NULL, M, 4, 4);
  if (!status) {
    rf_claim_at_least(run, "DS-V3: third singular value of the tight neurons", values[2], 0.5, 0);
    rf_claim_at_most(run, "DS-V3: the fourth, so that the optimal set has dimension 1", values[3], 0, 1e-12);
  }
  for (int step = 0; step <= 10 && !status; step++) {
    double t = sqrt(2) * step / 10, W[8], a[4], margin;
    RfNet net = {.m = 4, .d = 2, .W = W, .a = a};
    for (int k = 0; k < 4; k++) {
      double angle = acos(-1.0) / 4 * (2 * k + 1), c = k % 2 ? sqrt(2) - t : t;
      a[k] = sqrt(fmax(0, c)), W[2 * k] = a[k] * cos(angle), W[2 * k + 1] = a[k] * sin(angle);
    }
    status = rf_net_margin(run->context, &margin, NULL, &net, X, y, 4);
    rf_claim_relative(run, "DS-V3: every network of the set is optimal", 1 / (2 * margin), best.objective,
                      1e-7);
  }
  rf_optimum_free(&best);
  return status;
}

/* The tight neurons of the certificate as columns over the samples with lam > 0. Independent columns: one
 * optimal network (as a function of its neurons), and every optimal limit gives each direction the same mass.
 */
static RfStatus judge_unique(RfClaimRun *run, const RfOptimum *best, const RfDataset *data, const RfNet *net,
                             rf_index *unique) {
  enum { most = 8 };
  double M[most * most], values[most];
  rf_index rows = 0, k = best->neurons;
  if (k > most || data->n > most) return RF_OK;
  for (rf_index i = 0; i < data->n; i++) {
    if (best->lambda[i] < 1e-7) continue;
    for (rf_index j = 0; j < k; j++)
      M[rows * k + j] = fmax(0, rf_la_dot(best->U + j * data->d, data->X + i * data->d, data->d)) /
                        rf_la_norm(best->U + j * data->d, data->d);
    rows++;
  }
  rf_claim_at_most(run, "neurons needed, against samples with a multiplier", (double)k, (double)rows, 0);
  if (rows < k) return RF_OK;
  RfStatus status = rf_la_singular(run->context, values, NULL, M, rows, k);
  if (status || values[k - 1] < 1e-4 * values[0]) return status;
  for (rf_index j = 0; j < k;
       j++) { /* all neurons of the limit in that direction with that sign, at min margin 1 */
    double mass = 0, size = rf_la_norm(best->U + j * data->d, data->d), margin;
    status = rf_net_margin(run->context, &margin, NULL, net, data->X, data->y, data->n);
    if (status) return status;
    for (rf_index p = 0; p < net->m; p++) {
      const double *w = net->W + p * net->d;
      double length = rf_la_norm(w, net->d);
      if (length > 0 && net->a[p] * best->sign[j] > 0 &&
          rf_la_dot(w, best->U + j * data->d, data->d) > (1 - 1e-6) * length * size)
        mass += fabs(net->a[p]) * length / (margin * rf_net_norm2(net));
    }
    rf_claim_relative(run, "mass of a direction in another optimal network", mass, size, 1e-4);
  }
  ++*unique;
  return RF_OK;
}

/* Strong duality and complementary slackness: at every optimal network sum_i lam_i y_i s phi(<w,x_i>)/|w| = 1
 * for each of its neurons (s the sign of a), with the one lam of the certificate; lam is unique on the data
 * drawn here when the limits agree on it. */
RfStatus rf_nb_03(RfClaimRun *run) {
  rf_index sets = rf_claim_repetitions(run, 10), optimal = 0, unique = 0;
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
      if (reaches) status = judge_unique(run, &best, &data, net, &unique);
      rf_flow_result_free(&flow);
    }
    rf_optimum_free(&best);
    rf_dataset_free(&data);
  }
  if (!status) status = optimal_set(run);
  rf_claim_require(run, "limits that are optimal", sets);
  rf_claim_require(run, "limits on data with one optimal network", sets / 2);
  rf_claim_made(run, "limits on data with one optimal network", unique);
  rf_claim_made(run, "limits that are optimal", optimal);
  return status;
}

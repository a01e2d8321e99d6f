/* Samples on the line with a constant second coordinate: NB-10 (Safran, Vardi, Lee). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/networks.h"
#include "la/la.h"
#include "neighbours/neighbours.h"

enum { most_n = 24, width = 24 };

static int by_value(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

/* n sorted points of [-1,1] at least 0.2/n apart, with labels that change `changes` times. */
static void draw_line(double *X, double *y, rf_index n, rf_index changes, RfRandom *random) {
  double x[most_n];
  bool spaced;
  do {
    spaced = true;
    for (rf_index i = 0; i < n; i++) x[i] = 2 * rf_random_uniform(random) - 1;
    qsort(x, (size_t)n, sizeof *x, by_value);
    for (rf_index i = 1; i < n; i++) spaced &= x[i] - x[i - 1] > 0.2 / (double)n;
  } while (!spaced);
  for (rf_index i = 0; i < n; i++) {
    X[2 * i] = x[i], X[2 * i + 1] = 1;
    y[i] = (i * (changes + 1) / n) % 2 ? -1 : 1;
  }
}

/* Linear regions of x -> f(x,1): kinks at -w[1]/w[0], where the slope jumps by the sum of a |w[0]|. */
static rf_index regions(const RfNet *net) {
  double at[width], jump[width], total = 0;
  rf_index count = 0, kinks = 0;
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + 2 * k;
    double place = -w[1] / w[0], change = net->a[k] * fabs(w[0]);
    rf_index same = 0;
    if (fabs(change) < 1e-10 || !isfinite(place)) continue;
    total += fabs(change);
    while (same < count && fabs(at[same] - place) > 1e-6 * (1 + fabs(place))) same++;
    if (same == count) at[count] = place, jump[count++] = 0;
    jump[same] += change;
  }
  for (rf_index k = 0; k < count; k++) kinks += fabs(jump[k]) > 1e-7 * total;
  return kinks + 1;
}

/* A linear piece changes its sign at most once: r changes need r regions. That there are not many more,
 * however many samples and neurons there are, is the paper's theorem; its constant is not used, 2r + 2 is
 * what is judged here. */
RfStatus rf_nb_10(RfClaimRun *run) {
  static const rf_index sizes[] = {6, 12, 24};
  rf_index draws = rf_claim_repetitions(run, 5), most[4] = {0}, limits = 0;
  RfStatus status = RF_OK;
  for (rf_index changes = 1; changes <= 3 && !status; changes++)
    for (int s = 0; s < 3 && !status; s++)
      for (rf_index draw = 0; draw < draws && !status; draw++) {
        double X[2 * most_n], y[most_n];
        RfRandom random = rf_claim_random(run, (uint64_t)(1000 * changes + 100 * s + draw));
        RfNet net = {0};
        RfFlowResult flow = {0};
        draw_line(X, y, sizes[s], changes, &random);
        status =
            rf_net_init(run->context, &net, RF_INIT_BALANCED, width, 2, 0, rf_random_u64(&random) >> 1, 0.1);
        if (!status) status = rf_claim_limit(run, &flow, &net, X, y, sizes[s], RF_LOSS_LOGISTIC);
        rf_net_free(&net);
        if (status == RF_UNDECIDED || status == RF_NOT_SEPARABLE || status == RF_BRANCHED) {
          rf_claim_dropped(run, "limits", 1), status = RF_OK;
          continue;
        }
        if (status) break;
        rf_index seen = regions(&flow.limit.net);
        rf_claim_at_least(run, "linear regions against the label changes", (double)seen, (double)changes, 0);
        rf_claim_at_most(run, "linear regions against 2r + 2", (double)seen, 2 * (double)changes + 2, 0);
        if (seen > most[changes]) most[changes] = seen;
        rf_claim_made(run, "limits", 1), limits++;
        rf_flow_result_free(&flow);
      }
  rf_claim_require(run, "limits", 7 * draws);
  rf_claim_note(
      run,
      "%lld limits of width 24 on 6, 12 and 24 samples; at most %lld, %lld, %lld regions for 1, 2, 3 label "
      "changes",
      (long long)limits, (long long)most[1], (long long)most[2], (long long)most[3]);
  return status;
}

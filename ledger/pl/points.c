/* Phuong and Lampert, statements about data alone. PL-01: orthogonal separability (1); PL-02: the vectors w+-
 * of (6), (7); PL-17: the network built from them is optimal (Lemma C.1). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cross/cross.h"
#include "core/core.h"
#include "pl/pl.h"
#include "reluflow/certify.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "margin/margin.h"
#include "kit/samples.h"
#include "kit/setting.h"

/* ---- PL-01: (1) ---------------------------------------------------------------------------------------- */

/* y_i x_i separates the data: strictly its own class, the other one up to ties. */
static bool every_sample_separates(const RfDataset *data) {
  for (rf_index i = 0; i < data->n; i++)
    for (rf_index j = 0; j < data->n; j++) {
      double product =
          data->y[i] * data->y[j] * rf_la_dot(data->X + i * data->d, data->X + j * data->d, data->d);
      if (data->y[i] == data->y[j] ? product <= 0 : product < 0) return false;
    }
  return true;
}

static RfStatus judge_predicate(RfClaimRun *run, const char *spec, rf_index *yes) {
  RfDataset data = {0};
  RfPairFacts facts;
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  if (!status && data.y) {
    status = rf_geometry_pairs(run->context, &facts, data.X, data.y, data.n, data.d);
    if (!status) rf_claim_true(run, spec, facts.orthogonal_separable == every_sample_separates(&data));
    *yes += !status && facts.orthogonal_separable;
  }
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_pl_01(RfClaimRun *run) {
  char spec[64];
  rf_index count, yes = 0, always = 0, seeds = rf_claim_repetitions(run, 20);
  const RfGenerator *table = rf_data_generators(&count);
  RfStatus status = RF_OK;
  for (rf_index g = 0; g < count && !status; g++) {
    if (strcmp(table[g].name, "digits") == 0) continue;
    rf_format(spec, sizeof spec, "gen:%s", table[g].name);
    status = judge_predicate(run, spec, &yes);
  }
  for (rf_index seed = 0; seed < seeds && !status; seed++) {
    rf_format(spec, sizeof spec, "gen:DS-PL(500,20,%d)", (int)seed);
    status = judge_predicate(run, spec, &always);
  }
  if (status) return status;
  rf_claim_close(run, "DS-PL sets that are orthogonally separable", (double)always, (double)seeds, 0);
  rf_claim_true(run, "the catalogue has sets of both kinds", yes > 0 && yes < count - 1);
  double accepted = pow(2, -20) / 2; /* one orthant of 2^20, and half of it by the sign of <h,z> */
  const double patience = 1e6;       /* draws for the 500 samples */
  rf_claim_misprint(run, "MP-PL-06", "share of Gaussian samples in R^20 that rejection keeps, for 500 in 1e6",
                    500 / patience, accepted, NAN, accepted * patience >= 500);
  rf_claim_note(run, "%lld of %lld sets of the catalogue are orthogonally separable", (long long)yes,
                (long long)count - 1);
  return rf_cross_catalogue(run);
}

/* ---- PL-02: (6), (7), (78) ----------------------------------------------------------------------------- */

/* w = sum of multipliers x_i, multipliers >= 0 on tight samples of the class only, w.x_i >= 1. */
static void judge_class(RfClaimRun *run, const RfClassMargin *margin, const RfDataset *data, double side) {
  double rest[RF_CLAIM_MOST_D];
  memcpy(rest, margin->w, (size_t)data->d * sizeof *rest);
  rf_la_combine_add(rest, -1, data->X, margin->multipliers, data->n, data->d, data->d);
  rf_claim_at_most(run, "|w - sum of multipliers x_i| / |w|", rf_la_norm(rest, data->d) / margin->norm, 0,
                   1e-10);
  for (rf_index i = 0; i < data->n; i++) {
    double product = rf_la_dot(margin->w, data->X + i * data->d, data->d), factor = margin->multipliers[i];
    rf_claim_at_least(run, "a multiplier", factor, 0, 0);
    if (data->y[i] == side) rf_claim_at_least(run, "w.x_i on the class", product, 1, 1e-10);
    if (data->y[i] != side) rf_claim_close(run, "a multiplier of the other class", factor, 0, 0);
    if (factor > 0) rf_claim_close(run, "w.x_i where the multiplier is positive", product, 1, 1e-10);
  }
}

/* The facts of the catalogue about DS-PL2. */
static void judge_planar(RfClaimRun *run, const RfClassMargin *plus, const RfClassMargin *minus) {
  const double want[] = {1.0 / 9, 1.0 / 9, 0, 4.0 / 49, 9.0 / 49};
  for (int i = 0; i < 5; i++)
    rf_claim_close(run, "DS-PL2: multipliers", (i < 3 ? plus : minus)->multipliers[i], want[i], 1e-12);
  rf_claim_true(run, "DS-PL2: both supports span the plane", plus->spans && minus->spans);
}

RfStatus rf_pl_02(RfClaimRun *run) {
  const char *sets[] = {"gen:DS-PL2",          "gen:DS-OS(5,5,3,0.2,0)", "gen:DS-OS(10,10,5,0.05,1)",
                        "gen:DS-PL(500,20,0)", "gen:DS-PL(500,20,1)",    "gen:DS-PL(500,20,2)"};
  RfStatus status = RF_OK;
  rf_index fewest = 1000, largest = 0;
  for (int k = 0; k < 6 && !status; k++) {
    RfDataset data = {0};
    RfClassMargin sides[2] = {{0}, {0}};
    status = rf_claim_data(run, &data, sets[k], 1);
    for (int s = 0; s < 2 && !status; s++) {
      status = rf_margin_class(run->context, &sides[s], data.X, data.y, data.n, data.d, s ? -1 : 1);
      if (status) break;
      judge_class(run, &sides[s], &data, s ? -1 : 1);
      if (k < 3) continue;
      rf_claim_true(run, "DS-PL(500,20): the support does not span R^20", !sides[s].spans);
      if (sides[s].n_support < fewest) fewest = sides[s].n_support;
      if (sides[s].n_support > largest) largest = sides[s].n_support;
    }
    if (!status && k == 0) {
      judge_planar(run, &sides[0], &sides[1]);
      double product = rf_la_dot(sides[1].w, data.X + 3 * data.d, data.d); /* the first negative sample */
      rf_claim_misprint(run, "MP-PL-02", "w-.x_i for y_i = -1 (sign)", -1, 1, product, product < 0);
    }
    for (int s = 0; s < 2; s++) rf_class_margin_free(&sides[s]);
    rf_dataset_free(&data);
  }
  if (!status)
    rf_claim_note(run,
                  "DS-PL(500,20) has %lld to %lld support samples per class in R^20: the paper's own "
                  "experiment violates its span assumption",
                  (long long)fewest, (long long)largest);
  return status;
}

/* ---- PL-17: Lemma C.1, (75)-(90) ----------------------------------------------------------- */

/* w_k = u_k w+ + z_k w-, a_k = u_k |w+| - z_k |w-|, u and z >= 0 with disjoint supports, |u| = |w+|^{-1/2},
 * |z| = |w-|^{-1/2}. */
static void construct(RfNet *net, const RfClassMargin sides[2], RfRandom *random) {
  double size[2] = {0, 0}, share[16];
  int side[16];
  for (rf_index k = 0; k < net->m; k++) {
    side[k] = k < 2 ? (int)k : (int)rf_random_below(random, 2);
    share[k] = 0.05 + rf_random_uniform(random);
    size[side[k]] += share[k] * share[k];
  }
  for (rf_index k = 0; k < net->m; k++) {
    const RfClassMargin *own = &sides[side[k]];
    double factor = share[k] / sqrt(size[side[k]] * own->norm);
    for (rf_index j = 0; j < net->d; j++) net->W[k * net->d + j] = factor * own->w[j];
    net->a[k] = (side[k] ? -1 : 1) * factor * own->norm;
  }
}

/* Stationarity with the stated multipliers, recomputed here: theta = sum_i lambda_i y_i df(x_i). */
static double stated_residual(const RfNet *net, const RfDataset *data, const double *lambda) {
  double worst = 0;
  for (rf_index k = 0; k < net->m; k++) {
    double rest[RF_CLAIM_MOST_D], out = net->a[k];
    memcpy(rest, net->W + k * net->d, (size_t)net->d * sizeof *rest);
    for (rf_index i = 0; i < data->n; i++) {
      const double *x = data->X + i * net->d;
      double input = rf_la_dot(net->W + k * net->d, x, net->d);
      if (input <= 0) continue;
      rf_la_axpy(rest, -lambda[i] * data->y[i] * net->a[k], x, net->d);
      out -= lambda[i] * data->y[i] * input;
    }
    worst = fmax(worst, fmax(rf_la_norm(rest, net->d), fabs(out)));
  }
  return worst;
}

static RfStatus judge_network(RfClaimRun *run, const RfNet *net, const RfDataset *data,
                              const RfClassMargin sides[2]) {
  double lambda[64], f[64], size = rf_net_norm2(net);
  RfKkt kkt = {0};
  RfDualNorm dual = {0};
  RfStatus status = rf_net_outputs(run->context, f, net, data->X, data->n);
  if (status) return status;
  for (rf_index i = 0; i < data->n; i++) {
    const RfClassMargin *own = &sides[data->y[i] < 0];
    lambda[i] = own->multipliers[i] / own->norm;
    rf_claim_at_least(run, "y f(x)", data->y[i] * f[i], 1, 1e-12);
    rf_claim_at_most(run, "complementarity", lambda[i] * (data->y[i] * f[i] - 1), 0, 1e-10);
  }
  rf_claim_at_most(run, "stationarity with multipliers alpha_i/|w+-|",
                   stated_residual(net, data, lambda) / sqrt(size), 0, 1e-10);
  rf_claim_relative(run, "|theta|^2/2 = |w+| + |w-|", size / 2, sides[0].norm + sides[1].norm, 1e-10);
  status = rf_certify_kkt(run->context, &kkt, net, data->X, data->y, data->n);
  if (!status) {
    rf_claim_at_most(run, "KKT residual by the certifier", fmax(kkt.stationarity, kkt.complementarity), 0,
                     1e-10);
    status = rf_optimum_dual_norm(run->context, &dual, data->X, data->y, lambda, data->n, data->d, 0, 0);
  }
  if (!status) {
    rf_claim_at_most(run, "dual feasibility over all arrangements", dual.upper, 1, 1e-8);
    rf_claim_close(run, "relative gap to the dual value",
                   (size / 2 - (sides[0].norm + sides[1].norm) / fmax(1, dual.upper)) / (size / 2), 0, 1e-7);
  }
  rf_dual_norm_free(&dual);
  rf_kkt_free(&kkt);
  return status;
}

static RfStatus judge_construction(RfClaimRun *run, const char *spec, RfRandom *random) {
  RfDataset data = {0};
  RfClassMargin sides[2] = {{0}, {0}};
  RfOptimum optimum = {0};
  RfOptimumSettings settings;
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  rf_optimum_settings_init(&settings);
  for (int s = 0; s < 2 && !status; s++)
    status = rf_margin_class(run->context, &sides[s], data.X, data.y, data.n, data.d, s ? -1 : 1);
  for (rf_index m = 2; m <= 7 && !status; m += 5) {
    RfNet net;
    status = rf_net_new(run->context, &net, m, data.d, 0);
    if (status) break;
    construct(&net, sides, random);
    status = judge_network(run, &net, &data, sides);
    rf_net_free(&net);
  }
  if (!status) status = rf_optimum_solve(run->context, &optimum, data.X, data.y, data.n, data.d, &settings);
  if (!status) {
    rf_claim_at_most(run, "gap of the convex program", optimum.gap, 0, 1e-7);
    rf_claim_relative(run, "Pcvx = |w+| + |w-|", optimum.objective, sides[0].norm + sides[1].norm, 1e-7);
  }
  rf_optimum_free(&optimum);
  for (int s = 0; s < 2; s++) rf_class_margin_free(&sides[s]);
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_pl_17(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = judge_construction(run, "gen:DS-PL2", &random);
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 20) && !status; seed++) {
    char spec[64];
    rf_format(spec, sizeof spec, "gen:DS-OS(5,5,%d,0.2,%d)", 2 + (int)(seed % 3), (int)seed);
    status = judge_construction(run, spec, &random);
  }
  if (!status) status = rf_cross_dual(run);
  return status;
}

/* Lyu, Li, Wang, Arora: how often small random starts end where the theorems say. LLWA-16 (Lemma E.7), 25 and
 * 26 (Theorem 4.3, Corollary 4.4 and their complement), 27 (Theorem 6.2), 29 (Theorem A.7), 30 (Theorem
 * A.10). Every limit is the flow's at t = infinity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llwa/llwa.h"
#include "la/la.h"
#include "reluflow/optimum.h"
#include "theory/theory.h"

enum { most = 8 };

/* bbar_k has the sign of <w_k,mubar> + a_k. Of the neurons' signs: both, or one. */
static bool both_signs(const RfNet *net, const RfLlwaSet *set) {
  double b[most];
  bool plus = false, minus = false;
  rf_llwa_split(b, net, set);
  for (rf_index k = 0; k < net->m; k++) plus = plus || b[k] > 0, minus = minus || b[k] < 0;
  return plus && minus;
}

/* ---- LLWA-16: Lemma E.7 -------------------------------------------------------------------- */

RfStatus rf_llwa_16(RfClaimRun *run) {
  const double spreads[] = {0.5, 1, 2};
  rf_index N = rf_claim_repetitions(run, 100000);
  RfLlwaSet set;
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  for (rf_index m = 2; m <= 8; m++)
    for (int s = 0; s < 3; s++) {
      RfRandom random = rf_claim_random(run, (uint64_t)(10 * m + s));
      double W[most * RF_LLWA_D], a[most];
      RfNet net = {.m = m, .d = set.d, .W = W, .a = a, .leak = set.leak};
      rf_index hits = 0;
      for (rf_index draw = 0; draw < N; draw++) {
        rf_llwa_gaussian(&net, &random, 1);
        rf_la_scale(a, spreads[s], m);
        hits += both_signs(&net, &set);
      }
      rf_claim_probability(run, "share of starts with both signs of bbar", hits, N, 1 - pow(2, 1 - (double)m),
                           true);
    }
  rf_claim_note(run, "m = 2..8, spread of a 1/2, 1, 2; %lld starts each", (long long)N);
  rf_llwa_free(&set);
  return RF_OK;
}

/* ---- many limits from small starts --------------------------------------------------------- */

typedef struct Tally {
  rf_index runs, hits, wrong; /* limits at the predicted function; runs that contradict the rule below */
  rf_index late, early;       /* starts that need a smaller scale than 1e-4; limits as predicted from 1e-4 */
  double worst;               /* largest deviation among the hits */
  rf_index read;              /* of them followed on the way */
} Tally;

/* The limit from e^log_eps start as a function, against `aim` at |theta| = 1. */
static RfStatus deviation(RfClaimRun *run, double *apart, const RfLlwaSet *set, const RfNet *start,
                          double log_eps, const RfNet *aim, double *margin) {
  RfFlowResult flow;
  bool converged;
  RfStatus status = rf_llwa_limit(run, &flow, &converged, set, start, log_eps);
  *apart = converged ? rf_llwa_apart(&flow.limit.net, aim) : INFINITY;
  if (margin) *margin = converged ? flow.limit.margin : NAN;
  rf_flow_result_free(&flow);
  return status;
}

/* ---- LLWA-25, LLWA-26: symmetric data ------------------------------------------------------ */

typedef struct Symmetric {
  Tally mixed, single[2];
} Symmetric;

/* Mixed signs of bbar must lead to the linear function, one sign to that sign's one-neuron function. */
static RfStatus symmetric_run(RfClaimRun *run, Symmetric *out, const RfLlwaSet *set, rf_index m,
                              uint64_t seed, bool with_mixed, bool with_single) {
  double W[2 * RF_LLWA_D], a[2], b[most], apart, margin;
  RfNet start = {0}, aim = {.m = 2, .d = set->d, .W = W, .a = a, .leak = set->leak};
  RfStatus status = rf_net_init(run->context, &start, RF_INIT_GAUSSIAN, m, set->d, set->leak, seed, 1);
  if (status) return status;
  rf_llwa_split(b, &start, set);
  bool mixed = both_signs(&start, set);
  int side = b[0] > 0 ? 1 : -1;
  Tally *tally = mixed ? &out->mixed : &out->single[side < 0];
  rf_llwa_pair(&aim, set);
  if (!mixed) aim.m = 1, rf_llwa_single(&aim, set->wstar, side);
  if (mixed ? with_mixed : with_single) {
    double predicted = mixed ? (1 + set->leak) / 4 * set->gstar : set->leak / 2 * set->gstar;
    bool hit = false;
    for (int power = 4; power <= 16 && !hit && !status; power *= 2) { /* 1e-4, else smaller */
      status = deviation(run, &apart, set, &start, -power * log(10), &aim, &margin);
      hit = apart <= 1e-8 && fabs(margin - predicted) <= 1e-8;
      tally->early += hit && power == 4, tally->late += hit && power > 4;
    }
    tally->runs++;
    if (hit)
      tally->hits++, tally->worst = fmax(tally->worst, apart);
    else
      tally->wrong++;
  } else {
    tally->runs++;
  }
  rf_net_free(&start);
  return status;
}

RfStatus rf_llwa_25(RfClaimRun *run) {
  RfLlwaSet set;
  rf_index N = rf_claim_repetitions(run, 400), wrong = 0, late = 0;
  double worst = 0;
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  for (rf_index m = 2; m <= 4 && !status; m++) {
    Symmetric all = {0};
    for (rf_index k = 0; k < N && !status; k++)
      status = symmetric_run(run, &all, &set, m, rf_claim_seed(run, "start", (uint64_t)(10000 * m + k)), true,
                             true);
    if (status) break;
    rf_claim_probability(run, "share of starts that end at (1+leak)/4 <wstar,x>", all.mixed.early, N,
                         1 - pow(2, 1 - (double)m), false);
    wrong += all.mixed.wrong + all.single[0].wrong + all.single[1].wrong;
    late += all.mixed.late + all.single[0].late + all.single[1].late;
    worst = fmax(worst, all.mixed.worst);
  }
  rf_claim_at_most(run, "largest deviation from the linear function", worst, 0, 1e-8);
  rf_claim_close(run, "seeds where success and mixed signs of bbar differ", (double)wrong, 0, 0);
  rf_claim_note(
      run,
      "%lld seeds for each m = 2, 3, 4, limits at t = infinity; deviation of the successes %.1e; %lld "
      "starts need a smaller scale than 1e-4",
      (long long)N, worst, (long long)late);
  rf_llwa_free(&set);
  return status;
}

RfStatus rf_llwa_26(RfClaimRun *run) {
  RfLlwaSet set;
  rf_index N = rf_claim_repetitions(run, 400);
  Symmetric all = {0};
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  for (rf_index m = 2; m <= 4 && !status; m++)
    for (rf_index k = 0; k < N && !status; k++)
      status = symmetric_run(run, &all, &set, m, rf_claim_seed(run, "start", (uint64_t)(10000 * m + k)),
                             false, true);
  for (int s = 0; s < 2; s++) {
    rf_claim_require(run, s ? "starts with bbar < 0" : "starts with bbar > 0", 1);
    rf_claim_made(run, s ? "starts with bbar < 0" : "starts with bbar > 0", all.single[s].runs);
    rf_claim_close(run, "of them not at the one-neuron limit with margin leak gstar/2",
                   (double)all.single[s].wrong, 0, 0);
    rf_claim_at_most(run, "largest deviation from +-phi(+-<wstar,x>)/2", all.single[s].worst, 0, 1e-8);
  }
  rf_claim_note(run,
                "%lld starts with bbar > 0, %lld with bbar < 0; normalised margin %.6f; %lld need a smaller "
                "scale than 1e-4",
                (long long)all.single[0].runs, (long long)all.single[1].runs, set.leak * set.gstar / 2,
                (long long)all.single[0].late + (long long)all.single[1].late);
  rf_llwa_free(&set);
  return status;
}

/* ---- LLWA-27, LLWA-29, LLWA-30: principal directions --------------------------------------- */

static double function_error(void *user, const RfNet *theta) {
  double W[most * RF_LLWA_D], a[most];
  RfNet unit = *theta;
  unit.W = W, unit.a = a;
  rf_llwa_copy(&unit, theta, 1 / sqrt(rf_net_norm2(theta)));
  return rf_llwa_apart(&unit, user);
}

/* J-LIM(1/2): neurons of the wrong sign lose their share like smargin^{-(1-leak)}, leak 1/2. */
static RfStatus judge_way(RfClaimRun *run, const RfLlwaSet *set, const RfNet *start, RfNet *aim) {
  RfLlwaDecay decay = {.error = function_error, .user = aim};
  RfNet small = {0};
  RfStatus status = rf_net_new(run->context, &small, start->m, start->d, start->leak);
  if (status) return status;
  rf_llwa_copy(&small, start, 1e-8);
  status = rf_llwa_walk(run, NULL, NULL, set, &small, RF_UNTIL_INFINITY, 0, 4, rf_llwa_decay_see, &decay);
  if (!status) rf_claim_decay_judge(run, "error of the function on the way", &decay.marks, 0.5, 2e-2);
  rf_net_free(&small);
  return status;
}

/* With frequency at least 1 - 2^-m the limit is side/2 phi(side <wL,x>): as soon as one a_k has that sign. */
static RfStatus principal_runs(RfClaimRun *run, const RfLlwaSet *set, const RfLlwaOneSided *one, int side,
                               rf_index m, rf_index N, Tally *total) {
  double W[RF_LLWA_D], a[1];
  RfNet aim = {.m = 1, .d = set->d, .W = W, .a = a, .leak = set->leak};
  Tally tally = {0};
  RfStatus status = RF_OK;
  rf_llwa_single(&aim, one->w, side);
  for (rf_index k = 0; k < N && !status; k++) {
    RfNet start = {0};
    double apart = NAN, margin = NAN;
    bool present = false;
    uint64_t seed = rf_claim_seed(run, "start", (uint64_t)(10000 * m + k));
    status = rf_net_init(run->context, &start, RF_INIT_BALANCED_GAUSSIAN, m, set->d, set->leak, seed, 1);
    if (status) break;
    for (rf_index j = 0; j < m; j++) present = present || side * start.a[j] > 0;
    bool hit = false;
    for (int e = 0; e < 2 && !status && (e == 0 || hit != present);
         e++) { /* the theorem is about small enough scales */
      status = deviation(run, &apart, set, &start, log(e ? 1e-8 : 1e-4), &aim, &margin);
      hit = apart <= 1e-8 && fabs(margin - one->margin / 2) <= 1e-8;
      tally.late += e, tally.early += e == 0 && hit;
    }
    tally.runs++, tally.hits += hit, tally.wrong += hit != present;
    if (hit) tally.worst = fmax(tally.worst, apart);
    if (hit && tally.read < 3 && !status) {
      status = judge_way(run, set, &start, &aim);
      tally.read++;
    }
    rf_net_free(&start);
  }
  if (!status) {
    rf_claim_probability(run, "share of starts that end at the one-neuron function", tally.hits, N,
                         1 - pow(2, -(double)m), false);
    rf_claim_probability(run, "that share from eps0 = 1e-4 alone", tally.early, N, 1 - pow(2, -(double)m),
                         false);
  }
  total->runs += tally.runs, total->hits += tally.hits, total->wrong += tally.wrong,
      total->late += tally.late;
  total->worst = fmax(total->worst, tally.worst);
  return status;
}

static RfStatus best_margin(RfClaimRun *run, double *margin, const RfLlwaSet *set) {
  RfOptimum best = {0};
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = set->leak;
  RfStatus status = rf_optimum_solve(run->context, &best, set->X, set->y, set->n, set->d, &settings);
  if (!status) {
    rf_claim_at_most(run, "gap of the best network", best.gap, 0, 1e-7);
    *margin = 1 / (2 * best.objective);
  }
  rf_optimum_free(&best);
  return status;
}

typedef struct Principal {
  const char *spec;
  bool flip;
  const rf_index *widths; /* three of them */
  double before; /* normalised margin of the limit before scaling, as the ledger states it; 0 = none */
} Principal;

static RfStatus judge_principal(RfClaimRun *run, const Principal *claim, Tally *total, double margins[2]) {
  RfLlwaSet set;
  RfLlwaOneSided one;
  int side = claim->flip ? -1 : 1;
  RfStatus status = rf_llwa_load(run, &set, claim->spec, 0.5, 0);
  if (status) return status;
  if (claim->flip) rf_llwa_flip(&set);
  status = rf_llwa_one_sided(run, &one, &set, side);
  if (!status) status = best_margin(run, &margins[1], &set);
  margins[0] = one.margin / 2 * set.scale, margins[1] *= set.scale;
  if (claim->flip && !status) { /* A.9 with a_k <= 0 would exclude the limit itself */
    rf_claim_at_most(run, "A.9: nets with a >= 0 on the support, over gL-/2", one.sup / (one.margin / 2), 1,
                     0);
    rf_claim_misprint(run, "MP-LLWA-10", "best net on the support over gL-/2, with a <= 0 and a >= 0",
                      one.same / (one.margin / 2), one.sup / (one.margin / 2), NAN,
                      one.same < one.margin / 2 * (1 - 1e-9));
  }
  if (claim->before > 0)
    rf_claim_relative(run, "normalised margin of the limit before scaling", margins[0], claim->before, 1e-5);
  rf_claim_at_most(run, "the limit is not the optimum: its margin over the best", margins[0] / margins[1],
                   0.95, 0);
  for (int k = 0; k < 3 && !status; k++)
    status = principal_runs(run, &set, &one, side, claim->widths[k],
                            rf_claim_repetitions(run, claim->flip ? 400 : 200), total);
  rf_llwa_free(&set);
  return status;
}

static void judge_total(RfClaimRun *run, const Tally *total) {
  rf_claim_at_most(run, "largest deviation from the one-neuron function", total->worst, 0, 1e-8);
  rf_claim_close(run, "seeds where success and a neuron of the right sign differ", (double)total->wrong, 0,
                 0);
}

RfStatus rf_llwa_27(RfClaimRun *run) {
  const rf_index widths[] = {1, 2, 3};
  const Principal claims[] = {{"DS-HINT(80,1,0.1)", false, widths, 0.05},
                              {"DS-HINT(20,1,0.1)", false, widths, 0.05}};
  Tally total = {0};
  double shortest = NAN;
  double margins[2][2] = {{0}};
  for (int k = 0; k < 2; k++) {
    RfStatus status = judge_principal(run, &claims[k], &total, margins[k]);
    if (status) return status;
  }
  judge_total(run, &total);
  rf_claim_relative(run, "best normalised margin before scaling", margins[1][1], 0.1054265, 1e-6);
  RfStatus status = rf_llwa_hint_conditions(run);
  if (!status) status = rf_llwa_sweep_hints(run, &shortest);
  rf_claim_misprint(
      run, "MP-LLWA-06", "share of the starts that end there, m = 1, 2, 3 together (printed: 1 - delta)", NAN,
      (1.0 / 2 + 3.0 / 4 + 7.0 / 8) / 3, (double)total.hits / (double)total.runs, total.hits == total.runs);
  rf_claim_note(run,
                "%lld runs at eps0 = 1e-4, %lld of them again at 1e-8 because they ended elsewhere (at a "
                "better margin); limit margin %.6f against the best %.7f before scaling; deviation %.1e; of "
                "H = 1..100 the limit holds from %.1f on",
                (long long)total.runs, (long long)total.late, margins[1][0], margins[1][1], total.worst,
                shortest);
  return status;
}

RfStatus rf_llwa_29(RfClaimRun *run) {
  const rf_index widths[] = {1, 2, 4};
  const Principal claim = {"DS-MID", false, widths, 0.0269258};
  Tally total = {0};
  double margins[2] = {0};
  RfStatus status = judge_principal(run, &claim, &total, margins);
  if (status) return status;
  judge_total(run, &total);
  rf_claim_relative(run, "best normalised margin before scaling", margins[1], 0.0982353, 1e-6);
  rf_claim_note(run,
                "%lld runs at eps0 = 1e-4, %lld of them again at 1e-8; limit margin %.7f against the best "
                "%.7f before scaling; deviation %.1e",
                (long long)total.runs, (long long)total.late, margins[0], margins[1], total.worst);
  return RF_OK;
}

RfStatus rf_llwa_30(RfClaimRun *run) {
  const rf_index hinted[] = {1, 2, 3}, middle[] = {1, 2, 4};
  const Principal claims[] = {{"DS-HINT(20,1,0.1)", true, hinted, 0}, {"DS-MID", true, middle, 0}};
  Tally total = {0};
  double margins[2][2] = {{0}};
  for (int k = 0; k < 2; k++) {
    RfStatus status = judge_principal(run, &claims[k], &total, margins[k]);
    if (status) return status;
  }
  judge_total(run, &total);
  rf_claim_note(run,
                "%lld runs from flipped labels at eps0 = 1e-4, %lld of them again at 1e-8; deviation %.1e",
                (long long)total.runs, (long long)total.late, total.worst);
  return RF_OK;
}

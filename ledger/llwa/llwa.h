/* Checks of the claims LLWA-01 ... LLWA-41 (Lyu, Li, Wang, Arora), in files: identities (random points),
 * points (assumptions, optima, KKT points), phases (the way), limits (where it ends), probability, figures.
 * What they share: a data set with what the paper derives from it, and networks as plain points. */
#ifndef RF_CLAIMS_LLWA_H
#define RF_CLAIMS_LLWA_H

#include "kit/claims_internal.h"
#include "kit/decay.h"
#include "data/data.h"
#include "flow/flow.h"
#include "net/net.h"

enum { RF_LLWA_D = 8, RF_LLWA_ROWS = 24 }; /* largest dimension and number of samples of a data set here */

typedef struct RfLlwaSet {
  RfDataset data; /* divided by `scale` */
  const double *X, *y;
  rf_index n, d;
  double leak, scale;
  double wstar[RF_LLWA_D], gstar;                 /* unit max-margin separator and its margin */
  double mu[RF_LLWA_D], mubar[RF_LLWA_D], length; /* mean of y_i x_i, its direction and length */
  double rate; /* (1+leak)/4 |mu|: growth rate near zero on symmetric data, mean logistic loss */
} RfLlwaSet;

/* spec names a generator; divide: samples are divided by it, 0 = by the largest norm. */
RfStatus rf_llwa_load(RfClaimRun *run, RfLlwaSet *set, const char *spec, double leak, double divide);
void rf_llwa_free(RfLlwaSet *set);
/* y becomes -y. */
void rf_llwa_flip(RfLlwaSet *set);

double rf_llwa_phi(double z, double leak);
/* Gradient of the mean logistic loss with phi'(0) = leak; q (n) receives y_i f(x_i). Returns the loss. */
double rf_llwa_gradient(RfNet *gradient, double *q, const RfNet *net, const RfLlwaSet *set);
double rf_llwa_output(const RfNet *net, const double *x);
/* min_i y_i f(x_i) */
double rf_llwa_least(const RfNet *net, const RfLlwaSet *set);
/* A random network that is right on every sample: neurons scattered about +-wstar. */
void rf_llwa_correct(RfNet *net, RfRandom *random, const RfLlwaSet *set);
/* The same, scaled so that L is just below ln 2/n. */
void rf_llwa_low_loss(RfNet *net, RfRandom *random, const RfLlwaSet *set);
/* One neuron: f(x) = side/2 phi(side <w,x>) at |theta| = 1. */
void rf_llwa_single(RfNet *net, const double *w, int side);
/* Two neurons: f(x) = (1+leak)/4 <wstar,x> at |theta| = 1. */
void rf_llwa_pair(RfNet *net, const RfLlwaSet *set);
/* Largest |f - g| over 100 unit vectors. */
double rf_llwa_apart(const RfNet *f, const RfNet *g);
/* |theta|_M = max over neurons of max(|w_k|, |a_k|), and |theta - other|_M. */
double rf_llwa_size(const RfNet *net);
double rf_llwa_distance(const RfNet *net, const RfNet *other);
/* |theta - other| in the Euclidean norm. */
double rf_llwa_far(const RfNet *net, const RfNet *other);
void rf_llwa_copy(RfNet *out, const RfNet *net, double factor);
void rf_llwa_gaussian(RfNet *net, RfRandom *random, double spread);
/* net = pi_b of a two-neuron network: copies of neuron 0 where b_k > 0, of neuron 1 where b_k < 0. */
void rf_llwa_embed(RfNet *net, const RfNet *two, const double *b);
/* bbar_k = (<w_k,mubar> + a_k)/(2 sqrt(m) |theta|_M). */
void rf_llwa_split(double *b, const RfNet *net, const RfLlwaSet *set);

/* The flow (logistic, mean) from `start` times e^log_scale; what rf_flow_run returns. */
RfStatus rf_llwa_flow(RfClaimRun *run, RfFlowResult *out, const RfLlwaSet *set, const RfNet *start,
                      double log_scale, const RfFlowSettings *settings);
/* theta(t) on the gradient flow from e^log_scale start; mean logistic loss. */
RfStatus rf_llwa_at(RfClaimRun *run, RfNet *theta, const RfLlwaSet *set, const RfNet *start, double log_scale,
                    double t);
/* The flow's limit at t = infinity. *converged is false where it has none; free the result then, too. */
RfStatus rf_llwa_limit(RfClaimRun *run, RfFlowResult *flow, bool *converged, const RfLlwaSet *set,
                       const RfNet *start, double log_scale);

/* ---- watching a flow ---- */

enum { RF_LLWA_WIDTH = 16 }; /* largest width that can be watched */

typedef struct RfLlwaMoment {
  const RfNet *theta;
  const RfNet *velocity; /* of the flow, divided by e^log_speed */
  double log_speed;
  double t, log_loss, smargin; /* smoothed margin loss^{-1}(L) of the mean loss */
  const double *q;
  const int8_t *sides; /* m rows of n: sign of w.x, 0 = on the hyperplane */
  bool frozen;         /* on the way to infinity: theta is at norm 1, t is NaN */
} RfLlwaMoment;

/* Calls see at every step and at `inside` points in each explicit one. out may be NULL (free it otherwise);
 * *converged as in rf_llwa_limit, may be NULL. */
RfStatus rf_llwa_walk(RfClaimRun *run, RfFlowResult *out, bool *converged, const RfLlwaSet *set,
                      const RfNet *start, RfUntil until, double value, rf_index inside,
                      void (*see)(void *user, const RfLlwaMoment *moment), void *user);

/* J-LIM on the way, kit/decay.h: rf_llwa_decay_see is the watcher. */
typedef struct RfLlwaDecay {
  double (*error)(void *user, const RfNet *theta); /* of the direction; theta need not be normalised */
  void *user;
  RfClaimDecay marks;
} RfLlwaDecay;

void rf_llwa_decay_see(void *decay, const RfLlwaMoment *moment);

/* ---- one neuron ---- */

/* The one-neuron solution of sign `side` (+1 or -1) and what nets of the other sign reach on its support. */
typedef struct RfLlwaOneSided {
  double w[RF_LLWA_D], margin; /* wL+ and gL+ (wL-, gL-) */
  rf_index support;            /* samples where it is attained */
  double sup,
      inf;     /* largest normalised margin of nets with side a_k <= 0 there, and the dual bound; 0 = none */
  double same; /* the same for nets with side a_k >= 0 */
} RfLlwaOneSided;
RfStatus rf_llwa_one_sided(RfClaimRun *run, RfLlwaOneSided *out, const RfLlwaSet *set, int side);

/* The slack of assumption A.2, from its definition. */
double rf_llwa_second_slack(const RfDataset *data, double leak);
/* Theorem 6.2 on DS-HINT(80): its conditions on H, and the assumptions that they imply; judged. */
RfStatus rf_llwa_hint_conditions(RfClaimRun *run);
/* E-LL-8, drawn only when pictures are wanted. */
RfStatus rf_llwa_draw_phases(RfClaimRun *run);
/* E-LL-9, and the limit wherever A.2 holds, judged; *first: shortest hint that leads to it. */
RfStatus rf_llwa_sweep_hints(RfClaimRun *run, double *first);

RfStatus rf_llwa_01(RfClaimRun *run);
RfStatus rf_llwa_02(RfClaimRun *run);
RfStatus rf_llwa_03(RfClaimRun *run);
RfStatus rf_llwa_04(RfClaimRun *run);
RfStatus rf_llwa_05(RfClaimRun *run);
RfStatus rf_llwa_06(RfClaimRun *run);
RfStatus rf_llwa_07(RfClaimRun *run);
RfStatus rf_llwa_08(RfClaimRun *run);
RfStatus rf_llwa_09(RfClaimRun *run);
RfStatus rf_llwa_10(RfClaimRun *run);
RfStatus rf_llwa_11(RfClaimRun *run);
RfStatus rf_llwa_12(RfClaimRun *run);
RfStatus rf_llwa_13(RfClaimRun *run);
RfStatus rf_llwa_14(RfClaimRun *run);
RfStatus rf_llwa_15(RfClaimRun *run);
RfStatus rf_llwa_16(RfClaimRun *run);
RfStatus rf_llwa_17(RfClaimRun *run);
RfStatus rf_llwa_18(RfClaimRun *run);
RfStatus rf_llwa_19(RfClaimRun *run);
RfStatus rf_llwa_20(RfClaimRun *run);
RfStatus rf_llwa_21(RfClaimRun *run);
RfStatus rf_llwa_22(RfClaimRun *run);
RfStatus rf_llwa_23(RfClaimRun *run);
RfStatus rf_llwa_24(RfClaimRun *run);
RfStatus rf_llwa_25(RfClaimRun *run);
RfStatus rf_llwa_26(RfClaimRun *run);
RfStatus rf_llwa_27(RfClaimRun *run);
RfStatus rf_llwa_28(RfClaimRun *run);
RfStatus rf_llwa_29(RfClaimRun *run);
RfStatus rf_llwa_30(RfClaimRun *run);
RfStatus rf_llwa_31(RfClaimRun *run);
RfStatus rf_llwa_32(RfClaimRun *run);
RfStatus rf_llwa_33(RfClaimRun *run);
RfStatus rf_llwa_34(RfClaimRun *run);
RfStatus rf_llwa_35(RfClaimRun *run);
RfStatus rf_llwa_36(RfClaimRun *run);
RfStatus rf_llwa_37(RfClaimRun *run);
RfStatus rf_llwa_38(RfClaimRun *run);
RfStatus rf_llwa_39(RfClaimRun *run);
RfStatus rf_llwa_40(RfClaimRun *run);
RfStatus rf_llwa_41(RfClaimRun *run);

#endif

/* Claims of papers beside the five. */
#include "kit/claims_internal.h"
#include "neighbours/neighbours.h"

#define NB "Neighbours"

static const RfClaim claims[] = {
    {"NB-01", NB,
     "Frei, Vardi, Bartlett, Srebro, Hu: Implicit bias in leaky ReLU networks trained on high-dimensional "
     "data "
     "(ICLR 2023), Theorem 3.2",
     "nearly orthogonal data, frozen second layer, leaky ReLU: one limit, of rank 2, with equal margins and "
     "a "
     "linear boundary",
     RF_CLAIM_LIMIT, RF_CLAIM_NORMAL, rf_nb_01},
    {"NB-02", NB,
     "Chizat, Bach: Implicit bias of gradient descent for wide two-layer neural networks trained with the "
     "logistic loss (COLT 2020), Theorem 5",
     "no limit beats the proved optimum, and wider networks reach it more often", RF_CLAIM_PROBABILITY,
     RF_CLAIM_NORMAL, rf_nb_02},
    {"NB-03", NB,
     "Mishkin, Pilanci: Optimal sets and solution paths of ReLU networks (ICML 2023), the optimal set",
     "every neuron of every optimal network is tight in the one dual problem, and no other direction is used",
     RF_CLAIM_IDENTITY, RF_CLAIM_NORMAL, rf_nb_03},
    {"NB-04", NB,
     "Vardi, Yehudai, Shamir: Gradient methods provably converge to non-robust networks (NeurIPS 2022), "
     "Theorem 4.1",
     "orthogonal samples: one perturbation of length 1/sqrt n flips all n of them, and none shorter flips "
     "any",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_nb_04},
    {"NB-05", NB,
     "Maennel, Bousquet, Gelly: Gradient descent quantizes ReLU network features (2018), section 3",
     "from small starts all neurons of all widths end in finitely many directions, which the data fix",
     RF_CLAIM_LIMIT, RF_CLAIM_QUICK, rf_nb_05},
    {"NB-06", NB,
     "Boursier, Flammarion: Early alignment in two-layer networks training is a two-edged sword (2024), "
     "section 3",
     "early alignment of regression on (x,y) is that of classification on (|y|x, sign y)", RF_CLAIM_LIMIT,
     RF_CLAIM_QUICK, rf_nb_06},
    {"NB-07", NB,
     "Kou, Chen, Gu: Implicit bias of gradient descent for two-layer ReLU and leaky ReLU networks on "
     "nearly-orthogonal "
     "data (NeurIPS 2023), the margins and the stable rank",
     "gradient descent on orthogonal samples: margins differ by constants, so their ratios go to 1, and the "
     "stable rank "
     "falls to that of the KKT point",
     RF_CLAIM_RATE, RF_CLAIM_QUICK, rf_nb_07},
    {"NB-08", NB,
     "Tsoy, Konstantinov: Simplicity bias of two-layer networks beyond linearly separable data (ICML 2024), "
     "XOR with "
     "four neurons",
     "from small sizes the loss falls by ln 2 at four closed-form times, from saddle to saddle",
     RF_CLAIM_RATE, RF_CLAIM_QUICK, rf_nb_08},
    {"NB-09", NB,
     "Azulay, Moroshko, Nacson, Woodworth, Srebro, Globerson, Soudry: On the implicit bias of initialization "
     "shape "
     "(ICML 2021), the Q function",
     "regression with w = u o v from an unbalanced start ends at the minimiser of Q, whose curvature the "
     "start fixes",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_nb_09},
    {"NB-10", NB,
     "Safran, Vardi, Lee: On the effective number of linear regions in shallow univariate ReLU networks "
     "(NeurIPS 2022), "
     "regions against label changes",
     "on the line the limit has as many linear regions as label changes ask for, not as many as samples or "
     "neurons",
     RF_CLAIM_BOUND, RF_CLAIM_NORMAL, rf_nb_10},
};

const RfClaimTable rf_claims_nb = {claims, sizeof claims / sizeof claims[0]};

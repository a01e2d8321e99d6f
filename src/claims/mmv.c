/* Claims of Min, Mallada, Vidal: Early neuron alignment in two-layer ReLU networks with small initialization.
 */
#include "mmv.h"

#define MMV "Min, Mallada, Vidal"

static const RfClaim claims[] = {
    {"MMV-01", MMV, "Assumption 1, Lemma 5, (18)",
     "cosines in the cone of the signed samples are at least sep", RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_01},
    {"MMV-02", MMV, "Lemmas 6, 7", "the cones S+, S-, Sdead and the cone of the signed samples",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_02},
    {"MMV-03", MMV, "Lemmas 8, 9, (19)-(22)", "the largest zeta1 and xi in closed form", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, rf_mmv_03},
    {"MMV-04", MMV, "Assumption 2, (26)", "random starts satisfy assumption 2; zeta is the smaller constant",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_mmv_04},
    {"MMV-05", MMV, "Lemma 2, (9)", "the slope of the loss differs from y by at most twice the output",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_05},
    {"MMV-09", MMV, "Lemma 11, (25)", "the sum of active samples has length at least sqrt(sep) n_a X_min",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_09},
    {"MMV-12", MMV, "(28), (29), Figures 14-17", "no activation path takes longer than the maximal one",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_12},
    {"MMV-14", MMV, "Theorem 1, t1", "alignment ends after O(ln n), and how it depends on sep", RF_CLAIM_RATE,
     RF_CLAIM_QUICK, rf_mmv_14},
    {"MMV-22", MMV, "remark after Theorem 1", "random starts reach S+ with probability at least 1 - 2^{-k}",
     RF_CLAIM_PROBABILITY, RF_CLAIM_QUICK, rf_mmv_22},
    {"MMV-23", MMV, "Appendix E.3", "no solution exists for a subgradient phi'(0) > 0",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_mmv_23},
    {"MMV-24", MMV, "Appendix E.4, (47)", "solutions are not unique; one is regular",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_mmv_24},
    {"MMV-25", MMV, "Appendix E.2, E.5, (46), (50)",
     "each hyperplane is crossed once; the gradient is bounded", RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_mmv_25},
    {"MMV-26", MMV, "Appendix F", "starts on hyperplanes: the choice of subgradient does not matter",
     RF_CLAIM_LIMIT, RF_CLAIM_QUICK, rf_mmv_26},
    {"MMV-27", MMV, "Appendix A.1, Figure 6", "alignment first, then the loss drops class by class",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_27},
    {"MMV-28", MMV, "Appendix A.2, Figures 7, 8",
     "the smaller the separation, the longer neurons stay outside S+", RF_CLAIM_FIGURE, RF_CLAIM_NORMAL,
     rf_mmv_28},
    {"MMV-29", MMV, "Appendix A.3, Figure 9", "orthogonal samples: only neurons of S+ learn both",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_29},
    {"MMV-30", MMV, "Section 4, Figure 5", "digits 0 and 1: alignment first, then the loss drops",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_30},
    {"MMV-31", MMV, "Appendix A.4, Figures 10, 11", "the same for the digits 3 and 8, 1 and 7",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_31},
    {"MMV-32", MMV, "Appendix A.5, Figures 12, 13",
     "both layers: directions change first, norms later; first layer only: norms grow at once",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_32},
};
const RfClaimTable rf_claims_mmv = {claims, sizeof claims / sizeof claims[0]};

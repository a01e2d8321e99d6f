/* Claims of Lyu, Li, Wang, Arora: Gradient descent on two-layer nets: margin maximization and simplicity
 * bias. */
#include "claims_internal.h"
#include "llwa.h"

#define LLWA "Lyu, Li, Wang, Arora"

static const RfClaim claims[] = {
    {"LLWA-01", LLWA, "Assumptions 3.2, 4.1, 4.5, A.1-A.9, Definition 3.3",
     "the assumptions with their slack on every data set of the catalogue", RF_CLAIM_CONSTRUCTION,
     RF_CLAIM_QUICK, rf_llwa_01},
    {"LLWA-03", LLWA, "Theorem 4.2", "on symmetric data the max-margin network is the linear separator",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_llwa_03},
    {"LLWA-04", LLWA, "Appendix C", "merging to two neurons does not lower the margin on symmetric data",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_llwa_04},
    {"LLWA-05", LLWA, "Section 5.1",
     "near zero symmetric data act through their mean: G is linear, one direction grows", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, rf_llwa_05},
    {"LLWA-06", LLWA, "Lemmas B.10-B.13, (13)",
     "outputs and the distance to the linearised loss are bounded by powers of the largest neuron",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_llwa_06},
    {"LLWA-07", LLWA, "Lemma B.14", "near zero every sample keeps its weight up to a factor 1 + eps",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_llwa_07},
    {"LLWA-13", LLWA, "Lemmas D.1, D.2", "a small start follows the linearised flow", RF_CLAIM_BOUND,
     RF_CLAIM_QUICK, rf_llwa_13},
    {"LLWA-14", LLWA, "Lemma 5.2", "phase I ends with every neuron along +-(mubar,1), up to r^3",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_llwa_14},
    {"LLWA-15", LLWA, "Lemmas 5.3, E.1, E.2", "embedding two neurons into a wide net commutes with the flow",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_llwa_15},
    {"LLWA-17", LLWA, "Definition E.3, Theorem E.4, Lemmas E.5, E.6, E.8",
     "from a well-aligned direction the flow leaves the origin on one path", RF_CLAIM_LIMIT, RF_CLAIM_QUICK,
     rf_llwa_17},
    {"LLWA-18", LLWA, "Lemmas 5.4, E.9", "phase II from a small start is the embedded two-neuron flow",
     RF_CLAIM_LIMIT, RF_CLAIM_QUICK, rf_llwa_18},
    {"LLWA-20", LLWA, "Lemma F.1", "swapping the two neurons keeps the margin constraints", RF_CLAIM_BOUND,
     RF_CLAIM_QUICK, rf_llwa_20},
    {"LLWA-31", LLWA, "Lemmas G.1, G.2",
     "A.1 implies A.2, and A.2 says that every admissible early velocity separates", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, rf_llwa_31},
    {"LLWA-34", LLWA, "Appendix I.1.1", "a KKT point of symmetric data that is not linear, for every leak",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_llwa_34},
    {"LLWA-35", LLWA, "Lemma G.10, Theorem G.11",
     "the one-neuron direction is a local max-margin direction among nets of its signs", RF_CLAIM_IDENTITY,
     RF_CLAIM_NORMAL, rf_llwa_35},
    {"LLWA-40", LLWA, "Appendix J, Table 1", "trained nets and the max-margin separator err alike",
     RF_CLAIM_TABLE, RF_CLAIM_NORMAL, rf_llwa_40},
    {"LLWA-41", LLWA, "Appendix J, Figure 4", "the zero contour of trained nets follows the separator",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_llwa_41},
};
const RfClaimTable rf_claims_llwa = {claims, sizeof claims / sizeof claims[0]};

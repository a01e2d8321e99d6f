/* Claims of Lyu, Li, Wang, Arora: Gradient descent on two-layer nets: margin maximization and simplicity
 * bias. */
#include "claims_internal.h"
#include "llwa.h"

#define LLWA "Lyu, Li, Wang, Arora"

static const RfClaim claims[] = {
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
    {"LLWA-20", LLWA, "Lemma F.1", "swapping the two neurons keeps the margin constraints", RF_CLAIM_BOUND,
     RF_CLAIM_QUICK, rf_llwa_20},
    {"LLWA-40", LLWA, "Appendix J, Table 1", "trained nets and the max-margin separator err alike",
     RF_CLAIM_TABLE, RF_CLAIM_NORMAL, rf_llwa_40},
    {"LLWA-41", LLWA, "Appendix J, Figure 4", "the zero contour of trained nets follows the separator",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_llwa_41},
};
const RfClaimTable rf_claims_llwa = {claims, sizeof claims / sizeof claims[0]};

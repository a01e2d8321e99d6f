/* Claims of Min, Mallada, Vidal: Early neuron alignment in two-layer ReLU networks with small initialization.
 */
#include "mmv.h"

#define MMV "Min, Mallada, Vidal"

static const RfClaim claims[] = {
    {"MMV-27", MMV, "Appendix A.1, Figure 6", "alignment first, then the loss drops class by class",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_27},
    {"MMV-28", MMV, "Appendix A.2, Figures 7, 8",
     "the smaller the separation, the longer neurons stay outside S+", RF_CLAIM_FIGURE, RF_CLAIM_NORMAL,
     rf_mmv_28},
    {"MMV-29", MMV, "Appendix A.3, Figure 9", "orthogonal samples: only neurons of S+ learn both",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_mmv_29},
};
const RfClaimTable rf_claims_mmv = {claims, sizeof claims / sizeof claims[0]};

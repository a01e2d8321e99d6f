/* Claims of Phuong and Lampert: The inductive bias of ReLU networks on orthogonally separable data. */
#include "pl.h"

#include "claims_internal.h"

#define PL "Phuong, Lampert"

static const RfClaim claims[] = {
    {"PL-18", PL, "Section 5.1, Figure 1",
     "SGD on orthogonally separable data: two singular values, neurons on two rays", RF_CLAIM_FIGURE,
     RF_CLAIM_NORMAL, rf_pl_18},
    {"PL-19", PL, "Section 5.2, (30), Figure 2", "the residual network of depth 4 has layers of rank two",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_pl_19},
    {"PL-20", PL, "Appendix D, Table 1", "the shapes of the convolutional network", RF_CLAIM_TABLE,
     RF_CLAIM_QUICK, rf_pl_20},
};
const RfClaimTable rf_claims_pl = {claims, sizeof claims / sizeof claims[0]};

/* Claims of Phuong and Lampert: The inductive bias of ReLU networks on orthogonally separable data. */
#include "pl.h"

#include "claims_internal.h"

#define PL "Phuong, Lampert"

static const RfClaim claims[] = {
    {"PL-01", PL, "(1)", "orthogonally separable: every sample, with its label, separates the data",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_pl_01},
    {"PL-02", PL, "(6), (7), (78)", "w+ and w- are combinations of support samples, which may fail to span",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_pl_02},
    {"PL-03", PL, "Lemma A.1, (31)-(36)", "at an extremal direction g(w) = C w", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, rf_pl_03},
    {"PL-04", PL, "Lemma A.2, (37)-(44)", "the potential near a direction, also on hyperplanes",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_pl_04},
    {"PL-05", PL, "Lemma A.3, (45), (46)",
     "the velocity is the one element of the inclusion that keeps sliding", RF_CLAIM_IDENTITY, RF_CLAIM_QUICK,
     rf_pl_05},
    {"PL-06", PL, "Lemma A.4, (57), (58)", "balanced neurons stay balanced and never reach zero",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_pl_06},
    {"PL-07", PL, "Lemma 1, (11), (12)", "small starts: every neuron dies or enters an extremal sector",
     RF_CLAIM_LIMIT, RF_CLAIM_NORMAL, rf_pl_07},
    {"PL-08", PL, "Lemma 2, (13), (14)",
     "orthogonally separable data have one extremal direction of each sign, the class sums",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_pl_08},
    {"PL-09", PL, "Lemma 3, (63)-(67)", "extremal sectors are never left", RF_CLAIM_BOUND, RF_CLAIM_QUICK,
     rf_pl_09},
    {"PL-10", PL, "Lemma B.1", "inputs of the own class only grow", RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_pl_10},
    {"PL-11", PL, "(15), (16)", "after alignment: two independent linear networks and a constant part",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_pl_11},
    {"PL-12", PL, "(17), (18)", "each group becomes rank one along w+ or w-", RF_CLAIM_LIMIT, RF_CLAIM_NORMAL,
     rf_pl_12},
    {"PL-13", PL, "(19)-(22)", "normalised class margins grow; |W|^2 grows like |w| ln t", RF_CLAIM_RATE,
     RF_CLAIM_NORMAL, rf_pl_13},
    {"PL-14", PL, "Theorem 1, (8), (9)", "the network converges to u w+^T + z w-^T", RF_CLAIM_LIMIT,
     RF_CLAIM_NORMAL, rf_pl_14},
    {"PL-15", PL, "Theorem 1", "a live neuron remains with probability at least 1 - 2^{-m}",
     RF_CLAIM_PROBABILITY, RF_CLAIM_QUICK, rf_pl_15},
    {"PL-16", PL, "Corollary 1, (69)-(74)", "the normalised function converges to the max-margin one",
     RF_CLAIM_LIMIT, RF_CLAIM_NORMAL, rf_pl_16},
    {"PL-17", PL, "Lemma C.1, (75)-(90)", "the network along w+ and w- is a KKT point and globally optimal",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_pl_17},
    {"PL-18", PL, "Section 5.1, Figure 1",
     "SGD on orthogonally separable data: two singular values, neurons on two rays", RF_CLAIM_FIGURE,
     RF_CLAIM_NORMAL, rf_pl_18},
    {"PL-19", PL, "Section 5.2, (30), Figure 2", "the residual network of depth 4 has layers of rank two",
     RF_CLAIM_FIGURE, RF_CLAIM_NORMAL, rf_pl_19},
    {"PL-20", PL, "Appendix D, Table 1", "the shapes of the convolutional network", RF_CLAIM_TABLE,
     RF_CLAIM_QUICK, rf_pl_20},
};
const RfClaimTable rf_claims_pl = {claims, sizeof claims / sizeof claims[0]};

/* Claims of Wang and Pilanci: The convex geometry of backpropagation. */
#include "wp.h"

#define WP "Wang, Pilanci"

static const RfClaim claims[] = {
    {"WP-01", WP, "Proposition 2, (13)-(15)",
     "the convex program, its dual and the max-margin problem have one value", RF_CLAIM_IDENTITY,
     RF_CLAIM_NORMAL, rf_wp_01},
    {"WP-02", WP, "Proposition 1, (5), (7), (8)", "several classes: the optimum is the sum of binary optima",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_wp_02},
    {"WP-03", WP, "(6) and the bound below it", "the number of arrangements, exactly and bounded",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_wp_03},
    {"WP-05", WP, "Theorem 3, (16), (17), (50)",
     "a dual feasible KKT point is a KKT point of the convex program", RF_CLAIM_IDENTITY, RF_CLAIM_QUICK,
     rf_wp_05},
    {"WP-06", WP, "Proposition 4",
     "orthogonally separable data, masks that cover both classes: the dual vector is feasible",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_wp_06},
    {"WP-07", WP, "Lemmas 5, 6", "masks that differ where lam <= 0, and sub-masks, stay feasible",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_wp_07},
    {"WP-08", WP, "Definition 2, (29), (30)",
     "spike-free is a sign condition on (XX^T)^-1; the spike numbers of the two examples",
     RF_CLAIM_CONSTRUCTION, RF_CLAIM_QUICK, rf_wp_08},
    {"WP-09", WP, "Proposition 5, Remark 1, (64)-(69)",
     "spike-free data, masks that cover both classes: the dual vector is feasible", RF_CLAIM_IDENTITY,
     RF_CLAIM_QUICK, rf_wp_09},
    {"WP-12", WP, "(75)-(79)", "near the origin the sample weights are y/2 up to a quarter of the outputs",
     RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_wp_12},
    {"WP-19", WP, "Lemma 4, Proposition 7",
     "orthogonally separable data: the class sum is the only stationary direction that activates a sample",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_wp_19},
    {"WP-20", WP, "Lemma 7", "near vectors have near directions", RF_CLAIM_BOUND, RF_CLAIM_QUICK, rf_wp_20},
    {"WP-21", WP, "Lemmas 8, 9",
     "stationary is a local maximum when no sector around has a longer g; Lemma 9 fails on the axes",
     RF_CLAIM_COUNTER_EXAMPLE, RF_CLAIM_QUICK, rf_wp_21},
    {"WP-25", WP, "Section 2.2, (10)-(12)", "extreme points of the rectified ellipsoid and its polar set",
     RF_CLAIM_IDENTITY, RF_CLAIM_QUICK, rf_wp_25},
    {"WP-26", WP, "Appendix F.1, (128), (129)", "the numbers of the first example", RF_CLAIM_TABLE,
     RF_CLAIM_QUICK, rf_wp_26},
    {"WP-27", WP, "Appendix F.2, (130)", "the numbers of the second example", RF_CLAIM_TABLE, RF_CLAIM_QUICK,
     rf_wp_27},
};
const RfClaimTable rf_claims_wp = {claims, sizeof claims / sizeof claims[0]};

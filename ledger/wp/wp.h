/* Checks of the claims WP-01 ... WP-30 (Wang and Pilanci), in files by theme: convex (the convex program and
 * its dual), spikes (spike-free matrices, the worked examples), points (KKT points, stationary directions,
 * bounds at a point), flow (bounds along the flow), alignment (Theorem 1), limits (Theorems 2 and 4),
 * figures. lam is always signed here: y_i lam_i >= 0. */
#ifndef RF_CLAIMS_WP_H
#define RF_CLAIMS_WP_H

#include "kit/claims_internal.h"
#include "data/data.h"
#include "net/net.h"
#include "reluflow/optimum.h"

/* Claims of this paper are about few samples: a mask is one word, bit i = sample i. */
enum { RF_WP_MOST = 32, RF_WP_MOST_D = 8 };

typedef struct RfWpMasks {
  rf_index count;
  uint64_t *masks;   /* the open sectors: bit i set where <w,x_i> > 0 */
  double *witnesses; /* count rows of d, unit, inside the sectors */
} RfWpMasks;

void rf_wp_masks_free(RfWpMasks *masks);
RfStatus rf_wp_masks(RfContext *context, RfWpMasks *masks, const double *X, rf_index n, rf_index d);
/* out = X^T D lam. */
void rf_wp_masked(double *out, const double *X, rf_index n, rf_index d, uint64_t mask, const double *lam);
/* max of lam^T D X u over |u| <= 1 with (2D - I) X u >= 0, by its dual: the least |X^T D lam + X^T (2D-I) z|
 * over z >= 0. z (n) may be NULL. */
RfStatus rf_wp_cone_maximum(RfContext *context, double *value, double *z, const double *X, rf_index n,
                            rf_index d, uint64_t mask, const double *lam);
/* max over |u| <= 1 of |lam^T (Xu)_+|, or of sign lam^T (Xu)_+ for sign = +-1; u (d) may be NULL. */
RfStatus rf_wp_dual_norm(RfContext *context, double *value, double *u, const double *X, rf_index n,
                         rf_index d, const double *lam, int sign);
/* The same in the plane on 1e5 angles and the directions of the hyperplanes. */
double rf_wp_grid_norm(const double *X, rf_index n, const double *lam, int sign);
/* lam^T (Xu)_+. */
double rf_wp_rectified(const double *X, rf_index n, rf_index d, const double *lam, const double *u);
RfStatus rf_wp_optimum(RfContext *context, RfOptimum *optimum, const RfDataset *data);
/* |w+| and |w-|, the multipliers of both divided by the norms, signed (any output may be NULL). */
RfStatus rf_wp_class_vectors(RfContext *context, double norms[2], double *w, double *lam,
                             const RfDataset *data);

/* (26), (27) with sqrt(1 - part delta): when the comparison ODE started at cosine c0 reaches c. */
double rf_wp_shift_time(double delta, double part, double g0, double c0, double c);

/* Seed k of a claim: the ledger's own, moved by --seed. */
int rf_wp_seed(const RfClaimRun *run, rf_index k);

/* The path of a single neuron, |w| = |a| = eps at the start: states at the steps of the flow and between. */
typedef struct RfWpPath {
  rf_index d, count, capacity;
  double *t, *u; /* count, and count rows of d: the unit direction */
  double *g;     /* count rows of d: unit direction of the field, projected where the neuron slides; or 0 */
  uint64_t *on, *zero; /* count: samples with <u,x> > 0; samples on whose hyperplane it slides */
  bool failed;
} RfWpPath;
void rf_wp_path_free(RfWpPath *path);
RfStatus rf_wp_follow(RfClaimRun *run, RfWpPath *path, const RfDataset *data, const double *u0, int sign,
                      double log_scale, double t_end);
/* cos of u with the unprojected sum of the active y_i x_i; 0 without an active sample. */
double rf_wp_cosine(const RfDataset *data, const double *u, uint64_t on);

RfStatus rf_wp_01(RfClaimRun *run);
RfStatus rf_wp_02(RfClaimRun *run);
RfStatus rf_wp_03(RfClaimRun *run);
RfStatus rf_wp_04(RfClaimRun *run);
RfStatus rf_wp_05(RfClaimRun *run);
RfStatus rf_wp_06(RfClaimRun *run);
RfStatus rf_wp_07(RfClaimRun *run);
RfStatus rf_wp_08(RfClaimRun *run);
RfStatus rf_wp_09(RfClaimRun *run);
RfStatus rf_wp_10(RfClaimRun *run);
RfStatus rf_wp_11(RfClaimRun *run);
RfStatus rf_wp_12(RfClaimRun *run);
RfStatus rf_wp_13(RfClaimRun *run);
RfStatus rf_wp_14(RfClaimRun *run);
RfStatus rf_wp_15(RfClaimRun *run);
RfStatus rf_wp_16(RfClaimRun *run);
RfStatus rf_wp_17(RfClaimRun *run);
RfStatus rf_wp_18(RfClaimRun *run);
RfStatus rf_wp_19(RfClaimRun *run);
RfStatus rf_wp_20(RfClaimRun *run);
RfStatus rf_wp_21(RfClaimRun *run);
RfStatus rf_wp_22(RfClaimRun *run);
RfStatus rf_wp_23(RfClaimRun *run);
RfStatus rf_wp_24(RfClaimRun *run);
RfStatus rf_wp_25(RfClaimRun *run);
RfStatus rf_wp_26(RfClaimRun *run);
RfStatus rf_wp_27(RfClaimRun *run);
RfStatus rf_wp_28(RfClaimRun *run);
RfStatus rf_wp_29(RfClaimRun *run);
RfStatus rf_wp_30(RfClaimRun *run);

#endif

/* theory: what the five papers say about a data set. Their assumptions with slack, which theorem applies or
 * the first reason why not, and the limit that an applicable theorem predicts. Statements are used in
 * corrected form where a printed one is known to fail; src/theory/theorems.c says so at each of them.
 *
 * Paper codes: PL Phuong & Lampert; MMV Min, Mallada, Vidal; LLWA Lyu, Li, Wang, Arora; WP Wang & Pilanci;
 * VSS Vardi, Shamir, Srebro. z_i = y_i x_i. Samples are numbered from 0.
 *
 * Ownership: a result owns its arrays (rf_theory_free); ids are constants; the results that a problem points
 * to are read during the call only.
 *
 * Threads: calls with different contexts may run at the same time. */
#ifndef RELUFLOW_THEORY_H
#define RELUFLOW_THEORY_H

#include "reluflow/core.h"
#include "reluflow/data.h"
#include "reluflow/geometry.h"
#include "reluflow/margin.h"
#include "reluflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* holds iff slack > 0, up to rounding; slack is NaN where an assumption has none or was not computed. */
typedef struct RfAssumption {
  RfAnswer holds;
  double slack;
} RfAssumption;

/* LLWA appendix A. Theorems ask for leak in (0,1); the assumptions are also given outside, A.2 for leak 0 as
 * the limit. Where one makes no sense (A.1, A.5, A.9 on data that are not separable, A.5 and A.9 for leak 0)
 * it is RF_NO, slack NaN. mu   = (1/n) sum z_i;  mu+ with the negative samples times leak, mu- with the
 * positive samples times leak; wL+- = unit max-margin separators of the same copies, gL+- their margins. */
typedef struct RfPrincipal {
  RfAssumption a1; /* a principal direction w exists; slack: leak <mu,w> min<z_i,w> - mean|Px| max|Px|,
                      largest found */
  RfAssumption a2; /* slack: min_i <mu,z_i> - ((1-leak)/leak) (1/n) sum_j max(0,-<z_i,z_j>) */
  RfAssumption a3; /* slack: |mu+| - |mu-| */
  RfAssumption a5; /* slack: gL+/2 minus the best margin of nets with all a <= 0 on the support of wL+ */
  RfAssumption a8; /* slack: |mu-| - |mu+| */
  RfAssumption a9; /* slack: gL-/2 minus the best margin of nets with all a >= 0 on the support of wL- */
  double mu_plus_norm, mu_minus_norm; /* computed for every leak; NaN for n = 0 */
  double *a1_direction;               /* d: the direction of a1's slack; NULL when not computed */
  double *w_plus, *w_minus;           /* d, unit: wL+, wL-; NULL when not computed */
  double margin_plus, margin_minus;   /* gL+, gL-; NaN when not computed */
} RfPrincipal;

/* MMV Assumption 1 and the constants of its Theorem 1 that depend on the data only, summed loss. With the
 * plain logistic loss times are those of the paper divided by b0 = 1/2. NaN unless assumption 1 holds. */
typedef struct RfAlignmentBounds {
  RfAssumption separated; /* assumption 1: slack = sep */
  double zeta1;           /* min_i min(cos^2(x+,x_i), cos^2(x-,x_i)); an absent class is left out */
  double xi;              /* sep^2 */
  double t1;        /* 16 ln n/(min(zeta1,xi) sqrt(sep) X_min b0), without the start's zeta2; 0 for n = 1 */
  double loss_rate; /* (sep X_min)^2/(32 X_max) */
} RfAlignmentBounds;

typedef struct RfTheorem {
  const char *id;   /* PL-Thm1, LLWA-Thm4.3, ... */
  RfAnswer applies; /* RF_UNKNOWN: an assumption could not be decided */
  char why[256];    /* one sentence: what makes it apply, or the first reason why not */
} RfTheorem;

/* The direction of theta at t = infinity that a theorem promises, written as groups of equal neurons at min
 * margin 1: f(x) = sum_g sign_g phi(<u_g,x>), |theta|^2 = 2 sum |u_g|. */
typedef struct RfPrediction {
  const char *theorem;
  double margin;   /* normalised margin 1/(2 sum |u_g|) */
  rf_index groups; /* 1 or 2 */
  double *u;       /* groups rows of d */
  double sign[2];
  char when[160]; /* what the theorem asks of the start */
} RfPrediction;

typedef struct RfTheoryProblem {
  const RfDataset *data;
  double leak;
  RfLoss loss;
  /* Results for the same data and leak. With more than two classes the ones about labels are NULL. */
  const RfLinearMargin *linear;             /* of all samples, without intercept */
  const RfClassMargin *positive, *negative; /* w+ and w- */
  const RfPairFacts *pairs;
  const RfSpikeFree *spike;   /* NULL = not computed */
  const RfExtremal *extremal; /* NULL = not computed */
} RfTheoryProblem;

typedef struct RfTheory {
  RfAnswer fits;          /* some network of this leak and enough width classifies every sample correctly */
  RfAssumption separable; /* LLWA 3.2: slack = linear margin */
  RfAssumption symmetric; /* LLWA 4.1: no slack */
  RfAssumption off_mean;  /* LLWA 4.5: slack = min_i |<mu,x_i>| */
  RfPrincipal principal;
  RfAlignmentBounds alignment;
  rf_index n_theorems;
  RfTheorem *theorems;
  rf_index n_predictions; /* of applicable theorems, the strongest statement first */
  RfPrediction *predictions;
} RfTheory;

RF_API void rf_theory_free(RfTheory *theory);
/* RF_OK, RF_INTERRUPTED with what was decided so far (the rest RF_UNKNOWN), or a failure. */
RF_API RfStatus rf_theory_inspect(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem);

/* NULL when the id is unknown. */
RF_API const RfTheorem *rf_theory_find(const RfTheory *theory, const char *id);

#ifdef __cplusplus
}
#endif
#endif

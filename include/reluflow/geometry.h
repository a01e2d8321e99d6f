/* geometry: what the positions of the samples decide before any training. Pairwise facts, sectors and cones,
 * hyperplane arrangements, extremal directions of the alignment potential, and the spike test.
 *
 * Everywhere X is n rows of d; y (n) is -1 or +1. Row norms do not matter to sectors, so all tests are done
 * on unit rows. Zero rows have no hyperplane: they are left out of arrangements and cones and show as '0' in
 * a sector.
 *
 * Ownership: results own their arrays (rf_..._free); X and y are read during the call only. What a visitor is
 * given holds until it returns.
 *
 * Threads: calls with different contexts may run at the same time; results do not depend on context->threads.
 */
#ifndef RELUFLOW_GEOMETRY_H
#define RELUFLOW_GEOMETRY_H

#include "reluflow/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A question that a work limit may leave open. */
typedef enum RfAnswer { RF_NO = 0, RF_YES = 1, RF_UNKNOWN = -1 } RfAnswer;

/* ---- pairwise facts ----------------------------------------------------------------------------- */

typedef struct RfPairFacts {
  rf_index n_pos, n_neg;      /* both 0 without labels */
  rf_index zeros;             /* rows that are exactly 0 */
  rf_index duplicates;        /* rows equal to an earlier row, labels aside */
  rf_index rank;              /* of X, relative tolerance tol.rank */
  double norm_min, norm_max;  /* of the rows; NaN for n = 0 */
  bool orthogonal_separable;  /* <x_i,x_j> > 0 for equal labels (i = j too), <= 0 for different ones */
  double min_same, max_cross; /* extreme inner products over pairs i < j; NaN where there is no such pair */
  double sep;     /* min over i, j (i = j too) of <z_i,z_j>/(|x_i||x_j|), zero rows left out; NaN if none */
  bool symmetric; /* with every (x,y) the set holds (-x,-y), to tol.zero max|x| */
} RfPairFacts;

/* Inner products within tol.zero |x_i||x_j| of 0 count as exactly 0. y may be NULL (several classes): then
 * the fields about labels are false or NaN. Work n^2 d / 2 in blocks, memory O(n). RF_INTERRUPTED leaves
 * min_same, max_cross and sep as NaN. */
RF_API RfStatus rf_geometry_pairs(RfContext *context, RfPairFacts *facts, const double *X, const double *y,
                                  rf_index n, rf_index d);

/* ---- sectors ------------------------------------------------------------------------------------ */

/* ---- cones -------------------------------------------------------------------------------------- */

typedef enum RfConeKind {
  RF_CONE_POSITIVE = 0, /* S+: <w,x_i> > 0 exactly for the positive samples */
  RF_CONE_NEGATIVE = 1, /* S-: exactly for the negative samples */
  RF_CONE_DEAD = 2      /* w != 0 with <w,x_i> <= 0 for all samples */
} RfConeKind;

typedef struct RfCone {
  RfAnswer nonempty;
  bool interior;   /* the witness has no zero inner product: it lies in an open sector */
  double *witness; /* d, unit, when nonempty; the one of largest margin where an interior exists */
  double
      *certificate; /* n, >= 0, sum 1, when empty. S+: the positive samples' combination equals the negative
                     * samples' one, with weight on the positive; S-: mirrored; dead, and a class without
                     * samples: every entry > 0 (zero rows 0), sum of f_i x_i = 0, and the rows span R^d */
  double residual;  /* |sum of +-f_i x_i| / sum of f_i |x_i| of the certificate; 0 when nonempty */
} RfCone;

RF_API void rf_cone_free(RfCone *cone);
/* hint (d, may be NULL): a vector to try first; accepted when it lies strictly inside, without the search for
 * the best one. RF_INTERRUPTED leaves nonempty = RF_UNKNOWN. */
RF_API RfStatus rf_geometry_cone(RfContext *context, RfCone *cone, RfConeKind kind, const double *X,
                                 const double *y, const double *hint, rf_index n, rf_index d);

/* ---- arrangements: the open sectors of X -------------------------------------------------------- */

typedef struct RfSectorCount {
  rf_index rows;             /* nonzero rows */
  rf_index planes;           /* distinct hyperplanes among them: parallel and opposite rows share one */
  rf_index rank;             /* of the nonzero unit rows */
  RfAnswer general_position; /* every subset of at most d rows is independent */
  bool known;                /* count is there (the work limit was enough) */
  bool exact;                /* no decision on the way was close to its tolerance */
  double approximate;        /* count as a double, NaN when not known */
  char *count;               /* decimal digits, NULL when not known */
  char *bound;               /* 2 sum_{k<rank} C(rows-1, k), decimal digits: what general position gives */
} RfSectorCount;

RF_API void rf_sector_count_free(RfSectorCount *count);
/* Deletion and restriction down to the plane: no enumeration, any degeneracy. work_limit counts plane
 * restrictions times rows, about 1e8 a second; <= 0 = 2e7. RF_LIMIT when over it (count unknown, bound still
 * there). */
RF_API RfStatus rf_geometry_count_sectors(RfContext *context, RfSectorCount *count, const double *X,
                                          rf_index n, rf_index d, double work_limit);

typedef enum RfSectorMethod {
  RF_SECTORS_AUTO = 0,  /* plane: by angle; otherwise sweep */
  RF_SECTORS_SWEEP = 1, /* cell by cell through restrictions: fastest, holds half of the sectors in memory */
  RF_SECTORS_SEARCH = 2 /* depth first with a least-squares feasibility test per node: slow, memory O(nd) */
} RfSectorMethod;

typedef struct RfSectorSettings {
  RfSectorMethod method;
  rf_index max_sectors; /* sweep: refuse (RF_LIMIT) to hold more than this; <= 0 = 20 million */
} RfSectorSettings;

/* Called for every open sector; false stops. */
typedef bool (*RfSectorFn)(void *user, const uint64_t *positive, const double *witness);
/* visited (may be NULL): how many were given. RF_INTERRUPTED by the context, not by visit. */
RF_API RfStatus rf_geometry_visit_sectors(RfContext *context, rf_index *visited, const double *X, rf_index n,
                                          rf_index d, const RfSectorSettings *settings, RfSectorFn visit,
                                          void *user);

/* ---- extremal directions ------------------------------------------------------------------------ */

typedef enum RfExtremalMethod {
  RF_EXTREMAL_AUTO = 0,
  RF_EXTREMAL_FACES = 1,  /* every face of the arrangement: low dimension */
  RF_EXTREMAL_BOUNDS = 2, /* branch and bound on inner products with intervals: any dimension */
  RF_EXTREMAL_CELLS = 3   /* cells of one class, the other class by least squares: low dimension, faster */
} RfExtremalMethod;

typedef struct RfExtremalSettings {
  double leak;  /* slope for non-positive inputs, 0..1 */
  double slope; /* b0 = -loss'(0): 1/2 logistic, 1 otherwise */
  RfExtremalMethod method;
  rf_index node_limit; /* branch and bound; <= 0: up to 5000, fewer for many samples */
  double work_limit;   /* faces and cells: cells times rows (times d); <= 0 = 2e7 */
} RfExtremalSettings;

typedef struct RfExtremalDirection {
  double *direction; /* d, unit */
  double G;          /* b0 sum_i y_i phi(<direction,x_i>), signed */
  char *sector;      /* n characters */
} RfExtremalDirection;

typedef struct RfExtremal {
  rf_index n_positive, n_negative;
  RfExtremalDirection *positive; /* strict local maxima of G on the unit sphere, largest G first */
  RfExtremalDirection *negative; /* strict local minima, smallest G first */
  bool complete;                 /* these are all */
  RfExtremalMethod method;       /* the one that gave the answer */
  rf_index nodes;                /* faces or nodes looked at */
} RfExtremal;

RF_API void rf_extremal_free(RfExtremal *extremal);
/* In one dimension every point of the sphere is isolated; there only G > 0 (positive) and G < 0 (negative)
 * count. RF_LIMIT and RF_INTERRUPTED leave complete = false and what was found. */
RF_API RfStatus rf_geometry_extremal(RfContext *context, RfExtremal *extremal, const double *X,
                                     const double *y, rf_index n, rf_index d,
                                     const RfExtremalSettings *settings);
/* G(w) = slope sum_i y_i phi(<w,x_i>). */
RF_API double rf_geometry_potential(const double *w, const double *X, const double *y, rf_index n, rf_index d,
                                    double leak, double slope);

/* ---- spike-free --------------------------------------------------------------------------------- */

typedef struct RfSpikeFree {
  RfAnswer holds;  /* for every unit u some |z| <= 1 with (Xu)_+ = Xz */
  double *witness; /* d, unit, when it does not hold: (Xu)_+ is not Xz for any |z| <= 1 */
  double number;   /* max over unit u of the least |z|; infinity when some (Xu)_+ is out of range; NaN = not
                      computed */
} RfSpikeFree;

RF_API void rf_spike_free_free(RfSpikeFree *spike);
/* Decided for every X. Rows that are positive multiples of each other count once. Independent rows:
 * spike-free iff (XX^T)^-1 has no positive off-diagonal entry. Dependent rows are never spike-free: a
 * relation sum c_i x_i = 0 would have to survive (.)_+, and kinks on distinct hyperplanes do not cancel. The
 * number is computed for at most max_rows rows (<= 0 = 8; work 3^rows) when the property fails; it is 1 when
 * it holds. RF_UNKNOWN only for rows that are independent and dependent within rounding. */
RF_API RfStatus rf_geometry_spike_free(RfContext *context, RfSpikeFree *spike, const double *X, rf_index n,
                                       rf_index d, rf_index max_rows);

#ifdef __cplusplus
}
#endif
#endif

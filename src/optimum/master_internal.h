/* What master.c and interior.c share. */
#ifndef RF_OPTIMUM_MASTER_INTERNAL_H
#define RF_OPTIMUM_MASTER_INTERNAL_H

#include "optimum/optimum_internal.h"
#include "core/core.h"

/* The opposite class of one sign as a box problem: row 0 is g = sum_own h lambda x, the others -x. */
typedef struct RfSide {
  rf_index count; /* opposite samples */
  rf_index *at;   /* their indices */
  double *V;      /* (1 + count) rows of r */
  RfBox box;
} RfSide;

struct RfMaster {
  const RfReduced *p;
  RfSide side[2];     /* of sign +1 and -1 */
  double mu;          /* multiplier times slack that the present step aims at */
  double *lambda, *z; /* n: multipliers of the samples, and of lambda >= 0 */
  rf_index count, capacity;
  RfPattern *list;
  /* work of a step */
  double *H, *G, *dl, *dz, *scale, *start; /* H: n x n twice, the others n */
  rf_index work_count;                     /* patterns that the following are sized for */
  double *C, *q, *dc, *value;              /* stacked blocks (r+1) x n; gradients n; steps of c; trial v */
};

static inline bool rf_pattern_owns(const RfReduced *p, const RfPattern *j, rf_index i) {
  return p->y[i] * j->sign > 0;
}
static inline double rf_pattern_slope(const RfReduced *p, const RfPattern *j, rf_index i) {
  return rf_bits_get(j->active, i) ? 1 : p->leak;
}

/* v_j(lambda) = min over m of |r_j|, with r and m kept in the pattern. */
double rf_pattern_solve(RfMaster *master, RfPattern *j, const double *lambda);
/* C (r rows of n): the linear map lambda -> r on the present face; call right after rf_pattern_solve. */
void rf_pattern_map(RfMaster *master, const RfPattern *j, double *C);

#endif

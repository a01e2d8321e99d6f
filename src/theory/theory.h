/* theory's door to the other rooms: the constants of MMV for one start. */
#ifndef RF_THEORY_THEORY_H
#define RF_THEORY_THEORY_H

#include "net/net.h"
#include "reluflow/theory.h"

/* The constants of MMV alone; needs data, pairs and loss of the problem. */
void rf_theory_alignment(RfContext *context, RfAlignmentBounds *bounds, const RfTheoryProblem *problem);
/* The bound on t1 for a start with zeta2 as below (summed loss); NaN unless assumptions 1 and 2 hold. */
double rf_theory_alignment_end(const RfAlignmentBounds *bounds, double zeta2);
/* MMV (26): largest zeta2 of a start W (m rows of d), a: 1 - cos^2 for neurons on the side of the other
 * class's sum, 1 for the others. 0 means that assumption 2 fails. X, y as in the data. */
RfStatus rf_theory_start_angle(RfContext *context, double *zeta2, const RfNet *net, const double *X,
                               const double *y, rf_index n);
/* MMV (28) with denominator 8: ln of the largest admissible scale, for a start at scale 1 with largest neuron
 * norm w_max; NaN unless assumption 1 holds and n >= 2. */
double rf_theory_log_scale(const RfAlignmentBounds *bounds, double zeta2, rf_index n, double norm_min,
                           double norm_max, rf_index width, double w_max);

#endif

/* Inside exact alignment: the options of a neuron on hyperplanes, and the closed forms along one segment. */
#ifndef RELUFLOW_ALIGN_INTERNAL_H
#define RELUFLOW_ALIGN_INTERNAL_H

#include "reluflow/flow.h"

/* ---- align_options.c -------------------------------------------------------------------------------------
 */

/* All consistent continuations of a neuron that lies on the hyperplanes of the samples on[0..n_on). */
typedef struct RfAlignOptions {
  rf_index count, room; /* found; allocated */
  rf_index n_on, d;
  int8_t *side;  /* count rows of n_on: the side each hyperplane is left to, 0 = the neuron stays on it */
  double *g;     /* count rows of d: the field, the neuron moves with dw = a g dt */
  bool complete; /* every continuation was found */
} RfAlignOptions;

void rf_align_options_free(RfAlignOptions *options);

/* base (d): sum of c_i s_i x_i over the samples not in `on`. slack (n): |g.x_i| up to this is rounding.
 * sign_a is +1 or -1. On RF_OK count >= 1; the order is fixed: plus sides first. */
RfStatus rf_align_options(RfContext *context, RfAlignOptions *options, const RfAlignField *field,
                          const double *base, const double *slack, const rf_index *on, rf_index n_on,
                          int sign_a);

/* ---- align_segment.c -------------------------------------------------------------------------------------
 */

/* Motion inside one sector, dw = a g dt, da = g.w dt, with u = g/|g| and s = sign(a), which is constant along
 * a segment: phi = s u.w grows, alpha = |a| = sqrt(K + phi^2), K = a^2 - (u.w)^2 conserved. */
typedef struct RfAlignSegment {
  double G;     /* |g| */
  double phi;   /* at its start */
  double alpha; /* at its start */
  double K;
} RfAlignSegment;

/* |a| where phi has grown to phi1. */
double rf_align_segment_alpha(const RfAlignSegment *segment, double phi1);
/* Time until phi reaches phi1 >= phi; infinite when it never does. */
double rf_align_segment_time(const RfAlignSegment *segment, double phi1);
/* State after dt: phi and alpha are returned times exp(-log_factor), with log_factor chosen so that the
 * larger of them, and everything that stays constant, cannot overflow. */
void rf_align_segment_state(const RfAlignSegment *segment, double dt, double *phi1, double *alpha1,
                            double *log_factor);
/* Growth for t -> infinity without further events: phi, alpha ~ exp(log_amplitude + rate t), rate = G, or -G
 * on the stable manifold (K = 0, phi < 0). */
void rf_align_segment_growth(const RfAlignSegment *segment, double *rate, double *log_amplitude);

/* ---- align_path.c ----------------------------------------------------------------------------------------
 */

/* What all neurons of one field share. */
typedef struct RfAlignData {
  const RfAlignField *field;
  double *norms; /* n: |x_i| */
  double *slack; /* n: |g.x_i| up to this is rounding */
  double *gram;  /* n x n inner products, or NULL: rows are computed when needed */
  double weight; /* sum |c_i| |x_i|, the largest |g| */
} RfAlignData;

void rf_align_data_free(RfAlignData *data);
/* uses: about how many neurons will be followed; many make the Gram matrix worth its cost. */
RfStatus rf_align_data_new(RfContext *context, RfAlignData *data, const RfAlignField *field, rf_index uses);

/* Memory of one worker, reusable for any number of neurons of the same field. */
typedef struct RfAlignPath RfAlignPath;
void rf_align_path_free(RfAlignPath *path);
RfStatus rf_align_path_new(RfContext *context, RfAlignPath **path, const RfAlignData *data);
/* As rf_align_neuron. */
RfStatus rf_align_path_follow(RfContext *context, RfAlignPath *path, RfAlignNeuron *out,
                              const double *direction, double log_norm, const int8_t *sector, double t_end);

#endif

/* The KKT point of a layered network beside a state of its flow. */
#ifndef RF_FLOW_LAYERED_POLISH_H
#define RF_FLOW_LAYERED_POLISH_H

#include "flow/layered/sides.h"

/* Parameters up to which the dense Newton system is worth forming. */
enum { RF_LAYERED_POLISH_MOST = 1500 };

typedef struct RfLayeredPolish {
  bool ok;         /* false: no KKT point was found close by, and theta is as it was */
  bool across;     /* one was, but there a unit is on another side, or off the kink that holds it */
  double distance; /* between the directions of the state and of the point */
  rf_index held;   /* hidden units on their kinks */
  double
      residual; /* |theta - sum lambda_i y_i df_i| / |theta| at the end, slopes of held units in [leak,1] */
} RfLayeredPolish;

/* theta: the state, any size, positive margins; when ok, the KKT point at min margin 1. lambda (n) receives
 * its multipliers. p: weights of the samples at the state, sum 1, the first guess of them. degree: D. */
RfStatus rf_layered_polish(RfContext *context, RfLayeredPolish *result, RfSided *sided, double *theta,
                           double *lambda, const double *p, const double *y, rf_index n, rf_index P,
                           double degree);

/* |u/|u| - v/|v|| of two weight vectors. */
double rf_layered_distance(const double *u, const double *v, rf_index P);

#endif

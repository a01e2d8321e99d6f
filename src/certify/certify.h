/* The door of certify: what other rooms and buildings ask beside include/reluflow/certify.h. */
#ifndef RF_CERTIFY_H
#define RF_CERTIFY_H

#include "reluflow/certify.h"

/* A network whose second layer does not move, as a point of min |W|^2/2 s.t. y_i f(x_i) >= 1 over all W. */
typedef struct RfFrozenVerdict {
  RfKkt kkt; /* of the first layer; its status is the status of all */
  RfVerdict local, global;
  const char *local_why, *global_why; /* sentences */
  double lower; /* no first layer has a smaller |W|^2/2 at min margin 1; 0 when nothing is known */
  double gap;   /* (objective - lower) / objective */
} RfFrozenVerdict;

void rf_frozen_verdict_free(RfFrozenVerdict *verdict);
RfStatus rf_certify_frozen(RfContext *context, RfFrozenVerdict *verdict, const RfNet *net, const double *X,
                           const double *y, rf_index n);

#endif

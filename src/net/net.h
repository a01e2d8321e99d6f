/* net's door to the other rooms: losses and their slopes where plain numbers would underflow. */
#ifndef RF_NET_NET_H
#define RF_NET_NET_H

#include "core/core.h"
#include "reluflow/net.h"

double rf_loss_log_value(RfLoss loss, double q); /* ln loss(q), right for q = 1e300 */
double rf_loss_log_slope(RfLoss loss, double q); /* ln(-loss'(q)) */
double rf_loss_curvature(RfLoss loss, double q); /* d/dq ln(-loss'(q)), in [-1,0] */
double rf_loss_slope_at_zero(RfLoss loss);       /* b0 = -loss'(0): 1/2, 1, 1 */
/* ln sum_i exp(term(loss, q_i)) for term = rf_loss_log_value or rf_loss_log_slope: right where every term
 * underflows. */
double rf_loss_log_sum(const double *q, rf_index n, RfLoss loss, double (*term)(RfLoss, double));
double rf_loss_inverse_log(RfLoss loss, double log_value); /* q with ln loss(q) = log_value */

#endif

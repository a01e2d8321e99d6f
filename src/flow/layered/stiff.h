/* Steps of an autonomous equation y' = F(y) that stiffness does not shorten. */
#ifndef RF_FLOW_LAYERED_STIFF_H
#define RF_FLOW_LAYERED_STIFF_H

#include "reluflow/core.h"

typedef struct RfStiff RfStiff;

/* out = F(y). */
typedef void (*RfStiffField)(void *user, double *out, const double *y);

RfStatus rf_stiff_new(RfContext *context, RfStiff **stiff, rf_index size);
void rf_stiff_free(RfStiff *stiff);
/* Where the Jacobian matrix is to stand before rf_stiff_prepare, size x size. */
double *rf_stiff_matrix(RfStiff *stiff);
/* Puts it there by central differences of size step. */
void rf_stiff_differences(RfStiff *stiff, RfStiffField field, void *user, const double *y, double step);
/* For the steps from where the matrix was taken. rates (may be NULL): the largest rates of growth and of
 * decay that there may be, of its symmetric part; y stays on planes with these normals (count rows,
 * overwritten), so that only the part along them counts. */
RfStatus rf_stiff_prepare(RfContext *context, RfStiff *stiff, double *normals, rf_index count, double *rates);
/* One step of length h from y, f = F(y), into out; the size of its error, infinite where it has no value. */
double rf_stiff_step(RfStiff *stiff, RfStiffField field, void *user, const double *y, const double *f,
                     double h, double *out);

#endif

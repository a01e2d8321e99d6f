/* The continuation that the fit takes: by itself the one with the faster field. */
#include "flow/continuations.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <string.h>

RfStatus rf_flow_sides(RfContext *context, RfSides *sides, const RfAlignField *field, const double *base,
                       const rf_index *on, rf_index n_on, int sign_a) {
  RfContinuations found = {0};
  rf_index best = 0, d = field->d;
  RfStatus status = rf_continuations(context, &found, field, base, NULL, on, n_on, sign_a);
  for (rf_index o = 1; o < found.count && !status; o++)
    if (rf_la_norm(found.g + o * d, d) > rf_la_norm(found.g + best * d, d) * (1 + RF_TOL_FASTER)) best = o;
  if (!status) {
    rf_index kept = found.count < RF_MOST_OPTIONS ? found.count : RF_MOST_OPTIONS;
    sides->count = (int)found.count;
    memcpy(sides->g, found.g + best * d, (size_t)d * sizeof(double));
    if (n_on > 0) {
      memcpy(sides->sign, found.side + best * n_on, (size_t)n_on);
      memcpy(sides->slope, found.slope + best * n_on, (size_t)n_on * sizeof(double));
      memcpy(sides->found, found.side, (size_t)(kept * n_on));
    }
  }
  rf_continuations_free(&found);
  return status;
}

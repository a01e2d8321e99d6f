/* Slides after a step whose end was found under other weights than those that hold there. */
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>

RfStatus rf_slides_check(RfRun *run, rf_index u, double *slopes, bool log) {
  RfSystem *system = &run->system;
  const RfSlide *slide = &system->slide[u];
  double leak = system->problem->leak;
  RfStatus status = RF_OK;
  for (rf_index round = 0, most = slide->n_on + 8; round < most && !status; round++) {
    rf_index worst = -1;
    double far = RF_TOL_SLOPE;
    if (slide->n_on == 0 || rf_slide_dependent(slide) || slide->n_planes < slide->n_on) break;
    rf_system_slide_slopes(system, u, slopes);
    for (rf_index k = 0; k < slide->n_planes; k++) {
      double off = fmax(slopes[k] - 1, leak - slopes[k]);
      if (off > far) far = off, worst = k;
    }
    if (worst < 0) break;
    rf_index sample = slide->first[worst];
    system->sigma[u * system->n + sample] = slopes[worst] > 0.5 * (1 + leak) ? 1 : -1;
    status = rf_system_refresh_unit(system, u);
    if (!status && log) status = rf_events_log(run, u, sample, RF_EVENT_RELEASE);
  }
  return status;
}

/* States along exact alignment paths at chosen times, for pictures and for starting an integrator in the
 * middle. */
#include "flow/align/align_internal.h"

#include <math.h>
#include <string.h>

static RfStatus sample_one(RfContext *context, double *rows, RfAlignPath *path, const RfFlowStart *start,
                           rf_index k, const double *times, rf_index n_times) {
  rf_index width = start->d + 1;
  for (rf_index j = 0; j < n_times; j++) {
    RfAlignNeuron state;
    RfStatus status = rf_align_path_follow(context, path, &state, start->directions + k * width,
                                           start->log_norms[k], NULL, times[j]);
    if (status) return status;
    memcpy(rows + j * width, state.direction, (size_t)width * sizeof(double));
    rf_align_neuron_free(&state);
  }
  return RF_OK;
}

RfStatus rf_flow_align_sample(RfContext *context, double *directions, const RfFlowProblem *problem,
                              const rf_index *neurons, rf_index count, const double *times,
                              rf_index n_times) {
  RfAlignField field;
  double *c = rf_align_field_of(&field, problem);
  RfAlignData data = {0};
  RfAlignPath *path = NULL;
  if (!c) return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  RfStatus status = rf_align_data_new(context, &data, &field, count * n_times);
  if (!status) status = rf_align_path_new(context, &path, &data);
  for (rf_index k = 0; k < count && !status; k++) {
    status = sample_one(context, directions + k * n_times * (problem->d + 1), path, problem->start,
                        neurons[k], times, n_times);
    if (!status && rf_context_stop(context)) status = RF_INTERRUPTED;
  }
  rf_align_path_free(path);
  rf_align_data_free(&data);
  rf_free(c);
  return status;
}

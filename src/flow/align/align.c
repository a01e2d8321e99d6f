/* Alignment of whole networks: the limit eps -> 0 near the origin, where every neuron moves alone (PL, MMV,
 * LLWA, WP early phase), with c_i = -loss'(0) y_i. Neurons are shared out among threads; each result depends
 * on its neuron only. */
#include "flow/align/align_internal.h"
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

void rf_align_neuron_free(RfAlignNeuron *neuron) {
  if (!neuron) return;
  rf_free(neuron->sector);
  rf_free(neuron->crossings);
  rf_free(neuron->crossed);
  rf_free(neuron->crossed_kinds);
  rf_free(neuron->options);
  rf_free(neuron->branch_direction);
  rf_free(neuron->direction);
  rf_free(neuron->velocity);
  rf_free(neuron->proof.branch_samples);
  memset(neuron, 0, sizeof *neuron);
}

void rf_alignment_free(RfAlignment *alignment) {
  if (!alignment) return;
  for (rf_index k = 0; alignment->neurons && k < alignment->m; k++)
    rf_align_neuron_free(alignment->neurons + k);
  rf_free(alignment->neurons);
  memset(alignment, 0, sizeof *alignment);
}

const char *rf_destiny_name(RfDestiny destiny) {
  static const char *const names[] = {"S+", "S-", "dead", "extremal", "stuck", "running"};
  return names[destiny];
}

static RfStatus check_neuron(RfContext *context, const RfAlignField *field, const double *direction) {
  double norm2 = 0;
  for (rf_index j = 0; j <= field->d; j++) norm2 += direction[j] * direction[j];
  if (isfinite(norm2)) return RF_OK;
  return rf_fail(context, RF_ERR_USAGE, "a neuron is not finite");
}

RfStatus rf_flow_align_neuron(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                              const double *direction, double log_norm, const int8_t *sector, double t_end) {
  RfAlignData data = {0};
  RfAlignPath *path = NULL;
  memset(out, 0, sizeof *out);
  RfStatus status = check_neuron(context, field, direction);
  if (!status) status = rf_align_data_new(context, &data, field, 1);
  if (!status) status = rf_align_path_new(context, &path, &data);
  if (!status) status = rf_align_path_follow(context, path, out, direction, log_norm, sector, t_end);
  rf_align_path_free(path);
  rf_align_data_free(&data);
  return status;
}

/* A neuron that was not followed: at its start, marked as running. */
static RfStatus leave_at_start(RfContext *context, RfAlignNeuron *out, const RfAlignField *field,
                               const double *direction, double log_norm, double *h) {
  rf_index n = field->n, d = field->d;
  out->n = n, out->destiny = RF_DESTINY_RUNNING;
  out->t_branch = out->log_amplitude = NAN, out->log_norm = log_norm;
  out->sector = RF_NEW(int8_t, n);
  out->direction = RF_NEW(double, d + 1);
  out->velocity = RF_NEW(double, d);
  if (!out->sector || !out->direction || !out->velocity)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a neuron");
  memcpy(out->direction, direction, (size_t)(d + 1) * sizeof(double));
  rf_la_apply(h, field->X, direction, n, d, d);
  for (rf_index i = 0; i < n; i++) out->sector[i] = (int8_t)((h[i] > 0) - (h[i] < 0));
  return RF_OK;
}

/* Neurons k = worker, worker + workers, ... */
static RfStatus follow_share(RfContext *context, RfAlignment *out, const RfAlignData *data,
                             const RfFlowStart *start, rf_index worker, rf_index workers) {
  RfAlignPath *path = NULL;
  bool stopped = false;
  RfStatus status = rf_align_path_new(context, &path, data);
  for (rf_index k = worker; k < start->m && !status; k += workers) {
    const double *direction = start->directions + k * (start->d + 1);
    if (worker == 0) rf_progress(context, "alignment", (double)k / (double)start->m, "of the neurons");
    if (!stopped) stopped = rf_context_stop(context); /* the rest stay at their start, marked as running */
    status = check_neuron(context, data->field, direction);
    if (status) break;
    status = stopped ? leave_at_start(context, out->neurons + k, data->field, direction, start->log_norms[k],
                                      path->full_h)
                     : rf_align_path_follow(context, path, out->neurons + k, direction, start->log_norms[k],
                                            NULL, INFINITY);
  }
  rf_align_path_free(path);
  return status;
}

static RfStatus follow_all(RfContext *context, RfAlignment *out, const RfAlignData *data,
                           const RfFlowStart *start) {
  rf_index workers = context->threads > 1 ? context->threads : 1;
  RfStatus status = RF_OK;
  if (workers > start->m) workers = start->m > 0 ? start->m : 1;
#pragma omp parallel for num_threads((int)workers) schedule(static, 1)
  for (rf_index worker = 0; worker < workers; worker++) {
    RfContext own = *context;
    RfStatus one = follow_share(&own, out, data, start, worker, workers);
    if (one) {
#pragma omp critical(rf_align_status)
      {
        if (!status || one < status) status = rf_fail(context, one, "%s", own.error);
      }
    }
  }
  return status;
}

double *rf_align_field_of(RfAlignField *field, const RfFlowProblem *problem) {
  double *c = RF_NEW(double, problem->n);
  *field = (RfAlignField){.X = problem->X,
                          .c = c,
                          .n = problem->n,
                          .d = problem->d,
                          .leak = problem->leak,
                          .freeze_second = problem->freeze_second};
  for (rf_index i = 0; c && i < problem->n; i++) c[i] = rf_loss_slope_at_zero(problem->loss) * problem->y[i];
  return c;
}

RfStatus rf_flow_align(RfContext *context, RfAlignment *out, const RfFlowProblem *problem) {
  return rf_flow_align_halfway(context, out, problem, NULL, 0);
}

RfStatus rf_flow_align_halfway(RfContext *context, RfAlignment *out, const RfFlowProblem *problem,
                               struct RfWalkHalfway *halfway, double log_size) {
  const RfFlowStart *start = problem->start;
  RfAlignField field;
  double *c = rf_align_field_of(&field, problem);
  RfAlignData data = {0};
  RfStatus status = RF_OK;
  memset(out, 0, sizeof *out);
  out->neurons = RF_NEW(RfAlignNeuron, start->m);
  if (!c || !out->neurons) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  out->m = start->m;
  if (!status && problem->gram && rf_walk_fits(problem)) {
    status = rf_walk_align(context, out->neurons, &field, problem->gram, start->directions, start->log_norms,
                           start->m, INFINITY, halfway, log_size);
  } else {
    if (!status) status = rf_align_data_new(context, &data, &field, start->m);
    if (!status) status = follow_all(context, out, &data, start);
  }
  for (rf_index k = 0; !status && k < out->m; k++) {
    out->t1 = fmax(out->t1, out->neurons[k].t_last);
    out->branched = out->branched || out->neurons[k].branched;
  }
  if (status) rf_alignment_free(out);
  rf_align_data_free(&data);
  rf_free(c);
  return status;
}

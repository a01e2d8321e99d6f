/* Wang and Pilanci: paths of single neurons near the origin. */
#include <math.h>
#include <string.h>

#include "flow/flow.h"
#include "kit/setting.h"
#include "la/la.h"
#include "wp/wp.h"

void rf_wp_path_free(RfWpPath *path) {
  rf_free(path->t), rf_free(path->u), rf_free(path->g);
  rf_free(path->on), rf_free(path->zero);
  *path = (RfWpPath){0};
}

static bool grow(RfWpPath *path) {
  rf_index capacity = 2 * path->capacity + 256, d = path->d;
  double *t = rf_resize(path->t, capacity, sizeof *t);
  if (t) path->t = t;
  double *u = rf_resize(path->u, capacity * d, sizeof *u);
  if (u) path->u = u;
  double *g = rf_resize(path->g, capacity * d, sizeof *g);
  if (g) path->g = g;
  uint64_t *on = rf_resize(path->on, capacity, sizeof *on),
           *zero = rf_resize(path->zero, capacity, sizeof *zero);
  if (on) path->on = on;
  if (zero) path->zero = zero;
  if (!t || !u || !g || !on || !zero) return false;
  path->capacity = capacity;
  return true;
}

static void record(void *observer, const RfFlowMoment *moment) {
  RfWpPath *path = observer;
  rf_index d = path->d, row = path->count;
  if (path->failed || (row == path->capacity && !grow(path))) {
    path->failed = true;
    return;
  }
  double size = rf_la_norm(moment->directions, d), field = rf_la_norm(moment->fields, d);
  path->t[row] = exp(moment->log_t);
  for (rf_index j = 0; j < d; j++) {
    path->u[row * d + j] = moment->directions[j] / size;
    path->g[row * d + j] = field > 0 ? moment->fields[j] / field : 0;
  }
  path->on[row] = path->zero[row] = 0;
  for (rf_index i = 0; i < moment->n; i++) {
    if (moment->sides[i] > 0) path->on[row] |= (uint64_t)1 << i;
    if (moment->sides[i] == 0) path->zero[row] |= (uint64_t)1 << i;
  }
  path->count++;
}

RfStatus rf_wp_follow(RfClaimRun *run, RfWpPath *path, const RfDataset *data, const double *u0, int sign,
                      double log_scale, double t_end) {
  double W[RF_WP_MOST_D], a = sign;
  RfFlowStart start = {0};
  RfFlowResult flow = {0};
  RfFlowSettings settings;
  *path = (RfWpPath){.d = data->d};
  memcpy(W, u0, (size_t)data->d * sizeof *W);
  RfNet net = {.m = 1, .d = data->d, .W = W, .a = &a};
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false;
  settings.branches = RF_BRANCHES_FOLLOW;
  settings.until = RF_UNTIL_TIME, settings.until_value = t_end;
  settings.observe = record, settings.observer = path, settings.observe_inside = 8;
  RfStatus status = rf_flow_start_from_net(run->context, &start, &net);
  RfFlowProblem problem = {
      .X = data->X, .y = data->y, .n = data->n, .d = data->d, .start = &start, .log_scale = log_scale};
  if (!status) status = rf_claim_run_flow(run, &flow, &problem, &settings);
  if (status >= 0) rf_flow_result_free(&flow);
  if (status >= 0 && status != RF_INTERRUPTED)
    status = path->failed ? rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a path") : RF_OK;
  rf_flow_start_free(&start);
  if (status) rf_wp_path_free(path);
  return status;
}

double rf_wp_cosine(const RfDataset *data, const double *u, uint64_t on) {
  double g[RF_WP_MOST_D];
  rf_wp_masked(g, data->X, data->n, data->d, on, data->y);
  double size = rf_la_norm(g, data->d);
  return size > 0 ? rf_la_dot(g, u, data->d) / (size * rf_la_norm(u, data->d)) : 0;
}

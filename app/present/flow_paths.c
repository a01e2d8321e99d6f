/* The plane in which the neurons of a flow are shown, and their ways in it. */
#include "present/present.h"
#include "flow/flow.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la/la.h"

enum { PATH_POINTS = 64 };

void rf_flow_paths_free(RfFlowPaths *paths) {
  if (!paths) return;
  rf_free(paths->neurons);
  rf_free(paths->points);
  rf_free(paths->ends);
  rf_free(paths->samples);
  rf_free(paths->plane);
  memset(paths, 0, sizeof *paths);
}

/* The shortest w with w.x >= 1 on a class, or the sum of the class; false when there is no such direction. */
static bool class_direction(RfContext *context, double *out, char *name, size_t size,
                            const RfFlowProblem *problem, double label) {
  RfClassMargin margin = {0};
  rf_index d = problem->d;
  const char *sign = label > 0 ? "+" : "\xE2\x88\x92";
  bool found = false;
  if (problem->n * d <= 1000000) {
    RfStatus status =
        rf_margin_class(context, &margin, problem->X, problem->y, problem->n, d, label > 0 ? 1 : -1);
    found = status >= 0 && margin.exists && margin.w;
  }
  if (found) {
    memcpy(out, margin.w, (size_t)d * sizeof(double));
    rf_format(name, size, "w%s", sign);
  } else {
    memset(out, 0, (size_t)d * sizeof(double));
    for (rf_index i = 0; i < problem->n; i++)
      if (problem->y[i] * label > 0) rf_la_axpy(out, 1, problem->X + i * d, d);
    rf_format(name, size, "x%s", sign);
  }
  rf_class_margin_free(&margin);
  double norm = rf_la_norm(out, d);
  if (norm > 0) rf_la_scale(out, 1 / norm, d);
  return norm > 0;
}

/* Two orthonormal axes: for d = 2 the coordinates, else the first along w+, the second the rest of -(w-) or,
 * where the two are parallel, any coordinate. */
static void choose_plane(RfContext *context, double *axes, RfFlowPaths *paths, const RfFlowProblem *problem) {
  rf_index d = problem->d;
  double *e = axes, *f = axes + d;
  memset(axes, 0, (size_t)(2 * d) * sizeof(double));
  if (d <= 2) {
    if (d > 0) e[0] = 1;
    if (d > 1) f[1] = 1;
    return;
  }
  char second[16];
  if (!class_direction(context, e, paths->axes[0], sizeof paths->axes[0], problem, 1)) e[0] = 1;
  bool other = class_direction(context, f, second, sizeof second, problem, -1);
  rf_la_axpy(f, -rf_la_dot(e, f, d), e, d);
  double left = rf_la_norm(f, d);
  for (rf_index j = 0; j < d && left < 1e-6; j++) { /* one class only, or opposite directions */
    memset(f, 0, (size_t)d * sizeof(double));
    f[j] = 1;
    rf_la_axpy(f, -rf_la_dot(e, f, d), e, d);
    left = rf_la_norm(f, d);
    other = false;
  }
  rf_la_scale(f, 1 / left, d);
  if (other)
    rf_format(paths->axes[1], sizeof paths->axes[1], "%s across %.12s", second, paths->axes[0]);
  else
    rf_format(paths->axes[1], sizeof paths->axes[1], "across %.12s", paths->axes[0]);
}

static void project(double *out, const double *v, const double *axes, rf_index d, bool unit) {
  double norm = unit ? rf_la_norm(v, d) : 1;
  if (!(norm > 0)) norm = NAN;
  out[0] = rf_la_dot(v, axes, d) / norm;
  out[1] = rf_la_dot(v, axes + d, d) / norm;
}

RfStatus rf_flow_paths_new(RfContext *context, RfFlowPaths *paths, const RfFlowProblem *problem,
                           const RfFlowResult *result, rf_index most) {
  rf_index m = problem->start->m, d = problem->d, count = m < most ? m : most;
  double times[PATH_POINTS], t1 = result->alignment.t1;
  double *directions = RF_NEW(double, count *PATH_POINTS *(d + 1)), *axes;
  RfStatus status = RF_OK;
  memset(paths, 0, sizeof *paths);
  paths->plane = axes = RF_NEW(double, 2 * d + 2);
  paths->neurons = RF_NEW(rf_index, count);
  paths->points = RF_NEW(double, count *PATH_POINTS * 2);
  paths->ends = RF_NEW(double, count * 2);
  paths->samples = RF_NEW(double, problem->n * 2);
  if (!directions || !axes || !paths->neurons || !paths->points || !paths->ends || !paths->samples)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for pictures");
  for (rf_index j = 0; j < PATH_POINTS; j++) times[j] = 1.25 * t1 * (double)j / (PATH_POINTS - 1);
  paths->count = count, paths->n_times = PATH_POINTS;
  for (rf_index k = 0; k < count && !status; k++) paths->neurons[k] = k * m / count;
  if (!status)
    status = rf_flow_align_sample(context, directions, problem, paths->neurons, count, times, PATH_POINTS);
  if (!status) {
    choose_plane(context, axes, paths, problem);
    for (rf_index k = 0; k < count * PATH_POINTS; k++)
      project(paths->points + 2 * k, directions + k * (d + 1), axes, d, true);
    for (rf_index k = 0; k < count; k++) {
      if (result->limit.net.W)
        project(paths->ends + 2 * k, result->limit.net.W + paths->neurons[k] * d, axes, d, true);
      else
        paths->ends[2 * k] = paths->ends[2 * k + 1] = NAN;
    }
    for (rf_index i = 0; i < problem->n; i++)
      project(paths->samples + 2 * i, problem->X + i * d, axes, d, false);
  }
  rf_free(directions);
  if (status) rf_flow_paths_free(paths);
  return status;
}

/* x and y of every neuron, one row each. */
static void coordinate_json(RfJson *json, const char *key, const RfFlowPaths *paths, int which) {
  double *values = RF_NEW(double, paths->count * paths->n_times);
  if (!values) return rf_json_fail(json);
  for (rf_index k = 0; k < paths->count * paths->n_times; k++) values[k] = paths->points[2 * k + which];
  rf_json_matrix(json, key, values, paths->count, paths->n_times);
  rf_free(values);
}

RfStatus rf_json_paths(RfContext *context, RfJson *json, const RfStudyFlow *study, rf_index most) {
  RfFlowPaths paths = {0};
  RfStatus status = RF_OK;
  if (study && most > 0)
    status = rf_flow_paths_new(context, &paths, &study->problem, &study->run.result, most);
  if (status < 0) return status;
  if (paths.count == 0) {
    rf_json_null(json, "paths");
    return RF_OK;
  }
  rf_json_object(json, "paths");
  rf_json_integers(json, "neurons", paths.neurons, paths.count);
  rf_json_matrix(json, "plane", paths.plane, 2, study->problem.d);
  rf_json_array(json, "axes");
  for (int k = 0; k < 2; k++) rf_json_string(json, NULL, paths.axes[k]);
  rf_json_end(json);
  coordinate_json(json, "x", &paths, 0);
  coordinate_json(json, "y", &paths, 1);
  rf_json_end(json);
  rf_flow_paths_free(&paths);
  return RF_OK;
}

/* Slides after a step whose end was found under other weights than those that hold there. */
#include "flow/fit/slides.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* The slide (its number in the list) whose slope is farthest beyond [leak,1]; -1: none is. */
static rf_index worst_slope(const RfSystem *system, const RfSlide *slide, const double *slopes) {
  rf_index worst = -1;
  double leak = system->problem->leak, far = RF_TOL_SLOPE;
  for (rf_index k = 0; k < slide->n_planes; k++) {
    double off = fmax(slopes[k] - 1, leak - slopes[k]);
    if (off > far) far = off, worst = k;
  }
  return worst;
}

static bool on_ridges(const RfSystem *system, const RfSlide *slide, rf_index u) {
  for (rf_index k = 0; k < slide->n_planes; k++)
    if (system->c[slide->first[k]] * system->y[system->units * system->d + u] > 0) return true;
  return false;
}

/* The smallest field by bounded least squares in the pulls c slope: inside their range they hold the unit,
 * others it leaves as the field tells. slopes on return: NaN where it is held, else its speed off the
 * hyperplane. Letting go of one after the other is not enough: without a third, one that was let go may push
 * the unit back. */
static RfStatus least_field(const RfSystem *system, const RfSlide *slide, rf_index u, double *slopes) {
  rf_index n = system->n, d = system->d, count = slide->n_planes;
  double leak = system->problem->leak, sign = system->y[system->units * d + u] > 0 ? 1 : -1;
  double *columns = RF_NEW(double, count *d + 2 * d + 3 * count);
  if (!columns) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for a slide");
  double *f = columns + count * d, *left = f + d, *low = left + d, *high = low + count, *pull = high + count;
  memset(f, 0, (size_t)d * sizeof(double));
  for (rf_index i = 0; i < n; i++) {
    double factor = system->sigma[u * n + i] == 0 ? 0 : system->slope[u * n + i] * system->c[i];
    if (factor != 0) rf_la_axpy(f, -factor, system->problem->X + i * d, d);
  }
  for (rf_index k = 0; k < count; k++) {
    rf_index i = slide->first[k];
    double c = system->c[i];
    memcpy(columns + k * d, system->problem->X + i * d, (size_t)d * sizeof(double));
    low[k] = fmin(leak * c, c), high[k] = fmax(leak * c, c);
    pull[k] = c * fmin(1, fmax(leak, slopes[k]));
  }
  RfStatus status = rf_la_box_least_squares_from(system->context, pull, left, NULL, columns, f, low, high, d,
                                                 count, d, NULL);
  for (rf_index k = 0; k < count && !status; k++) {
    bool held = pull[k] > low[k] && pull[k] < high[k];
    slopes[k] = held ? NAN : -sign * rf_la_quick_dot(left, columns + k * d, d);
  }
  rf_free(columns);
  return status;
}

static RfStatus let_go(RfRun *run, rf_index u, rf_index sample, bool up, bool log) {
  RfSystem *system = &run->system;
  system->sigma[u * system->n + sample] = up ? 1 : -1;
  return log ? rf_events_log(run, u, sample, RF_EVENT_RELEASE) : RF_OK;
}

RfStatus rf_slides_check(RfRun *run, rf_index u, double *slopes, bool log) {
  RfSystem *system = &run->system;
  const RfSlide *slide = &system->slide[u];
  double leak = system->problem->leak;
  RfStatus status = RF_OK;
  for (rf_index round = 0, most = slide->n_on + 8; round < most && !status; round++) {
    if (slide->n_on == 0 || rf_slide_dependent(slide) || slide->n_planes < slide->n_on) break;
    rf_system_slide_slopes(system, u, slopes);
    rf_index worst = worst_slope(system, slide, slopes), count = slide->n_planes, gone = 0;
    if (worst < 0) break;
    bool up = slopes[worst] > 0.5 * (1 + leak);
    status =
        round > 0 || on_ridges(system, slide, u) ? RF_ERR_NUMERIC : least_field(system, slide, u, slopes);
    for (rf_index k = 0; k < count && !status; k++) {
      if (isnan(slopes[k])) continue;
      status = let_go(run, u, slide->first[k], slopes[k] > 0, log);
      gone++;
    }
    if (status == RF_ERR_NUMERIC || (!status && gone == 0))
      status = let_go(run, u, slide->first[worst], up, log);
    if (!status) status = rf_system_refresh_unit(system, u);
  }
  return status;
}

void rf_slides_step_off(RfSystem *system, const int8_t *before, rf_index k) {
  rf_index n = system->n, d = system->d;
  double *w = system->y + k * d, length = rf_la_norm(w, d);
  for (rf_index i = 0; i < n; i++) {
    double side = system->sigma[k * n + i], size = system->x_norm[i];
    if (before[i] != 0 || side == 0 || size == 0) continue;
    const double *x = system->problem->X + i * d;
    double left = RF_TOL_CUT_LEAST * length * size - side * rf_la_quick_dot(w, x, d);
    if (left > 0) rf_la_axpy(w, side * left / (size * size), x, d);
  }
}

/* The unit of hits[from..to) slides on the valleys among them, under the weights c, that it left to the side
 * it came from; whether there are any. */
static bool put_back(RfRun *run, const int8_t *before, rf_index from, rf_index to, const double *c) {
  RfSystem *system = &run->system;
  rf_index n = system->n, k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * n;
  double sign_a = system->y[system->units * system->d + k] >= 0 ? 1 : -1;
  bool changed = false;
  for (rf_index j = from; j < to; j++) {
    rf_index i = run->hits[j].sample;
    RfMerged merged = {0};
    for (rf_index l = 0; l < n; l++)
      if (system->line[l] == system->line[i])
        rf_merged_add(&merged, c[l], system->along[l], system->problem->leak);
    if (!(sign_a * rf_merged_weight(&merged) < 0) || sigma[i] != before[i]) continue;
    sigma[i] = 0, changed = true;
  }
  return changed;
}

RfStatus rf_slides_at_end(RfRun *run, const int8_t *before, rf_index from, rf_index to) {
  bool changed = put_back(run, before, from, to, run->c_ahead);
  return changed ? rf_system_refresh_unit(&run->system, run->hits[from].unit) : RF_OK;
}

RfStatus rf_slides_within_known(RfRun *run, const int8_t *before, rf_index from, rf_index to,
                                double *slopes) {
  RfSystem *system = &run->system;
  rf_index n = system->n, k = run->hits[from].unit;
  int8_t *sigma = system->sigma + k * n, *left = RF_NEW(int8_t, n);
  const RfSlide *slide = &system->slide[k];
  if (!left) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a slide");
  memcpy(left, sigma, (size_t)n);
  bool holds = put_back(run, before, from, to, system->c);
  RfStatus status = holds ? rf_system_refresh_unit(system, k) : RF_OK;
  if (holds && !status) {
    rf_system_slide_slopes(system, k, slopes);
    for (rf_index z = 0; z < slide->n_planes; z++)
      holds = holds && slopes[z] >= system->problem->leak && slopes[z] <= 1;
    if (!holds || rf_slide_dependent(slide)) {
      memcpy(sigma, left, (size_t)n);
      status = rf_system_refresh_unit(system, k);
    }
  }
  rf_free(left);
  return status;
}

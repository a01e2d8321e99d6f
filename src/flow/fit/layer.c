/* A merged unit at a ridge while the scale is frozen. In the flow the weights answer a crossing as soon as
 * the margins have moved by about one, and its margins are e^{2 kappa} times as large as those of the frozen
 * scale: neurons that are apart by delta come to the ridge as far apart, for the weights, as neurons would at
 * the frozen scale that are apart by e^{2 kappa} delta (F.6a). So the unit is parted before the ridge with
 * its distances across it stretched by that factor, the frozen flow carries its neurons through, one after
 * the other or as good as together, and behind it those that have stayed together are merged again, with
 * their distances as they are. */
#include "flow/fit/apart.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

static bool layers_apply(const RfRun *run) {
  const RfSystem *system = &run->system;
  return run->phase.part == 3 && system->apart && !system->grade && !run->problem->freeze_second &&
         run->problem->leak != 1 && !rf_run_large(run); /* long steps: rf_run_part_at_ridge */
}

/* A distance in which the weights have settled at the frozen scale: what is stretched beyond it arrives one
 * by one. */
static double width_of(const RfRun *run) {
  return fmin(RF_TOL_LAYER, RF_TOL_SETTLING / fmax(1, rf_system_possible_margin(&run->system)));
}

/* Distances to a ridge, in widths, between which a merged unit is parted; part of its own distance by which
 * its first neuron may be ahead of it. */
static const double part_within = 4, latest = 2.2, before_ridge = 0.99;

/* Distance of unit u to hyperplane i on the side it is on. */
static double far_from(const RfSystem *system, const double *y, rf_index u, rf_index i) {
  const double *x = system->problem->X + i * system->d;
  return system->sigma[u * system->n + i] * rf_la_quick_dot(y + u * system->d, x, system->d) /
         system->x_norm[i];
}

/* Hyperplane i pushes those on it away; whether by much is asked last. */
static bool pushes_away(const RfSystem *system, rf_index u, rf_index i) {
  bool up = system->y[system->units * system->d + u] > 0;
  return system->sigma[u * system->n + i] != 0 && up == (system->problem->y[i] > 0);
}

static bool ridge(const RfSystem *system, rf_index u, rf_index i) {
  return pushes_away(system, u, i) && rf_apart_matters(system, u, i, 0);
}

bool rf_layer_takes(const RfRun *run, rf_index u, rf_index i) {
  return layers_apply(run) && ridge(&run->system, u, i);
}

/* The neurons of a unit before a ridge. */
typedef struct Layer {
  rf_index unit, sample;
  double stretch, width;
  double *normal, *across; /* d: unit normal towards the ridge; direction in which the unit can move there,
                              its product with the normal is 1 */
  double *apart;           /* m rows of d: of its neurons, what sets them apart */
  double *ahead;           /* m: the part of that towards the ridge, behind the first of them: <= 0 */
  uint8_t *first;          /* m: reaches the ridge within the layer of the first */
  double spread;           /* stretched distance of the last from the first, or more than a width */
} Layer;

static RfStatus layer_new(const RfRun *run, Layer *layer) {
  rf_index m = run->system.m, d = run->system.d;
  memset(layer, 0, sizeof *layer);
  layer->normal = RF_NEW(double, 2 * d + m * d + m);
  layer->first = RF_NEW(uint8_t, m);
  if (!layer->normal || !layer->first) /* layer_free is the caller's */
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory at a ridge");
  layer->across = layer->normal + d;
  layer->apart = layer->across + d;
  layer->ahead = layer->apart + m * d;
  layer->stretch = exp(fmin(2 * run->system.kappa, RF_TOL_WALL));
  layer->width = width_of(run);
  return RF_OK;
}

static void layer_free(Layer *layer) {
  rf_free(layer->normal);
  rf_free(layer->first);
}

/* Who of unit u is where before the ridge of sample i; false: nobody is apart, as far as the weights go. */
static bool layer_at(const RfSystem *system, Layer *layer, rf_index u, rf_index i) {
  rf_index d = system->d;
  const double *x = system->problem->X + i * d, *w = system->y + u * d;
  double lead = -INFINITY;
  layer->unit = u, layer->sample = i, layer->spread = 0;
  for (rf_index j = 0; j < d; j++)
    layer->normal[j] = -system->sigma[u * system->n + i] * x[j] / system->x_norm[i];
  memcpy(layer->across, layer->normal, (size_t)d * sizeof(double));
  rf_system_project(system, u, layer->across);
  rf_la_axpy(layer->across, -rf_la_quick_dot(layer->across, w, d) / rf_la_quick_dot(w, w, d), w, d);
  double square = rf_la_quick_dot(layer->across, layer->across, d);
  if (!(square > RF_TOL_INDEPENDENT)) return false; /* held there by others */
  rf_la_scale(layer->across, 1 / rf_la_quick_dot(layer->across, layer->normal, d), d);
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != u) continue;
    double *apart = layer->apart + k * d;
    rf_apart_of(system, k, rf_apart_log_norm(system, k), w, apart);
    layer->ahead[k] = rf_la_quick_dot(apart, layer->normal, d);
    lead = fmax(lead, layer->ahead[k]);
  }
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != u) continue;
    layer->ahead[k] -= lead;
    double behind = -layer->ahead[k] * layer->stretch;
    layer->first[k] = behind <= layer->width;
    layer->spread = fmax(layer->spread, behind);
  }
  return layer->spread > RF_TOL_APART;
}

/* Where the neurons of the first part, and the others as one, are put across the ridge, relative to the unit:
 * as far from each other as the weights feel it, their mean where it was, and all before the ridge. */
typedef struct Places {
  double share_first, share_rest; /* of e^{2 rho} */
  double mean;                    /* stretched place of all */
  double rest;                    /* that of the others */
  double factor;                  /* by which it all has to be smaller, to be before the ridge */
} Places;

static Places places_of(const RfSystem *system, const Layer *layer) {
  Places places = {.rest = -2 * layer->width, .factor = 1};
  double sum = 0, true_rest = 0;
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != layer->unit) continue;
    double share = exp(2 * system->offset[k]);
    if (layer->first[k])
      places.share_first += share, sum += share * layer->stretch * layer->ahead[k];
    else
      places.share_rest += share, true_rest += share * layer->ahead[k];
  }
  if (places.share_rest > 0) places.rest = fmin(places.rest, true_rest / places.share_rest);
  places.mean = (sum + places.share_rest * places.rest) / (places.share_first + places.share_rest);
  double far = far_from(system, system->y, layer->unit, layer->sample);
  if (-places.mean > before_ridge * far) places.factor = fmax(0, before_ridge * far / -places.mean);
  return places;
}

/* Mean of what sets the neurons of either part apart along the ridge, which stays as it is: means (2d). What
 * sets the neurons of the first part apart across it is in their places from here on. */
static void means_of(const RfSystem *system, const Layer *layer, const Places *places, double *means) {
  rf_index d = system->d;
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != layer->unit) continue;
    double *apart = layer->apart + k * d, share = exp(2 * system->offset[k]);
    bool first = layer->first[k];
    if (first) rf_la_axpy(apart, -rf_la_quick_dot(apart, layer->normal, d), layer->across, d);
    rf_la_axpy(means + (first ? 0 : d), share / (first ? places->share_first : places->share_rest), apart, d);
  }
}

/* Unit `to` (of `units`), of log-norm rho, at w + along + place across. */
static void put_at(RfSystem *system, const Layer *layer, rf_index units, rf_index to, const double *w,
                   const double *along, double place, double rho) {
  rf_index d = system->d;
  double *own = system->y + to * d, off = rf_la_quick_dot(along, layer->normal, d);
  for (rf_index j = 0; j < d; j++) own[j] = w[j] + along[j] + (place - off) * layer->across[j];
  double norm = rf_la_norm(own, d), before = rf_la_norm(w, d);
  rf_la_scale(own, before / norm, d);
  system->y[units * (d + 1) + to] = rho + 0.5 * log(norm / before); /* a w e^{2 rho} is linear in the place */
}

/* The unit's neurons that reach the ridge within the layer become units, the others stay one. work: 3d. */
static RfStatus part_layer(RfSystem *system, const Layer *layer, const Places *places, double *work) {
  rf_index d = system->d, units = system->units, unit = layer->unit, count = 0, slot = -1;
  double *y = system->y, *w = work, *means = work + d, rho = y[units * (d + 1) + unit];
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != unit || !layer->first[k]) continue;
    if (places->share_rest == 0 && slot < 0) slot = k; /* nobody stays: the unit becomes this neuron */
    count += k != slot;
  }
  rf_index grown = units + count, next = units;
  memcpy(w, y + unit * d, (size_t)d * sizeof(double));
  memset(means, 0, (size_t)(2 * d) * sizeof(double));
  means_of(system, layer, places, means);
  rf_apart_make_room(system, grown);
  if (slot < 0)
    put_at(system, layer, grown, unit, w, means + d, places->factor * (places->rest - places->mean),
           rho + 0.5 * log(places->share_rest));
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < system->m && !status; k++) {
    if (system->unit_of[k] != unit) continue;
    bool first = layer->first[k];
    rf_index to = !first || k == slot ? unit : next++;
    double *row = system->apart + k * (2 * d + 1), place = layer->stretch * layer->ahead[k] - places->mean;
    if (first) put_at(system, layer, grown, to, w, means, places->factor * place, rho + system->offset[k]);
    if (to != unit) y[grown * d + to] = y[grown * d + unit];
    if (to != unit) status = rf_apart_copy_pattern(system, unit, to);
    for (rf_index j = 0; j < d; j++) row[j] = layer->apart[k * d + j] - means[(first ? 0 : d) + j];
    memcpy(row + d, y + to * d, (size_t)d * sizeof(double));
    row[2 * d] = rho + system->offset[k] + system->kappa;
    system->offset[k] = first ? 0 : system->offset[k] + rho - y[grown * (d + 1) + unit];
    system->stretch[k] = first ? places->factor * layer->stretch : 0;
    if (to != unit) system->unit_of[k] = to;
  }
  rf_apart_grown(system, grown);
  return status;
}

RfStatus rf_layer_part(RfRun *run, rf_index u, rf_index i, bool *parted) {
  RfSystem *system = &run->system;
  Layer layer;
  double *work = RF_NEW(double, 3 * system->d);
  RfStatus status = layer_new(run, &layer);
  if (!status && !work) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory at a ridge");
  *parted = false;
  if (!status && layer_at(system, &layer, u, i)) {
    Places places = places_of(system, &layer);
    bool room = places.factor > RF_TOL_LAYER_LEAST; /* or they are where they are, as if never merged */
    status = room ? part_layer(system, &layer, &places, work) : rf_system_part(system, u);
    rf_run_forget_repeats(run), run->held.steps = 0;
    *parted = true;
  }
  layer_free(&layer);
  rf_free(work);
  return status;
}

/* ---- on the way there ---------------------------------------------------------------------------------- */

/* The nearest that a merged unit, not yet within a layer's reach of a ridge, is to one at y_end, in widths:
 * what parts it; infinite without. */
static double nearest_ridge(const RfRun *run, Layer *layer) {
  const RfSystem *system = &run->system;
  double nearest = INFINITY;
  for (rf_index u = 0; u < system->units; u++) {
    if (system->only[u] >= 0 || system->dead[u]) continue;
    for (rf_index i = 0; i < system->n; i++) {
      if (!pushes_away(system, u, i)) continue;
      double far = far_from(system, run->y_end, u, i) / layer->width;
      if (far > fmin(part_within, nearest) || !ridge(system, u, i)) continue;
      if (!(far_from(system, system->y, u, i) > part_within * layer->width)) continue;
      if (layer_at(system, layer, u, i)) nearest = far;
    }
  }
  return nearest;
}

RfStatus rf_layer_approach(RfRun *run, double *h) {
  if (!layers_apply(run)) return RF_OK;
  Layer layer;
  RfStatus status = layer_new(run, &layer);
  double low = 0, high = *h, near = status ? INFINITY : nearest_ridge(run, &layer);
  for (int round = 0; !status && round < 60 && near < latest; round++) {
    double middle = 0.5 * (low + high);
    status = rf_run_try_shorter(run, middle);
    near = status ? INFINITY : nearest_ridge(run, &layer);
    if (run->n_hits > 0 || near < latest) {
      high = middle, near = 0;
    } else if (near > part_within) {
      low = middle, near = 0;
    } else {
      *h = middle;
    }
  }
  layer_free(&layer);
  return status;
}

/* ---- behind it ----------------------------------------------------------------------------------------- */

/* The neuron of a unit that a layer has stretched; -1 without. */
static rf_index stretched(const RfSystem *system, rf_index u) {
  rf_index k = system->only[u];
  return k >= 0 && !system->dead[u] && system->stretch[k] > 0 ? k : -1;
}

bool rf_layer_inside(const RfSystem *system, rf_index u) { return stretched(system, u) >= 0; }

static bool together(const RfSystem *system, rf_index u, rf_index v) {
  rf_index k = stretched(system, u), l = stretched(system, v), a_at = system->units * system->d;
  return k >= 0 && l >= 0 && system->stretch[k] == system->stretch[l] &&
         (system->y[a_at + u] > 0) == (system->y[a_at + v] > 0) &&
         memcmp(system->sigma + u * system->n, system->sigma + v * system->n, (size_t)system->n) == 0;
}

/* Unit u and all that belong together with it are merged, with their distances as they are. work: 3d. */
static void fold(RfSystem *system, rf_index u, double *work) {
  rf_index d = system->d, rho_at = system->units * (d + 1);
  double top = system->y[rho_at + u], sum = 0, *mean = work, *apart = work + d, *off = work + 2 * d;
  memset(work, 0, (size_t)(3 * d) * sizeof(double));
  for (rf_index v = u; v < system->units; v++) {
    if (!together(system, u, v)) continue;
    double share = exp(2 * (system->y[rho_at + v] - top));
    sum += share;
    rf_la_axpy(mean, share, system->y + v * d, d);
  }
  double norm = rf_la_norm(mean, d), was = rf_la_norm(system->y + u * d, d);
  double rho = top + 0.5 * log(norm / was); /* the sum of a w e^{2 rho} stays */
  rf_la_scale(mean, was / norm, d);
  for (rf_index v = u; v < system->units; v++) {
    if (!together(system, u, v)) continue;
    rf_index k = system->only[v];
    double *row = system->apart + k * (2 * d + 1), log_norm = system->y[rho_at + v] + system->kappa;
    rf_apart_of(system, k, log_norm, mean, apart); /* along the ridge */
    for (rf_index j = 0; j < d; j++)
      row[j] = apart[j] + (system->y[v * d + j] - mean[j]) / system->stretch[k], row[d + j] = mean[j];
    row[2 * d] = log_norm;
    rf_la_axpy(off, exp(2 * (system->y[rho_at + v] - top)) / sum, row, d);
  }
  for (rf_index v = system->units - 1; v >= u; v--) { /* u in the end: the others are compared with it */
    if (!together(system, u, v)) continue;
    rf_index k = system->only[v];
    rf_la_axpy(system->apart + k * (2 * d + 1), -1, off, d);
    system->offset[k] = system->y[rho_at + v] - rho;
    system->unit_of[k] = u;
    system->stretch[k] = 0;
    if (v != u) system->dead[v] = 2; /* to be removed */
  }
  memcpy(system->y + u * d, mean, (size_t)d * sizeof(double));
  system->y[rho_at + u] = rho;
}

/* How far neurons that belong together are from a ridge: the nearest of them, and their mean. */
typedef struct Ahead {
  double nearest, mean;
} Ahead;

static Ahead ahead_of(const RfSystem *system, rf_index u, rf_index i) {
  rf_index rho_at = system->units * (system->d + 1);
  Ahead ahead = {.nearest = INFINITY};
  double sum = 0;
  for (rf_index v = 0; v < system->units; v++) {
    if (!together(system, u, v)) continue;
    double share = exp(2 * (system->y[rho_at + v] - system->y[rho_at + u]));
    double far = far_from(system, system->y, v, i);
    sum += share, ahead.mean += share * far;
    ahead.nearest = fmin(ahead.nearest, far);
  }
  ahead.mean /= sum;
  return ahead;
}

/* The neurons that belong together with unit u may be merged: none of them would be put across a ridge were
 * they to be parted again as the network is now. */
static bool may_fold(const RfSystem *system, rf_index u) {
  double more = exp(fmin(2 * system->kappa, RF_TOL_WALL)) / system->stretch[stretched(system, u)];
  for (rf_index i = 0; i < system->n; i++) {
    if (!ridge(system, u, i)) continue;
    Ahead ahead = ahead_of(system, u, i);
    if (more * (ahead.mean - ahead.nearest) > before_ridge * ahead.mean) return false;
  }
  return true;
}

/* Neurons that wait at a ridge while the network grows are no longer as far apart as the weights feel them.
 */
static bool outgrown(const RfSystem *system, rf_index u) {
  double grown = fmin(2 * system->kappa, RF_TOL_WALL) - log(system->stretch[stretched(system, u)]);
  return fabs(grown) > RF_TOL_LAYER_GROWTH;
}

RfStatus rf_layer_fold(RfRun *run, RfFold which, bool *changed) {
  RfSystem *system = &run->system;
  bool removed = false;
  *changed = false;
  if (!system->apart) return RF_OK;
  double *work = RF_NEW(double, 3 * system->d);
  if (!work) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory at a ridge");
  for (rf_index u = 0; u < system->units; u++) {
    if (stretched(system, u) < 0 || (which == RF_FOLD_OUTGROWN && !outgrown(system, u))) continue;
    if (which != RF_FOLD_ALL && !may_fold(system, u)) continue;
    fold(system, u, work);
    *changed = true;
  }
  rf_free(work);
  for (rf_index u = 0; u < system->units; u++) removed = removed || system->dead[u] == 2;
  return removed ? rf_system_compress(system) : RF_OK;
}

/* Unit u moves towards hyperplane i, at the last rf_system_fields. */
static bool approaches(const RfSystem *system, rf_index u, rf_index i) {
  rf_index d = system->d;
  const double *x = system->problem->X + i * d, *w = system->y + u * d, *g = rf_system_g(system, u);
  double turn = rf_la_quick_dot(g, x, d) - 2 * rf_la_quick_dot(g, w, d) * rf_la_quick_dot(w, x, d);
  return system->sigma[u * system->n + i] * system->y[system->units * d + u] * turn < 0;
}

RfStatus rf_layer_near(RfRun *run, bool *changed) {
  RfSystem *system = &run->system;
  bool known = false;
  RfStatus status = RF_OK;
  *changed = false;
  if (!layers_apply(run)) return RF_OK;
  double within = part_within * width_of(run);
  status = rf_layer_fold(run, RF_FOLD_OUTGROWN, changed); /* and parted again below */
  if (*changed) rf_run_forget_repeats(run), run->held.steps = 0;
  for (rf_index u = 0, before = system->units; u < before && !status; u++) {
    for (rf_index i = 0; i < system->n && !status && system->only[u] < 0 && !system->dead[u]; i++) {
      bool now = false;
      if (!pushes_away(system, u, i) || far_from(system, system->y, u, i) > within) continue;
      if (!ridge(system, u, i)) continue;
      if (!known) rf_system_fields(system, system->y);
      known = true;
      if (approaches(system, u, i)) status = rf_layer_part(run, u, i, &now);
      if (!now) continue;
      known = false, *changed = true;
      break;
    }
  }
  return status;
}

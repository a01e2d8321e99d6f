/* What sets the neurons of a merged unit apart. With one pattern d(w,a) = (a g, g.w) is linear, so the
 * difference of two balanced neurons obeys it, too; across w it keeps its absolute length and is carried
 * along with w without turning (F.1a). It falls relative to the neurons as they grow, and changes the network
 * by its square: nothing, until they come to a hyperplane. There they arrive one after the other, the first
 * may turn the weights against the rest, and a unit that crossed as one would hide that. So a merged unit is
 * parted into its neurons before. */
#include "flow/fit/apart.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

bool rf_apart_pinned(const RfSystem *system, rf_index unit) {
  return system->slide[unit].n_on > 0 && system->slide[unit].rank >= system->d - 1;
}

void rf_apart_of(const RfSystem *system, rf_index k, double log_norm, const double *w, double *apart) {
  rf_index d = system->d;
  const double *row = system->apart + k * (2 * d + 1), *was = row + d;
  memset(apart, 0, (size_t)d * sizeof(double));
  double size = rf_la_norm(was, d), now = rf_la_norm(w, d),
         shrunk = exp(fmin(RF_TOL_MOST_GROWTH, row[2 * d] - log_norm));
  if (!(size > 0) || !(now > 0)) return; /* never merged */
  if (system->unit_of[k] >= 0 && rf_apart_pinned(system, system->unit_of[k])) return;
  double cosine = rf_la_quick_dot(was, w, d) / (size * now),
         along = rf_la_quick_dot(row, w, d) / now / (1 + cosine);
  for (rf_index j = 0; j < d; j++) apart[j] = shrunk * (row[j] - along * (was[j] / size + w[j] / now));
  rf_la_axpy(apart, -rf_la_quick_dot(apart, w, d) / (now * now), w,
             d); /* what lies along it is in its size */
  if (system->unit_of[k] >= 0) rf_system_put_on(system, system->unit_of[k], apart);
}

double rf_apart_log_norm(const RfSystem *system, rf_index k) {
  return system->y[system->units * (system->d + 1) + system->unit_of[k]] + system->offset[k] + system->kappa;
}

/* Row of neuron k from now on. Where its unit has turned towards it, it has grown more than the unit:
 * d ln = 2 a (g.D) dtau = 2 D.dw, for D below its own length. A neuron e^-1000 times the size of its unit has
 * a longer one, or none that doubles hold: it has no part in the unit, and nothing is carried. work: d. */
static void renew(RfSystem *system, rf_index k, double *work) {
  rf_index d = system->d;
  double *row = system->apart + k * (2 * d + 1), log_norm = rf_apart_log_norm(system, k);
  const double *w = system->y + system->unit_of[k] * d;
  rf_apart_of(system, k, log_norm, w, work);
  bool small = rf_la_norm(work, d) < 1 && rf_la_norm(row, d) < 1; /* not NaN, either */
  if (!small) memset(work, 0, (size_t)d * sizeof(double));
  if (system->only[system->unit_of[k]] < 0 && small) {
    double more =
        rf_la_quick_dot(row, w, d) - rf_la_quick_dot(work, row + d, d); /* means of D and the way of w */
    system->offset[k] += more, log_norm += more;
  }
  memcpy(row, work, (size_t)d * sizeof(double));
  memcpy(row + d, w, (size_t)d * sizeof(double));
  row[2 * d] = log_norm;
}

RfStatus rf_apart_keep(RfSystem *system) {
  if (!system->apart) system->apart = RF_NEW(double, system->m *(2 * system->d + 1));
  return system->apart ? RF_OK : rf_fail(system->context, RF_ERR_MEMORY, "out of memory for merging units");
}

RfStatus rf_apart_carry(RfSystem *system) {
  rf_index d = system->d, m = system->m;
  if (!system->apart) return RF_OK;
  double *work = NULL;
  for (rf_index k = 0; k < m; k++) {
    rf_index u = system->unit_of[k];
    if (u < 0) continue;
    if (system->only[u] >= 0 && !(system->stretch[k] > 0)) { /* alone */
      memset(system->apart + k * (2 * d + 1), 0, (size_t)d * sizeof(double));
      continue;
    }
    if (!work) work = RF_NEW(double, d);
    if (!work) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for merging units");
    renew(system, k, work);
  }
  rf_free(work);
  return RF_OK;
}

double rf_apart_spread(const RfSystem *system, rf_index unit) {
  rf_index d = system->d;
  double spread = 0;
  if (!system->apart || system->only[unit] >= 0 || system->dead[unit]) return 0;
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != unit) continue;
    const double *row = system->apart + k * (2 * d + 1);
    spread = fmax(spread, rf_la_norm(row, d) *
                              exp(fmin(RF_TOL_MOST_GROWTH, row[2 * d] - rf_apart_log_norm(system, k))));
  }
  return spread;
}

/* Margins that are small differences of large terms feel the sum of a w e^{2 rho} to the last digit: what has
 * to be taken from every neuron of the unit, so that it stays; off (d), work (d). */
static void off_the_sum(const RfSystem *system, rf_index unit, const double *w, double rho, double *off,
                        double *work) {
  rf_index d = system->d;
  double total = 0;
  memset(off, 0, (size_t)d * sizeof(double));
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != unit) continue;
    double share = exp(2 * system->offset[k]);
    rf_apart_of(system, k, rho + system->offset[k] + system->kappa, w, work);
    total += share;
    rf_la_axpy(off, share, work, d);
  }
  for (rf_index j = 0; j < d && total > 0; j++) off[j] = off[j] / total + w[j] * (1 - 1 / total);
}

void rf_apart_make_room(RfSystem *system, rf_index grown) {
  rf_index d = system->d, units = system->units;
  double *y = system->y;
  memmove(y + grown * (d + 2), y + units * (d + 2), (size_t)(1 + system->residues) * sizeof(double));
  memmove(y + grown * (d + 1), y + units * (d + 1), (size_t)units * sizeof(double));
  memmove(y + grown * d, y + units * d, (size_t)units * sizeof(double));
}

RfStatus rf_apart_copy_pattern(RfSystem *system, rf_index unit, rf_index to) {
  rf_index n = system->n;
  memcpy(system->sigma + to * n, system->sigma + unit * n, (size_t)n);
  system->balanced[to] = system->balanced[unit], system->dead[to] = 0;
  memset(&system->slide[to], 0, sizeof system->slide[to]);
  return rf_system_refresh_unit(system, to);
}

void rf_apart_grown(RfSystem *system, rf_index grown) {
  system->units = grown;
  system->classes_known = false;
  for (rf_index u = 0; u < grown; u++) system->clear[u] = 0;
  rf_system_count_members(system);
}

RfStatus rf_system_part(RfSystem *system, rf_index unit) {
  rf_index d = system->d, units = system->units, count = 0;
  for (rf_index k = 0; k < system->m; k++) count += system->unit_of[k] == unit;
  if (!system->apart || count < 2) return RF_OK;
  rf_index grown = units + count - 1, next = units;
  double *y = system->y, a = y[units * d + unit], rho = y[units * (d + 1) + unit];
  double *w = RF_NEW(double, 3 * d), *off = w + 2 * d;
  if (!w) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for parting units");
  memcpy(w, y + unit * d, (size_t)d * sizeof(double));
  off_the_sum(system, unit, w, rho, off, w + d);
  rf_apart_make_room(system, grown);
  RfStatus status = RF_OK;
  for (rf_index k = 0, first = 1; k < system->m && !status; k++) {
    if (system->unit_of[k] != unit) continue;
    rf_index to = first ? unit : next++;
    double *own = y + to * d;
    rf_apart_of(system, k, rho + system->offset[k] + system->kappa, w, w + d);
    for (rf_index j = 0; j < d; j++) own[j] = w[j] + w[d + j] - off[j];
    rf_system_put_on(system, unit, own);
    double norm = rf_la_norm(own, d), grows = 0.5 * log(norm / sqrt(0.5));
    rf_la_scale(own, sqrt(0.5) / norm, d); /* a w e^{2 rho} stays */
    y[grown * d + to] = a, y[grown * (d + 1) + to] = rho + system->offset[k] + grows;
    system->offset[k] = 0;
    system->unit_of[k] = to;
    memset(system->apart + k * (2 * d + 1), 0, (size_t)(2 * d + 1) * sizeof(double));
    if (first) {
      first = 0;
      continue;
    }
    status = rf_apart_copy_pattern(system, unit, to);
  }
  rf_apart_grown(system, grown);
  rf_free(w);
  return status;
}

bool rf_apart_matters(const RfSystem *system, rf_index u, rf_index i, double spread) {
  double push = system->p[i] * system->x_norm[i], all = rf_system_reach(system);
  bool ridge = (system->y[system->units * system->d + u] > 0) == (system->problem->y[i] > 0);
  return ridge ? push > RF_TOL_AVERAGED * all : push * spread > RF_TOL_MERGED_PUSH * all;
}

static RfStatus part(RfRun *run, rf_index u) {
  const double *q = rf_system_hold(&run->system, run->system.y);
  RfStatus status = rf_system_part(&run->system, u);
  if (!status) rf_system_keep(&run->system, run->system.y, q);
  rf_run_forget_repeats(run), run->held.steps = 0;
  return status;
}

/* From system.y, with the units there are now. */
static RfStatus begin_again(RfRun *run, RfStatus status) {
  if (!status) status = rf_run_resize(run);
  if (!status) rf_system_fields(&run->system, run->system.y);
  run->fresh = false;
  return status;
}

/* At the end of the step some neuron of unit u may be on the other side of a hyperplane. */
static bool some_cross(const RfRun *run, rf_index u) {
  const RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d;
  double spread = rf_apart_spread(system, u);
  for (rf_index i = 0; i < n && spread > RF_TOL_APART; i++) {
    double far =
        system->sigma[u * n + i] * rf_la_quick_dot(run->y_end + u * d, system->problem->X + i * d, d);
    if (system->sigma[u * n + i] == 0 || far >= spread * system->x_norm[i]) continue;
    if (rf_apart_matters(system, u, i, spread) && !rf_layer_takes(run, u, i)) return true;
  }
  return false;
}

RfStatus rf_run_part_hits(RfRun *run, bool *parted) {
  RfSystem *system = &run->system;
  rf_index before = system->units;
  RfStatus status = RF_OK;
  *parted = false;
  if (!system->apart || rf_run_large(run)) return RF_OK;
  for (rf_index j = 0; j < run->n_hits && !status; j++) {
    const RfHit *hit = &run->hits[j];
    bool now;
    if (hit->kind != RF_HIT_PLANE) continue;
    if (rf_layer_takes(run, hit->unit, hit->sample)) {
      status = rf_layer_part(run, hit->unit, hit->sample, &now);
      continue;
    }
    double spread = rf_apart_spread(system, hit->unit);
    if (!(spread > RF_TOL_APART) || !rf_apart_matters(system, hit->unit, hit->sample, spread)) continue;
    status = part(run, hit->unit);
  }
  for (rf_index u = 0; u < before && !status && system->problem->leak != 1; u++)
    if (system->only[u] < 0 && some_cross(run, u)) status = part(run, u);
  *parted = system->units > before;
  if (*parted) run->step_taken = 0;
  return *parted ? begin_again(run, status) : status;
}

RfStatus rf_run_part_near(RfRun *run) {
  RfSystem *system = &run->system;
  rf_index n = system->n, d = system->d, before = system->units;
  RfStatus status = RF_OK;
  if (!system->apart || rf_run_large(run) || system->problem->leak == 1) return RF_OK;
  for (rf_index u = 0; u < before && !status; u++) {
    double spread = rf_apart_spread(system, u);
    if (!(spread > RF_TOL_APART)) continue;
    const double *w = system->y + u * d;
    for (rf_index i = 0; i < n && !status; i++) {
      double far = system->sigma[u * n + i] * rf_la_quick_dot(w, system->problem->X + i * d, d);
      if (system->sigma[u * n + i] == 0 || far > 4 * spread * system->x_norm[i]) continue;
      if (!rf_apart_matters(system, u, i, spread) || rf_layer_takes(run, u, i)) continue;
      status = part(run, u);
      break;
    }
  }
  bool changed = false;
  if (!status) status = rf_layer_near(run, &changed);
  return changed || system->units > before ? begin_again(run, status) : status;
}

/* ---- long steps ----------------------------------------------------------------------------- */

RfStatus rf_apart_slide(RfSystem *system, rf_index unit) {
  rf_index d = system->d;
  if (!system->apart || system->only[unit] >= 0 || system->dead[unit]) return RF_OK;
  double *work = RF_NEW(double, d);
  if (!work) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for a slide");
  for (rf_index k = 0; k < system->m; k++) {
    double *row = system->apart + k * (2 * d + 1);
    if (system->unit_of[k] != unit) continue;
    rf_apart_of(system, k, row[2 * d], system->y + unit * d, work); /* its size stays that of its time */
    rf_system_put_on(system, unit, work);
    memcpy(row, work, (size_t)d * sizeof(double));
    memcpy(row + d, system->y + unit * d, (size_t)d * sizeof(double));
  }
  rf_free(work);
  return RF_OK;
}

/* ln of the largest difference in a unit, as a length; -infinity: all of its neurons are at one place. */
static double log_spread(const RfSystem *system, rf_index unit) {
  double spread = -INFINITY;
  for (rf_index k = 0; k < system->m; k++) {
    const double *row = system->apart + k * (2 * system->d + 1);
    double size = system->unit_of[k] == unit ? rf_la_norm(row, system->d) : 0;
    if (size > 0) spread = fmax(spread, log(size) + row[2 * system->d] - rf_apart_log_norm(system, k));
  }
  return spread;
}

/* The part of their differences by which the neurons of a unit may be moved with all of them on its side of
 * every hyperplane. apart: room for d. */
static double room_for(const RfSystem *system, rf_index unit, double *apart) {
  rf_index n = system->n, d = system->d;
  const double *w = system->y + unit * d, *X = system->problem->X;
  double room = 1;
  for (rf_index k = 0; k < system->m; k++) {
    if (system->unit_of[k] != unit) continue;
    rf_apart_of(system, k, rf_apart_log_norm(system, k), w, apart);
    for (rf_index i = 0; i < n; i++) {
      double side = system->sigma[unit * n + i], far = side * rf_la_quick_dot(w, X + i * d, d);
      double move = -side * rf_la_quick_dot(apart, X + i * d, d);
      if (move > 0) room = fmin(room, 0.5 * fmax(far, 0) / move);
    }
  }
  return room;
}

static void stretch(RfSystem *system, rf_index unit, double log_factor) {
  rf_index width = 2 * system->d + 1;
  for (rf_index k = 0; k < system->m; k++)
    if (system->unit_of[k] == unit) system->apart[k * width + width - 1] += log_factor;
}

RfStatus rf_run_part_at_ridge(RfRun *run, rf_index unit, bool *parted) {
  RfSystem *system = &run->system;
  *parted = false;
  if (!system->apart || system->only[unit] >= 0) return RF_OK;
  double spread = log_spread(system, unit);
  double wider = fmin(2 * system->kappa, fmax(0, log(RF_TOL_STRIDE_RIDGE) - spread));
  if (!(spread + wider > log(RF_TOL_APART))) return RF_OK;
  double *apart = RF_NEW(double, system->d);
  if (!apart) return rf_fail(system->context, RF_ERR_MEMORY, "out of memory for parting units");
  stretch(system, unit, wider);
  double room = log(fmax(room_for(system, unit, apart), RF_TOL_TINY));
  rf_free(apart);
  *parted = spread + wider + room > log(RF_TOL_APART);
  stretch(system, unit, *parted ? room : -wider);
  if (!*parted) return RF_OK;
  run->step_taken = 0;
  return begin_again(run, part(run, unit));
}

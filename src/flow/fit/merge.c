/* Units that move together become one. Neurons of one pattern obey the same linear equation d(w,a) = (g a,
 * g.w), so balanced ones with equal signs approach a common direction (LLWA Lemma 5.3: the flow commutes with
 * splitting a neuron); once they agree to 1e-7 their difference changes the network by its square. The shares
 * of the members are kept exactly, and their differences so that they can be parted again (apart.c). */
#include "flow/fit/apart.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Key {
  const RfSystem *system;
  rf_index unit;
  double along; /* its direction on a fixed vector of entries +-1: units that agree are neighbours */
} Key;

static int by_pattern(const void *left, const void *right) {
  const Key *a = left, *b = right;
  const RfSystem *system = a->system;
  rf_index n = system->n, a_at = system->units * system->d;
  int order = memcmp(system->sigma + a->unit * n, system->sigma + b->unit * n, (size_t)n);
  if (order) return order;
  bool pa = system->y[a_at + a->unit] > 0, pb = system->y[a_at + b->unit] > 0;
  if (pa != pb) return pa ? -1 : 1;
  if (a->along != b->along) return a->along < b->along ? -1 : 1;
  return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static bool same_pattern(const RfSystem *system, rf_index u, rf_index v) {
  rf_index n = system->n, a_at = system->units * system->d;
  if ((system->y[a_at + u] > 0) != (system->y[a_at + v] > 0)) return false;
  return memcmp(system->sigma + u * n, system->sigma + v * n, (size_t)n) == 0;
}

static bool same_direction(const RfSystem *system, rf_index u, rf_index v, double together) {
  const double *a = system->y + u * system->d, *b = system->y + v * system->d;
  for (rf_index j = 0; j < system->d; j++)
    if (!(fabs(a[j] - b[j]) <= together)) return false;
  return true;
}

static double along_signs(const double *w, rf_index d) {
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += (j * 7919 % 13 < 7 ? 1 : -1) * w[j];
  return sum;
}

/* A unit this close to one of its hyperplanes may leave its pattern before its neighbours do. That does not
 * matter where the push of the sample is too small to turn it by as much as the merging does. */
static bool near_plane(const RfSystem *system, rf_index u, double together) {
  double weak = RF_TOL_MERGED_PUSH * rf_system_reach(system) / together;
  for (rf_index i = 0; i < system->n; i++)
    if (system->sigma[u * system->n + i] != 0 &&
        fabs(system->H[u * system->n + i]) < 10 * together * system->x_norm[i] &&
        !(system->p[i] * system->x_norm[i] <= weak))
      return true;
  return false;
}

/* v joins u: the direction becomes the mean, weighted by |a||w|; offsets are relative to the joint size ln
 * sqrt(e^2 rho_u + e^2 rho_v). */
static void join(RfSystem *system, rf_index *into, rf_index u, rf_index v) {
  rf_index d = system->d, rho_at = system->units * (d + 1);
  double ru = system->y[rho_at + u], rv = system->y[rho_at + v];
  double top = fmax(ru, rv), joint = top + 0.5 * log(exp(2 * (ru - top)) + exp(2 * (rv - top)));
  double share = exp(2 * (rv - joint));
  double *w = system->y + u * d;
  for (rf_index j = 0; j < d; j++) w[j] += share * (system->y[v * d + j] - w[j]);
  double norm = rf_la_norm(w, d);
  rf_la_scale(w, sqrt(0.5) / norm, d);
  joint += 0.5 * log(norm / sqrt(0.5)); /* a w e^{2 rho} stays, and with it every margin */
  system->y[rho_at + u] = joint;
  system->dead[v] = 2; /* to be removed; its members move */
  into[v] = u;
}

/* What sets neuron k of the unit that was at `old` apart from the unit it belongs to now. */
static void keep_apart(RfSystem *system, rf_index k, const double *old, double log_norm, const double *now,
                       double *work) {
  rf_index d = system->d;
  double *row = system->apart + k * (2 * d + 1);
  rf_apart_of(system, k, log_norm, old, work);
  bool pinned = rf_apart_pinned(system, system->unit_of[k]);
  for (rf_index j = 0; j < d; j++) row[j] = pinned ? 0 : work[j] + old[j] - now[j];
  memcpy(row + d, now, (size_t)d * sizeof(double));
  row[2 * d] = log_norm;
}

bool rf_start_balanced(double difference) {
  return fabs(difference) < RF_TOL_BALANCED * 0.5 * (1 + difference);
}

/* a = +-|w| to the square of `together`: from the start, or since (a^2 - |w|^2) e^{2 rho} stays while the
 * neuron grows. */
static bool is_balanced(const RfSystem *system, rf_index k, double together) {
  double log_norm = system->y[system->units * (system->d + 1) + system->unit_of[k]] + system->offset[k];
  double grown = log_norm + system->kappa - system->conserved[2 * k + 1], was = system->conserved[2 * k];
  return rf_start_balanced(was) || fabs(was) * exp(fmin(0, -2 * grown)) < together * together;
}

RfStatus rf_system_balance(RfSystem *system, double together, bool *parted) {
  rf_index before = system->units;
  RfStatus status = RF_OK;
  bool changed = false;
  *parted = false;
  if (system->problem->freeze_second) return RF_OK;
  const double *q = rf_system_hold(system, system->y);
  for (rf_index k = 0; k < system->m && !status; k++) {
    rf_index u = system->unit_of[k];
    if (u >= 0 && !system->dead[u] && system->only[u] < 0 && !is_balanced(system, k, together))
      status = rf_system_part(system, u);
  }
  *parted = system->units > before;
  if (*parted) rf_system_keep(system, system->y, q);
  for (rf_index u = 0; u < system->units && !status; u++) {
    if (system->only[u] < 0 || system->dead[u]) continue;
    bool now = is_balanced(system, system->only[u], together);
    changed = changed || now != system->balanced[u];
    system->balanced[u] = now;
  }
  if (changed) rf_system_normalise(system, system->y);
  return status;
}

/* May unit u be one with others? */
static bool may_join(const RfSystem *system, rf_index u, double together, bool pinned) {
  if (system->dead[u] || !system->balanced[u] || (pinned && !rf_apart_pinned(system, u))) return false;
  return !rf_layer_inside(system, u) && !near_plane(system, u, together);
}

/* pinned: only units that are. */
static RfStatus merge(RfSystem *system, rf_index *merged, double together, bool pinned) {
  rf_index units = system->units, d = system->d;
  Key *keys = RF_NEW(Key, units);
  rf_index *into = RF_NEW(rf_index, units);
  double *before = RF_NEW(double, units);
  double *old = RF_NEW(double, units *d + d); /* directions before, and work */
  RfStatus status = RF_OK;
  *merged = 0;
  if (!keys || !into || !before || !old) {
    status = rf_fail(system->context, RF_ERR_MEMORY, "out of memory for merging units");
    goto done;
  }
  rf_index live = 0;
  memcpy(old, system->y, (size_t)(units * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    into[u] = -1;
    before[u] = system->y[units * (d + 1) + u];
    if (may_join(system, u, together, pinned))
      keys[live++] = (Key){system, u, along_signs(system->y + u * d, d)};
  }
  qsort(keys, (size_t)live, sizeof *keys, by_pattern);
  for (rf_index s = 0; s < live; s++) {
    rf_index u = keys[s].unit;
    if (into[u] >= 0) continue;
    double reach = keys[s].along + 2 * (double)d * together; /* the mean moves while others join */
    for (rf_index t = s + 1; t < live && keys[t].along <= reach && same_pattern(system, u, keys[t].unit);
         t++) {
      rf_index v = keys[t].unit;
      if (into[v] >= 0 || !same_direction(system, u, v, together)) continue;
      join(system, into, u, v);
      ++*merged;
    }
  }
  for (rf_index k = 0; k<system->m && * merged> 0; k++) {
    rf_index u = system->unit_of[k];
    if (u < 0) continue;
    rf_index to = into[u] >= 0 ? into[u] : u;
    if (system->apart)
      keep_apart(system, k, old + u * d, before[u] + system->offset[k] + system->kappa, system->y + to * d,
                 old + units * d);
    system->offset[k] += before[u] - system->y[units * (d + 1) + to];
    system->unit_of[k] = to;
  }
  if (*merged > 0) status = rf_system_compress(system);
done:
  rf_free(keys);
  rf_free(into);
  rf_free(before);
  rf_free(old);
  return status;
}

RfStatus rf_system_merge(RfSystem *system, rf_index *merged, double together) {
  return merge(system, merged, together, false);
}

RfStatus rf_system_merge_pinned(RfSystem *system, rf_index *merged) {
  return merge(system, merged, RF_TOL_PLANE, true);
}

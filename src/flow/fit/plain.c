/* Coordinates of the implicit method in which margins are linear. With rows of very different lengths a
 * margin is a small difference of huge terms a e^{2 rho} w.x, and a step that turns a unit by delta moves it
 * by the square of delta times such a term: steps would be as short as the root of what a margin may be off.
 * In v = |a| w e^{2 rho} margins are linear, and c = (a^2 - |w|^2) e^{2 rho} is conserved but for the drift:
 *   dv = s (P g + M (g.v^) v^) - 2 mu v,  dc = -2 mu c,  P, M = (sqrt(c^2 + 4 |v|^2) +- c)/2,  s = sgn a.
 * v stands in the place of w, c in that of a, both in units of e^{2 rho} at the start of the step; the place
 * of rho is empty. Units that no margin feels keep their polar coordinates, in which they may shrink for
 * ever. */
#include <math.h>
#include <string.h>

#include "flow/fit/implicit_internal.h"
#include "flow/flow_tolerances.h"

void rf_plain_choose(uint8_t *plain, const RfSystem *system, const rf_index *carrier, rf_index count) {
  rf_index d = system->d, units = system->units;
  double longest = 0;
  for (rf_index r = 0; r < count; r++) longest = fmax(longest, system->x_norm[carrier[r]]);
  for (rf_index k = 0; k < units; k++) {
    double size = fabs(system->y[units * d + k]) * rf_la_norm(system->y + k * d, d);
    double amplitude = rf_system_amplitude(system, system->y[units * (d + 1) + k]);
    plain[k] = !system->dead[k] && size > RF_TOL_PLAIN_BALANCE && size * amplitude * longest > RF_TOL_PLAIN;
  }
}

void rf_plain_from_polar(const uint8_t *plain, const RfSystem *system, double *flat) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    double *v = flat + k * d, *a = flat + units * d + k;
    if (!plain[k]) continue;
    double difference = system->balanced[k] ? 0 : *a * *a - rf_la_quick_dot(v, v, d);
    rf_la_scale(v, fabs(*a), d);
    *a = difference;
    flat[units * (d + 1) + k] = 0;
  }
}

bool rf_plain_turned(const uint8_t *plain, const RfSystem *system, const double *flat) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    const double *w = system->y + k * d;
    double before = fabs(system->y[units * d + k]) * rf_la_quick_dot(w, w, d);
    if (plain[k] && !(rf_la_quick_dot(flat + k * d, w, d) > RF_TOL_PLAIN_LEFT * before)) return true;
  }
  return false;
}

/* w, a and rho from v (in the place of w) and c, both in units of e^{2 rho}; a keeps its sign. */
void rf_plain_split(double *v, double *a, double *rho, double c, rf_index d) {
  double length = rf_la_norm(v, d), root = hypot(c, 2 * length), larger = 0.5 * (root + fabs(c));
  double smaller = length * (length / larger), P = c > 0 ? larger : smaller, M = c > 0 ? smaller : larger;
  if (length > 0) rf_la_scale(v, sqrt(M / root) / length, d);
  *a = copysign(sqrt(P / root), *a);
  *rho += 0.5 * log(root);
}

void rf_plain_to_polar(const uint8_t *plain, const RfSystem *system, double *flat) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    double *a = flat + units * d + k, *rho = flat + units * (d + 1) + k, c = *a;
    if (!plain[k]) continue;
    *a = system->y[units * d + k];
    *rho = system->y[units * (d + 1) + k];
    rf_plain_split(flat + k * d, a, rho, c, d);
  }
}

void rf_plain_between(const RfSystem *system, const double *from, double *to, double fraction) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    const double *w0 = from + k * d;
    double *w1 = to + k * d, *a1 = to + units * d + k, *rho1 = to + units * (d + 1) + k;
    double a0 = from[units * d + k], scale = exp(2 * (from[units * (d + 1) + k] - *rho1));
    double c0 = scale * (a0 * a0 - rf_la_quick_dot(w0, w0, d)), c1 = *a1 * *a1 - rf_la_quick_dot(w1, w1, d);
    if (system->dead[k] || a0 * *a1 < 0) continue;
    for (rf_index j = 0; j < d; j++)
      w1[j] = (1 - fraction) * scale * fabs(a0) * w0[j] + fraction * fabs(*a1) * w1[j];
    rf_plain_split(w1, a1, rho1, system->balanced[k] ? 0 : (1 - fraction) * c0 + fraction * c1, d);
  }
}

void rf_plain_rate(const uint8_t *plain, const RfSystem *system, const double *y, double *f) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    const double *w = y + k * d;
    double a = y[units * d + k], *fw = f + k * d, *fa = f + units * d + k, *frho = f + units * (d + 1) + k;
    if (!plain[k]) continue;
    double scale = exp(2 * (y[units * (d + 1) + k] - system->y[units * (d + 1) + k]));
    double along = (a > 0 ? *fa : -*fa) + 2 * fabs(a) * *frho;
    for (rf_index j = 0; j < d; j++) fw[j] = scale * (fabs(a) * fw[j] + along * w[j]);
    *fa = system->balanced[k] ? 0 : -2 * system->mu * scale * (a * a - rf_la_quick_dot(w, w, d));
    *frho = 0;
  }
}

/* B = df/dy at fixed weights (b x b) and E = df/dg (b rows of d) of a plain unit at the start of a step. */
void rf_plain_block(const RfSystem *system, rf_index k, double *B, double *E) {
  rf_index d = system->d, b = d + 2, units = system->units;
  const double *w = system->y + k * d, *g = rf_system_g(system, k);
  double a = system->y[units * d + k], s = a > 0 ? 1 : -1, w_norm = rf_la_norm(w, d);
  double P = a * a, M = w_norm * w_norm, N = fabs(a) * w_norm, root = P + M, c = P - M;
  double gu = rf_la_quick_dot(g, w, d) / w_norm, bend = 2 * N / root, tilt = 0.5 * (1 + c / root);
  memset(B, 0, (size_t)(b * b) * sizeof(double));
  memset(E, 0, (size_t)(b * d) * sizeof(double));
  for (rf_index i = 0; i < d; i++) {
    double ui = w[i] / w_norm;
    for (rf_index j = 0; j < d; j++) {
      double uj = w[j] / w_norm, across = (i == j) - ui * uj;
      B[i * b + j] = s * (bend * uj * (g[i] + gu * ui) + M / N * ((g[j] - gu * uj) * ui + gu * across));
      E[i * d + j] = s * (P * (i == j) + M * ui * uj);
    }
    B[i * b + i] -= 2 * system->mu;
    if (!system->balanced[k]) B[i * b + d] = s * (tilt * g[i] + (tilt - 1) * gu * ui);
  }
  B[d * b + d] = -2 * system->mu;
}

/* ---- units put back on their hyperplanes, at equal margins ---- */

typedef struct Restore {
  rf_index rank, *carrier;
  double *G, *right; /* rank x rank; rank */
  double *normal;    /* rank rows of d: those of the carriers over their lengths, as one unit feels them */
  double *q;         /* n: margins as they were */
  const RfHit *met;  /* hyperplanes that units are put on without sliding there, */
  rf_index n_met;
  double *across; /* n_met rows of d: and their unit normals, along those that the unit slides on or meets */
} Restore;

/* Takes off v its parts across the hyperplanes that unit k is put on, up to the one before `end`. */
static void along_met(const Restore *restore, rf_index k, rf_index end, rf_index d, double *v) {
  for (rf_index h = 0; h < end; h++) {
    const double *across = restore->across + h * d;
    if (restore->met[h].unit == k) rf_la_axpy(v, -rf_la_quick_dot(v, across, d), across, d);
  }
}

/* Units onto the hyperplanes they meet, all of them before margins are restored: what makes up for one of
 * them must not move another off its own. */
static void meet_all(Restore *restore, const RfSystem *system, double *y) {
  rf_index d = system->d;
  for (rf_index h = 0; h < restore->n_met; h++) {
    const RfHit *hit = &restore->met[h];
    double *across = restore->across + h * d;
    memset(across, 0, (size_t)d * sizeof(double));
    if (hit->kind != RF_HIT_PLANE) continue;
    const double *x = system->problem->X + hit->sample * d;
    memcpy(across, x, (size_t)d * sizeof(double));
    rf_system_project(system, hit->unit, across);
    along_met(restore, hit->unit, h, d, across);
    rf_la_scale(across, 1 / fmax(rf_la_norm(across, d), RF_TOL_TINY), d);
    rf_system_meet(system, hit->sample, y + hit->unit * d);
  }
}

/* P_k s_i x_i/|x_i| of the carriers, with the signs of label and a. */
static void felt_by(const Restore *restore, const RfSystem *system, rf_index k) {
  rf_index n = system->n, d = system->d;
  double sign = system->y[system->units * d + k] > 0 ? 1 : -1;
  for (rf_index r = 0; r < restore->rank; r++) {
    rf_index i = restore->carrier[r];
    double factor = sign * system->problem->y[i] * system->slope[k * n + i] / system->x_norm[i];
    for (rf_index j = 0; j < d; j++) restore->normal[r * d + j] = factor * system->problem->X[i * d + j];
    rf_system_project(system, k, restore->normal + r * d);
    along_met(restore, k, restore->n_met, d, restore->normal + r * d);
  }
}

/* Moves of v = |a| w e^{2 rho} by sum_i mu_i |v_k| P_k s_i x_i, which bring the margins of the carriers back.
 */
static RfStatus restore_margins(RfContext *context, Restore *restore, RfSystem *system, double *y) {
  rf_index d = system->d, units = system->units, rank = restore->rank;
  double most = 0;
  memset(restore->G, 0, (size_t)(rank * rank) * sizeof(double));
  rf_system_fields(system, y);
  for (rf_index r = 0; r < rank; r++) {
    rf_index i = restore->carrier[r];
    double off = restore->q[i] - system->q[i]; /* of a short row rounding is a long way */
    if (system->by_margins && fabs(off) <= RF_TOL_ROUNDING * rf_system_terms(system, i)) off = 0;
    restore->right[r] = off / system->x_norm[i];
    most = fmax(most, fabs(off));
  }
  if (!system->grade && most <= RF_TOL_CUT_MARGIN) return RF_OK; /* no weight shows it */
  for (rf_index k = 0; k < units; k++) {
    double v = fabs(y[units * d + k]) * rf_la_norm(y + k * d, d) *
               rf_system_amplitude(system, y[units * (d + 1) + k]);
    if (system->dead[k]) continue;
    felt_by(restore, system, k);
    for (rf_index r = 0; r < rank; r++)
      for (rf_index c = 0; c < rank; c++)
        restore->G[r * rank + c] += v * rf_la_quick_dot(restore->normal + r * d, restore->normal + c * d, d);
  }
  for (rf_index r = 0; r < rank * rank + rank; r++) /* past overflow: the step is refused */
    if (!isfinite(r < rank * rank ? restore->G[r] : restore->right[r - rank * rank])) return RF_OK;
  RfStatus status = rf_la_least_squares(context, restore->G, restore->right, rank, rank, RF_TOL_RANK, NULL);
  for (rf_index k = 0; k < units && !status; k++) {
    double *w = y + k * d, *a = y + units * d + k, part = rf_la_norm(w, d); /* |v_k| over |a| e^{2 rho} */
    double c = system->balanced[k] ? 0 : *a * *a - part * part;
    if (system->dead[k] || *a == 0 || part == 0) continue;
    felt_by(restore, system, k);
    for (rf_index r = 0; r < rank; r++) rf_la_axpy(w, part * restore->right[r], restore->normal + r * d, d);
    rf_la_scale(w, fabs(*a), d);
    rf_plain_split(w, a, y + units * (d + 1) + k, c, d); /* which is conserved */
  }
  return status;
}

RfStatus rf_plain_put_on(RfContext *context, RfSystem *system, double *y, const RfHit *met, rf_index n_met) {
  rf_index n = system->n, d = system->d, sliding = n_met;
  for (rf_index k = 0; k < system->units; k++) sliding += !system->dead[k] && system->slide[k].n_on > 0;
  if (sliding == 0 && !system->by_margins) return RF_OK;
  Restore restore = {.carrier = RF_NEW(rf_index, n),
                     .G = RF_NEW(double, n *n + 2 * n + n * d + n_met * d),
                     .met = met,
                     .n_met = n_met};
  RfStatus status = RF_OK;
  if (!restore.carrier || !restore.G) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for slides");
  if (!status) {
    restore.right = restore.G + n * n, restore.q = restore.right + n, restore.normal = restore.q + n;
    restore.across = restore.normal + n * d;
    rf_system_fields(system, y);
    memcpy(restore.q, system->q, (size_t)n * sizeof(double));
    restore.rank = rf_carriers(system, restore.carrier);
  }
  for (rf_index k = 0; k < system->units && !status; k++)
    if (!system->dead[k]) rf_system_put_on(system, k, y + k * d);
  if (!status) meet_all(&restore, system, y);
  /* the weights follow the margins that the state carries, or roundings would add up */
  if (system->by_margins)
    memset(y + rf_system_clock(system) + 1, 0, (size_t)system->residues * sizeof(double));
  for (int pass = 0; pass < (system->by_margins ? 2 : 1) && !status && restore.rank > 0; pass++)
    status = restore_margins(context, &restore, system, y);
  if (!status && system->by_margins) {
    rf_system_keep(system, y, restore.q);
    rf_system_bound(system, y);
  }
  rf_free(restore.carrier);
  rf_free(restore.G);
  return status;
}

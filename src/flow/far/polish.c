/* The limit direction from a state near it. With patterns and signs fixed, and u_g = sum |a_k| w_k per group
 * g, a KKT direction of the margin problem solves the convex problem minimise sum_g |u_g|  subject to  y_i
 * sum_g s_g D_gi (P_g x_i).u_g >= 1, P_g the projection on the hyperplanes the group slides on (with a frozen
 * second layer: half the sum of squares instead of the norms): polish_solve.c. */
#include "flow/far/polish_solve.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rf_polish_free(RfPolish *polish) {
  rf_free(polish->groups);
  rf_free(polish->group_of);
  rf_free(polish->size);
  rf_free(polish->beta);
  rf_free(polish->lambda);
  memset(polish, 0, sizeof *polish);
}

/* ---- groups -------------------------------------------------------------------------------- */

static double unit_size(const RfSystem *system, rf_index u, double top) {
  double rho = system->y[system->units * (system->d + 1) + u];
  const double *w = system->y + u * system->d;
  return exp(2 * (rho - top)) * (system->problem->freeze_second ? rf_la_quick_dot(w, w, system->d) : 1);
}

static double largest_rho(const RfSystem *system) {
  double top = -INFINITY;
  for (rf_index u = 0; u < system->units; u++)
    if (!system->dead[u]) top = fmax(top, system->y[system->units * (system->d + 1) + u]);
  return top;
}

static rf_index find_group(const RfPolish *polish, const RfSystem *system, rf_index u, int sign) {
  rf_index n = system->n;
  for (rf_index g = 0; g < polish->n_groups; g++)
    if (polish->groups[g].sign == sign &&
        memcmp(system->sigma + polish->groups[g].unit * n, system->sigma + u * n, (size_t)n) == 0)
      return g;
  return -1;
}

static RfStatus make_groups(RfContext *context, RfPolish *polish, const RfSystem *system) {
  rf_index units = system->units, n = system->n;
  double top = largest_rho(system), total = 0;
  memset(polish, 0, sizeof *polish);
  polish->late = polish->left_out = -INFINITY;
  polish->n_units = units;
  polish->groups = RF_NEW(RfPolishGroup, units);
  polish->group_of = RF_NEW(rf_index, units);
  polish->size = RF_NEW(double, units);
  polish->lambda = RF_NEW(double, 2 * n);
  if (!polish->groups || !polish->group_of || !polish->size || !polish->lambda)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for groups");
  polish->margins = polish->lambda + n;
  for (rf_index u = 0; u < units; u++) {
    polish->group_of[u] = -1;
    if (system->dead[u]) continue;
    double a = system->y[units * system->d + u];
    int sign = a >= 0 ? 1 : -1;
    rf_index g = find_group(polish, system, u, sign);
    if (g < 0) {
      g = polish->n_groups++;
      polish->groups[g] = (RfPolishGroup){.unit = u, .sign = sign};
    }
    polish->group_of[u] = g;
    double size = unit_size(system, u, top);
    polish->groups[g].share += size, total += size;
    polish->groups[g].weight += a * a;
  }
  double heaviest = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    polish->groups[g].share /= total;
    polish->groups[g].weight = system->problem->freeze_second ? sqrt(polish->groups[g].weight) : 1;
    heaviest = fmax(heaviest, polish->groups[g].weight);
  }
  polish->heaviest = polish->n_groups > 0 ? heaviest : 1;
  for (rf_index g = 0; g < polish->n_groups; g++) polish->groups[g].weight /= polish->heaviest;
  return RF_OK;
}

/* Back from weights relative to the heaviest group, with which the problem was solved, to the true ones. */
static void true_weights(RfPolish *polish, rf_index n, rf_index d) {
  double heaviest = polish->heaviest;
  if (heaviest == 1) return;
  for (rf_index g = 0; g < polish->n_groups; g++) polish->groups[g].weight *= heaviest;
  rf_la_scale(polish->beta, 1 / heaviest, polish->n_groups * d);
  for (rf_index i = 0; i < n; i++) polish->lambda[i] = polish->lambda[i] / heaviest / heaviest;
}

/* Removes group g; its units belong to no group. */
static void drop_group(RfPolish *polish, rf_index g, rf_index d) {
  for (rf_index u = 0; u < polish->n_units; u++) {
    if (polish->group_of[u] == g) polish->group_of[u] = -1;
    if (polish->group_of[u] > g) polish->group_of[u]--;
  }
  rf_index after = polish->n_groups - g - 1;
  memmove(polish->groups + g, polish->groups + g + 1, (size_t)after * sizeof *polish->groups);
  if (polish->beta)
    memmove(polish->beta + g * d, polish->beta + (g + 1) * d, (size_t)(after * d) * sizeof(double));
  polish->n_groups--;
}

static rf_index smallest_group(const RfPolish *polish) {
  rf_index least = 0;
  for (rf_index g = 1; g < polish->n_groups; g++)
    if (polish->groups[g].part < polish->groups[least].part) least = g;
  return least;
}

/* The largest part that a neuron beta of group g has in a margin. */
static double part_in_margins(const RfPolish *polish, const RfSystem *system, rf_index g, const double *beta,
                              const double *margins) {
  rf_index n = system->n, d = system->d, unit = polish->groups[g].unit;
  double part = 0;
  for (rf_index i = 0; i < n; i++) {
    double input = rf_la_quick_dot(beta, system->problem->X + i * d, d);
    if (system->seen[i] && margins[i] > 0)
      part = fmax(part, fabs(system->slope[unit * n + i] * input) / margins[i]);
  }
  return part;
}

/* Where rows differ much in length, a neuron that a long row needs is small beside one that a short row
 * needs.
 */
static void group_parts(RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    RfPolishGroup *group = &polish->groups[g];
    group->part = group->share;
    for (rf_index u = 0; u < units && system->spread; u++) {
      double size =
          fabs(system->y[units * d + u]) * rf_system_amplitude(system, system->y[units * (d + 1) + u]);
      if (polish->group_of[u] == g)
        group->part =
            fmax(group->part, size * part_in_margins(polish, system, g, system->y + u * d, system->q));
    }
  }
}

/* beta_g of the state, up to a common factor. */
static void group_vectors(RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  double top = largest_rho(system);
  memset(polish->beta, 0, (size_t)(polish->n_groups * d) * sizeof(double));
  for (rf_index u = 0; u < units; u++) {
    rf_index g = polish->group_of[u];
    if (g < 0) continue;
    double a = system->y[units * d + u], rho = system->y[units * (d + 1) + u];
    double factor = system->problem->freeze_second ? fabs(a) * exp(rho - top) / polish->groups[g].weight
                                                   : fabs(a) * exp(2 * (rho - top));
    rf_la_axpy(polish->beta + g * d, factor, system->y + u * d, d);
  }
}

/* ---- result -------------------------------------------------------------------------------- */

/* |theta/|theta| - limit| over the live units, the limit having the state's split inside each group. */
static double distance_to_state(const RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  double top = largest_rho(system), norm_state = 0, norm_limit = 0, inner = 0;
  bool frozen = system->problem->freeze_second;
  for (rf_index u = 0; u < units; u++) {
    if (system->dead[u]) continue;
    rf_index g = polish->group_of[u];
    const double *w = system->y + u * d;
    double a = system->y[units * d + u], size = exp(system->y[units * (d + 1) + u] - top);
    double norm2 = rf_la_quick_dot(w, w, d) + (frozen ? 0 : a * a);
    norm_state += size * size * norm2;
    if (g < 0) continue;
    const double *beta = polish->beta + g * d;
    double length = rf_la_norm(beta, d);
    if (length == 0) continue;
    if (frozen) {
      double factor = fabs(a) / polish->groups[g].weight;
      inner += size * factor * rf_la_quick_dot(w, beta, d);
      norm_limit += factor * factor * length * length;
    } else { /* w = split beta/sqrt|beta|, a = +-split sqrt|beta|, split^2 = size^2 / sum size^2 */
      double split = size / sqrt(polish->groups[g].share);
      inner += size * split * (rf_la_quick_dot(w, beta, d) / sqrt(length) + fabs(a) * sqrt(length));
      norm_limit += 2 * split * split * length;
    }
  }
  if (!(norm_state > 0) || !(norm_limit > 0)) return INFINITY;
  /* shares are relative to their sum: the scale of `split` drops out */
  double cosine = inner / sqrt(norm_state * norm_limit);
  return sqrt(fmax(0, 2 - 2 * cosine));
}

/* Under settled weights a unit of group g follows the field along beta: of its size e^rho the part
 * (|a| + w.beta/|beta|)/sqrt(2) grows with the group, the rest dies out. */
static void final_sizes(RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units;
  for (rf_index u = 0; u < units; u++) {
    rf_index g = polish->group_of[u];
    polish->size[u] = system->y[units * (d + 1) + u];
    if (g < 0 || system->problem->freeze_second) continue;
    const double *beta = polish->beta + g * d;
    double along = rf_la_quick_dot(system->y + u * d, beta, d) / rf_la_norm(beta, d);
    double part = (fabs(system->y[units * d + u]) + along) / sqrt(2.0);
    if (part > 0) polish->size[u] += log(part);
  }
}

/* A group that the solution makes vanish: with multipliers that are not unique nonnegative least squares
 * finds some that make it stationary at any size. -1: none. */
static rf_index vanished_group(const RfPolish *polish, const RfSystem *system, double least_part) {
  rf_index d = system->d, at = -1;
  double total = 0, least = INFINITY;
  for (rf_index g = 0; g < polish->n_groups; g++) total += rf_la_norm(polish->beta + g * d, d);
  for (rf_index g = 0; g < polish->n_groups; g++) {
    const double *beta = polish->beta + g * d;
    double part = rf_la_norm(beta, d) / total;
    if (system->spread) part = fmax(part, part_in_margins(polish, system, g, beta, polish->margins));
    if (part < least) least = part, at = g;
  }
  return least <= least_part ? at : -1;
}

/* A group that Newton's method sends to nothing, so that it does not converge: its length over that of the
 * state, against the largest such ratio. -1: none. */
static rf_index collapsed_group(const RfPolish *polish, const RfSystem *system) {
  rf_index d = system->d, units = system->units, at = -1;
  double top = largest_rho(system), least = INFINITY, most = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double before = 0;
    for (rf_index u = 0; u < units; u++)
      if (polish->group_of[u] == g)
        before += fabs(system->y[units * d + u]) * exp(2 * (system->y[units * (d + 1) + u] - top)) *
                  rf_la_norm(system->y + u * d, d);
    double ratio = rf_la_norm(polish->beta + g * d, d) / fmax(before, RF_TOL_TINY);
    most = fmax(most, ratio);
    if (ratio < least) least = ratio, at = g;
  }
  return least <= RF_TOL_COLLAPSED * most ? at : -1;
}

double rf_polish_moved(const RfPolish *polish, const RfSystem *system, const double *beta,
                       const double *row) {
  rf_index d = system->d;
  const double *grade = system->grade;
  double sum = 0;
  for (rf_index g = 0; g < polish->n_groups && grade; g++) {
    const RfSlide *slide = &system->slide[polish->groups[g].unit];
    for (rf_index k = 0; k < slide->n_planes; k++) {
      const double *x = system->problem->X + slide->first[k] * d, *z = beta + g * d;
      double terms = 0, felt = 0, square = RF_TOL_TINY;
      for (rf_index j = 0; j < d; j++) {
        terms += fabs(x[j] * z[j]), felt += row[g * d + j] * (x[j] / grade[j] / grade[j]);
        square += (x[j] / grade[j]) * (x[j] / grade[j]);
      }
      sum += RF_TOL_ROUNDING * terms * fabs(felt) / square;
    }
  }
  return sum;
}

/* Does some choice of slopes in [leak,1] hold the group on its hyperplanes under the weights system->c? off:
 * by how much its direction would be another with slopes at their ends. */
static RfStatus slides_hold(const RfSystem *system, rf_index unit, double *slopes, bool *hold, double *off) {
  const RfSlide *slide = &system->slide[unit];
  double leak = system->problem->leak, gap = 0;
  if (rf_slide_dependent(slide)) {
    RfStatus status = rf_system_slide_gap(system, unit, true, &gap, slopes);
    *hold = gap <= RF_TOL_SLOPE_LIMIT;
    return status;
  }
  rf_system_slide_slopes(system, unit, slopes);
  *hold = true;
  for (rf_index z = 0; z < slide->n_planes; z++) {
    double out = fmax(0, fmax(leak - slopes[z], slopes[z] - 1));
    if (!(out <= RF_TOL_SLOPE_LIMIT)) *hold = false;
    if (system->seen[slide->first[z]]) /* else a wall, of any weight */
      *off += out * fabs(system->c[slide->first[z]]) * system->x_norm[slide->first[z]];
  }
  return RF_OK;
}

/* How far group g of the solution is beyond the hyperplane of sample i, off the side it was solved with; 0:
 * it is not. Beyond the hyperplane of a long row, a cosine of 1e-7 is many margins. */
static double beyond(const RfPolish *polish, const RfSystem *system, rf_index g, rf_index i) {
  rf_index d = system->d;
  const double *beta = polish->beta + g * d, *x = system->problem->X + i * d;
  double across = -system->sigma[polish->groups[g].unit * system->n + i] * rf_la_quick_dot(beta, x, d),
         terms = 0;
  double slack = RF_TOL_SIDE_LIMIT * rf_la_norm(beta, d) * system->x_norm[i];
  for (rf_index j = 0; j < d && system->spread; j++) terms += fabs(beta[j] * x[j]);
  if (system->spread) slack = fmax(fmin(slack, RF_TOL_SIDE_LIMIT), RF_TOL_ROUNDING * terms);
  return across > slack ? across : 0;
}

/* Is the solution on the sides it was solved with? A sample without a multiplier that stays beyond the margin
 * on either side has no part in it: the state, O(1/q) away, is still on one side, the limit on the other. */
static bool sides_hold(const RfPolish *polish, const RfSystem *system) {
  for (rf_index i = 0; i < system->n && system->problem->leak < 1; i++) {
    double moved = 0;
    for (rf_index g = 0; g < polish->n_groups; g++)
      moved += (1 - system->problem->leak) * polish->groups[g].weight * beyond(polish, system, g, i);
    if (!(moved > 0)) continue;
    if (!system->seen[i] || polish->lambda[i] > 0 || !(polish->margins[i] - moved > 1 + RF_TOL_TIGHT))
      return false;
  }
  return true;
}

/* The point counts only when every group is on its sides, and every slide legal under the multipliers. */
static RfStatus check_slides(RfContext *context, RfPolish *polish, RfSystem *system) {
  rf_index n = system->n;
  double *c = system->c, *own = RF_NEW(double, 2 * n + system->d);
  if (!own) return rf_fail(context, RF_ERR_MEMORY, "out of memory for slides");
  RfStatus status = RF_OK;
  double all = 0, sum = 0;
  for (rf_index i = 0; i < n; i++)
    own[i] = (system->seen[i] ? polish->lambda[i] : RF_TOL_WALL_LIMIT) * system->problem->y[i];
  system->c = own;
  polish->ok = sides_hold(polish, system);
  bool beside = !polish->ok;
  for (rf_index g = 0; g < polish->n_groups && !beside && !status; g++) {
    bool holds = true;
    double off = 0, length = rf_la_norm(polish->beta + g * system->d, system->d);
    if (system->slide[polish->groups[g].unit].n_on > 0)
      status = slides_hold(system, polish->groups[g].unit, own + n, &holds, &off);
    polish->ok = polish->ok && holds;
    all += length, sum += off * off * length;
  }
  polish->slips =
      beside ? NAN : sqrt(0.5 * sum / fmax(all, RF_TOL_TINY)); /* |w|^2 is half of a group's |theta|^2 */
  system->c = c;
  rf_free(own);
  return status;
}

/* Where rounding keeps the scale small, the state at rest is O(1/q) from the point, its margins being
 * q_i = -ln p_i + const instead of equal. The same equations with the margins of the state lead to where it
 * should be; the point is what they tend to as q grows. The distance to that place counts. */
static RfStatus distance_at_scale(RfContext *context, RfPolish *polish, RfSystem *system) {
  rf_index n = system->n, size = polish->n_groups * system->d;
  double *aim = RF_NEW(double, n + size), *beta = aim + n, least = system->q_least, top = largest_rho(system);
  bool solved = false;
  if (!aim) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  memcpy(beta, polish->beta, (size_t)size * sizeof(double));
  for (rf_index i = 0; i < n; i++) aim[i] = system->q[i] / least;
  group_vectors(polish, system);
  rf_la_scale(polish->beta, exp(2 * top) / least, size);
  RfStatus status = rf_polish_solve_aimed(context, polish, system, aim, &solved);
  if (solved) polish->distance = fmin(polish->distance, distance_to_state(polish, system));
  memcpy(polish->beta, beta, (size_t)size * sizeof(double));
  rf_free(aim);
  return status;
}

RfStatus rf_polish(RfContext *context, RfPolish *polish, RfSystem *system, double share_min) {
  rf_index d = system->d;
  RfStatus status = make_groups(context, polish, system);
  if (status) return status;
  rf_system_fields(system, system->y);
  group_parts(polish, system);
  while (polish->n_groups > 1) {
    rf_index g = smallest_group(polish);
    if (polish->groups[g].part >= share_min) break;
    drop_group(polish, g, d);
  }
  if (polish->n_groups == 0) return RF_OK;
  polish->slips = NAN;
  polish->beta = RF_NEW(double, polish->n_groups *d);
  if (!polish->beta) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the limit");
  /* where a group that a long row feels is gone, the rest of the solution separates, that of the state not */
  bool kept = false;
  for (;;) {
    if (!kept) group_vectors(polish, system);
    status = rf_polish_solve(context, polish, system);
    if (status || polish->n_groups == 1) break;
    rf_index g = polish->ok && !system->problem->freeze_second
                     ? vanished_group(polish, system, fmin(share_min, RF_TOL_VANISHED))
                     : -1;
    if (polish->ok && g < 0) break;
    if (g < 0 && system->spread) g = collapsed_group(polish, system);
    bool gone = g >= 0;
    kept = kept || (gone && system->spread);
    if (!gone && polish->idle >= 0 && polish->groups[polish->idle].share <= RF_TOL_SHARE_DROP)
      g = polish->idle, gone = kept = true;
    if (g < 0) g = smallest_group(polish);
    if (!gone && !polish->ok && polish->groups[g].part > RF_TOL_SHARE_DROP) break;
    drop_group(polish, g, d);
  }
  if (!status && polish->ok) status = check_slides(context, polish, system);
  if (status) return status;
  true_weights(polish, system->n, d);
  polish->objective = 0;
  for (rf_index g = 0; g < polish->n_groups; g++) {
    double length = rf_la_norm(polish->beta + g * d, d);
    polish->objective += system->problem->freeze_second ? 0.5 * length * length : length;
  }
  polish->distance = distance_to_state(polish, system);
  final_sizes(polish, system);
  bool low = system->spread && !system->problem->freeze_second && system->q_least < RF_TOL_Q_LOW;
  return low && polish->ok ? distance_at_scale(context, polish, system) : RF_OK;
}

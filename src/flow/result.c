/* From a run to what the caller reads: the limit network in the caller's order and signs, groups, margins,
 * multipliers. */
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"
#include "core/core.h"
#include "reluflow/certify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void limit_free(RfFlowLimit *limit) {
  for (rf_index g = 0; limit->groups && g < limit->n_groups; g++) {
    rf_free(limit->groups[g].members);
    rf_free(limit->groups[g].sector);
    rf_free(limit->groups[g].beta);
  }
  for (rf_index j = 0; j < limit->n_candidates; j++) rf_net_free(&limit->candidates[j].net);
  rf_free(limit->candidates);
  rf_net_free(&limit->net);
  rf_free(limit->margins);
  rf_free(limit->support);
  rf_free(limit->groups);
  rf_free(limit->vanishing);
  rf_free(limit->dead);
  rf_free(limit->resting);
  rf_free(limit->lambda);
  memset(limit, 0, sizeof *limit);
}

void rf_flow_result_free(RfFlowResult *result) {
  if (!result) return;
  rf_alignment_free(&result->alignment);
  rf_free(result->events);
  for (rf_index j = 0; j < result->n_branches; j++) rf_free(result->branches[j].sectors);
  rf_free(result->branches);
  rf_free(result->trace);
  limit_free(&result->limit);
  rf_net_free(&result->net_end);
  rf_flow_checkpoint_free(&result->checkpoint);
  memset(result, 0, sizeof *result);
}

/* ---- networks ------------------------------------------------------------------------------ */

/* The state of all neurons scaled to |theta| = 1; log_norm receives ln |theta|. */
RfStatus rf_run_net(const RfRun *run, RfNet *net, double *log_norm) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, m = system->m;
  RfStatus status = rf_net_new(run->context, net, m, d, run->problem->leak);
  double *rho = RF_NEW(double, m), top = -INFINITY, sum = 0;
  bool frozen = run->problem->freeze_second;
  if (!status && !rho) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a network");
  for (rf_index k = 0; k < m && !status; k++) {
    rf_system_neuron(system, k, net->W + k * d, &net->a[k], &rho[k]);
    top = fmax(top, rho[k]);
    if (frozen && net->a[k] != 0) top = fmax(top, log(fabs(net->a[k])));
  }
  if (!isfinite(top)) top = 0;
  for (rf_index k = 0; k < m && !status; k++) {
    double size = exp(rho[k] - top);
    rf_la_scale(net->W + k * d, size, d);
    net->a[k] *= frozen ? exp(-top) : size;
  }
  if (!status) {
    sum = sqrt(rf_net_norm2(net));
    for (rf_index j = 0; j < m * d && sum > 0; j++) net->W[j] /= sum;
    for (rf_index k = 0; k < m && sum > 0; k++) net->a[k] /= sum;
    *log_norm = sum > 0 ? top + log(sum) : -INFINITY;
  }
  rf_free(rho);
  if (status) rf_net_free(net);
  return status;
}

/* The polished limit: w_k = split beta/sqrt|beta|, a_k = sign split sqrt|beta|, splits from the flow. */
static RfStatus limit_net(const RfRun *run, const RfPolish *polish, RfNet *net) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, m = system->m, units = system->units;
  RfStatus status = rf_net_new(run->context, net, m, d, run->problem->leak);
  if (status) return status;
  double *total = RF_NEW(double, polish->n_groups), top = -INFINITY;
  if (!total) {
    rf_net_free(net);
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for the limit");
  }
  const double *size = polish->size, *a = system->y + units * d;
  for (rf_index u = 0; u < units; u++)
    if (polish->group_of[u] >= 0) top = fmax(top, size[u]);
  for (rf_index k = 0; k < m; k++) { /* over neurons, so that rounding of huge log-norms drops out */
    rf_index u = system->unit_of[k];
    if (u >= 0 && polish->group_of[u] >= 0)
      total[polish->group_of[u]] += exp(2 * (size[u] + system->offset[k] - top));
  }
  for (rf_index k = 0; k < m; k++) {
    rf_index u = system->unit_of[k], g = u >= 0 ? polish->group_of[u] : -1;
    if (g < 0) continue;
    const double *beta = polish->beta + g * d;
    double length = rf_la_norm(beta, d), split, size_w, size_a;
    if (run->problem->freeze_second) { /* w_k = a_k sum lambda y s x; a keeps its size */
      size_w = fabs(a[u]) / polish->groups[g].weight;
      size_a = a[u];
    } else {
      split = exp(size[u] + system->offset[k] - top) / sqrt(total[g]);
      size_w = split / sqrt(length);
      size_a = split * sqrt(length) * polish->groups[g].sign;
    }
    for (rf_index j = 0; j < d; j++) net->W[k * d + j] = system->flip[k] * size_w * beta[j];
    net->a[k] = system->flip[k] * size_a;
  }
  bool frozen = run->problem->freeze_second;
  double norm = frozen ? rf_la_norm(net->W, m * d) : sqrt(rf_net_norm2(net));
  for (rf_index j = 0; j < m * d && norm > 0; j++) net->W[j] /= norm;
  for (rf_index k = 0; k < m && norm > 0 && !frozen; k++) net->a[k] /= norm;
  rf_free(total);
  return RF_OK;
}

/* ---- lists --------------------------------------------------------------------------------- */

static RfStatus group_new(const RfRun *run, const RfPolish *polish, RfFlowGroup *group, rf_index g,
                          int sign) {
  const RfSystem *system = &run->system;
  group->members = RF_NEW(rf_index, system->m);
  group->sector = RF_NEW(int8_t, system->n);
  group->beta = RF_NEW(double, system->d);
  group->sign = sign;
  if (!group->members || !group->sector || !group->beta)
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for groups");
  memcpy(group->sector, system->sigma + polish->groups[g].unit * system->n, (size_t)system->n);
  return RF_OK;
}

/* Sides of the limit itself: samples without weight may lie between it and the state (polish.c). */
static void final_sector(const RfSystem *system, RfFlowGroup *group) {
  rf_index d = system->d;
  double length = rf_la_norm(group->beta, d);
  for (rf_index i = 0; i < system->n; i++) {
    double across = rf_la_quick_dot(group->beta, system->problem->X + i * d, d);
    if (group->sector[i] * across < -RF_TOL_SIDE_LIMIT * length * system->x_norm[i])
      group->sector[i] = (int8_t)-group->sector[i];
  }
}

/* A linear net has one direction, and the neurons of either sign of a share it by their sizes. */
static void share_linear(const RfRun *run, const RfPolish *polish, RfFlowLimit *limit, const double *part,
                         const rf_index *place) {
  rf_index d = run->problem->d;
  for (rf_index c = 0; c < 2; c++) {
    if (place[c] < 0) continue;
    RfFlowGroup *group = &limit->groups[place[c]];
    for (rf_index g = 0; g < polish->n_groups; g++)
      rf_la_axpy(group->beta, group->sign * polish->groups[g].sign * part[c] / (part[0] + part[1]),
                 polish->beta + g * d, d);
  }
}

/* Groups in the order of their first member. */
static RfStatus fill_groups(const RfRun *run, const RfPolish *polish, RfFlowLimit *limit) {
  const RfSystem *system = &run->system;
  rf_index d = system->d, count = polish->n_groups > 2 ? polish->n_groups : 2;
  bool linear = run->problem->leak == 1;
  limit->groups = RF_NEW(RfFlowGroup, count);
  rf_index *place = RF_NEW(rf_index, count); /* by group; of a linear net by sign */
  double *part = RF_NEW(double, count);
  RfStatus status = RF_OK;
  if (!limit->groups || !place || !part)
    status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for groups");
  for (rf_index c = 0; c < count && !status; c++) place[c] = -1;
  for (rf_index k = 0; k < system->m && !status; k++) {
    rf_index u = system->unit_of[k], g = u >= 0 ? polish->group_of[u] : -1;
    if (g < 0) continue;
    int sign = system->flip[k] * polish->groups[g].sign;
    rf_index c = linear ? sign < 0 : g;
    if (place[c] < 0) {
      place[c] = limit->n_groups++;
      status = group_new(run, polish, &limit->groups[place[c]], g, sign);
      if (status) break;
    }
    RfFlowGroup *group = &limit->groups[place[c]];
    group->members[group->n_members++] = k;
    part[c] += fabs(limit->net.a[k]) * rf_la_norm(limit->net.W + k * d, d);
  }
  if (!status && linear) share_linear(run, polish, limit, part, place);
  for (rf_index g = 0; g < polish->n_groups && !status && !linear; g++) {
    if (place[g] < 0) continue;
    memcpy(limit->groups[place[g]].beta, polish->beta + g * d, (size_t)d * sizeof(double));
    if (!system->spread) final_sector(system, &limit->groups[place[g]]);
  }
  rf_free(place);
  rf_free(part);
  return status;
}

static RfStatus fill_rows(const RfRun *run, const RfPolish *polish, RfFlowLimit *limit) {
  const RfSystem *system = &run->system;
  limit->vanishing = RF_NEW(rf_index, system->m);
  limit->dead = RF_NEW(rf_index, system->m);
  if (!limit->vanishing || !limit->dead)
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for neurons");
  for (rf_index k = 0; k < system->m; k++) {
    rf_index u = system->unit_of[k];
    bool dead = system->is_dead[k] || (u >= 0 && system->dead[u]);
    if (dead)
      limit->dead[limit->n_dead++] = k;
    else if (polish && (u < 0 || polish->group_of[u] < 0))
      limit->vanishing[limit->n_vanishing++] = k;
  }
  return RF_OK;
}

/* margins divided by their minimum, support, normalised margin, all recomputed from the network itself. */
/* Samples on the wrong side of a network that does not separate. */
static RfStatus fill_resting(const RfRun *run, RfFlowLimit *limit) {
  if (limit->outcome != RF_FLOW_NOT_SEPARATED) return RF_OK;
  limit->resting = RF_NEW(rf_index, run->problem->n);
  if (!limit->resting) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for margins");
  for (rf_index i = 0; i < run->problem->n; i++)
    if (!(limit->margins[i] > 0)) limit->resting[limit->n_resting++] = i;
  return RF_OK;
}

static RfStatus fill_margins(const RfRun *run, RfFlowLimit *limit) {
  const RfFlowProblem *problem = run->problem;
  rf_index n = problem->n;
  limit->margins = RF_NEW(double, n);
  limit->support = RF_NEW(rf_index, n);
  if (!limit->margins || !limit->support)
    return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for margins");
  RfStatus status =
      rf_net_margin(run->context, &limit->margin, limit->margins, &limit->net, problem->X, problem->y, n);
  double least = INFINITY;
  if (!status) status = fill_resting(run, limit);
  for (rf_index i = 0; i < n && !status; i++) least = fmin(least, limit->margins[i]);
  if (problem->freeze_second) limit->margin = least;
  for (rf_index i = 0; i < n && !status; i++) {
    limit->margins[i] = least > 0 ? limit->margins[i] / least : NAN;
    if (limit->margins[i] <= 1 + run->context->tol.tight) limit->support[limit->n_support++] = i;
  }
  return status;
}

/* With rows of very different lengths the margins are those of the projection, which knows their rounding. */
static void settled_margins(const RfRun *run, RfFlowLimit *limit, const RfKkt *kkt) {
  limit->margin = kkt->margin;
  limit->n_support = 0;
  for (rf_index i = 0; i < run->problem->n; i++) {
    limit->margins[i] = kkt->margins[i];
    if (limit->margins[i] <= 1 + run->context->tol.tight) limit->support[limit->n_support++] = i;
  }
}

/* Multipliers and residuals by the projection of certify, from the network and the data alone. */
static RfStatus fill_kkt(const RfRun *run, RfFlowLimit *limit) {
  const RfFlowProblem *problem = run->problem;
  RfKkt kkt;
  RfStatus status = (problem->freeze_second ? rf_certify_kkt_first_layer : rf_certify_kkt)(
      run->context, &kkt, &limit->net, problem->X, problem->y, problem->n);
  if (status < 0) return status;
  if (kkt.lambda) {
    limit->lambda = kkt.lambda, kkt.lambda = NULL;
    limit->stationarity = kkt.stationarity;
    limit->complementarity = kkt.complementarity;
    if (run->system.spread) settled_margins(run, limit, &kkt);
  }
  rf_kkt_free(&kkt);
  bool holds =
      limit->stationarity <= run->context->tol.kkt && fabs(limit->complementarity) <= run->context->tol.kkt;
  if (status == RF_INTERRUPTED) {
    limit->outcome = RF_FLOW_INTERRUPTED;
    rf_format(limit->why, RF_WHY_SIZE, "stopped by the caller");
  } else if (!holds) {
    limit->outcome = RF_FLOW_UNDECIDED;
    rf_format(limit->why, RF_WHY_SIZE, "the KKT projection leaves a residual of %.2g",
              fmax(limit->stationarity, fabs(limit->complementarity)));
  }
  return RF_OK;
}

RfStatus rf_fill_limit(const RfRun *run, const RfPolish *polish, RfFlowLimit *limit) {
  bool converged = limit->outcome == RF_FLOW_CONVERGED;
  bool rests = limit->outcome == RF_FLOW_NOT_SEPARATED && polish->ok; /* what still moves has its limit */
  limit->stationarity = limit->complementarity = limit->direction_error = NAN;
  RfStatus status = converged || rests ? limit_net(run, polish, &limit->net)
                                       : rf_run_net(run, &limit->net, &limit->log_size);
  if (!status) status = fill_rows(run, converged || rests ? polish : NULL, limit);
  if (!status) status = fill_margins(run, limit);
  if (!status && (converged || rests)) status = fill_groups(run, polish, limit);
  if (!status && converged) status = fill_kkt(run, limit);
  if (!status && !limit->lambda) {
    limit->lambda = RF_NEW(double, run->problem->n);
    if (!limit->lambda) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for multipliers");
  }
  return status;
}

double rf_net_distance(const RfNet *a, const RfNet *b) {
  double sum = 0;
  for (rf_index j = 0; j < a->m * a->d; j++) sum += (a->W[j] - b->W[j]) * (a->W[j] - b->W[j]);
  for (rf_index k = 0; k < a->m; k++) sum += (a->a[k] - b->a[k]) * (a->a[k] - b->a[k]);
  return sqrt(sum);
}

bool rf_limits_same_network(const RfFlowLimit *a, const RfFlowLimit *b) {
  rf_index d = a->net.d;
  double total = 0;
  if (a->n_groups == 0 || a->n_groups != b->n_groups) return false;
  for (rf_index g = 0; g < a->n_groups; g++) total += rf_la_norm(a->groups[g].beta, d);
  for (rf_index g = 0; g < a->n_groups; g++) {
    bool found = false;
    for (rf_index k = 0; k < b->n_groups && !found; k++) {
      const double *u = a->groups[g].beta, *v = b->groups[k].beta;
      double off = 0;
      for (rf_index j = 0; j < d; j++) off += (u[j] - v[j]) * (u[j] - v[j]);
      found = a->groups[g].sign == b->groups[k].sign && sqrt(off) <= RF_TOL_NEAR * total;
    }
    if (!found) return false;
  }
  return true;
}

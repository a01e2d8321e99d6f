/* A layered flow to its limit, or to where it is asked to stop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flow/flow_internal.h"
#include "core/core.h"
#include "flow/layered/escape.h"
#include "flow/layered/flow.h"
#include "flow/layered/polish.h"
#include "reluflow/certify.h"
#include "flow/flow.h"
#include "flow/layered/layered_tolerances.h"
#include "la/la.h"

enum { WHY_SIZE = 160 };

void rf_layered_limit_free(RfLayeredLimit *limit) {
  rf_layers_free(&limit->net);
  rf_free(limit->margins), rf_free(limit->lambda), rf_free(limit->trace);
  memset(limit, 0, sizeof *limit);
}

/* ---- rows of the trace: every stride-th step, the stride doubling when the room is full ---------------- */

typedef struct Recorder {
  RfLayeredLimit *limit;
  rf_index room, stride, count;
  double shift; /* ln n for the mean loss */
} Recorder;

static void record(void *user, const RfLayeredFlow *flow) {
  Recorder *recorder = user;
  RfLayeredLimit *limit = recorder->limit;
  if (recorder->count++ % recorder->stride != 0) return;
  if (limit->n_trace == recorder->room) {
    for (rf_index r = 0; 2 * r < recorder->room; r++) limit->trace[r] = limit->trace[2 * r];
    limit->n_trace = (recorder->room + 1) / 2;
    recorder->stride *= 2;
  }
  double size = pow(flow->norm, (double)rf_layers_homogeneity(&flow->net));
  limit->trace[limit->n_trace++] = (RfFlowTrace){.log_t = flow->log_t + recorder->shift,
                                                 .log_loss = flow->log_loss - recorder->shift,
                                                 .log_norm = log(flow->norm),
                                                 .margin = flow->min_q / size,
                                                 .smoothed_margin = flow->smargin / size,
                                                 .stable_rank = NAN,
                                                 .cos_plus_min = NAN,
                                                 .cos_minus_min = NAN};
}

/* ---- the flow until the scale is frozen --------------------------------------------------------------- */

static RfFlowOutcome outcome_of(RfStatus status) {
  switch (status) {
  case RF_NOT_SEPARABLE: return RF_FLOW_NOT_SEPARATED;
  case RF_INTERRUPTED: return RF_FLOW_INTERRUPTED;
  default: return RF_FLOW_UNDECIDED;
  }
}

static const char *reason(RfStatus status, const RfLayeredFlow *flow) {
  switch (status) {
  case RF_NOT_SEPARABLE: return "the loss has stopped falling with samples on the wrong side";
  case RF_INTERRUPTED:
    return !(flow->min_q > 0) ? "stopped by the caller before all samples were on their sides"
           : flow->kappa == 0 && isfinite(flow->log_t) ? "stopped by the caller on the way to large margins; "
                                                         "the residuals are those of the state there"
                                                       : "stopped by the caller while the direction still "
                                                         "moved at large margins; the residuals are those "
                                                         "of the state there";
  default: return flow->stuck ? flow->stuck : "step limit";
  }
}

static void end_with(RfLayeredLimit *limit, RfFlowOutcome outcome, const char *why) {
  limit->outcome = outcome;
  rf_format(limit->why, WHY_SIZE, "%s", why);
}

/* As far as `until`, or to smoothed margin `aim`. */
static RfStatus travel(RfContext *context, RfLayeredFlow *flow, const RfFlowSettings *settings, double shift,
                       double aim) {
  if (settings->until == RF_UNTIL_TIME)
    return rf_layered_flow_to_time(context, flow, settings->until_value * exp(-shift));
  RfStatus status = rf_layered_flow_to_smargin(context, flow, aim);
  return status == RF_NOT_SEPARABLE && rf_layered_others_reached(flow, aim) ? RF_OK : status;
}

/* ---- the limit ---------------------------------------------------------------------------------------- */

/* Weights p of the samples at the state of the flow; none of those that nobody sees. */
static RfStatus sample_weights(RfContext *context, double *p, const RfLayeredFlow *flow, const double *X,
                               const double *y) {
  RfStatus status = rf_layers_evaluate(context, p, NULL, &flow->net, X, flow->n);
  const int8_t *seen = rf_sided_seen(rf_layered_sides(flow));
  double least = INFINITY, sum = 0;
  for (rf_index i = 0; i < flow->n && !status; i++) {
    p[i] = seen[i] ? p[i] * y[i] : INFINITY;
    least = fmin(least, p[i]);
  }
  for (rf_index i = 0; i < flow->n && !status; i++) sum += p[i] = exp(least - p[i]);
  for (rf_index i = 0; i < flow->n && !status; i++) p[i] /= sum;
  return status;
}

/* A polish of the flow's state into limit->net, limit->lambda and the rest. */
static RfStatus polish_state(RfContext *context, RfLayeredLimit *limit, RfLayeredPolish *polish,
                             RfLayeredFlow *flow, const double *X, const double *y) {
  double *p = RF_NEW(double, flow->n);
  RfStatus status = p ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for a limit");
  if (!status && !limit->lambda) limit->lambda = RF_NEW(double, flow->n);
  if (!status && !limit->lambda) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a limit");
  if (!status) status = sample_weights(context, p, flow, X, y);
  rf_layers_free(&limit->net);
  if (!status) status = rf_layers_copy(context, &limit->net, &flow->net);
  if (!status)
    status = rf_layered_polish(context, polish, rf_layered_sides(flow), limit->net.theta, limit->lambda, p, y,
                               flow->n, limit->net.n_parameters, (double)rf_layers_homogeneity(&limit->net));
  rf_free(p);
  return status;
}

/* Times that a sample comes into sight at a frozen scale. */
enum { MOST_WAKES = 20 };
/* Stretches with the scale frozen: their number; and how many more while the point next to the flow repels
 * it. */
enum { STRETCHES = 12, STRETCHES_LEAVING = 40 };

/* Stretches with the scale frozen, a polish after each, until two in a row agree on a point that does not
 * repel. limit->net receives the point. The flow stays some ln(n)/q away from it: where a kink is in between,
 * larger margins come across. */
static RfStatus settle(RfContext *context, RfLayeredLimit *limit, RfLayeredFlow *flow, const double *X,
                       const double *y) {
  double stretch = 6, before = INFINITY, edge = 0;
  RfLayeredNet last = {0}, from = {0};
  RfLayeredPolish polish = {0};
  RfStatus status = RF_OK;
  bool agree = false, repels = false, leaving = false, moving = false, across = false;
  for (int round = 0; round < (leaving ? STRETCHES_LEAVING : STRETCHES) && !status && !agree;
       round++, stretch = fmin(2 * stretch, 60)) {
    rf_layers_free(&from);
    status = rf_layers_copy(context, &from, &flow->net);
    if (!status) status = rf_layered_flow_far(context, flow, stretch);
    if (status || flow->woken) break;
    double gone = rf_layered_distance(from.theta, flow->net.theta, from.n_parameters);
    moving = flow->net.n_parameters > RF_LAYERED_STIFF_MOST && gone > RF_LAYERED_REACH;
    if (moving) { /* a polish is dear there, and its point is not near yet */
      polish.ok = false, before = INFINITY;
      rf_layers_free(&last);
      continue;
    }
    status = polish_state(context, limit, &polish, flow, X, y);
    if (status) break;
    bool blocked = !polish.ok && (polish.across || gone < RF_LAYERED_NEAR);
    if (blocked && across && flow->seen_q < RF_LAYERED_MARGIN_MOST) /* still, after a longer stretch */
      rf_layered_flow_raise(flow, RF_LAYERED_RAISE);
    across = blocked;
    double moved = polish.ok && last.theta
                       ? rf_layered_distance(limit->net.theta, last.theta, last.n_parameters)
                       : INFINITY;
    agree = polish.ok && moved < RF_LAYERED_AGREE && polish.distance < fmax(2 * before, RF_LAYERED_NEAR);
    before = polish.ok ? polish.distance : INFINITY;
    repels = false;
    if (agree)
      status = rf_layered_repels(context, &repels, rf_layered_sides(flow), limit->net.theta, limit->lambda,
                                 flow->net.theta, y, flow->n, limit->net.n_parameters);
    if (agree && !repels && flow->unseen > 0) {
      edge = edge > 0 ? edge : flow->kappa + RF_LAYERED_EDGE;
      agree = rf_sided_unseen_by(rf_layered_sides(flow), limit->net.theta) > RF_LAYERED_DARK ||
              flow->kappa >= edge;
    }
    agree = agree && !repels;
    leaving = leaving || repels;
    rf_layers_free(&last);
    if (!status && polish.ok) status = rf_layers_copy(context, &last, &limit->net);
  }
  limit->distance = polish.distance, limit->held = polish.held;
  if (status > 0)
    end_with(limit, outcome_of(status), reason(status, flow)), status = RF_OK;
  else if (flow->woken)
    agree = false;
  else if (!agree)
    end_with(limit, RF_FLOW_UNDECIDED,
             repels                ? "the KKT point next to the flow repels it, and it has not left"
             : polish.ok || moving ? "the direction still moves"
                                   : "no KKT point near the direction reached");
  else if (flow->unseen == 0)
    end_with(limit, RF_FLOW_CONVERGED, "");
  else {
    limit->outcome = RF_FLOW_NOT_SEPARATED;
    rf_format(limit->why, WHY_SIZE, "the limit of the other samples leaves %lld unseen",
              (long long)flow->unseen);
  }
  if (!status && !agree) { /* a point that was not decided on is no limit: the state itself is told */
    rf_layers_free(&limit->net);
    limit->distance = NAN;
    status = rf_layers_copy(context, &limit->net, &flow->net);
  }
  rf_layers_free(&last), rf_layers_free(&from);
  return status;
}

/* From where the scale can be frozen on; *again: a sample has come into sight, and the flow goes on. */
static RfStatus from_there(RfContext *context, RfLayeredLimit *limit, RfLayeredFlow *flow, const double *X,
                           const double *y, bool *again) {
  const RfLayeredNet *net = &flow->net;
  bool fixed = rf_layers_homogeneity(net) == 0;
  for (rf_index l = 0; l < net->n_layers; l++) fixed = fixed || net->layers[l].fixed;
  *again = false;
  if (fixed)
    end_with(limit, RF_FLOW_UNDECIDED,
             "samples that nobody sees may come into sight as the margins of the others grow");
  else if (net->n_parameters > RF_LAYERED_POLISH_MOST || !rf_layered_sides(flow))
    end_with(limit, RF_FLOW_UNDECIDED,
             "too many parameters to compute the limit; this is the state at margin 400");
  else {
    RfStatus status = settle(context, limit, flow, X, y);
    *again = !status && flow->woken;
    return status;
  }
  return RF_OK;
}

/* One run at a tolerance: fills outcome, why, net and where the flow ended. */
static RfStatus run_once(RfContext *context, RfLayeredLimit *limit, RfLayeredFlow *flow, const double *X,
                         const double *y, const RfFlowSettings *settings, double shift, double aim) {
  RfStatus status = RF_OK;
  bool again = true;
  double woken_at = 0;
  if (settings->until == RF_UNTIL_LOSS)
    aim = rf_loss_inverse_log(flow->loss, log(settings->until_value) + shift);
  if (settings->until == RF_UNTIL_INFINITY) rf_layered_late_sides(flow);
  for (rf_index round = 0; again && !status; round++) {
    again = false;
    status = travel(context, flow, settings, shift, aim);
    if (status < 0) return status;
    limit->log_t = flow->log_t + shift, limit->log_loss = flow->log_loss - shift;
    limit->log_norm = log(flow->norm) + flow->kappa, limit->drift = fmax(limit->drift, flow->drift);
    if (status)
      end_with(limit, outcome_of(status), reason(status, flow));
    else if (settings->until == RF_UNTIL_TIME || (settings->until == RF_UNTIL_LOSS && flow->smargin >= aim))
      end_with(limit, RF_FLOW_STOPPED, "the requested loss or time is reached");
    else if (round > MOST_WAKES || (round > 1 && flow->kappa <= woken_at * (1 + RF_LAYERED_NOWHERE)))
      end_with(limit, RF_FLOW_UNDECIDED, "samples come into sight and are lost again without end");
    else {
      woken_at = flow->kappa;
      status = from_there(context, limit, flow, X, y, &again);
    }
  }
  if (status >= 0 && !limit->net.theta) {
    RfStatus copied = rf_layers_copy(context, &limit->net, &flow->net);
    if (copied) status = copied;
  }
  limit->steps = flow->steps;
  return status < 0 ? status : RF_OK;
}

/* A limit of the samples that are seen, all of them or not. */
static bool has_limit(const RfLayeredLimit *limit) {
  return limit->outcome == RF_FLOW_CONVERGED ||
         (limit->outcome == RF_FLOW_NOT_SEPARATED && isfinite(limit->distance));
}

/* |difference| to a run at a looser tolerance whose scale is frozen elsewhere. */
static RfStatus second_opinion(RfContext *context, RfLayeredLimit *limit, const RfLayeredNet *start,
                               const double *X, const double *y, rf_index n, RfLoss loss,
                               const RfFlowSettings *settings) {
  RfLayeredLimit other = {0};
  RfLayeredFlow flow = {0};
  RfStatus status = rf_layered_flow_new(context, &flow, start, X, y, n, loss);
  if (status) return status;
  flow.tolerance *= 30, flow.max_steps = settings->max_steps, flow.again = true;
  status = run_once(context, &other, &flow, X, y, settings, 0, RF_LAYERED_MARGIN_OTHER);
  if (!status && other.outcome == limit->outcome && has_limit(&other))
    limit->direction_error = rf_layered_distance(limit->net.theta, other.net.theta, other.net.n_parameters);
  else if (!status && other.outcome != RF_FLOW_INTERRUPTED)
    limit->direction_error = 2;
  if (limit->direction_error > RF_LAYERED_APART) {
    limit->outcome = RF_FLOW_UNDECIDED;
    rf_format(limit->why, WHY_SIZE, "two runs at different tolerances end %.2g apart",
              limit->direction_error);
  }
  rf_layered_limit_free(&other);
  rf_layered_flow_free(&flow);
  return status;
}

/* Margins of limit->net and its certificate by the KKT projection; then |theta| = 1. */
static RfStatus certify(RfContext *context, RfLayeredLimit *limit, const double *X, const double *y,
                        rf_index n) {
  RfLayeredKkt kkt = {0};
  RfStatus status = RF_OK;
  bool found = limit->outcome == RF_FLOW_CONVERGED;
  limit->margin = limit->stationarity = limit->complementarity = NAN;
  rf_free(limit->lambda), limit->lambda = NULL;
  if (rf_layers_homogeneity(&limit->net) > 0) {
    status = rf_certify_layered_kkt(context, &kkt, &limit->net, X, y, n);
    limit->margin = kkt.margin;
  }
  if (status >= 0 && kkt.lambda) {
    limit->margins = kkt.margins, kkt.margins = NULL;
    if (kkt.kinks > limit->held) limit->held = kkt.kinks;
    limit->stationarity = kkt.stationarity, limit->complementarity = kkt.complementarity;
    limit->lambda = kkt.lambda, kkt.lambda = NULL;
    if (found && !(fmax(limit->stationarity, limit->complementarity) <= context->tol.kkt))
      end_with(limit, RF_FLOW_UNDECIDED, "the point found is not a KKT point to the tolerance");
  }
  rf_layered_kkt_free(&kkt);
  double size = rf_la_norm(limit->net.theta, limit->net.n_parameters);
  if (size > 0) rf_la_scale(limit->net.theta, 1 / size, limit->net.n_parameters);
  return status < 0 ? status : RF_OK;
}

static RfStatus check(RfContext *context, const RfLayeredNet *start, const RfFlowSettings *settings) {
  if (rf_layers_outputs_count(start) != 1)
    return rf_fail(context, RF_ERR_USAGE, "the flow needs a network with one output");
  if (settings->until != RF_UNTIL_INFINITY) return RF_OK;
  bool fixed = false;
  for (rf_index l = 0; l < start->n_layers; l++) fixed = fixed || start->layers[l].fixed;
  if (fixed || rf_layers_homogeneity(start) == 0)
    return rf_fail(context, RF_ERR_USAGE,
                   "the limit of a layered network needs one without residual connections and fixed layers; "
                   "give a loss or a time to stop at");
  return RF_OK;
}

RfStatus rf_flow_run_layered(RfContext *context, RfLayeredLimit *limit, const RfLayeredNet *start,
                             const double *X, const double *y, rf_index n, RfLoss loss, bool mean,
                             const RfFlowSettings *settings) {
  RfLayeredFlow flow = {0};
  double shift = mean ? log((double)n) : 0;
  memset(limit, 0, sizeof *limit);
  limit->n = n, limit->direction_error = limit->distance = NAN;
  RfStatus status = check(context, start, settings);
  if (!status) status = rf_layered_flow_new(context, &flow, start, X, y, n, loss);
  if (status) return status;
  Recorder recorder = {.limit = limit, .room = 2 * settings->trace, .stride = 1, .shift = shift};
  if (settings->trace > 0) {
    limit->trace = RF_NEW(RfFlowTrace, recorder.room + 1);
    if (!limit->trace) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the trace");
    flow.on_step = record, flow.user = &recorder;
    if (!status) record(&recorder, &flow);
  }
  flow.max_steps = settings->max_steps;
  if (!status) status = run_once(context, limit, &flow, X, y, settings, shift, RF_LAYERED_MARGIN);
  if (!status && has_limit(limit) && settings->check_direction)
    status = second_opinion(context, limit, start, X, y, n, loss, settings);
  if (!status) status = certify(context, limit, X, y, n);
  rf_layered_flow_free(&flow);
  if (status < 0) {
    rf_layered_limit_free(limit);
    return status;
  }
  return rf_flow_outcome_status(limit->outcome);
}

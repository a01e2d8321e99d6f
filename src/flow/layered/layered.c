/* Gradient flow of layered networks (Vardi, Shamir, Srebro; Phuong and Lampert section 5.2).
 *
 * Three clocks for one curve. With r_i = -loss'(q_i), S = sum r_i and p_i = r_i/S:
 *   time     dtheta/dt   = sum_i r_i y_i df_i
 *   late     dtheta/dtau = sum_i p_i y_i df_i                      dt = dtau/S, carried as ln t
 *   frozen   dphi/dkappa = v/mu - phi, v as late at phi, mu = <v,phi>/|phi|^2: |phi| stays, only the
 * direction moves Method: Dormand and Prince 5(4), first-same-as-last, proportional-integral step control
 * (Hairer, Norsett, Wanner II.4). */
#include "flow/flow.h"

#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"
#include "flow/layered/flow.h"
#include "flow/layered/sides.h"
#include "flow/layered/layered_tolerances.h"
#include "la/la.h"

typedef enum Clock { CLOCK_TIME, CLOCK_LATE, CLOCK_FROZEN } Clock;

enum { stages = 7 };

struct RfLayeredFlowWork {
  const double *X, *y;
  RfLossWork *loss;
  RfSided *sided; /* by sides, with events; NULL: too large for that, error control crosses kinks */
  bool smooth;    /* a linear network, or one without sides: the gradient of training is the velocity */
  double *q, *k[stages], *trial, *next, *layers0;
  double shift;         /* ln S at the last evaluation */
  double log_S[stages]; /* ln S at the stages of the last step: the quadrature of t */
  double h[3];          /* next step, per clock */
  double last_err;      /* of the step controller */
  double log_dt;        /* ln of the time that the last step in the late clock took */
  bool fresh;           /* k[0] holds the velocity at net.theta in the clock `clock` */
  Clock clock;
};
typedef struct RfLayeredFlowWork Work;

RfSided *rf_layered_sides(const RfLayeredFlow *flow) { return flow->work->sided; }

void rf_layered_flow_free(RfLayeredFlow *flow) {
  if (!flow) return;
  Work *work = flow->work;
  if (work) {
    rf_layers_loss_work_free(work->loss);
    rf_sided_free(work->sided);
    for (int s = 0; s < stages; s++) rf_free(work->k[s]);
    rf_free(work->q), rf_free(work->trial), rf_free(work->next), rf_free(work->layers0);
  }
  rf_free(work);
  rf_layers_free(&flow->net);
  memset(flow, 0, sizeof *flow);
}

static double layer_square(const RfLayeredNet *net, rf_index l) {
  double norm = rf_la_norm(rf_layers_weights(net, l), net->layers[l].parameters);
  return norm * norm;
}

/* The velocity at theta; margins are left in work->q and ln S in work->shift. The gradient is computed
 * relative to the last ln S, so that it does not underflow, and then rescaled. */
static void velocity(const RfContext *context, RfLayeredFlow *flow, double *out, const double *theta,
                     Clock clock) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  double shift = clock == CLOCK_TIME ? 0 : work->shift, scale;
  if (!work->smooth) {
    work->shift = rf_sided_velocity(work->sided, out, work->q, theta);
    scale = clock == CLOCK_TIME ? exp(work->shift) : 1;
  } else {
    rf_layers_loss_gradient(context, work->loss, out, work->q, theta, work->X, work->y, flow->loss, shift,
                            flow->n);
    work->shift = rf_loss_log_sum(work->q, flow->n, flow->loss, rf_loss_log_slope);
    scale = clock == CLOCK_TIME ? -1 : -exp(shift - work->shift);
  }
  rf_la_scale(out, scale, P);
  if (clock != CLOCK_FROZEN) return;
  double square = rf_la_dot(theta, theta, P), mu = rf_la_dot(out, theta, P) / square;
  for (rf_index p = 0; p < P; p++) out[p] = out[p] / mu - theta[p];
}

/* Fixed layers do not count as imbalanced. */
static void refresh(RfLayeredFlow *flow) {
  Work *work = flow->work;
  RfLayeredNet *net = &flow->net;
  flow->min_q = INFINITY;
  for (rf_index i = 0; i < flow->n; i++) flow->min_q = fmin(flow->min_q, work->q[i]);
  flow->log_loss = rf_loss_log_sum(work->q, flow->n, flow->loss, rf_loss_log_value);
  flow->smargin = rf_loss_inverse_log(flow->loss, flow->log_loss);
  flow->norm = rf_la_norm(net->theta, net->n_parameters);
  if (work->clock == CLOCK_FROZEN) return;
  for (rf_index l = 0; l + 1 < net->n_layers; l++) {
    if (net->layers[l].fixed || net->layers[l + 1].fixed || net->layers[l + 1].residual) continue;
    double now = layer_square(net, l) - layer_square(net, l + 1),
           then = work->layers0[l] - work->layers0[l + 1];
    flow->drift = fmax(flow->drift, fabs(now - then) / (flow->norm * flow->norm));
  }
}

RfStatus rf_layered_flow_new(RfContext *context, RfLayeredFlow *flow, const RfLayeredNet *net,
                             const double *X, const double *y, rf_index n, RfLoss loss) {
  memset(flow, 0, sizeof *flow);
  RfStatus status = rf_layers_copy(context, &flow->net, net);
  if (status) return status;
  rf_index P = net->n_parameters;
  Work *work = flow->work = RF_NEW(Work, 1);
  if (!work) goto no_memory;
  work->X = X, work->y = y;
  work->q = RF_NEW(double, n), work->trial = RF_NEW(double, P), work->next = RF_NEW(double, P);
  work->layers0 = RF_NEW(double, net->n_layers);
  bool complete = work->q && work->trial && work->next && work->layers0;
  for (int s = 0; s < stages; s++) complete = (work->k[s] = RF_NEW(double, P)) != NULL && complete;
  if (!complete) goto no_memory;
  status = rf_sided_suits(net, n) ? rf_sided_new(context, &work->sided, &flow->net, X, y, n, loss)
                                  : rf_layers_loss_work_new(context, &work->loss, &flow->net, RF_DOUBLE, n);
  if (status) goto fail;
  work->smooth = !work->sided;
  flow->n = n, flow->loss = loss, flow->log_t = -INFINITY, flow->max_steps = 2000000;
  flow->tolerance = context->tol.ode;
  for (rf_index l = 0; l < net->n_layers; l++) work->layers0[l] = layer_square(net, l);
  work->last_err = RF_LAYERED_MEMORY;
  velocity(context, flow, work->k[0], flow->net.theta, CLOCK_TIME);
  refresh(flow);
  return RF_OK;
no_memory:
  status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a flow");
fail:
  rf_layered_flow_free(flow);
  return status;
}

/* Dormand and Prince's coefficients. */
static const double a[stages][stages - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
static const double difference[stages] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                          -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/* ln of the mean of 1/S over a step, by the quadrature of the method: dt = h sum_s b_s / S_s. */
static double step_mean(const double *log_S) {
  double least = INFINITY, sum = 0;
  for (int s = 0; s < stages; s++) least = fmin(least, log_S[s]);
  for (int s = 0; s < stages - 1; s++) sum += a[stages - 1][s] * exp(least - log_S[s]);
  return log(sum) - least;
}

/* One trial step of size h into work->next; returns the error relative to the tolerance. */
static double trial_step(const RfContext *context, RfLayeredFlow *flow, double h, Clock clock) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  const double *theta = flow->net.theta;
  for (int s = 1; s < stages; s++) {
    double *at = s == stages - 1 ? work->next : work->trial;
    memcpy(at, theta, (size_t)P * sizeof *at);
    for (int j = 0; j < s; j++)
      if (a[s][j] != 0) rf_la_axpy(at, h * a[s][j], work->k[j], P);
    velocity(context, flow, work->k[s], at, clock);
    work->log_S[s] = work->shift;
  }
  double square = 0;
  for (rf_index p = 0; p < P; p++) {
    double error = 0;
    for (int s = 0; s < stages; s++) error += difference[s] * work->k[s][p];
    square += h * error * h * error;
  }
  double size = fmax(rf_la_norm(theta, P), rf_la_norm(work->next, P));
  return sqrt(square) / (flow->tolerance * size);
}

/* A first step that changes theta by one part in a thousand. */
static double first_step(const RfLayeredFlow *flow, Clock clock) {
  double speed = rf_la_norm(flow->work->k[0], flow->net.n_parameters);
  double step = speed > 0 ? RF_LAYERED_FIRST_STEP * flow->norm / speed : 1;
  return clock == CLOCK_FROZEN ? fmin(step, RF_LAYERED_FIRST_FROZEN) : step;
}

/* A unit leaves its side in the trial step just taken, whose begin is mark 0: straight lines through the ends
 * of what is known tell where, every third time the middle, until the end of the step is just beyond the
 * first such moment. The trial step of that length is left in place. */
static double first_event(const RfContext *context, RfLayeredFlow *flow, double step, Clock clock) {
  Work *work = flow->work;
  double low = 0, high = step, at = step, over;
  rf_sided_mark(work->sided, 1);
  for (int round = 1; round < 60 && high - low > RF_LAYERED_EVENT * step; round++) {
    double share = rf_sided_event(work->sided, &over);
    if (over <= RF_LAYERED_OVER) break;
    at = low + (round % 3 == 0 || !(share > 0 && share < 1) ? 0.5 : share) * (high - low);
    trial_step(context, flow, at, clock);
    bool beyond = rf_sided_violated(work->sided);
    *(beyond ? &high : &low) = at;
    rf_sided_mark(work->sided, beyond);
  }
  if (at != high) trial_step(context, flow, high, clock);
  return high;
}

/* After a step: units at their kinks cross, slide or are let go; sliding ones are put back on their kinks. */
static RfStatus settle_sides(RfLayeredFlow *flow, bool event) {
  Work *work = flow->work;
  RfStatus status = event ? rf_sided_apply(work->sided, flow->net.theta) : RF_OK;
  if (!status && rf_sided_held(work->sided) > 0) {
    status = rf_sided_project(work->sided, flow->net.theta);
    work->fresh = false;
  }
  if (event) work->fresh = false;
  return status;
}

/* Advances by at most `most` in the given clock; *taken is the step that was accepted. */
static RfStatus advance(RfContext *context, RfLayeredFlow *flow, double most, Clock clock, double *taken) {
  Work *work = flow->work;
  if (!work->fresh || work->clock != clock) {
    velocity(context, flow, work->k[0], flow->net.theta, clock);
    work->fresh = true, work->clock = clock, work->log_S[0] = work->shift;
  }
  double *h = &work->h[clock];
  if (!(*h > 0)) *h = first_step(flow, clock);
  if (!work->smooth) rf_sided_mark(work->sided, 0); /* the last velocity is that of the state */
  for (int tries = 0; tries < 200; tries++) {
    double step = fmin(*h, most), error = trial_step(context, flow, step, clock);
    if (!isfinite(error)) error = RF_LAYERED_NO_NUMBER;
    if (error <= 1) {
      bool event = !work->smooth && rf_sided_violated(work->sided);
      if (event) step = first_event(context, flow, step, clock);
      double factor = 0.9 * pow(fmax(error, RF_LAYERED_LEAST_ERROR), -0.17) * pow(work->last_err, 0.04);
      work->last_err = fmax(error, RF_LAYERED_MEMORY);
      if (step == *h || factor < 1) *h = step * fmin(fmax(factor, 0.2), 8);
      double *swap = flow->net.theta;
      flow->net.theta = work->next, work->next = swap;
      swap = work->k[0], work->k[0] = work->k[stages - 1], work->k[stages - 1] = swap;
      flow->steps++, *taken = step;
      work->log_dt = log(step) + step_mean(work->log_S);
      work->log_S[0] = work->log_S[stages - 1];
      refresh(flow);
      return work->smooth ? RF_OK : settle_sides(flow, event);
    }
    flow->rejected++;
    *h = step * fmax(0.9 * pow(error, -0.2), 0.1);
  }
  return RF_UNDECIDED;
}

RfStatus rf_layered_flow_to_time(RfContext *context, RfLayeredFlow *flow, double t) {
  double now = exp(flow->log_t), taken;
  for (rf_index step = 0; now < t; step++) {
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    RfStatus status = advance(context, flow, t - now, CLOCK_TIME, &taken);
    if (status) return status;
    now = t - now <= taken ? t : now + taken;
    flow->log_t = log(now);
    if (flow->on_step) flow->on_step(flow->user, flow);
  }
  return RF_OK;
}

/* Below, "the loss has stopped falling": its logarithm hardly fell while tau grew a thousandfold
 * beyond the scale on which margins of this size usually grow. */
RfStatus rf_layered_flow_to_smargin(RfContext *context, RfLayeredFlow *flow, double smargin) {
  double taken, tau = 0, mark_tau = 1, mark_loss = flow->log_loss;
  for (rf_index step = 0; flow->smargin < smargin; step++) {
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    RfStatus status = advance(context, flow, INFINITY, CLOCK_LATE, &taken);
    if (status) return status;
    flow->log_t = rf_run_log_add(flow->log_t, flow->work->log_dt);
    if (flow->on_step) flow->on_step(flow->user, flow);
    tau += taken;
    if (tau > mark_tau * 1000) {
      if (mark_loss - flow->log_loss < RF_LAYERED_REST) return RF_NOT_SEPARABLE;
      mark_tau = tau, mark_loss = flow->log_loss;
    }
  }
  return RF_OK;
}

RfStatus rf_layered_flow_far(RfContext *context, RfLayeredFlow *flow, double kappa) {
  if (rf_layers_homogeneity(&flow->net) == 0)
    return rf_fail(context, RF_ERR_USAGE, "freezing the scale needs a homogeneous network");
  if (!(flow->min_q > 0)) return rf_fail(context, RF_ERR_USAGE, "freezing the scale needs positive margins");
  double target = flow->kappa + kappa, taken, norm = flow->norm;
  flow->log_t = NAN, flow->work->fresh = false; /* a polish has used the sides since */
  for (rf_index step = 0; flow->kappa < target; step++) {
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    RfStatus status = advance(context, flow, target - flow->kappa, CLOCK_FROZEN, &taken);
    if (status) return status;
    flow->kappa = target - flow->kappa <= taken ? target : flow->kappa + taken;
    rf_la_scale(flow->net.theta, norm / flow->norm,
                flow->net.n_parameters); /* |phi| drifts by rounding only */
  }
  return RF_OK;
}

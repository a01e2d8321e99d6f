/* Gradient flow of layered networks (Vardi, Shamir, Srebro; Phuong and Lampert section 5.2).
 *
 * Three clocks for one curve. With r_i = -loss'(q_i), S = sum r_i and p_i = r_i/S:
 *   time     dtheta/dt   = sum_i r_i y_i df_i
 *   late     dtheta/dtau = sum_i p_i y_i df_i                      dt = dtau/S, carried as ln t
 *   frozen   dphi/dkappa = v/mu - phi, v as late at phi, mu = <v,phi>/|phi|^2: |phi| stays, only the
 * direction moves.
 * Method: Dormand and Prince 5(4), first-same-as-last, proportional-integral step control (Hairer, Norsett,
 * Wanner II.4); where stability and not accuracy makes the steps, at rest and at large margins, RODAS. */
#include "flow/flow.h"

#include <math.h>
#include <string.h>

#include "flow/dopri5.h"
#include "flow/flow_internal.h"
#include "flow/layered/flow.h"
#include "flow/layered/work.h"
#include "flow/layered/sides.h"
#include "flow/layered/stiff.h"
#include "flow/layered/layered_tolerances.h"
#include "core/core.h"
#include "la/la.h"

/* Samples times hidden units from which on units change sides many to a step. */
enum { LARGE = 2000 };
/* Trial steps of one step in which several units change sides. */
enum { LATE_ROUNDS = 12 };
/* Explicit steps made by stability before implicit ones, and how many of these that need not be. */
enum { STIFF_IN_A_ROW = 15, IMPLICIT_STEPS = 500 };
/* Events in a row that take the flow nowhere, and ten times as many as there are units on samples. */
enum { CHATTER = 100 };

typedef struct RfLayeredFlowWork Work;

static const char at_zero[] =
    "a layer has come to zero below others, and which sides their units leave to is open";

RfSided *rf_layered_sides(const RfLayeredFlow *flow) { return flow->work->sided; }

void rf_layered_late_sides(RfLayeredFlow *flow) {
  Work *work = flow->work;
  if (!work->sided || flow->n * rf_layers_hidden(&flow->net) < LARGE) return;
  work->large = true;
  flow->tolerance = fmax(flow->tolerance, RF_LAYERED_LARGE);
  rf_sided_set_late(work->sided);
}

void rf_layered_flow_free(RfLayeredFlow *flow) {
  if (!flow) return;
  Work *work = flow->work;
  if (work) {
    rf_layers_loss_work_free(work->loss);
    rf_sided_free(work->sided);
    rf_stiff_free(work->stiff);
    for (int s = 0; s < stages; s++) rf_free(work->k[s]);
    rf_free(work->q), rf_free(work->trial), rf_free(work->next), rf_free(work->layers0);
    rf_free(work->weights), rf_free(work->from), rf_free(work->some);
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
void rf_layered_velocity(const RfContext *context, RfLayeredFlow *flow, double *out, const double *theta,
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
  double square = rf_la_quick_dot(theta, theta, P), mu = rf_la_quick_dot(out, theta, P) / square;
  for (rf_index p = 0; p < P; p++) out[p] = out[p] / mu - theta[p];
}

/* The samples that are seen, and what is theirs; where all are, what is everybody's. */
static void refresh_seen(RfLayeredFlow *flow) {
  Work *work = flow->work;
  const int8_t *seen = work->smooth ? NULL : rf_sided_seen(work->sided);
  rf_index count = 0;
  flow->seen_q = INFINITY;
  for (rf_index i = 0; i < flow->n; i++)
    if (!seen || seen[i]) work->some[count++] = work->q[i], flow->seen_q = fmin(flow->seen_q, work->q[i]);
  flow->unseen = flow->n - count;
  flow->seen_loss = count > 0 ? rf_loss_log_sum(work->some, count, flow->loss, rf_loss_log_value) : -INFINITY;
  flow->seen_smargin = rf_loss_inverse_log(flow->loss, flow->seen_loss);
}

/* Fixed layers do not count as imbalanced. */
static void refresh(RfLayeredFlow *flow) {
  Work *work = flow->work;
  RfLayeredNet *net = &flow->net;
  flow->min_q = INFINITY;
  for (rf_index i = 0; i < flow->n; i++) flow->min_q = fmin(flow->min_q, work->q[i]);
  flow->log_loss = rf_loss_log_sum(work->q, flow->n, flow->loss, rf_loss_log_value);
  flow->smargin = rf_loss_inverse_log(flow->loss, flow->log_loss);
  refresh_seen(flow);
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
  work->weights = RF_NEW(double, n), work->from = RF_NEW(double, P), work->some = RF_NEW(double, n);
  bool complete =
      work->some && work->from && work->q && work->weights && work->trial && work->next && work->layers0;
  for (int s = 0; s < stages; s++) complete = (work->k[s] = RF_NEW(double, P)) != NULL && complete;
  if (!complete) goto no_memory;
  status = rf_sided_suits(net, n) ? rf_sided_new(context, &work->sided, &flow->net, X, y, n, loss)
                                  : rf_layers_loss_work_new(context, &work->loss, &flow->net, RF_DOUBLE, n);
  if (!status && P <= RF_LAYERED_STIFF_MOST_FROZEN) status = rf_stiff_new(context, &work->stiff, P);
  if (status) goto fail;
  work->smooth = !work->sided;
  flow->n = n, flow->loss = loss, flow->log_t = -INFINITY, flow->max_steps = 2000000;
  flow->tolerance = context->tol.ode;
  for (rf_index l = 0; l < net->n_layers; l++) work->layers0[l] = layer_square(net, l);
  work->last_err = RF_LAYERED_MEMORY;
  rf_layered_velocity(context, flow, work->k[0], flow->net.theta, CLOCK_TIME);
  refresh(flow);
  return RF_OK;
no_memory:
  status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a flow");
fail:
  rf_layered_flow_free(flow);
  return status;
}

/* ln of the mean of 1/S over a step, by the quadrature of the method: dt = h sum_s b_s / S_s. */
static double step_mean(const double *log_S) {
  double least = INFINITY, sum = 0;
  for (int s = 0; s < stages; s++) least = fmin(least, log_S[s]);
  for (int s = 0; s < stages - 1; s++) sum += rf_dopri5[stages - 1][s] * exp(least - log_S[s]);
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
      if (rf_dopri5[s][j] != 0) rf_la_axpy(at, h * rf_dopri5[s][j], work->k[j], P);
    rf_layered_velocity(context, flow, work->k[s], at, clock);
    work->log_S[s] = work->shift;
  }
  double square = 0;
  for (rf_index p = 0; p < P; p++) {
    double error = 0;
    for (int s = 0; s < stages; s++) error += rf_dopri5_error[s] * work->k[s][p];
    square += h * error * h * error;
  }
  double size = fmax(rf_la_norm(theta, P), rf_la_norm(work->next, P));
  return sqrt(square) / (flow->tolerance * size);
}

/* Is stability what makes this step? Both last stages are at its end: their velocities over their distance.
 */
static bool stability_bound(const RfLayeredFlow *flow, double h) {
  const Work *work = flow->work;
  double speeds = 0, places = 0;
  for (rf_index p = 0; p < flow->net.n_parameters; p++) {
    double speed = work->k[stages - 1][p] - work->k[stages - 2][p], place = work->next[p] - work->trial[p];
    speeds += speed * speed, places += place * place;
  }
  return h * h * speeds > RF_LAYERED_STIFF * RF_LAYERED_STIFF * places;
}

typedef struct Field {
  const RfContext *context;
  RfLayeredFlow *flow;
  Clock clock;
} Field;

static void field(void *user, double *out, const double *theta) {
  Field *f = user;
  rf_layered_velocity(f->context, f->flow, out, theta, f->clock);
}

/* ln of the mean of 1/S where ln S goes from one value to the other on a straight line. */
static double mean_between(double one, double other) {
  double gap = fabs(one - other);
  return -fmin(one, other) + (gap > 1e-9 ? log(-expm1(-gap) / gap) : -gap / 2);
}

/* The same as trial_step by the implicit method; needs its matrix. */
static double trial_implicit(const RfContext *context, RfLayeredFlow *flow, double h, Clock clock) {
  Work *work = flow->work;
  rf_index P = flow->net.n_parameters;
  Field at = {.context = context, .flow = flow, .clock = clock};
  double error = rf_stiff_step(work->stiff, field, &at, flow->net.theta, work->k[0], h, work->next);
  double size = fmax(rf_la_norm(flow->net.theta, P), rf_la_norm(work->next, P));
  if (!isfinite(error)) return error;
  rf_layered_velocity(context, flow, work->k[stages - 1], work->next, clock);
  if (!isfinite(work->shift) || !isfinite(rf_la_norm(work->k[stages - 1], P))) return INFINITY;
  for (rf_index p = 0; p < P; p++)
    work->trial[p] = 0.5 * (flow->net.theta[p] + work->next[p]) +
                     h / 8 * (work->k[0][p] - work->k[stages - 1][p]); /* the cubic, in the middle */
  rf_layered_velocity(context, flow, work->k[1], work->trial, clock);
  double middle = work->shift, start = work->log_S[0];
  rf_layered_velocity(context, flow, work->k[stages - 1], work->next, clock);
  work->log_S[stages - 1] = work->shift;
  /* Where margins are stiff the cubic leads off them; ln S is between the ends all the same. */
  middle = fmin(fmax(middle, fmin(start, work->shift)), fmax(start, work->shift));
  work->log_mean = rf_run_log_add(mean_between(start, middle), mean_between(middle, work->shift)) - log(2);
  double looser = clock == CLOCK_FROZEN ? RF_LAYERED_STIFF_LOOSER_FROZEN : RF_LAYERED_STIFF_LOOSER;
  return error / (looser * flow->tolerance * size);
}

static double try_step(const RfContext *context, RfLayeredFlow *flow, double h, Clock clock) {
  double error = flow->work->implicit > 0 ? trial_implicit(context, flow, h, clock)
                                          : trial_step(context, flow, h, clock);
  return flow->work->tried = isfinite(error) ? error : RF_LAYERED_NO_NUMBER;
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
    try_step(context, flow, at, clock);
    bool beyond = rf_sided_violated(work->sided);
    *(beyond ? &high : &low) = at;
    rf_sided_mark(work->sided, beyond);
  }
  if (at != high) try_step(context, flow, high, clock);
  return high;
}

/* The same in large networks: as many units as the step meets, found together at its end. It is as long as
 * what their late change of sides costs stays small; straight lines tell that length, and one more trial step
 * of it is taken. Where units turn round on the way straight lines end before the first of them, a little
 * nearer with every step: then they are drawn from there, every third time to the middle. */
static double late_events(const RfContext *context, RfLayeredFlow *flow, double step, Clock clock) {
  Work *work = flow->work;
  double low = 0, high = step;
  rf_sided_mark(work->sided, 1);
  for (int round = 1; round <= LATE_ROUNDS; round++) {
    double share = rf_sided_late(work->sided, RF_LAYERED_LATE * flow->norm / (high - low));
    if (!(share > 0) && low == 0) return first_event(context, flow, step, clock);
    if (share >= 1 && round == 1) return step;
    bool middle = round % 3 == 0 || !(share > 0 && share < 1);
    double at = low + (middle ? 0.5 : share) * (high - low);
    try_step(context, flow, at, clock);
    bool beyond = rf_sided_violated(work->sided);
    if ((beyond && !middle) || at > 0.5 * step) return at;
    *(beyond ? &high : &low) = at;
    rf_sided_mark(work->sided, beyond);
  }
  if (low > 0) try_step(context, flow, low, clock);
  return low > 0 ? low : first_event(context, flow, step, clock);
}

/* A step in units of the late clock; mu = D sum p_i q_i/|phi|^2, since f is homogeneous. */
static double late_step(const RfLayeredFlow *flow, double step) {
  const Work *work = flow->work;
  if (work->clock == CLOCK_LATE) return step;
  if (work->clock == CLOCK_TIME) return step * exp(work->shift);
  double mean = 0;
  const int8_t *seen = rf_sided_seen(work->sided);
  for (rf_index i = 0; i < flow->n; i++)
    if (seen[i]) mean += exp(rf_loss_log_slope(flow->loss, work->q[i]) - work->shift) * work->q[i];
  return step * flow->norm * flow->norm / ((double)rf_layers_homogeneity(&flow->net) * mean);
}

/* After a step: units at their kinks cross, slide or are let go; sliding ones are put back on their kinks.
 * implicit: the length of the step, where it was implicit; an explicit one is too short for margins to
 * answer. */
static RfStatus settle_sides(RfLayeredFlow *flow, bool event, double implicit) {
  Work *work = flow->work;
  double late = late_step(flow, implicit);
  RfStatus status = event ? rf_sided_apply(work->sided, flow->net.theta) : RF_OK;
  if (!status && rf_sided_held(work->sided) > 0) {
    status = rf_sided_project(work->sided, flow->net.theta, late);
    work->fresh = false;
  }
  if (event) work->fresh = false, refresh_seen(flow);
  return status;
}

/* Weights of samples change over 1/|df_i|, and everything else over |theta|: differences are small beside
 * both, and large beside the rounding of margins, whose terms are of size |theta| |df_i|: the cube root of
 * that is where both errors of a central difference are alike. */
static double difference_size(RfLayeredFlow *flow) {
  Work *work = flow->work;
  double steepest = sqrt((double)flow->net.n_parameters) / flow->norm;
  if (work->smooth) return cbrt(RF_LAYERED_ROUNDING) / steepest;
  rf_sided_outputs(work->sided, work->q, NULL, flow->net.theta);
  for (rf_index i = 0; i < flow->n; i++) {
    work->weights[i] = 1;
    rf_sided_gradient(work->sided, work->k[1], work->weights, flow->net.theta);
    steepest = fmax(steepest, rf_la_norm(work->k[1], flow->net.n_parameters)), work->weights[i] = 0;
  }
  return cbrt(RF_LAYERED_ROUNDING * fmax(1, flow->norm * steepest)) / steepest;
}

/* From J = dv/dtheta to the matrix of a clock: d(S v) = S (J + v dlnS), or, with mu = <v,phi>/|phi|^2,
 * d(v/mu - phi) = J/mu - v dmu/mu^2 - 1. */
static void in_clock(const RfLayeredFlow *flow, double *J, const double *v, double *log_S, Clock clock) {
  rf_index P = flow->net.n_parameters;
  const double *theta = flow->net.theta;
  if (clock == CLOCK_LATE) return;
  double scale = exp(flow->work->shift), square = rf_la_quick_dot(theta, theta, P),
         mu = rf_la_quick_dot(v, theta, P) / square;
  if (clock == CLOCK_FROZEN) { /* -dmu/mu into log_S */
    rf_la_combine(log_S, J, theta, P, P, P);
    for (rf_index p = 0; p < P; p++)
      log_S[p] = -((log_S[p] + v[p]) / square - 2 * mu * theta[p] / square) / mu;
    scale = 1 / mu;
  }
  for (rf_index r = 0; r < P; r++) {
    rf_la_axpy(J + r * P, v[r], log_S, P);
    rf_la_scale(J + r * P, scale, P);
    if (clock == CLOCK_FROZEN) J[r * P + r] -= 1;
  }
}

RfStatus rf_layered_prepare_implicit(RfContext *context, RfLayeredFlow *flow, Clock clock) {
  Work *work = flow->work;
  Field at = {.context = context, .flow = flow, .clock = clock};
  rf_index P = flow->net.n_parameters, held = work->smooth ? 0 : rf_sided_held(work->sided);
  double *normals = RF_NEW(double, (held + 1) * P);
  double rates[2] = {0, 0};
  bool known = false;
  if (!normals) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a stiff step");
  RfStatus status = RF_OK;
  if (!work->smooth) {
    double *J = rf_stiff_matrix(work->stiff);
    status = rf_sided_jacobian(work->sided, J, work->trial, work->next, flow->net.theta, &known);
    if (known) in_clock(flow, J, work->next, work->trial, clock);
  }
  if (!known && !status)
    rf_stiff_differences(work->stiff, field, &at, flow->net.theta, difference_size(flow));
  for (rf_index k = 0; k < held && !status; k++)
    rf_sided_plane(work->sided, normals + k * P, k, flow->net.theta);
  if (!status)
    status = rf_stiff_prepare(context, work->stiff, normals, held, clock == CLOCK_FROZEN ? NULL : rates);
  if (clock != CLOCK_FROZEN) work->growth = rates[0], work->decay = rates[1];
  rf_free(normals);
  return status;
}

/* After a step: on to implicit ones when stability has made several in a row, and back after as many that
 * explicit ones could have made, too. A step that an event cut short tells nothing. */
static void count_stiff(RfLayeredFlow *flow, double step, bool cut) {
  Work *work = flow->work;
  if (work->implicit > 0) {
    bool bound = work->clock != CLOCK_FROZEN && step * work->decay > RF_LAYERED_STIFF;
    work->implicit -= !bound, work->stiff_count = 0;
    return;
  }
  if (cut) return;
  work->stiff_count = stability_bound(flow, step) ? work->stiff_count + 1 : 0;
  rf_index most = work->clock == CLOCK_FROZEN ? RF_LAYERED_STIFF_MOST_FROZEN : RF_LAYERED_STIFF_MOST;
  if (flow->net.n_parameters > most) return;
  if (work->stiff && work->stiff_count >= STIFF_IN_A_ROW) work->implicit = IMPLICIT_STEPS;
}

/* Counts events in a row that take the flow nowhere, in its clock: units that change sides without end. More
 * than every unit can have on every sample are no way on. */
static bool chatters(RfLayeredFlow *flow, double step, bool event) {
  Work *work = flow->work;
  double *gone = &work->gone[work->clock];
  *gone += step;
  if (work->events == 0 || *gone > work->mark * (1 + RF_LAYERED_NOWHERE))
    work->mark = *gone, work->events = 0;
  work->events += event;
  return work->events > CHATTER + CHATTER * flow->n * rf_layers_hidden(&flow->net) / 10;
}

/* Advances by at most `most` in the given clock; *taken is the step that was accepted. */
static RfStatus advance(RfContext *context, RfLayeredFlow *flow, double most, Clock clock, double *taken) {
  Work *work = flow->work;
  if (!work->fresh || work->clock != clock) {
    rf_layered_velocity(context, flow, work->k[0], flow->net.theta, clock);
    work->fresh = true, work->clock = clock, work->log_S[0] = work->shift;
  }
  double *h = &work->h[clock];
  if (!(*h > 0)) *h = first_step(flow, clock);
  if (!work->smooth) rf_sided_mark(work->sided, 0); /* the last velocity is that of the state */
  if (work->implicit > 0) { /* no longer than what grows takes to grow: else it would be stepped over */
    RfStatus status = rf_layered_prepare_implicit(context, flow, clock);
    if (status) return status;
    *h = fmin(*h, clock == CLOCK_FROZEN ? RF_LAYERED_STIFF_FROZEN : 1 / work->growth);
  }
  for (int tries = 0; tries < 200; tries++) {
    double tried = fmin(*h, most), step = tried, error = try_step(context, flow, step, clock);
    if (error <= 1) {
      bool event = !work->smooth && rf_sided_violated(work->sided);
      if (event && work->large)
        step = late_events(context, flow, step, clock), event = rf_sided_violated(work->sided);
      else if (event)
        step = first_event(context, flow, step, clock);
      bool number = isfinite(rf_la_norm(work->next, flow->net.n_parameters));
      if (!number || work->tried > RF_LAYERED_TRIAL) { /* the part up to the event is worse than the whole */
        flow->rejected++, *h = 0.1 * step;
        continue;
      }
      bool implicit = work->implicit > 0;
      double factor = 0.9 * pow(fmax(error, RF_LAYERED_LEAST_ERROR), implicit ? -0.21 : -0.17) *
                      pow(work->last_err, 0.04);
      work->last_err = fmax(error, RF_LAYERED_MEMORY);
      if (tried == *h || factor < 1) *h = tried * fmin(fmax(factor, 0.2), 8);
      count_stiff(flow, step, event);
      double *swap = flow->net.theta;
      flow->net.theta = work->next, work->next = swap;
      swap = work->k[0], work->k[0] = work->k[stages - 1], work->k[stages - 1] = swap;
      flow->steps++, *taken = step;
      work->log_dt = log(step) + (implicit ? work->log_mean : step_mean(work->log_S));
      work->log_S[0] = work->log_S[stages - 1];
      refresh(flow);
      if (chatters(flow, step, event)) {
        flow->stuck = rf_sided_layer_at_zero(work->sided)
                          ? at_zero
                          : "units change sides without end, and the flow goes nowhere";
        return RF_UNDECIDED;
      }
      return work->smooth ? RF_OK : settle_sides(flow, event, implicit ? step : 0);
    }
    flow->rejected++;
    *h = step * fmax(0.9 * pow(error, work->implicit > 0 ? -0.25 : -0.2), 0.1);
  }
  return RF_UNDECIDED;
}

/* Ten times a second at most. */
static void tell(const RfContext *context, RfLayeredFlow *flow) {
  static const char *const parts[] = {"fitting", "to infinity", "scale frozen"};
  Work *work = flow->work;
  char phase[32], detail[160];
  double now = rf_clock_seconds();
  if (now - work->told < 0.1) return;
  work->told = now;
  rf_format(phase, sizeof phase, "%s%s", flow->again ? "again: " : "", parts[work->clock]);
  rf_format(detail, sizeof detail, "ln t %.4g  ln loss %.4g  q_min %.3g  steps %lld  units held %lld",
            flow->log_t, flow->log_loss, flow->min_q, (long long)flow->steps,
            work->sided ? (long long)rf_sided_held(work->sided) : 0);
  rf_progress(context, phase, -1, detail);
}

RfStatus rf_layered_flow_to_time(RfContext *context, RfLayeredFlow *flow, double t) {
  double now = exp(flow->log_t), taken;
  for (rf_index step = 0; now < t; step++) {
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    if (flow->unseen == flow->n) { /* nothing moves */
      flow->log_t = log(t);
      return RF_OK;
    }
    RfStatus status = advance(context, flow, t - now, CLOCK_TIME, &taken);
    if (status) return status;
    now = t - now <= taken ? t : now + taken;
    flow->log_t = log(now);
    tell(context, flow);
    if (flow->on_step) flow->on_step(flow->user, flow);
  }
  return RF_OK;
}

bool rf_layered_others_reached(const RfLayeredFlow *flow, double smargin) {
  return flow->unseen > 0 && flow->unseen < flow->n &&
         flow->seen_smargin >= fmax(smargin, RF_LAYERED_MARGIN_OTHER);
}

RfStatus rf_layered_flow_to_smargin(RfContext *context, RfLayeredFlow *flow, double smargin) {
  double taken, tau = 0;
  flow->woken = false;
  flow->work->still_from = flow->work->next_look = flow->work->from_tau = 0;
  for (rf_index step = 0; !(flow->smargin >= smargin) && !rf_layered_others_reached(flow, smargin); step++) {
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    bool rests = flow->unseen == flow->n; /* nothing moves */
    RfStatus status = rests ? RF_OK : advance(context, flow, INFINITY, CLOCK_LATE, &taken);
    if (status) return status;
    if (!rests) {
      flow->log_t = rf_run_log_add(flow->log_t, flow->work->log_dt);
      tell(context, flow);
      if (flow->on_step) flow->on_step(flow->user, flow);
      tau += taken;
      status = rf_layered_at_rest(context, flow, tau, &rests);
    }
    if (!status && rests && rf_sided_layer_at_zero(flow->work->sided)) {
      flow->stuck = at_zero;
      return RF_UNDECIDED;
    }
    if (status || rests) return status ? status : RF_NOT_SEPARABLE;
  }
  return flow->smargin >= smargin ? RF_OK : RF_NOT_SEPARABLE;
}

RfStatus rf_layered_flow_far(RfContext *context, RfLayeredFlow *flow, double kappa) {
  double degree = (double)rf_layers_homogeneity(&flow->net);
  if (degree == 0) return rf_fail(context, RF_ERR_USAGE, "freezing the scale needs a homogeneous network");
  if (!(flow->seen_q > 0) || flow->unseen == flow->n)
    return rf_fail(context, RF_ERR_USAGE, "freezing the scale needs positive margins");
  double target = flow->kappa + kappa, taken, norm = flow->norm;
  flow->log_t = NAN, flow->work->fresh = false; /* a polish has used the sides since */
  for (rf_index step = 0; flow->kappa < target; step++) {
    rf_index unseen = flow->unseen;
    double margin = flow->seen_smargin;
    if (step >= flow->max_steps) return RF_UNDECIDED;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    RfStatus status = advance(context, flow, target - flow->kappa, CLOCK_FROZEN, &taken);
    if (status) return status;
    flow->kappa = target - flow->kappa <= taken ? target : flow->kappa + taken;
    tell(context, flow);
    rf_la_scale(flow->net.theta, norm / flow->norm,
                flow->net.n_parameters); /* |phi| drifts by rounding only */
    if (flow->unseen < unseen) { /* ln t = -ln S, to what a margin of the frozen scale tells of that */
      flow->woken = true, flow->log_t = margin * exp(degree * flow->kappa);
      flow->work->h[CLOCK_LATE] = 0;
      for (rf_index l = 0; l < flow->net.n_layers; l++) /* their differences have faded beside the scale */
        flow->work->layers0[l] = layer_square(&flow->net, l);
      if (rf_layered_barely_seen(flow))
        flow->stuck = "a sample comes into sight through weights that have faded";
      return flow->stuck ? RF_UNDECIDED : RF_OK;
    }
  }
  return RF_OK;
}

void rf_layered_flow_raise(RfLayeredFlow *flow, double factor) {
  Work *work = flow->work;
  double scale = pow(factor, 1 / (double)rf_layers_homogeneity(&flow->net));
  rf_la_scale(flow->net.theta, scale, flow->net.n_parameters);
  for (rf_index i = 0; i < flow->n; i++) work->q[i] *= factor;
  refresh(flow);
  work->h[CLOCK_FROZEN] = 0, work->fresh = false; /* margins are stiffer by the same factor */
}

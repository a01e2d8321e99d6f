/* Lyu, Li, Wang, Arora: what holds at every moment of a flow. LLWA-09 (Lemma B.15), 10 (Lemmas B.16, B.17,
 * Corollary B.18), 11 (Lemma B.20), 12 (Theorem B.19), 19 (Lemmas E.10, E.11), 23 (Lemmas F.6, F.8, Theorem
 * F.9). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llwa/llwa.h"
#include "core/core.h"

#include "kit/data.h"
#include "la/la.h"

typedef struct Point {
  double W[RF_LLWA_WIDTH * RF_LLWA_D], a[RF_LLWA_WIDTH];
} Point;

static RfNet at(Point *point, rf_index m, const RfLlwaSet *set) {
  return (RfNet){.m = m, .d = set->d, .W = point->W, .a = point->a, .leak = set->leak};
}

static double inner(const RfNet *p, const RfNet *q) {
  return rf_la_dot(p->W, q->W, p->m * p->d) + rf_la_dot(p->a, q->a, p->m);
}

/* ---- LLWA-09: Lemma B.15, the loss falls by the squared speed ------------------------------ */

typedef struct Energy {
  RfClaimRun *run;
  const RfLlwaSet *set;
  double t[3], power[3], first, last, integral; /* the last three moments; ln L at both ends */
  int8_t sides[RF_LLWA_WIDTH * RF_LLWA_ROWS];   /* at the last moment */
  int filled;
  double clarke; /* largest distance of a velocity from the least-norm element */
  rf_index count, sliding;
  RfStatus status;
} Energy;

/* Two or three points, not equally far apart: the integral of their line or parabola. */
static double quadrature(const double *t, const double *f, int count) {
  double h = t[count - 1] - t[0], r = (t[1] - t[0]) / h;
  if (count < 2 || !(h > 0)) return 0;
  if (count == 2) return h / 2 * (f[0] + f[1]);
  if (!(r > 0) || !(r < 1)) return h / 2 * (f[r > 0 ? 0 : 1] + f[r < 1 ? 2 : 1]); /* two at one time */
  return h / 6 * (f[0] * (3 - 1 / r) + f[1] / (r * (1 - r)) + f[2] * (3 - 1 / (1 - r)));
}

/* The shortest g = sum_i p_i y_i s_i x_i with slopes s_i by side, and in [leak,1] on hyperplanes; in units of
 * e^log_speed. */
static void shortest_field(Energy *energy, double *g, const RfLlwaMoment *now, const int8_t *sides) {
  const RfLlwaSet *set = energy->set;
  double columns[RF_LLWA_ROWS * RF_LLWA_D], f[RF_LLWA_D] = {0}, low[RF_LLWA_ROWS], high[RF_LLWA_ROWS],
                                            x[RF_LLWA_ROWS];
  RfLeastSquaresInfo info;
  rf_index free = 0, d = set->d;
  for (rf_index i = 0; i < set->n; i++) {
    double p = exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, now->q[i]) - now->log_speed) / (double)set->n;
    if (sides[i]) {
      rf_la_axpy(f, -p * set->y[i] * (sides[i] > 0 ? 1 : set->leak), set->X + i * d, d);
      continue;
    }
    for (rf_index j = 0; j < d; j++) columns[free * d + j] = p * set->y[i] * set->X[i * d + j];
    low[free] = set->leak, high[free++] = 1;
  }
  for (rf_index j = 0; j < d; j++) g[j] = f[j];
  if (free > 0 && !energy->status)
    energy->status =
        rf_la_box_least_squares(energy->run->context, x, g, &info, columns, f, low, high, d, free, d, NULL);
  rf_la_scale(g, -1, d); /* residual f - A x */
}

/* |dtheta/dt|^2 with given sides. */
static double power_of(Energy *energy, const RfLlwaMoment *now, const int8_t *sides, bool compare) {
  double sum = 0, g[RF_LLWA_D];
  rf_index d = energy->set->d, n = energy->set->n;
  for (rf_index k = 0; k < now->theta->m; k++) {
    double a = now->theta->a[k], away = 0;
    const double *w = now->theta->W + k * d;
    shortest_field(energy, g, now, sides + k * n);
    double along = rf_la_dot(g, w, d);
    sum += a * a * rf_la_dot(g, g, d) + along * along;
    if (!compare) continue;
    for (rf_index j = 0; j < d; j++) away = hypot(away, now->velocity->W[k * d + j] - a * g[j]);
    energy->clarke = fmax(energy->clarke, away / sqrt(rf_net_norm2(now->theta)));
    for (rf_index i = 0; i < n; i++) energy->sliding += sides[k * n + i] == 0;
  }
  return sum * exp(2 * now->log_speed);
}

static void see_energy(void *user, const RfLlwaMoment *now) {
  Energy *e = user;
  size_t bytes = (size_t)(now->theta->m * e->set->n);
  bool turned = e->count > 0 && memcmp(e->sides, now->sides, bytes) != 0;
  double power = power_of(e, now, now->sides, true);
  if (e->count++ == 0) e->first = now->log_loss;
  e->t[e->filled] = now->t;
  e->power[e->filled++] =
      turned ? power_of(e, now, e->sides, false) : power; /* up to a kink: the old sides */
  if (turned || e->filled == 3) {
    e->integral += quadrature(e->t, e->power, e->filled);
    e->t[0] = now->t, e->power[0] = power, e->filled = 1;
  }
  e->last = now->log_loss;
  memcpy(e->sides, now->sides, bytes);
}

static RfStatus judge_energy(RfClaimRun *run, Energy *total, const RfLlwaSet *set, uint64_t stream) {
  Point point;
  RfNet start = at(&point, 6, set);
  RfRandom random = rf_claim_random(run, stream);
  Energy energy = {.run = run, .set = set};
  rf_llwa_gaussian(&start, &random, 0.1);
  RfStatus status = rf_llwa_walk(run, NULL, NULL, set, &start, RF_UNTIL_TIME, 60, 81, see_energy, &energy);
  energy.integral += quadrature(energy.t, energy.power, energy.filled);
  double drop = exp(energy.first) - exp(energy.last), error = fabs(drop - energy.integral) / drop;
  rf_claim_at_most(run, "L(0) - L(t) against the integral of |velocity|^2, relative", error, 0, 1e-7);
  rf_claim_at_most(run, "velocity against the least-norm element", energy.clarke, 0, 1e-9);
  rf_claim_states(run, energy.count, 1000);
  total->integral = fmax(total->integral, error), total->clarke = fmax(total->clarke, energy.clarke);
  total->count += energy.count, total->sliding += energy.sliding;
  return status ? status : energy.status;
}

RfStatus rf_llwa_09(RfClaimRun *run) {
  RfLlwaSet set;
  Energy total = {0};
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 10) && !status; draw++)
    status = judge_energy(run, &total, &set, (uint64_t)draw);
  rf_llwa_free(&set);
  for (int seed = 0; seed < 5 && !status; seed++) { /* labels at random: neurons slide */
    char spec[40];
    RfDataset data = {0};
    rf_format(spec, sizeof spec, "DS-GEN(8,3,%d)", seed);
    status = rf_claim_generate(run, &data, spec);
    if (status) break;
    RfLlwaSet other = {.X = data.X, .y = data.y, .n = data.n, .d = data.d, .leak = 0.1};
    status = judge_energy(run, &total, &other, 1000 + (uint64_t)seed);
    rf_dataset_free(&data);
  }
  rf_claim_require(run, "inputs on a hyperplane", 1);
  rf_claim_made(run, "inputs on a hyperplane", total.sliding);
  rf_claim_note(run,
                "%lld moments, %lld inputs on a hyperplane; relative error %.1e, least-norm velocity to %.1e",
                (long long)total.count, (long long)total.sliding, total.integral, total.clarke);
  return status;
}

/* ---- LLWA-10: balance, zero neurons, signs ------------------------------------------------- */

typedef struct Balance {
  double start[RF_LLWA_WIDTH], sign[RF_LLWA_WIDTH]; /* |w|^2 - a^2 and sign of a at t = 0 */
  bool balanced[RF_LLWA_WIDTH], zero[RF_LLWA_WIDTH];
  double drift;
  rf_index count, flips, woken;
} Balance;

static void see_balance(void *user, const RfLlwaMoment *now) {
  Balance *b = user;
  if (now->frozen) return;
  for (rf_index k = 0; k < now->theta->m; k++) {
    const double *w = now->theta->W + k * now->theta->d;
    double w2 = rf_la_dot(w, w, now->theta->d), a2 = now->theta->a[k] * now->theta->a[k];
    if (b->count == 0) {
      b->start[k] = w2 - a2, b->sign[k] = now->theta->a[k];
      b->zero[k] = w2 == 0 && a2 == 0, b->balanced[k] = !b->zero[k] && fabs(w2 - a2) <= 1e-14 * w2;
    }
    b->woken += b->zero[k] && (w2 != 0 || a2 != 0);
    b->flips += b->balanced[k] && !(b->sign[k] * now->theta->a[k] > 0);
    if (w2 > 0) b->drift = fmax(b->drift, fabs(w2 - a2 - b->start[k]) / fmax(w2, fabs(b->start[k])));
  }
  b->count++;
}

RfStatus rf_llwa_10(RfClaimRun *run) {
  RfLlwaSet set;
  double worst = 0;
  rf_index moments = 0;
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 10) && !status; draw++) {
    Point point;
    Balance balance = {0};
    RfNet start = at(&point, 6, &set);
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    rf_llwa_gaussian(&start, &random, 0.1);
    for (int k = 0; k < 2; k++) start.a[k] = (k ? -1 : 1) * rf_la_norm(start.W + k * set.d, set.d);
    memset(start.W + 2 * set.d, 0, (size_t)set.d * sizeof(double)), start.a[2] = 0;
    status = rf_llwa_walk(run, NULL, NULL, &set, &start, RF_UNTIL_INFINITY, 0, 20, see_balance, &balance);
    rf_claim_at_most(run, "drift of |w_k|^2 - a_k^2 over its largest term", balance.drift, 0, 1e-7);
    rf_claim_close(run, "moments at which a zero neuron is not zero", (double)balance.woken, 0, 0);
    rf_claim_close(run, "moments at which a balanced neuron has another sign", (double)balance.flips, 0, 0);
    rf_claim_true(run, "balanced and zero neurons were there",
                  balance.balanced[0] && balance.balanced[1] && balance.zero[2]);
    worst = fmax(worst, balance.drift), moments += balance.count;
  }
  rf_claim_note(run, "%lld moments up to margins of 1e6; drift %.1e", (long long)moments, worst);
  rf_llwa_free(&set);
  return status;
}

/* ---- LLWA-11, LLWA-12: Lemma B.20, Theorem B.19 -------------------------------------------- */

typedef struct Push {
  const RfLlwaSet *set;
  double tight;         /* largest bound over <dw_k/dt,wstar> */
  double c, least;      /* of neuron 0: the constant of B.19 and the smallest a^2/c */
  double correct_at;    /* first time with L < ln 2/n */
  double rate, printed; /* smallest |velocity|^2 over c (leak gstar/2n)^2 and over c^2 (...)^2 before that */
  rf_index count;
} Push;

static void see_push(void *user, const RfLlwaMoment *now) {
  Push *push = user;
  const RfLlwaSet *set = push->set;
  double n = (double)set->n, part;
  if (now->frozen) return;
  /* (1 - exp(-nL))/S, also where both underflow */
  part = now->log_loss > -30 ? -expm1(-n * exp(now->log_loss)) / (n * exp(now->log_speed))
                             : exp(now->log_loss - now->log_speed);
  for (rf_index k = 0; k < now->theta->m; k++) {
    double a = now->theta->a[k];
    if (a == 0) continue;
    double along = (a < 0 ? -1 : 1) * rf_la_dot(now->velocity->W + k * set->d, set->wstar, set->d);
    double bound = fabs(a) * set->leak * set->gstar * part; /* above 1: how far the value is below it */
    push->tight = fmax(push->tight, along >= bound ? bound / along : 1 + (bound - along) / bound);
  }
  double a = now->theta->a[0], unit = set->leak * set->gstar / (2 * n);
  push->least = fmin(push->least, a * a / push->c);
  if (now->log_loss >= log(log(2) / n)) {
    double speed2 = inner(now->velocity, now->velocity) * exp(2 * now->log_speed);
    push->rate = fmin(push->rate, speed2 / (push->c * unit * unit));
    push->printed = fmin(push->printed, speed2 / (push->c * push->c * unit * unit));
  } else if (isnan(push->correct_at)) {
    push->correct_at = now->t;
  }
  push->count++;
}

RfStatus rf_llwa_11(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SEP(10,3,0)"};
  double tight = 0;
  rf_index moments = 0;
  for (int s = 0; s < 2; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, specs[s], 0.5, s ? 0 : 1);
    if (status) return status;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 5) && !status; draw++) {
      Point point;
      RfNet start = at(&point, 6, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(100 * s + draw));
      Push push = {.set = &set, .correct_at = NAN, .c = 1};
      rf_llwa_gaussian(&start, &random, 0.3);
      status = rf_llwa_walk(run, NULL, NULL, &set, &start, RF_UNTIL_INFINITY, 0, 40, see_push, &push);
      rf_claim_at_most(run, "bound over sgn(a_k) <dw_k/dt,wstar>", push.tight, 1, 1e-9);
      rf_claim_states(run, push.count, 1000);
      tight = fmax(tight, push.tight), moments += push.count;
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_note(run, "%lld moments, the bound is attained to the factor %.4f", (long long)moments, tight);
  return RF_OK;
}

RfStatus rf_llwa_12(RfClaimRun *run) {
  RfLlwaSet set;
  double least = INFINITY, used = 0, rate = INFINITY, printed = INFINITY;
  RfStatus status = rf_llwa_load(run, &set, "DS-SEP(10,3,0)", 0.5, 0);
  if (status) return status;
  double unit = set.leak * set.gstar / (2 * (double)set.n), goal = log(2) / (double)set.n;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 50) && !status; draw++) {
    Point points[2];
    RfFlowResult flow;
    bool converged;
    double q[RF_LLWA_ROWS], along, c;
    RfNet start = at(&points[0], 3, &set), gradient = at(&points[1], 3, &set);
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    do {
      rf_llwa_gaussian(&start, &random, draw % 5 == 4 ? 20 : 1); /* some large ones */
      along = rf_la_dot(start.W, set.wstar, set.d);
      c = along * along - rf_la_dot(start.W, start.W, set.d) + start.a[0] * start.a[0];
    } while (!(start.a[0] * along > 0 && c > 0));
    Push push = {
        .set = &set, .c = c, .least = INFINITY, .correct_at = NAN, .rate = INFINITY, .printed = INFINITY};
    double before = rf_llwa_gradient(&gradient, q, &start, &set);
    status = rf_llwa_walk(run, &flow, &converged, &set, &start, RF_UNTIL_INFINITY, 0, 10, see_push, &push);
    double bound = (before - goal) / (c * unit * unit);
    rf_claim_at_least(run, "a_k^2 over c", push.least, 1, 1e-9);
    rf_claim_at_most(run, "time until L < ln 2/n over its bound", bound > 0 ? push.correct_at / bound : 0, 1,
                     0);
    rf_claim_at_least(run, "|velocity|^2 over c (leak gstar/2n)^2 before that", push.rate, 1, 1e-9);
    rf_claim_true(run, "L goes to 0", converged && flow.log_loss_end < -1000);
    least = fmin(least, push.least), used = fmax(used, bound > 0 ? push.correct_at / bound : 0);
    rate = fmin(rate, push.rate), printed = fmin(printed, push.printed);
    rf_flow_result_free(&flow);
  }
  rf_claim_misprint(run, "MP-LLWA-08", "smallest |dL/dt| over its bound with c^2 and with c", printed, rate,
                    NAN, printed >= 1);
  rf_claim_note(run, "smallest a^2/c %.6f, longest time over its bound %.1e", least, used);
  rf_llwa_free(&set);
  return status;
}

/* ---- LLWA-19: Lemmas E.10, E.11 ------------------------------------------------------------ */

typedef struct Lipschitz {
  double growth, speed, length, t; /* largest ratios; |theta| and t at the last moment */
  double first, step;              /* |theta(0)|, largest |dtheta| over |theta(0)| e^t dt */
  Point last;
  rf_index count;
} Lipschitz;

static void see_lipschitz(void *user, const RfLlwaMoment *now) {
  Lipschitz *l = user;
  double length = sqrt(rf_net_norm2(now->theta)),
         speed = sqrt(inner(now->velocity, now->velocity)) * exp(now->log_speed);
  if (now->frozen) return;
  RfNet last = *now->theta;
  last.W = l->last.W, last.a = l->last.a;
  l->speed = fmax(l->speed, speed / length);
  if (l->count == 0) {
    l->first = length;
  } else if (now->t > l->t && now->t < 500) {
    l->growth = fmax(l->growth, length / (l->length * exp(now->t - l->t)));
    l->step = fmax(l->step, rf_llwa_far(now->theta, &last) / (l->first * exp(now->t) * (now->t - l->t)));
  }
  rf_llwa_copy(&last, now->theta, 1);
  l->length = length, l->t = now->t, l->count++;
}

RfStatus rf_llwa_19(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SEP(20,5,0)"};
  double ratio = 0, growth = 0, step = 0;
  rf_index moments = 0;
  for (int s = 0; s < 2; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, specs[s], 0.5, s ? 0 : 1);
    if (status) return status;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 2000); draw++) {
      Point points[2];
      double q[RF_LLWA_ROWS];
      RfRandom random = rf_claim_random(run, (uint64_t)(10000 * s + draw));
      RfNet net = at(&points[0], 1 + draw % 10, &set), gradient = at(&points[1], 1 + draw % 10, &set);
      rf_llwa_gaussian(&net, &random, pow(10, 4 * rf_random_uniform(&random) - 2));
      rf_llwa_gradient(&gradient, q, &net, &set);
      ratio = fmax(ratio, sqrt(rf_net_norm2(&gradient) / rf_net_norm2(&net)));
    }
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 5) && !status; draw++) {
      Point point;
      Lipschitz l = {0};
      RfNet start = at(&point, 6, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(100000 + 100 * s + draw));
      rf_llwa_gaussian(&start, &random, 0.3);
      status = rf_llwa_walk(run, NULL, NULL, &set, &start, RF_UNTIL_TIME, 300, 20, see_lipschitz, &l);
      rf_claim_at_most(run, "|theta(t)| over |theta(s)| e^{t-s}", l.growth, 1, 1e-9);
      rf_claim_at_most(run, "|velocity| over |theta| along runs", l.speed, 1, 1e-9);
      rf_claim_at_most(run, "step over its Lipschitz bound", l.step, 1, 1e-9);
      growth = fmax(growth, l.growth), step = fmax(step, l.step), moments += l.count;
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_at_most(run, "|gradient| over |theta|", ratio, 1, 1e-9);
  rf_claim_note(run,
                "largest ratios to the bounds: %.3f at random points, %.6f and %.3f at %lld moments of runs",
                ratio, growth, step, (long long)moments);
  return RF_OK;
}

/* ---- LLWA-23: App. F.2, the smoothed margin ------------------------------------------------ */

typedef struct Smoothed {
  const RfLlwaSet *set;
  double last, fall;     /* nsmargin at the last moment, largest fall */
  double identity;       /* largest relative error of Lemma F.6 */
  double printed;        /* the same with the printed plus sign */
  double radial;         /* largest radial part over 2(2 ln n + 1)/|theta|^3 */
  double beta, beta_400; /* cosine of theta and velocity at the end, and at smoothed margin 400 */
  double scaled_end,
      apart; /* |theta| |gradient of nsmargin| over nsmargin in the end; against 2 tan(angle) */
  RfClaimDecay scaled,
      turn; /* |theta| |gradient of nsmargin|, and the sine of the angle of theta and velocity */
  rf_index count;
} Smoothed;

/* dL/dt through the outputs: sum_i l'(q_i) dq_i/dt over l'(smargin), all in units of e^log_speed. */
static double smargin_rate(const RfLlwaSet *set, const RfLlwaMoment *now) {
  double rate = 0, at_margin = rf_loss_log_slope(RF_LOSS_LOGISTIC, now->smargin);
  for (rf_index i = 0; i < set->n; i++) {
    const double *x = set->X + i * set->d;
    double change = 0;
    for (rf_index k = 0; k < now->theta->m; k++) {
      int8_t side = now->sides[k * set->n + i];
      double slope = side > 0 ? 1 : set->leak, z = rf_la_dot(now->theta->W + k * set->d, x, set->d);
      change += now->velocity->a[k] * (side ? slope * z : 0);
      if (side) change += now->theta->a[k] * slope * rf_la_dot(now->velocity->W + k * set->d, x, set->d);
    }
    rate += set->y[i] * change * exp(rf_loss_log_slope(RF_LOSS_LOGISTIC, now->q[i]) - at_margin);
  }
  return rate;
}

static void see_smoothed(void *user, const RfLlwaMoment *now) {
  Smoothed *s = user;
  double norm2 = rf_net_norm2(now->theta), norm = sqrt(norm2), v2 = inner(now->velocity, now->velocity);
  double along = inner(now->theta, now->velocity) / norm, across = sqrt(fmax(0, v2 - along * along));
  s->beta = along / sqrt(v2);
  s->scaled_end = 2 * across / along; /* theta and velocity nearly parallel */
  if (now->frozen || !(now->log_loss < log(log(2) / (double)s->set->n))) return;
  if (s->beta_400 == 0 && now->smargin >= 400) s->beta_400 = s->beta;
  double alpha = now->smargin, nsmargin = alpha / norm2;
  /* gradient of smargin = n/|l'(smargin)| times the velocity */
  double factor = exp(log((double)s->set->n) + now->log_speed - rf_loss_log_slope(RF_LOSS_LOGISTIC, alpha));
  double left = smargin_rate(s->set, now) / norm2 - 2 * alpha * along / (norm2 * norm);
  double radial = factor * along / norm2 - 2 * alpha / (norm2 * norm), tangential = factor * across / norm2;
  double wrong = factor * along / norm2 + 2 * alpha / (norm2 * norm);
  double right = radial * along + tangential * across, scale = fabs(smargin_rate(s->set, now)) / norm2;
  s->identity = fmax(s->identity, fabs(left - right) / scale);
  s->printed = fmax(s->printed, fabs(left - wrong * along - tangential * across) / scale);
  s->radial = fmax(s->radial, fabs(radial) * norm2 * norm / (2 * (2 * log((double)s->set->n) + 1)));
  double scaled = norm * hypot(radial, tangential) / nsmargin, tan = across / along;
  s->apart =
      fmax(s->apart, fabs(scaled - 2 * tan) * alpha / (2 * (2 * log((double)s->set->n) + 1) * (1 + tan)));
  if (s->count > 0) s->fall = fmax(s->fall, (s->last - nsmargin) / nsmargin);
  s->last = nsmargin, s->count++;
}

RfStatus rf_llwa_23(RfClaimRun *run) {
  static const struct {
    const char *spec;
    double leak, divide;
  } sets[] = {{"DS-SYM6", 0.5, 1}, {"DS-SEP(10,3,0)", 0.5, 0}, {"DS-PL2", 0, 3}};
  Smoothed worst = {.beta = INFINITY, .beta_400 = INFINITY};
  rf_index below = 0, runs = 0;
  for (int k = 0; k < 3; k++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, sets[k].spec, sets[k].leak, sets[k].divide);
    if (status) return status;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 5) && !status; draw++) {
      Point point;
      RfNet start = at(&point, 6, &set);
      RfRandom random = rf_claim_random(run, (uint64_t)(100 * k + draw));
      Smoothed s = {.set = &set};
      rf_llwa_low_loss(&start, &random, &set);
      status = rf_llwa_walk(run, NULL, NULL, &set, &start, RF_UNTIL_INFINITY, 0, 40, see_smoothed, &s);
      rf_claim_at_most(run, "relative fall of the normalised smoothed margin", s.fall, 0, 1e-9);
      rf_claim_at_most(run, "Lemma F.6, relative error", s.identity, 0, 1e-6);
      rf_claim_at_most(run, "radial part over 2(2 ln n + 1)/|theta|^3", s.radial, 1, 1e-9);
      rf_claim_at_least(run, "cosine of theta and its velocity in the end", s.beta, 0.9999, 0);
      /* it goes to 0 as the angle does; how fast depends on the last saddle that is left: the end says it */
      rf_claim_at_most(run, "|theta| |gradient of the margin| over the margin, in the end", s.scaled_end, 0,
                       0.03);
      rf_claim_at_most(run, "on the way: against 2 tan(angle), over the bound that F.8 leaves", s.apart, 1,
                       1e-9);
      below += s.beta_400 < 0.98, runs++;
      rf_claim_states(run, s.count, 1000);
      worst.identity = fmax(worst.identity, s.identity), worst.printed = fmax(worst.printed, s.printed);
      worst.radial = fmax(worst.radial, s.radial), worst.beta = fmin(worst.beta, s.beta);
      worst.beta_400 = fmin(worst.beta_400, s.beta_400);
    }
    rf_llwa_free(&set);
    if (status) return status;
  }
  rf_claim_misprint(run, "MP-LLWA-12", "relative error of Lemma F.6 with + and with -", worst.printed,
                    worst.identity, 0, worst.printed < 1e-6);
  rf_claim_note(
      run,
      "identity to %.1e, radial bound used to %.4f; cosine of theta and velocity %.8f in the end, at "
      "smoothed margin 400 below 0.98 in %lld of %lld runs (down to %.4f)",
      worst.identity, worst.radial, worst.beta, (long long)below, (long long)runs, worst.beta_400);
  return RF_OK;
}

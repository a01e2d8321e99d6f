/* Flows with a closed form: NB-07 (Kou et al.), NB-08 (Tsoy, Konstantinov), NB-09 (Azulay et al.). */
#include <math.h>
#include <string.h>

#include "kit/setting.h"
#include "la/la.h"
#include "neighbours/neighbours.h"

/* ---- NB-07 ------------------------------------------------------------------------------------------- */

/* Gradient descent on orthogonal samples, second layer a_k = +-1/sqrt m frozen, leaky ReLU, logistic loss.
 * <w_k,x_i> moves with a_k y_i alone, so that after a while a_k y_i <w_k,x_i> > 0 for all k, i, and from then
 * on dq_i/dt = |l'(q_i)| K_i with K_i = |x_i|^2 (1 + leak^2)/2: the margins do not meet, q_i - q_j ->
 * ln(K_i/K_j), while q_i ~ ln(K_i t): their ratios go to 1. W is W(0) plus a matrix of rank 2 that grows like
 * ln t, with rows u (a > 0) and -v (a < 0), u = sum |l'|-weighted y_i s_i x_i: its stable rank tends to that
 * of the KKT point, lam_i = 1/K_i. */
enum { samples = 5, inputs = 12, width = 10 };

typedef struct Descent {
  double X[samples * inputs], y[samples], W[width * inputs], a[width], leak;
} Descent;

static void descent_draw(Descent *g, RfRandom *random) {
  double basis[samples * inputs];
  memset(g, 0, sizeof *g);
  g->leak = 0.2 + 0.6 * rf_random_uniform(random);
  for (int i = 0; i < samples; i++) { /* Gram-Schmidt on Gaussian rows, then lengths between 1 and 2 */
    double *row = basis + i * inputs;
    for (int j = 0; j < inputs; j++) row[j] = rf_random_gaussian(random);
    for (int turn = 0; turn < 2; turn++)
      for (int k = 0; k < i; k++)
        rf_la_axpy(row, -rf_la_dot(row, basis + k * inputs, inputs), basis + k * inputs, inputs);
    rf_la_scale(row, 1 / rf_la_norm(row, inputs), inputs);
    rf_la_axpy(g->X + i * inputs, 1 + rf_random_uniform(random), row, inputs);
    g->y[i] = i < 2 ? 1 - 2 * i : rf_random_sign(random);
  }
  for (int k = 0; k < width; k++) g->a[k] = (k % 2 ? -1 : 1) / sqrt(width);
  for (int p = 0; p < width * inputs; p++) g->W[p] = 0.1 * rf_random_gaussian(random);
}

static void descent_margins(double *q, const Descent *g) {
  for (int i = 0; i < samples; i++) {
    q[i] = 0;
    for (int k = 0; k < width; k++) {
      double t = rf_la_dot(g->W + k * inputs, g->X + i * inputs, inputs);
      q[i] += g->y[i] * g->a[k] * (t > 0 ? t : g->leak * t);
    }
  }
}

/* The rate follows the loss, as in their experiments on late training: each step moves margins by about 0.1.
 */
static void descend(Descent *g, int steps) {
  for (int s = 0; s < steps; s++) {
    double q[samples], slope[samples], most = 0;
    descent_margins(q, g);
    if (fmin(q[0], q[1]) > 200) return; /* late enough, and far from where weights underflow */
    for (int i = 0; i < samples; i++) slope[i] = 1 / (1 + exp(q[i])), most = fmax(most, slope[i]);
    for (int k = 0; k < width; k++) {
      double step[inputs] = {0};
      for (int i = 0; i < samples; i++) {
        double t = rf_la_dot(g->W + k * inputs, g->X + i * inputs, inputs);
        rf_la_axpy(step, slope[i] / most * g->y[i] * g->a[k] * (t > 0 ? 1 : g->leak), g->X + i * inputs,
                   inputs);
      }
      rf_la_axpy(g->W + k * inputs, 0.05, step, inputs);
    }
  }
}

static RfStatus stable_rank(RfClaimRun *run, double *rank, const double *W) {
  double values[inputs], total = 0;
  RfStatus status = rf_la_singular(run->context, values, NULL, W, width, inputs);
  for (int j = 0; j < width; j++) total += values[j] * values[j];
  *rank = total / (values[0] * values[0]);
  return status;
}

RfStatus rf_nb_07(RfClaimRun *run) {
  rf_index draws = rf_claim_repetitions(run, 10);
  double worst = 0, spread = 0;
  RfStatus status = RF_OK;
  for (rf_index draw = 0; draw < draws && !status; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    Descent g;
    double q[samples], K[samples], limit[width * inputs] = {0}, first = NAN, last = NAN, want = NAN;
    descent_draw(&g, &random);
    status = stable_rank(run, &first, g.W);
    descend(&g, 12000);
    descent_margins(q, &g);
    for (int i = 0; i < samples; i++)
      K[i] = rf_la_dot(g.X + i * inputs, g.X + i * inputs, inputs) * (1 + g.leak * g.leak) / 2;
    for (int i = 0; i < samples; i++) {
      for (int j = 0; j < i; j++) {
        rf_claim_close(run, "q_i - q_j of gradient descent against ln(K_i/K_j)", q[i] - q[j],
                       log(K[i] / K[j]), 0.02);
        rf_claim_at_most(run, "their ratio, from 1", fabs(q[i] / q[j] - 1), fabs(log(K[i] / K[j])) / q[j],
                         1e-3);
        worst = fmax(worst, fabs(q[i] - q[j] - log(K[i] / K[j]))),
        spread = fmax(spread, fabs(q[i] / q[j] - 1));
      }
      for (int k = 0; k < width; k++) /* lam_i = 1/K_i, and the pattern: 1 where a y > 0 */
        rf_la_axpy(limit + k * inputs, g.a[k] * g.y[i] * (g.a[k] * g.y[i] > 0 ? 1 : g.leak) / K[i],
                   g.X + i * inputs, inputs);
    }
    if (!status) status = stable_rank(run, &last, g.W);
    if (!status) status = stable_rank(run, &want, limit);
    rf_claim_relative(run, "stable rank of gradient descent against that of the KKT point", last, want, 0.05);
    rf_claim_at_most(run, "it falls from the start and is at most 2", last, fmin(first, 2), 0);
    rf_claim_made(run, "runs", 1);
  }
  rf_claim_require(run, "runs", draws);
  rf_claim_note(
      run, "orthogonal samples; q_i - q_j off ln(K_i/K_j) by at most %.1e, margins apart by %.3f at the end",
      worst, spread);
  return status;
}

/* ---- NB-08 ------------------------------------------------------------------------------------------- */

/* XOR: (1,1), (-1,-1) positive, (1,-1), (-1,1) negative. A neuron along a sample, with its sign, sees that
 * sample alone (two others are orthogonal, one is opposite), so that four such neurons are four problems:
 * with q = sqrt 2 |w||a| = sqrt 2 e^{2r} and the summed logistic loss dq/dt = 2 sqrt 2 q/(1+e^q), hence t(q)
 * - t(q0) = [2 ln(q/q0) + sum_k (q^k - q0^k)/(k k!)]/(2 sqrt 2). From sizes e^-20, e^-40, ... the loss stays
 * near 4 ln 2, 3 ln 2, ... and falls by ln 2 at these times: from saddle to saddle, one neuron more each
 * time. */
static double xor_time(double log_q0, double q) {
  double sum = 0, term = 1;
  for (int k = 1; k < 60; k++) term *= q / k, sum += term / k;
  return (2 * (log(q) - log_q0) + sum) / (2 * sqrt(2));
}

typedef struct Stairs {
  double passed[4], t, q[4]; /* when q_i passes 1; the state before */
  double plateau; /* largest distance of the loss from the nearest multiple of ln 2 between two steps */
  double when[4]; /* predicted */
  rf_index states;
} Stairs;

static void climb(void *observer, const RfFlowMoment *moment) {
  Stairs *s = observer;
  double t = exp(moment->log_t);
  if (moment->scale_frozen) return;
  for (int i = 0; i < 4; i++) {
    if (isnan(s->passed[i]) && moment->q[i] >= 1) { /* ln q is nearly linear in t */
      double share = -log(s->q[i]) / (log(moment->q[i]) - log(s->q[i]));
      s->passed[i] = s->t + share * (t - s->t);
    }
    s->q[i] = moment->q[i];
  }
  for (int k = 0; k < 3; k++) /* well between two steps; those taken have left less than 0.1 of the loss */
    if (t > s->when[k] + 12 && t < s->when[k + 1] - 12) {
      s->plateau = fmax(s->plateau, fabs(exp(moment->log_loss) / log(2) - (3 - k)));
      s->states++;
    }
  s->t = t;
}

RfStatus rf_nb_08(RfClaimRun *run) {
  const double X[] = {1, 1, 1, -1, -1, -1, -1, 1}, y[] = {1, -1, 1, -1};
  RfStatus status = RF_OK;
  double worst = 0, plateau = 0;
  rf_index draws = rf_claim_repetitions(run, 10);
  for (rf_index draw = 0; draw < draws && !status; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    double W[8], a[4], size[4];
    Stairs stairs = {.passed = {NAN, NAN, NAN, NAN}};
    RfFlowStart start = {0};
    RfFlowResult flow = {0};
    RfFlowSettings settings;
    rf_flow_settings_init(&settings);
    for (int i = 0; i < 4; i++) { /* sizes e^-20 ... e^-80 but for 2, in an order that is drawn */
      size[i] = -20 * (i + 1) - 2 * rf_random_uniform(&random);
      stairs.when[i] = xor_time(log(sqrt(2)) + 2 * size[i], 1);
    }
    rf_index shift = rf_random_below(&random, 4);
    for (int k = 0; k < 4; k++) { /* neuron of sample i; eps = e^-20 is taken out */
      rf_index i = (k + shift) % 4;
      double length = exp(size[k] + 20) / sqrt(2);
      W[2 * i] = length * X[2 * i], W[2 * i + 1] = length * X[2 * i + 1], a[i] = y[i] * exp(size[k] + 20);
    }
    RfNet net = {.m = 4, .d = 2, .W = W, .a = a};
    status = rf_flow_start_from_net(run->context, &start, &net);
    RfFlowProblem problem = {.X = X, .y = y, .n = 4, .d = 2, .start = &start, .log_scale = -20};
    settings.with_alignment = settings.check_direction = false, settings.branches = RF_BRANCHES_FOLLOW;
    settings.observe = climb, settings.observer = &stairs, settings.observe_inside = 12;
    if (!status) status = rf_claim_run_flow(run, &flow, &problem, &settings);
    for (int k = 0; k < 4 && !status; k++) {
      rf_index i = (k + shift) % 4;
      rf_claim_relative(run, "when q of a sample passes 1 against the closed form", stairs.passed[i],
                        stairs.when[k], 1e-4);
      worst = fmax(worst, fabs(stairs.passed[i] / stairs.when[k] - 1));
    }
    if (!status) {
      rf_claim_at_most(run, "between two steps: loss over ln 2 from a whole number", stairs.plateau, 0, 0.1);
      rf_claim_relative(run, "margin of the limit: 1/(4 sqrt 2), one neuron a sample", flow.limit.margin,
                        1 / (4 * sqrt(2)), 1e-8);
      rf_claim_made(run, "states between steps", stairs.states);
      plateau = fmax(plateau, stairs.plateau);
    }
    rf_flow_result_free(&flow);
    rf_flow_start_free(&start);
  }
  rf_claim_require(run, "states between steps", 20 * draws);
  rf_claim_note(run, "times to %.1e; plateaus to %.3f of ln 2", worst, plateau);
  return status;
}

/* ---- NB-09 ------------------------------------------------------------------------------------------- */

/* Regression with w = u o v, du/dt = v o g, dv/dt = u o g, g = X^T (y - Xw): u^2 - v^2 = delta is constant
 * and dw/dt = (u^2 + v^2) o g with u^2 + v^2 = sqrt(delta^2 + 4 w^2). So psi = asinh(2w/|delta|)/2 moves by
 * X^T: the limit solves Xw = y with psi(w) - psi(w0) in the range of X^T, the only minimiser of the strictly
 * convex Q (minus its tangent at w0) on that plane. Unbalanced starts give small curvature asinh; |delta|
 * large is the Euclidean one. */
enum { unknowns = 5, equations = 2 };

typedef struct Shape {
  double X[equations * unknowns], y[equations], u[unknowns], v[unknowns];
} Shape;

static void shape_field(const Shape *s, const double *z, double *out) {
  double g[unknowns] = {0}, w[unknowns];
  for (int j = 0; j < unknowns; j++) w[j] = z[j] * z[unknowns + j];
  for (int i = 0; i < equations; i++) {
    const double *x = s->X + i * unknowns;
    rf_la_axpy(g, s->y[i] - rf_la_dot(x, w, unknowns), x, unknowns);
  }
  for (int j = 0; j < unknowns; j++) out[j] = z[unknowns + j] * g[j], out[unknowns + j] = z[j] * g[j];
}

/* Classical Runge-Kutta until the residual is gone. */
static double shape_flow(const Shape *s, double *z) {
  const double h = 2e-3;
  double rest = INFINITY;
  for (int t = 0; t < 500000 && rest > 1e-11; t++) {
    double k[4][2 * unknowns], at[2 * unknowns];
    for (int stage = 0; stage < 4; stage++) {
      const double back[] = {0, 0.5, 0.5, 1};
      for (int p = 0; p < 2 * unknowns; p++) at[p] = z[p] + (stage ? h * back[stage] * k[stage - 1][p] : 0);
      shape_field(s, at, k[stage]);
    }
    for (int p = 0; p < 2 * unknowns; p++) z[p] += h / 6 * (k[0][p] + 2 * k[1][p] + 2 * k[2][p] + k[3][p]);
    rest = 0;
    for (int i = 0; i < equations; i++) {
      double r = s->y[i];
      for (int j = 0; j < unknowns; j++) r -= s->X[i * unknowns + j] * z[j] * z[unknowns + j];
      rest = fmax(rest, fabs(r));
    }
  }
  return rest;
}

/* Newton's method on nu: X w(nu) = y, w(nu) = |delta| sinh(2 (psi0 + X^T nu))/2. */
static double shape_optimum(const Shape *s, double *w) {
  double nu[equations] = {0}, delta[unknowns], psi0[unknowns], miss = INFINITY;
  for (int j = 0; j < unknowns; j++) {
    delta[j] = fabs(s->u[j] * s->u[j] - s->v[j] * s->v[j]);
    psi0[j] = asinh(2 * s->u[j] * s->v[j] / delta[j]) / 2;
  }
  for (int step = 0; step < 200 && miss > 1e-13; step++) {
    double F[2], J[2][2] = {{0, 0}, {0, 0}};
    for (int i = 0; i < 2; i++) F[i] = -s->y[i];
    for (int j = 0; j < unknowns; j++) {
      double psi = psi0[j] + s->X[j] * nu[0] + s->X[unknowns + j] * nu[1], slope = delta[j] * cosh(2 * psi);
      w[j] = delta[j] * sinh(2 * psi) / 2;
      for (int i = 0; i < 2; i++) {
        F[i] += s->X[i * unknowns + j] * w[j];
        for (int k = 0; k < 2; k++) J[i][k] += slope * s->X[i * unknowns + j] * s->X[k * unknowns + j];
      }
    }
    double det = J[0][0] * J[1][1] - J[0][1] * J[1][0], damp = 1;
    double d0 = (F[0] * J[1][1] - F[1] * J[0][1]) / det, d1 = (J[0][0] * F[1] - J[1][0] * F[0]) / det;
    miss = fmax(fabs(F[0]), fabs(F[1]));
    damp = fmin(1, 0.5 / fmax(fabs(d0), fabs(d1))); /* sinh: no long steps */
    nu[0] -= damp * d0, nu[1] -= damp * d1;
  }
  return miss;
}

RfStatus rf_nb_09(RfClaimRun *run) {
  rf_index draws = rf_claim_repetitions(run, 20);
  double worst = 0;
  for (rf_index draw = 0; draw < draws; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)draw);
    Shape s;
    double z[2 * unknowns], w[unknowns], drift = 0;
    for (int p = 0; p < equations * unknowns; p++) s.X[p] = rf_random_gaussian(&random);
    for (int i = 0; i < equations; i++) s.y[i] = rf_random_gaussian(&random);
    for (int j = 0; j < unknowns; j++) { /* unbalanced: |u| and |v| at least a tenth apart */
      s.u[j] = 0.3 * rf_random_gaussian(&random);
      s.v[j] = rf_random_sign(&random) * (fabs(s.u[j]) + 0.1 + rf_random_uniform(&random));
      z[j] = s.u[j], z[unknowns + j] = s.v[j];
    }
    if (!(shape_flow(&s, z) <= 1e-10) || !(shape_optimum(&s, w) <= 1e-10)) {
      rf_claim_dropped(run, "runs", 1);
      continue;
    }
    for (int j = 0; j < unknowns; j++) {
      double before = s.u[j] * s.u[j] - s.v[j] * s.v[j],
             after = z[j] * z[j] - z[unknowns + j] * z[unknowns + j];
      drift = fmax(drift, fabs(after - before) / (1 + fabs(before)));
      rf_claim_close(run, "limit of the flow against the minimiser of Q", z[j] * z[unknowns + j], w[j],
                     1e-6 * (1 + fabs(w[j])));
      worst = fmax(worst, fabs(z[j] * z[unknowns + j] - w[j]));
    }
    rf_claim_at_most(run, "drift of u^2 - v^2", drift, 0, 1e-7);
    rf_claim_made(run, "runs", 1);
  }
  rf_claim_require(run, "runs", draws * 4 / 5);
  rf_claim_note(run, "w = u o v on 2 equations for 5 unknowns; largest difference %.1e", worst);
  return RF_OK;
}

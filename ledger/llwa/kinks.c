/* Lyu, Li, Wang, Arora: LLWA-39 (App. I.2, Figure 3, recipe E-LL-5), when a gradient flow on a kink has
 * several continuations: on a ridge, not in a valley, not where it is refracted, and not on orthogonally
 * separable data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/grid.h"
#include "llwa/llwa.h"
#include "la/la.h"

/* ---- (i) L = -|<theta,w>| from 0 ----------------------------------------------------------- */

/* Distance of v from the negated Clarke subdifferential of -|<theta,w>|: +-w beside 0, the segment [-w,w] at
 * 0. */
static double ridge_inclusion(const double *v, const double *theta, const double *w, rf_index d) {
  double along = rf_la_dot(theta, w, d), size2 = rf_la_dot(w, w, d), away = 0;
  double s = along != 0 ? (along > 0 ? 1 : -1) : fmax(-1, fmin(1, rf_la_dot(v, w, d) / size2));
  for (rf_index j = 0; j < d; j++) away = hypot(away, v[j] - s * w[j]);
  return away;
}

/* Staying at 0 until ts, then +-(t-ts) w: the largest violation along the way. */
static double late_departure(const double *w, rf_index d, double ts, double sign) {
  double worst = 0, theta[RF_LLWA_D], v[RF_LLWA_D];
  for (int k = 0; k <= 200; k++) {
    double t = 0.01 * k;
    for (rf_index j = 0; j < d; j++)
      theta[j] = t <= ts ? 0 : sign * (t - ts) * w[j], v[j] = t < ts ? 0 : sign * w[j];
    worst = fmax(worst, ridge_inclusion(v, theta, w, d));
  }
  return worst;
}

/* ---- (iii) three kinks in the plane -------------------------------------------------------- */

/* L = left or right slope times x, minus tilt y: dx/dt = left for x < 0 and right for x > 0, dy/dt = tilt. */
typedef struct Kink {
  const char *name, *formula;
  double left, right;
} Kink;

static const Kink kinks[] = {
    {"ridge", "L = -|x| - y/2", -1, 1},
    {"valley", "L = |x| - y/2", 1, -1},
    {"refraction", "L = -x - |x|/2 - y/2", 0.5, 1.5},
};
static const double tilt = 0.5;

static double kink_value(const Kink *kink, double x, double y) {
  return -(x < 0 ? kink->left : kink->right) * x - tilt * y;
}

/* The velocity at x; on the kink the least-norm element where it keeps x there, else the one that leads on.
 */
static double kink_speed(const Kink *kink, double x) {
  if (x != 0) return x < 0 ? kink->left : kink->right;
  if (kink->left > 0 && kink->right < 0) return 0;
  return kink->left > 0 ? kink->right : kink->left;
}

/* x(t) exactly. */
static double kink_flow(const Kink *kink, double x, double t) {
  double v = kink_speed(kink, x);
  if (x == 0 || x * v >= 0 || t <= -x / v) return x + t * v;
  return kink_flow(kink, 0, t + x / v);
}

/* How far the step from x(t) to x(t+h), over h, is from the hull of the slopes of -L that are met on it: the
 * slopes by differences of L, the step by the flow. */
static double kink_inclusion(const Kink *kink, double x0, double t) {
  const double h = 1e-6, near = 1e-7;
  double from = kink_flow(kink, x0, t), to = kink_flow(kink, x0, t + h), v = (to - from) / h;
  double low = INFINITY, high = -INFINITY;
  for (int end = 0; end < 2; end++)
    for (int side = -1; side <= 1; side += 2) {
      double x = end ? to : from, slope = -(kink_value(kink, x + side * near, 0) - kink_value(kink, x, 0));
      low = fmin(low, slope / (side * near)), high = fmax(high, slope / (side * near));
    }
  return fmax(0, fmax(low - v, v - high));
}

/* ---- the picture --------------------------------------------------------------------------- */

enum { cells = 80, points = 201 };

static void kink_panel(RfSvg *svg, RfText *series, int place) {
  const Kink *kink = &kinks[place];
  const double starts[3][2] = {{-1e-9, 1e-9}, {-0.9, 0.7}, {-0.9, -0.5}};
  double values[cells * cells], x[points], y[points], largest;
  RfPlot plot = {.svg = svg, .left = 70 + 360 * place, .top = 90, .width = 280, .height = 280};
  plot.x = (RfAxis){.low = -1, .high = 1, .label = "x"},
  plot.y = (RfAxis){.low = -1, .high = 1, .label = "y"};
  for (int k = 0; k < cells * cells; k++) {
    int column = k % cells, row = k / cells;
    values[k] = kink_value(kink, -1 + 2.0 * column / (cells - 1), 1 - 2.0 * row / (cells - 1));
  }
  largest = rf_la_max_abs(values, cells * cells);
  rf_plot_axes(&plot);
  for (int level = -9; level <= 9; level++)
    rf_claim_level(&plot, values, cells, cells, level * largest / 10 + 1e-9,
                   (RfPen){.colour = RF_COLOUR_SKY, .width = 1.2});
  const double edge[2][2] = {{0, 0}, {-1, 1}};
  rf_plot_line(&plot, edge[0], edge[1], 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2, .dashed = true});
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < points; k++) {
      double t = 3.2 * k / (points - 1);
      x[k] = kink_flow(kink, starts[place][s], t), y[k] = -0.9 + tilt * t;
      if (k == 0 && place == 0) x[k] = 0;
      rf_text_addf(series, "%s,%d,%.17g,%.17g,%.17g\n", kink->name, s, t, x[k], y[k]);
    }
    rf_plot_line(&plot, x, y, points,
                 (RfPen){.colour = s ? RF_COLOUR_VERMILION : RF_COLOUR_PURPLE, .width = 2.5});
    rf_svg_mark(svg, rf_plot_x(&plot, x[0]), rf_plot_y(&plot, y[0]), 4, RF_MARK_DISC,
                s ? RF_COLOUR_VERMILION : RF_COLOUR_PURPLE);
  }
  char title[80];
  rf_format(title, sizeof title, "%s: %s", kink->name, kink->formula);
  rf_svg_label(svg, plot.left + 140, plot.top - 10, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, title);
}

static RfStatus draw_kinks(RfClaimRun *run) {
  if (!rf_claim_draws(run)) return RF_OK;
  RfSvg svg = {0};
  RfText series = {0};
  rf_svg_begin(&svg, 1130, 450, "LLWA Figure 3",
               "level sets and gradient flows at a ridge, a valley and a refraction");
  rf_svg_label(&svg, 70, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK,
               "LLWA Figure 3: gradient flow at kinks; two continuations on the ridge only");
  const RfLegendEntry legend[] = {
      {"level sets", RF_COLOUR_SKY, -1},
      {"kink", RF_COLOUR_INK, -2},
      {"flow from the left (ridge: x = -1e-9)", RF_COLOUR_PURPLE, -1},
      {"flow from the right (ridge: x = +1e-9; refraction: nearer)", RF_COLOUR_VERMILION, -1}};
  rf_svg_legend(&svg, 70, 44, 1040, legend, 4);
  rf_text_add(&series, "kink,start,t,x,y\n");
  for (int k = 0; k < 3; k++) kink_panel(&svg, &series, k);
  rf_svg_end(&svg);
  RfStatus status = rf_claim_text(run, "E-LL-5.csv", rf_text_string(&series));
  rf_text_free(&series);
  if (!status) return rf_claim_picture(run, &svg, "E-LL-5.svg");
  rf_svg_free(&svg);
  return status;
}

/* ---- (ii) orthogonally separable data: inputs move one way --------------------------------- */

typedef struct Monotone {
  const RfLlwaSet *set;
  double input[RF_LLWA_WIDTH * RF_LLWA_ROWS],
      back; /* inputs at the last moment; largest step against a_k y_i */
  rf_index count;
} Monotone;

static void see_inputs(void *user, const RfLlwaMoment *now) {
  Monotone *m = user;
  for (rf_index k = 0; k < now->theta->m; k++)
    for (rf_index i = 0; i < m->set->n; i++) {
      double z = rf_la_dot(now->theta->W + k * m->set->d, m->set->X + i * m->set->d, m->set->d);
      double *last = &m->input[k * m->set->n + i], way = now->theta->a[k] * m->set->y[i] > 0 ? 1 : -1;
      if (m->count > 0)
        m->back = fmax(m->back, way * (*last - z) / rf_la_norm(now->theta->W + k * m->set->d, m->set->d));
      *last = z;
    }
  m->count++;
}

/* Balanced neurons, every one on the hyperplane of some sample. */
static void kink_start(RfNet *net, RfRandom *random, const RfLlwaSet *set) {
  rf_llwa_gaussian(net, random, 0.3);
  for (rf_index k = 0; k < net->m; k++) {
    const double *x = set->X + rf_random_below(random, set->n) * set->d;
    double *w = net->W + k * set->d;
    rf_la_axpy(w, -rf_la_dot(w, x, set->d) / rf_la_dot(x, x, set->d), x, set->d);
    net->a[k] = (k % 2 ? -1 : 1) * rf_la_norm(w, set->d);
  }
}

static RfStatus judge_monotone(RfClaimRun *run, rf_index draw, double *back, double *apart) {
  enum { m = 4 };
  double W[3][m * RF_LLWA_D], a[3][m];
  RfLlwaSet set;
  RfStatus status = rf_llwa_load(run, &set, "DS-PL2", 0.2, 3);
  if (status) return status;
  RfNet start = {.m = m, .d = set.d, .W = W[0], .a = a[0], .leak = set.leak}, end = start, other = start;
  end.W = W[1], end.a = a[1], other.W = W[2], other.a = a[2];
  RfRandom random = rf_claim_random(run, (uint64_t)draw);
  Monotone monotone = {.set = &set};
  kink_start(&start, &random, &set);
  status = rf_llwa_walk(run, NULL, NULL, &set, &start, RF_UNTIL_TIME, 50, 40, see_inputs, &monotone);
  rf_claim_at_most(run, "step of <w_k,x_i>/|w_k| against the sign of a_k y_i", monotone.back, 0, 1e-9);
  rf_claim_states(run, monotone.count, 100);
  *back = fmax(*back, monotone.back);
  if (!status) status = rf_llwa_at(run, &end, &set, &start, 0, 50);
  for (int side = 0; side < 2 && !status;
       side++) { /* balanced again after a push of 1e-12 off the hyperplanes */
    double moved[m * RF_LLWA_D], b[m];
    RfNet near = start;
    near.W = moved, near.a = b;
    rf_llwa_copy(&near, &start, 1);
    for (rf_index k = 0; k < m; k++) {
      for (rf_index j = 0; j < set.d; j++)
        moved[k * set.d + j] +=
            (side ? 1 : -1) * 1e-12 / sqrt(m * (double)set.d) * rf_random_gaussian(&random);
      b[k] = (start.a[k] < 0 ? -1 : 1) * rf_la_norm(moved + k * set.d, set.d);
    }
    status = rf_llwa_at(run, &other, &set, &near, 0, 50);
    double distance = status ? NAN : rf_llwa_far(&end, &other);
    rf_claim_at_most(run, "distance at t = 50 after a push of 1e-12", distance, 0, 1e-9);
    *apart = fmax(*apart, distance);
  }
  rf_llwa_free(&set);
  return status;
}

/* ---- (iv) unbalanced starts can branch ----------------------------------------------------- */

static void see_nothing(void *user, const RfLlwaMoment *now) {
  (void)user;
  (void)now;
}

/* A neuron slides in a valley on the hyperplane of a sample and its mirror image while its a passes 0: then
 * the valley is a ridge, with the neuron on it. Neighbours of such a start do the same, so it happens on an
 * open set. */
static RfStatus judge_turned(RfClaimRun *run, rf_index draws, double *largest) {
  enum { m = 6 };
  static const double first[] = {1.24,  0.91,   -1.93, -1.10,  -4.30, 0.26,
                                 0.765, -0.329, -1.68, -0.576, -1.14, 1.98};
  static const double second[] = {-0.150, -0.868, -1.373, -0.390, -0.981, -1.045};
  double W[2][m * 2], a[2][m];
  RfLlwaSet set;
  RfStatus status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
  if (status) return status;
  RfNet start = {.m = m, .d = 2, .W = W[0], .a = a[0], .leak = set.leak}, there = start;
  there.W = W[1], there.a = a[1];
  for (rf_index draw = 0; draw < draws && !status; draw++) {
    RfRandom random = rf_claim_random(run, (uint64_t)(5000 + draw));
    RfFlowResult flow;
    double outer = INFINITY;
    for (int p = 0; p < 2 * m; p++) W[0][p] = first[p] * (1 + 1e-3 * rf_random_gaussian(&random));
    for (int k = 0; k < m; k++) a[0][k] = second[k] * (1 + 1e-3 * rf_random_gaussian(&random));
    status = rf_llwa_walk(run, &flow, NULL, &set, &start, RF_UNTIL_TIME, 400, 0, see_nothing, NULL);
    for (rf_index e = 0; e < flow.n_events && !status; e++) {
      if (flow.events[e].kind != RF_EVENT_BRANCH) continue;
      status = rf_llwa_at(run, &there, &set, &start, 0, exp(flow.events[e].log_t));
      rf_index k = flow.events[e].neuron;
      outer = fmin(outer, fabs(there.a[k]) / rf_la_norm(there.W + 2 * k, 2));
    }
    rf_claim_at_most(run, "(iv) |a_k|/|w_k| where a neuron on a hyperplane branches", outer, 0, 1e-6);
    *largest = fmax(*largest, outer);
    rf_flow_result_free(&flow);
  }
  rf_llwa_free(&set);
  return status;
}

RfStatus rf_llwa_39(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 1000);
  double inclusion = 0, back = 0, apart = 0, turned = 0, w[3], spread[3];
  rf_random_direction(&random, w, 3);
  for (int k = 0; k < 10; k++)
    for (double sign = -1; sign <= 1; sign += 2)
      inclusion = fmax(inclusion, late_departure(w, 3, 0.2 * k, sign));
  rf_claim_at_most(run, "(i) inclusion of the paths that leave at ts", inclusion, 0, 1e-12);
  const double wrong[] = {2 * w[0], 2 * w[1], 2 * w[2]}, zero[] = {0, 0, 0};
  rf_claim_at_least(run, "(i) a faster path is no solution", ridge_inclusion(wrong, zero, w, 3), 0.5, 0);
  RfStatus status = RF_OK;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 20) && !status; draw++)
    status = judge_monotone(run, draw, &back, &apart);
  if (!status) status = judge_turned(run, rf_claim_repetitions(run, 20), &turned);
  for (int k = 0; k < 3; k++) {
    double worst = 0;
    for (int step = 0; step <= 100; step++)
      for (double x0 = -1; x0 <= 1; x0 += 0.25) {
        worst = fmax(worst, kink_inclusion(&kinks[k], x0, 0.03 * step));
      }
    rf_claim_at_most(run, "(iii) inclusion of the flows, by differences", worst, 0, 1e-6);
    spread[k] = fabs(kink_flow(&kinks[k], 1e-9, 1) - kink_flow(&kinks[k], -1e-9, 1));
    if (k == 0)
      rf_claim_at_least(run, "(iii) ridge: starts 2e-9 apart end far apart", spread[k], 1, 0);
    else
      rf_claim_at_most(run, "(iii) valley and refraction: they stay together", spread[k], 0, 1e-8);
  }
  rf_claim_note(
      run,
      "steps backwards at most %.1e, pushed starts %.1e apart at t = 50; starts 2e-9 apart end %.1g, %.1e "
      "and "
      "%.1e apart on ridge, valley, refraction; an open set of unbalanced starts branches, where a sliding "
      "neuron has a = 0 (to %.1e)",
      back, apart, spread[0], spread[1], spread[2], turned);
  return status ? status : draw_kinks(run);
}

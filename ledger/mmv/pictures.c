/* Min, Mallada, Vidal: the drawings of the paper in the plane, with computed arrows. MMV-33: Figures 1 to 4
 * (E-MM-1) and 18 to 21 (E-MM-8). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "kit/data.h"
#include "mmv/mmv.h"
#include "flow/flow.h"
#include "la/la.h"
#include "kit/samples.h"

static const double pi = 3.14159265358979323846;

/* A frame of the plane with equal scales on both axes. */
typedef struct Frame {
  RfSvg *svg;
  double x, y, scale; /* pixels of the origin, pixels per unit */
} Frame;

static double at_x(const Frame *frame, double x) { return frame->x + frame->scale * x; }
static double at_y(const Frame *frame, double y) { return frame->y - frame->scale * y; }

static void arrow(const Frame *f, const double *from, const double *step, RfColour colour) {
  rf_svg_arrow(f->svg, at_x(f, from[0]), at_y(f, from[1]), at_x(f, from[0] + step[0]),
               at_y(f, from[1] + step[1]), (RfPen){.colour = colour, .width = 2});
}

static void label(const Frame *f, const double *at, double dx, double dy, const char *text) {
  rf_svg_label(f->svg, at_x(f, at[0]) + dx, at_y(f, at[1]) + dy, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, text);
}

/* The line orthogonal to x. */
static void hyperplane(const Frame *f, const double *x, double reach) {
  double size = rf_la_norm(x, 2), e[] = {-x[1] / size * reach, x[0] / size * reach};
  rf_svg_line(f->svg, at_x(f, -e[0]), at_y(f, -e[1]), at_x(f, e[0]), at_y(f, e[1]),
              (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.5, .dashed = true});
}

static void sample(const Frame *f, const double *x, double y, const char *name) {
  rf_svg_mark(f->svg, at_x(f, x[0]), at_y(f, x[1]), 6, y > 0 ? RF_MARK_DISC : RF_MARK_SQUARE,
              y > 0 ? RF_COLOUR_VERMILION : RF_COLOUR_BLUE);
  label(f, x, 16, -4, name);
}

/* ---- Figure 1: the velocity of a direction ------------------------------------------------- */

static const double fig1_X[] = {0.9, 0.5, 0.35, -0.75, -0.95, -0.2}, fig1_y[] = {1, -1, -1};

static RfStatus figure_1(RfClaimRun *run, const Frame *f) {
  double w[] = {sqrt(0.5) * cos(0.35 - pi / 4), sqrt(0.5) * sin(0.35 - pi / 4), sqrt(0.5)}, unit[2], sum[2],
         push[2];
  RfAlignField field = {.X = fig1_X, .c = fig1_y, .n = 3, .d = 2};
  RfAlignNeuron neuron;
  const double h = 1e-6;
  for (int j = 0; j < 2; j++) unit[j] = w[j] * sqrt(2), sum[j] = fig1_X[j] - fig1_X[2 + j];
  RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, w, 0, NULL, h);
  if (status) return status;
  rf_claim_true(run, "x1, x2 active, x3 not",
                rf_la_dot(w, fig1_X, 2) > 0 && rf_la_dot(w, fig1_X + 2, 2) > 0 &&
                    rf_la_dot(w, fig1_X + 4, 2) < 0);
  double along = rf_la_dot(sum, unit, 2);
  for (int j = 0; j < 2; j++) {
    push[j] = sum[j] - along * unit[j];
    double moved = neuron.direction[j] / rf_la_norm(neuron.direction, 2);
    rf_claim_close(run, "velocity of w/|w| is Proj(w) x_a", (moved - unit[j]) / h, push[j], 1e-5);
  }
  rf_align_neuron_free(&neuron);
  if (!f) return RF_OK;
  double turn = atan2(unit[1], unit[0]);
  rf_svg_sector(f->svg, f->x, f->y, f->scale * 1.25, turn - pi / 2, turn + pi / 2, RF_COLOUR_FAINT, 0.25);
  rf_svg_circle(f->svg, f->x, f->y, f->scale, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.5});
  const double origin[] = {0, 0};
  arrow(f, origin, unit, RF_COLOUR_INK), label(f, unit, 18, 4, "w");
  arrow(f, origin, sum, RF_COLOUR_GREEN), label(f, sum, 62, 4, "x_a = x1 - x2");
  push[0] *= 0.5, push[1] *= 0.5;
  arrow(f, unit, push, RF_COLOUR_PURPLE);
  const char *names[] = {"x1", "x2", "x3"};
  for (int i = 0; i < 3; i++) sample(f, fig1_X + 2 * i, fig1_y[i], names[i]);
  return RF_OK;
}

/* ---- Figure 2: three fates of a positive neuron -------------------------------------------- */

static const double fig2_X[] = {1, -0.3, 0.9, -0.15, -1, -0.2, -0.8, -0.35}, fig2_y[] = {1, 1, -1, -1};

/* One neuron from an angle inside S- on its way; drawn as a curve at growing radius. */
static RfStatus fate(RfClaimRun *run, const Frame *f, double angle, RfDestiny want, RfColour colour) {
  enum { points = 160 };
  double v[] = {sqrt(0.5) * cos(angle), sqrt(0.5) * sin(angle), sqrt(0.5)}, x[points], y[points];
  RfAlignField field = {.X = fig2_X, .c = fig2_y, .n = 4, .d = 2};
  RfAlignNeuron neuron;
  RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, INFINITY);
  if (status) return status;
  bool inside = rf_la_dot(v, fig2_X + 4, 2) > 0 && rf_la_dot(v, fig2_X + 6, 2) > 0 &&
                rf_la_dot(v, fig2_X, 2) <= 0 && rf_la_dot(v, fig2_X + 2, 2) <= 0;
  rf_claim_true(run, "the neuron starts in S-", inside);
  rf_claim_close(run, "and ends in S+ or dead, by its start", neuron.destiny, want, 0);
  double until = 1.6 * neuron.t_last;
  rf_align_neuron_free(&neuron);
  for (int p = 0; p < points && f; p++) {
    status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, until * p / points);
    if (status) return status;
    double size = rf_la_norm(neuron.direction, 2), radius = (0.75 + 0.35 * p / points) / size;
    x[p] = at_x(f, radius * neuron.direction[0]), y[p] = at_y(f, radius * neuron.direction[1]);
    rf_align_neuron_free(&neuron);
  }
  if (!f) return RF_OK;
  rf_svg_polyline(f->svg, x, y, points, (RfPen){.colour = colour, .width = 2.5});
  rf_svg_mark(f->svg, x[0], y[0], 5, RF_MARK_CIRCLE, colour);
  rf_svg_mark(f->svg, x[points - 1], y[points - 1], 6, RF_MARK_TRIANGLE, colour);
  return RF_OK;
}

/* The angles of a cone, found by walking round the circle; *from < *to. */
static void cone_angles(const RfDataset *data, int side, double *from, double *to) {
  enum { steps = 7200 };
  *from = INFINITY, *to = -INFINITY;
  for (int k = 0; k < steps; k++) {
    double angle = 2 * pi * k / steps - (side > 0 ? pi : 0), w[] = {cos(angle), sin(angle)};
    if (rf_claim_in_cone(w, data, side)) *from = fmin(*from, angle), *to = fmax(*to, angle);
  }
}

static RfStatus figure_2(RfClaimRun *run, const Frame *f) {
  RfDataset data = {.n = 4, .d = 2};
  double X[8], y[4];
  memcpy(X, fig2_X, sizeof X), memcpy(y, fig2_y, sizeof y);
  data.X = X, data.y = y;
  if (f) {
    const int sides[] = {1, -1, 0};
    const RfColour fills[] = {RF_COLOUR_VERMILION, RF_COLOUR_BLUE, RF_COLOUR_INK};
    const char *names[] = {"S+", "S-", "dead"};
    for (int k = 0; k < 3; k++) {
      double from, to;
      cone_angles(&data, sides[k], &from, &to);
      rf_svg_sector(f->svg, f->x, f->y, f->scale * 1.2, from, to, fills[k], 0.14);
      double middle[] = {0.45 * cos((from + to) / 2), 0.45 * sin((from + to) / 2)};
      label(f, middle, 0, 4, names[k]);
    }
    for (int i = 0; i < 4; i++) sample(f, fig2_X + 2 * i, fig2_y[i], "");
  }
  RfStatus status = fate(run, f, pi + 0.1, RF_DESTINY_DEAD, RF_COLOUR_INK);
  if (!status) status = fate(run, f, pi + 0.75, RF_DESTINY_S_PLUS, RF_COLOUR_GREEN);
  return status;
}

/* ---- Figure 3: the push at a hyperplane ---------------------------------------------------- */

static RfStatus figure_3(RfClaimRun *run, const Frame *f) {
  for (int i = 0; i < 4; i++) { /* both points of every hyperplane, any activation of the sample itself */
    const double *x = fig2_X + 2 * i;
    for (int sign = -1; sign <= 1; sign += 2) {
      double w[] = {-sign * x[1], sign * x[0]}, sum[2] = {0, 0};
      for (int k = 0; k < 4; k++)
        if (k != i && rf_la_dot(w, fig2_X + 2 * k, 2) > 0) rf_la_axpy(sum, fig2_y[k], fig2_X + 2 * k, 2);
      if (rf_la_norm(sum, 2) == 0) continue; /* dead there */
      rf_claim_true(run, "at a hyperplane <y_i x_i, x_a> > 0", fig2_y[i] * rf_la_dot(x, sum, 2) > 0);
      if (!f || i != 0 || sign != -1) continue;
      double unit[] = {w[0] / rf_la_norm(w, 2), w[1] / rf_la_norm(w, 2)}, along = rf_la_dot(sum, unit, 2),
             push[2];
      for (int j = 0; j < 2; j++) push[j] = 0.45 * (sum[j] - along * unit[j]);
      rf_svg_circle(f->svg, f->x, f->y, f->scale, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.5});
      hyperplane(f, x, 1.25);
      const double origin[] = {0, 0};
      arrow(f, origin, unit, RF_COLOUR_INK), label(f, unit, -14, 10, "w");
      double shown[] = {0.55 * sum[0], 0.55 * sum[1]};
      arrow(f, origin, shown, RF_COLOUR_GREEN), label(f, shown, 10, -8, "x_a");
      arrow(f, unit, push, RF_COLOUR_PURPLE);
      sample(f, x, 1, "x_i");
    }
  }
  return RF_OK;
}

/* ---- Figure 4: activation over time -------------------------------------------------------- */

static RfStatus figure_4(RfClaimRun *run, const Frame *f, double width) {
  RfDataset data = {0};
  RfAlignNeuron neuron = {0};
  double v[6];
  RfStatus status = rf_claim_generate(run, &data, "DS-OS(4,4,5,0.1,1)");
  if (status) return status;
  RfRandom random = rf_claim_random(run, 0);
  RfAlignField field = {.X = data.X, .c = data.y, .n = data.n, .d = 5};
  /* inside S-; a neuron that loses its last negative before it meets a positive dies there, and
   * is not the one that is drawn */
  do {
    rf_align_neuron_free(&neuron);
    do rf_random_direction(&random, v, 5);
    while (!rf_claim_in_cone(v, &data, -1));
    rf_la_scale(v, sqrt(0.5), 5);
    v[5] = sqrt(0.5);
    status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, INFINITY);
    if (status) goto done;
  } while (neuron.destiny == RF_DESTINY_DEAD);
  rf_claim_true(run, "a positive neuron with all negatives and no positive active",
                rf_claim_in_cone(v, &data, -1));
  rf_index changes = 0;
  for (rf_index c = 0; c < neuron.n_crossings; c++) changes += neuron.crossings[c].n_samples;
  rf_claim_close(run, "loses every negative and gains every positive", (double)changes, (double)data.n, 0);
  if (!f) goto done;
  double until = 1.15 * neuron.t_last, step = 150.0 / (double)data.n;
  for (rf_index i = 0; i < data.n; i++) {
    double change = until, y = f->y + step * (double)i, from, to;
    bool active = rf_la_dot(v, data.X + 5 * i, 5) > 0;
    for (rf_index c = 0; c < neuron.n_crossings; c++)
      for (rf_index s = 0; s < neuron.crossings[c].n_samples; s++)
        if (neuron.crossings[c].samples[s] == i) change = neuron.crossings[c].t;
    from = active ? 0 : change, to = active ? change : until;
    RfColour colour = data.y[i] > 0 ? RF_COLOUR_VERMILION : RF_COLOUR_BLUE;
    rf_svg_line(f->svg, f->x, y, f->x + width, y, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
    rf_svg_line(f->svg, f->x + width * from / until, y, f->x + width * to / until, y,
                (RfPen){.colour = colour, .width = 6});
  }
  rf_svg_label(f->svg, f->x + width / 2, f->y + 172, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK,
               "time t; thick: the sample is active");
done:
  rf_align_neuron_free(&neuron);
  rf_dataset_free(&data);
  return status;
}

static RfStatus first_drawings(RfClaimRun *run) {
  RfSvg svg = {0};
  bool draws = rf_claim_draws(run);
  Frame frames[4] = {
      {&svg, 190, 200, 100}, {&svg, 550, 200, 110}, {&svg, 190, 510, 105}, {&svg, 420, 420, 110}};
  if (draws) {
    rf_svg_begin(&svg, 740, 700, "E-MM-1: MMV Figures 1 to 4",
                 "directions of neurons during alignment, with computed arrows");
    const char *titles[] = {"Figure 1: d/dt(w/|w|) = Proj(w) x_a", "Figure 2: fates of positive neurons",
                            "Figure 3: push at a hyperplane", "Figure 4: activation over time"};
    for (int k = 0; k < 4; k++)
      rf_svg_label(&svg, k % 2 ? 420 : 60, k < 2 ? 30 : 360, RF_ANCHOR_START, 14, RF_COLOUR_INK, titles[k]);
  }
  RfStatus status = figure_1(run, draws ? &frames[0] : NULL);
  if (!status) status = figure_2(run, draws ? &frames[1] : NULL);
  if (!status) status = figure_3(run, draws ? &frames[2] : NULL);
  if (!status) status = figure_4(run, draws ? &frames[3] : NULL, 260);
  if (!draws) return status;
  const RfLegendEntry entries[] = {{"positive sample", RF_COLOUR_VERMILION, RF_MARK_DISC},
                                   {"negative sample", RF_COLOUR_BLUE, RF_MARK_SQUARE},
                                   {"velocity of w/|w|", RF_COLOUR_PURPLE, -1},
                                   {"x_a; neuron to S+", RF_COLOUR_GREEN, -1},
                                   {"w; neuron that dies", RF_COLOUR_INK, -1}};
  rf_svg_legend(&svg, 60, 662, 660, entries, 5);
  rf_svg_end(&svg);
  if (status) rf_svg_free(&svg);
  return status ? status : rf_claim_picture(run, &svg, "E-MM-1.svg");
}

/* ---- Figures 18 to 21: solutions at a hyperplane ------------------------------------------- */

/* Field of a positive neuron in the plane, |a| = |w|. */
static void plane_field(double *out, const double *w, const double *X, const double *y, int n) {
  out[0] = out[1] = 0;
  for (int i = 0; i < n; i++)
    if (rf_la_dot(w, X + 2 * i, 2) > 0) rf_la_axpy(out, y[i], X + 2 * i, 2);
  rf_la_scale(out, rf_la_norm(w, 2), 2);
}

typedef struct Toy {
  const char *title;
  double X[4], y[2];
  int n;
  int left, right; /* expected sign of the motion along x1 beside the hyperplane */
  RfEventKind event;
} Toy;

static const Toy toys[] = {
    {"Figure 18: pushed from both sides", {1, 0, 0.6, 0.8}, {-1, 1}, 2, 1, -1, RF_EVENT_SLIDE},
    {"Figure 19: sep > 0, crossed", {1, 0, 0.6, 0.8}, {1, 1}, 2, 1, 1, RF_EVENT_CROSS},
    {"Figure 20: DS-E3, no solution for phi'(0) > 0", {1, 0, 0, 0}, {-1, 0}, 1, 0, -1, RF_EVENT_DIE},
    {"Figure 21: DS-E4, stays or leaves", {1, 0, 0, 0}, {1, 0}, 1, 0, 1, RF_EVENT_BRANCH},
};

static int sign_of(double x) { return (x > 1e-12) - (x < -1e-12); }

static RfStatus judge_toy(RfClaimRun *run, const Toy *toy) {
  double g[2], w[] = {-1e-3, 1};
  plane_field(g, w, toy->X, toy->y, toy->n);
  rf_claim_close(run, "motion on the inactive side", sign_of(g[0]), toy->left, 0);
  w[0] = 1e-3;
  plane_field(g, w, toy->X, toy->y, toy->n);
  rf_claim_close(run, "motion on the active side", sign_of(g[0]), toy->right, 0);
  if (toy->event == RF_EVENT_BRANCH) return RF_OK; /* MMV-24 */
  RfAlignField field = {.X = toy->X, .c = toy->y, .n = toy->n, .d = 2};
  RfAlignNeuron neuron;
  double v[] = {(toy->left > 0 ? -0.3 : 0.3), 1, hypot(0.3, 1)};
  rf_la_scale(v, 1 / rf_la_norm(v, 3), 3);
  RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, INFINITY);
  if (status) return status;
  RfEventKind met = neuron.destiny == RF_DESTINY_DEAD ? RF_EVENT_DIE
                    : neuron.sector[0] == 0           ? RF_EVENT_SLIDE
                                                      : RF_EVENT_CROSS;
  rf_claim_close(run, "what the engine does at the hyperplane", met, toy->event, 0);
  rf_align_neuron_free(&neuron);
  return RF_OK;
}

static void draw_toy(RfSvg *svg, const Toy *toy, int row, int column) {
  Frame f = {svg, 190 + 360 * column, 325 + 270 * row, 130};
  double top[] = {0, 1.55}, bottom[] = {0, 0.25};
  rf_svg_label(svg, f.x - 150, at_y(&f, 1.75), RF_ANCHOR_START, 13, RF_COLOUR_INK, toy->title);
  rf_svg_line(svg, at_x(&f, 0), at_y(&f, top[1]), at_x(&f, 0), at_y(&f, bottom[1]),
              (RfPen){.colour = RF_COLOUR_INK, .width = 1.5, .dashed = true});
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 5; j++) {
      double w[] = {-0.96 + 0.24 * i, 0.35 + 0.27 * j}, g[2];
      if (i == 4) continue;
      plane_field(g, w, toy->X, toy->y, toy->n);
      double size = rf_la_norm(g, 2);
      if (size == 0) rf_svg_mark(svg, at_x(&f, w[0]), at_y(&f, w[1]), 2.5, RF_MARK_DISC, RF_COLOUR_FAINT);
      if (size == 0) continue;
      rf_la_scale(g, 0.17 / size, 2);
      arrow(&f, w, g, i < 4 ? RF_COLOUR_BLUE : RF_COLOUR_VERMILION);
    }
  const double start[] = {0, 1};
  rf_svg_mark(svg, at_x(&f, 0), at_y(&f, 1), 6, RF_MARK_DISC, RF_COLOUR_GREEN);
  if (toy->event == RF_EVENT_BRANCH) {
    double step[] = {0.4, 0};
    arrow(&f, start, step, RF_COLOUR_GREEN);
  }
  label(&f, bottom, 0, 18, "<w, x1> = 0");
}

static RfStatus last_drawings(RfClaimRun *run) {
  RfStatus status = RF_OK;
  for (int k = 0; k < 4 && !status; k++) status = judge_toy(run, &toys[k]);
  if (status || !rf_claim_draws(run)) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 740, 620, "E-MM-8: MMV Figures 18 to 21",
               "the flow beside a hyperplane, with computed arrows");
  for (int k = 0; k < 4; k++) draw_toy(&svg, &toys[k], k / 2, k % 2);
  const RfLegendEntry entries[] = {
      {"flow where x1 is inactive", RF_COLOUR_BLUE, -1},
      {"flow where x1 is active", RF_COLOUR_VERMILION, -1},
      {"start (0,1), and the solution that leaves", RF_COLOUR_GREEN, RF_MARK_DISC},
      {"no flow", RF_COLOUR_FAINT, RF_MARK_DISC}};
  rf_svg_legend(&svg, 40, 24, 680, entries, 4);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-8.svg");
}

RfStatus rf_mmv_33(RfClaimRun *run) {
  RfStatus status = first_drawings(run);
  if (!status) status = last_drawings(run);
  return status;
}

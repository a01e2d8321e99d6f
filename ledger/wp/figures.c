/* Wang and Pilanci: figures of the rectified ellipsoid and its polar set. WP-28, recipes E-WP-1, -2, -3, -7.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/data.h"
#include "la/la.h"
#include "wp/wp.h"
#include "wp/figures.h"

enum { POINTS = 4000, MOST_EXTREME = 16 };
static const double turn = 2 * 3.14159265358979323846;

/* ---- shared by the figures ---------------------------------------------------------------------- */

RfPlot rf_wp_square(RfSvg *svg, double left, double top, double size, double reach, const char *x_label,
                    const char *y_label) {
  return (RfPlot){.svg = svg,
                  .left = left,
                  .top = top,
                  .width = size,
                  .height = size,
                  .x = {.low = -reach, .high = reach, .label = x_label, .step = 1},
                  .y = {.low = -reach, .high = reach, .label = y_label, .step = 1}};
}

void rf_wp_star(const RfPlot *plot, double x, double y, double size, RfColour colour) {
  double px[10], py[10];
  for (int k = 0; k < 10; k++) {
    double radius = (k % 2 ? 0.42 : 1) * size, angle = turn * k / 10 - turn / 4;
    px[k] = rf_plot_x(plot, x) + radius * cos(angle), py[k] = rf_plot_y(plot, y) + radius * sin(angle);
  }
  rf_svg_polygon(plot->svg, px, py, 10, colour, 1);
}

void rf_wp_outline(const RfPlot *plot, const double *X) {
  double x[361], y[361], rx[361], ry[361];
  for (int k = 0; k <= 360; k++) {
    double u[] = {cos(turn * k / 360), sin(turn * k / 360)};
    x[k] = rf_la_dot(X, u, 2), y[k] = rf_la_dot(X + 2, u, 2);
    rx[k] = fmax(0, x[k]), ry[k] = fmax(0, y[k]);
  }
  rf_plot_line(plot, x, y, 361, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.5});
  rf_plot_line(plot, rx, ry, 361, (RfPen){.colour = RF_COLOUR_SKY, .width = 3});
}

/* ---- E-WP-1: Figures 6 and 8 -------------------------------------------------------------------- */

static const char *const sets[] = {"DS-WP1", "DS-WP2"};
static const char *const titles[] = {"F.1: spikes on both axes (Figure 6)", "F.2: no spikes (Figure 8)"};

/* The lengths of the parts of {(Xu)_+} on the axes, and how far the part inside the quadrant reaches there.
 */
static void spike_lengths(double tip[2], double body[2], const double *points) {
  tip[0] = tip[1] = body[0] = body[1] = 0;
  for (rf_index k = 0; k < POINTS; k++) {
    const double *p = points + 4 * k;
    if (p[2] > 0 && p[3] == 0) tip[0] = fmax(tip[0], p[2]);
    if (p[3] > 0 && p[2] == 0) tip[1] = fmax(tip[1], p[3]);
    if (p[2] > 0 && p[3] > 0) body[0] = fmax(body[0], p[2]), body[1] = fmax(body[1], p[3]);
  }
}

static RfStatus draw_ellipsoids(RfClaimRun *run, double *const *points) {
  RfSvg svg;
  RfStatus status = RF_OK;
  if (!rf_claim_draws(run)) return RF_OK;
  for (int s = 0; s < 2 && !status; s++) {
    RfText csv = {0};
    rf_text_add(&csv, "x1u,x2u,x1u_plus,x2u_plus\n");
    for (rf_index k = 0; k < POINTS; k++) {
      const double *p = points[s] + 4 * k;
      rf_text_addf(&csv, "%.17g,%.17g,%.17g,%.17g\n", p[0], p[1], p[2], p[3]);
    }
    status = rf_claim_text(run, s ? "E-WP-1-F2.csv" : "E-WP-1-F1.csv", rf_text_string(&csv));
    rf_text_free(&csv);
  }
  if (status) return status;
  rf_svg_begin(&svg, 840, 475, "Wang and Pilanci, Figures 6 and 8",
               "Outputs of unit neurons before and after the ReLU");
  rf_svg_label(&svg, 20, 24, RF_ANCHOR_START, 16, RF_COLOUR_INK,
               "Wang & Pilanci, Figures 6 and 8: outputs of a unit neuron on two samples");
  for (int s = 0; s < 2; s++) {
    RfPlot plot = rf_wp_square(&svg, 75 + 400 * s, 60, 330, 2, "output on sample 1", "output on sample 2");
    rf_plot_axes(&plot);
    for (int part = 0; part < 2; part++) {
      double x[POINTS], y[POINTS];
      for (rf_index k = 0; k < POINTS; k++)
        x[k] = points[s][4 * k + 2 * part], y[k] = points[s][4 * k + 2 * part + 1];
      rf_plot_line(&plot, x, y, POINTS,
                   (RfPen){.colour = part ? RF_COLOUR_VERMILION : RF_COLOUR_BLUE, .width = part ? 3 : 1.5});
    }
    rf_svg_label(&svg, 240 + 400 * s, 52, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, titles[s]);
  }
  RfLegendEntry entries[] = {{"ellipsoid {Xu : |u| = 1}", RF_COLOUR_BLUE, -1},
                             {"rectified ellipsoid {(Xu)\xe2\x82\x8a}", RF_COLOUR_VERMILION, -1}};
  rf_svg_legend(&svg, 75, 452, 700, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-WP-1.svg");
}

/* ---- E-WP-2: Figures 1 and 9 -------------------------------------------------------------------- */

typedef struct Extreme {
  rf_index count; /* maximisers and minimisers of lam^T D_j X u on the cones, zero ones left out */
  double u[2 * MOST_EXTREME];
  double lam[2];
  RfOptimum optimum;
} Extreme;

/* v = X^T D lam + X^T (2D - I) z at the least |v|: v/|v| is the maximiser. */
static RfStatus extreme_points(RfContext *context, Extreme *extreme, const RfDataset *data) {
  RfWpMasks masks;
  RfStatus status = rf_wp_optimum(context, &extreme->optimum, data);
  if (status) return status;
  for (int i = 0; i < 2; i++) extreme->lam[i] = data->y[i] * extreme->optimum.lambda[i];
  extreme->count = 0;
  status = rf_wp_masks(context, &masks, data->X, 2, 2);
  for (rf_index j = 0; j < masks.count && !status; j++)
    for (int s = -1; s <= 1 && !status; s += 2) {
      double turned[] = {s * extreme->lam[0], s * extreme->lam[1]}, z[2], v[2], size;
      status = rf_wp_cone_maximum(context, &size, z, data->X, 2, 2, masks.masks[j], turned);
      if (status || size < 1e-9 || extreme->count == MOST_EXTREME) continue;
      rf_wp_masked(v, data->X, 2, 2, masks.masks[j], turned);
      for (int i = 0; i < 2; i++)
        rf_la_axpy(v, (masks.masks[j] >> i & 1 ? 1 : -1) * z[i], data->X + 2 * i, 2);
      for (int i = 0; i < 2; i++) extreme->u[2 * extreme->count + i] = v[i] / size;
      extreme->count++;
    }
  rf_wp_masks_free(&masks);
  return status;
}

/* Every optimal neuron, at unit length, is one of the extreme points, and its output lies where it should. */
static void judge_extreme(RfClaimRun *run, const Extreme *extreme, const double *X, bool on_spikes) {
  for (rf_index k = 0; k < extreme->optimum.neurons; k++) {
    const double *u = extreme->optimum.U + 2 * k;
    double size = rf_la_norm(u, 2), nearest = INFINITY, p[2];
    for (rf_index j = 0; j < extreme->count; j++)
      nearest = fmin(nearest, hypot(u[0] / size - extreme->u[2 * j], u[1] / size - extreme->u[2 * j + 1]));
    rf_claim_at_most(run, "an optimal neuron is an extreme point", nearest, 0, 1e-7);
    for (int i = 0; i < 2; i++) p[i] = fmax(0, rf_la_dot(X + 2 * i, u, 2)) / size;
    if (on_spikes)
      rf_claim_relative(run, "F.1: it is the tip of a spike", p[0] + p[1],
                        rf_la_norm(X + (p[0] > 0 ? 0 : 2), 2), 1e-7);
    rf_claim_true(run, on_spikes ? "F.1: on an axis" : "F.2: on the arc, not on an axis",
                  (p[0] == 0 || p[1] == 0) == on_spikes);
  }
}

static RfStatus draw_extreme(RfClaimRun *run, const Extreme *extremes, const RfDataset *data) {
  RfSvg svg;
  RfText csv = {0};
  if (!rf_claim_draws(run)) return RF_OK;
  rf_text_add(&csv, "set,kind,u1,u2,output1,output2\n");
  rf_svg_begin(&svg, 840, 475, "Wang and Pilanci, Figures 1 and 9",
               "Extreme points of the rectified ellipsoid");
  rf_svg_label(
      &svg, 20, 24, RF_ANCHOR_START, 16, RF_COLOUR_INK,
      "Wang & Pilanci, Figures 1 and 9: extreme points of the rectified ellipsoid and the best neurons");
  for (int s = 0; s < 2; s++) {
    const Extreme *e = &extremes[s];
    const double *X = data[s].X;
    RfPlot plot = rf_wp_square(&svg, 75 + 400 * s, 60, 330, 2, "output on sample 1", "output on sample 2");
    rf_plot_axes(&plot);
    rf_wp_outline(&plot, X);
    rf_svg_arrow(&svg, rf_plot_x(&plot, 0), rf_plot_y(&plot, 0), rf_plot_x(&plot, e->lam[0]),
                 rf_plot_y(&plot, e->lam[1]), (RfPen){.colour = RF_COLOUR_INK, .width = 2});
    for (rf_index k = 0; k < e->count + e->optimum.neurons; k++) {
      bool best = k >= e->count;
      const double *u = best ? e->optimum.U + 2 * (k - e->count) : e->u + 2 * k;
      double size = rf_la_norm(u, 2), p[2];
      for (int i = 0; i < 2; i++) p[i] = fmax(0, rf_la_dot(X + 2 * i, u, 2)) / size;
      if (best)
        rf_wp_star(&plot, p[0], p[1], 8, RF_COLOUR_VERMILION);
      else
        rf_plot_marks(&plot, &p[0], &p[1], 1, RF_MARK_CIRCLE, RF_COLOUR_INK);
      rf_text_addf(&csv, "%s,%s,%.17g,%.17g,%.17g,%.17g\n", sets[s], best ? "optimal" : "extreme",
                   u[0] / size, u[1] / size, p[0], p[1]);
    }
    rf_svg_label(&svg, 240 + 400 * s, 52, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK,
                 s ? "F.2 (Figure 9): on the arc" : "F.1 (Figure 1): at the tips of the spikes");
  }
  RfLegendEntry entries[] = {{"rectified ellipsoid", RF_COLOUR_SKY, -1},
                             {"extreme point of a cone", RF_COLOUR_INK, RF_MARK_CIRCLE},
                             {"best neuron (star)", RF_COLOUR_VERMILION, -3},
                             {"optimal \xce\xbb (arrow)", RF_COLOUR_INK, -1}};
  rf_svg_legend(&svg, 75, 452, 740, entries, 4);
  rf_svg_end(&svg);
  RfStatus status = rf_claim_text(run, "E-WP-2.csv", rf_text_string(&csv));
  rf_text_free(&csv);
  if (status) {
    rf_svg_free(&svg);
    return status;
  }
  return rf_claim_picture(run, &svg, "E-WP-2.svg");
}

/* ---- E-WP-3: Figure 2 --------------------------------------------------------------------------- */

/* max |lam^T (Xu)_+| for two samples: at X^T D lam of the three masks and on the rays of the hyperplanes. */
static double plane_norm(const double *X, const double *lam) {
  double best = 0;
  for (uint64_t k = 0; k < 10; k++) {
    const double *x = k < 8 ? X : X + 2;
    double v[] = {-x[1], x[0]}; /* k >= 6 */
    if (k < 6) rf_wp_masked(v, X, 2, 2, 1 + k / 2, lam);
    rf_la_scale(v, k % 2 ? 1 : -1, 2);
    double size = rf_la_norm(v, 2);
    if (size > 0) best = fmax(best, fabs(rf_wp_rectified(X, 2, 2, lam, v)) / size);
  }
  return best;
}

static double spike_norm(const double *X, const double *lam) {
  return fmax(rf_la_norm(X, 2) * fabs(lam[0]), rf_la_norm(X + 2, 2) * fabs(lam[1]));
}

static RfStatus draw_polar(RfClaimRun *run, const double *X, const double *lam) {
  enum { ANGLES = 720 };
  RfSvg svg;
  double x[ANGLES + 1], y[ANGLES + 1], sx[ANGLES + 1], sy[ANGLES + 1], angle[ANGLES + 1];
  for (int k = 0; k <= ANGLES; k++) {
    angle[k] = turn * k / ANGLES;
    double v[] = {cos(angle[k]), sin(angle[k])}, r = 1 / plane_norm(X, v), s = 1 / spike_norm(X, v);
    x[k] = r * v[0], y[k] = r * v[1], sx[k] = s * v[0], sy[k] = s * v[1];
  }
  const double *columns[] = {angle, x, y, sx, sy};
  RfStatus status =
      rf_claim_series(run, "E-WP-3.csv", "angle,polar1,polar2,spikes1,spikes2", columns, 5, ANGLES + 1);
  if (status || !rf_claim_draws(run)) return status;
  rf_svg_begin(&svg, 640, 565, "Wang and Pilanci, Figure 2",
               "The polar set of the rectified ellipsoid of F.1");
  rf_svg_label(&svg, 20, 24, RF_ANCHOR_START, 16, RF_COLOUR_INK,
               "Wang & Pilanci, Figure 2: the polar set of F.1");
  RfPlot plot = rf_wp_square(&svg, 75, 50, 420, 2, "\xce\xbb\xe2\x82\x81", "\xce\xbb\xe2\x82\x82");
  double px[ANGLES + 1], py[ANGLES + 1];
  for (int k = 0; k <= ANGLES; k++) px[k] = rf_plot_x(&plot, x[k]), py[k] = rf_plot_y(&plot, y[k]);
  rf_svg_polygon(&svg, px, py, ANGLES + 1, RF_COLOUR_PURPLE, 0.4);
  rf_plot_axes(&plot);
  rf_plot_line(&plot, sx, sy, ANGLES + 1, (RfPen){.colour = RF_COLOUR_INK, .width = 2, .dashed = true});
  double corner_x[] = {rf_plot_x(&plot, 0), rf_plot_x(&plot, 2)}, corner_y = rf_plot_y(&plot, 0);
  rf_svg_line(&svg, corner_x[0], corner_y, corner_x[1], corner_y,
              (RfPen){.colour = RF_COLOUR_INK, .dashed = true});
  rf_svg_line(&svg, corner_x[0], corner_y, corner_x[0], rf_plot_y(&plot, -2),
              (RfPen){.colour = RF_COLOUR_INK, .dashed = true});
  rf_svg_label(&svg, rf_plot_x(&plot, 0.75), rf_plot_y(&plot, -1.85), RF_ANCHOR_START, 12, RF_COLOUR_INK,
               "quadrant y\xe1\xb5\xa2\xce\xbb\xe1\xb5\xa2 \xe2\x89\xa5 0");
  rf_svg_arrow(&svg, corner_x[0], corner_y, rf_plot_x(&plot, 1), rf_plot_y(&plot, -1),
               (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
  rf_svg_arrow(&svg, corner_x[0], corner_y, rf_plot_x(&plot, lam[0]), rf_plot_y(&plot, lam[1]),
               (RfPen){.colour = RF_COLOUR_VERMILION, .width = 3});
  RfLegendEntry entries[] = {{"polar set", RF_COLOUR_PURPLE, -3},
                             {"cut out by the two spikes", RF_COLOUR_INK, -2},
                             {"y", RF_COLOUR_BLUE, -1},
                             {"optimal \xce\xbb", RF_COLOUR_VERMILION, -1}};
  rf_svg_legend(&svg, 75, 540, 560, entries, 4);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-WP-3.svg");
}

/* On a 400 x 400 grid of [-2,2]^2 both regions agree inside the quadrant y lam >= 0 (and elsewhere). */
static RfStatus polar_regions(RfClaimRun *run, const RfDataset *data, const double *lam) {
  rf_index apart = 0, elsewhere = 0;
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 400; j++) {
      double at[] = {-2 + 4 * (i + 0.5) / 400, -2 + 4 * (j + 0.5) / 400};
      bool differ = (plane_norm(data->X, at) <= 1) != (spike_norm(data->X, at) <= 1);
      if (differ) *(data->y[0] * at[0] >= 0 && data->y[1] * at[1] >= 0 ? &apart : &elsewhere) += 1;
    }
  rf_claim_close(run, "Figure 2: grid points where the regions differ in the quadrant", (double)apart, 0, 0);
  rf_claim_note(run, "the two regions of Figure 2 differ on %lld of 160000 grid points",
                (long long)apart + (long long)elsewhere);
  for (int i = 0; i < 2; i++)
    rf_claim_close(run, "Figure 2: optimal lam", lam[i], data->y[i] / rf_la_norm(data->X + 2 * i, 2), 1e-7);
  return draw_polar(run, data->X, lam);
}

/* ---- E-WP-7: numbers of appendix F -------------------------------------------------------------- */

RfStatus rf_wp_draw_numbers(RfClaimRun *run) {
  static const char *const printed[] = {"(0.58, -0.16), (-0.23, 0.66)", "(0.43, 0.59)"};
  RfSvg svg;
  RfText csv = {0};
  RfStatus status = RF_OK;
  if (!rf_claim_draws(run)) return RF_OK;
  rf_text_add(&csv, "set,neuron,sign,u1,u2,lam1,lam2,optimum,gap\n");
  rf_svg_begin(&svg, 860, 210, "Wang and Pilanci, numbers of appendix F",
               "Best neurons, multipliers, optimum, gap");
  rf_svg_label(&svg, 20, 28, RF_ANCHOR_START, 16, RF_COLOUR_INK,
               "Wang & Pilanci, appendix F: best neurons u, multipliers \xce\xbb, optimum, certified gap");
  for (int s = 0; s < 2 && !status; s++) {
    RfDataset data;
    RfOptimum o;
    char line[200];
    double y = 62 + 74 * s;
    status = rf_claim_generate(run, &data, sets[s]);
    if (status) break;
    status = rf_wp_optimum(run->context, &o, &data);
    if (!status) {
      double lam[] = {data.y[0] * o.lambda[0], data.y[1] * o.lambda[1]};
      rf_format(line, sizeof line, "F.%d:  P = %.6f,  \xce\xbb = (%.6f, %.6f),  gap %.0e;  printed u: %s",
                s + 1, o.objective, lam[0], lam[1], o.gap, printed[s]);
      rf_svg_label(&svg, 30, y, RF_ANCHOR_START, 13, RF_COLOUR_INK, line);
      for (rf_index k = 0; k < o.neurons; k++) {
        rf_format(line, sizeof line, "a %c 0:  u = (%.6f, %.6f),  |u| = %.6f", o.sign[k] > 0 ? '>' : '<',
                  o.U[2 * k], o.U[2 * k + 1], rf_la_norm(o.U + 2 * k, 2));
        rf_svg_label(&svg, 60, y + 20 + 18 * (double)k, RF_ANCHOR_START, 13, RF_COLOUR_BLUE, line);
        rf_text_addf(&csv, "%s,%lld,%g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", sets[s], (long long)k,
                     o.sign[k], o.U[2 * k], o.U[2 * k + 1], lam[0], lam[1], o.objective, o.gap);
      }
      rf_optimum_free(&o);
    }
    rf_dataset_free(&data);
  }
  rf_svg_end(&svg);
  if (!status) status = rf_claim_text(run, "E-WP-7.csv", rf_text_string(&csv));
  rf_text_free(&csv);
  if (!status) return rf_claim_picture(run, &svg, "E-WP-7.svg");
  rf_svg_free(&svg);
  return status;
}

/* ---- WP-28 -------------------------------------------------------------------------------------- */

RfStatus rf_wp_28(RfClaimRun *run) {
  RfDataset data[2] = {{0}};
  Extreme extremes[2] = {{0}};
  double *points[2] = {RF_NEW(double, 4 * POINTS), RF_NEW(double, 4 * POINTS)};
  RfStatus status =
      points[0] && points[1] ? RF_OK : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  for (int s = 0; s < 2 && !status; s++) {
    double tip[2], body[2];
    status = rf_claim_generate(run, &data[s], sets[s]);
    if (status) break;
    const double *X = data[s].X;
    for (rf_index k = 0; k < POINTS; k++) {
      double u[] = {cos(turn * (double)k / POINTS), sin(turn * (double)k / POINTS)}, *p = points[s] + 4 * k;
      p[0] = rf_la_dot(X, u, 2), p[1] = rf_la_dot(X + 2, u, 2), p[2] = fmax(0, p[0]), p[3] = fmax(0, p[1]);
    }
    spike_lengths(tip, body, points[s]);
    for (int i = 0; i < 2; i++) {
      if (s == 0) rf_claim_relative(run, "F.1: length of a spike", tip[i], rf_la_norm(X + 2 * i, 2), 1e-5);
      if (s == 0) rf_claim_at_most(run, "F.1: the rest reaches less far", body[i], tip[i] - 1e-3, 0);
      if (s == 1) rf_claim_at_most(run, "F.2: nothing on an axis sticks out", tip[i], body[i], 1e-9);
    }
    status = extreme_points(run->context, &extremes[s], &data[s]);
    if (!status) judge_extreme(run, &extremes[s], X, s == 0);
  }
  if (!status) status = draw_ellipsoids(run, points);
  if (!status) status = draw_extreme(run, extremes, data);
  if (!status) status = polar_regions(run, &data[0], extremes[0].lam);
  for (int s = 0; s < 2; s++) {
    rf_optimum_free(&extremes[s].optimum);
    rf_dataset_free(&data[s]);
    rf_free(points[s]);
  }
  return status;
}

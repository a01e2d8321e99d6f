/* Pictures of the global max margin for two samples. Coordinate i of the plane belongs to sample i: the
 * rectified ellipsoid {phi(Xu) : |u| <= 1} with the optimal neurons on its rim (WP Figs 1, 6, 8, 9), and its
 * polar set {lambda : max over |u| <= 1 of |lambda^T phi(Xu)| <= 1} with the dual optimum (WP Fig. 2). lambda
 * carries the sign of the label here. */
#include "present/present_internal.h"
#include "la/la.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

enum { RIM = 1440, RAYS = 720, SIDE = 405, LEFT = 72, TOP = 20 };

/* The images of the unit circle of span(x_1, x_2); all other directions only shorten them. */
typedef struct Rim {
  double x[RIM + 1], y[RIM + 1];     /* Xu, closed */
  double px[RIM + 1], py[RIM + 1];   /* phi(Xu) */
  double rx[RAYS + 1], ry[RAYS + 1]; /* the border of the polar set, cut off at the frame */
  double sx[RIM + 1], sy[RIM + 1];   /* one of these in pixels */
  double reach;                      /* the longer sample */
} Rim;

static double phi(double z, double leak) { return z > 0 ? z : leak * z; }

/* In the basis x_1/|x_1| and what is left of x_2: x_1 = (r, 0), x_2 = (c, s). */
static Rim *rim_new(const double *X, rf_index d, double leak) {
  Rim *rim = RF_NEW(Rim, 1);
  if (!rim) return NULL;
  double r = rf_la_norm(X, d), r2 = rf_la_norm(X + d, d), c = 0;
  for (rf_index k = 0; r > 0 && k < d; k++) c += X[k] / r * X[d + k];
  double s = sqrt(fmax(0, r2 - fabs(c))) * sqrt(r2 + fabs(c));
  rim->reach = fmax(r, r2);
  for (int k = 0; k <= RIM; k++) {
    double angle = 2 * pi * k / RIM;
    rim->x[k] = r * cos(angle);
    rim->y[k] = c * cos(angle) + s * sin(angle);
    rim->px[k] = phi(rim->x[k], leak);
    rim->py[k] = phi(rim->y[k], leak);
  }
  return rim;
}

/* max over the rim of s (v . phi(Xu)) over the signs allowed. */
static double support(const Rim *rim, const double v[2], int signs) {
  double most = 0;
  for (int k = 0; k < RIM; k++) {
    double value = v[0] * rim->px[k] + v[1] * rim->py[k];
    most = fmax(most, signs == 0 ? fabs(value) : signs * value);
  }
  return most;
}

static RfPlot square_plot(RfSvg *svg, double half, const char *x, const char *y) {
  RfAxis horizontal = {-half, half, false, x, 0}, vertical = {-half, half, false, y, 0};
  return (RfPlot){svg, LEFT, TOP, SIDE, SIDE, horizontal, vertical};
}

/* A closed curve of count + 1 points, filled when opacity > 0. */
static void closed(const RfPlot *plot, Rim *rim, const double *x, const double *y, int count, double opacity,
                   RfPen pen) {
  for (int k = 0; k <= count; k++) rim->sx[k] = rf_plot_x(plot, x[k]), rim->sy[k] = rf_plot_y(plot, y[k]);
  if (opacity > 0) rf_svg_polygon(plot->svg, rim->sx, rim->sy, count, pen.colour, opacity);
  rf_svg_polyline(plot->svg, rim->sx, rim->sy, count + 1, pen);
}

static void arrow(const RfPlot *plot, const double v[2], double length, RfPen pen) {
  double size = hypot(v[0], v[1]);
  if (!(size > 0)) return;
  rf_svg_arrow(plot->svg, rf_plot_x(plot, 0), rf_plot_y(plot, 0), rf_plot_x(plot, length * v[0] / size),
               rf_plot_y(plot, length * v[1] / size), pen);
}

/* The line v . p = level. */
static void straight(const RfPlot *plot, const double v[2], double level, RfPen pen) {
  double size = hypot(v[0], v[1]), far = 3 * plot->x.high;
  if (!(size > 0)) return;
  double n[] = {v[0] / size, v[1] / size}, at = level / size;
  if (!(fabs(at) <= far)) return;
  double x[] = {at * n[0] - far * n[1], at * n[0] + far * n[1]};
  double y[] = {at * n[1] + far * n[0], at * n[1] - far * n[0]};
  rf_plot_line(plot, x, y, 2, pen);
}

static void cross_hairs(const RfPlot *plot) {
  RfPen pen = {.colour = RF_COLOUR_INK, .width = 1};
  straight(plot, (double[]){1, 0}, 0, pen);
  straight(plot, (double[]){0, 1}, 0, pen);
}

/* phi(Xu) of neuron k scaled to |u| = 1. */
static void neuron_image(double out[2], const RfOptimum *optimum, const double *X, rf_index k) {
  const double *u = optimum->U + k * optimum->d;
  double size = rf_la_norm(u, optimum->d);
  for (rf_index i = 0; i < 2; i++) {
    double product = 0;
    for (rf_index j = 0; size > 0 && j < optimum->d; j++) product += u[j] / size * X[i * optimum->d + j];
    out[i] = phi(product, optimum->leak);
  }
}

static RfColour sign_colour(double sign) { return sign > 0 ? RF_COLOUR_PLUS : RF_COLOUR_MINUS; }

static void signed_lambda(double out[2], const RfOptimum *optimum, const double *y) {
  for (int i = 0; i < 2; i++) out[i] = optimum->lambda[i] * y[i];
}

/* The best and the worst direction for lambda in each sector: E-WP-2's extreme points. */
static void extreme_points(const RfPlot *plot, const Rim *rim, const double lambda[2]) {
  for (int sector = 0; sector < 4; sector++) {
    int best = -1, worst = -1;
    double high = 0, low = 0;
    for (int k = 0; k < RIM; k++) {
      if ((rim->x[k] > 0) + 2 * (rim->y[k] > 0) != sector) continue;
      double value = lambda[0] * rim->px[k] + lambda[1] * rim->py[k];
      if (best < 0 || value > high) best = k, high = value;
      if (worst < 0 || value < low) worst = k, low = value;
    }
    if (best < 0) continue;
    rf_plot_marks(plot, &rim->px[best], &rim->py[best], 1, RF_MARK_CIRCLE, RF_COLOUR_PURPLE);
    rf_plot_marks(plot, &rim->px[worst], &rim->py[worst], 1, RF_MARK_CIRCLE, RF_COLOUR_PURPLE);
  }
}

static void draw_ellipsoid(const RfPlot *plot, Rim *rim, const RfOptimum *optimum, const double *X,
                           const double *y, int signs) {
  double lambda[2], half = plot->x.high;
  signed_lambda(lambda, optimum, y);
  rf_plot_axes(plot);
  cross_hairs(plot);
  RfPen dashed = {.colour = RF_COLOUR_GREEN, .width = 1.4, .dashed = true};
  if (signs >= 0) straight(plot, lambda, 1, dashed);
  if (signs <= 0) straight(plot, lambda, -1, dashed);
  closed(plot, rim, rim->px, rim->py, RIM, 0.4, (RfPen){.colour = RF_COLOUR_SKY, .width = 4});
  closed(plot, rim, rim->x, rim->y, RIM, 0, (RfPen){.colour = RF_COLOUR_INK, .width = 1.2});
  extreme_points(plot, rim, lambda);
  arrow(plot, lambda, 0.85 * half, (RfPen){.colour = RF_COLOUR_GREEN, .width = 2.4});
  for (rf_index k = 0; k < optimum->neurons; k++) {
    double at[2];
    neuron_image(at, optimum, X, k);
    rf_plot_marks(plot, &at[0], &at[1], 1, optimum->sign[k] > 0 ? RF_MARK_DISC : RF_MARK_SQUARE,
                  sign_colour(optimum->sign[k]));
  }
}

void rf_svg_optimum_ellipsoid(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y,
                              int signs) {
  rf_svg_begin(
      svg, 500, 590, "The rectified ellipsoid",
      "Outputs of one unit neuron on the two samples: before the activation an ellipse, after it the "
      "rectified ellipsoid, with the neurons of the best network and the dual vector.");
  Rim *rim = rim_new(X, optimum->d, optimum->leak);
  if (rim) {
    RfPlot plot = square_plot(svg, 1.15 * rim->reach, "output on sample 0", "output on sample 1");
    draw_ellipsoid(&plot, rim, optimum, X, y, signs);
  } else
    svg->text.failed = true;
  const RfLegendEntry entries[] = {
      {"before the activation", RF_COLOUR_INK, -1},
      {"after it", RF_COLOUR_SKY, -3},
      {"optimal neuron, a > 0", RF_COLOUR_PLUS, RF_MARK_DISC},
      {"a < 0", RF_COLOUR_MINUS, RF_MARK_SQUARE},
      {"extreme in its sector", RF_COLOUR_PURPLE, RF_MARK_CIRCLE},
      {"direction of y\xCE\xBB", RF_COLOUR_GREEN, -1},
      {"where y\xCE\xBB gives 1 in size", RF_COLOUR_GREEN, -2},
  };
  rf_svg_legend(svg, 16, 485, 480, entries, 7);
  rf_svg_end(svg);
  rf_free(rim);
}

/* Half the side of the frame: all of the polar set, unless it is much longer than the optimum. */
static double polar_reach(const Rim *rim, const double lambda[2], int signs) {
  double size = fmax(fabs(lambda[0]), fabs(lambda[1])), half;
  if (!(size > 0)) size = 1 / rim->reach; /* nothing proved yet */
  half = size;
  for (int k = 0; k < RAYS; k++) {
    double v[] = {cos(2 * pi * k / RAYS), sin(2 * pi * k / RAYS)};
    double length = fmax(fabs(v[0]), fabs(v[1])) / support(rim, v, signs);
    half = fmax(half, fmin(length, 2.5 * size)); /* a division by 0 is the infinite length meant here */
  }
  return 1.15 * half;
}

/* The set is convex around 0: along direction v it ends at 1/support(v), or at the frame. */
static void polar_border(Rim *rim, double half, int signs) {
  for (int k = 0; k <= RAYS; k++) {
    double v[] = {cos(2 * pi * k / RAYS), sin(2 * pi * k / RAYS)};
    double length = fmin(1 / support(rim, v, signs), half / fmax(fabs(v[0]), fabs(v[1])));
    rim->rx[k] = length * v[0];
    rim->ry[k] = length * v[1];
  }
}

static void draw_polar(const RfPlot *plot, Rim *rim, const RfOptimum *optimum, const double *X,
                       const double *y, int signs) {
  double lambda[2], half = plot->x.high;
  signed_lambda(lambda, optimum, y);
  rf_plot_axes(plot);
  cross_hairs(plot);
  polar_border(rim, half, signs);
  closed(plot, rim, rim->rx, rim->ry, RAYS, 0.4, (RfPen){.colour = RF_COLOUR_SKY, .width = 2.4});
  for (rf_index k = 0; k < optimum->neurons; k++) {
    double at[2];
    neuron_image(at, optimum, X, k);
    RfPen pen = {.colour = sign_colour(optimum->sign[k]), .width = 1.4, .dashed = true};
    if (signs >= 0) straight(plot, at, 1, pen);
    if (signs <= 0) straight(plot, at, -1, pen);
  }
  straight(plot, y, optimum->lower, (RfPen){.colour = RF_COLOUR_PURPLE, .width = 2});
  arrow(plot, y, 0.6 * half, (RfPen){.colour = RF_COLOUR_INK, .width = 2.4});
  rf_plot_marks(plot, &lambda[0], &lambda[1], 1, RF_MARK_DISC, RF_COLOUR_GREEN);
}

void rf_svg_optimum_polar(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y, int signs) {
  rf_svg_begin(svg, 500, 590, "The polar set",
               "All multipliers that no unit neuron exceeds 1 with, the constraints of the optimal neurons, "
               "and the multipliers that prove the optimum.");
  Rim *rim = rim_new(X, optimum->d, optimum->leak);
  if (rim) {
    double lambda[2];
    signed_lambda(lambda, optimum, y);
    RfPlot plot =
        square_plot(svg, polar_reach(rim, lambda, signs), "y\xCE\xBB of sample 0", "y\xCE\xBB of sample 1");
    draw_polar(&plot, rim, optimum, X, y, signs);
  } else
    svg->text.failed = true;
  const RfLegendEntry entries[] = {
      {"no unit neuron gives more than 1", RF_COLOUR_SKY, -3},
      {"proof of the optimum", RF_COLOUR_GREEN, RF_MARK_DISC},
      {"direction of y", RF_COLOUR_INK, -1},
      {"level of the optimum", RF_COLOUR_PURPLE, -1},
      {"optimal neuron gives 1, a > 0", RF_COLOUR_PLUS, -2},
      {"a < 0", RF_COLOUR_MINUS, -2},
  };
  rf_svg_legend(svg, 16, 485, 480, entries, 6);
  rf_svg_end(svg);
  rf_free(rim);
}

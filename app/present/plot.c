/* Axes with round ticks, linear or logarithmic, and lines clipped to their frame. */
#include "present/present.h"
#include "core/core.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void rf_axis_cover(RfAxis *axis, const double *values, rf_index count) {
  for (rf_index i = 0; i < count; i++) {
    if (!isfinite(values[i]) || (axis->log && values[i] <= 0)) continue;
    if (axis->low > axis->high) axis->low = axis->high = values[i];
    axis->low = fmin(axis->low, values[i]);
    axis->high = fmax(axis->high, values[i]);
  }
}

void rf_axis_pad(RfAxis *axis, double fraction) {
  if (axis->low > axis->high) axis->low = axis->log ? 1 : 0, axis->high = axis->log ? 10 : 1;
  if (axis->log) {
    double grow = pow(axis->high / axis->low, fraction);
    if (!(grow > 1 + 1e-6)) grow = 2;
    axis->low = fmax(axis->low / grow, DBL_MIN);
    axis->high = fmin(axis->high * grow, DBL_MAX);
    return;
  }
  double air = fraction * (axis->high - axis->low), size = fmax(fabs(axis->low), fabs(axis->high));
  if (!(air > 1e-12 * size)) air = size > 0 ? 0.1 * size : 1;
  axis->low -= air;
  axis->high += air;
}

/* Powers of ten, thinned to at most `most`. */
static int log_ticks(double *ticks, const RfAxis *axis, int most) {
  double first = ceil(log10(axis->low) - 1e-9), last = floor(log10(axis->high) + 1e-9);
  double step = fmax(1, ceil((last - first + 1) / most));
  int count = 0;
  for (double k = first; k <= last && count < most; k += step) ticks[count++] = pow(10, k);
  return count;
}

static int linear_ticks(double *ticks, const RfAxis *axis, int most) {
  double raw = (axis->high - axis->low) / most, power = pow(10, floor(log10(raw)));
  static const double steps[] = {1, 2, 2.5, 5, 10};
  double step = 10 * power;
  if (axis->step > 0 && axis->step * 11 >= axis->high - axis->low)
    step = axis->step, most = 11;
  else
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      if (steps[i] * power >= raw * (1 - 1e-9)) {
        step = steps[i] * power;
        break;
      }
    }
  int count = 0;
  double first = ceil(axis->low / step - 1e-9);
  for (double k = first; k * step <= axis->high + 1e-9 * step && count < most + 1 && count < 12; k += 1)
    ticks[count++] = fabs(k) < 0.5 ? 0 : k * step;
  return count;
}

int rf_axis_ticks(double *ticks, const RfAxis *axis, int most) {
  if (most > 11) most = 11;
  if (most < 1 || !(axis->low < axis->high) || !isfinite(axis->high - axis->low)) return 0;
  if (axis->log && !(axis->low > 0)) return 0;
  int count = axis->log ? log_ticks(ticks, axis, most) : linear_ticks(ticks, axis, most);
  if (axis->log && count < 2) { /* less than a decade: round numbers instead */
    RfAxis plain = {axis->low, axis->high, false, NULL, 0};
    count = linear_ticks(ticks, &plain, most);
  }
  return count;
}

/* Position in [0,1] along the axis. */
static double position(const RfAxis *axis, double value) {
  if (axis->log) return value > 0 ? log(value / axis->low) / log(axis->high / axis->low) : -INFINITY;
  return (value - axis->low) / (axis->high - axis->low);
}

double rf_plot_x(const RfPlot *plot, double x) { return plot->left + plot->width * position(&plot->x, x); }

double rf_plot_y(const RfPlot *plot, double y) {
  return plot->top + plot->height * (1 - position(&plot->y, y));
}

static void tick_label(char *out, size_t size, double value) {
  double power = log10(fabs(value));
  if (value > 0 && (value < 1e-3 || value > 9e4) &&
      fabs(power - round(power)) < 1e-9) { /* 0.0001 and 100000 would be wide */
    rf_format(out, size, "1e%.0f", power);
    return;
  }
  rf_format(out, size, "%.6g", value);
  char *exponent = strstr(out, "e+0"); /* 1e+06 -> 1e6 */
  if (exponent) memmove(exponent + 1, exponent + 3, strlen(exponent + 3) + 1);
  exponent = strstr(out, "e-0");
  if (exponent) memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
}

void rf_plot_axes(const RfPlot *plot) {
  RfSvg *svg = plot->svg;
  double ticks[12], bottom = plot->top + plot->height;
  char text[32];
  RfPen grid = {.colour = RF_COLOUR_FAINT, .width = 0.8}, frame = {.colour = RF_COLOUR_INK, .width = 1.2};
  int count = rf_axis_ticks(ticks, &plot->x, (int)fmax(2, plot->width / 80));
  for (int i = 0; i < count; i++) {
    double x = rf_plot_x(plot, ticks[i]);
    tick_label(text, sizeof text, ticks[i]);
    rf_svg_line(svg, x, plot->top, x, bottom, grid);
    rf_svg_label(svg, x, bottom + 17, RF_ANCHOR_MIDDLE, 12, RF_COLOUR_INK, text);
  }
  count = rf_axis_ticks(ticks, &plot->y, (int)fmax(2, plot->height / 48));
  for (int i = 0; i < count; i++) {
    double y = rf_plot_y(plot, ticks[i]);
    tick_label(text, sizeof text, ticks[i]);
    rf_svg_line(svg, plot->left, y, plot->left + plot->width, y, grid);
    rf_svg_label(svg, plot->left - 7, y + 4, RF_ANCHOR_END, 12, RF_COLOUR_INK, text);
  }
  rf_svg_line(svg, plot->left, bottom, plot->left + plot->width, bottom, frame);
  rf_svg_line(svg, plot->left, plot->top, plot->left, bottom, frame);
  if (plot->x.label)
    rf_svg_label(svg, plot->left + plot->width / 2, bottom + 36, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK,
                 plot->x.label);
  if (plot->y.label)
    rf_svg_label_turned(svg, plot->left - 50, plot->top + plot->height / 2, -90, 13, RF_COLOUR_INK,
                        plot->y.label);
}

/* Liang and Barsky: the part of the segment inside the frame; false when none is. */
static bool clip(const RfPlot *plot, double *x1, double *y1, double *x2, double *y2) {
  double dx = *x2 - *x1, dy = *y2 - *y1, from = 0, to = 1;
  double p[] = {-dx, dx, -dy, dy};
  double q[] = {*x1 - plot->left, plot->left + plot->width - *x1, *y1 - plot->top,
                plot->top + plot->height - *y1};
  for (int k = 0; k < 4; k++) {
    if (fabs(p[k]) < 1e-300) {
      if (q[k] < 0) return false;
      continue;
    }
    double t = q[k] / p[k];
    if (p[k] < 0)
      from = fmax(from, t);
    else
      to = fmin(to, t);
  }
  if (from > to) return false;
  double x = *x1, y = *y1;
  *x1 = x + from * dx, *y1 = y + from * dy;
  *x2 = x + to * dx, *y2 = y + to * dy;
  return true;
}

/* Connected runs of clipped segments become one polyline each. */
void rf_plot_line(const RfPlot *plot, const double *x, const double *y, rf_index count, RfPen pen) {
  double *px = RF_NEW(double, 2 * count + 2), *py = RF_NEW(double, 2 * count + 2);
  rf_index length = 0;
  if (!px || !py) plot->svg->text.failed = true;
  for (rf_index i = 0; px && py && i + 1 < count; i++) {
    double x1 = rf_plot_x(plot, x[i]), y1 = rf_plot_y(plot, y[i]);
    double x2 = rf_plot_x(plot, x[i + 1]), y2 = rf_plot_y(plot, y[i + 1]);
    bool drawn =
        isfinite(x1) && isfinite(y1) && isfinite(x2) && isfinite(y2) && clip(plot, &x1, &y1, &x2, &y2);
    bool joins = drawn && length > 0 && hypot(px[length - 1] - x1, py[length - 1] - y1) < 1e-6;
    if (length > 0 && !joins) {
      rf_svg_polyline(plot->svg, px, py, length, pen);
      length = 0;
    }
    if (!drawn) continue;
    if (length == 0) px[length] = x1, py[length++] = y1;
    px[length] = x2, py[length++] = y2;
  }
  if (length > 0) rf_svg_polyline(plot->svg, px, py, length, pen);
  rf_free(px);
  rf_free(py);
}

void rf_plot_marks(const RfPlot *plot, const double *x, const double *y, rf_index count, RfMark mark,
                   RfColour colour) {
  for (rf_index i = 0; i < count; i++) {
    double px = rf_plot_x(plot, x[i]), py = rf_plot_y(plot, y[i]);
    bool inside = px >= plot->left - 1 && px <= plot->left + plot->width + 1 && py >= plot->top - 1 &&
                  py <= plot->top + plot->height + 1;
    if (inside) rf_svg_mark(plot->svg, px, py, 4, mark, colour);
  }
}

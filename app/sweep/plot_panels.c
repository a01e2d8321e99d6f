/* The kinds of panels: lines with bands, violins, survival curves, heat maps. Cells without an answer are
 * drawn as such: hollow squares with their number on the floor of the panel, or a number in the corner of a
 * tile. */
#include "sweep/plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const RfColour colours[8] = {RF_COLOUR_BLUE,   RF_COLOUR_VERMILION, RF_COLOUR_GREEN,  RF_COLOUR_ORANGE,
                                    RF_COLOUR_PURPLE, RF_COLOUR_SKY,       RF_COLOUR_YELLOW, RF_COLOUR_INK};

void plot_hover(RfSvg *svg, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  rf_text_add(&svg->text, "<g><title>");
  rf_text_add_escaped(&svg->text, text);
  rf_text_add(&svg->text, "</title>\n");
}

void plot_hover_end(RfSvg *svg) { rf_text_add(&svg->text, "</g>\n"); }

double panel_x(const Panel *panel, rf_index level) {
  return rf_plot_x(&panel->plot, panel->by_level ? (double)level : panel->data->x.numbers[level]);
}

static void hover_group(Panel *panel, rf_index x, rf_index colour, const Group *group) {
  const PlotData *data = panel->data;
  const char *series = panel->wish->colour ? data->colour.labels[colour] : "";
  plot_hover(panel->plot.svg, "%s = %s%s%s%s%s: %s %.6g [%.6g, %.6g], %lld cells, %lld without an answer",
             panel->wish->x, data->x.labels[x], panel->wish->colour ? ", " : "",
             panel->wish->colour ? panel->wish->colour : "", panel->wish->colour ? " = " : "", series,
             data->proportion ? "share" : "median", group->middle, group->low, group->high,
             (long long)group->n, (long long)group->missing);
}

/* Cells without an answer, on the floor of the panel. */
static void mark_missing(Panel *panel, double x, rf_index slot, const Group *group, RfColour colour) {
  char count[32];
  RfSvg *svg = panel->plot.svg;
  double y = panel->plot.top + panel->plot.height - 9 - 13 * (double)slot;
  if (group->missing == 0) return;
  plot_hover(svg, "%lld of %lld cells without an answer", (long long)group->missing, (long long)group->n);
  double px[] = {x - 4, x + 4, x + 4, x - 4, x - 4}, py[] = {y - 4, y - 4, y + 4, y + 4, y - 4};
  rf_svg_polyline(svg, px, py, 5, (RfPen){.colour = colour, .width = 1.4});
  rf_format(count, sizeof count, "%lld", (long long)group->missing);
  rf_svg_label(svg, x + 7, y + 4, RF_ANCHOR_START, 10, RF_COLOUR_INK, count);
  plot_hover_end(svg);
}

/* ---- lines ------------------------------------------------------------------------------------ */

static void draw_band(Panel *panel, const double *x, const Group *groups, rf_index count, RfColour colour) {
  double *px = RF_NEW(double, 2 * count), *py = RF_NEW(double, 2 * count);
  rf_index used = 0;
  if (!px || !py) panel->plot.svg->text.failed = true;
  for (rf_index k = 0; px && py && k < count; k++)
    if (!isnan(groups[k].low)) px[used] = x[k], py[used++] = rf_plot_y(&panel->plot, groups[k].low);
  rf_index half = used;
  for (rf_index k = count - 1; px && py && k >= 0; k--)
    if (!isnan(groups[k].high)) px[used] = x[k], py[used++] = rf_plot_y(&panel->plot, groups[k].high);
  if (half > 1) rf_svg_polygon(panel->plot.svg, px, py, used, colour, 0.18);
  rf_free(px);
  rf_free(py);
}

static void draw_series(Panel *panel, rf_index colour, Group *groups, double *x) {
  const PlotData *data = panel->data;
  RfSvg *svg = panel->plot.svg;
  RfColour ink = colours[colour % 8];
  double shift = panel->by_level && data->colour.count > 1
                     ? 8 * ((double)colour - 0.5 * (double)(data->colour.count - 1))
                     : 0;
  for (rf_index k = 0; k < data->x.count; k++) {
    groups[k] = plot_group(data, k, -1, colour, panel->facet, panel->values, NULL);
    x[k] = panel_x(panel, k) + shift;
  }
  if (!data->proportion && !panel->by_level) draw_band(panel, x, groups, data->x.count, ink);
  rf_index last = -1;
  for (rf_index k = 0; k < data->x.count; k++) {
    if (isnan(groups[k].middle)) continue;
    if (last >= 0)
      rf_svg_line(svg, x[last], rf_plot_y(&panel->plot, groups[last].middle), x[k],
                  rf_plot_y(&panel->plot, groups[k].middle), (RfPen){.colour = ink, .width = 2});
    last = k;
  }
  for (rf_index k = 0; k < data->x.count; k++) {
    if (!isnan(groups[k].middle)) {
      hover_group(panel, k, colour, &groups[k]);
      if (data->proportion || panel->by_level)
        rf_svg_line(svg, x[k], rf_plot_y(&panel->plot, groups[k].low), x[k],
                    rf_plot_y(&panel->plot, groups[k].high), (RfPen){.colour = ink, .width = 1.6});
      rf_svg_mark(svg, x[k], rf_plot_y(&panel->plot, groups[k].middle), 4.5, RF_MARK_DISC, ink);
      plot_hover_end(svg);
    }
    mark_missing(panel, x[k], colour, &groups[k], ink);
  }
}

void panel_lines(Panel *panel) {
  const PlotData *data = panel->data;
  Group *groups = RF_NEW(Group, data->x.count);
  double *x = RF_NEW(double, data->x.count);
  if (!groups || !x) panel->plot.svg->text.failed = true;
  for (rf_index colour = 0; groups && x && colour < data->colour.count; colour++)
    draw_series(panel, colour, groups, x);
  rf_free(groups);
  rf_free(x);
}

/* ---- violins ---------------------------------------------------------------------------------- */

/* The density of the values by Gaussian kernels (Silverman's width), drawn to both sides of x. */
static void draw_violin(Panel *panel, double x, double half, rf_index count, RfColour colour) {
  enum { POINTS = 48 };
  const double *values = panel->values;
  double px[2 * POINTS], py[2 * POINTS], density[POINTS], mean = 0, spread = 0, highest = 0;
  for (rf_index i = 0; i < count; i++) mean += values[i] / (double)count;
  for (rf_index i = 0; i < count; i++) spread += (values[i] - mean) * (values[i] - mean) / (double)count;
  double width = 1.06 * sqrt(spread) * pow((double)count, -0.2), low = values[0], high = values[count - 1];
  if (!(width > 0)) return;
  for (int k = 0; k < POINTS; k++) {
    double at = low + (high - low) * k / (POINTS - 1);
    density[k] = 0;
    for (rf_index i = 0; i < count; i++)
      density[k] += exp(-0.5 * (at - values[i]) / width * (at - values[i]) / width);
    highest = fmax(highest, density[k]);
    py[k] = py[2 * POINTS - 1 - k] = rf_plot_y(&panel->plot, at);
  }
  for (int k = 0; k < POINTS; k++) {
    px[k] = x - half * density[k] / highest;
    px[2 * POINTS - 1 - k] = x + half * density[k] / highest;
  }
  rf_svg_polygon(panel->plot.svg, px, py, 2 * POINTS, colour, 0.45);
}

void panel_violins(Panel *panel) {
  const PlotData *data = panel->data;
  RfSvg *svg = panel->plot.svg;
  double slot = panel->plot.width / (double)(data->x.count * data->colour.count + data->x.count);
  for (rf_index k = 0; k < data->x.count; k++) {
    for (rf_index c = 0; c < data->colour.count; c++) {
      rf_index count;
      Group group = plot_group(data, k, -1, c, panel->facet, panel->values, &count);
      double x =
          rf_plot_x(&panel->plot, (double)k) + slot * ((double)c - 0.5 * (double)(data->colour.count - 1));
      if (count > 0) {
        hover_group(panel, k, c, &group);
        draw_violin(panel, x, 0.48 * slot, count, colours[c % 8]);
        rf_svg_line(svg, x, rf_plot_y(&panel->plot, group.low), x, rf_plot_y(&panel->plot, group.high),
                    (RfPen){.colour = colours[c % 8], .width = 3});
        rf_svg_mark(svg, x, rf_plot_y(&panel->plot, group.middle), 4, RF_MARK_DISC, colours[c % 8]);
        plot_hover_end(svg);
      }
      mark_missing(panel, x, c, &group, colours[c % 8]);
    }
  }
}

/* ---- survival --------------------------------------------------------------------------------- */

/* The share of cells above a value. Cells without an answer may be anywhere: the curve is a band between "all
 * below" and "all above". */
static void draw_survival(Panel *panel, rf_index colour) {
  rf_index count;
  Group group = plot_group(panel->data, -1, -1, colour, panel->facet, panel->values, &count);
  double *px = RF_NEW(double, 4 * count + 4), *py = RF_NEW(double, 4 * count + 4);
  rf_index used = 0;
  const RfPlot *plot = &panel->plot;
  if (!px || !py) plot->svg->text.failed = true;
  if (px && py && group.n > 0) {
    double n = (double)group.n, missing = (double)group.missing;
    px[used] = plot->left, py[used++] = rf_plot_y(plot, (double)count / n);
    for (rf_index k = 0; k < count; k++) {
      double x = rf_plot_x(plot, panel->values[k]);
      px[used] = x, py[used] = py[used - 1], used++;
      px[used] = x, py[used++] = rf_plot_y(plot, (double)(count - 1 - k) / n);
    }
    px[used] = plot->left + plot->width, py[used] = py[used - 1], used++;
    plot_hover(plot->svg, "%s: %lld cells, %lld without an answer, median %.6g",
               panel->wish->colour ? panel->data->colour.labels[colour] : "all", (long long)group.n,
               (long long)group.missing, group.middle);
    rf_svg_polyline(plot->svg, px, py, used, (RfPen){.colour = colours[colour % 8], .width = 2});
    rf_index half = used;
    double lift = rf_plot_y(plot, 0) - rf_plot_y(plot, missing / n);
    for (rf_index k = half - 1; k >= 0; k--) px[used] = px[k], py[used++] = py[k] - lift;
    if (group.missing) rf_svg_polygon(plot->svg, px, py, used, colours[colour % 8], 0.18);
    plot_hover_end(plot->svg);
  }
  rf_free(px);
  rf_free(py);
}

void panel_survival(Panel *panel) {
  for (rf_index colour = 0; colour < panel->data->colour.count; colour++) draw_survival(panel, colour);
}

/* ---- heat maps -------------------------------------------------------------------------------- */

/* Viridis, in six steps. */
static void colour_at(double share, int rgb[3]) {
  static const double map[6][3] = {{68, 1, 84},    {65, 68, 135},  {42, 120, 142},
                                   {34, 168, 132}, {122, 209, 81}, {253, 231, 37}};
  double at = 5 * fmin(fmax(share, 0), 1);
  int below = at >= 5 ? 4 : (int)at;
  for (int k = 0; k < 3; k++)
    rgb[k] = (int)lround(map[below][k] + (at - below) * (map[below + 1][k] - map[below][k]));
}

void plot_rectangle(RfSvg *svg, double x, double y, double width, double height, double share) {
  int rgb[3];
  colour_at(share, rgb);
  rf_text_addf(&svg->text,
               "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"rgb(%d,%d,%d)\"/>\n", x, y,
               width, height, rgb[0], rgb[1], rgb[2]);
}

static void draw_tile(Panel *panel, rf_index i, rf_index j, double wide, double high) {
  const PlotData *data = panel->data;
  RfSvg *svg = panel->plot.svg;
  Group group = plot_group(data, i, j, -1, panel->facet, panel->values, NULL);
  double x = panel->plot.left + (double)i * wide;
  double y = panel->plot.top + panel->plot.height - (double)(j + 1) * high;
  char count[40];
  if (group.n == 0) return;
  plot_hover(svg, "%s = %s, %s = %s: %s %.6g [%.6g, %.6g], %lld cells, %lld without an answer",
             panel->wish->x, data->x.labels[i], panel->wish->y, data->y.labels[j],
             data->proportion ? "share" : "median", group.middle, group.low, group.high, (long long)group.n,
             (long long)group.missing);
  if (isnan(group.middle)) {
    double px[] = {x, x + wide, x + wide, x}, py[] = {y, y, y + high, y + high};
    rf_svg_polygon(svg, px, py, 4, RF_COLOUR_FAINT, 1);
  } else {
    double range = panel->high - panel->low;
    plot_rectangle(svg, x, y, wide + 0.3, high + 0.3, range > 0 ? (group.middle - panel->low) / range : 0.5);
  }
  if (group.missing && wide > 18 && high > 11) {
    rf_format(count, sizeof count, "%lld?", (long long)group.missing);
    rf_svg_label(svg, x + wide - 3, y + high - 3, RF_ANCHOR_END, 9, RF_COLOUR_INK, count);
  }
  plot_hover_end(svg);
}

void panel_heat(Panel *panel) {
  double wide = panel->plot.width / (double)panel->data->x.count,
         high = panel->plot.height / (double)panel->data->y.count;
  for (rf_index j = 0; j < panel->data->y.count; j++)
    for (rf_index i = 0; i < panel->data->x.count; i++) draw_tile(panel, i, j, wide, high);
}

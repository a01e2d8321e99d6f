/* Heat maps and level lines. Cells of one colour are one path of horizontal runs, so that a map of some
 * thousand cells stays a small file; levels come from the four triangles of every cell. */
#include "kit/grid.h"

#include <math.h>

enum { shades = 12 };

static int shade(double value, double limit) {
  double scaled = limit > 0 && isfinite(value) ? value / limit : 0;
  return (int)lround(shades * fmax(-1, fmin(1, scaled)));
}

void rf_claim_heat(RfSvg *svg, double left, double top, double width, double height, const double *values,
                   rf_index rows, rf_index cols, double limit) {
  double wide = width / (double)cols, high = height / (double)rows;
  for (int wanted = -shades; wanted <= shades; wanted++) {
    bool begun = false;
    if (wanted == 0) continue; /* the colour of the page */
    for (rf_index r = 0; r < rows; r++)
      for (rf_index c = 0, end; c < cols; c = end) {
        end = c + 1;
        if (shade(values[r * cols + c], limit) != wanted) continue;
        while (end < cols && shade(values[r * cols + end], limit) == wanted) end++;
        if (!begun) rf_text_add(&svg->text, "<path shape-rendering=\"crispEdges\" d=\"");
        begun = true;
        rf_text_addf(&svg->text, "M%.2f %.2fh%.2fv%.2fh%.2fz", left + wide * (double)c,
                     top + high * (double)r, wide * (double)(end - c), high, -wide * (double)(end - c));
      }
    if (begun)
      rf_text_addf(&svg->text, "\" class=\"f %s\" opacity=\"%.3g\"/>\n", wanted < 0 ? "blue" : "vermilion",
                   fabs((double)wanted) / shades);
  }
}

/* Where the value passes the level on the way from p to q: the share of the way. */
static bool passes(double *share, double p, double q, double level) {
  if ((p > level) == (q > level)) return false;
  *share = (level - p) / (q - p);
  return true;
}

void rf_claim_level(const RfPlot *plot, const double *values, rf_index rows, rf_index cols, double level,
                    RfPen pen) {
  static const double corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}}; /* right, down */
  double wide = plot->width / (double)(cols - 1), high = plot->height / (double)(rows - 1);
  for (rf_index r = 0; r + 1 < rows; r++)
    for (rf_index c = 0; c + 1 < cols; c++) {
      const double *at = values + r * cols + c;
      const double v[4] = {at[0], at[1], at[cols + 1], at[cols]}, middle = (v[0] + v[1] + v[2] + v[3]) / 4;
      for (int k = 0; k < 4; k++) { /* the triangle of corners k, k+1 and the middle */
        const double *p = corner[k], *q = corner[(k + 1) % 4], centre[2] = {0.5, 0.5};
        const double *from[3] = {p, q, p}, *to[3] = {q, centre, centre};
        const double ends[3][2] = {{v[k], v[(k + 1) % 4]}, {v[(k + 1) % 4], middle}, {v[k], middle}};
        double x[2], y[2], share;
        int found = 0;
        for (int edge = 0; edge < 3 && found < 2; edge++) {
          if (!passes(&share, ends[edge][0], ends[edge][1], level)) continue;
          x[found] = plot->left + wide * ((double)c + from[edge][0] + share * (to[edge][0] - from[edge][0]));
          y[found++] = plot->top + high * ((double)r + from[edge][1] + share * (to[edge][1] - from[edge][1]));
        }
        if (found == 2) rf_svg_line(plot->svg, x[0], y[0], x[1], y[1], pen);
      }
    }
}

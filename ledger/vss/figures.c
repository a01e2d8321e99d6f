/* Figures of Vardi, Shamir, Srebro: the ratio of Remark 3.1 (E-VS-3), the squared norm that witnesses save
 * (E-VS-4), and their two tables as a picture (E-VS-2). */
#include <math.h>
#include <stdio.h>

#include "kit/figure.h"
#include "reluflow/optimum.h"
#include "vss/vss.h"

/* Data (1,s), (-1,s): the KKT point has |theta|^2/2 = 1/s, the optimum comes from the solver. */
RfStatus rf_vss_draw_ratio(RfClaimRun *run) {
  enum { count = 20 };
  static const double ones[] = {1, 1};
  double s[count], ratio[count], formula[count];
  const double *columns[] = {s, ratio, formula};
  if (!rf_claim_draws(run)) return RF_OK;
  for (int k = 0; k < count; k++) {
    s[k] = pow(10, -4 + 4.0 * k / (count - 1));
    double X[] = {1, s[k], -1, s[k]};
    RfOptimumSettings settings;
    RfOptimum optimum;
    rf_optimum_settings_init(&settings);
    RfStatus status = rf_optimum_solve(run->context, &optimum, X, ones, 2, 2, &settings);
    if (status < 0) return status;
    ratio[k] = sqrt(1 / (s[k] * optimum.objective)),
    formula[k] = fmax(1, sqrt(sqrt(1 + s[k] * s[k]) / (2 * s[k])));
    rf_optimum_free(&optimum);
  }
  RfStatus status = rf_claim_series(run, "E-VS-3.csv", "s,ratio,formula", columns, 3, count);
  if (status) return status;
  RfSvg svg;
  rf_svg_begin(&svg, 560, 380, "E-VS-3: VSS Remark 3.1",
               "Norm of the limit over the norm of the optimum, against s");
  RfPlot plot = {.svg = &svg, .left = 76, .top = 44, .width = 450, .height = 250};
  plot.x = (RfAxis){.low = 8e-5, .high = 1.2, .log = true, .label = "s, for the data (1,s) and (-1,s)"};
  plot.y = (RfAxis){.low = 0.5, .high = 120, .log = true, .label = "norm of the limit / optimum"};
  rf_svg_label(&svg, 20, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "VSS Remark 3.1: the limit can be longer than the optimum by any factor");
  rf_plot_axes(&plot);
  rf_plot_line(&plot, s, formula, count, (RfPen){.colour = RF_COLOUR_ORANGE, .width = 2.4});
  rf_plot_marks(&plot, s, ratio, count, RF_MARK_DISC, RF_COLOUR_BLUE);
  const RfLegendEntry entries[] = {{"computed", RF_COLOUR_BLUE, RF_MARK_DISC},
                                   {"predicted, (1+s²)^¼ / (2s)^½, at least 1", RF_COLOUR_ORANGE, -1}};
  rf_svg_legend(&svg, 76, 350, 450, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-VS-3.svg");
}

enum { n_families = 5, n_radii = 50 };

/* Squared distance and saved squared norm of a witness theta of `point`. */
static void compare(double *distance, double *saved, const double *theta, const double *point, int count) {
  double d2 = 0, drop = 0;
  for (int p = 0; p < count; p++)
    d2 += pow(theta[p] - point[p], 2), drop += point[p] * point[p] - theta[p] * theta[p];
  *distance = sqrt(d2), *saved = drop;
}

/* The witness of family `family` with parameter e, as in the proofs of VSS-07, 11, 14, 17 and 18 (depth 3).
 */
static void witness(double *distance, double *saved, int family, double e) {
  double r = sqrt(0.5), u = sqrt(1 - e), v = sqrt(e / 2), root = sqrt(e), c = cbrt(0.5), t = sqrt(2 * e);
  switch (family) {
  case 0:
    compare(distance, saved, (double[]){e / 2, 2 - 2 * e, -t, 0, 2, t}, (double[]){0, 2, 0, 0, 2, 0}, 6);
    return;
  case 1: compare(distance, saved, (double[]){u, v, u, v}, (double[]){1, 0, 1, 0}, 4); return;
  case 2:
    compare(distance, saved, (double[]){e, 1 - e, 1 - e, -e, -e, -1 + e, -1 + e, e},
            (double[]){0, 1, 1, 0, 0, -1, -1, 0}, 8);
    return;
  case 3:
    compare(distance, saved, (double[]){root, 1 - e, r + root / 2, r - root / 2}, (double[]){0, 1, r, r}, 4);
    return;
  default: {
    double high = cbrt((1 + e) / 2), low = cbrt((1 - e) / 2);
    compare(distance, saved, (double[]){high, low, high, low, high, low}, (double[]){c, c, c, c, c, c}, 6);
  }
  }
}

RfStatus rf_vss_draw_witnesses(RfClaimRun *run) {
  static const RfLegendEntry entries[n_families] = {{"Thm 3.2", RF_COLOUR_BLUE, -1},
                                                    {"Thm 4.1", RF_COLOUR_ORANGE, -1},
                                                    {"Thm 4.2", RF_COLOUR_GREEN, -1},
                                                    {"Thm 4.4", RF_COLOUR_VERMILION, -1},
                                                    {"Thm 5.1, depth 3", RF_COLOUR_PURPLE, -1}};
  double distance[n_families][n_radii], saved[n_families][n_radii];
  const double *columns[2 * n_families];
  if (!rf_claim_draws(run)) return RF_OK;
  for (int f = 0; f < n_families; f++) {
    for (int k = 0; k < n_radii; k++) {
      witness(&distance[f][k], &saved[f][k], f, pow(10, -6 + 5.3 * k / (n_radii - 1)));
      rf_claim_at_least(run, "squared norm that a witness saves", saved[f][k], 0, 0);
    }
    columns[2 * f] = distance[f], columns[2 * f + 1] = saved[f];
  }
  RfStatus status = rf_claim_series(run, "E-VS-4.csv",
                                    "distance_3.2,saved_3.2,distance_4.1,saved_4.1,distance_4.2,saved_4.2,"
                                    "distance_4.4,saved_4.4,distance_5.1,saved_5.1",
                                    columns, 2 * n_families, n_radii);
  if (status) return status;
  RfSvg svg;
  rf_svg_begin(&svg, 600, 400, "E-VS-4: VSS witnesses",
               "Squared norm saved by the witnesses, over their distance");
  RfPlot plot = {.svg = &svg, .left = 80, .top = 44, .width = 490, .height = 260};
  plot.x = (RfAxis){.low = 5e-7, .high = 2, .log = true, .label = "distance to the KKT point"};
  plot.y = (RfAxis){.low = 1e-13, .high = 10, .log = true, .label = "squared norm saved"};
  rf_svg_label(&svg, 20, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "VSS: as near as one likes there is a shorter network that fits");
  rf_plot_axes(&plot);
  for (int f = 0; f < n_families; f++)
    rf_plot_line(&plot, distance[f], saved[f], n_radii, (RfPen){.colour = entries[f].colour, .width = 2.2});
  rf_svg_legend(&svg, 80, 358, 490, entries, n_families);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-VS-4.svg");
}

RfStatus rf_vss_draw_table(RfClaimRun *run, const char *const (*rows)[4], const bool *holds, int count) {
  static const double columns[] = {24, 84, 330, 420, 640};
  static const char *const heads[] = {"table", "network", "activation", "verdict", "computed"};
  if (!rf_claim_draws(run)) return RF_OK;
  RfSvg svg;
  rf_svg_begin(&svg, 740, 80 + 24 * count, "E-VS-2: VSS Tables 1 and 2",
               "Which limits are local and global optima");
  rf_svg_label(&svg, 20, 22, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "VSS Tables 1 and 2: where gradient flow ends");
  for (int c = 0; c < 5; c++)
    rf_svg_label(&svg, columns[c], 52, RF_ANCHOR_START, 13, RF_COLOUR_BLUE, heads[c]);
  for (int k = 0; k < count; k++) {
    double y = 78 + 24 * k;
    rf_svg_line(&svg, 20, y - 17, 720, y - 17, (RfPen){.colour = RF_COLOUR_FAINT, .width = 0.8});
    for (int c = 0; c < 4; c++)
      rf_svg_label(&svg, columns[c], y, RF_ANCHOR_START, 13, RF_COLOUR_INK, rows[k][c]);
    rf_svg_label(&svg, columns[4], y, RF_ANCHOR_START, 13, holds[k] ? RF_COLOUR_GREEN : RF_COLOUR_VERMILION,
                 holds[k] ? "agrees" : "differs");
  }
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-VS-2.svg");
}

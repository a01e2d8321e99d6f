/* Lyu, Li, Wang, Arora: Figure 1 (LLWA-37, recipes E-LL-1 to E-LL-3) and Figure 2 (LLWA-38, E-LL-4):
 * classifiers on the three data sets of Appendix I.1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/grid.h"
#include "llwa/llwa.h"
#include "la/la.h"
#include "reluflow/optimum.h"
#include "reluflow/train.h"

enum { cells = 120 }; /* even: no line of points on an axis */

/* A data set of the figure and the window it is shown in; in three dimensions the slice z = height. */
typedef struct Scene {
  const char *spec, *figure, *recipe;
  double low[2], high[2], height;
  const char *name;  /* of the classifier that is not the optimum */
  double margins[2]; /* as the ledger states them: this one and the optimum */
  bool wide;         /* also shown near the origin */
  int hints;         /* the last samples, drawn as crosses */
} Scene;

static const Scene scenes[] = {
    {"DS-LL1(0.5)",
     "Figure 1 left",
     "E-LL-1",
     {-2.5, -2.5},
     {2.5, 2.5},
     0,
     "KKT point",
     {0.3561, 0.375},
     false,
     0},
    {"DS-MID", "Figure 1 middle", "E-LL-2", {-2, -2}, {36, 2}, 0.02, "one neuron", {0.0269, 0.0982}, true, 0},
    {"DS-HINT(20,1,0.1)",
     "Figure 1 right",
     "E-LL-3",
     {-2, -2},
     {22, 2},
     0,
     "linear limit",
     {0.05, 0.10543},
     true,
     3},
};

/* f/|f|max over the window, row 0 at the top; x is divided by `scale` first. */
static void sample_plane(double *values, const RfNet *net, const Scene *scene, double scale) {
  for (int r = 0; r < cells; r++)
    for (int c = 0; c < cells; c++) {
      double x[3] = {scene->low[0] + (scene->high[0] - scene->low[0]) * c / (cells - 1),
                     scene->high[1] - (scene->high[1] - scene->low[1]) * r / (cells - 1), scene->height};
      rf_la_scale(x, 1 / scale, 3);
      values[r * cells + c] = rf_llwa_output(net, x);
    }
}

static void draw_samples(const RfPlot *plot, const Scene *scene, const RfLlwaSet *set) {
  for (rf_index i = 0; i < set->n; i++) {
    double x = set->X[i * set->d] * set->scale, y = set->X[i * set->d + 1] * set->scale;
    if (x < plot->x.low || x > plot->x.high || y < plot->y.low || y > plot->y.high) continue;
    RfMark mark = i >= set->n - scene->hints ? RF_MARK_CROSS : set->y[i] > 0 ? RF_MARK_DISC : RF_MARK_SQUARE;
    rf_svg_mark(plot->svg, rf_plot_x(plot, x), rf_plot_y(plot, y), 4.5, mark,
                set->y[i] > 0 ? RF_COLOUR_PLUS : RF_COLOUR_MINUS);
  }
}

static void draw_plane(RfSvg *svg, int row, int column, const Scene *scene, const RfLlwaSet *set,
                       const double *values, const double *other, const char *title) {
  double largest = rf_la_max_abs(values, cells * cells);
  RfPlot plot = {.svg = svg, .left = 70 + 400 * column, .top = 90 + 380 * row, .width = 320, .height = 300};
  plot.x = (RfAxis){.low = scene->low[0], .high = scene->high[0], .label = "first coordinate"};
  plot.y = (RfAxis){.low = scene->low[1], .high = scene->high[1], .label = "second coordinate"};
  rf_claim_heat(svg, plot.left, plot.top, plot.width, plot.height, values, cells, cells, 1.6 * largest);
  rf_plot_axes(&plot);
  for (int k = -4; k <= 4; k++)
    if (k)
      rf_claim_level(&plot, values, cells, cells, k * largest / 5,
                     (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
  if (other)
    rf_claim_level(&plot, other, cells, cells, 0,
                   (RfPen){.colour = RF_COLOUR_PURPLE, .width = 2, .dashed = true});
  rf_claim_level(&plot, values, cells, cells, 0, (RfPen){.colour = RF_COLOUR_INK, .width = 2.5});
  draw_samples(&plot, scene, set);
  if (title)
    rf_svg_label(svg, plot.left + plot.width / 2, plot.top - 10, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, title);
}

/* The window near the origin. */
static Scene near_origin(const Scene *scene) {
  Scene near = *scene;
  near.low[0] = -1.5, near.high[0] = 1.5;
  return near;
}

/* ---- LLWA-37: Figure 1 --------------------------------------------------------------------- */

/* The classifier of the figure at |theta| = 1: the KKT point of App. I.1.1, or the one-neuron solution. */
static RfStatus first_classifier(RfClaimRun *run, RfNet *net, const RfLlwaSet *set, int which) {
  if (which > 0) {
    RfLlwaOneSided one;
    RfStatus status = rf_llwa_one_sided(run, &one, set, 1);
    net->m = 1;
    if (!status) rf_llwa_single(net, one.w, 1);
    return status;
  }
  double beta = atan(1 / set->X[1]), a1 = 1 / sqrt(2 * (1 + set->leak) * cos(beta)),
         a3 = 1 / sqrt(1 + set->leak);
  const double W[] = {a1 * cos(beta), a1 * sin(beta), a1 * cos(beta), -a1 * sin(beta), -a3, 0},
               a[] = {a1, a1, -a3};
  net->m = 3;
  memcpy(net->W, W, sizeof W), memcpy(net->a, a, sizeof a);
  rf_llwa_copy(net, net, 1 / sqrt(rf_net_norm2(net)));
  return RF_OK;
}

static RfStatus picture_one(RfClaimRun *run, const Scene *scene, const RfLlwaSet *set, const RfNet *nets[2],
                            const double margins[2]) {
  if (!rf_claim_draws(run)) return RF_OK;
  double *values = RF_NEW(double, 6 * cells * cells);
  if (!values) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  double *grid[] = {values, values + cells * cells, values + 2 * cells * cells, values + 3 * cells * cells};
  const char *names[] = {scene->name, "global optimum"};
  char title[120], file[24];
  RfSvg svg = {0};
  for (int k = 0; k < 2; k++) sample_plane(grid[k], nets[k], scene, 1);
  for (int k = 0; k < cells * cells; k++) {
    grid[2][k] = scene->low[0] + (scene->high[0] - scene->low[0]) * (k % cells) / (cells - 1);
    int row = k / cells;
    grid[3][k] = scene->high[1] - (scene->high[1] - scene->low[1]) * row / (cells - 1);
  }
  rf_format(title, sizeof title, "LLWA %s: two classifiers and their normalised margins", scene->figure);
  rf_svg_begin(&svg, 830, scene->wide ? 850 : 470, title,
               "output of two networks over the plane, with their zero lines and the samples");
  rf_svg_label(&svg, 70, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK, title);
  const RfLegendEntry legend[] = {{"zero line", RF_COLOUR_INK, -1},
                                  {"zero line of the other", RF_COLOUR_PURPLE, -2},
                                  {"label +1", RF_COLOUR_PLUS, RF_MARK_DISC},
                                  {"label -1", RF_COLOUR_MINUS, RF_MARK_SQUARE},
                                  {"hint, label +1", RF_COLOUR_PLUS, RF_MARK_CROSS}};
  rf_svg_legend(&svg, 70, 44, 740, legend, scene->hints ? 5 : 4);
  for (int k = 0; k < 2; k++) {
    rf_format(title, sizeof title, "%s, margin %.5f", names[k], margins[k]);
    draw_plane(&svg, 0, k, scene, set, grid[k], grid[1 - k], title);
  }
  for (int k = 0; k < 2 && scene->wide; k++) {
    Scene near = near_origin(scene);
    double *zoom[] = {values + 4 * cells * cells, values + 5 * cells * cells};
    for (int z = 0; z < 2; z++) sample_plane(zoom[z], nets[z], &near, 1);
    draw_plane(&svg, 1, k, &near, set, zoom[k], zoom[1 - k], "near the origin");
  }
  rf_svg_end(&svg);
  const double *columns[] = {grid[2], grid[3], grid[0], grid[1]};
  rf_format(file, sizeof file, "%s.csv", scene->recipe);
  RfStatus status = rf_claim_series(run, file, "x,y,f_first,f_optimum", columns, 4, cells * cells);
  rf_format(file, sizeof file, "%s.svg", scene->recipe);
  if (!status)
    status = rf_claim_picture(run, &svg, file);
  else
    rf_svg_free(&svg);
  rf_free(values);
  return status;
}

static RfStatus judge_scene(RfClaimRun *run, int which, double margins[2]) {
  const Scene *scene = &scenes[which];
  RfLlwaSet set;
  RfOptimum best = {0};
  RfNet optimum = {0};
  double W[4 * RF_LLWA_D], a[4];
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  RfStatus status = rf_llwa_load(run, &set, scene->spec, 0.5, 1);
  if (status) return status;
  RfNet first = {.d = set.d, .W = W, .a = a, .leak = set.leak};
  settings.leak = set.leak;
  status = first_classifier(run, &first, &set, which);
  if (!status) status = rf_optimum_solve(run->context, &best, set.X, set.y, set.n, set.d, &settings);
  if (!status) status = rf_optimum_net(run->context, &optimum, &best);
  if (!status) {
    const RfNet *nets[] = {&first, &optimum};
    rf_llwa_copy(&optimum, &optimum, 1 / sqrt(rf_net_norm2(&optimum)));
    margins[0] = rf_llwa_least(&first, &set), margins[1] = rf_llwa_least(&optimum, &set);
    for (int k = 0; k < 2; k++) /* to the digits stated */
      rf_claim_close(run, "normalised margin", margins[k], scene->margins[k], k && which == 2 ? 5e-6 : 5e-5);
    rf_claim_at_most(run, "gap of the optimum", best.gap, 0, 1e-7);
    status = picture_one(run, scene, &set, nets, margins);
  }
  rf_net_free(&optimum);
  rf_optimum_free(&best);
  rf_llwa_free(&set);
  return status;
}

RfStatus rf_llwa_37(RfClaimRun *run) {
  double margins[3][2] = {{0}};
  for (int k = 0; k < 3; k++) {
    RfStatus status = judge_scene(run, k, margins[k]);
    if (status) return status;
  }
  rf_claim_note(run, "left %.5f against %.5f, middle %.5f against %.5f, right %.5f against %.5f",
                margins[0][0], margins[0][1], margins[1][0], margins[1][1], margins[2][0], margins[2][1]);
  return RF_OK;
}

/* ---- LLWA-38: Figure 2 --------------------------------------------------------------------- */

/* Largest distance of the zero set on the grid from its best line, over the width of the window (coordinates
 * are taken in units of the window, as they are seen). */
static double zero_bend(const double *values) {
  double mean[2] = {0, 0}, S[4] = {0}, worst = 0, count = 0, normal[2];
  for (int pass = 0; pass < 3; pass++) { /* mean, scatter, distances */
    for (int k = 0; k < cells * cells; k++)
      for (int down = 0; down < 2; down++) {
        int r = k / cells, c = k % cells, next = down ? k + cells : k + 1;
        if ((down ? r : c) + 1 == cells || (values[k] > 0) == (values[next] > 0)) continue;
        double share = values[k] / (values[k] - values[next]);
        double x = (c + (down ? 0 : share)) / (cells - 1), y = (r + (down ? share : 0)) / (cells - 1);
        if (pass == 0) mean[0] += x, mean[1] += y, count++;
        x -= mean[0] / count, y -= mean[1] / count;
        if (pass == 1) S[0] += x * x, S[1] += x * y, S[3] += y * y;
        if (pass == 2) worst = fmax(worst, fabs(normal[0] * x + normal[1] * y));
      }
    if (count == 0) return INFINITY;
    if (pass == 1) { /* the direction of least scatter */
      double angle = 0.5 * atan2(2 * S[1], S[0] - S[3]) + acos(0.0);
      normal[0] = cos(angle), normal[1] = sin(angle);
    }
  }
  return worst;
}

static RfStatus trained(RfClaimRun *run, RfNet *out, double *min_q, const RfLlwaSet *set, rf_index steps) {
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  RfTrainData samples = {.X = set->X, .y = set->y, .n = set->n};
  RfNet start = {0};
  RfLayeredNet net = {0};
  RfTrainResult result = {0};
  settings.mean = true, settings.rate = 0.05, settings.max_steps = steps, settings.record_every = steps;
  RfStatus status =
      rf_net_init(run->context, &start, RF_INIT_HE, 20, set->d, set->leak, rf_claim_seed(run, "start", 0), 1);
  if (!status) status = rf_train_from_net(run->context, &net, &start);
  if (!status) rf_la_scale(net.theta, 1e-3, net.n_parameters);
  if (!status) status = rf_train_run(run->context, &result, &net, &samples, &settings);
  if (!status) status = rf_train_to_net(run->context, out, &result.net), *min_q = result.last.min_q;
  rf_train_result_free(&result);
  rf_layers_free(&net);
  rf_net_free(&start);
  return status;
}

RfStatus rf_llwa_38(RfClaimRun *run) {
  rf_index steps = run->settings->quick ? 20000 : 100000;
  double *values = RF_NEW(double, 4 * cells * cells), worst = 0, least = INFINITY;
  const double *columns[3];
  RfSvg svg = {0};
  RfStatus status = values ? RF_OK : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  rf_svg_begin(&svg, 1230, 850, "LLWA Figure 2", "output of trained networks on the three data sets");
  rf_svg_label(&svg, 70, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK,
               "LLWA Figure 2: gradient descent from weights of 0.001, 20 neurons, leak 1/2: the zero line "
               "is straight");
  const RfLegendEntry legend[] = {{"zero line of the network", RF_COLOUR_INK, -1},
                                  {"label +1", RF_COLOUR_PLUS, RF_MARK_DISC},
                                  {"hint, label +1", RF_COLOUR_PLUS, RF_MARK_CROSS},
                                  {"label -1", RF_COLOUR_MINUS, RF_MARK_SQUARE}};
  rf_svg_legend(&svg, 70, 44, 900, legend, 4);
  for (int k = 0; k < 3 && !status; k++) {
    RfLlwaSet set;
    RfNet net = {0};
    double *grid = values + k * cells * cells, min_q = NAN;
    char title[100];
    status = rf_llwa_load(run, &set, scenes[k].spec, 0.5, 0);
    if (status) break;
    status = trained(run, &net, &min_q, &set, steps);
    if (!status) {
      sample_plane(grid, &net, &scenes[k], set.scale);
      double bend = zero_bend(grid);
      rf_claim_at_least(run, "every sample is right after training", min_q, 0, 0);
      rf_claim_at_most(run, "deviation of the zero line from a line over the width of the window", bend, 0,
                       0.02);
      worst = fmax(worst, bend), least = fmin(least, min_q), columns[k] = grid;
      rf_format(title, sizeof title, "%s, deviation %.1e", scenes[k].spec, bend);
      draw_plane(&svg, 0, k, &scenes[k], &set, grid, NULL, title);
      if (scenes[k].wide) {
        Scene near = near_origin(&scenes[k]);
        sample_plane(values + 3 * cells * cells, &net, &near, set.scale);
        bend = zero_bend(values + 3 * cells * cells);
        rf_claim_at_most(run, "the same near the origin", bend, 0, 0.02);
        worst = fmax(worst, bend);
        draw_plane(&svg, 1, k, &near, &set, values + 3 * cells * cells, NULL, "near the origin");
      }
    }
    rf_net_free(&net);
    rf_llwa_free(&set);
  }
  rf_svg_end(&svg);
  rf_claim_note(run, "%lld steps of size 0.05; largest deviation %.1e of the window, smallest y f(x) %.2f",
                (long long)steps, worst, least);
  if (!status)
    status = rf_claim_series(run, "E-LL-4.csv", "f_kkt_left,f_stripes,f_hinted", columns, 3, cells * cells);
  if (!status && rf_claim_draws(run))
    status = rf_claim_picture(run, &svg, "E-LL-4.svg");
  else
    rf_svg_free(&svg);
  rf_free(values);
  return status;
}

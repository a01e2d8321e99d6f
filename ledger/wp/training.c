/* Wang and Pilanci: gradient descent on the two examples of appendix F. WP-29 (Figures 3, 4, 5, 7), WP-30
 * (Figure 10), recipes E-WP-4, -5, -6. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/data.h"
#include "la/la.h"
#include "reluflow/train.h"
#include "wp/wp.h"
#include "wp/figures.h"

enum { WIDTH = 10, SNAPSHOTS = 6, PANELS = 6 };
static const rf_index marks[SNAPSHOTS] = {0, 1, 10, 100, 1000, 10000};

typedef struct Descent {
  double W[SNAPSHOTS][2 * WIDTH], a[SNAPSHOTS][WIDTH];
} Descent;

/* Weights N(0, 1e-6), rate 0.01, summed logistic loss; the states of `marks`. */
static RfStatus descend(RfClaimRun *run, Descent *descent, const RfDataset *data, uint64_t seed) {
  RfNet net;
  RfLayeredNet layered;
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  RfTrainData train = {.X = data->X, .y = data->y, .n = data->n};
  RfStatus status = rf_net_init(run->context, &net, RF_INIT_UNBALANCED, WIDTH, 2, 0, seed, 1);
  if (status) return status;
  rf_la_scale(net.W, 1e-3, 2 * WIDTH), rf_la_scale(net.a, 1e-3, WIDTH);
  for (int k = 0; k < SNAPSHOTS && !status; k++) {
    settings.max_steps = marks[k] - (k ? marks[k - 1] : 0);
    if (settings.max_steps > 0) {
      RfTrainResult result;
      status = rf_train_from_net(run->context, &layered, &net);
      if (status) break;
      status = rf_train_run(run->context, &result, &layered, &train, &settings);
      rf_layers_free(&layered);
      if (status) break;
      rf_net_free(&net);
      status = rf_train_to_net(run->context, &net, &result.net);
      rf_train_result_free(&result);
      if (status) return status;
    }
    memcpy(descent->W[k], net.W, sizeof descent->W[k]);
    memcpy(descent->a[k], net.a, sizeof descent->a[k]);
  }
  rf_net_free(&net);
  return status;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

static const RfColour iteration_colours[SNAPSHOTS] = {RF_COLOUR_FAINT, RF_COLOUR_PURPLE, RF_COLOUR_BLUE,
                                                      RF_COLOUR_GREEN, RF_COLOUR_ORANGE, RF_COLOUR_VERMILION};

/* One panel: directions, or rectified outputs of the directions, at the iterations; stars are the best
 * neurons. */
static void draw_panel(RfPlot *plot, const Descent *descent, const RfDataset *data, const RfOptimum *optimum,
                       bool outputs) {
  rf_plot_axes(plot);
  if (outputs) {
    rf_wp_outline(plot, data->X);
  } else {
    double x[181], y[181];
    for (int k = 0; k <= 180; k++) x[k] = cos(k * 0.0349065850398866), y[k] = sin(k * 0.0349065850398866);
    rf_plot_line(plot, x, y, 181, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
  }
  for (rf_index j = 0; j < WIDTH; j++) {
    double x[SNAPSHOTS], y[SNAPSHOTS];
    for (int k = 1; k < SNAPSHOTS; k++) {
      const double *w = descent->W[k] + 2 * j;
      double size = rf_la_norm(w, 2);
      x[k] = outputs ? fmax(0, rf_la_dot(data->X, w, 2)) / size : w[0] / size;
      y[k] = outputs ? fmax(0, rf_la_dot(data->X + 2, w, 2)) / size : w[1] / size;
    }
    rf_plot_line(plot, x + 1, y + 1, SNAPSHOTS - 1,
                 (RfPen){.colour = RF_COLOUR_INK, .width = 0.8, .opacity = 0.5});
    for (int k = 1; k < SNAPSHOTS; k++)
      rf_plot_marks(plot, x + k, y + k, 1, RF_MARK_DISC, iteration_colours[k]);
  }
  for (rf_index k = 0; k < optimum->neurons; k++) {
    const double *u = optimum->U + 2 * k;
    double size = rf_la_norm(u, 2);
    double x = outputs ? fmax(0, rf_la_dot(data->X, u, 2)) / size : u[0] / size;
    double y = outputs ? fmax(0, rf_la_dot(data->X + 2, u, 2)) / size : u[1] / size;
    rf_wp_star(plot, x, y, plot->width > 250 ? 9 : 7, RF_COLOUR_INK);
  }
}

static void iteration_legend(RfSvg *svg, double left, double top, double width) {
  RfLegendEntry entries[] = {
      {"iteration 1", RF_COLOUR_PURPLE, RF_MARK_DISC}, {"10", RF_COLOUR_BLUE, RF_MARK_DISC},
      {"100", RF_COLOUR_GREEN, RF_MARK_DISC},          {"1000", RF_COLOUR_ORANGE, RF_MARK_DISC},
      {"10000", RF_COLOUR_VERMILION, RF_MARK_DISC},    {"best neurons (stars)", RF_COLOUR_INK, -3}};
  rf_svg_legend(svg, left, top, width, entries, 6);
}

static RfStatus write_descents(RfClaimRun *run, const char *name, const Descent *descents, int count) {
  RfText csv = {0};
  rf_text_add(&csv, "seed,iteration,neuron,w1,w2,a\n");
  for (int s = 0; s < count; s++)
    for (int k = 0; k < SNAPSHOTS; k++)
      for (rf_index j = 0; j < WIDTH; j++)
        rf_text_addf(&csv, "%d,%lld,%lld,%.17g,%.17g,%.17g\n", s, (long long)marks[k], (long long)j,
                     descents[s].W[k][2 * j], descents[s].W[k][2 * j + 1], descents[s].a[k][j]);
  RfStatus status = rf_claim_text(run, name, rf_text_string(&csv));
  rf_text_free(&csv);
  return status;
}

/* Figures 3 and 4: one seed, outputs left and directions right. */
static RfStatus draw_one(RfClaimRun *run, const Descent *descent, const RfDataset *data,
                         const RfOptimum *optimum) {
  RfSvg svg;
  if (!rf_claim_draws(run)) return RF_OK;
  RfStatus status = write_descents(run, "E-WP-4.csv", descent, 1);
  if (status) return status;
  rf_svg_begin(&svg, 840, 475, "Wang and Pilanci, Figures 3, 4 and 5", "Gradient descent on the data of F.1");
  rf_svg_label(&svg, 20, 24, RF_ANCHOR_START, 16, RF_COLOUR_INK,
               "Wang & Pilanci, Figures 3, 4, 5: gradient descent on F.1, ten neurons");
  RfPlot left = rf_wp_square(&svg, 75, 60, 330, 2, "output on sample 1", "output on sample 2");
  RfPlot right = rf_wp_square(&svg, 475, 60, 330, 1.3, "w1/|w|", "w2/|w|");
  draw_panel(&left, descent, data, optimum, true);
  draw_panel(&right, descent, data, optimum, false);
  rf_svg_label(&svg, 240, 52, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, "rectified outputs of w/|w| (Figure 3)");
  rf_svg_label(&svg, 640, 52, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, "directions w/|w| (Figure 4)");
  iteration_legend(&svg, 75, 452, 740);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-WP-4.svg");
}

/* Figures 7 and 10: six seeds, a row of outputs above a row of directions, twice. */
static RfStatus draw_six(RfClaimRun *run, const char *recipe, const char *title, const Descent *descents,
                         const RfDataset *data, const RfOptimum *optimum) {
  RfSvg svg;
  char name[32];
  if (!rf_claim_draws(run)) return RF_OK;
  rf_format(name, sizeof name, "%s.csv", recipe);
  RfStatus status = write_descents(run, name, descents, PANELS);
  if (status) return status;
  rf_svg_begin(&svg, 870, 1150, title, "Gradient descent from six seeds");
  rf_svg_label(&svg, 20, 24, RF_ANCHOR_START, 16, RF_COLOUR_INK, title);
  for (int s = 0; s < PANELS; s++)
    for (int part = 0; part < 2; part++) {
      int row = 2 * (s / 3) + part;
      double left = 75 + 280 * (s % 3), top = 65 + 265 * row;
      char label[48];
      RfPlot plot = rf_wp_square(&svg, left, top, 200, part ? 1.3 : 2, part ? "w1/|w|" : "output on sample 1",
                                 part ? "w2/|w|" : "output on sample 2");
      draw_panel(&plot, &descents[s], data, optimum, part == 0);
      rf_format(label, sizeof label, "seed %d, %s", s, part ? "directions" : "outputs");
      rf_svg_label(&svg, left + 100, top - 8, RF_ANCHOR_MIDDLE, 12, RF_COLOUR_INK, label);
    }
  iteration_legend(&svg, 60, 1125, 780);
  rf_svg_end(&svg);
  rf_format(name, sizeof name, "%s.svg", recipe);
  return rf_claim_picture(run, &svg, name);
}

/* ---- WP-29 -------------------------------------------------------------------------------------- */

/* Neurons with (9) end near a best direction; neurons that see no sample keep their bits. */
static void judge_spiky(RfClaimRun *run, const Descent *descent, const RfDataset *data,
                        const RfOptimum *optimum, rf_index *aligned, rf_index *dead) {
  for (rf_index j = 0; j < WIDTH; j++) {
    const double *w0 = descent->W[0] + 2 * j, *w = descent->W[SNAPSHOTS - 1] + 2 * j;
    double G = rf_wp_rectified(data->X, 2, 2, data->y, w0), best = -1;
    bool sees = rf_la_dot(data->X, w0, 2) > 0 || rf_la_dot(data->X + 2, w0, 2) > 0;
    if (!sees) {
      ++*dead;
      rf_claim_true(run, "a dead neuron keeps its bits",
                    w0[0] == w[0] && w0[1] == w[1] && descent->a[0][j] == descent->a[SNAPSHOTS - 1][j]);
    }
    if (!(G * descent->a[0][j] > 0)) continue;
    ++*aligned;
    for (rf_index k = 0; k < optimum->neurons; k++) {
      const double *u = optimum->U + 2 * k;
      best = fmax(best, rf_la_dot(u, w, 2) / (rf_la_norm(u, 2) * rf_la_norm(w, 2)));
    }
    rf_claim_at_least(run, "cosine with a best neuron after 10000 iterations", best, 0.99, 0);
  }
}

/* Runs six seeds (more with --seeds) on a set, with `judge` for each. */
typedef void (*Judge)(RfClaimRun *, const Descent *, const RfDataset *, const RfOptimum *, rf_index *,
                      rf_index *);

static RfStatus six_seeds(RfClaimRun *run, const char *spec, Judge judge, bool spiky, rf_index counts[2]) {
  RfDataset data;
  RfOptimum optimum = {0};
  Descent *descents = RF_NEW(Descent, PANELS);
  RfStatus status = rf_claim_generate(run, &data, spec);
  if (status || !descents) {
    rf_free(descents);
    return status ? status : rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  }
  status = rf_wp_optimum(run->context, &optimum, &data);
  rf_index seeds = run->settings->quick ? 2 : rf_claim_repetitions(run, PANELS);
  if (rf_claim_draws(run) && seeds < PANELS) seeds = PANELS;
  for (rf_index seed = 0; seed < seeds && !status; seed++) {
    Descent *descent = &descents[seed < PANELS ? seed : PANELS - 1];
    Descent other;
    if (seed >= PANELS) descent = &other;
    status = descend(run, descent, &data, (uint64_t)rf_wp_seed(run, seed));
    if (!status) judge(run, descent, &data, &optimum, &counts[0], &counts[1]);
  }
  if (!status && spiky) status = draw_one(run, descents, &data, &optimum);
  if (!status)
    status = draw_six(run, spiky ? "E-WP-5" : "E-WP-6",
                      spiky ? "Wang & Pilanci, Figure 7: gradient descent on F.1 from six seeds"
                            : "Wang & Pilanci, Figure 10: gradient descent on F.2 from six seeds",
                      descents, &data, &optimum);
  rf_optimum_free(&optimum);
  rf_dataset_free(&data);
  rf_free(descents);
  return status;
}

RfStatus rf_wp_29(RfClaimRun *run) {
  rf_index counts[2] = {0};
  RfStatus status = six_seeds(run, "DS-WP1", judge_spiky, true, counts);
  rf_claim_true(run, "there are neurons with (9)", counts[0] > 0);
  rf_claim_note(run, "%lld neurons with (9), %lld dead", (long long)counts[0], (long long)counts[1]);
  return status;
}

/* ---- WP-30 -------------------------------------------------------------------------------------- */

static void judge_smooth(RfClaimRun *run, const Descent *descent, const RfDataset *data,
                         const RfOptimum *optimum, rf_index *positive, rf_index *changed) {
  const double *end = descent->W[SNAPSHOTS - 1], *a = descent->a[SNAPSHOTS - 1], *u = optimum->U;
  double largest = 0;
  rf_claim_close(run, "one best neuron", (double)optimum->neurons, 1, 0);
  for (rf_index j = 0; j < WIDTH; j++) largest = fmax(largest, rf_la_norm(end + 2 * j, 2));
  for (rf_index j = 0; j < WIDTH; j++) {
    const double *w = end + 2 * j;
    double size = rf_la_norm(w, 2);
    *changed += a[j] * descent->a[0][j] < 0;
    bool sees = rf_la_dot(data->X, w, 2) > 0 || rf_la_dot(data->X + 2, w, 2) > 0;
    if (a[j] > 0 && sees && size >= 0.1 * largest) { /* where none learns, all are of the size of the start */
      ++*positive;
      rf_claim_at_least(run, "cosine with the best neuron", rf_la_dot(u, w, 2) / (rf_la_norm(u, 2) * size),
                        0.985, 0);
    }
    for (int i = 0; i < 2 && a[j] < 0; i++)
      rf_claim_at_most(run, "a < 0: no sample is seen", rf_la_dot(data->X + 2 * i, w, 2), 0, 0);
  }
}

RfStatus rf_wp_30(RfClaimRun *run) {
  rf_index counts[2] = {0};
  RfStatus status = six_seeds(run, "DS-WP2", judge_smooth, false, counts);
  rf_claim_true(run, "there are neurons with a > 0", counts[0] > 0);
  rf_claim_note(run, "%lld large neurons with a > 0; %lld changed the sign of a", (long long)counts[0],
                (long long)counts[1]);
  return status;
}

/* Wang and Pilanci: KKT points and limits of the flow. WP-04 (Proposition 3), WP-22 (Theorem 4), WP-23 and
 * WP-24 (Theorem 2 for two and for three classes). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "reluflow/certify.h"
#include "la/la.h"
#include "kit/setting.h"
#include "wp/wp.h"

enum { WIDTH = 10 };

/* ---- WP-04: Proposition 3 ----------------------------------------------------------------------- */

/* The best mask of one neuron: 1 and 0 off the hyperplanes, every choice on them. Returns |X^T D lam - w/a|
 * and |X^T D lam|. */
static double best_mask(double *length, const RfNet *net, rf_index k, const double *X, rf_index n,
                        const double *lam) {
  rf_index d = net->d, kinks[RF_WP_MOST], n_kinks = 0;
  const double *w = net->W + k * d;
  double best = INFINITY;
  uint64_t on = 0;
  for (rf_index i = 0; i < n; i++) {
    double side = rf_la_dot(X + i * d, w, d) / (rf_la_norm(X + i * d, d) * rf_la_norm(w, d));
    if (side > 1e-9) on |= (uint64_t)1 << i;
    if (fabs(side) <= 1e-9 && n_kinks < 16) kinks[n_kinks++] = i;
  }
  for (uint64_t choice = 0; choice < (uint64_t)1 << n_kinks; choice++) {
    double v[RF_WP_MOST_D], off = 0;
    uint64_t mask = on;
    for (rf_index j = 0; j < n_kinks; j++)
      if (choice >> j & 1) mask |= (uint64_t)1 << kinks[j];
    rf_wp_masked(v, X, n, d, mask, lam);
    for (rf_index j = 0; j < d; j++) off += pow(v[j] - w[j] / net->a[k], 2);
    if (sqrt(off) < best) best = sqrt(off), *length = rf_la_norm(v, d);
  }
  return best;
}

static void judge_masks(RfClaimRun *run, const RfNet *net, const double *X, const double *y, rf_index n,
                        const double *lam, double tolerance) {
  double largest = rf_la_max_abs(net->a, net->m);
  for (rf_index k = 0; k < net->m; k++) {
    if (fabs(net->a[k]) <= 1e-3 * largest) continue;
    double length = NAN, off = best_mask(&length, net, k, X, n, lam);
    rf_claim_at_most(run, "w/a = X^T D lam", off, 0, tolerance);
    rf_claim_close(run, "|X^T D lam| = 1", length, 1, tolerance);
  }
  for (rf_index i = 0; i < n; i++) rf_claim_at_least(run, "y lam >= 0", y[i] * lam[i], 0, 0);
}

/* KKT points that the papers write down, with their multipliers. */
static RfStatus exact_points(RfClaimRun *run) {
  RfDataset data;
  double norms[2], W[2 * RF_WP_MOST_D], lam[RF_WP_MOST];
  RfStatus status = rf_claim_generate(run, &data, "DS-PL2");
  if (status) return status;
  status = rf_wp_class_vectors(run->context, norms, W, lam, &data); /* PL Lemma C.1: w+ and w- */
  if (!status) {
    double a[] = {sqrt(norms[0]), -sqrt(norms[1])};
    for (int k = 0; k < 2; k++) rf_la_scale(W + 2 * k, 1 / fabs(a[k]), 2);
    RfNet net = {.m = 2, .d = 2, .W = W, .a = a};
    judge_masks(run, &net, data.X, data.y, data.n, lam, 1e-10);
    double most = 0; /* g = 1 where x.w > 0 */
    for (rf_index i = 0; i < data.n; i++) most = fmax(most, rf_la_dot(data.X + 2 * i, W, 2));
    rf_claim_misprint(run, "MP-WP-17", "(41): largest g x.w at a KKT point", 0, NAN, most, most == 0);
  }
  rf_dataset_free(&data);
  if (status) return status;
  const double vee[] = {1, 0.25, -1, 0.25}, ones[] = {1, 1, 1, 1}, two[] = {2, 2}; /* VSS Theorem 3.2 */
  double W1[] = {0, 2}, a1[] = {2};
  judge_masks(run, &(RfNet){.m = 1, .d = 2, .W = W1, .a = a1}, vee, ones, 2, two, 1e-10);
  double cross[] = {0, 1, 1, 0, 0, -1, -1, 0}, a4[] = {1, 1, 1, 1}; /* VSS Theorem 4.2 */
  judge_masks(run, &(RfNet){.m = 4, .d = 2, .W = cross, .a = a4}, cross, ones, 4, ones, 1e-10);
  const double six[] = {1, 1, 1, 0, 1, -1, -1, -1, -1, 0, -1, 1},
               labels[] = {1, 1, 1, -1, -1, -1}; /* LLWA I.1.1 */
  double h = sqrt(0.5), size = sqrt(h), W3[] = {size * h, size * h, size * h, -size * h, -1, 0};
  double a3[] = {size, size, -1}, mult[] = {h, 0, h, 0, -1, 0};
  judge_masks(run, &(RfNet){.m = 3, .d = 2, .W = W3, .a = a3}, six, labels, 6, mult, 1e-10);
  return RF_OK;
}

RfStatus rf_wp_04(RfClaimRun *run) {
  static const char *const specs[] = {"DS-WP1", "DS-PL2"};
  RfStatus status = exact_points(run);
  rf_index reached = 0;
  for (rf_index k = 0; k < 2 * rf_claim_repetitions(run, 5) && !status; k++) {
    RfClaimSetting setting;
    RfFlowResult flow;
    double lam[RF_WP_MOST];
    status = rf_claim_setting_new(run, &setting, specs[k % 2], 1, RF_INIT_BALANCED, WIDTH,
                                  (uint64_t)rf_wp_seed(run, k / 2), log(1e-4));
    if (status) break;
    setting.flow.with_alignment = false;
    status = rf_claim_flow(run, &flow, &setting);
    if (!status && flow.limit.outcome == RF_FLOW_CONVERGED) {
      for (rf_index i = 0; i < flow.n; i++) lam[i] = setting.data.y[i] * flow.limit.lambda[i];
      judge_masks(run, &flow.limit.net, setting.data.X, setting.data.y, flow.n, lam, 1e-8);
      reached++;
    }
    if (!status) rf_flow_result_free(&flow);
    rf_claim_setting_free(&setting);
  }
  rf_index runs = 2 * rf_claim_repetitions(run, 5);
  rf_claim_require(run, "limits reached", runs / 2); /* the others lack a neuron for a class */
  rf_claim_made(run, "limits reached", reached), rf_claim_dropped(run, "limits reached", runs - reached);
  rf_claim_note(run, "%lld limits at t = infinity and four exact points", (long long)reached);
  return status;
}

/* ---- WP-22, WP-23: Theorem 4, Theorem 2 for two classes ----------------------------------------- */

/* What is seen on the way: whether masks that cover a class are kept, and the margin at smoothed margins 200,
 * 400. */
typedef struct Way {
  RfClaimRun *run;
  const RfDataset *data;
  double best;                 /* predicted normalised margin */
  bool covers[2][WIDTH];       /* neuron k with a > 0 (0) or a < 0 (1) has covered its class */
  double log_t_cover;          /* when both classes were covered first; NaN before */
  double error[2], smargin[2]; /* |margin - best|/best at the first states beyond 200 and 400 */
} Way;

static void watch_way(void *observer, const RfFlowMoment *moment) {
  Way *way = observer;
  rf_index n = moment->n, d = moment->d;
  bool covered[2] = {false, false};
  double norm2 = 0, least = INFINITY;
  for (rf_index k = 0; k < moment->m; k++) {
    int side = moment->directions[k * (d + 1) + d] > 0 ? 0 : 1;
    bool covers = true;
    for (rf_index i = 0; i < n; i++)
      if ((way->data->y[i] > 0) == (side == 0) && moment->sides[k * n + i] <= 0) covers = false;
    if (way->covers[side][k]) rf_claim_true(way->run, "a mask that covers its class is kept", covers);
    way->covers[side][k] = covers, covered[side] = covered[side] || covers;
    norm2 += exp(2 * moment->log_norms[k]);
  }
  if (covered[0] && covered[1] && isnan(way->log_t_cover)) way->log_t_cover = moment->log_t;
  if (moment->scale_frozen) return;
  double smargin = rf_loss_inverse_log(RF_LOSS_LOGISTIC, moment->log_loss);
  for (rf_index i = 0; i < n; i++) least = fmin(least, moment->q[i]);
  for (int k = 0; k < 2; k++)
    if (smargin >= 200 * (k + 1) && isnan(way->error[k]))
      way->error[k] = fabs(least / norm2 - way->best) / way->best, way->smargin[k] = smargin;
}

/* A neuron of each sign with sign y^T (Xw)_+ = sign a (MP-WP-16). */
static bool aligned_both(const RfClaimSetting *setting) {
  const RfDataset *data = &setting->data;
  bool has[2] = {false, false};
  for (rf_index k = 0; k < setting->start.m; k++) {
    const double *v = setting->start.directions + k * (data->d + 1);
    double G = rf_wp_rectified(data->X, data->n, data->d, data->y, v);
    if (G * v[data->d] > 0) has[G > 0 ? 0 : 1] = true;
  }
  return has[0] && has[1];
}

/* The limit is the global optimum, its multipliers are dual feasible, and J-LIM on the way. */
static RfStatus global_limit(RfClaimRun *run, RfClaimSetting *setting, double best, double *seen) {
  const RfDataset *data = &setting->data;
  RfFlowResult flow;
  Way way = {.run = run, .data = data, .best = best, .log_t_cover = NAN, .error = {NAN, NAN}};
  setting->flow.with_alignment = false;
  setting->flow.observe = watch_way, setting->flow.observer = &way;
  RfStatus status = rf_claim_flow(run, &flow, setting);
  if (status) return status;
  rf_claim_true(run, "the flow converges", flow.limit.outcome == RF_FLOW_CONVERGED);
  rf_claim_relative(run, "normalised margin at t = infinity", flow.limit.margin, best, 1e-8);
  rf_claim_true(run, "masks cover both classes from some time on", !isnan(way.log_t_cover));
  if (flow.limit.lambda) {
    double lam[RF_WP_MOST], norm, value = 0;
    for (rf_index i = 0; i < data->n; i++)
      lam[i] = data->y[i] * flow.limit.lambda[i], value += flow.limit.lambda[i];
    status = rf_wp_dual_norm(run->context, &norm, NULL, data->X, data->n, data->d, lam, 0);
    rf_claim_at_most(run, "lam of the limit is dual feasible", norm, 1, 1e-8);
    rf_claim_relative(run, "gap of the limit", value, 1 / (2 * flow.limit.margin), 1e-7);
  }
  rf_claim_at_most(run, "J-LIM: error at smoothed margin 400", way.error[1], 0, 2e-2);
  if (way.error[1] > 1e-4) {
    double shrink = 0.65 * way.smargin[0] * 2 / way.smargin[1]; /* the states lie a step beyond 200 and 400 */
    rf_claim_at_most(run, "J-LIM: decay from 200 to 400", way.error[1], fmax(shrink, 0.65) * way.error[0], 0);
  }
  *seen = fmax(*seen, way.error[1]);
  rf_flow_result_free(&flow);
  return status;
}

/* MP-WP-16: a single neuron cannot be aligned with both signs, and does not separate. */
static RfStatus single_neuron(RfClaimRun *run, double best) {
  RfClaimSetting setting;
  RfFlowResult flow;
  RfStatus status = rf_claim_setting_new(run, &setting, "DS-WP1", 1, RF_INIT_BALANCED, 1, 0, -12);
  if (status) return status;
  status = rf_claim_flow(run, &flow, &setting);
  if (!status) {
    bool separated = flow.limit.outcome == RF_FLOW_CONVERGED;
    rf_claim_misprint(run, "MP-WP-16", "normalised margin of the limit, width 1 (0: not separated)", best, 0,
                      separated ? flow.limit.margin : 0, separated);
    rf_flow_result_free(&flow);
  }
  rf_claim_setting_free(&setting);
  return status;
}

RfStatus rf_wp_22(RfClaimRun *run) {
  static const char *const specs[] = {"DS-WP1", "DS-PL2/3", "DS-OS(5,5,3,0.2)"};
  RfStatus status = RF_OK;
  double seen = 0, first_best = NAN;
  for (int s = 0; s < 3 && !status; s++) {
    rf_index kept = 0, wanted = rf_claim_repetitions(run, 5);
    for (rf_index seed = 0; kept < wanted && seed < 20 * wanted && !status; seed++) {
      RfClaimSetting setting;
      double norms[2];
      status = rf_claim_setting_new(run, &setting, specs[s], 1, RF_INIT_BALANCED, WIDTH,
                                    (uint64_t)rf_wp_seed(run, seed), -12);
      if (status) break;
      status = rf_wp_class_vectors(run->context, norms, NULL, NULL, &setting.data);
      double best = 1 / (2 * (norms[0] + norms[1]));
      if (s == 0) first_best = best;
      if (!status && aligned_both(&setting)) kept++, status = global_limit(run, &setting, best, &seen);
      rf_claim_setting_free(&setting);
    }
    rf_claim_require(run, "starts with an aligned neuron of each sign", wanted);
    rf_claim_made(run, "starts with an aligned neuron of each sign", kept);
  }
  if (!status) status = single_neuron(run, first_best);
  rf_claim_note(run,
                "limits at t = infinity; J-LIM as a second check: largest error at smoothed margin 400 %.2g",
                seen);
  return status;
}

/* Both class networks of DS-MC2, each on its own one-versus-rest labels. */
RfStatus rf_wp_23(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double seen = 0;
  for (int class_of = 0; class_of < 2 && !status; class_of++) {
    rf_index kept = 0, wanted = rf_claim_repetitions(run, 5);
    for (rf_index seed = 0; kept < wanted && seed < 20 * wanted && !status; seed++) {
      RfClaimSetting setting;
      double norms[2];
      status = rf_claim_setting_new(run, &setting, "DS-MC2", 1, RF_INIT_BALANCED, WIDTH,
                                    (uint64_t)rf_wp_seed(run, 1000 * class_of + seed), -12);
      if (status) break;
      for (rf_index i = 0; i < setting.data.n; i++)
        setting.data.y[i] = setting.data.class_of[i] == class_of ? 1 : -1;
      status = rf_wp_class_vectors(run->context, norms, NULL, NULL, &setting.data);
      if (!status && aligned_both(&setting))
        kept++, status = global_limit(run, &setting, 1 / (2 * (norms[0] + norms[1])), &seen);
      rf_claim_setting_free(&setting);
    }
    rf_claim_require(run, "starts with an aligned neuron of each sign", wanted);
    rf_claim_made(run, "starts with an aligned neuron of each sign", kept);
  }
  return status;
}

/* ---- WP-24: Theorem 2 for three classes --------------------------------------------------------- */

typedef struct Margins {
  rf_index count;
  double smargin[4000], margin[4000];
} Margins;

static void watch_margins(void *observer, const RfFlowMoment *moment) {
  Margins *margins = observer;
  if (moment->scale_frozen || margins->count == 4000) return;
  double norm2 = 0, least = INFINITY, smargin = rf_loss_inverse_log(RF_LOSS_LOGISTIC, moment->log_loss);
  for (rf_index k = 0; k < moment->m; k++) norm2 += exp(2 * moment->log_norms[k]);
  for (rf_index i = 0; i < moment->n; i++) least = fmin(least, moment->q[i]);
  if (!(smargin >= 0.1)) return;
  margins->smargin[margins->count] = smargin, margins->margin[margins->count++] = least / norm2;
}

static RfStatus draw_margins(RfClaimRun *run, const Margins *margins, const Margins *other, double limit,
                             double best) {
  RfSvg svg;
  const double *columns[] = {margins->smargin, margins->margin};
  RfStatus status =
      rf_claim_series(run, "E-WP-8.csv", "smoothed_margin,normalised_margin", columns, 2, margins->count);
  if (status || !rf_claim_draws(run)) return status;
  for (int copy = 0; copy < 2 && !status; copy++) {
    rf_svg_begin(&svg, 760, 456, "Theorem 2 of Wang and Pilanci fails for three classes",
                 "Normalised margin against smoothed margin: three separate neurons reach 1/6, the optimum "
                 "is 0.2071.");
    rf_svg_label(&svg, 20, 28, RF_ANCHOR_START, 16, RF_COLOUR_INK,
                 "Wang & Pilanci, Theorem 2, K = 3: the flow stops short of the optimum (recipe E-WP-8)");
    rf_svg_label(&svg, 20, 50, RF_ANCHOR_START, 13, RF_COLOUR_INK,
                 "Three axes, three classes; class 1 against the rest. All neurons satisfy (9), in an open "
                 "set of starts.");
    RfPlot plot = {
        .svg = &svg,
        .left = 80,
        .top = 80,
        .width = 640,
        .height = 290,
        .x = {.low = 0.1, .high = 1e6, .log = true, .label = "smoothed margin, loss\xe2\x81\xbb\xc2\xb9(L)"},
        .y = {.low = 0, .high = 0.23, .label = "normalised margin min q/|\xce\xb8|\xc2\xb2"}};
    rf_plot_axes(&plot);
    const double ends[] = {0.1, 1e6}, optimum[] = {best, best}, stop[] = {limit, limit};
    rf_plot_line(&plot, ends, optimum, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1.5, .dashed = true});
    rf_plot_line(&plot, ends, stop, 2, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 1.5, .dashed = true});
    rf_plot_line(&plot, other->smargin, other->margin, other->count,
                 (RfPen){.colour = RF_COLOUR_BLUE, .width = 2.5});
    rf_plot_line(&plot, margins->smargin, margins->margin, margins->count,
                 (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2.5});
    rf_svg_label(&svg, rf_plot_x(&plot, 0.13), rf_plot_y(&plot, best) - 7, RF_ANCHOR_START, 12, RF_COLOUR_INK,
                 "global optimum 1/(2(1+\xe2\x88\x9a"
                 "2)) = 0.2071");
    rf_svg_label(&svg, rf_plot_x(&plot, 30), rf_plot_y(&plot, limit) - 7, RF_ANCHOR_START, 12, RF_COLOUR_INK,
                 "limit of the three neurons: 1/6");
    RfLegendEntry entries[] = {{"three neurons, one per axis", RF_COLOUR_VERMILION, -1},
                               {"two neurons, (1,\xe2\x88\x92\xc2\xbd,\xe2\x88\x92\xc2\xbd) and (\xe2\x88\x92"
                                "1,1,1)",
                                RF_COLOUR_BLUE, -1}};
    rf_svg_legend(&svg, 80, 425, 640, entries, 2);
    rf_svg_end(&svg);
    status = rf_claim_picture(run, &svg, copy ? "front-wp-theorem-2.svg" : "E-WP-8.svg");
  }
  return status;
}

/* Class 1 of the three axes against the rest, from m given directions (rows of 3, scaled to |w| = |a|). */
static RfStatus three_axes(RfClaimRun *run, double *margin, Margins *margins, const double *directions,
                           const double *signs, rf_index m, double log_scale) {
  double W[9], a[3];
  RfNet net = {.m = m, .d = 3, .W = W, .a = a};
  RfClaimSetting setting;
  RfFlowResult flow;
  memcpy(W, directions, (size_t)(3 * m) * sizeof *W);
  for (rf_index k = 0; k < m; k++) a[k] = signs[k] * rf_la_norm(W + 3 * k, 3);
  const double X[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, y[] = {1, -1, -1};
  RfStatus status = rf_claim_setting_from(run, &setting, "DS-MC3", 1, &net);
  if (status) return status;
  for (int j = 0; j < 9; j++) rf_claim_true(run, "DS-MC3 is the three axes", setting.data.X[j] == X[j]);
  setting.problem.y = y, setting.problem.log_scale = log_scale;
  setting.flow.with_alignment = false;
  for (rf_index k = 0; k < m; k++) {
    double G = rf_wp_rectified(X, 3, 3, y, W + 3 * k);
    rf_claim_true(run, "(9) holds", G * a[k] > 0);
  }
  if (margins) setting.flow.observe = watch_margins, setting.flow.observer = margins;
  status = rf_claim_flow(run, &flow, &setting);
  if (!status) {
    *margin = flow.limit.outcome == RF_FLOW_CONVERGED ? flow.limit.margin : NAN;
    rf_flow_result_free(&flow);
  }
  rf_claim_setting_free(&setting);
  return status;
}

RfStatus rf_wp_24(RfClaimRun *run) {
  static const double base[] = {1, -0.5, -0.5, -0.5, 1, -0.5, -0.5, -0.5, 1}, signs[] = {1, -1, -1};
  static const double pair[] = {1, -0.5, -0.5, -1, 1, 1};
  const double X[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, y[] = {1, -1, -1};
  double margin = NAN, best_of_pair = NAN, best = 1 / (2 * (1 + sqrt(2)));
  Margins *margins = RF_NEW(Margins, 2);
  RfOptimum optimum;
  RfOptimumSettings options;
  if (!margins) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a series");
  rf_optimum_settings_init(&options);
  RfStatus status = rf_optimum_solve(run->context, &optimum, X, y, 3, 3, &options);
  if (!status) {
    rf_claim_relative(run, "best margin of the class", 0.5 / optimum.objective, best, 1e-7);
    rf_claim_true(run, "certified gap at most 1e-7", optimum.gap <= 1e-7);
    rf_optimum_free(&optimum);
    status = three_axes(run, &margin, &margins[0], base, signs, 3, -10);
  }
  if (!status) rf_claim_relative(run, "three separate neurons", margin, 1. / 6, 1e-8);
  for (int k = 0; k < 2 && !status; k++) { /* any small scale */
    double other = NAN;
    status = three_axes(run, &other, NULL, base, signs, 3, k ? -100 : -3);
    if (!status) rf_claim_relative(run, "three separate neurons, another scale", other, 1. / 6, 1e-8);
  }
  rf_claim_misprint(run, "MP-WP-15", "normalised margin of the limit, K = 3", best, 1. / 6, margin,
                    fabs(margin - best) <= 1e-8);
  if (!status) status = three_axes(run, &best_of_pair, &margins[1], pair, signs, 2, -10);
  if (!status) rf_claim_relative(run, "two neurons, one for both other classes", best_of_pair, best, 1e-7);
  for (rf_index k = 0; k < rf_claim_repetitions(run, 20) && !status; k++) { /* an open set of starts */
    RfRandom random = rf_claim_random(run, (uint64_t)k);
    double moved[9], shift[9];
    rf_random_direction(&random, shift, 9);
    double size = 0.2 * rf_random_uniform(&random);
    for (int j = 0; j < 9; j++) moved[j] = base[j] + size * shift[j];
    status = three_axes(run, &margin, NULL, moved, signs, 3, -10);
    if (!status) rf_claim_relative(run, "a start within 0.2", margin, 1. / 6, 1e-8);
  }
  if (!status) status = draw_margins(run, &margins[0], &margins[1], 1. / 6, best);
  rf_free(margins);
  rf_claim_note(run, "limit 1/6 from three scales and %lld perturbed starts; the optimum is %.7f",
                (long long)rf_claim_repetitions(run, 20), best);
  return status;
}

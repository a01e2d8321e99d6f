/* Wang and Pilanci, Theorem 1: every neuron that starts with the right sign reaches an extreme point of the
 * dual. True where it ends in an open sector; where it ends on a hyperplane it slides, and the printed
 * statement fails. WP-18, with its witness as a picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "kit/setting.h"
#include "kit/data.h"
#include "flow/flow.h"
#include "la/la.h"
#include "wp/wp.h"

enum { WIDTH = 20 };

/* ---- networks ----------------------------------------------------------------------------------- */

typedef struct Reached {
  const RfDataset *data;
  double cosine[WIDTH], projected[WIDTH]; /* largest so far, with s X^T D(w) y and with its projection */
  uint64_t zero[WIDTH];                   /* hyperplanes it slides on now */
} Reached;

static void watch(void *observer, const RfFlowMoment *moment) {
  Reached *reached = observer;
  rf_index d = moment->d, n = moment->n;
  for (rf_index k = 0; k < moment->m; k++) {
    const double *v = moment->directions + k * (d + 1), *g = moment->fields + k * d;
    double s = v[d] > 0 ? 1 : -1, size = rf_la_norm(v, d), field = rf_la_norm(g, d);
    uint64_t on = 0;
    reached->zero[k] = 0;
    for (rf_index i = 0; i < n; i++) {
      if (moment->sides[k * n + i] > 0) on |= (uint64_t)1 << i;
      if (moment->sides[k * n + i] == 0) reached->zero[k] |= (uint64_t)1 << i;
    }
    reached->cosine[k] = fmax(reached->cosine[k], s * rf_wp_cosine(reached->data, v, on));
    if (field > 0)
      reached->projected[k] = fmax(reached->projected[k], s * rf_la_dot(v, g, d) / (size * field));
  }
}

typedef struct Count {
  rf_index qualifying, kinks, never;
} Count;

/* One class against the rest: the neurons that satisfy (9), until the slowest of them has had time to align.
 */
static RfStatus one_class(RfClaimRun *run, Count *count, const RfDataset *data, uint64_t seed, double delta) {
  RfNet net = {0};
  RfFlowStart start = {0};
  RfAlignment exact = {0};
  RfFlowResult flow = {0};
  RfFlowSettings settings;
  Reached reached = {.data = data};
  bool qualifies[WIDTH];
  double t_end = 0, fastest = 0;
  RfStatus status = rf_net_init(run->context, &net, RF_INIT_BALANCED, WIDTH, data->d, 0, seed, 1);
  if (!status) status = rf_flow_start_from_net(run->context, &start, &net);
  RfFlowProblem problem = {.X = data->X, .y = data->y, .n = data->n, .d = data->d, .start = &start};
  if (!status) status = rf_flow_align(run->context, &exact, &problem);
  for (rf_index k = 0; k < WIDTH && status >= 0; k++) {
    double G0 = rf_wp_rectified(data->X, data->n, data->d, data->y, net.W + k * data->d);
    qualifies[k] = G0 * net.a[k] > 0 && exact.neurons[k].G > 1e-3;
    fastest = fmax(fastest, exact.neurons[k].G);
    if (qualifies[k]) t_end = fmax(t_end, exact.neurons[k].t_last + 3 / exact.neurons[k].G);
  }
  if (status >= 0 && t_end > 0) {
    rf_flow_settings_init(&settings);
    settings.with_alignment = settings.check_direction = false;
    settings.branches = RF_BRANCHES_FOLLOW;
    settings.until = RF_UNTIL_TIME, settings.until_value = t_end;
    settings.observe = watch, settings.observer = &reached, settings.observe_inside = 4;
    problem.log_scale = fmin(-60, -30 - fastest * t_end); /* sufficiently close to the origin */
    status = rf_claim_run_flow(run, &flow, &problem, &settings);
  }
  for (rf_index k = 0; k < WIDTH && status >= 0 && t_end > 0; k++) {
    if (!qualifies[k]) continue;
    count->qualifying++, count->kinks += reached.zero[k] != 0, count->never += reached.cosine[k] < 1 - delta;
    if (reached.zero[k])
      rf_claim_at_least(run, "on a kink: cosine with the projected X^T D(w) y", reached.projected[k],
                        1 - delta, 1e-9);
    else
      rf_claim_at_least(run, "open sector: cosine with X^T D(w) y", reached.cosine[k], 1 - delta, 1e-9);
  }
  if (status >= 0) rf_flow_result_free(&flow);
  rf_alignment_free(&exact);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  return status > 0 && status != RF_INTERRUPTED ? RF_OK : status;
}

/* ---- the witness -------------------------------------------------------------------------------- */

enum { STARTS = 5 };
static const double half_turn = 3.14159265358979323846;
static const double angles[STARTS] = {20, 5, -20, -60, -80}; /* degrees; y^T (Xu)_+ > 0 for all */

static void colours(RfColour *list) {
  const RfColour all[] = {RF_COLOUR_VERMILION, RF_COLOUR_ORANGE, RF_COLOUR_PURPLE, RF_COLOUR_BLUE,
                          RF_COLOUR_GREEN};
  memcpy(list, all, sizeof all);
}

/* The plane: samples, the hyperplane of x2, the starts on the unit circle and where they go. */
static void draw_plane(RfSvg *svg, const RfDataset *data, const RfWpPath *paths) {
  RfPlot plot = {.svg = svg,
                 .left = 60,
                 .top = 70,
                 .width = 320,
                 .height = 320,
                 .x = {.low = -1.3, .high = 1.3, .label = "w1"},
                 .y = {.low = -1.3, .high = 1.3, .label = "w2"}};
  double circle_x[181], circle_y[181], line[] = {-1.25, 1.25}, turned[] = {1.25, -1.25};
  RfColour list[STARTS];
  colours(list);
  rf_plot_axes(&plot);
  for (int k = 0; k <= 180; k++) circle_x[k] = cos(half_turn * k / 90), circle_y[k] = sin(half_turn * k / 90);
  rf_plot_line(&plot, circle_x, circle_y, 181, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1});
  rf_plot_line(&plot, line, turned, 2, (RfPen){.colour = RF_COLOUR_INK, .width = 1, .dashed = true});
  rf_svg_label(svg, rf_plot_x(&plot, -1.2), rf_plot_y(&plot, 1.02), RF_ANCHOR_START, 12, RF_COLOUR_INK,
               "hyperplane of x\xe2\x82\x82");
  const char *names[] = {"x\xe2\x82\x81, label +1", "x\xe2\x82\x82, label \xe2\x88\x92"
                                                    "1"};
  for (int i = 0; i < 2; i++) {
    const double *x = data->X + 2 * i;
    rf_svg_arrow(svg, rf_plot_x(&plot, 0), rf_plot_y(&plot, 0), rf_plot_x(&plot, x[0]),
                 rf_plot_y(&plot, x[1]), (RfPen){.colour = RF_COLOUR_INK, .width = 2});
    rf_svg_label(svg, rf_plot_x(&plot, i ? 0.42 : 0.30), rf_plot_y(&plot, i ? 0.85 : 0.06), RF_ANCHOR_START,
                 12, RF_COLOUR_INK, names[i]);
  }
  for (int k = 0; k < STARTS; k++) {
    double shift = 1.04 + 0.045 * k, *x = RF_NEW(double, paths[k].count), *y = RF_NEW(double, paths[k].count);
    for (rf_index row = 0; x && y && row < paths[k].count;
         row++) /* circles side by side, so that all are seen */
      x[row] = shift * paths[k].u[2 * row], y[row] = shift * paths[k].u[2 * row + 1];
    if (x && y) {
      rf_plot_line(&plot, x, y, paths[k].count, (RfPen){.colour = list[k], .width = 2.5});
      rf_plot_marks(&plot, x, y, 1, RF_MARK_DISC, list[k]);
    }
    rf_free(x), rf_free(y);
  }
  double end[] = {sqrt(0.5), -sqrt(0.5)};
  rf_plot_marks(&plot, end, end + 1, 1, RF_MARK_SQUARE, RF_COLOUR_INK);
}

/* The cosine with g(u,y) against time, and what Theorem 1 promises. */
static void draw_cosines(RfSvg *svg, const RfDataset *data, const RfWpPath *paths, double delta) {
  RfPlot plot = {.svg = svg,
                 .left = 470,
                 .top = 70,
                 .width = 330,
                 .height = 320,
                 .x = {.low = 0,
                       .high = 6,
                       .label = "time t, with ln \xce\xb5 = \xe2\x88\x92"
                                "60"},
                 .y = {.low = 0,
                       .high = 1.03,
                       .label = "cos of w with X\xe1\xb5\x80"
                                "D(w)y"}};
  RfColour list[STARTS];
  colours(list);
  rf_plot_axes(&plot);
  const double levels[] = {1 - delta, cos(half_turn / 8), cos(half_turn / 4)}, ends[] = {0, 6};
  const char *names[] = {"promised by Theorem 1: 1 \xe2\x88\x92 \xce\xb4 = 0.95",
                         "\xe2\x89\xa4 cos(\xcf\x80/8) = 0.9239", "stops at cos(\xcf\x80/4) = 0.7071"};
  for (int k = 0; k < 3; k++) {
    double both[] = {levels[k], levels[k]};
    rf_plot_line(&plot, ends, both, 2,
                 (RfPen){.colour = k ? RF_COLOUR_FAINT : RF_COLOUR_INK, .width = 1.5, .dashed = true});
    rf_svg_label(svg, rf_plot_x(&plot, 5.9), rf_plot_y(&plot, levels[k] + (k ? -0.05 : 0.015)), RF_ANCHOR_END,
                 12, RF_COLOUR_INK, names[k]);
  }
  for (int k = 0; k < STARTS; k++) {
    double *c = RF_NEW(double, paths[k].count);
    for (rf_index row = 0; c && row < paths[k].count; row++)
      c[row] = rf_wp_cosine(data, paths[k].u + 2 * row, paths[k].on[row]);
    if (c) {
      rf_plot_line(&plot, paths[k].t, c, paths[k].count, (RfPen){.colour = list[k], .width = 2.5});
      rf_plot_marks(&plot, paths[k].t, c, 1, RF_MARK_DISC, list[k]);
    }
    rf_free(c);
  }
}

static RfStatus draw_witness(RfClaimRun *run, const RfDataset *data, const RfWpPath *paths, double delta) {
  RfSvg svg;
  RfText csv = {0};
  if (!rf_claim_draws(run)) return RF_OK;
  rf_text_add(&csv, "start_degrees,t,u1,u2,cosine\n");
  for (int k = 0; k < STARTS; k++)
    for (rf_index row = 0; row < paths[k].count; row++)
      rf_text_addf(&csv, "%g,%.17g,%.17g,%.17g,%.17g\n", angles[k], paths[k].t[row], paths[k].u[2 * row],
                   paths[k].u[2 * row + 1], rf_wp_cosine(data, paths[k].u + 2 * row, paths[k].on[row]));
  RfStatus status = rf_claim_text(run, "front-wp-theorem-1.csv", rf_text_string(&csv));
  rf_text_free(&csv);
  if (status) return status;
  rf_svg_begin(
      &svg, 840, 450, "Theorem 1 of Wang and Pilanci fails where neurons slide",
      "Neurons with a > 0 that satisfy the hypothesis slide to (1,-1)/sqrt 2; the cosine stops at 0.7071.");
  rf_svg_label(
      &svg, 20, 28, RF_ANCHOR_START, 16, RF_COLOUR_INK,
      "Wang & Pilanci, Theorem 1: five neurons that satisfy (9), a > 0, and none reaches cosine 0.95");
  rf_svg_label(&svg, 20, 50, RF_ANCHOR_START, 13, RF_COLOUR_INK,
               "They meet the hyperplane of x\xe2\x82\x82 from either side and slide on it: w \xe2\x86\x92 "
               "(1,\xe2\x88\x92"
               "1)/\xe2\x88\x9a"
               "2. Left: paths side by side; dots are starts.");
  draw_plane(&svg, data, paths);
  draw_cosines(&svg, data, paths, delta);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "front-wp-theorem-1.svg");
}

static RfStatus witness(RfClaimRun *run, double delta, double *most, double *final) {
  double X[] = {1, 0, sqrt(0.5), sqrt(0.5)};
  const double y[] = {1, -1};
  RfWpPath paths[STARTS] = {{0}};
  RfDataset data;
  RfStatus status = rf_dataset_from_arrays(run->context, &data, X, y, 2, 2, NULL);
  if (status) return status;
  *most = 0;
  for (int k = 0; k < STARTS && !status; k++) {
    double u[] = {cos(angles[k] * half_turn / 180), sin(angles[k] * half_turn / 180)};
    rf_claim_at_least(run, "witness: (9) holds", rf_wp_rectified(X, 2, 2, y, u), 0, 0);
    status = rf_wp_follow(run, &paths[k], &data, u, 1, -60, 6);
    if (status) break;
    rf_index last = paths[k].count - 1;
    for (rf_index row = 0; row <= last; row++)
      *most = fmax(*most, rf_wp_cosine(&data, paths[k].u + 2 * row, paths[k].on[row]));
    *final = rf_wp_cosine(&data, paths[k].u + 2 * last, paths[k].on[last]);
    rf_claim_close(run, "witness: u -> (1,-1)/sqrt 2", paths[k].u[2 * last + 1], -sqrt(0.5), 1e-9);
    rf_claim_close(run, "witness: the cosine ends at cos(pi/4)", *final, cos(half_turn / 4), 1e-9);
  }
  rf_claim_at_most(run, "witness: the cosine never exceeds cos(pi/8)", *most, cos(half_turn / 8), 1e-9);
  if (!status) status = draw_witness(run, &data, paths, delta);
  for (int k = 0; k < STARTS; k++) rf_wp_path_free(&paths[k]);
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_wp_18(RfClaimRun *run) {
  const double delta = 0.05;
  Count count = {0};
  double most = NAN, final = NAN;
  RfStatus status = RF_OK;
  for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++) {
    char spec[64];
    RfDataset all;
    rf_format(spec, sizeof spec, "gaussian,n=10,d=3,classes=3,seed=%d", rf_wp_seed(run, seed));
    status = rf_claim_generate(run, &all, spec);
    if (status) break;
    for (rf_index k = 0; k < all.n_classes && !status; k++) {
      RfDataset part;
      status = rf_dataset_one_versus_rest(run->context, &part, &all, k);
      if (status) break;
      status = one_class(run, &count, &part, (uint64_t)rf_wp_seed(run, 3 * seed + k), delta);
      rf_dataset_free(&part);
    }
    rf_dataset_free(&all);
  }
  if (!status) status = witness(run, delta, &most, &final);
  rf_claim_misprint(run, "MP-WP-20", "cosine at the end: x1 = (1,0), y = 1, x2 = (1,1)/sqrt 2, y = -1",
                    1 - delta, cos(half_turn / 4), final, most >= 1 - delta && count.never == 0);
  rf_claim_note(
      run,
      "%lld neurons satisfy (9): %lld end on a kink, %lld never reach cosine 0.95; witness: largest "
      "cosine %.4f",
      (long long)count.qualifying, (long long)count.kinks, (long long)count.never, most);
  return status;
}

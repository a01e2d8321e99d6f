/* Min, Mallada, Vidal: how long alignment lasts. MMV-12: activation patterns as monotone paths on the grid
 * (k+,k-), (28), (29); MMV-14: measured arrival times against the bound; MMV-22: how often S+ is reached from
 * random starts. Times of paths are in units of 4/(min(zeta,xi) sqrt(sep) X_min). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kit/figure.h"
#include "core/core.h"
#include "mmv/mmv.h"
#include "flow/flow.h"
#include "la/la.h"
#include "kit/samples.h"
#include "kit/setting.h"

/* ---- MMV-12: paths, (28), (29) ------------------------------------------------------------- */

enum { most_n = 12, unit = 27720 }; /* the unit of time is divisible by 1..12: exact integers */

typedef struct Paths {
  int n_plus, n_minus;
  int64_t longest, count; /* largest travel time; number of paths */
} Paths;

/* All paths from (p,q) to (n+,0): a V+ neuron gains positives and loses negatives, and leaves (p,q) after
 * unit/(p+q). */
static void explore(Paths *paths, int p, int q, int64_t time) {
  if (p == paths->n_plus && q == 0) {
    paths->count++;
    if (time > paths->longest) paths->longest = time;
    return;
  }
  time += unit / (p + q);
  for (int to_p = p; to_p <= paths->n_plus; to_p++)
    for (int to_q = q; to_q >= 0; to_q--)
      if ((to_p > p || to_q < q) && to_p + to_q > 0) explore(paths, to_p, to_q, time);
}

static int64_t harmonic(int n) {
  int64_t sum = 0;
  for (int k = 1; k <= n; k++) sum += unit / k;
  return sum;
}

/* The maximal path (0,n-), ..., (0,1), (1,1), (1,0), ..., (n+,0); without negatives it begins at (1,0). */
static int64_t maximal(int n_plus, int n_minus) {
  return (n_minus > 0 ? harmonic(n_minus) + unit / 2 : 0) + harmonic(n_plus - 1);
}

/* Steps of the maximal path for n+ = n- = 5 that item 2 of the definition allows, as corrected or as printed.
 */
static int allowed_steps(bool corrected) {
  int p = 0, q = 5, count = 0;
  while (p < 5 || q > 0) {
    bool gain = q == 0 || (p == 0 && q == 1); /* (0,5) ... (0,1), (1,1), (1,0) ... (5,0) */
    int to_p = p + gain, to_q = q - !gain;
    count += corrected ? to_p > p || to_q < q : to_p < p || to_q > q;
    p = to_p, q = to_q;
  }
  return count;
}

/* (28) with the given denominator, as a multiple of what (29) allows: Lemma 3 gives max|f| <= 2 eps sqrt(m)
 * X_max W_max^2. */
static double output_over_bound(double denominator, double n, double X_max, double X_min, double W_max,
                                double m, double least, double sep) {
  double eps = least * sqrt(sep) * X_min / (denominator * sqrt(m) * n * X_max * X_max * W_max * W_max);
  double output = 2 * eps * sqrt(m) * X_max * W_max * W_max;
  return output / (least * sqrt(sep) * X_min / (4 * n * X_max));
}

/* E-MM-7: a random path, the maximal one, and which edge of the maximal path pays for which edge. */
static RfStatus draw_paths(RfClaimRun *run) {
  enum { n_plus = 5, n_minus = 5 };
  if (!rf_claim_draws(run)) return RF_OK;
  RfRandom random = rf_claim_random(run, 1);
  double px[32], py[32], mx[32], my[32], both[4][32], shift = 0.06;
  int count = 0, most = 0, p = 1, q = 4;
  while (true) { /* single steps, fair coin */
    px[count] = p, py[count++] = q;
    if (p == n_plus && q == 0) break;
    bool gain = q == 0 || (p < n_plus && rf_random_below(&random, 2));
    if (gain)
      p++;
    else
      q--;
  }
  for (q = n_minus; q >= 1; q--) mx[most] = 0, my[most++] = q;
  mx[most] = 1, my[most++] = 1;
  for (p = 1; p <= n_plus; p++) mx[most] = p, my[most++] = 0;
  for (int l = 0; l < most; l++) {
    both[0][l] = mx[l], both[1][l] = my[l];
    both[2][l] = l < count ? px[l] : NAN, both[3][l] = l < count ? py[l] : NAN;
  }
  const double *columns[] = {both[0], both[1], both[2], both[3]};
  RfStatus status = rf_claim_series(run, "E-MM-7.csv", "maximal_kplus,maximal_kminus,path_kplus,path_kminus",
                                    columns, 4, most);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 640, 560, "E-MM-7: MMV Figures 14-17, activation paths",
               "a path of a positive neuron, the maximal path, and edges that correspond");
  RfPlot plot = {.svg = &svg,
                 .left = 70,
                 .top = 60,
                 .width = 520,
                 .height = 420,
                 .x = {.low = -0.4, .high = 5.4, .label = "k+ (active positive samples)", .step = 1},
                 .y = {.low = -0.4, .high = 5.4, .label = "k- (active negative samples)", .step = 1}};
  rf_plot_axes(&plot);
  for (int l = 0; l < most; l++) mx[l] -= shift, my[l] -= shift;
  /* an edge that leaves k- = q (loses a negative) or k+ = p is paid by the edge of the maximal path with the
   * same lost negative or gained positive */
  for (int l = 0; l + 1 < count; l++) {
    double x = (px[l] + px[l + 1]) / 2, y = (py[l] + py[l + 1]) / 2;
    bool loses = py[l + 1] < py[l];
    double tx = loses ? (py[l] > 1 ? 0 : 1) : x, ty = loses ? y : px[l] > 0 ? 0 : 1;
    rf_svg_line(&svg, rf_plot_x(&plot, x), rf_plot_y(&plot, y), rf_plot_x(&plot, tx - shift),
                rf_plot_y(&plot, ty - shift), (RfPen){.colour = RF_COLOUR_FAINT, .width = 1, .dashed = true});
  }
  rf_plot_line(&plot, mx, my, most, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2.5});
  rf_plot_marks(&plot, mx, my, most, RF_MARK_SQUARE, RF_COLOUR_BLUE);
  rf_plot_line(&plot, px, py, count, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2.5});
  rf_plot_marks(&plot, px, py, count, RF_MARK_DISC, RF_COLOUR_VERMILION);
  const RfLegendEntry entries[] = {{"a path to S+ = (5,0)", RF_COLOUR_VERMILION, RF_MARK_DISC},
                                   {"the maximal path", RF_COLOUR_BLUE, RF_MARK_SQUARE},
                                   {"edges that correspond", RF_COLOUR_FAINT, -2}};
  rf_svg_legend(&svg, 70, 24, 520, entries, 3);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-7.svg");
}

RfStatus rf_mmv_12(RfClaimRun *run) {
  int64_t total = 0;
  double tightest = 0;
  for (int n = 2; n <= most_n; n++)
    for (int n_plus = 1; n_plus <= n; n_plus++) {
      Paths paths = {.n_plus = n_plus, .n_minus = n - n_plus};
      for (int p = 0; p <= n_plus; p++)
        for (int q = 0; q <= n - n_plus; q++)
          if (p + q > 0) explore(&paths, p, q, 0);
      int64_t most = maximal(n_plus, n - n_plus);
      rf_claim_close(run, "longest travel time = that of the maximal path", (double)paths.longest,
                     (double)most, 0);
      rf_claim_at_most(run, "maximal path against 16 ln n", 4 * (double)most / unit, 16 * log(n), 0);
      tightest = fmax(tightest, 4 * (double)most / unit / (16 * log(n)));
      total += paths.count;
    }
  for (int n = 2; n <= most_n; n++) /* neurons that lose all negatives and die */
    rf_claim_at_most(run, "dying neurons against 16 ln n", 4 * (double)harmonic(n) / unit, 16 * log(n), 0);
  rf_claim_true(run, "n = 1: the bound 16 ln n = 0 is too short",
                16 * log(1) < 4 * (double)harmonic(1) / unit);
  double eight = output_over_bound(8, 10, 1.5, 0.5, 1.2, 50, 0.01, 0.1),
         four = output_over_bound(4, 10, 1.5, 0.5, 1.2, 50, 0.01, 0.1);
  rf_claim_relative(run, "(28) with denominator 8 gives (29)", eight, 1, 1e-12);
  rf_claim_relative(run, "(28) with denominator 4 gives twice (29)", four, 2, 1e-12);
  rf_claim_misprint(run, "MP-MMV-05", "max|f| by Lemma 3 over the bound (29)", four, eight, 1, four <= 1);
  rf_claim_misprint(run, "MP-MMV-06", "n = 2: 4 ln n, 2 H_n + 1/2, and the maximal path", 4 * log(2),
                    2 * (double)harmonic(2) / unit + 0.5, (double)maximal(1, 1) / unit,
                    4 * log(2) >= 2 * (double)harmonic(2) / unit + 0.5);
  rf_claim_misprint(run, "MP-MMV-07", "steps of the maximal path (n+ = n- = 5) that the definition allows",
                    allowed_steps(false), allowed_steps(true), 10, allowed_steps(false) == 10);
  rf_claim_note(
      run, "%lld paths, times exact in integers; maximal path/16 ln n up to %.3f; for n = 1 the bound is 0",
      (long long)total, tightest);
  return draw_paths(run);
}

/* ---- MMV-14: t1 against n and sep ---------------------------------------------------------- */

typedef struct Arrival {
  double measured, bound, bound_data; /* worst arrival; bound with the start's zeta2, and without it */
  double shortest;                    /* X_min */
} Arrival;

/* The worst arrival of `m` random neurons in the limit eps -> 0 (field (4)), loss exp. */
static RfStatus arrive(RfClaimRun *run, Arrival *out, const char *spec, rf_index m, uint64_t seed) {
  RfDataset data = {0};
  RfNet net = {0};
  RfFlowStart start = {0};
  RfAlignment alignment = {0};
  RfAlignmentBounds bounds;
  RfPairFacts pairs;
  double zeta2 = 0;
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  if (!status) status = rf_mmv_bounds(run->context, &bounds, &pairs, &data, RF_LOSS_EXP);
  if (!status)
    status = rf_net_init(run->context, &net, RF_INIT_MMV, m, data.d, 0, rf_claim_seed(run, "start", seed), 1);
  if (!status) status = rf_theory_start_angle(run->context, &zeta2, &net, data.X, data.y, data.n);
  if (!status) status = rf_flow_start_from_net(run->context, &start, &net);
  RfFlowProblem problem = {.X = data.X,
                           .y = data.y,
                           .n = data.n,
                           .d = data.d,
                           .loss = RF_LOSS_EXP,
                           .start = &start,
                           .in_limit = true};
  if (!status) status = rf_flow_align(run->context, &alignment, &problem);
  if (!status) {
    *out = (Arrival){alignment.t1, rf_theory_alignment_end(&bounds, zeta2), bounds.t1, INFINITY};
    for (rf_index i = 0; i < data.n; i++)
      out->shortest = fmin(out->shortest, rf_la_norm(data.X + i * data.d, data.d));
    for (rf_index k = 0; k < m; k++) {
      RfDestiny destiny = alignment.neurons[k].destiny;
      rf_claim_true(run, "every neuron ends in S+, S- or dead",
                    destiny == RF_DESTINY_S_PLUS || destiny == RF_DESTINY_S_MINUS ||
                        destiny == RF_DESTINY_DEAD);
    }
    rf_claim_at_most(run, "arrival against the bound", out->measured, out->bound, 1e-9 * out->bound);
  }
  rf_alignment_free(&alignment);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  rf_dataset_free(&data);
  return status;
}

/* DS-M2: a positive neuron that sees x1 only. w = c sinh(s) x1 + c e, e orthogonal to x1, s = t + s0: exact
 * arrival where <w,x2> = 0, and ln((sep+|psi0|)/sep) up to the start transient. */
static RfStatus two_samples(RfClaimRun *run, double *worst) {
  const double seps[] = {0.3, 0.1, 0.01, 0.001};
  RfRandom random = rf_claim_random(run, 9);
  for (int k = 0; k < 4; k++)
    for (int draw = 0; draw < 20; draw++) {
      double sep = seps[k], rest = sqrt(1 - sep * sep), X[] = {1, 0, sep, rest}, c[] = {1, 1};
      double angle = -1.5 * rf_random_uniform(&random), w[3] = {cos(angle), sin(angle), 1};
      double psi = sep * w[0] + rest * w[1];
      if (psi >= -1e-3) continue;
      rf_la_scale(w, sqrt(0.5), 3);
      RfAlignField field = {.X = X, .c = c, .n = 2, .d = 2};
      RfAlignNeuron neuron;
      RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, w, 0, NULL, INFINITY);
      if (status) return status;
      double need = -rest * w[1] / sep, exact = asinh(need / fabs(w[1])) - asinh(w[0] / fabs(w[1]));
      double stated = log((sep - psi) / sep);
      rf_claim_close(run, "two samples: exact arrival", neuron.t_last, exact, 1e-9 * (1 + exact));
      rf_claim_at_most(run, "two samples: off ln((sep+|psi|)/sep)", fabs(neuron.t_last - stated), log(2), 0);
      *worst = fmax(*worst, fabs(neuron.t_last - stated));
      rf_align_neuron_free(&neuron);
    }
  return RF_OK;
}

static RfStatus draw_arrivals(RfClaimRun *run, const double *n, const Arrival *by_n, int count_n,
                              const double *sep, const Arrival *by_sep, int count_sep) {
  double columns[6][16];
  if (!rf_claim_draws(run)) return RF_OK;
  for (int k = 0; k < count_sep; k++) {
    bool has = k < count_n;
    columns[0][k] = has ? n[k] : NAN, columns[1][k] = has ? by_n[k].measured : NAN;
    columns[2][k] = has ? by_n[k].bound_data : NAN;
    columns[3][k] = sep[k], columns[4][k] = by_sep[k].measured, columns[5][k] = by_sep[k].bound_data;
  }
  const double *list[] = {columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]};
  RfStatus status =
      rf_claim_series(run, "E-MM-9-arrival.csv", "n,arrival_by_n,bound_by_n,sep,arrival_by_sep,bound_by_sep",
                      list, 6, count_sep);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 760, 340, "E-MM-9: MMV Theorem 1, end of alignment t1",
               "worst arrival of 200 neurons and the bound, against n and against sep");
  for (int panel = 0; panel < 2; panel++) {
    const double *x = columns[3 * panel];
    int count = panel ? count_sep : count_n;
    RfPlot plot = rf_claim_panel(&svg, 0, panel, panel ? "sep (n = 10)" : "n (sep = 0.2)", "time");
    plot.top = 60;
    plot.x.log = plot.y.log = true;
    rf_axis_cover(&plot.x, x, count);
    rf_axis_cover(&plot.y, columns[3 * panel + 1], count),
        rf_axis_cover(&plot.y, columns[3 * panel + 2], count);
    rf_axis_pad(&plot.x, 0.04), rf_axis_pad(&plot.y, 0.06);
    rf_plot_axes(&plot);
    rf_plot_line(&plot, x, columns[3 * panel + 2], count,
                 (RfPen){.colour = RF_COLOUR_BLUE, .width = 2, .dashed = true});
    rf_plot_line(&plot, x, columns[3 * panel + 1], count, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
    rf_plot_marks(&plot, x, columns[3 * panel + 1], count, RF_MARK_DISC, RF_COLOUR_VERMILION);
  }
  const RfLegendEntry entries[] = {{"measured worst arrival", RF_COLOUR_VERMILION, RF_MARK_DISC},
                                   {"bound 16 ln n/(xi sqrt(sep) X_min)", RF_COLOUR_BLUE, -2}};
  rf_svg_legend(&svg, 70, 24, 660, entries, 2);
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, "E-MM-9-arrival.svg");
}

RfStatus rf_mmv_14(RfClaimRun *run) {
  const double sizes[] = {4, 8, 16, 32, 64, 128, 256};
  const double seps[] = {0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001};
  Arrival by_n[7], by_sep[9];
  double log_n[7], measured_n[7], log_sep[9], measured_sep[9], bound_sep[9], worst = 0, largest = 0;
  RfStatus status = RF_OK;
  char spec[64];
  for (int k = 0; k < 7 && !status; k++) {
    rf_format(spec, sizeof spec, "gen:DS-OS(%d,%d,5,0.2)", (int)sizes[k] / 2, (int)sizes[k] / 2);
    status = arrive(run, &by_n[k], spec, 200, 0);
    log_n[k] = log(sizes[k]), measured_n[k] = by_n[k].measured;
    largest = fmax(largest, by_n[k].measured / by_n[k].bound);
  }
  for (int k = 0; k < 9 && !status; k++) {
    rf_format(spec, sizeof spec, "gen:DS-OS(5,5,5,%g)", seps[k]);
    status = arrive(run, &by_sep[k], spec, 200, 0);
    log_sep[k] = log(seps[k]), measured_sep[k] = log(by_sep[k].measured),
    bound_sep[k] = log(by_sep[k].bound_data * by_sep[k].shortest); /* every sep has its own X_min */
    largest = fmax(largest, by_sep[k].measured / by_sep[k].bound);
  }
  if (!status) status = two_samples(run, &worst);
  if (status) return status;
  double grows = rf_claim_slope(log_n, measured_n, 7), proved = rf_claim_slope(log_sep, bound_sep, 9);
  for (int k = 1; k < 7; k++)
    rf_claim_at_most(run, "arrival over ln n does not grow", measured_n[k] / log_n[k],
                     measured_n[0] / log_n[0], 0);
  rf_claim_close(run, "exponent of X_min times the bound in sep", proved, -2.5, 0.01);
  rf_claim_misprint(run, "MP-MMV-17", "exponent of t1 in sep", -0.5, -2.5, proved, fabs(proved + 0.5) < 0.01);
  rf_claim_note(run,
                "slope of the arrival in ln n %.3g; exponent in sep %.3f against %.3f of the bound; "
                "measured/bound up to %.1e; two samples: off ln((sep+|psi|)/sep) by at most %.3f",
                grows, rf_claim_slope(log_sep, measured_sep, 9), proved, largest, worst);
  return draw_arrivals(run, sizes, by_n, 7, seps, by_sep, 9);
}

/* ---- MMV-22: how often S+ is not empty ----------------------------------------------------- */

/* k positive neurons; some arrives in S+; the first sees a positive sample at the start. */
static RfStatus positive_start(RfClaimRun *run, bool *reached, bool *sees, const RfDataset *data, rf_index k,
                               RfRandom *random) {
  const double *X = data->X;
  rf_index d = data->d;
  RfAlignField field = {.X = X, .c = data->y, .n = data->n, .d = d};
  *reached = *sees = false;
  for (rf_index j = 0; j < k; j++) {
    double v[16];
    RfAlignNeuron neuron;
    for (rf_index l = 0; l < d; l++) v[l] = rf_random_gaussian(random);
    rf_la_scale(v, sqrt(0.5) / rf_la_norm(v, d), d);
    v[d] = sqrt(0.5);
    bool active = false;
    for (rf_index i = 0; i < data->n; i++) active |= data->y[i] > 0 && rf_la_dot(v, X + i * d, d) > 0;
    if (j == 0) *sees = active;
    RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, v, 0, NULL, INFINITY);
    if (status) return status;
    rf_claim_true(run, "a neuron that sees a sample of its class arrives",
                  !active || neuron.destiny == RF_DESTINY_S_PLUS);
    *reached |= neuron.destiny == RF_DESTINY_S_PLUS;
    rf_align_neuron_free(&neuron);
  }
  return RF_OK;
}

RfStatus rf_mmv_22(RfClaimRun *run) {
  const rf_index counts[] = {1, 2, 4}, N = rf_claim_repetitions(run, 10000);
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  double least = 1;
  for (int which = 0; which < 2 && !status; which++) {
    RfDataset data = {0};
    status = rf_claim_data(run, &data, which ? "gen:DS-OS(5,5,10,0.1)" : "gen:DS-OS(5,5,2,0.1)", 1);
    for (int k = 0; k < 3 && !status; k++) {
      rf_index arrived = 0, seeing = 0;
      for (rf_index draw = 0; draw < N && !status; draw++) {
        bool reached, sees;
        status = positive_start(run, &reached, &sees, &data, counts[k], &random);
        arrived += reached, seeing += sees;
      }
      if (status) break;
      rf_claim_probability(run, "S+ is not empty", arrived, N, 1 - pow(2, -(double)counts[k]), false);
      rf_claim_probability(run, "a neuron sees a positive sample", seeing, N, 0.5, false);
      least = fmin(least, (double)seeing / (double)N);
    }
    rf_dataset_free(&data);
  }
  rf_claim_note(run, "%lld starts each; a neuron sees a positive sample with frequency at least %.3f",
                (long long)N, least);
  return status;
}

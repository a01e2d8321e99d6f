/* Min, Mallada, Vidal, appendix A.5 (MMV-32, Figures 12, 13): with both layers trained from small weights the
 * neurons turn first and grow later; with a fixed second layer they grow from the first epoch. Looked at with
 * the full gradient g of the mean exponential loss:
 *   norm change       sum_k 2 <-g_k, w_k>
 *   direction change  sum_k |(1 - w_k w_k^T/|w_k|^2) g_k| / |w_k|
 * On separated samples always (full batches), on digits 0 and 1 where their files are found. */
#include <math.h>
#include <string.h>

#include "kit/digits.h"
#include "kit/figure.h"
#include "mmv/mmv.h"
#include "la/la.h"
#include "reluflow/train.h"
#include "kit/setting.h"

enum { m = 50, most_looks = 1024 };

typedef struct Phases {
  rf_index count;
  double step[most_looks], norm[most_looks], direction[most_looks], loss[most_looks];
} Phases;

typedef struct Plan {
  rf_index batch;  /* 0 = all samples */
  rf_index steps;  /* between two looks */
  rf_index looks;  /* after the start */
  bool first_only; /* the second layer is fixed at +-1 */
  RfPrecision precision;
} Plan;

static void look(Phases *p, const double *g, const double *theta, rf_index d, double step, double loss) {
  rf_index r = p->count++;
  p->step[r] = step, p->loss[r] = loss, p->norm[r] = p->direction[r] = 0;
  for (int k = 0; k < m; k++) {
    const double *w = theta + k * d, *slope = g + k * d;
    double along = rf_la_dot(slope, w, d), square = rf_la_dot(w, w, d);
    double across = rf_la_dot(slope, slope, d) - along * along / square;
    p->norm[r] -= 2 * along;
    p->direction[r] += sqrt(fmax(0, across) / square);
  }
}

static RfStatus start_net(RfClaimRun *run, RfLayeredNet *net, rf_index d, bool first_only) {
  RfNet start;
  RfStatus status =
      rf_net_init(run->context, &start, RF_INIT_UNBALANCED, m, d, 0, rf_claim_seed(run, "start", 0), 1);
  if (status) return status;
  status = rf_train_from_net(run->context, net, &start);
  rf_net_free(&start);
  if (status) return status;
  rf_la_scale(net->theta, 1e-6, net->n_parameters);
  for (int k = 0; k < m && first_only; k++) net->theta[m * d + k] = net->theta[m * d + k] > 0 ? 1 : -1;
  net->layers[1].fixed = first_only;
  return RF_OK;
}

/* Piece by piece; a piece of mini-batches is one epoch with a shuffle of its own. */
static RfStatus follow(RfClaimRun *run, Phases *p, const RfDataset *data, const Plan *plan) {
  RfLayeredNet net = {0};
  RfLossWork *work = NULL;
  rf_index n = data->n, d = data->d;
  double *gradient = NULL, *q = RF_NEW(double, n);
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  RfTrainData samples = {.X = data->X, .y = data->y, .n = n};
  settings.rate = 2e-3, settings.loss = RF_LOSS_EXP, settings.mean = true;
  settings.precision = plan->precision, settings.record_every = 1000000;
  settings.max_steps = plan->steps, settings.batch = plan->batch;
  if (plan->batch > 0) settings.optimizer = RF_TRAIN_SGD;
  RfStatus status = start_net(run, &net, d, plan->first_only);
  if (!status) status = rf_layers_loss_work_new(run->context, &work, &net, RF_DOUBLE, n);
  if (!status) gradient = RF_NEW(double, net.n_parameters);
  if (!status && (!gradient || !q)) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory");
  p->count = 0;
  for (rf_index k = 0; k <= plan->looks && !status; k++) {
    double loss = 0;
    rf_layers_loss_gradient(run->context, work, gradient, q, net.theta, data->X, data->y, RF_LOSS_EXP, 0, n);
    for (rf_index i = 0; i < n; i++) loss += exp(-q[i]) / (double)n;
    rf_la_scale(gradient, 1 / (double)n, net.n_parameters);
    look(p, gradient, net.theta, d, (double)(k * plan->steps), loss);
    if (k == plan->looks) break;
    RfTrainResult result;
    settings.seed = (uint64_t)k;
    status = rf_train_run(run->context, &result, &net, &samples, &settings);
    if (status) break;
    memcpy(net.theta, result.net.theta, (size_t)net.n_parameters * sizeof(double));
    rf_train_result_free(&result);
  }
  rf_layers_loss_work_free(work);
  rf_layers_free(&net);
  rf_free(gradient), rf_free(q);
  return status;
}

/* First step at which the norm change exceeds a tenth of its peak. */
static double growth_starts(const Phases *p) {
  double peak = 0;
  for (rf_index r = 0; r < p->count; r++) peak = fmax(peak, p->norm[r]);
  for (rf_index r = 0; r < p->count; r++)
    if (p->norm[r] > 0.1 * peak) return p->step[r];
  return NAN;
}

static void draw_row(RfSvg *svg, int row, const Phases *p, const char *title) {
  const double *curves[] = {p->norm, p->direction, p->loss};
  static const char *const labels[] = {"change of norms", "change of directions", "loss"};
  static const RfColour colours[] = {RF_COLOUR_BLUE, RF_COLOUR_VERMILION, RF_COLOUR_GREEN};
  for (int k = 0; k < 3; k++) {
    RfPlot plot = rf_claim_panel(svg, row, k, "updates", labels[k]);
    plot.top += 40;
    plot.y.log = k == 1;
    rf_claim_curve(&plot, p->step, curves[k], p->count, colours[k]);
  }
  rf_svg_label(svg, 70, 58 + 260 * row, RF_ANCHOR_START, 13, RF_COLOUR_INK, title);
}

static RfStatus draw(RfClaimRun *run, const char *csv, const char *picture, const char *title,
                     const Phases *both, const Phases *first) {
  if (!rf_claim_draws(run)) return RF_OK;
  RfText text = {0};
  rf_text_add(&text, "layers,update,norm_change,direction_change,loss\n");
  const Phases *const runs[] = {both, first};
  for (int k = 0; k < 2; k++)
    for (rf_index r = 0; r < runs[k]->count; r++)
      rf_text_addf(&text, "%s,%.17g,%.17g,%.17g,%.17g\n", k ? "first" : "both", runs[k]->step[r],
                   runs[k]->norm[r], runs[k]->direction[r], runs[k]->loss[r]);
  RfStatus status = rf_claim_text(run, csv, rf_text_string(&text));
  rf_text_free(&text);
  if (status) return status;
  RfSvg svg = {0};
  rf_svg_begin(&svg, 1090, 590, title, "changes of norms and directions, loss");
  rf_svg_label(&svg, 70, 26, RF_ANCHOR_START, 15, RF_COLOUR_INK, title);
  draw_row(&svg, 0, both, "both layers trained: directions first, norms later");
  draw_row(&svg, 1, first, "only the first layer trained: norms grow at once");
  rf_svg_end(&svg);
  return rf_claim_picture(run, &svg, picture);
}

/* Both runs on one dataset; *both_at and *first_at receive where growth starts. */
static RfStatus compare(RfClaimRun *run, double starts[2], Phases phases[2], const RfDataset *data,
                        const Plan plans[2]) {
  RfStatus status = follow(run, &phases[0], data, &plans[0]);
  if (!status) status = follow(run, &phases[1], data, &plans[1]);
  for (int k = 0; k < 2 && !status; k++) starts[k] = growth_starts(&phases[k]);
  if (!status)
    rf_claim_at_least(run, "growth starts later by a factor", starts[0] / fmax(starts[1], 1), 100, 0);
  return status;
}

static RfStatus on_digits(RfClaimRun *run, Phases phases[2]) {
  RfDataset data;
  RfClaimVerdict verdict = run->result->verdict;
  char note[sizeof run->result->note];
  bool found, heavy = run->settings->heavy;
  double starts[2], start = rf_clock_seconds();
  memcpy(note, run->result->note, sizeof note);
  RfStatus status = rf_claim_digits(run, &data, &found, 0, 1,
                                    heavy                  ? 0
                                    : run->settings->quick ? 600
                                                           : 2000,
                                    true);
  if (!found) { /* the other half has been judged: not skipped */
    run->result->verdict = verdict;
    memcpy(run->result->note, note, sizeof note);
    rf_claim_note(run, "no MNIST under --data-dir or RELUFLOW_DATA: that part was left out");
    return RF_OK;
  }
  const Plan plans[2] = {
      {.batch = heavy ? 2000 : 0, .steps = heavy ? 7 : 12, .looks = heavy ? 600 : 300, .precision = RF_FLOAT},
      {.batch = heavy ? 2000 : 0, .steps = 1, .looks = 240, .first_only = true, .precision = RF_FLOAT}};
  if (!status) status = compare(run, starts, phases, &data, plans);
  if (!status) {
    const Phases *first = &phases[1];
    rf_claim_at_most(run, "first layer only: direction change after six updates over the start",
                     first->direction[6] / first->direction[0], 0, 1e-2);
    rf_claim_note(run,
                  "digits 0/1, %lld samples, batches of 2000, %.0f s: update %.0f against %.0f, direction "
                  "change %.1e falls to %.1e in 6 updates",
                  (long long)data.n, rf_clock_seconds() - start, starts[0], starts[1], first->direction[0],
                  first->direction[6]);
    status = draw(run, "E-MM-6-digits.csv", "E-MM-6-digits.svg", "MMV Figures 12, 13: digits 0 and 1",
                  &phases[0], &phases[1]);
  }
  rf_dataset_free(&data);
  return status;
}

RfStatus rf_mmv_32(RfClaimRun *run) {
  RfDataset data = {0};
  double starts[2];
  const Plan plans[2] = {{.steps = 100, .looks = 300}, {.steps = 1, .looks = 240, .first_only = true}};
  Phases *phases = RF_NEW(Phases, 2);
  if (!phases) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a claim");
  RfStatus status = rf_claim_data(run, &data, "separated,np=500,nm=500,d=20,sep=0.05", 1);
  if (!status) status = compare(run, starts, phases, &data, plans);
  if (!status) {
    rf_claim_note(run, "separated samples: growth starts at update %.0f against %.0f", starts[0], starts[1]);
    status = draw(run, "E-MM-6.csv", "E-MM-6.svg", "MMV Figures 12, 13: 1000 separated samples", &phases[0],
                  &phases[1]);
  }
  rf_dataset_free(&data);
  if (!status) status = on_digits(run, phases);
  rf_free(phases);
  return status;
}

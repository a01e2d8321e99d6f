/* Phuong and Lampert: where the flow ends. PL-12: each group is rank one along w+- (17), (18); PL-13: growth
 * of the groups (19)-(22); PL-14: Theorem 1; PL-16: Corollary 1. Judged at t = infinity; for some runs also
 * on the way, at smoothed margins 200 and 400. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cross/cross.h"
#include "kit/decay.h"
#include "kit/figure.h"
#include "pl/pl.h"
#include "la/la.h"
#include "margin/margin.h"
#include "kit/samples.h"
#include "kit/setting.h"

enum { most_rows = 6000, most_m = 100, most_d = 4 };

typedef struct Row {
  double log_t, smargin;
  double size[2];     /* |W+|_F^2, |W-|_F^2 */
  double log_loss[2]; /* of the classes */
  double off[2];      /* |W+- - W+- p p^T|_F / |W+-|_F, p along w+-: 0 for rank one along w+- */
  double groups[4];   /* neurons in J+, J-, dead, elsewhere */
  double output;      /* largest error of f/|theta|^2 at the samples, over the largest output of the limit */
} Row;

/* One run with its history. */
typedef struct Story {
  RfClaimSetting setting;
  RfClassMargin sides[2]; /* w+, w- */
  Row *rows;
  rf_index n_rows;
  RfFlowResult result;
  RfNet grouped; /* the first state with every neuron in J+, J- or dead; m = 0 before */
  rf_index alive[2];
} Story;

static void story_free(Story *story) {
  for (int s = 0; s < 2; s++) rf_class_margin_free(&story->sides[s]);
  rf_flow_result_free(&story->result);
  rf_claim_setting_free(&story->setting);
  rf_net_free(&story->grouped);
  rf_free(story->rows);
}

/* 0 J+, 1 J-, 2 dead, 3 elsewhere. */
static int group_of(const int8_t *sides, double a, const RfDataset *data) {
  bool seen = false, own = true, other = false;
  for (rf_index i = 0; i < data->n; i++) {
    bool active = sides[i] > 0, mine = (a > 0) == (data->y[i] > 0);
    seen |= active, own &= !mine || active, other |= !mine && active;
  }
  return !seen ? 2 : own && !other ? a < 0 : 3;
}

static void record(void *observer, const RfFlowMoment *moment) {
  Story *story = observer;
  const RfDataset *data = &story->setting.data;
  rf_index d = data->d, n = data->n;
  if (moment->scale_frozen || story->n_rows == most_rows) return;
  Row *row = &story->rows[story->n_rows++];
  memset(row, 0, sizeof *row);
  double along[2] = {0, 0}, q[2][64], total = 0;
  rf_index count[2] = {0, 0};
  row->log_t = moment->log_t, row->smargin = rf_loss_inverse_log(RF_LOSS_LOGISTIC, moment->log_loss);
  for (rf_index k = 0; k < moment->m; k++) {
    const double *v = moment->directions + k * (d + 1);
    int group = group_of(moment->sides + k * n, v[d], data);
    double size2 = exp(2 * moment->log_norms[k]), w2 = size2 * rf_la_dot(v, v, d);
    row->groups[group]++, total += size2;
    if (group > 1) continue;
    double part = rf_la_dot(v, story->sides[group].w, d) / story->sides[group].norm;
    row->size[group] += w2, along[group] += part > 0 ? size2 * part * part : 0;
  }
  if (row->groups[3] == 0 && story->grouped.m == 0) {
    for (int s = 0; s < 2; s++) story->alive[s] = (rf_index)row->groups[s];
    story->grouped.m = moment->m; /* W and a are there already */
    rf_claim_moment_net(&story->grouped, moment);
  }
  for (rf_index i = 0; i < n; i++) q[data->y[i] < 0][count[data->y[i] < 0]++] = moment->q[i];
  for (int s = 0; s < 2; s++) {
    row->log_loss[s] = rf_loss_log_sum(q[s], count[s], RF_LOSS_LOGISTIC, rf_loss_log_value);
    row->off[s] = sqrt(fmax(0, 1 - along[s] / row->size[s]));
  }
  double best = 1 / (2 * (story->sides[0].norm + story->sides[1].norm)), largest = 0;
  for (rf_index i = 0; i < n; i++) {
    const double *x = data->X + i * d, *own = story->sides[data->y[i] < 0].w;
    row->output = fmax(row->output, fabs(moment->q[i] / total / best - rf_la_dot(own, x, d)));
    largest = fmax(largest, rf_la_dot(own, x, d));
  }
  row->output /= largest;
}

static RfStatus story_new(RfClaimRun *run, Story *story, const char *spec, double divide, rf_index m,
                          uint64_t seed) {
  memset(story, 0, sizeof *story);
  RfStatus status =
      rf_claim_setting_new(run, &story->setting, spec, divide, RF_INIT_BALANCED, m, seed, log(1e-6));
  const RfDataset *data = &story->setting.data;
  for (int s = 0; s < 2 && !status; s++)
    status = rf_margin_class(run->context, &story->sides[s], data->X, data->y, data->n, data->d, s ? -1 : 1);
  if (!status) status = rf_net_new(run->context, &story->grouped, m, data->d, 0);
  story->grouped.m = 0;
  story->rows = RF_NEW(Row, most_rows);
  if (!status && !story->rows) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a run");
  story->setting.flow.observe = record, story->setting.flow.observer = story;
  if (!status) status = rf_claim_flow(run, &story->result, &story->setting);
  if (status) story_free(story);
  return status;
}

static bool both_alive(const Story *story) { return story->alive[0] > 0 && story->alive[1] > 0; }

/* J-LIM(rate): error of a row on the way; the band at 400 is stated for DS-PL2/3. */
static void judge_decay(RfClaimRun *run, const char *what, const Story *story, double (*error)(const Row *),
                        bool planar) {
  RfClaimDecay decay = {0};
  bool spans = story->sides[0].spans && story->sides[1].spans; /* the paper's assumption */
  for (rf_index r = 0; r < story->n_rows; r++)
    if (story->rows[r].smargin > 0)
      rf_claim_decay_add(&decay, story->rows[r].smargin, error(&story->rows[r]));
  rf_claim_decay_judge(run, what, &decay, spans ? 1 : 0.5, planar ? 2e-2 : INFINITY);
}

static double off_of(const Row *row) { return fmax(row->off[0], row->off[1]); }

typedef struct Set {
  const char *spec;
  double divide;
} Set;
static const Set sets[] = {{"DS-PL2", 3},
                           {"DS-OS(5,5,2,0.2,%d)", 1},
                           {"DS-OS(5,5,3,0.2,%d)", 1},
                           {"DS-PL(40,4,%d)", 1},
                           {"DS-OS(3,3,4,0.2,%d)", 1}};
enum { n_sets = sizeof sets / sizeof sets[0] };

/* A run on set k: its data, and its start, are number `seed`. */
static RfStatus story_of(RfClaimRun *run, Story *story, int k, rf_index m, uint64_t seed) {
  char spec[40];
  rf_format(spec, sizeof spec, sets[k].spec, (int)seed);
  return story_new(run, story, spec, sets[k].divide, m, seed);
}

/* ---- PL-12: (17), (18) --------------------------------------------------------------------- */

/* Second singular value over the first, and angle of the first right singular vector to w+-. */
static RfStatus judge_rank_one(RfClaimRun *run, const Story *story, int s) {
  const RfNet *net = &story->result.limit.net;
  double group[most_m * most_d], values[most_d], right[most_d * most_d];
  rf_index d = net->d, count = 0;
  for (rf_index k = 0; k < net->m; k++) {
    if ((net->a[k] < 0) != (s == 1) || rf_la_norm(net->W + k * d, d) == 0) continue;
    memcpy(group + d * count++, net->W + k * d, (size_t)d * sizeof *group);
  }
  if (count == 0) return RF_OK;
  RfStatus status = rf_la_singular(run->context, values, right, group, count, d);
  if (status) return status;
  double cosine = fabs(rf_claim_cosine(right, story->sides[s].w, d)), off[most_d];
  for (rf_index j = 0; j < d; j++)
    off[j] = right[j] - (rf_la_dot(right, story->sides[s].w, d) > 0 ? 1 : -1) * story->sides[s].w[j] /
                            story->sides[s].norm;
  rf_claim_at_least(run, "cosine of the group with w+-", cosine, 1, 1e-12);
  rf_claim_at_most(run, "distance of its direction from w+-", rf_la_norm(off, d), 0, 1e-8);
  if (count > 1)
    rf_claim_at_most(run, "second singular value over the first", values[1] / values[0], 0, 1e-8);
  return RF_OK;
}

/* At least one run with both groups on every set; the groups are drawn. */
static void need_both(RfClaimRun *run, int k, rf_index both) {
  static const char *const names[] = {
      "DS-PL2/3: runs with both groups", "DS-OS, d = 2: runs with both groups",
      "DS-OS, d = 3: runs with both groups", "DS-PL(40,4): runs with both groups",
      "DS-OS, d = 4: runs with both groups"};
  rf_claim_require(run, names[k], 1), rf_claim_made(run, names[k], both);
}

RfStatus rf_pl_12(RfClaimRun *run) {
  RfStatus status = RF_OK;
  rf_index both = 0, spanning = 0, seeds = rf_claim_repetitions(run, 5);
  for (int k = 0; k < n_sets && !status; k++) {
    rf_index before = both;
    for (rf_index seed = 0; seed < seeds && !status; seed++) {
      Story story;
      status = story_of(run, &story, k, 10, (uint64_t)seed);
      if (status) break;
      if (both_alive(&story)) {
        both++, spanning += story.sides[0].spans && story.sides[1].spans;
        rf_claim_true(run, "converged", story.result.limit.outcome == RF_FLOW_CONVERGED);
        for (int s = 0; s < 2 && !status; s++) status = judge_rank_one(run, &story, s);
        judge_decay(run, "distance from rank one on the way", &story, off_of, k == 0);
      } else {
        rf_claim_dropped(run, "runs", 1);
      }
      story_free(&story);
    }
    need_both(run, k, both - before);
  }
  rf_claim_note(run,
                "%lld runs with both groups, in %lld the supports span R^d; elsewhere the limits hold, too, "
                "and are approached like smargin^{-1/2}",
                (long long)both, (long long)spanning);
  return status;
}

/* ---- PL-13: (19)-(22) ---------------------------------------------------------------------- */

/* On the way: relative error of |W+-|^2/ln(1/L+-), or, which = 2, of both |W+-|^2 over the one smoothed
 * margin (of their ratio the errors may cancel at one moment, which says nothing about their decay). */
static void judge_sizes(RfClaimRun *run, const Story *story, int which, bool planar) {
  RfClaimDecay decay = {0};
  double norms[] = {story->sides[0].norm, story->sides[1].norm};
  for (rf_index r = 0; r < story->n_rows; r++) {
    const Row *row = &story->rows[r];
    double error = 0;
    for (int s = 0; s < 2; s++)
      if (which == s || which == 2)
        error =
            fmax(error, fabs(row->size[s] / (which == 2 ? row->smargin : -row->log_loss[s]) / norms[s] - 1));
    if (row->smargin > 0) rf_claim_decay_add(&decay, row->smargin, error);
  }
  rf_claim_decay_judge(
      run, which == 2 ? "|W+|^2 and |W-|^2 over the smoothed margin" : "|W+-|^2/ln(1/L+-) on the way", &decay,
      story->sides[0].spans && story->sides[1].spans ? 1 : 0.5, planar ? 2e-2 : INFINITY);
}

/* Slope of |W+-|_F^2 against ln t from t = 1e6 to 1e60. */
static double log_slope(const Story *story, int s, rf_index *points) {
  double x[most_rows / 4], y[most_rows / 4];
  rf_index count = 0;
  for (rf_index r = 0; r < story->n_rows && count < most_rows / 4; r++)
    if (story->rows[r].log_t >= log(1e6) && story->rows[r].log_t <= log(1e60))
      x[count] = story->rows[r].log_t, y[count++] = story->rows[r].size[s];
  *points = count;
  return rf_claim_slope(x, y, count);
}

static void judge_growth(RfClaimRun *run, const Story *story, bool planar, double *slope) {
  for (int s = 0; s < 2; s++) {
    double before = 0, norm = story->sides[s].norm, smallest = INFINITY, size = 0;
    for (rf_index r = 0; r < story->n_rows; r++) { /* (19): the smoothed margin over 2|W|^2 */
      const Row *row = &story->rows[r];
      double margin = rf_loss_inverse_log(RF_LOSS_LOGISTIC, row->log_loss[s]) / (2 * row->size[s]);
      if (row->groups[3] > 0 || row->log_loss[s] > log(log(2))) continue;
      rf_claim_at_least(run, "smoothed margin of a class, normalised, grows", margin, before,
                        1e-8 * fabs(before));
      before = margin;
    }
    const RfNet *net = &story->result.limit.net; /* t = infinity: |W|^2/ln(1/L) = |W|^2/min q */
    for (rf_index i = 0; i < story->setting.data.n; i++)
      if ((story->setting.data.y[i] < 0) == (s == 1))
        smallest = fmin(smallest, story->result.limit.margins[i]);
    for (rf_index k = 0; k < net->m; k++)
      if ((net->a[k] < 0) == (s == 1)) size += rf_la_dot(net->W + k * net->d, net->W + k * net->d, net->d);
    rf_claim_relative(run, "|W+-|^2/ln(1/L+-) at t = infinity",
                      size / (smallest * story->result.limit.margin), norm, 1e-8);
    judge_sizes(run, story, s, planar);
    rf_index points;
    *slope = log_slope(story, s, &points);
    rf_claim_require(run, "states between t = 1e6 and 1e60", 10);
    rf_claim_made(run, "states between t = 1e6 and 1e60", points);
    rf_claim_relative(run, "slope of |W+-|^2 against ln t", *slope, norm, 0.05);
  }
}

RfStatus rf_pl_13(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double slope = NAN, stated = NAN;
  for (int k = 0; k < n_sets && !status; k++) {
    rf_index both = 0;
    for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++) {
      Story story;
      status = story_of(run, &story, k, 10, (uint64_t)seed);
      if (status) break;
      if (both_alive(&story)) {
        double size[2] = {0, 0}, now, want = story.sides[0].norm / story.sides[1].norm;
        const RfNet *net = &story.result.limit.net;
        judge_growth(run, &story, k == 0, &now);
        if (k == 0) slope = now, stated = story.sides[1].norm;
        for (rf_index j = 0; j < net->m; j++)
          size[net->a[j] < 0] += rf_la_dot(net->W + j * net->d, net->W + j * net->d, net->d);
        rf_claim_relative(run, "|W+|^2/|W-|^2 at t = infinity", size[0] / size[1], want, 1e-8);
        judge_sizes(run, &story, 2, k == 0);
        both++;
      } else {
        rf_claim_dropped(run, "runs", 1);
      }
      story_free(&story);
    }
    need_both(run, k, both);
  }
  rf_claim_misprint(run, "MP-PL-05", "nu-, slope of |W-|^2 against ln t on DS-PL2/3", NAN, stated, slope,
                    fabs(slope - stated) <= 0.05 * stated);
  return status;
}

/* ---- PL-14: Theorem 1 ---------------------------------------------------------------------- */

/* W/|W| = u w+^T + z w-^T and a/|a| = u|w+| - z|w-| with u, z >= 0; largest errors. */
static void judge_theorem(RfClaimRun *run, const RfNet *net, const RfClassMargin sides[2], bool both) {
  rf_index d = net->d;
  double W2 = rf_la_dot(net->W, net->W, net->m * d), a2 = rf_la_dot(net->a, net->a, net->m), off = 0, out = 0;
  double squares[2] = {0, 0};
  for (rf_index k = 0; k < net->m; k++) {
    int s = net->a[k] < 0;
    const RfClassMargin *own = &sides[s];
    double rest[most_d], share = rf_la_dot(net->W + k * d, own->w, d) / (own->norm * own->norm * sqrt(W2));
    for (rf_index j = 0; j < d; j++) rest[j] = net->W[k * d + j] / sqrt(W2) - share * own->w[j];
    off += rf_la_dot(rest, rest, d);
    out = fmax(out, fabs(net->a[k] / sqrt(a2) - (s ? -1 : 1) * share * own->norm));
    squares[s] += share * share;
    rf_claim_at_least(run, "u, z >= 0", share, 0, 1e-8);
  }
  rf_claim_at_most(run, "|W/|W| - u w+^T - z w-^T|", sqrt(off), 0, 1e-8);
  rf_claim_at_most(run, "a/|a| - (u|w+| - z|w-|)", out, 0, 1e-8);
  for (int s = 0; s < 2; s++) {
    double norm = sides[s].norm, want = 1 / (norm * (both ? sides[0].norm + sides[1].norm : norm));
    if (both || squares[s] > 0) rf_claim_relative(run, "|u|^2, |z|^2", squares[s], want, 1e-8);
  }
}

/* One group only: the other class is never fitted; by (16) the living group follows the flow on its own class
 * from the state after alignment. Free the result whatever the status. */
static RfStatus one_group(RfClaimRun *run, RfFlowResult *result, const Story *story) {
  int s = story->alive[0] > 0 ? 0 : 1;
  const RfDataset *all = &story->setting.data;
  double X[64 * most_d], y[64];
  rf_index n = 0, d = all->d;
  for (rf_index i = 0; i < all->n; i++)
    if ((all->y[i] < 0) == (s == 1))
      memcpy(X + d * n, all->X + i * d, (size_t)d * sizeof *X), y[n++] = all->y[i];
  RfFlowStart start = {0};
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.with_alignment = settings.check_direction = false;
  memset(result, 0, sizeof *result);
  RfStatus status = rf_flow_start_from_net(run->context, &start, &story->grouped);
  RfFlowProblem problem = {.X = X, .y = y, .n = n, .d = d, .start = &start};
  if (!status) status = rf_claim_run_flow(run, result, &problem, &settings);
  rf_flow_start_free(&start);
  return status > 0 ? rf_fail(run->context, RF_ERR_NUMERIC, "the flow of one group ends as %s",
                              rf_status_name(status))
                    : status;
}

static RfStatus draw_story(RfClaimRun *run, const Story *story);

typedef struct Groups {
  rf_index both, one, none;
} Groups;

static RfStatus judge_story(RfClaimRun *run, Groups *groups, int k, rf_index m, rf_index seed) {
  Story story;
  RfFlowResult alone = {0};
  RfStatus status = story_of(run, &story, k, m, (uint64_t)(1000 * m + seed));
  if (status) return status;
  if (both_alive(&story)) {
    groups->both++;
    rf_claim_true(run, "converged", story.result.limit.outcome == RF_FLOW_CONVERGED);
    judge_theorem(run, &story.result.limit.net, story.sides, true);
    if (m == 10) judge_decay(run, "distance from rank one on the way", &story, off_of, k == 0);
    if (k == 0 && m == 10 && seed == 0 && rf_claim_draws(run)) status = draw_story(run, &story);
  } else if (story.alive[0] + story.alive[1] > 0) {
    groups->one++;
    status = one_group(run, &alone, &story);
    if (!status) judge_theorem(run, &alone.limit.net, story.sides, false);
    rf_flow_result_free(&alone);
  } else {
    groups->none++;
  }
  story_free(&story);
  return status;
}

RfStatus rf_pl_14(RfClaimRun *run) {
  const rf_index widths[] = {2, 10, 100};
  RfStatus status = RF_OK;
  Groups groups = {0};
  for (int k = 0; k < n_sets && !status; k++)
    for (int w = 0; w < 3 && !status; w++)
      for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++)
        status = judge_story(run, &groups, k, widths[w], seed);
  for (rf_index seed = 100; seed < 160 && groups.one == 0 && !status; seed++) /* until a group is empty */
    status = judge_story(run, &groups, 0, 2, seed);
  if (!status) status = rf_cross_one_run(run);
  rf_claim_require(run, "runs with both groups", 7 * rf_claim_repetitions(run, 5));
  rf_claim_made(run, "runs with both groups", groups.both);
  rf_claim_require(run, "runs with one group", 1), rf_claim_made(run, "runs with one group", groups.one);
  rf_claim_note(run, "%lld runs with both groups, %lld with one, %lld with none", (long long)groups.both,
                (long long)groups.one, (long long)groups.none);
  return status;
}

/* ---- PL-16: Corollary 1, (69)-(74) --------------------------------------------------------- */

/* f/|theta|^2 = uc phi<w+,x> - zc phi<w-,x> at test points; with one group only its own term. */
static RfStatus judge_function(RfClaimRun *run, const RfNet *net, const Story *story, const double c[2],
                               RfRandom *random) {
  double size = rf_net_norm2(net), x[most_d], f;
  for (int point = 0; point < 200; point++) {
    for (rf_index j = 0; j < net->d; j++) x[j] = rf_random_gaussian(random);
    RfStatus status = rf_net_outputs(run->context, &f, net, x, 1);
    if (status) return status;
    double want = c[0] * fmax(0, rf_la_dot(story->sides[0].w, x, net->d)) -
                  c[1] * fmax(0, rf_la_dot(story->sides[1].w, x, net->d));
    rf_claim_close(run, "f/|theta|^2 at a test point", f / size, want, 1e-8 * rf_la_norm(x, net->d));
  }
  return RF_OK;
}

static double output_of(const Row *row) { return row->output; }

static RfStatus judge_corollary(RfClaimRun *run, Groups *groups, int k, rf_index m, rf_index seed,
                                RfRandom *random, double *planar) {
  Story story;
  RfFlowResult alone = {0};
  RfStatus status = story_of(run, &story, k, m, (uint64_t)(1000 * m + seed));
  if (status) return status;
  if (both_alive(&story)) {
    double factor = 1 / (2 * (story.sides[0].norm + story.sides[1].norm)), c[] = {factor, factor};
    groups->both++;
    status = judge_function(run, &story.result.limit.net, &story, c, random);
    rf_claim_relative(run, "uc = zc = best normalised margin", story.result.limit.margin, factor, 1e-8);
    if (k == 0) *planar = sets[0].divide * story.result.limit.margin;
    if (m == 10) judge_decay(run, "error of the outputs on the way", &story, output_of, k == 0);
  } else if (story.alive[0] + story.alive[1] > 0) {
    int s = story.alive[0] > 0 ? 0 : 1;
    double c[] = {0, 0};
    c[s] = 1 / (2 * story.sides[s].norm);
    groups->one++;
    status = one_group(run, &alone, &story);
    if (!status) status = judge_function(run, &alone.limit.net, &story, c, random);
    rf_flow_result_free(&alone);
  } else {
    groups->none++;
  }
  story_free(&story);
  return status;
}

RfStatus rf_pl_16(RfClaimRun *run) {
  const rf_index widths[] = {2, 10, 100};
  RfRandom random = rf_claim_random(run, 0);
  RfStatus status = RF_OK;
  Groups groups = {0};
  double planar = NAN;
  for (int k = 0; k < n_sets && !status; k++)
    for (int w = 0; w < 3 && !status; w++)
      for (rf_index seed = 0; seed < rf_claim_repetitions(run, 5) && !status; seed++)
        status = judge_corollary(run, &groups, k, widths[w], seed, &random, &planar);
  for (rf_index seed = 100; seed < 160 && groups.one == 0 && !status; seed++) /* until a group is empty */
    status = judge_corollary(run, &groups, 0, 2, seed, &random, &planar);
  rf_claim_require(run, "runs with both groups", 7 * rf_claim_repetitions(run, 5));
  rf_claim_made(run, "runs with both groups", groups.both);
  rf_claim_require(run, "runs with one group", 1), rf_claim_made(run, "runs with one group", groups.one);
  rf_claim_dropped(run, "runs with one group", groups.none);
  rf_claim_note(run, "%lld runs with both groups, %lld with one, %lld with none; DS-PL2: uc = zc = %.6f",
                (long long)groups.both, (long long)groups.one, (long long)groups.none, planar);
  return status;
}

/* ---- E-PL-5 -------------------------------------------------------------------------------- */

/* Sectors over time, distance from rank one, |W+-|^2/ln(1/L+-) with |w+-|, and the error of the outputs. */
static RfStatus draw_story(RfClaimRun *run, const Story *story) {
  enum { columns = 11 };
  double *data = RF_NEW(double, columns * story->n_rows);
  const double *list[columns];
  rf_index n = 0;
  if (!data) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  double *c[columns];
  for (int j = 0; j < columns; j++) list[j] = c[j] = data + j * story->n_rows;
  for (rf_index r = 0; r < story->n_rows; r++) {
    const Row *row = &story->rows[r];
    if (!(row->log_t > -7) || row->smargin > 2000) continue;
    c[0][n] = row->log_t, c[1][n] = row->smargin;
    for (int g = 0; g < 4; g++) c[2 + g][n] = row->groups[g];
    for (int s = 0; s < 2; s++) {
      c[6 + s][n] = row->off[s];
      c[8 + s][n] = row->log_loss[s] < -1 ? row->size[s] / -row->log_loss[s] : NAN;
    }
    c[10][n++] = row->output;
  }
  RfStatus status =
      rf_claim_series(run, "E-PL-5.csv",
                      "ln_t,smoothed_margin,J_plus,J_minus,dead,elsewhere,off_plus,off_minus,ratio_plus,"
                      "ratio_minus,output_error",
                      list, columns, n);
  if (status) goto done;
  RfSvg svg = {0};
  rf_svg_begin(
      &svg, 760, 640, "E-PL-5: the flow on DS-PL2/3 from 1e-6",
      "neurons per sector over time; distance from rank one; growth of the groups; error of the outputs");
  const char *labels[][2] = {{"ln t", "neurons"},
                             {"smoothed margin", "distance from rank one"},
                             {"smoothed margin", "|W+-|^2 / ln(1/L+-)"},
                             {"smoothed margin", "error of f/|theta|^2"}};
  const RfColour colours[] = {RF_COLOUR_VERMILION, RF_COLOUR_BLUE, RF_COLOUR_INK, RF_COLOUR_PURPLE};
  for (int panel = 0; panel < 4; panel++) {
    RfPlot plot = rf_claim_panel(&svg, panel / 2, panel % 2, labels[panel][0], labels[panel][1]);
    int from = panel == 0   ? 2
               : panel == 1 ? 6
               : panel == 2 ? 8
                            : 10,
        to = panel == 0   ? 6
             : panel == 3 ? 11
                          : from + 2;
    plot.top += 60;
    plot.x.log = panel > 0, plot.y.log = panel == 1 || panel == 3;
    if (panel == 0) plot.x.low = -1, plot.x.high = 30, plot.y.low = 0, plot.y.high = 10;
    if (panel > 0) plot.x.low = 0.5, plot.x.high = 2000;
    for (int j = from; j < to; j++) rf_axis_cover(&plot.y, c[j], n);
    if (panel == 2) plot.y.low = 0, plot.y.high = 4;
    rf_axis_pad(&plot.y, 0.05);
    rf_plot_axes(&plot);
    for (int j = from; j < to; j++)
      rf_plot_line(&plot, panel ? c[1] : c[0], c[j], n, (RfPen){.colour = colours[j - from], .width = 2});
    for (int s = 0; s < 2 && panel == 2; s++) {
      double x[] = {0.5, 2000}, y[] = {story->sides[s].norm, story->sides[s].norm};
      rf_plot_line(&plot, x, y, 2, (RfPen){.colour = colours[s], .width = 1.5, .dashed = true});
    }
    for (int s = 0; s < 1 && (panel == 1 || panel == 3); s++) { /* 1/smargin through the end */
      double x[] = {20, 2000},
             y[] = {c[to - 1][n - 1] * c[1][n - 1] / 20, c[to - 1][n - 1] * c[1][n - 1] / 2000};
      rf_plot_line(&plot, x, y, 2, (RfPen){.colour = RF_COLOUR_FAINT, .width = 1.5, .dashed = true});
    }
  }
  const RfLegendEntry entries[] = {{"J+ (error: the output)", RF_COLOUR_VERMILION, -1},
                                   {"J-", RF_COLOUR_BLUE, -1},
                                   {"dead", RF_COLOUR_INK, -1},
                                   {"in other sectors", RF_COLOUR_PURPLE, -1},
                                   {"predicted: |w+|, |w-|; slope 1/smargin", RF_COLOUR_FAINT, -2}};
  rf_svg_label(&svg, 70, 20, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "Phuong and Lampert, theory (no figure in the paper): DS-PL2/3, 10 neurons, start 1e-6");
  rf_svg_legend(&svg, 70, 42, 660, entries, 5);
  rf_svg_end(&svg);
  status = rf_claim_picture(run, &svg, "E-PL-5.svg");
done:
  rf_free(data);
  return status;
}

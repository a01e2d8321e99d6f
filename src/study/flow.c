/* Where gradient flow goes on one binary question, and what that point is: the start, the run, the bound on
 * the end of alignment, the verdict, and the other continuations of a flow that meets ridges. Every command
 * and every page that speaks about a flow asks here. */
#include <math.h>
#include <string.h>

#include "la/la.h"
#include "certify/certify.h"
#include "theory/theory.h"
#include "study/branches.h"
#include "study/checkpoints.h"
#include "study/frames.h"
#include "study/study_internal.h"

void rf_study_flow_settings_init(RfStudyFlowSettings *settings) {
  *settings = (RfStudyFlowSettings){
      .start = {.init = RF_INIT_BALANCED, .width = 50, .spread = 1, .log_scale = log(1e-6)},
      .loss = RF_LOSS_LOGISTIC,
      .verdict_seconds = 2};
  rf_flow_settings_init(&settings->flow);
  settings->flow.trace = 100;
}

static void run_free(RfStudyRun *run) {
  rf_flow_result_free(&run->result);
  rf_free(run->choice);
  rf_study_frames_free(run->frames, run->n_frames);
}

void rf_study_flow_free(RfStudyFlow *study) {
  if (!study) return;
  if (study->n_continuations == 0) run_free(&study->run); /* otherwise it is the first of them */
  for (rf_index k = 0; k < study->n_continuations; k++) run_free(&study->continuations[k]);
  rf_free(study->continuations);
  rf_flow_start_free(&study->start);
  rf_net_free(&study->net);
  memset(study, 0, sizeof *study);
}

/* ---- the start ------------------------------------------------------------------------------------ */

static RfStatus prepare(RfContext *context, RfStudyFlow *study, const RfStudyFlowSettings *s) {
  const RfStudyStart *start = &s->start;
  const RfDataset *data = study->data;
  RfStatus status;
  if (start->weights && start->weights->d != data->d)
    return rf_fail(context, RF_ERR_USAGE, "a network with %lld inputs, but the data have %lld columns",
                   (long long)start->weights->d, (long long)data->d);
  status = start->weights ? rf_net_copy(context, &study->net, start->weights)
                          : rf_net_init(context, &study->net, start->init, start->width, data->d, start->leak,
                                        start->seed, start->spread);
  if (!status) status = rf_flow_start_from_net(context, &study->start, &study->net);
  study->problem = (RfFlowProblem){.X = data->X,
                                   .y = data->y,
                                   .n = data->n,
                                   .d = data->d,
                                   .leak = study->net.leak,
                                   .loss = s->loss,
                                   .mean = s->mean,
                                   .start = &study->start,
                                   .log_scale = start->in_limit ? 0 : start->log_scale,
                                   .in_limit = start->in_limit,
                                   .freeze_second = s->freeze_second};
  return status;
}

/* MMV's bound on the end of alignment (theory/alignment.c), which depends on the start through zeta2. NaN
 * where its assumptions do not hold or telling would be dear. */
static double alignment_bound(RfContext *context, const RfStudyFlow *study) {
  const RfFlowProblem *problem = &study->problem;
  const RfNet *net = &study->net;
  double n = (double)problem->n, zeta2 = 0, cost = n * n * (double)problem->d;
  if (problem->leak > 0 || problem->freeze_second || problem->n < 2 || cost > RF_STUDY_PAIRS_COST) return NAN;
  for (rf_index k = 0; k < net->m; k++) { /* balanced starts only */
    double size = rf_la_norm(net->W + k * problem->d, problem->d);
    if (fabs(fabs(net->a[k]) - size) > RF_STUDY_BALANCED * size) return NAN;
  }
  RfPairFacts pairs;
  RfAlignmentBounds bounds;
  RfContext own = *context;
  if (rf_geometry_pairs(&own, &pairs, problem->X, problem->y, problem->n, problem->d)) return NAN;
  RfTheoryProblem theory = {
      .data = study->data, .leak = problem->leak, .loss = problem->loss, .pairs = &pairs};
  rf_theory_alignment(&own, &bounds, &theory);
  if (rf_theory_start_angle(&own, &zeta2, net, problem->X, problem->y, problem->n)) return NAN;
  return rf_theory_alignment_end(&bounds, zeta2) * (problem->mean ? n : 1);
}

/* ---- the verdict ---------------------------------------------------------------------------------- */

void rf_study_run_kkt(const RfContext *context, RfStudyRun *run) {
  const RfFlowLimit *limit = &run->result.limit;
  run->kkt = fmax(limit->stationarity, limit->complementarity) <= context->tol.kkt ? RF_YES : RF_NO;
}

void rf_study_run_verdict(RfStudyRun *run, const RfCertificate *certificate) {
  run->judged = true;
  run->local = certificate->local, run->global = certificate->global, run->gap = certificate->gap;
}

RfStatus rf_study_certify(RfContext *context, RfCertificate *certificate, const RfDataset *data,
                          const RfNet *net, const RfOptimum *optimum, double seconds) {
  RfCertifySettings settings;
  rf_certify_settings_init(&settings);
  settings.optimum = optimum, settings.global = optimum != NULL;
  RfContext own = rf_study_limited(context, seconds);
  RfStatus status = rf_certify_net(&own, certificate, net, data->X, data->y, data->n, &settings);
  return rf_study_hand_up(context, &own, status);
}

/* The same where only the first layer moves: its own problem, its own verdicts. */
static RfStatus judge_frozen(RfContext *context, const RfStudyFlow *study, RfStudyRun *run, double seconds) {
  RfFrozenVerdict verdict;
  const RfDataset *data = study->data;
  RfContext own = rf_study_limited(context, seconds > 0 ? seconds : INFINITY);
  RfStatus status = rf_certify_frozen(&own, &verdict, &run->result.limit.net, data->X, data->y, data->n);
  if (status >= 0) run->kkt = verdict.kkt.holds ? RF_YES : RF_NO;
  if (status >= 0 && seconds > 0) {
    run->judged = true;
    run->local = verdict.local, run->global = verdict.global, run->gap = verdict.gap;
  }
  rf_frozen_verdict_free(&verdict);
  return rf_study_hand_up(context, &own, status);
}

/* Is the limit a KKT point, a local, a global optimum? Only what was found in time is said. */
static RfStatus judge(RfContext *context, RfStudyFlow *study, RfStudyRun *run, const RfStudyFlowSettings *s) {
  const RfFlowLimit *limit = &run->result.limit;
  if (limit->outcome != RF_FLOW_CONVERGED) return RF_OK;
  if (study->problem.freeze_second) return judge_frozen(context, study, run, s->verdict_seconds);
  rf_study_run_kkt(context, run);
  if (!(s->verdict_seconds > 0)) return RF_OK;
  RfStudyBest best;
  RfCertificate certificate = {0};
  RfStudyBestSettings wanted;
  rf_study_best_settings_init(&wanted);
  wanted.optimum.leak = study->net.leak, wanted.optimum.seed = s->start.seed;
  wanted.optimum.time_limit = s->verdict_seconds;
  const RfNet *known[] = {&limit->net};
  rf_study_best_known(&wanted, limit, study->data->n);
  RfStatus status = rf_study_best(context, &best, study->data, NULL, known, 1, &wanted);
  if (status >= 0 && best.has_global)
    status =
        rf_study_certify(context, &certificate, study->data, &limit->net, &best.global, s->verdict_seconds);
  if (status >= 0 && best.has_global) rf_study_run_verdict(run, &certificate);
  rf_certificate_free(&certificate);
  rf_study_best_free(&best);
  return status < 0 ? status : RF_OK;
}

/* ---- running -------------------------------------------------------------------------------------- */

/* Stopped before there was anything to show. */
static void nothing_known(RfFlowResult *result) {
  RfFlowLimit *limit = &result->limit;
  limit->outcome = RF_FLOW_INTERRUPTED;
  limit->margin = limit->stationarity = limit->complementarity = limit->direction_error = NAN;
  result->log_t_align = result->log_t_fit = result->log_t_end = result->log_loss_end = result->log_norm_end =
      NAN;
}

static RfStatus run_one(RfContext *context, RfStudyFlow *study, RfStudyRun *run, const RfFlowSettings *flow,
                        const RfStudyFlowSettings *s) {
  double began = rf_clock_seconds();
  run->kkt = RF_UNKNOWN, run->gap = NAN;
  RfContext own = rf_study_limited(context, s->flow_seconds > 0 ? s->flow_seconds : INFINITY);
  RfStatus status = rf_study_hand_up(context, &own, rf_flow_run(&own, &run->result, &study->problem, flow));
  run->seconds = rf_clock_seconds() - began;
  if (status < 0) return status;
  if (status == RF_INTERRUPTED && !run->result.limit.net.W) nothing_known(&run->result);
  /* with a limit at hand only the second run was cut short */
  run->out_of_time =
      status == RF_INTERRUPTED && !rf_context_stop(context) && run->result.limit.outcome != RF_FLOW_CONVERGED;
  if (status == RF_INTERRUPTED && run->result.limit.outcome == RF_FLOW_CONVERGED) status = RF_OK;
  RfStatus filmed = rf_study_frames(&own, &run->frames, &run->n_frames, &study->problem, flow, s->frames,
                                    run->result.alignment.t1);
  if (filmed < 0) return rf_study_hand_up(context, &own, filmed);
  RfStatus judged = s->judge_later ? RF_OK : judge(context, study, run, s);
  if (judged < 0) return judged;
  return run->out_of_time ? RF_LIMIT : status;
}

/* One continuation: the run with the list `at` of the tree. */
static RfStatus run_choice(RfContext *context, RfStudyFlow *study, RfStudyTree *tree, rf_index at,
                           const RfStudyFlowSettings *s) {
  RfStudyRun *run = &study->continuations[study->n_continuations++];
  RfFlowSettings flow = s->flow;
  flow.choices = tree->lists[at], flow.n_choices = tree->lengths[at];
  RfStatus status = run_one(context, study, run, &flow, s);
  if (status < 0) return status;
  run->choice = rf_study_tree_name(&run->result);
  if (!run->choice) return rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  RfStatus grown = rf_study_tree_grow(context, tree, at, &run->result);
  return grown < 0 ? grown : status;
}

/* All continuations of a flow that meets ridges, breadth first; the first one is the flow itself where the
 * first way is taken everywhere, and its status is returned. */
static RfStatus run_choices(RfContext *context, RfStudyFlow *study, const RfStudyFlowSettings *s) {
  RfStudyTree tree;
  RfStudyFlowSettings follow = *s;
  follow.flow.branches = RF_BRANCHES_FOLLOW;
  study->continuations = RF_NEW(RfStudyRun, RF_STUDY_CONTINUATIONS);
  if (!study->continuations) return rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  RfStatus status = rf_study_tree_new(context, &tree), first = status;
  while (status >= 0 && status != RF_INTERRUPTED && tree.next < tree.count &&
         study->n_continuations < RF_STUDY_CONTINUATIONS) {
    RfStatus one = run_choice(context, study, &tree, tree.next++, &follow);
    if (study->n_continuations == 1) first = one;
    status = rf_status_worse(status, one);
  }
  study->continuations_left = tree.count - tree.next;
  if (status >= 0 && study->continuations_left > 0)
    rf_message(context, RF_WARNING, "%lld continuations were followed, at least %lld more were not",
               (long long)study->n_continuations, (long long)study->continuations_left);
  rf_study_tree_free(&tree);
  if (study->n_continuations > 0) {
    run_free(&study->run);
    study->run = study->continuations[0];
    study->run.choice = NULL;
  }
  return status < 0 ? status : first;
}

/* With all branches wanted a flow is followed to the first of them, and from the start along each. */
static RfStatus run_all(RfContext *context, RfStudyFlow *study, const RfStudyFlowSettings *s) {
  RfStudyCheckpoints checkpoints;
  RfFlowSettings flow = s->flow;
  if (s->all_branches) flow.branches = RF_BRANCHES_STOP;
  RfStatus status =
      rf_study_checkpoints_open(context, &checkpoints, &flow, &study->problem, s->checkpoint, s->resume);
  if (!status) status = run_one(context, study, &study->run, &flow, s);
  if (status >= 0) {
    RfStatus saved = rf_study_checkpoints_close(context, &checkpoints, &study->run.result);
    if (saved < 0) status = saved;
  }
  rf_study_checkpoints_free(&checkpoints);
  bool several = status >= 0 && s->all_branches && study->run.result.limit.outcome == RF_FLOW_BRANCHED;
  return several ? run_choices(context, study, s) : status;
}

static RfStatus begin(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                      const char *positive_class, const RfStudyFlowSettings *settings) {
  memset(study, 0, sizeof *study);
  study->data = data, study->positive_class = positive_class, study->run.kkt = RF_UNKNOWN;
  study->init = settings->start.weights ? settings->start.name : rf_init_name(settings->start.init);
  study->t_bound = study->run.gap = NAN;
  RfStatus status = prepare(context, study, settings);
  if (!status) study->t_bound = alignment_bound(context, study);
  return status;
}

/* A study from its beginning, by one of the ways to run above. */
static RfStatus run_by(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                       const char *positive_class, const RfStudyFlowSettings *settings,
                       RfStatus (*way)(RfContext *, RfStudyFlow *, const RfStudyFlowSettings *)) {
  RfStatus status = begin(context, study, data, positive_class, settings);
  if (!status) status = way(context, study, settings);
  if (status < 0) rf_study_flow_free(study);
  return status;
}

RfStatus rf_study_flow(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                       const char *positive_class, const RfStudyFlowSettings *settings) {
  return run_by(context, study, data, positive_class, settings, run_all);
}

RfStatus rf_study_continuations(RfContext *context, RfStudyFlow *study, const RfDataset *data,
                                const char *positive_class, const RfStudyFlowSettings *settings) {
  return run_by(context, study, data, positive_class, settings, run_choices);
}

RfStatus rf_study_flows(RfContext *context, RfStudyFlow *studies, const RfStudySplit *split,
                        const RfStudyFlowSettings *settings) {
  RfStatus status = RF_OK;
  if ((settings->checkpoint || settings->resume) && split->count > 1)
    return rf_fail(context, RF_ERR_USAGE,
                   "--checkpoint and --resume work with one network, not one per class");
  for (rf_index k = 0; k < split->count && status >= 0; k++)
    status = rf_status_worse(status, rf_study_flow(context, &studies[k], rf_study_split_data(split, k),
                                                   rf_study_split_name(split, k), settings));
  return status;
}

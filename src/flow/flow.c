/* The whole way: alignment, fit, infinity, limit, and a second run at other settings that tells how far to
 * trust it. */
#include "flow/audit/audit.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"
#include "flow/large/walk.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ln eps that stands for the limit eps -> 0: corrections are exp of minus this times a gap in growth rates,
 * while log-norms keep ten digits behind the point. */
static const double log_scale_limit = -1e6;

/* Samples that come into sight on the way to infinity; each time the fit begins again. */
enum { MOST_WAKES = 100 };

RfStatus rf_flow_outcome_status(RfFlowOutcome outcome) {
  switch (outcome) {
  case RF_FLOW_UNDECIDED: return RF_UNDECIDED;
  case RF_FLOW_NOT_SEPARATED: return RF_NOT_SEPARABLE;
  case RF_FLOW_BRANCHED: return RF_BRANCHED;
  case RF_FLOW_INTERRUPTED: return RF_INTERRUPTED;
  default: return RF_OK;
  }
}

/* The settings of the run whose results count, and of those it is compared with. */
const RfFlowVariant rf_flow_usual = {1, RF_TOL_Q_FROZEN, RF_TOL_Q_SLOW, 1, false, 1};
static const RfFlowVariant coarse = {30, 0.25 * RF_TOL_Q_FROZEN, 0.5 * RF_TOL_Q_SLOW, 0.1, true, 3};
static const RfFlowVariant finer = {RF_TOL_SECOND, 0.25 * RF_TOL_Q_FROZEN, 0.5 * RF_TOL_Q_SLOW, 0.1, true, 3};
/* In large networks merged units cross the ridges of the fit as one, and the differences of their neurons are
 * known roughly: a tenth as much is followed by the same rules, a hundredth is not. */
static const double large_together = 0.1;
static const RfFlowVariant fine = {0.2, 0.5 * RF_TOL_Q_FROZEN, 2 * RF_TOL_Q_SLOW, 0.1, true, 0.3};

/* Neurons times samples times inputs up to which all events of a flow can be located: a minute or two. */
static const double locatable_products = 3e5;

static bool locatable(const RfFlowProblem *problem) {
  return rf_problem_large(problem) && !rf_problem_wide(problem) &&
         (double)problem->start->m * (double)problem->n * (double)problem->d <= locatable_products;
}

/* The whole flow is asked for, and two runs of it. */
static bool whole_flow(const RfFlowSettings *settings) {
  return settings->check_direction && settings->until == RF_UNTIL_INFINITY && !settings->observe &&
         !settings->choices && !settings->variant;
}

/* Runs from the start, or from the checkpoint `from` (not NULL); variant NULL: the run whose results count,
 * at the settings asked for. after_fit (not NULL) receives the state at the end of the fit. */
static RfStatus run_once(RfContext *context, RfRun *run, RfPolish *polish, RfFlowLimit *limit,
                         const RfFlowProblem *problem, const RfFlowSettings *settings,
                         const RfFlowVariant *variant, const RfFlowCheckpoint *from,
                         RfFlowCheckpoint *after_fit, const RfAlignment *aligned,
                         const RfWalkHalfway *halfway) {
  double begin = rf_clock_seconds();
  RfStatus status = rf_run_new(context, run, problem, settings);
  if (status) return status;
  run->aligned = aligned, run->halfway = halfway;
  run->recording = !variant;
  run->may_give_up = run->recording && whole_flow(settings) && locatable(problem);
  if (!variant) variant = settings->variant ? settings->variant : &rf_flow_usual;
  if (run->recording && settings->audit) status = rf_audit_new(context, &run->audit, run);
  if (!status && from) status = rf_run_load(run, from);
  run->tol *= variant->tolerance;
  run->tol_implicit *= variant->tolerance;
  run->stride_tolerance = variant->stride;
  run->q_frozen = variant->q_frozen, run->q_slow = variant->q_slow;
  run->together *= variant->together, run->by_steps = variant->by_steps;
  do { /* a sample that comes into sight on the way to infinity leads back to the fit */
    run->woken = false;
    if (!status) status = rf_fit(run, &limit->outcome, limit->why);
    run->seconds_fit = rf_clock_seconds() - begin;
    if (!status && limit->outcome == RF_FLOW_CONVERGED) {
      if (after_fit && run->phase.part == 1 && run->wakes == 0) {
        run->evaluations_fit = run->system.evaluations;
        status = rf_run_save(run, after_fit);
      }
      if (!status) status = rf_infinity(run, polish, &limit->outcome, limit->why);
    }
  } while (!status && run->woken && run->wakes < MOST_WAKES);
  if (!status && run->woken) {
    limit->outcome = RF_FLOW_UNDECIDED;
    rf_format(limit->why, RF_WHY_SIZE, "samples come into sight and are lost again without end");
  }
  run->seconds_infinity = rf_clock_seconds() - begin - run->seconds_fit;
  if (!status) status = rf_fill_limit(run, polish, limit);
  return status;
}

static void limit_release(RfFlowLimit *limit) {
  RfFlowResult shell;
  memset(&shell, 0, sizeof shell);
  shell.limit = *limit;
  rf_flow_result_free(&shell);
  memset(limit, 0, sizeof *limit);
}

/* Keeps where a run ended, for the case that the runs cannot agree. */
static RfStatus keep_candidate(RfContext *context, RfFlowLimit *limit, const RfFlowLimit *other,
                               double distance) {
  RfFlowCandidate *kept = rf_resize(limit->candidates, limit->n_candidates + 1, sizeof *kept);
  if (!kept) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a limit");
  limit->candidates = kept;
  kept += limit->n_candidates;
  *kept = (RfFlowCandidate){
      .outcome = other->outcome, .margin = other->margin, .distance = distance, .n_groups = other->n_groups};
  RfStatus status = rf_net_copy(context, &kept->net, &other->net);
  limit->n_candidates += !status;
  return status;
}

/* Where both of two runs ended, the first once. */
static RfStatus keep_both(RfContext *context, RfFlowLimit *first, const RfFlowLimit *other) {
  RfStatus status = first->n_candidates == 0 ? keep_candidate(context, first, first, 0) : RF_OK;
  return status ? status : keep_candidate(context, first, other, rf_net_distance(&first->net, &other->net));
}

static void drop_candidates(RfFlowLimit *limit) {
  for (rf_index j = 0; j < limit->n_candidates; j++) rf_net_free(&limit->candidates[j].net);
  rf_free(limit->candidates);
  limit->candidates = NULL, limit->n_candidates = 0;
}

/* How far apart two runs may end: what large problems leave open is how the neurons of a group share it. For
 * long steps that is no excuse where events can be located: two runs that crossed ridges in a wrong order may
 * well end at one network and share it otherwise. */
static double allowed(const RfFlowProblem *problem, const RfFlowLimit *a, const RfFlowLimit *b) {
  bool open = problem->located || (rf_problem_large(problem) && !locatable(problem));
  return open && rf_limits_same_network(a, b) ? RF_TOL_SPLIT : RF_TOL_DIRECTION;
}

/* Where a run at other settings ends. */
static RfStatus run_again(RfContext *context, RfFlowLimit *limit, const RfFlowProblem *problem,
                          const RfFlowSettings *settings, const RfFlowCheckpoint *from,
                          const RfFlowVariant *variant) {
  RfRun run;
  RfPolish polish;
  RfFlowSettings quiet = *settings;
  quiet.want_checkpoint = NULL;
  quiet.trace = 0;
  quiet.branches = RF_BRANCHES_FOLLOW; /* the first run met none: rounding at large margins */
  quiet.observe = NULL;
  memset(&polish, 0, sizeof polish);
  memset(limit, 0, sizeof *limit);
  RfStatus status = run_once(context, &run, &polish, limit, problem, &quiet, variant, from, NULL, NULL, NULL);
  rf_polish_free(&polish);
  rf_run_free(&run);
  return status;
}

/* What another run says. */
typedef struct Opinion {
  double error; /* |difference| of the limit directions; 2 when it ends without a limit, NaN when the caller
                   stops it */
  bool agree;   /* it ended at the same limit, */
  bool shared;  /* or at the same network, of which neurons have other shares */
} Opinion;

/* A second run that was made beside the first, on another thread: the same that would follow it. */
typedef struct Beside {
  bool made;
  RfStatus status;
  RfFlowLimit limit;
  char error[RF_ERROR_SIZE];
} Beside;

/* Another run, or what was found beside (not NULL). Where it ends apart from the first both are kept as
 * candidates. */
static RfStatus other_run(RfContext *context, Opinion *opinion, RfFlowLimit *first,
                          const RfFlowProblem *problem, const RfFlowSettings *settings,
                          const RfFlowCheckpoint *from, const RfFlowVariant *variant, Beside *beside) {
  RfFlowLimit limit;
  RfStatus status = RF_OK;
  if (beside && beside->made) {
    limit = beside->limit;
    status = beside->status < 0 ? rf_fail(context, beside->status, "%s", beside->error) : beside->status;
    beside->made = false;
  } else {
    status = run_again(context, &limit, problem, settings, from, variant);
  }
  *opinion = (Opinion){.error = NAN};
  if (!status && limit.outcome == RF_FLOW_CONVERGED) {
    opinion->error = rf_net_distance(&first->net, &limit.net);
    opinion->agree = opinion->error <= allowed(problem, first, &limit);
    opinion->shared = opinion->error <= RF_TOL_SPLIT && rf_limits_same_network(first, &limit);
  }
  if (!status && limit.outcome != RF_FLOW_CONVERGED && limit.outcome != RF_FLOW_INTERRUPTED)
    opinion->error = 2;
  bool apart = !status && !opinion->agree && !isnan(opinion->error);
  if (apart) status = keep_both(context, first, &limit);
  limit_release(&limit);
  return status;
}

/* The whole way again is affordable while the fit took fewer products than this, about a second. */
static const double affordable_products = 1e9;

static bool affordable(const RfFlowProblem *problem, rf_index evaluations) {
  return (double)evaluations * (double)problem->start->m * (double)problem->n * (double)problem->d <=
         affordable_products;
}

/* The settings of a second run: everything that may be chosen is chosen otherwise, and where it is affordable
 * it is much finer, since runs that are coarse miss the same thing, units that cross a ridge one closely
 * behind the other, and agree on it. Long steps make errors of another kind: a coarse run shows them. */
static RfFlowVariant second_variant(const RfContext *context, const RfFlowProblem *problem, bool cheap) {
  RfFlowVariant variant = cheap ? finer : coarse;
  double ode = context->tol.ode;
  if (RF_TOL_NOT_COARSER < ode) variant.tolerance = RF_TOL_NOT_COARSER / ode;
  if (cheap) variant.tolerance = fmin(1, fmax(fmin(variant.tolerance, finer.tolerance), RF_TOL_FINEST / ode));
  if (rf_problem_large(problem)) variant.together *= large_together;
  return variant;
}

/* Of a third one, finer than both. */
static RfFlowVariant third_variant(const RfContext *context, const RfFlowProblem *problem, double second) {
  RfFlowVariant variant = fine;
  variant.tolerance = fmax(fine.tolerance * fmin(1, second), fmin(1, RF_TOL_FINEST / context->tol.ode));
  if (rf_problem_large(problem)) variant.together *= large_together;
  return variant;
}

/* When the second run ends elsewhere a third one decides; the disagreement is told all the same. A second run
 * that is coarser than the first is outvoted so. One that is finer is not, except about the shares of neurons
 * in one and the same network, which are then known to what it tells. */
static RfStatus second_opinion(RfContext *context, RfFlowLimit *limit, bool *agree,
                               const RfFlowProblem *problem, const RfFlowSettings *settings,
                               const RfFlowCheckpoint *from, bool cheap, Beside *beside) {
  RfFlowVariant variant = second_variant(context, problem, cheap);
  Opinion second = {.error = NAN}, last;
  RfStatus status =
      other_run(context, &second, limit, problem, settings, from, &variant, cheap ? NULL : beside);
  bool decides = !locatable(problem); /* otherwise located events do, not a majority of long steps */
  bool third = !status && !second.agree && !isnan(second.error) && decides;
  last = second, *agree = second.agree;
  if (third) {
    bool finer_second = variant.tolerance < 1;
    variant = third_variant(context, problem, variant.tolerance);
    status = other_run(context, &last, limit, problem, settings, from, &variant, NULL);
    *agree = last.agree && (!finer_second || second.shared);
    if (finer_second && last.agree) last.error = fmax(last.error, second.error);
  }
  if (status == RF_INTERRUPTED) status = RF_OK, last.error = NAN;
  limit->direction_error = last.error;
  limit->compared = (RfFlowCompared){.made = true,
                                     .tolerance = variant.tolerance,
                                     .frozen_at = variant.q_frozen,
                                     .merging = variant.together * rf_run_together(problem),
                                     .by_steps = variant.by_steps,
                                     .from_start = !from,
                                     .disagreed = third ? second.error : 0};
  return status;
}

/* Evaluations per neuron and sample that a flow with located events takes at the least: every neuron crosses
 * half of the hyperplanes, one by one, in steps of twelve and more. */
enum { LEAST_EVALUATIONS = 10 };

/* Whether the second run can be made beside the first: there is a thread for it, and what it will be is
 * known. */
static bool fits_beside(const RfContext *context, const RfFlowProblem *problem,
                        const RfFlowSettings *settings) {
  return context->threads > 1 && problem->located && whole_flow(settings) && !settings->resume &&
         !affordable(problem, LEAST_EVALUATIONS * problem->start->m * problem->n);
}

static void run_beside(const RfContext *context, Beside *beside, const RfFlowProblem *problem,
                       const RfFlowSettings *settings) {
  RfContext own = *context;
  RfFlowVariant variant = second_variant(context, problem, false);
  own.threads = 1, own.on_message = NULL, own.on_progress = NULL;
  rf_serial_blas();
  beside->status = run_again(&own, &beside->limit, problem, settings, NULL, &variant);
  memcpy(beside->error, own.error, sizeof beside->error);
}

/* Steps of a run at a hundredth of the tolerance over those of the first: 2.5 by the order of the methods.
 * One that takes more meets something else, and has no opinion. */
enum { FINER_STEPS = 4 };

/* Rest with samples on the wrong side: does a run at other settings, much finer, come to rest as well? A run
 * behind a saddle may have taken the other way; and a drift under lifted weights leads where it leads under
 * weights lifted less. */
static RfStatus confirm_rest(RfContext *context, RfFlowLimit *limit, const RfFlowProblem *problem,
                             const RfFlowSettings *settings, bool drift, rf_index steps) {
  RfFlowVariant variant = second_variant(context, problem, true);
  RfFlowSettings brief = *settings;
  if (!drift && FINER_STEPS * steps < brief.max_steps) brief.max_steps = FINER_STEPS * steps;
  if (drift) variant.tolerance = fmax(variant.tolerance, RF_TOL_SECOND_DRIFT);
  RfFlowLimit other;
  RfStatus status = run_again(context, &other, problem, &brief, NULL, &variant);
  bool tired = !drift && other.outcome == RF_FLOW_UNDECIDED && strcmp(other.why, RF_WHY_STEPS) == 0;
  bool stopped = status == RF_INTERRUPTED || (!status && other.outcome == RF_FLOW_INTERRUPTED);
  if (stopped) {
    status = RF_OK, limit->outcome = RF_FLOW_INTERRUPTED;
    rf_format(limit->why, RF_WHY_SIZE, "stopped by the caller before a second run had confirmed the %s",
              drift ? "end of a drift" : "rest");
  } else if (!status && !tired && other.outcome != RF_FLOW_NOT_SEPARATED) {
    if (!drift) status = keep_both(context, limit, &other);
    limit->outcome = RF_FLOW_UNDECIDED;
    rf_format(limit->why, RF_WHY_SIZE, "%s",
              drift ? "neurons drift like ln t, and runs at different settings follow them elsewhere"
                    : "the loss stops falling with samples on the wrong side, but not in a finer run");
  }
  limit_release(&other);
  return status;
}

/* What the second run makes of the outcome. */
static void judge_opinion(RfFlowLimit *limit, bool agree) {
  bool stopped = isnan(limit->direction_error);
  if (stopped || agree) drop_candidates(limit); /* outvoted: limit->compared tells */
  if (agree) return;
  limit->outcome = stopped ? RF_FLOW_INTERRUPTED : RF_FLOW_UNDECIDED;
  if (stopped)
    rf_format(limit->why, RF_WHY_SIZE, "stopped by the caller before a second run had confirmed the limit");
  else
    rf_format(limit->why, RF_WHY_SIZE, "runs at different settings end %.2g apart", limit->direction_error);
}

/* What the audit makes of it: a run that did not follow the flow has decided nothing. */
static void judge_audit(RfFlowResult *result) {
  RfFlowLimit *limit = &result->limit;
  bool decided = limit->outcome == RF_FLOW_CONVERGED || limit->outcome == RF_FLOW_NOT_SEPARATED;
  if (result->audit.points == 0 || result->audit.passed || !decided) return;
  limit->outcome = RF_FLOW_UNDECIDED;
  rf_audit_why(&result->audit, limit->why, RF_WHY_SIZE);
}

/* t2 is the later of the two classes' first outputs above 1/4; alignment ends with the last event before it.
 */
static void phases(const RfRun *run, RfFlowResult *result) {
  double shift = run->problem->mean ? log((double)run->system.n) : 0, latest = -INFINITY;
  for (int c = 0; c < 2; c++) {
    bool present = false;
    for (rf_index i = 0; i < run->system.n; i++) present = present || (run->problem->y[i] > 0) == (c == 1);
    if (present) latest = isnan(run->log_t_class[c]) ? NAN : fmax(latest, run->log_t_class[c]);
    if (present && isnan(run->log_t_class[c])) break;
  }
  result->log_t_fit = latest + shift;
  result->log_t_align = -INFINITY;
  for (rf_index j = 0; j < result->n_events; j++)
    if (!(result->events[j].log_t > result->log_t_fit))
      result->log_t_align = fmax(result->log_t_align, result->events[j].log_t);
}

static RfStatus finish(RfRun *run, RfFlowResult *result) {
  RfStatus status = RF_OK;
  result->events = run->events, result->n_events = run->n_events;
  result->trace = run->trace, result->n_trace = run->n_trace;
  result->branches = run->branches, result->n_branches = run->n_branches;
  run->events = NULL, run->trace = NULL;
  run->branches = NULL, run->n_branches = 0;
  result->branched = run->branched;
  result->monitors = run->monitors;
  if (run->audit) result->audit = rf_audit_result(run->audit);
  result->monitors.steps_explicit = run->steps_explicit;
  result->monitors.steps_implicit = run->steps_implicit;
  result->monitors.evaluations = run->system.evaluations;
  result->monitors.escapes = run->escapes;
  result->monitors.seconds_fit = run->seconds_fit;
  result->monitors.seconds_infinity = run->seconds_infinity;
  result->log_t_end = rf_run_log_t(run) + (run->problem->mean ? log((double)run->system.n) : 0);
  if (result->n_events > 0)
    result->log_t_end = fmax(result->log_t_end, result->events[result->n_events - 1].log_t);
  phases(run, result);
  rf_system_fields(&run->system, run->system.y);
  result->log_loss_end = rf_run_log_loss_true(run) - (run->problem->mean ? log((double)run->system.n) : 0);
  status = rf_run_net(run, &result->net_end, &result->log_norm_end);
  result->limit.log_size = result->log_norm_end;
  result->log_norm_end += run->system.kappa;
  return status;
}

/* Times mean nothing once eps -> 0 stretches them: they are cleared. */
static void clear_times(RfFlowResult *result) {
  for (rf_index j = 0; j < result->n_events; j++) result->events[j].log_t = NAN;
  for (rf_index j = 0; j < result->n_trace; j++) result->trace[j].log_t = NAN;
  for (rf_index j = 0; j < result->n_branches; j++) result->branches[j].log_t = NAN;
  result->log_t_end = result->log_t_align = result->log_t_fit = NAN;
}

/* Stopped before the integration began: nothing is known about the end. */
static void stopped_early(RfFlowResult *result) {
  RfFlowLimit *limit = &result->limit;
  limit->outcome = RF_FLOW_INTERRUPTED;
  rf_format(limit->why, RF_WHY_SIZE, "interrupted while the neurons were aligning");
  limit->margin = limit->stationarity = limit->complementarity = limit->direction_error = NAN;
  limit->log_size = result->log_t_align = result->log_t_fit = NAN;
  result->log_t_end = result->log_loss_end = result->log_norm_end = NAN;
}

/* Log-norm of the largest neuron, without the scale, where alignment ends and the fit begins. */
static double size_at_fit(const RfFlowProblem *problem) {
  double longest = RF_TOL_TINY;
  for (rf_index i = 0; problem->gram && i < problem->n; i++)
    longest = fmax(longest, sqrt(problem->gram->square[i]));
  return rf_small_rho(problem, problem->start->m, longest) - problem->log_scale;
}

/* Where long steps ended is a second opinion on a flow whose events are located: whether it is the same. */
static bool confirmed(RfFlowLimit *limit, const RfFlowLimit *by, const RfFlowProblem *problem) {
  if (!by || by->n_groups == 0 || isnan(by->direction_error)) return false;
  double apart = rf_net_distance(&limit->net, &by->net);
  if (!(apart <= (rf_limits_same_network(limit, by) ? RF_TOL_SPLIT : RF_TOL_DIRECTION))) return false;
  limit->direction_error = apart;
  limit->compared = (RfFlowCompared){.made = true,
                                     .tolerance = 1,
                                     .frozen_at = RF_TOL_Q_FROZEN,
                                     .merging = rf_run_together(problem),
                                     .from_start = true,
                                     .long_steps = true,
                                     .disagreed = by->direction_error};
  return true;
}

/* The runs, as large as the problem is: long steps, or every event located. by (not NULL): where another way
 * has led, a second run where it is the same. */
static RfStatus follow(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                       const RfFlowSettings *settings, const RfFlowLimit *by) {
  RfRun run;
  RfPolish polish;
  RfFlowProblem own = *problem;
  RfGram gram = {0};
  RfWalkHalfway halfway = {0};
  RfFlowCheckpoint after_fit = {0}; /* large problems repeat only what comes after it */
  Beside beside = {0};
  memset(result, 0, sizeof *result);
  memset(&run, 0, sizeof run);
  memset(&polish, 0, sizeof polish);
  RfStatus status = rf_flow_check_problem(context, problem, settings);
  if (status) return status;
  bool is_large = !problem->located && problem->start->m * problem->n >= 10000;
  result->n = problem->n, result->d = problem->d, result->m = problem->start->m;
  if (problem->in_limit) own.log_scale = log_scale_limit;
  if (!own.located && rf_walk_fits(&own)) { /* shared by all that follow */
    status = rf_gram_new(context, &gram, own.X, own.n, own.d);
    if (!status) own.gram = &gram;
  }
  if (!status && (settings->with_alignment || own.gram))
    status = rf_flow_align_halfway(context, &result->alignment, &own, own.gram ? &halfway : NULL,
                                   size_at_fit(&own));
  if (!status && settings->with_alignment && settings->prove_alignment)
    status = rf_align_prove(context, &result->alignment, problem);
  beside.made = !status && fits_beside(context, &own, settings);
#pragma omp parallel sections num_threads(2) if (beside.made)
  {
#pragma omp section
    if (!status)
      status = run_once(context, &run, &polish, &result->limit, &own, settings, NULL, settings->resume,
                        is_large ? &after_fit : NULL, result->alignment.neurons ? &result->alignment : NULL,
                        &halfway);
#pragma omp section
    if (beside.made) run_beside(context, &beside, &own, settings);
  }
  if (!status && result->limit.outcome == RF_FLOW_INTERRUPTED)
    status = rf_run_save(&run, &result->checkpoint);
  if (!status) status = finish(&run, result);
  if (!status) judge_audit(result);
  bool cheap = !rf_problem_large(&own) && affordable(problem, run.system.evaluations);
  bool drift = run.system.lift.drive > 0;
  if (!status && settings->check_direction && result->limit.outcome == RF_FLOW_NOT_SEPARATED &&
      (drift || (cheap && whole_flow(settings))))
    status =
        confirm_rest(context, &result->limit, &own, settings, drift, run.steps_explicit + run.steps_implicit);
  if (!status && settings->check_direction && result->limit.outcome == RF_FLOW_CONVERGED &&
      !confirmed(&result->limit, by, problem)) {
    bool again = !after_fit.values || affordable(problem, run.evaluations_fit);
    bool agree = false;
    status = second_opinion(context, &result->limit, &agree, &own, settings, again ? NULL : &after_fit, cheap,
                            &beside);
    if (!status) judge_opinion(&result->limit, agree);
    run.phase.left = -1; /* taken up again, it repeats the last polish */
  }
  if (!status && result->limit.outcome == RF_FLOW_INTERRUPTED && result->checkpoint.count == 0) {
    run.events = result->events, run.trace = result->trace;
    status = rf_run_save(&run, &result->checkpoint);
    run.events = NULL, run.trace = NULL;
  }
  if (status == RF_INTERRUPTED && !result->limit.net.W) stopped_early(result);
  if (!status && problem->in_limit) clear_times(result);
  if (!settings->with_alignment) rf_alignment_free(&result->alignment);
  if (beside.made) limit_release(&beside.limit);
  rf_gram_free(&gram);
  rf_walk_halfway_free(&halfway);
  rf_flow_checkpoint_free(&after_fit);
  rf_polish_free(&polish);
  rf_run_free(&run);
  if (status < 0) {
    rf_flow_result_free(result);
    return status;
  }
  return status ? status : rf_flow_outcome_status(result->limit.outcome);
}

/* Long steps go past events, and where their runs do not agree they have not told in which order ridges were
 * crossed. A flow whose events are located one by one decides, with the first run as second opinion where it
 * was right, and otherwise with a second run of its own kind. */
static RfStatus locate_events(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                              const RfFlowSettings *settings) {
  RfFlowProblem own = *problem;
  RfFlowSettings quiet = *settings;
  RfFlowResult located;
  own.located = true;
  quiet.want_checkpoint = NULL, quiet.resume = NULL;
  RfStatus status = follow(context, &located, &own, &quiet, &result->limit);
  if (status < 0) {
    rf_flow_result_free(result);
    return status;
  }
  if (located.limit.outcome == RF_FLOW_CONVERGED) {
    RfFlowResult before = *result;
    RfFlowCompared *compared = &located.limit.compared;
    if (before.limit.n_groups > 0) /* otherwise long steps gave up on the way */
      compared->disagreed = fmax(compared->disagreed, rf_net_distance(&before.limit.net, &located.limit.net));
    *result = located, located = before;
  }
  rf_flow_result_free(&located);
  return rf_flow_outcome_status(result->limit.outcome);
}

/* Runs of a small problem that end apart: the tolerance is too coarse for what happens on the way. Once more,
 * all of them finer; what they agree on counts, and how far apart the others were is told. */
static RfStatus all_finer(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                          const RfFlowSettings *settings) {
  RfContext own = *context;
  RfFlowResult again;
  own.tol.ode = fmax(fmin(RF_TOL_SECOND * context->tol.ode, RF_TOL_NOT_COARSER), RF_TOL_FINEST);
  RfStatus status = follow(&own, &again, problem, settings, NULL);
  if (status < 0) {
    rf_flow_result_free(result);
    return rf_fail(context, status, "%s", own.error);
  }
  if (again.limit.outcome == RF_FLOW_CONVERGED || again.limit.outcome == RF_FLOW_NOT_SEPARATED) {
    RfFlowResult before = *result;
    again.limit.compared.disagreed = fmax(again.limit.compared.disagreed, before.limit.direction_error);
    *result = again, again = before;
  }
  rf_flow_result_free(&again);
  return rf_flow_outcome_status(result->limit.outcome);
}

RfStatus rf_flow_run_scaled(RfContext *context, RfFlowResult *result, const RfFlowProblem *problem,
                            const RfFlowSettings *settings) {
  RfStatus status = follow(context, result, problem, settings, NULL);
  bool doubtful = status >= 0 && result->limit.outcome == RF_FLOW_UNDECIDED && locatable(problem);
  bool whole = whole_flow(settings);
  if (doubtful && whole) return locate_events(context, result, problem, settings);
  bool apart = status >= 0 && result->limit.outcome == RF_FLOW_UNDECIDED && result->limit.n_candidates > 0;
  bool can = context->tol.ode > 2 * RF_TOL_FINEST && affordable(problem, result->monitors.evaluations);
  return apart && can && whole && !rf_problem_large(problem) ? all_finer(context, result, problem, settings)
                                                             : status;
}

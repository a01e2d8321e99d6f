/* The JSON of a flow. Lists per neuron grow like width times samples: `normal` detail leaves out what would
 * not fit into a few megabytes (null instead of a list), `full` writes everything. */
#include "present/present_internal.h"

#include <math.h>

/* Entries of a list that `normal` detail still writes. */
enum { NORMAL_CROSSINGS = 60000, NORMAL_EVENTS = 60000, NORMAL_SIGNS = 4000000, NORMAL_WEIGHTS = 400000 };

static double time_of(double log_t) { return exp(log_t); }

/* Signs as a text of + - 0; `text` has room for n+1. */
static const char *sector_text(char *text, const int8_t *signs, rf_index n) {
  for (rf_index i = 0; i < n; i++) text[i] = signs[i] > 0 ? '+' : signs[i] < 0 ? '-' : '0';
  text[n] = '\0';
  return text;
}

static rf_index count_crossings(const RfAlignment *alignment) {
  rf_index count = 0;
  for (rf_index k = 0; k < alignment->m; k++) count += alignment->neurons[k].n_crossings;
  return count;
}

static void crossings_json(RfJson *json, const RfAlignNeuron *neuron) {
  rf_json_array(json, "crossings");
  for (rf_index e = 0; e < neuron->n_crossings; e++) {
    rf_json_object(json, NULL);
    rf_json_number(json, "t", neuron->crossings[e].t);
    rf_json_integers(json, "samples", neuron->crossings[e].samples, neuron->crossings[e].n_samples);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void align_neuron_json(RfJson *json, const RfAlignNeuron *neuron, char *text, bool sectors,
                              bool crossings) {
  rf_json_object(json, NULL);
  rf_json_string(json, "destiny", rf_destiny_name(neuron->destiny));
  rf_json_string(json, "sector", sectors ? sector_text(text, neuron->sector, neuron->n) : NULL);
  rf_json_number(json, "t_last", neuron->t_last);
  if (crossings)
    crossings_json(json, neuron);
  else
    rf_json_null(json, "crossings");
  rf_json_number(json, "G", neuron->G);
  rf_json_number(json, "log_amplitude", neuron->log_amplitude);
  if (neuron->proof.asked)
    rf_json_boolean(json, "proved", neuron->proof.proved);
  else
    rf_json_null(json, "proved");
  rf_json_end(json);
}

/* The neurons about which something is to be said: not proved, otherwise than floating point has it, or at an
 * exact tie. */
static void proof_lists_json(RfJson *json, const RfAlignment *alignment) {
  const char *lists[] = {"not_proved", "differs", "branches"};
  for (int list = 0; list < 3; list++) {
    rf_json_array(json, lists[list]);
    for (rf_index k = 0; k < alignment->m; k++) {
      const RfAlignNeuron *neuron = &alignment->neurons[k];
      const RfAlignProof *proof = &neuron->proof;
      bool listed[] = {!proof->proved, proof->proved && !proof->agrees, proof->proved && proof->branched};
      if (!listed[list]) continue;
      rf_json_object(json, NULL);
      rf_json_integer(json, "neuron", k);
      if (list == 0) rf_json_string(json, "why", proof->why);
      if (list == 1) {
        rf_json_string(json, "destiny", rf_destiny_name(proof->destiny));
        rf_json_string(json, "floating", rf_destiny_name(neuron->destiny));
      }
      if (list == 2) {
        rf_json_integer(json, "crossings", proof->branch_event);
        rf_json_integers(json, "samples", proof->branch_samples, proof->n_branch);
        rf_json_integer(json, "continuations", proof->n_options);
      }
      rf_json_end(json);
    }
    rf_json_end(json);
  }
}

static void alignment_proof_json(RfJson *json, const RfAlignment *alignment) {
  rf_index proved = 0, exact = 0, bits = 0, crossings = 0, slides = 0;
  if (alignment->m == 0 || !alignment->neurons[0].proof.asked) return rf_json_null(json, "proof");
  for (rf_index k = 0; k < alignment->m; k++) {
    const RfAlignProof *proof = &alignment->neurons[k].proof;
    proved += proof->proved, exact += proof->proved && proof->bits == 0;
    crossings += proof->crossings, slides += proof->slides;
    if (proof->bits > bits) bits = proof->bits;
  }
  rf_json_object(json, "proof");
  rf_json_integer(json, "proved", proved);
  rf_json_integer(json, "crossings", crossings);
  rf_json_integer(json, "slides", slides);
  rf_json_integer(json, "bits", bits);
  rf_json_integer(json, "exact", exact);
  proof_lists_json(json, alignment);
  rf_json_end(json);
}

static void all_proved_json(RfJson *json, const RfAlignment *alignment) {
  bool all = true;
  if (alignment->m == 0 || !alignment->neurons[0].proof.asked) return rf_json_null(json, "proved");
  for (rf_index k = 0; k < alignment->m; k++) all = all && alignment->neurons[k].proof.proved;
  rf_json_boolean(json, "proved", all);
}

static void branches_json(RfJson *json, const RfAlignment *alignment, char *text) {
  rf_json_array(json, "branches");
  for (rf_index k = 0; k < alignment->m; k++) {
    const RfAlignNeuron *neuron = &alignment->neurons[k];
    if (!neuron->branched) continue;
    rf_json_object(json, NULL);
    rf_json_integer(json, "neuron", k);
    rf_json_number(json, "t", neuron->t_branch);
    rf_json_array(json, "sectors");
    for (rf_index o = 0; o < neuron->n_options; o++)
      rf_json_string(json, NULL, sector_text(text, neuron->options + o * neuron->n, neuron->n));
    rf_json_end(json);
    rf_json_boolean(json, "complete", neuron->options_complete);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void alignment_json(RfJson *json, const RfFlowReport *report, char *text) {
  const RfAlignment *alignment = &report->result->alignment;
  if (!alignment->neurons) return rf_json_null(json, "alignment");
  bool full = report->detail >= 2;
  bool crossings = full || count_crossings(alignment) <= NORMAL_CROSSINGS;
  bool sectors = full || alignment->m * report->result->n <= NORMAL_SIGNS;
  rf_json_object(json, "alignment");
  rf_json_number(json, "t1", alignment->t1);
  rf_json_boolean(json, "branched", alignment->branched);
  all_proved_json(json, alignment);
  if (report->detail == 0) {
    rf_json_null(json, "neurons");
  } else {
    rf_json_array(json, "neurons");
    for (rf_index k = 0; k < alignment->m; k++)
      align_neuron_json(json, &alignment->neurons[k], text, sectors, crossings);
    rf_json_end(json);
  }
  branches_json(json, alignment, text);
  alignment_proof_json(json, alignment);
  rf_json_end(json);
}

static void events_json(RfJson *json, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  rf_index count = result->n_events;
  if (report->detail < 2 && count > NORMAL_EVENTS) count = NORMAL_EVENTS;
  if (report->detail == 0) {
    rf_json_null(json, "events");
  } else {
    rf_json_array(json, "events");
    for (rf_index e = 0; e < count; e++) {
      rf_json_object(json, NULL);
      rf_json_number(json, "log_t", result->events[e].log_t);
      rf_json_integer(json, "neuron", result->events[e].neuron);
      if (result->events[e].sample >= 0)
        rf_json_integer(json, "sample", result->events[e].sample);
      else
        rf_json_null(json, "sample");
      rf_json_string(json, "kind", rf_event_kind_name(result->events[e].kind));
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  rf_json_integer(json, "n_events", result->n_events);
}

static void groups_json(RfJson *json, const RfFlowLimit *limit, char *text, rf_index n, rf_index d) {
  rf_json_array(json, "groups");
  for (rf_index g = 0; g < limit->n_groups; g++) {
    const RfFlowGroup *group = &limit->groups[g];
    rf_json_object(json, NULL);
    rf_json_integers(json, "members", group->members, group->n_members);
    rf_json_string(json, "sector", sector_text(text, group->sector, n));
    rf_json_integer(json, "sign", group->sign);
    rf_json_numbers(json, "beta", group->beta, d);
    rf_json_end(json);
  }
  rf_json_end(json);
}

/* An empty list has no memory behind it: any pointer says "empty", NULL would say "not computed". */
static void list_json(RfJson *json, const char *key, const rf_index *list, rf_index count) {
  static const rf_index none = 0;
  rf_json_integers(json, key, count > 0 ? list : &none, count);
}

static void compared_json(RfJson *json, const RfFlowCompared *compared) {
  if (!compared->made) return rf_json_null(json, "compared");
  rf_json_object(json, "compared");
  rf_json_number(json, "tolerance", compared->tolerance);
  rf_json_number(json, "frozen_at", compared->frozen_at);
  rf_json_number(json, "merging", compared->merging);
  rf_json_string(json, "events",
                 compared->long_steps ? "long steps"
                 : compared->by_steps ? "steps"
                                      : "dense");
  rf_json_boolean(json, "from_start", compared->from_start);
  rf_json_number(json, "disagreed", compared->disagreed);
  rf_json_end(json);
}

static void candidates_json(RfJson *json, const RfFlowLimit *limit, bool weights) {
  rf_json_array(json, "candidates");
  for (rf_index j = 0; j < limit->n_candidates; j++) {
    const RfFlowCandidate *candidate = &limit->candidates[j];
    rf_json_object(json, NULL);
    rf_json_string(json, "status", rf_flow_outcome_name(candidate->outcome));
    rf_json_number(json, "margin", candidate->margin);
    rf_json_number(json, "distance", candidate->distance);
    rf_json_integer(json, "groups", candidate->n_groups);
    rf_json_matrix(json, "W", weights ? candidate->net.W : NULL, candidate->net.m, candidate->net.d);
    rf_json_numbers(json, "a", weights ? candidate->net.a : NULL, candidate->net.m);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void limit_json(RfJson *json, const RfFlowReport *report, char *text) {
  const RfFlowResult *result = report->result;
  const RfFlowLimit *limit = &result->limit;
  bool weights = report->detail >= 2 || (report->detail == 1 && result->m * result->d <= NORMAL_WEIGHTS);
  bool kkt = isfinite(limit->stationarity);
  rf_json_object(json, "limit");
  rf_json_matrix(json, "W", weights ? limit->net.W : NULL, result->m, result->d);
  rf_json_numbers(json, "a", weights ? limit->net.a : NULL, result->m);
  rf_json_null(json, "activation"), rf_json_null(json, "residual"), rf_json_null(json, "layers");
  rf_json_number(json, "margin", limit->margin);
  rf_json_numbers(json, "margins", limit->margins, result->n);
  list_json(json, "support", limit->support, limit->n_support);
  groups_json(json, limit, text, result->n, result->d);
  list_json(json, "vanishing", limit->vanishing, limit->n_vanishing);
  list_json(json, "dead", limit->dead, limit->n_dead);
  rf_json_object(json, "kkt");
  rf_json_number(json, "stationarity", limit->stationarity);
  rf_json_number(json, "complementarity", limit->complementarity);
  rf_json_numbers(json, "lambda", kkt ? limit->lambda : NULL, result->n);
  rf_json_end(json);
  list_json(json, "resting", limit->resting, limit->n_resting);
  rf_json_number(json, "direction_error", limit->direction_error);
  compared_json(json, &limit->compared);
  rf_json_string(json, "status", rf_flow_outcome_name(limit->outcome));
  rf_json_string(json, "why", limit->why[0] ? limit->why : NULL);
  rf_json_string(json, "reason", limit->outcome == RF_FLOW_UNDECIDED ? limit->why : NULL);
  candidates_json(json, limit, weights);
  rf_json_end(json);
}

void rf_json_trace(RfJson *json, const RfFlowTrace *rows, rf_index count) {
  rf_json_array(json, "trace");
  for (rf_index k = 0; k < count; k++) {
    const RfFlowTrace *row = &rows[k];
    rf_json_object(json, NULL);
    rf_json_number(json, "log_t", row->log_t);
    rf_json_number(json, "log_loss", row->log_loss);
    rf_json_number(json, "log_norm", row->log_norm);
    rf_json_number(json, "margin", row->margin);
    rf_json_number(json, "smoothed_margin", row->smoothed_margin);
    rf_json_number(json, "stable_rank", row->stable_rank);
    rf_json_number(json, "cos_plus_min", row->cos_plus_min);
    rf_json_number(json, "cos_minus_min", row->cos_minus_min);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void frames_json(RfJson *json, const RfFlowReport *report) {
  if (!report->frames) return rf_json_null(json, "frames");
  rf_index n = report->problem->n, d = report->problem->d, m = report->problem->start->m;
  rf_json_array(json, "frames");
  for (rf_index k = 0; k < report->n_frames; k++) {
    const RfStudyFrame *frame = &report->frames[k];
    rf_json_object(json, NULL);
    rf_json_number(json, "log_t", frame->log_t);
    rf_json_number(json, "log_loss", frame->log_loss);
    rf_json_number(json, "log_norm", frame->log_norm);
    rf_json_matrix(json, "directions", frame->directions, m, d + 1);
    rf_json_numbers(json, "log_norms", frame->log_norms, m);
    rf_json_numbers(json, "margins", frame->margins, n);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void end_json(RfJson *json, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  const RfFlowMonitors *monitors = &result->monitors;
  rf_json_object(json, "end");
  rf_json_number(json, "log_t", result->log_t_end);
  rf_json_number(json, "log_loss", result->log_loss_end);
  rf_json_number(json, "log_norm", result->log_norm_end);
  rf_json_end(json);
  rf_json_object(json, "monitors");
  rf_json_number(json, "balance_error", monitors->balance_error);
  rf_json_number(json, "energy_error", monitors->energy_error);
  rf_json_boolean(json, "smoothed_margin_monotone", monitors->smoothed_margin_monotone);
  rf_json_integer(json, "steps", monitors->steps_explicit + monitors->steps_implicit);
  rf_json_integer(json, "escapes", monitors->escapes);
  rf_json_end(json);
}

static void audit_json(RfJson *json, const RfFlowAudit *audit) {
  if (audit->points == 0) return rf_json_null(json, "audit");
  rf_json_object(json, "audit");
  rf_json_number(json, "velocity", audit->velocity);
  rf_json_number(json, "energy", audit->energy);
  rf_json_number(json, "balance", audit->balance);
  rf_json_number(json, "sides", audit->sides);
  rf_json_number(json, "events", audit->events);
  rf_json_integer(json, "points", audit->points);
  rf_json_boolean(json, "passed", audit->passed);
  rf_json_end(json);
}

static void head_json(RfJson *json, const RfFlowReport *report) {
  const RfFlowProblem *problem = report->problem;
  rf_json_string(json, "name", report->name);
  rf_json_integer(json, "n", problem->n);
  rf_json_integer(json, "d", problem->d);
  rf_json_integer(json, "width", problem->start->m);
  rf_json_number(json, "leak", problem->leak);
  rf_json_string(json, "loss", rf_loss_name(problem->loss));
  rf_json_string(json, "norm", problem->mean ? "mean" : "sum");
  rf_json_string(json, "init", report->init);
  rf_json_number(json, "log_scale", problem->in_limit ? NAN : problem->log_scale);
}

void rf_json_flow(RfJson *json, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  char *text = RF_NEW(char, result->n + 1);
  if (!text) return rf_json_fail(json);
  head_json(json, report);
  alignment_json(json, report, text);
  rf_json_object(json, "phases");
  rf_json_number(json, "t_align", time_of(result->log_t_align));
  rf_json_number(json, "t_fit", time_of(result->log_t_fit));
  rf_json_number(json, "T_bound", report->t_bound);
  rf_json_end(json);
  events_json(json, report);
  rf_json_boolean(json, "branched", result->branched);
  limit_json(json, report, text);
  rf_json_trace(json, result->trace, result->n_trace);
  frames_json(json, report);
  end_json(json, report);
  audit_json(json, &report->result->audit);
  rf_json_object(json, "verdict");
  rf_json_answer(json, "kkt", report->kkt);
  rf_json_string(json, "local", report->local);
  rf_json_string(json, "global", report->global);
  rf_json_number(json, "gap", report->gap);
  rf_json_end(json);
  rf_json_string(json, "choice", report->choice);
  rf_json_string(json, "positive_class", report->positive_class);
  rf_free(text);
}

/* A flow on the terminal: a table of phases and events in the order of time, then the limit, then a footer
 * with the status and where the time went. */
#include "present/present.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_EVENTS = 12, PAGE_GROUPS = 12, PAGE_SECTOR = 32, PAGE_TRACE = 6 };

static void add_time(char *text, size_t size, double log_t) {
  if (isnan(log_t))
    rf_format(text, size, "-");
  else if (log_t == -INFINITY)
    rf_format(text, size, "0");
  else if (fabs(log_t) < 600)
    rf_format(text, size, "%.6g", exp(log_t));
  else
    rf_format(text, size, "e^%.4g", log_t);
}

static void head(RfText *page, const RfFlowReport *report) {
  const RfFlowProblem *problem = report->problem;
  rf_text_styled(page, RF_BOLD, report->name ? report->name : "data");
  if (report->positive_class) rf_text_addf(page, ", class %s against the rest", report->positive_class);
  rf_text_addf(page, "  %lld samples in %lld dimensions\n", (long long)problem->n, (long long)problem->d);
  rf_text_addf(page, "width %lld, leak %g, %s loss (%s), start %s", (long long)problem->start->m,
               problem->leak, rf_loss_name(problem->loss), problem->mean ? "mean" : "sum",
               report->init ? report->init : "given");
  if (problem->in_limit)
    rf_text_add(page, ", scale -> 0");
  else if (problem->log_scale > -690)
    rf_text_addf(page, ", scale %.6g", exp(problem->log_scale));
  else
    rf_text_addf(page, ", ln scale %.6g", problem->log_scale);
  rf_text_add(page, problem->freeze_second ? ", second layer frozen\n\n" : "\n\n");
}

/* What is proved of it, with --prove-alignment. */
static void alignment_proof_line(RfText *page, const RfAlignment *alignment) {
  rf_index proved = 0, differs = 0, crossings = 0;
  if (alignment->m == 0 || !alignment->neurons[0].proof.asked) return;
  for (rf_index k = 0; k < alignment->m; k++) {
    const RfAlignProof *proof = &alignment->neurons[k].proof;
    proved += proof->proved, differs += proof->proved && !proof->agrees, crossings += proof->crossings;
  }
  rf_text_style(page, proved == alignment->m && !differs ? RF_GOOD : RF_ACCENT);
  rf_text_addf(page, "  proved: %lld of %lld paths, %lld crossings decided in ball arithmetic",
               (long long)proved, (long long)alignment->m, (long long)crossings);
  if (differs) rf_text_addf(page, "; %lld otherwise than above, see --json", (long long)differs);
  rf_text_style(page, RF_PLAIN);
  rf_text_add(page, "\n");
}

static void alignment_line(RfText *page, const RfAlignment *alignment) {
  rf_index count[6] = {0};
  if (!alignment->neurons) return;
  for (rf_index k = 0; k < alignment->m; k++) count[alignment->neurons[k].destiny]++;
  rf_text_styled(page, RF_BOLD, "Alignment");
  rf_text_addf(page, " (limit of small scale)  t1 = %.6g ", alignment->t1);
  for (int destiny = 0; destiny < 6; destiny++)
    if (count[destiny])
      rf_text_addf(page, "  %s %lld", rf_destiny_name((RfDestiny)destiny), (long long)count[destiny]);
  rf_text_add(page, "\n");
  for (rf_index k = 0; k < alignment->m; k++) {
    const RfAlignNeuron *neuron = &alignment->neurons[k];
    if (!neuron->branched) continue;
    rf_text_style(page, RF_BAD);
    rf_text_addf(page, "  neuron %lld has %lld%s continuations at t = %.6g\n", (long long)k,
                 (long long)neuron->n_options, neuron->options_complete ? "" : " or more", neuron->t_branch);
    rf_text_style(page, RF_PLAIN);
  }
  alignment_proof_line(page, alignment);
}

/* One row of the table of the run. */
static void row(RfTable *table, double log_t, const char *mark, const char *what, double log_loss,
                double log_norm, double margin) {
  char when[32];
  add_time(when, sizeof when, log_t);
  rf_table_cell(table, "%s", mark);
  rf_table_cell(table, "%s", when);
  rf_table_cell(table, "%s", what);
  if (isfinite(log_loss))
    rf_table_cell(table, log_loss > -200 ? "%.4g" : "e^%.4g", log_loss > -200 ? exp(log_loss) : log_loss);
  else
    rf_table_cell(table, "%s", "");
  if (isfinite(log_norm))
    rf_table_cell(table, fabs(log_norm) < 200 ? "%.4g" : "e^%.4g",
                  fabs(log_norm) < 200 ? exp(log_norm) : log_norm);
  else
    rf_table_cell(table, "%s", "");
  if (isfinite(margin))
    rf_table_cell(table, "%.6g", margin);
  else
    rf_table_cell(table, "%s", "");
}

static void event_row(RfTable *table, const RfFlowEvent *event) {
  char what[64];
  if (event->sample >= 0)
    rf_format(what, sizeof what, "neuron %lld %s sample %lld", (long long)event->neuron,
              rf_event_kind_name(event->kind), (long long)event->sample);
  else
    rf_format(what, sizeof what, "neuron %lld %s", (long long)event->neuron, rf_event_kind_name(event->kind));
  row(table, event->log_t, "*", what, NAN, NAN, NAN);
}

/* Rows of the trace, phases and the first events, merged by time. */
static void timeline(RfText *page, const RfFlowResult *result) {
  RfTable table;
  rf_table_init(&table, "lrlrrr", " |t||loss|norm|margin");
  rf_index shown = result->n_events < PAGE_EVENTS ? result->n_events : PAGE_EVENTS, e = 0;
  rf_index stride = result->n_trace > PAGE_TRACE ? (result->n_trace + PAGE_TRACE - 1) / PAGE_TRACE : 1;
  double phases[2] = {result->log_t_align, result->log_t_fit};
  const char *names[2] = {"alignment ends", "fitting begins"};
  bool done[2] = {!isfinite(phases[0]), !isfinite(phases[1])};
  for (rf_index k = 0; k <= result->n_trace; k++) {
    bool last = k == result->n_trace;
    if (!last && k % stride && k + 1 < result->n_trace) continue;
    double until = last ? INFINITY : result->trace[k].log_t;
    for (; e < shown && (last || !(result->events[e].log_t > until)); e++)
      event_row(&table, &result->events[e]);
    for (int p = 0; p < 2; p++) {
      if (done[p] || phases[p] > until) continue;
      row(&table, phases[p], ">", names[p], NAN, NAN, NAN);
      done[p] = true;
    }
    if (last) break;
    const RfFlowTrace *at = &result->trace[k];
    row(&table, at->log_t, "", "", at->log_loss, at->log_norm, at->margin);
  }
  rf_table_print(page, &table, 0);
  rf_table_free(&table);
  if (result->n_events > shown)
    rf_text_addf(page, "* the first %lld of %lld events\n", (long long)shown, (long long)result->n_events);
}

static void groups_page(RfText *page, const RfFlowLimit *limit, rf_index n, rf_index d) {
  RfTable table;
  char sector[PAGE_SECTOR + 4];
  if (limit->n_groups == 0) return;
  rf_table_init(&table, "rrrrl", "group|neurons|sign|size|sector");
  for (rf_index g = 0; g < limit->n_groups && g < PAGE_GROUPS; g++) {
    const RfFlowGroup *group = &limit->groups[g];
    rf_index length = n < PAGE_SECTOR ? n : PAGE_SECTOR;
    double square = 0;
    for (rf_index i = 0; i < length; i++)
      sector[i] = group->sector[i] > 0 ? '+' : group->sector[i] < 0 ? '-' : '0';
    memcpy(sector + length, n > length ? ".." : "", n > length ? 3 : 1);
    for (rf_index j = 0; j < d; j++) square += group->beta[j] * group->beta[j];
    rf_table_cell(&table, "%lld", (long long)g);
    rf_table_cell(&table, "%lld", (long long)group->n_members);
    rf_table_cell(&table, "%s", group->sign > 0 ? "+" : "-");
    rf_table_cell(&table, "%.8g", sqrt(square));
    rf_table_cell(&table, "%s", sector);
  }
  rf_table_print(page, &table, 2);
  rf_table_free(&table);
  if (limit->n_groups > PAGE_GROUPS)
    rf_text_addf(page, "  and %lld more groups\n", (long long)(limit->n_groups - PAGE_GROUPS));
}

static void limit_page(RfText *page, const RfFlowReport *report) {
  const RfFlowResult *result = report->result;
  const RfFlowLimit *limit = &result->limit;
  rf_text_styled(page, RF_BOLD, "\nLimit  ");
  rf_text_styled(page, limit->outcome == RF_FLOW_CONVERGED ? RF_GOOD : RF_BAD,
                 rf_flow_outcome_name(limit->outcome));
  if (limit->why[0]) rf_text_addf(page, ": %s", limit->why);
  rf_text_add(page, "\n");
  if (isfinite(limit->margin)) rf_text_addf(page, "  margin     %.15g\n", limit->margin);
  if (limit->n_support > 0) {
    rf_text_add(page, "  support    ");
    rf_text_rows(page, limit->support, limit->n_support, 16);
    rf_text_add(page, "\n");
  }
  groups_page(page, limit, result->n, result->d);
  if (limit->n_vanishing) rf_text_addf(page, "  vanishing  %lld neurons\n", (long long)limit->n_vanishing);
  if (limit->n_dead) rf_text_addf(page, "  dead       %lld neurons\n", (long long)limit->n_dead);
  if (isfinite(limit->stationarity))
    rf_text_addf(page, "  KKT        stationarity %.1e, complementarity %.1e\n", limit->stationarity,
                 limit->complementarity);
  if (isfinite(limit->direction_error))
    rf_text_addf(page, "  direction  two runs agree to %.1e\n", limit->direction_error);
  const RfFlowAudit *audit = &result->audit;
  if (audit->points > 0)
    rf_text_addf(page, "  audit      %s at %lld points: velocity %.0e, energy %.0e, sides %.0e\n",
                 audit->passed ? "passed" : "failed", (long long)audit->points, audit->velocity,
                 audit->energy, audit->sides);
  if (report->global || report->local)
    rf_text_addf(page, "  verdict    local %s, global %s\n", report->local ? report->local : "unknown",
                 report->global ? report->global : "unknown");
}

void rf_text_flow(RfText *page, const RfFlowReport *report) {
  const RfFlowMonitors *monitors = &report->result->monitors;
  head(page, report);
  alignment_line(page, &report->result->alignment);
  if (isfinite(report->t_bound)) rf_text_addf(page, "  bound on its end (MMV)  %.6g\n", report->t_bound);
  rf_text_styled(page, RF_BOLD, "\nFlow\n");
  timeline(page, report->result);
  limit_page(page, report);
  rf_text_style(page, RF_DIM);
  rf_text_addf(page, "\n%.3g s: fit %.3g, infinity %.3g, limit %.3g; %lld steps, %lld events, %lld escapes\n",
               report->seconds, monitors->seconds_fit, monitors->seconds_infinity, monitors->seconds_limit,
               (long long)monitors->steps_explicit + (long long)monitors->steps_implicit,
               (long long)report->result->n_events, (long long)monitors->escapes);
  rf_text_style(page, RF_PLAIN);
}

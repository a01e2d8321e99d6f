/* Every continuation of a start that lies on ridges: the branched neurons are put a hair's breadth along each
 * of their exact continuations, all combinations of them. */
#include "cli/flow_branches.h"

#include <math.h>
#include <string.h>

void flow_choices_free(FlowChoices *choices) {
  for (rf_index k = 0; k < choices->count; k++) {
    if (choices->starts) rf_flow_start_free(&choices->starts[k]);
    if (choices->names) rf_free(choices->names[k]);
  }
  rf_free(choices->starts);
  rf_free(choices->names);
  memset(choices, 0, sizeof *choices);
}

static bool branches_at_start(const RfAlignNeuron *neuron) {
  return neuron->branched && neuron->t_branch <= 0 && neuron->n_options > 1;
}

/* Neuron k moved along option o for a time in which it turns by about 1e-8. */
static RfStatus move_neuron(RfContext *context, RfFlowStart *start, const RfAlignField *field,
                            const RfAlignNeuron *neuron, rf_index k, rf_index o) {
  RfAlignNeuron moved;
  double rate = 0;
  rf_index width = field->d + 1;
  for (rf_index i = 0; i < field->n; i++)
    rate += fabs(field->c[i]) * rf_la_norm(field->X + i * field->d, field->d);
  RfStatus status = rf_align_neuron(context, &moved, field, neuron->branch_direction, neuron->branch_log_norm,
                                    neuron->options + o * field->n, 1e-8 / fmax(rate, 1e-300));
  if (status) return status;
  memcpy(start->directions + k * width, moved.direction, (size_t)width * sizeof(double));
  start->log_norms[k] = moved.log_norm;
  rf_align_neuron_free(&moved);
  return RF_OK;
}

static void name_option(RfText *name, const RfAlignNeuron *neuron, rf_index k, rf_index o) {
  rf_text_addf(name, "%sneuron %lld: ", name->length ? "; " : "", (long long)k);
  for (rf_index i = 0; i < neuron->n; i++) {
    int8_t side = neuron->options[o * neuron->n + i];
    rf_text_add(name, side > 0 ? "+" : side < 0 ? "-" : "0");
  }
}

/* Combination number `which`: the options of the branched neurons are its digits. */
static RfStatus make_choice(RfContext *context, FlowChoices *choices, rf_index which,
                            const RfAlignField *field, const RfFlowProblem *problem,
                            const RfAlignment *alignment) {
  const RfFlowStart *from = problem->start;
  RfFlowStart *start = &choices->starts[which];
  RfText name = {0};
  rf_index rest = which;
  RfStatus status = rf_flow_start_new(context, start, from->m, from->d);
  if (status) return status;
  memcpy(start->directions, from->directions, (size_t)(from->m * (from->d + 1)) * sizeof(double));
  memcpy(start->log_norms, from->log_norms, (size_t)from->m * sizeof(double));
  for (rf_index k = 0; k < alignment->m && !status; k++) {
    const RfAlignNeuron *neuron = &alignment->neurons[k];
    if (!branches_at_start(neuron)) continue;
    rf_index o = rest % neuron->n_options;
    rest /= neuron->n_options;
    status = move_neuron(context, start, field, neuron, k, o);
    name_option(&name, neuron, k, o);
  }
  if (!status) choices->names[which] = rf_copy_text(rf_text_string(&name));
  if (!status && (name.failed || !choices->names[which]))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  rf_text_free(&name);
  return status;
}

RfStatus flow_choices_new(RfContext *context, FlowChoices *choices, const RfFlowProblem *problem,
                          const RfAlignment *alignment, rf_index most) {
  rf_index total = 1, branched = 0;
  memset(choices, 0, sizeof *choices);
  for (rf_index k = 0; k < alignment->m; k++) {
    if (!branches_at_start(&alignment->neurons[k])) continue;
    branched++;
    total = total > most ? total : total * alignment->neurons[k].n_options;
  }
  if (branched == 0) return RF_OK;
  if (total > most) {
    rf_message(context, RF_WARNING, "more than %lld combinations of continuations: the first ones are run",
               (long long)most);
    total = most;
  }
  double *c = RF_NEW(double, problem->n);
  choices->starts = RF_NEW(RfFlowStart, total);
  choices->names = RF_NEW(char *, total);
  choices->count = choices->starts && choices->names ? total : 0;
  RfStatus status =
      c && choices->count ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  for (rf_index i = 0; c && i < problem->n; i++) c[i] = rf_loss_slope_at_zero(problem->loss) * problem->y[i];
  RfAlignField field = {.X = problem->X,
                        .c = c,
                        .n = problem->n,
                        .d = problem->d,
                        .leak = problem->leak,
                        .freeze_second = problem->freeze_second};
  for (rf_index k = 0; k < total && !status; k++)
    status = make_choice(context, choices, k, &field, problem, alignment);
  rf_free(c);
  if (status) flow_choices_free(choices);
  return status;
}

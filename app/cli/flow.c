/* `reluflow flow`: gradient flow from an initialisation to t = infinity. */
#include "cli/cli.h"
#include "theory/theory.h"
#include "layers/layers.h"
#include "la/la.h"
#include "core/core.h"

#include <string.h>

typedef struct FlowFlags {
  rf_index width, trace, frames, max_steps, paths;
  bool no_audit, once, prove;
  double leak, log_scale, ca, verdict;
  int norm, freeze, branches;
  const char *loss, *init, *scale, *weights, *map, *until, *checkpoint, *resume;
} FlowFlags;

#define FIELD(name) offsetof(FlowFlags, name)

static const CliOption options[] = {
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0,
     "of a margin q: logistic ln(1+e^-q), logistic2 twice that, exp e^-q"},
    {"--norm", CLI_CHOICE, FIELD(norm), "sum|mean", "sum", 0, 0,
     "loss as the sum or the mean over the samples; only the clock changes"},
    {"--init", CLI_TEXT, FIELD(init), "NAME", "balanced", 0, 0,
     "balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he; drawn with --seed"},
    {"--ca", CLI_NUMBER, FIELD(ca), "C", "1", -1e100, 1e100,
     "spread of a for --init gaussian, relative to w"},
    {"--scale", CLI_TEXT, FIELD(scale), "EPS", NULL, 0, 0,
     "multiplies the initial weights: a positive number (1e-300 is ordinary) or 'limit', the limit of scale "
     "0 after "
     "t = infinity; default 1e-6, or 1 with --weights"},
    {"--log-scale", CLI_NUMBER, FIELD(log_scale), "X", NULL, -1e15, 300, "ln of the scale; -1e5 is ordinary"},
    {"--weights", CLI_TEXT, FIELD(weights), "MODEL", NULL, 0, 0,
     "start from a network file instead of --init, two-layer or layered (.json with layers; without weights "
     "they are drawn with --seed)"},
    {"--map", CLI_TEXT, FIELD(map), "NAMES", NULL, 0, 0,
     "names in the network file: fc1.weight=W,fc2.weight=a"},
    {"--freeze", CLI_CHOICE, FIELD(freeze), "none|second", "none", 0, 0, "layer that does not move"},
    {"--branches", CLI_CHOICE, FIELD(branches), "stop|follow|all", "stop", 0, 0,
     "at a point with several continuations stop, follow the first, or run them all"},
    {"--until", CLI_TEXT, FIELD(until), "WHEN", "infinity", 0, 0, "infinity, loss=L or time=T"},
    {"--trace", CLI_INDEX, FIELD(trace), "N", "100", 0, 0,
     "about this many rows of quantities along the run"},
    {"--frames", CLI_INDEX, FIELD(frames), "N", "0", 0, 0,
     "about this many states of every neuron along the run, in the JSON, for those who show it move"},
    {"--max-steps", CLI_INDEX, FIELD(max_steps), "N", "200000", 1, 0,
     "integrator steps after which the limit is undecided"},
    {"--paths", CLI_INDEX, FIELD(paths), "N", "0", 0, 0,
     "put the ways of N neurons through alignment, in the plane of the pictures, into the JSON object"},
    {"--no-audit", CLI_FLAG, FIELD(no_audit), NULL, NULL, 0, 0,
     "do not read the run independently while it goes on: for sweeps"},
    {"--once", CLI_FLAG, FIELD(once), NULL, NULL, 0, 0,
     "no second run at other settings: limit.direction_error is not known, and the answer comes in half the "
     "time"},
    {"--prove-alignment", CLI_FLAG, FIELD(prove), NULL, NULL, 0, 0,
     "decide crossings, slides and destinies of the limit of small scale in ball and exact arithmetic"},
    {"--verdict", CLI_NUMBER, FIELD(verdict), "S", "2", 0, 1e9,
     "seconds to spend on whether the limit is a local and a global optimum; 0 = do not ask"},
    {"--checkpoint", CLI_TEXT, FIELD(checkpoint), "FILE", NULL, 0, 0,
     "keep the state in FILE while running, and when interrupted"},
    {"--resume", CLI_TEXT, FIELD(resume), "FILE", NULL, 0, 0, "continue from a checkpoint, to the same bits"},
    {0},
};

/* ---- from flags to settings ------------------------------------------------------------------------ */

static RfStatus read_until(CliRun *run, RfFlowSettings *settings) {
  const char *text = ((const FlowFlags *)run->settings)->until;
  if (strcmp(text, "infinity") == 0) return RF_OK;
  bool loss = strncmp(text, "loss=", 5) == 0, time = strncmp(text, "time=", 5) == 0;
  double value;
  if ((!loss && !time) || !rf_number_read(&value, text + 5) || !(value > 0))
    return rf_fail(&run->context, RF_ERR_USAGE, "--until %s: expected infinity, loss=L or time=T, positive",
                   text);
  settings->until = loss ? RF_UNTIL_LOSS : RF_UNTIL_TIME;
  settings->until_value = value;
  return RF_OK;
}

static RfStatus settings_from_flags(CliRun *run, RfStudyFlowSettings *s) {
  const FlowFlags *flags = run->settings;
  rf_study_flow_settings_init(s);
  s->start.width = flags->width, s->start.leak = flags->leak, s->start.spread = flags->ca;
  s->start.seed = run->common.seed, s->start.name = flags->weights;
  s->mean = flags->norm == 1, s->freeze_second = flags->freeze == 1;
  s->flow.branches = flags->branches == 0 ? RF_BRANCHES_STOP : RF_BRANCHES_FOLLOW;
  s->all_branches = flags->branches == 2;
  s->frames = flags->frames;
  s->flow.trace = flags->trace, s->flow.max_steps = flags->max_steps;
  s->flow.audit = !flags->no_audit, s->flow.check_direction = !flags->once,
  s->flow.prove_alignment = flags->prove;
  s->verdict_seconds = flags->verdict;
  s->checkpoint = flags->checkpoint, s->resume = flags->resume;
  RfStatus status = read_until(run, &s->flow);
  if (!status && !flags->scale && flags->weights) s->start.log_scale = 0; /* as it is */
  if (!status) status = cli_read_scale(run, &s->start, flags->scale, flags->log_scale);
  if (!status) status = rf_loss_from_name(&run->context, &s->loss, flags->loss);
  return status ? status : rf_init_from_name(&run->context, &s->start.init, flags->init);
}

static RfStatus read_weights(CliRun *run, RfNet *net, RfStudyFlowSettings *s) {
  const FlowFlags *flags = run->settings;
  RfStatus status = cli_load_start(run, net, flags->weights, flags->map, flags->leak);
  if (!status) s->start.weights = net;
  return status;
}

/* ---- output ---------------------------------------------------------------------------------------- */

static RfStatus show(CliRun *run, const RfDataset *data, const RfStudyFlow *const *flows, rf_index count) {
  RfStatus status = RF_OK;
  RfContext drawing = cli_drawing_context(run);
  const FlowFlags *flags = run->settings;
  if (run->json) {
    rf_json_flows(run->json, data, flows, count, run->common.detail);
    status = rf_json_paths(&drawing, run->json, count == 1 ? flows[0] : NULL, flags->paths);
  }
  if (run->wants_page) rf_text_flows(&run->page, flows, count, run->common.detail);
  if (!status && run->common.report) {
    rf_html_begin(&run->html, "Gradient flow", data->name);
    status = rf_html_flows(&drawing, &run->html, flows, count);
    rf_html_end(&run->html);
  }
  if (!status && run->common.svg) status = rf_flow_pictures(&drawing, cli_picture, run, flows, count);
  return status < 0 && drawing.error[0] ? rf_fail(&run->context, status, "%s", drawing.error) : status;
}

static RfStatus show_layered(CliRun *run, const RfStudyLayered *study) {
  RfStatus status = RF_OK;
  if (run->json) {
    rf_json_layered_flow(run->json, study);
    rf_json_null(run->json, "continuations"), rf_json_null(run->json, "per_class");
    rf_json_null(run->json, "paths");
  }
  if (run->wants_page) rf_text_layered_flow(&run->page, study, 80);
  if (run->common.report) {
    rf_html_begin(&run->html, "Gradient flow", study->data->name);
    rf_html_layered_flow(&run->html, study);
    rf_html_end(&run->html);
  }
  if (run->common.svg && study->limit.n_trace > 1) {
    RfSvg svg;
    rf_svg_layered_flow(&svg, study);
    status = cli_picture(run, &svg, "trace.svg");
    rf_svg_free(&svg);
  }
  return status;
}

/* ---- running --------------------------------------------------------------------------------------- */

static RfStatus run_two_layer(CliRun *run, const RfDataset *data, const RfStudyFlowSettings *settings) {
  RfStudySplit split = {0};
  RfStatus status = rf_study_split(&run->context, &split, data);
  RfStudyFlow *studies = status ? NULL : RF_NEW(RfStudyFlow, split.count);
  const RfStudyFlow **views = status ? NULL : RF_NEW(const RfStudyFlow *, split.count);
  if (!status)
    status = studies && views ? rf_study_flows(&run->context, studies, &split, settings)
                              : rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  for (rf_index k = 0; status >= 0 && k < split.count; k++) views[k] = &studies[k];
  RfStatus shown = status >= 0 ? show(run, data, views, split.count) : RF_OK;
  for (rf_index k = 0; studies && k < split.count; k++) rf_study_flow_free(&studies[k]);
  rf_free(studies);
  rf_free(views);
  rf_study_split_free(&split);
  return shown < 0 ? shown : status;
}

/* A flag of two-layer networks that was given. */
static RfStatus check_layered(CliRun *run, const RfLayeredNet *net) {
  static const char *const others[] = {"--width",  "--init",       "--ca",     "--map",
                                       "--freeze", "--checkpoint", "--resume", "--branches"};
  const FlowFlags *flags = run->settings;
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
    if (cli_given(run, others[k]))
      return rf_fail(&run->context, RF_ERR_USAGE, "%s: not for the layered network %s", others[k],
                     flags->weights);
  if (cli_given(run, "--leak") && flags->leak != net->leak)
    return rf_fail(&run->context, RF_ERR_USAGE, "--leak %g: %s has leak %g", flags->leak, flags->weights,
                   net->leak);
  return RF_OK;
}

static RfStatus run_layered(CliRun *run, const RfDataset *data, RfLayeredNet *net,
                            const RfStudyFlowSettings *settings) {
  RfStudyLayered study = {0};
  RfStatus status = check_layered(run, net);
  if (!status) status = rf_study_layered(&run->context, &study, data, net, settings);
  RfStatus shown = status >= 0 && study.data ? show_layered(run, &study) : RF_OK;
  rf_study_layered_free(&study);
  return shown < 0 ? shown : status;
}

static int flow_run(CliRun *run) {
  const FlowFlags *flags = run->settings;
  RfDataset data = {0};
  RfNet net = {0};
  RfLayeredNet layers = {0};
  RfStudyFlowSettings settings;
  bool layered = false;
  if (run->common.tol > 0) run->context.tol.ode = run->common.tol;
  RfStatus status = cli_load(run, &data);
  if (!status) status = settings_from_flags(run, &settings);
  if (!status && flags->weights) status = cli_load_layered_start(run, &layers, &layered, flags->weights);
  if (!status && flags->weights && !layered) status = read_weights(run, &net, &settings);
  if (!status)
    status = layered ? run_layered(run, &data, &layers, &settings) : run_two_layer(run, &data, &settings);
  rf_layers_free(&layers);
  rf_net_free(&net);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_flow = {
    .name = "flow",
    .arguments = "DATA",
    .summary = "gradient flow from an initialisation to t = infinity",
    .description = "Follows gradient flow on a two-layer network, or the layered one of --weights, through "
                   "alignment and fitting to its limit "
                   "direction at t = "
                   "infinity, with a KKT certificate and an escape test that tells the limit from a mere "
                   "stationary point. More "
                   "than two classes are trained as one network per class. Exit status 1 when the flow "
                   "branches or never "
                   "separates the data, 3 when the limit is undecided, 130 when interrupted (the result so "
                   "far is written).",
    .options = options,
    .settings_size = sizeof(FlowFlags),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  reluflow flow gen:DS-PL2 --width 10\n"
                "  reluflow flow gen:orthant,n=500,d=20 --width 100 --scale limit --json\n"
                "  reluflow flow data.csv --leak 0.1 --init gaussian --report flow.html\n"
                "  reluflow flow data.csv --weights deep.json # a layered network\n",
    .tol = "relative tolerance of the integration; default 1e-10",
    .has_report = true,
    .has_pictures = true,
    .run = flow_run,
};

/* `reluflow explain DATA`: the main job. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

typedef struct ExplainFlags {
  double leak, log_scale, flow_time, best_time;
  const char *loss, *init, *scale, *weights, *proof;
  bool check;
  rf_index width, trace;
  int branches;
} ExplainFlags;

#define FIELD(name) offsetof(ExplainFlags, name)

static const CliOption options[] = {
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons of the network that is followed"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0,
     "of a margin q: logistic ln(1+e^-q), logistic2 twice that, exp e^-q"},
    {"--init", CLI_TEXT, FIELD(init), "NAME", "balanced", 0, 0,
     "balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he; drawn with --seed"},
    {"--weights", CLI_TEXT, FIELD(weights), "MODEL", NULL, 0, 0,
     "start from a two-layer network file instead of --init, as 'flow' does"},
    {"--scale", CLI_TEXT, FIELD(scale), "EPS", NULL, 0, 0,
     "multiplies the initial weights: a positive number (1e-300 is ordinary) or 'limit'; default 1e-6, or 1 "
     "with --weights"},
    {"--log-scale", CLI_NUMBER, FIELD(log_scale), "X", NULL, -1e15, 300, "ln of the scale; -1e5 is ordinary"},
    {"--branches", CLI_CHOICE, FIELD(branches), "stop|follow|all", "stop", 0, 0,
     "at a point with several continuations stop, follow the first, or run them all"},
    {"--trace", CLI_INDEX, FIELD(trace), "N", "100", 0, 0,
     "about this many rows of quantities along the run"},
    {"--flow-time", CLI_NUMBER, FIELD(flow_time), "S", NULL, 0, 1e9,
     "seconds for the flow at most; when they are over, the rest goes on without its limit; default: six "
     "tenths of what is left of --time"},
    {"--best-time", CLI_NUMBER, FIELD(best_time), "S", NULL, 0, 1e9,
     "seconds for the search of the best margin at most; the bounds known by then are reported; default: a "
     "part of what is left of --time"},
    {"--proof", CLI_TEXT, FIELD(proof), "DIR", NULL, 0, 0,
     "write proofs of the best margin (maxmargin.proof) and of the limit's KKT residuals (limit.proof) into "
     "DIR; rfcheck checks them in exact arithmetic"},
    {"--check", CLI_FLAG, FIELD(check), NULL, NULL, 0, 0, "run rfcheck on the files of --proof"},
    {0},
};

/* Part of --time, or of two minutes, after which the answer is to be shown. */
static const double shown_by = 0.9;

static RfStatus settings_from_flags(CliRun *run, RfExplainSettings *s, RfNet *net) {
  const ExplainFlags *flags = run->settings;
  rf_explain_settings_init(s);
  RfStudyFlowSettings *flow = &s->flow;
  flow->start.leak = flags->leak, flow->start.width = flags->width, flow->start.seed = run->common.seed;
  flow->flow.branches = flags->branches == 0 ? RF_BRANCHES_STOP : RF_BRANCHES_FOLLOW;
  flow->all_branches = flags->branches == 2;
  flow->flow.trace = flags->trace;
  s->thorough = run->common.detail == CLI_FULL;
  s->proofs = flags->proof;
  if (cli_given(run, "--flow-time")) s->flow_seconds = flags->flow_time;
  if (cli_given(run, "--best-time")) s->optimum_seconds = flags->best_time;
  s->seconds = shown_by * (cli_given(run, "--time") ? run->common.time : s->seconds);
  if (!flags->scale && flags->weights) flow->start.log_scale = 0; /* as it is */
  RfStatus status = cli_read_scale(run, &flow->start, flags->scale, flags->log_scale);
  if (!status) status = rf_loss_from_name(&run->context, &flow->loss, flags->loss);
  if (!status) status = rf_init_from_name(&run->context, &flow->start.init, flags->init);
  if (status || !flags->weights) return status;
  flow->start.name = flags->weights, flow->start.weights = net;
  return cli_load_start(run, net, flags->weights, NULL, flags->leak);
}

static RfStatus show(CliRun *run, const RfExplanation *explanation) {
  RfContext drawing = cli_drawing_context(run);
  double left = (1 / shown_by - 1) * explanation->settings.seconds;
  drawing.deadline = fmin(drawing.deadline, explanation->until + left);
  RfStatus status = RF_OK;
  if (run->json) rf_explanation_json(run->json, explanation, run->common.detail);
  if (run->wants_page) rf_explanation_page(&run->page, explanation, run->width);
  if (run->common.report) status = rf_explanation_html(&drawing, &run->html, explanation);
  if (status >= 0 && run->common.svg)
    status = rf_explanation_pictures(&drawing, cli_picture, run, explanation);
  return status < 0 && drawing.error[0] ? rf_fail(&run->context, status, "%s", drawing.error) : status;
}

/* --check: the checker's word on every file that was written. */
static RfStatus check_proofs(CliRun *run, RfExplanation *e) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < e->n_proofs && !status; k++) {
    RfExplainProof *proof = &e->proofs[k];
    CliProof check = {.file = proof->file};
    status = cli_check_proof(run, &check);
    proof->checked = check.checked, proof->accepted = check.accepted;
    memcpy(proof->verdict, check.verdict, sizeof proof->verdict);
  }
  for (rf_index k = 0; k < e->n_parts && !status; k++) status = check_proofs(run, &e->parts[k]);
  return status;
}

static int explain_run(CliRun *run) {
  const ExplainFlags *flags = run->settings;
  RfDataset data = {0};
  RfNet net = {0};
  RfExplainSettings settings;
  RfExplanation explanation = {0};
  if (run->common.tol > 0) run->context.tol.gap = run->common.tol;
  RfStatus status = settings_from_flags(run, &settings, &net);
  if (!status && flags->check && !flags->proof)
    status = rf_fail(&run->context, RF_ERR_USAGE, "--check needs --proof DIR");
  if (!status) status = cli_load(run, &data);
  if (!status && settings.proofs) status = cli_folder(run, settings.proofs);
  if (!status) status = rf_study_explain(&run->context, &explanation, &data, &settings);
  if (status >= 0 && flags->check) {
    RfStatus checked = check_proofs(run, &explanation);
    if (checked) status = checked;
  }
  RfStatus shown = status >= 0 ? show(run, &explanation) : RF_OK;
  rf_explanation_free(&explanation);
  rf_net_free(&net);
  rf_dataset_free(&data);
  return cli_finish(run, shown < 0 ? shown : status);
}

const CliCommand cli_explain = {
    .name = "explain",
    .arguments = "DATA",
    .summary = "what will gradient flow learn here, and is it the best margin?",
    .description =
        "One walk: what the data decide before training, the limit that a theorem predicts, where "
        "gradient flow goes from a "
        "small random start to t = infinity, what that point is, and the best margin that any "
        "network has. It takes two minutes at most, or --time S, and says what is not known by then. Ten "
        "lines here, "
        "and with --report one page with the pictures. More than two classes: one network per class "
        "against the rest.",
    .options = options,
    .settings_size = sizeof(ExplainFlags),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "reluflow explain gen:DS-PL2 --report page.html # orthogonally separable data\n"
                "reluflow explain gen:xor # four points that no line separates\n"
                "reluflow explain iris.csv --classes 0,1 --center",
    .tol = "relative gap of the best margin that counts as proved; default 1e-8",
    .has_report = true,
    .has_pictures = true,
    .run = explain_run,
};

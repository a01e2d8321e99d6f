/* `reluflow explain DATA`: the main job. */
#include "cli/cli.h"

#include <math.h>

typedef struct ExplainFlags {
  double leak, scale, log_scale, flow_time, best_time;
  const char *loss, *init;
  rf_index width;
} ExplainFlags;

#define FIELD(name) offsetof(ExplainFlags, name)

static const CliOption options[] = {
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons of the network that is followed"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0, "logistic, logistic2 or exp"},
    {"--init", CLI_TEXT, FIELD(init), "NAME", "balanced", 0, 0,
     "balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he; drawn with --seed"},
    {"--scale", CLI_NUMBER, FIELD(scale), "EPS", "1e-6", 1e-300, 1e150, "multiplies the initial weights"},
    {"--log-scale", CLI_NUMBER, FIELD(log_scale), "X", NULL, 0, 0, "the same as ln EPS; -1e5 is ordinary"},
    {"--flow-time", CLI_NUMBER, FIELD(flow_time), "S", "60", 0, 1e9,
     "seconds for the flow; when they are over, the rest goes on without its limit"},
    {"--best-time", CLI_NUMBER, FIELD(best_time), "S", "20", 0, 1e9,
     "seconds for the search of the best margin; the bounds known by then are reported"},
    {0},
};

static RfStatus settings_from_flags(CliRun *run, RfExplainSettings *s) {
  const ExplainFlags *flags = run->settings;
  *s = rf_explain_settings_default();
  s->leak = flags->leak, s->width = flags->width, s->seed = run->common.seed;
  s->log_scale = cli_given(run, "--log-scale") ? flags->log_scale : log(flags->scale);
  s->flow_seconds = flags->flow_time, s->optimum_seconds = flags->best_time;
  RfStatus status = rf_loss_from_name(&run->context, &s->loss, flags->loss);
  return status ? status : rf_init_from_name(&run->context, &s->init, flags->init);
}

static int explain_run(CliRun *run) {
  RfDataset data = {0};
  RfExplainSettings settings;
  RfExplanation explanation = {0};
  RfStatus status = settings_from_flags(run, &settings);
  if (!status) status = cli_load(run, &data);
  if (!status) status = rf_explain_run(&run->context, &explanation, &data, &settings);
  if (status >= 0) {
    if (run->json) rf_explanation_json(run->json, &explanation, run->common.detail);
    if (run->wants_page) rf_explanation_page(&run->page, &explanation, run->width);
    if (run->common.report) {
      RfContext context = run->context; /* drawn also after an interruption */
      context.cancel = NULL, context.deadline = rf_clock_seconds() + RF_PICTURE_SECONDS;
      RfStatus drawn = rf_explanation_html(&context, &run->html, &explanation);
      if (drawn < 0) status = rf_fail(&run->context, drawn, "%s", context.error);
    }
  }
  rf_explanation_free(&explanation);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_explain = {
    .name = "explain",
    .arguments = "DATA",
    .summary = "what will gradient flow learn here, and is it the best margin?",
    .description =
        "One walk: what the data decide before training, the limit that a theorem predicts, where "
        "gradient flow goes from a "
        "small random start to t = infinity, what that point is, and the best margin that any "
        "network has. Ten lines here, "
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
    .run = explain_run,
};

/* `reluflow inspect DATA`: what the data decide before training. */
#include "cli/cli.h"

typedef struct Settings {
  double leak;
  const char *loss;
} Settings;

static const CliOption options[] = {
    {"--leak", CLI_NUMBER, offsetof(Settings, leak), "L", "0", 0, 1,
     "slope of the activation for non-positive inputs: 0 is ReLU, 1 is linear"},
    {"--loss", CLI_TEXT, offsetof(Settings, loss), "NAME", "logistic", 0, 0,
     "logistic (log), logistic2 (log2) or exp"},
    {0},
};

static int inspect_run(CliRun *run) {
  const Settings *settings = run->settings;
  RfContext *context = &run->context;
  RfDataset data = {0};
  RfInspection inspection = {0};
  RfInspectionSettings wanted = {.leak = settings->leak, .thorough = run->common.detail == CLI_FULL};
  if (run->common.tol > 0) context->tol.zero = run->common.tol;
  RfStatus status = rf_loss_from_name(context, &wanted.loss, settings->loss);
  if (status == RF_OK) status = cli_load(run, &data);
  if (status == RF_OK) status = rf_study_inspect(context, &inspection, &data, &wanted);
  if (status >= 0 && inspection.data) {
    if (run->json) rf_inspection_json(run->json, &inspection);
    if (run->wants_page) rf_inspection_page(&run->page, &inspection, run->width);
    if (run->common.report) rf_inspection_html(&run->html, &inspection);
    RfStatus written =
        run->common.svg ? rf_inspection_pictures(context, cli_picture, run, &inspection) : RF_OK;
    if (written < 0) status = written;
  }
  rf_inspection_free(&inspection);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_inspect = {
    .name = "inspect",
    .arguments = "DATA",
    .summary = "what the data decide before training",
    .description =
        "Everything that can be said about a dataset before any training: linear and orthogonal "
        "separability with "
        "multipliers or a proof of the contrary, the shortest vector of each class, cones, "
        "activation patterns, spike "
        "test, extremal directions of the early dynamics, and which theorems of five papers "
        "apply, with the first reason "
        "why not. On large sets the search for extremal directions stops early and says so; --detail full "
        "lets it run. --tol is the relative size below which an inner product counts as 0.",
    .options = options,
    .settings_size = sizeof(Settings),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  reluflow inspect gen:DS-PL2\n"
                "  reluflow inspect gen:DS-SYM6 --leak 0.5 --report page.html --svg pictures\n"
                "  reluflow inspect iris.csv --classes 0,1 --json\n",
    .tol = "relative size below which an inner product counts as 0; default 1e-12",
    .has_report = true,
    .has_pictures = true,
    .run = inspect_run,
};

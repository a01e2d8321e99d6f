/* `reluflow maxmargin DATA`: the linear part, the two class vectors, and the best network of any width. */
#include "cli/cli.h"
#include "core/core.h"

#include <stdio.h>

typedef struct Settings {
  bool linear, intercept;
  double leak;
  rf_index width;
  int signs; /* position in the list of choices */
  const char *proof;
  bool check;
} Settings;

static const CliOption options[] = {
    {"--linear", CLI_FLAG, offsetof(Settings, linear), NULL, NULL, 0, 0, "stop after the linear part"},
    {"--intercept", CLI_FLAG, offsetof(Settings, intercept), NULL, NULL, 0, 0,
     "give the linear part an intercept b that the norm does not count"},
    {"--leak", CLI_NUMBER, offsetof(Settings, leak), "X", "0", 0, 1,
     "slope of the activation for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--width", CLI_INDEX, offsetof(Settings, width), "M", NULL, 1, 0,
     "say whether a network with M neurons reaches the optimum"},
    {"--signs", CLI_CHOICE, offsetof(Settings, signs), "both|+|-", "both", 0, 0,
     "allow only a >= 0 or only a <= 0"},
    {"--proof", CLI_TEXT, offsetof(Settings, proof), "FILE", NULL, 0, 0,
     "write a proof of the answer, which rfcheck FILE checks in exact arithmetic (with --linear: of the "
     "linear "
     "part)"},
    {"--check", CLI_FLAG, offsetof(Settings, check), NULL, NULL, 0, 0, "run rfcheck on the file of --proof"},
    {0},
};

static RfStudyBestSettings settings_from_flags(CliRun *run) {
  const Settings *flags = run->settings;
  RfStudyBestSettings out;
  rf_study_best_settings_init(&out);
  out.linear_only = flags->linear, out.intercept = flags->intercept;
  out.optimum.leak = flags->leak, out.optimum.width = flags->width, out.optimum.seed = run->common.seed;
  out.optimum.signs = flags->signs == 1 ? 1 : flags->signs == 2 ? -1 : 0;
  return out;
}

/* The proof of --proof, checked with --check. */
static RfStatus prove(CliRun *run, CliProof *proof, const RfStudyBest *best, rf_index count,
                      const RfStudyBestSettings *s) {
  const Settings *flags = run->settings;
  RfContext *context = &run->context;
  if (flags->check && !flags->proof) return rf_fail(context, RF_ERR_USAGE, "--check needs --proof FILE");
  if (!flags->proof) return RF_OK;
  if (count != 1)
    return rf_fail(context, RF_ERR_USAGE, "--proof needs two classes: choose them with --classes");
  if (flags->linear && flags->intercept)
    return rf_fail(context, RF_ERR_USAGE, "proofs of the linear part have no intercept");
  const double *X = best->data->X, *y = best->data->y;
  RfStatus status =
      best->has_global
          ? rf_optimum_proof(context, &proof->written, flags->proof, &best->global, X, y, s->optimum.signs)
          : rf_proof_linear(context, &proof->written, flags->proof, &best->linear, X, y);
  if (status == RF_UNDECIDED) rf_message(context, RF_WARNING, "no proof could be written");
  if (status) return status;
  proof->file = flags->proof;
  return flags->check ? cli_check_proof(run, proof) : RF_OK;
}

static RfStatus show(CliRun *run, const RfDataset *data, const RfStudyBest *const *bests, rf_index count,
                     const RfStudyBestSettings *settings, const CliProof *proof) {
  if (run->json) {
    rf_json_bests(run->json, data, bests, count, settings, run->common.detail);
    cli_proof_json(run->json, "proof", proof);
  }
  if (run->wants_page) {
    rf_text_bests(&run->page, data, bests, count, settings);
    cli_proof_page(&run->page, proof);
  }
  if (run->common.report) rf_html_bests(&run->html, data, bests, count, settings);
  if (!run->common.svg) return RF_OK;
  if (count != 1 || data->n != 2)
    rf_message(&run->context, RF_WARNING, "pictures need two samples and a network that fits them");
  return rf_best_pictures(&run->context, cli_picture, run, bests, count, settings);
}

static int maxmargin_run(CliRun *run) {
  RfDataset data = {0};
  RfStudySplit split = {0};
  RfStudyBest *bests = NULL;
  const RfStudyBest **views = NULL;
  RfStudyBestSettings settings = settings_from_flags(run);
  if (run->common.tol > 0) run->context.tol.gap = run->common.tol;
  RfStatus status = cli_load(run, &data);
  if (!status) status = rf_study_split(&run->context, &split, &data);
  if (!status) {
    bests = RF_NEW(RfStudyBest, split.count), views = RF_NEW(const RfStudyBest *, split.count);
    status = bests && views ? rf_study_bests(&run->context, bests, &split, &settings)
                            : rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  }
  for (rf_index k = 0; status >= 0 && k < split.count; k++) views[k] = &bests[k];
  CliProof proof = {0};
  RfStatus proved = status >= 0 ? prove(run, &proof, &bests[0], split.count, &settings) : RF_OK;
  status = proved < 0 ? proved : rf_status_worse(status, proved);
  RfStatus shown = status >= 0 ? show(run, &data, views, split.count, &settings, &proof) : RF_OK;
  if (shown < 0) status = shown;
  for (rf_index k = 0; bests && k < split.count; k++) rf_study_best_free(&bests[k]);
  rf_free(bests);
  rf_free(views);
  rf_study_split_free(&split);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_maxmargin = {
    .name = "maxmargin",
    .arguments = "DATA",
    .summary = "max-margin separators with certificates",
    .description =
        "The best margin that any two-layer network without bias can have on these data, over all widths and "
        "all weights, with a proof: a network that reaches it and multipliers that no network can beat. Then "
        "the hard-margin linear separator with its multipliers, or a Farkas certificate that there is none, "
        "and the shortest vector of each class. All bounds are recomputed outside the solver. Exit status 1 "
        "when no network fits (with --linear: when the data are not linearly separable), 3 when the gap is "
        "larger than --tol, the relative gap that counts as proved (default 1e-8). --time and Ctrl-C leave "
        "the best bounds so far. For two samples --svg draws the "
        "rectified ellipsoid with the optimal neurons and the polar set with the multipliers.",
    .options = options,
    .settings_size = sizeof(Settings),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  reluflow maxmargin gen:xor\n"
                "  reluflow maxmargin gen:gaussian,n=30,d=5 --leak 0.1 --json\n"
                "  reluflow maxmargin gen:DS-PL2 --linear\n"
                "  reluflow maxmargin gen:DS-WP1 --svg pictures\n"
                "  reluflow maxmargin gen:gaussian,n=20,d=3 --proof best.proof --check\n"
                "  reluflow maxmargin iris.csv --classes 1,2 --linear --intercept --json\n",
    .tol = "relative gap that counts as proved; default 1e-8",
    .has_report = true,
    .has_pictures = true,
    .run = maxmargin_run,
};

/* `reluflow certify DATA MODEL`: is this network a KKT point, a local optimum, the global optimum? */
#include "certify/certify.h"
#include "cli/cli.h"
#include "layers/layers.h"

#include <math.h>

typedef struct CertifyFlags {
  double leak;
  const char *map;
  bool local, prove, check, robustness;
  int freeze;
  const char *proof;
} CertifyFlags;

#define FIELD(name) offsetof(CertifyFlags, name)

static const CliOption options[] = {
    {"--leak", CLI_NUMBER, FIELD(leak), "L", NULL, 0, 1,
     "slope for non-positive inputs, when MODEL does not say; default 0"},
    {"--map", CLI_TEXT, FIELD(map), "NAMES", NULL, 0, 0,
     "which arrays are the weights: fc1.weight=W,fc2.weight=a"},
    {"--local", CLI_FLAG, FIELD(local), NULL, NULL, 0, 0, "do not compare with the global optimum"},
    {"--freeze", CLI_CHOICE, FIELD(freeze), "none|second", "none", 0, 0,
     "also judge it where only the first layer may move"},
    {"--robustness", CLI_FLAG, FIELD(robustness), NULL, NULL, 0, 0,
     "the exact distance of every sample to the decision boundary, and one perturbation that flips all"},
    {"--prove", CLI_FLAG, FIELD(prove), NULL, NULL, 0, 0,
     "enclose an exact KKT point near the network in ball arithmetic, and say how near"},
    {"--proof", CLI_TEXT, FIELD(proof), "FILE", NULL, 0, 0,
     "write a proof of the KKT residuals, which rfcheck FILE checks in exact arithmetic; and, where it is "
     "the "
     "global optimum, FILE.optimum with the proof of that"},
    {"--check", CLI_FLAG, FIELD(check), NULL, NULL, 0, 0, "run rfcheck on the file of --proof"},
    {0},
};

static RfStatus read_model(CliRun *run, RfNet *net, const RfDataset *data) {
  const CertifyFlags *flags = run->settings;
  const char *path = run->arguments[1];
  RfContext *context = &run->context;
  bool stated;
  RfStatus status = cli_load_net(run, net, &stated, path, flags->map);
  if (status) return status;
  if (net->d != data->d)
    return rf_fail(context, RF_ERR_USAGE, "%s: a network with %lld inputs, the data have %lld columns", path,
                   (long long)net->d, (long long)data->d);
  if (!cli_given(run, "--leak")) return RF_OK;
  if (stated && net->leak != flags->leak)
    return rf_fail(context, RF_ERR_USAGE, "--leak %g: %s has leak %g", flags->leak, path, net->leak);
  net->leak = flags->leak;
  return RF_OK;
}

static RfStatus check_data(CliRun *run, const RfDataset *data) {
  if (data->y) return RF_OK;
  return rf_fail(
      &run->context, RF_ERR_USAGE,
      "%s: %lld classes, but a network with one output tells two apart: choose them with --classes",
      data->name, (long long)data->n_classes);
}

/* The proof of --proof, checked with --check. */
static RfStatus prove_optimum(CliRun *run, CliProof *proof, RfText *path, const RfDataset *data,
                              const RfNet *net, const RfCertificate *c) {
  const CertifyFlags *flags = run->settings;
  RfContext *context = &run->context;
  if (c->global != RF_VERDICT_OPTIMUM) return RF_OK;
  rf_text_addf(path, "%s.optimum", flags->proof);
  if (path->failed) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfStatus status = rf_certify_proof_optimum(context, &proof->written, rf_text_string(path), c, net, data->X,
                                             data->y, data->n);
  if (status > 0) rf_message(context, RF_WARNING, "no proof of the optimum could be written");
  if (status) return status < 0 ? status : RF_OK;
  proof->file = rf_text_string(path);
  return flags->check ? cli_check_proof(run, proof) : RF_OK;
}

static RfStatus prove(CliRun *run, CliProof *proof, const RfDataset *data, const RfNet *net,
                      const RfCertificate *c) {
  const CertifyFlags *flags = run->settings;
  RfContext *context = &run->context;
  if (flags->check && !flags->proof) return rf_fail(context, RF_ERR_USAGE, "--check needs --proof FILE");
  if (!flags->proof) return RF_OK;
  RfStatus status =
      rf_certify_proof(context, &proof->written, flags->proof, &c->kkt, net, data->X, data->y, data->n);
  if (status == RF_UNDECIDED)
    rf_message(context, RF_WARNING, "no proof could be written: the network does not separate the data");
  if (status) return status < 0 ? status : RF_OK;
  proof->file = flags->proof;
  return flags->check ? cli_check_proof(run, proof) : RF_OK;
}

/* What is asked beside the certificate. */
typedef struct Extras {
  RfRobustness robustness;
  RfFrozenVerdict frozen;
} Extras;

static RfStatus look_further(CliRun *run, Extras *extras, const RfNet *net, const RfDataset *data) {
  const CertifyFlags *flags = run->settings;
  RfStatus status = RF_OK;
  if (flags->robustness)
    status = rf_certify_robustness(&run->context, &extras->robustness, net, data->X, data->y, data->n, 0);
  if (!status && flags->freeze == 1)
    status = rf_certify_frozen(&run->context, &extras->frozen, net, data->X, data->y, data->n);
  return status;
}

static void write_json(RfJson *json, const CliRun *run, const RfDataset *data, const RfCertificate *c,
                       const Extras *extras, const CliProof *proof, const CliProof *optimum) {
  rf_json_string(json, "name", data->name);
  rf_json_string(json, "model", run->arguments[1]);
  rf_certificate_json(json, c);
  cli_proof_json(json, "proof", proof);
  cli_proof_json(json, "optimum_proof", optimum);
  rf_robustness_json(json, &extras->robustness);
  rf_frozen_json(json, &extras->frozen);
  rf_json_null(json, "positive_class");
  rf_json_null(json, "per_class");
}

static void write_html(RfText *page, const CliRun *run, const RfDataset *data, const RfCertificate *c) {
  RfText title = {0};
  rf_text_addf(&title, "%s on %s", run->arguments[1], data->name);
  rf_html_begin(page, rf_text_string(&title),
                "What this network is among all two-layer networks that fit the data");
  rf_certificate_html(page, c);
  rf_html_end(page);
  rf_text_free(&title);
}

static void deliver(CliRun *run, const RfDataset *data, const RfNet *net, const RfCertificate *c,
                    const Extras *extras, const CliProof *proof, const CliProof *optimum) {
  if (run->json) write_json(run->json, run, data, c, extras, proof, optimum);
  if (run->common.report) write_html(&run->html, run, data, c);
  if (!run->wants_page) return;
  rf_text_addf(&run->page, "%s  %lld neurons, leak %g, on %s: %lld samples in %lld dimensions\n",
               run->arguments[1], (long long)net->m, net->leak, data->name, (long long)data->n,
               (long long)data->d);
  rf_certificate_page(&run->page, c, run->width);
  if (extras->robustness.distance) rf_robustness_page(&run->page, &extras->robustness);
  if (extras->frozen.local_why) rf_frozen_page(&run->page, &extras->frozen);
  cli_proof_page(&run->page, proof);
  cli_proof_page(&run->page, optimum);
}

/* A layered network: KKT figures, and every layer against its own problem. */
static int certify_layered(CliRun *run, const RfDataset *data, const RfLayeredNet *net) {
  RfLayeredCertificate c = {0};
  const char *path = run->arguments[1];
  RfStatus status = RF_OK;
  if (rf_layers_inputs(net) != data->d)
    status =
        rf_fail(&run->context, RF_ERR_USAGE, "%s: a network with %lld inputs, the data have %lld columns",
                path, (long long)rf_layers_inputs(net), (long long)data->d);
  else if (((const CertifyFlags *)run->settings)->robustness)
    status = rf_fail(&run->context, RF_ERR_USAGE, "--robustness: for networks of two layers");
  else if (rf_layers_outputs_count(net) != 1)
    status = rf_fail(&run->context, RF_ERR_USAGE, "%s: a network with %lld outputs; one is needed", path,
                     (long long)rf_layers_outputs_count(net));
  if (!status) status = rf_certify_layered(&run->context, &c, net, data->X, data->y, data->n);
  if (status >= 0) {
    RfText html = {0};
    if (run->json) {
      rf_json_string(run->json, "name", data->name);
      rf_json_string(run->json, "model", path);
      rf_json_layered_certificate(run->json, &c);
      rf_json_null(run->json, "proof");
      rf_json_null(run->json, "optimum_proof");
      rf_json_null(run->json, "robustness");
      rf_json_null(run->json, "frozen");
      rf_json_null(run->json, "positive_class");
      rf_json_null(run->json, "per_class");
    }
    if (run->wants_page) rf_text_layered_certificate(&run->page, &c, run->width);
    if (run->common.report) {
      rf_text_layered_certificate(&html, &c, 100);
      rf_html_begin(&run->html, path, "What this layered network is for the max-margin problem");
      rf_html_preformatted(&run->html, rf_text_string(&html));
      rf_html_end(&run->html);
    }
    rf_text_free(&html);
  }
  bool fails = status == RF_OK && !c.kkt.holds;
  rf_layered_certificate_free(&c);
  return fails ? CLI_DOES_NOT_HOLD : cli_finish(run, status);
}

/* True when MODEL has layers; then *exit_status is the result. */
static bool try_layered(CliRun *run, const RfDataset *data, RfStatus *status, int *exit_status) {
  RfLayeredNet net = {0};
  bool layered = false, weighted;
  *status = cli_load_layers(run, &net, &layered, &weighted, run->arguments[1]);
  if (!*status && layered && !weighted)
    *status =
        rf_fail(&run->context, RF_ERR_INPUT, "%s: layers[0].weights: expected weights", run->arguments[1]);
  bool mine = !*status && layered;
  if (mine) *exit_status = certify_layered(run, data, &net);
  rf_layers_free(&net);
  return mine;
}

static int certify_run(CliRun *run) {
  const CertifyFlags *flags = run->settings;
  RfDataset data = {0};
  RfNet net = {0};
  RfCertificate c = {0};
  RfCertifySettings settings;
  rf_certify_settings_init(&settings);
  settings.global = !flags->local;
  settings.prove = flags->prove;
  settings.seed = run->common.seed;
  if (run->common.tol > 0) run->context.tol.kkt = run->context.tol.gap = run->common.tol;
  RfStatus status = cli_load(run, &data);
  if (!status) status = check_data(run, &data);
  int exit_status;
  if (!status && try_layered(run, &data, &status, &exit_status)) {
    rf_dataset_free(&data);
    return exit_status;
  }
  if (!status) status = read_model(run, &net, &data);
  if (!status) status = rf_certify_net(&run->context, &c, &net, data.X, data.y, data.n, &settings);
  CliProof proof = {0}, optimum = {0};
  RfText path = {0};
  Extras extras = {0};
  RfStatus proved = status >= 0 ? prove(run, &proof, &data, &net, &c) : RF_OK;
  if (!proved && proof.file) proved = prove_optimum(run, &optimum, &path, &data, &net, &c);
  if (proved < 0) status = proved;
  if (status >= 0) {
    RfStatus known = look_further(run, &extras, &net, &data);
    if (known < 0) status = known;
  }
  if (status >= 0) deliver(run, &data, &net, &c, &extras, &proof, &optimum);
  rf_text_free(&path);
  bool fails = status == RF_OK && !c.kkt.holds;
  rf_certificate_free(&c);
  rf_robustness_free(&extras.robustness);
  rf_frozen_verdict_free(&extras.frozen);
  rf_net_free(&net);
  rf_dataset_free(&data);
  return fails ? CLI_DOES_NOT_HOLD : cli_finish(run, status);
}

const CliCommand cli_certify = {
    .name = "certify",
    .arguments = "DATA MODEL",
    .summary = "is this network a KKT point, a local optimum, the global optimum?",
    .description =
        "Takes a two-layer network from a file (.npz, .json, .safetensors) and says what it is "
        "for the problem of the "
        "smallest weights with every y f(x) >= 1: how far from a stationary (KKT) point, with "
        "multipliers; whether it is "
        "a local optimum, or a better network of the same width; and how its margin compares with "
        "the best possible, "
        "which is bounded with proof. --tol X (default 1e-8) is the relative size below which a difference "
        "counts as none: |w.x| <= X |w||x| is a kink, y f(x) <= 1 + X is tight, and residuals and gaps "
        "up to X hold. Exit status 1 when it is not a KKT point.",
    .options = options,
    .settings_size = sizeof(CertifyFlags),
    .takes_data = true,
    .min_arguments = 2,
    .max_arguments = 2,
    .examples = "  reluflow certify gen:DS-PL2 net.npz\n"
                "  reluflow certify data.csv model.safetensors --map fc1.weight=W,fc2.weight=a --json\n",
    .tol = "residuals that count as a KKT point, stationarity and complementarity, relative; default 1e-8",
    .has_report = true,
    .run = certify_run,
};

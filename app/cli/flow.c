/* `reluflow flow`: gradient flow from an initialisation to t = infinity. */
#include "cli/cli.h"
#include "theory/theory.h"
#include "layers/layers.h"
#include "la/la.h"
#include "core/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flow_branches.h"
#include "cli/flow_files.h"
#include "cli/flow_layered.h"

typedef struct FlowFlags {
  rf_index width, trace, max_steps;
  double leak, log_scale, ca, verdict;
  int norm, freeze, branches;
  const char *loss, *init, *scale, *weights, *map, *until, *checkpoint, *resume;
} FlowFlags;

#define FIELD(name) offsetof(FlowFlags, name)

static const CliOption options[] = {
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0, "logistic, logistic2 or exp"},
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
    {"--max-steps", CLI_INDEX, FIELD(max_steps), "N", "200000", 1, 0,
     "integrator steps after which the limit is undecided"},
    {"--verdict", CLI_NUMBER, FIELD(verdict), "S", "2", 0, 1e9,
     "seconds to spend on whether the limit is a local and a global optimum; 0 = do not ask"},
    {"--checkpoint", CLI_TEXT, FIELD(checkpoint), "FILE", NULL, 0, 0,
     "keep the state in FILE while running, and when interrupted"},
    {"--resume", CLI_TEXT, FIELD(resume), "FILE", NULL, 0, 0, "continue from a checkpoint, to the same bits"},
    {0},
};

/* One network: the binary problem, or one class against the rest. */
typedef struct Part {
  RfDataset data; /* empty when the part is the whole dataset */
  RfNet net;
  RfFlowStart start;
  RfFlowProblem problem;
  RfFlowResult result;
  RfFlowReport report;
  rf_index n_choices,
      choices_left; /* with --branches all: continuations followed, and known but not followed */
  RfFlowResult *choice_results;
  RfFlowReport *choice_reports;
  char **choice_names;
} Part;

typedef struct Job {
  CliRun *run;
  const FlowFlags *flags;
  RfDataset data;
  Part *parts;
  rf_index count;
  RfFlowSettings settings;
  FlowCheckpoints checkpoints;
} Job;

static void job_free(Job *job) {
  for (rf_index k = 0; job->parts && k < job->count; k++) {
    Part *part = &job->parts[k];
    for (rf_index o = 0; o < part->n_choices; o++) {
      rf_flow_result_free(&part->choice_results[o]);
      rf_free(part->choice_names[o]);
    }
    rf_free(part->choice_results);
    rf_free(part->choice_reports);
    rf_free(part->choice_names);
    rf_flow_result_free(&part->result);
    rf_flow_start_free(&part->start);
    rf_net_free(&part->net);
    rf_dataset_free(&part->data);
  }
  rf_free(job->parts);
  flow_checkpoints_free(&job->checkpoints);
  rf_dataset_free(&job->data);
}

/* ---- from flags to problems
 * --------------------------------------------------------------------------------------- */

static RfStatus read_scale(Job *job, RfFlowProblem *problem) {
  const FlowFlags *flags = job->flags;
  RfContext *context = &job->run->context;
  bool by_log = cli_given(job->run, "--log-scale");
  if (by_log && flags->scale)
    return rf_fail(context, RF_ERR_USAGE, "--scale and --log-scale exclude each other");
  problem->log_scale = by_log ? flags->log_scale : flags->weights ? 0 : log(1e-6);
  if (!flags->scale) return RF_OK;
  if (strcmp(flags->scale, "limit") == 0) {
    problem->in_limit = true;
    problem->log_scale = 0;
    return RF_OK;
  }
  double scale;
  if (!rf_number_read(&scale, flags->scale) || !(scale > 0))
    return rf_fail(context, RF_ERR_USAGE, "--scale %s: expected a positive number or 'limit'", flags->scale);
  problem->log_scale = log(scale);
  return RF_OK;
}

static RfStatus read_until(Job *job) {
  const char *text = job->flags->until;
  RfFlowSettings *settings = &job->settings;
  if (strcmp(text, "infinity") == 0) return RF_OK;
  bool loss = strncmp(text, "loss=", 5) == 0, time = strncmp(text, "time=", 5) == 0;
  double value = 0;
  if ((!loss && !time) || !rf_number_read(&value, text + 5) || (loss ? value <= 0 : value < 0))
    return rf_fail(&job->run->context, RF_ERR_USAGE, "--until %s: expected infinity, loss=L or time=T", text);
  settings->until = loss ? RF_UNTIL_LOSS : RF_UNTIL_TIME;
  settings->until_value = value;
  return RF_OK;
}

static RfStatus read_weights(Job *job, Part *part, rf_index d) {
  const FlowFlags *flags = job->flags;
  RfContext *context = &job->run->context;
  bool stated = false;
  RfStatus status = cli_load_net(job->run, &part->net, &stated, flags->weights, flags->map);
  if (status) return status;
  if (part->net.d != d)
    return rf_fail(context, RF_ERR_USAGE, "%s: weights for dimension %lld, the data have %lld",
                   flags->weights, (long long)part->net.d, (long long)d);
  if (!cli_given(job->run, "--leak")) return RF_OK;
  if (stated && part->net.leak != flags->leak)
    return rf_fail(context, RF_ERR_USAGE, "--leak %g: %s has leak %g", flags->leak, flags->weights,
                   part->net.leak);
  part->net.leak = flags->leak;
  return RF_OK;
}

/* Network k of the job; several networks draw from different seeds. */
static RfStatus prepare_part(Job *job, rf_index k) {
  const FlowFlags *flags = job->flags;
  RfContext *context = &job->run->context;
  Part *part = &job->parts[k];
  RfInit init;
  RfStatus status = RF_OK;
  if (!job->data.y) status = rf_dataset_one_versus_rest(context, &part->data, &job->data, k);
  const RfDataset *data = job->data.y ? &job->data : &part->data;
  if (!status && flags->weights) {
    status = read_weights(job, part, data->d);
  } else if (!status) {
    status = rf_init_from_name(context, &init, flags->init);
    if (!status)
      status = rf_net_init(context, &part->net, init, flags->width, data->d, flags->leak,
                           job->run->common.seed + (uint64_t)k, flags->ca);
  }
  if (!status) status = rf_flow_start_from_net(context, &part->start, &part->net);
  RfFlowProblem *problem = &part->problem;
  *problem = (RfFlowProblem){.X = data->X,
                             .y = data->y,
                             .n = data->n,
                             .d = data->d,
                             .leak = part->net.leak,
                             .mean = flags->norm == 1,
                             .start = &part->start,
                             .freeze_second = flags->freeze == 1};
  if (!status) status = rf_loss_from_name(context, &problem->loss, flags->loss);
  if (!status) status = read_scale(job, problem);
  part->report = (RfFlowReport){.name = job->data.name,
                                .positive_class = job->data.y ? NULL : job->data.class_names[k],
                                .init = flags->weights ? flags->weights : flags->init,
                                .problem = problem,
                                .result = &part->result,
                                .detail = job->run->common.detail,
                                .t_bound = NAN,
                                .kkt = RF_UNKNOWN,
                                .gap = NAN};
  return status;
}

static RfStatus prepare(Job *job) {
  RfContext *context = &job->run->context;
  job->count = job->data.y ? 1 : job->data.n_classes;
  job->parts = RF_NEW(Part, job->count);
  if (!job->parts) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  rf_flow_settings_init(&job->settings);
  job->settings.branches = job->flags->branches == 0 ? RF_BRANCHES_STOP : RF_BRANCHES_FOLLOW;
  job->settings.trace = job->flags->trace;
  job->settings.max_steps = job->flags->max_steps;
  RfStatus status = read_until(job);
  for (rf_index k = 0; k < job->count && !status; k++) status = prepare_part(job, k);
  if (!status && (job->flags->checkpoint || job->flags->resume) && job->count > 1)
    status =
        rf_fail(context, RF_ERR_USAGE, "--checkpoint and --resume work with one network, not one per class");
  if (!status)
    status = flow_checkpoints_open(context, &job->checkpoints, &job->settings, &job->parts[0].problem,
                                   job->flags->checkpoint, job->flags->resume);
  return status;
}

/* ---- running
 * ------------------------------------------------------------------------------------------------------ */

/* Is the limit a KKT point, a local, a global optimum? Only what was found in time is said. */
static RfStatus judge(Job *job, RfFlowReport *report) {
  RfContext *context = &job->run->context;
  const RfFlowProblem *problem = report->problem;
  const RfFlowLimit *limit = &report->result->limit;
  if (limit->outcome != RF_FLOW_CONVERGED || problem->freeze_second) return RF_OK;
  report->kkt = fmax(limit->stationarity, limit->complementarity) <= context->tol.kkt ? RF_YES : RF_NO;
  if (!(job->flags->verdict > 0)) return RF_OK;
  RfCertifySettings settings;
  RfCertificate certificate = {0};
  rf_certify_settings_init(&settings);
  settings.time_limit = job->flags->verdict;
  RfContext own = *context;
  own.deadline = fmin(context->deadline, rf_clock_seconds() + 2 * job->flags->verdict);
  RfStatus status =
      rf_certify(&own, &certificate, &limit->net, problem->X, problem->y, problem->n, &settings);
  if (status >= 0) {
    report->local = rf_verdict_text(certificate.local);
    report->global = rf_verdict_text(certificate.global);
    report->gap = certificate.gap;
  }
  rf_certificate_free(&certificate);
  return status < 0 ? rf_fail(context, status, "%s", own.error) : RF_OK;
}

/* MMV's bound on the end of alignment, where its assumptions hold and it is cheap to tell. */
static double alignment_bound(Job *job, const Part *part) {
  const RfFlowProblem *problem = &part->problem;
  RfContext own = job->run->context;
  double n = (double)problem->n, zeta2 = 0;
  if (problem->leak > 0 || problem->freeze_second || problem->n < 2 || n * n * (double)problem->d > 4e8)
    return NAN;
  for (rf_index k = 0; k < part->net.m; k++) {
    double size = rf_la_norm(part->net.W + k * problem->d, problem->d);
    if (fabs(fabs(part->net.a[k]) - size) > 1e-12 * size) return NAN; /* balanced starts only */
  }
  RfPairFacts pairs;
  RfAlignmentBounds bounds;
  RfDataset data = {.X = (double *)problem->X, .y = (double *)problem->y, .n = problem->n, .d = problem->d};
  if (rf_geometry_pairs(&own, &pairs, problem->X, problem->y, problem->n, problem->d)) return NAN;
  RfTheoryProblem theory = {.data = &data, .leak = problem->leak, .loss = problem->loss, .pairs = &pairs};
  rf_theory_alignment(&own, &bounds, &theory);
  if (rf_theory_start_angle(&own, &zeta2, &part->net, problem->X, problem->y, problem->n)) return NAN;
  return rf_theory_alignment_end(&bounds, zeta2) * (problem->mean ? n : 1);
}

static RfStatus run_one(Job *job, RfFlowResult *result, RfFlowReport *report, const RfFlowProblem *problem) {
  double began = rf_clock_seconds();
  RfStatus status = rf_flow_run(&job->run->context, result, problem, &job->settings);
  report->seconds = rf_clock_seconds() - began;
  if (status < 0) return status;
  if (status == RF_INTERRUPTED && !result->limit.net.W) { /* stopped before there was anything to show */
    RfFlowLimit *limit = &result->limit;
    limit->outcome = RF_FLOW_INTERRUPTED;
    limit->margin = limit->stationarity = limit->complementarity = limit->direction_error = NAN;
    result->log_t_align = result->log_t_fit = result->log_t_end = result->log_loss_end =
        result->log_norm_end = NAN;
  }
  RfStatus judged = judge(job, report);
  return judged < 0 ? judged : status;
}

/* One continuation: the run with the list `at` of the tree. */
static RfStatus run_choice(Job *job, Part *part, FlowTree *tree, rf_index at) {
  RfContext *context = &job->run->context;
  rf_index o = part->n_choices++;
  RfFlowReport *report = &part->choice_reports[o];
  RfFlowResult *result = &part->choice_results[o];
  *report = part->report;
  report->result = result;
  report->kkt = RF_UNKNOWN, report->local = report->global = NULL, report->gap = NAN;
  job->settings.choices = tree->lists[at], job->settings.n_choices = tree->lengths[at];
  RfStatus status = run_one(job, result, report, report->problem);
  job->settings.choices = NULL, job->settings.n_choices = 0;
  if (status < 0) return status;
  part->choice_names[o] = flow_tree_name(result);
  if (!part->choice_names[o]) return rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  report->choice = part->choice_names[o];
  RfStatus grown = flow_tree_grow(context, tree, at, result);
  return grown < 0 ? grown : status;
}

/* All continuations of a flow that met ridges, breadth first. */
static RfStatus run_choices(Job *job, Part *part) {
  enum { MOST = 32 };
  RfContext *context = &job->run->context;
  FlowTree tree;
  RfStatus status = RF_OK;
  if (!part->result.branched) return RF_OK;
  part->choice_results = RF_NEW(RfFlowResult, MOST);
  part->choice_reports = RF_NEW(RfFlowReport, MOST);
  part->choice_names = RF_NEW(char *, MOST);
  if (!part->choice_results || !part->choice_reports || !part->choice_names)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
  status = flow_tree_new(context, &tree);
  while (status >= 0 && status != RF_INTERRUPTED && tree.next < tree.count && part->n_choices < MOST)
    status = cli_worse(status, run_choice(job, part, &tree, tree.next++));
  part->choices_left = tree.count - tree.next;
  if (status >= 0 && part->choices_left > 0)
    rf_message(context, RF_WARNING, "%lld continuations were followed, at least %lld more were not",
               (long long)part->n_choices, (long long)part->choices_left);
  flow_tree_free(&tree);
  return status < 0 ? status : RF_OK; /* the outcome of the run itself is that it branched */
}

static RfStatus run_parts(Job *job) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < job->count && status >= 0; k++) {
    Part *part = &job->parts[k];
    part->report.t_bound = alignment_bound(job, part);
    status = cli_worse(status, run_one(job, &part->result, &part->report, &part->problem));
    if (status >= 0 && job->flags->branches == 2) status = cli_worse(status, run_choices(job, part));
  }
  if (status >= 0) {
    RfStatus saved = flow_checkpoints_close(&job->run->context, &job->checkpoints, &job->parts[0].result);
    if (saved < 0) status = saved;
  }
  return status;
}

/* ---- output
 * -------------------------------------------------------------------------------------------------------- */

/* One network: its members, and with --branches all its continuations. */
static void part_json(RfJson *json, const Part *part) {
  rf_json_flow(json, &part->report);
  if (part->n_choices == 0) {
    rf_json_null(json, "continuations");
    rf_json_null(json, "continuations_left");
  } else {
    rf_json_integer(json, "continuations_left", part->choices_left);
    rf_json_array(json, "continuations");
    for (rf_index o = 0; o < part->n_choices; o++) {
      rf_json_object(json, NULL);
      rf_json_flow(json, &part->choice_reports[o]);
      rf_json_end(json);
    }
    rf_json_end(json);
  }
  rf_json_null(json, "per_class");
}

static void job_json(const Job *job) {
  RfJson *json = job->run->json;
  if (job->count == 1 && job->data.y) return part_json(json, &job->parts[0]);
  rf_json_string(json, "name", job->data.name);
  rf_json_integer(json, "n", job->data.n);
  rf_json_integer(json, "d", job->data.d);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < job->count; k++) {
    rf_json_object(json, NULL);
    part_json(json, &job->parts[k]);
    rf_json_end(json);
  }
  rf_json_end(json);
}

/* The pictures of one part into --svg, names prefixed by the class where there are several. */
static RfStatus write_pictures(Job *job, const Part *part, const RfFlowPaths *paths) {
  const RfFlowReport *report = &part->report;
  RfStatus status = RF_OK;
  for (int k = 0; k < 4 && !status; k++) {
    static const char *const names[] = {"neurons", "trace", "margins", "events"};
    RfSvg svg;
    RfText name = {0};
    bool needs_trace = k == 1 || k == 2;
    if (needs_trace && part->result.n_trace < 2) continue;
    if (k == 0 && paths->count == 0) continue; /* not followed in the time for pictures */
    if (k == 0)
      rf_svg_flow_neurons(&svg, report, paths);
    else if (k == 1)
      rf_svg_flow_trace(&svg, report);
    else if (k == 2)
      rf_svg_flow_margins(&svg, report);
    else
      rf_svg_flow_events(&svg, report);
    if (job->count > 1) rf_text_addf(&name, "class%lld-", (long long)(part - job->parts));
    rf_text_addf(&name, "%s.svg", names[k]);
    status = cli_write_svg(job->run, &svg, rf_text_string(&name));
    rf_text_free(&name);
    rf_svg_free(&svg);
  }
  return status;
}

static RfStatus show(Job *job) {
  CliRun *run = job->run;
  RfStatus status = RF_OK;
  if (!run->common.report && !run->common.svg) return RF_OK;
  RfContext context = run->context; /* drawn also after an interruption */
  context.cancel = NULL;
  context.deadline = rf_clock_seconds() + RF_PICTURE_SECONDS;
  if (run->common.report) rf_html_begin(&run->html, "Gradient flow", job->data.name);
  for (rf_index k = 0; k < job->count && !status; k++) {
    Part *part = &job->parts[k];
    RfFlowPaths paths = {0};
    status = rf_flow_paths_new(&context, &paths, &part->problem, &part->result, 60);
    if (status < 0) return rf_fail(&run->context, status, "%s", context.error);
    status = RF_OK; /* out of time: without that picture */
    if (run->common.report) rf_html_flow(&run->html, &part->report, &paths);
    if (run->common.svg) status = write_pictures(job, part, &paths);
    rf_flow_paths_free(&paths);
  }
  if (run->common.report) rf_html_end(&run->html);
  return status;
}

/* --weights names a network in layers: it is followed here, and *mine is true. */
static RfStatus try_layered(Job *job, bool *mine) {
  CliRun *run = job->run;
  const FlowFlags *flags = job->flags;
  RfLayeredNet net = {0};
  RfFlowProblem problem = {0};
  bool weighted = true;
  *mine = false;
  if (!flags->weights) return RF_OK;
  RfStatus status = cli_load_layers(run, &net, mine, &weighted, flags->weights);
  if (!status && *mine) {
    rf_flow_settings_init(&job->settings);
    job->settings.trace = flags->trace;
    status = read_until(job);
    if (!status) status = read_scale(job, &problem);
    if (!status) status = rf_loss_from_name(&run->context, &problem.loss, flags->loss);
    if (!weighted) {
      RfRandom random;
      rf_random_init(&random, run->common.seed, 0);
      rf_layers_init_uniform(&net, &random, 1);
    }
    FlowLayered flow = {.weights = flags->weights,
                        .log_scale = problem.in_limit ? -INFINITY : problem.log_scale,
                        .loss = problem.loss,
                        .mean = flags->norm == 1,
                        .verdict = flags->verdict > 0,
                        .settings = &job->settings};
    if (!status && cli_given(run, "--leak") && flags->leak != net.leak)
      status = rf_fail(&run->context, RF_ERR_USAGE, "--leak %g: %s has leak %g", flags->leak, flags->weights,
                       net.leak);
    if (!status) status = flow_layered(run, &job->data, &net, &flow);
  }
  rf_layers_free(&net);
  return status;
}

static int flow_run(CliRun *run) {
  Job job = {.run = run, .flags = run->settings};
  bool layered = false;
  if (run->common.tol > 0) run->context.tol.ode = run->common.tol;
  RfStatus status = cli_load(run, &job.data);
  if (!status) status = try_layered(&job, &layered);
  if (layered) {
    job_free(&job);
    return cli_finish(run, status);
  }
  if (!status) status = prepare(&job);
  if (!status) status = run_parts(&job);
  if (status >= 0 && run->json) job_json(&job);
  for (rf_index k = 0; status >= 0 && run->wants_page && k < job.count; k++) {
    const Part *part = &job.parts[k];
    if (k) rf_text_add(&run->page, "\n");
    rf_text_flow(&run->page, &part->report);
    for (rf_index o = 0; o < part->n_choices; o++) {
      rf_text_addf(&run->page, "\nContinuation %lld, %s\n", (long long)o, part->choice_names[o]);
      rf_text_flow(&run->page, &part->choice_reports[o]);
    }
  }
  RfStatus shown = status >= 0 ? show(&job) : RF_OK;
  if (shown < 0) status = shown;
  job_free(&job);
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
    .run = flow_run,
};

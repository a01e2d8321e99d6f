/* `reluflow maxmargin DATA`: the linear part, the two class vectors, and the best network of any width. */
#include "cli/cli.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>

typedef struct Settings {
  bool linear, intercept;
  double leak;
  rf_index width;
  int signs; /* position in the list of choices */
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
    {0},
};

/* The answers for one binary problem. */
typedef struct Part {
  RfDataset data; /* empty when the part is the whole dataset */
  RfLinearMargin linear;
  RfClassMargin positive, negative;
  RfOptimum global;
  bool has_global;
} Part;

typedef struct Answer {
  const RfDataset *data;
  Part *parts; /* one, or one per class */
  rf_index count;
} Answer;

static void answer_free(Answer *answer) {
  for (rf_index k = 0; answer->parts && k < answer->count; k++) {
    rf_linear_margin_free(&answer->parts[k].linear);
    rf_class_margin_free(&answer->parts[k].positive);
    rf_class_margin_free(&answer->parts[k].negative);
    rf_optimum_free(&answer->parts[k].global);
    rf_dataset_free(&answer->parts[k].data);
  }
  rf_free(answer->parts);
}

static RfOptimumSettings optimum_settings(const CliRun *run) {
  const Settings *settings = run->settings;
  RfOptimumSettings out;
  rf_optimum_settings_init(&out);
  out.leak = settings->leak, out.width = settings->width, out.seed = run->common.seed;
  out.signs = settings->signs == 1 ? 1 : settings->signs == 2 ? -1 : 0;
  return out;
}

/* What is known so far, for the line on the terminal. */
static void on_record(void *user, const RfOptimumRecord *record) {
  char text[96];
  rf_format(text, sizeof text, "%.10g <= %.10g, %lld patterns", record->lower, record->objective,
            (long long)record->patterns);
  rf_progress(user, "global optimum", -1, text);
}

/* Not separable by a line is no failure here: the network is what was asked for. */
static RfStatus solve_global(CliRun *run, Part *part, const RfDataset *data, RfStatus linear) {
  RfOptimumSettings settings = optimum_settings(run);
  settings.on_record = on_record, settings.user = &run->context;
  RfStatus status =
      rf_optimum_solve(&run->context, &part->global, data->X, data->y, data->n, data->d, &settings);
  if (status < 0) return status;
  part->has_global = true;
  if (part->global.status == RF_OPTIMUM_INFEASIBLE) status = RF_INFEASIBLE;
  if (part->global.status == RF_OPTIMUM_GAP) status = RF_UNDECIDED;
  return linear == RF_NOT_SEPARABLE ? status : cli_worse(status, linear);
}

/* Status: of the linear part; the class vectors fail only by failing. */
static RfStatus solve_part(CliRun *run, Part *part, const RfDataset *data) {
  RfContext *context = &run->context;
  const Settings *settings = run->settings;
  RfStatus status =
      settings->intercept
          ? rf_margin_linear_intercept(context, &part->linear, data->X, data->y, data->n, data->d)
          : rf_margin_linear(context, &part->linear, data->X, data->y, data->n, data->d);
  RfClassMargin *classes[] = {&part->positive, &part->negative};
  for (int k = 0; k < 2 && status >= 0; k++) {
    RfStatus found =
        rf_margin_class(context, classes[k], data->X, data->y, data->n, data->d, k == 0 ? 1 : -1);
    if (found != RF_NOT_SEPARABLE) status = cli_worse(status, found);
  }
  if (status >= 0 && !settings->linear) status = solve_global(run, part, data, status);
  return status;
}

static RfStatus solve(CliRun *run, Answer *answer) {
  RfContext *context = &run->context;
  const RfDataset *data = answer->data;
  answer->count = data->y ? 1 : data->n_classes;
  answer->parts = RF_NEW(Part, answer->count);
  if (!answer->parts) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < answer->count && status >= 0; k++) {
    Part *part = &answer->parts[k];
    if (!data->y) status = cli_worse(status, rf_dataset_one_versus_rest(context, &part->data, data, k));
    if (status >= 0) status = cli_worse(status, solve_part(run, part, data->y ? data : &part->data));
    rf_free(part->data.X); /* a copy of all samples: not kept once per class */
    part->data.X = NULL;
  }
  return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void head_json(RfJson *json, const RfDataset *data) {
  rf_json_string(json, "name", data->name);
  rf_json_integer(json, "n", data->n);
  rf_json_integer(json, "d", data->d);
  cli_classes_json(json, data);
}

static void part_json(RfJson *json, const Part *part, const CliRun *run) {
  const Settings *settings = run->settings;
  RfOptimumSettings global = optimum_settings(run);
  rf_json_optimum(json, "global", part->has_global ? &part->global : NULL, &global, run->common.detail);
  rf_json_linear_margin(json, "linear", &part->linear, settings->intercept);
  rf_json_class_margin(json, "positive", &part->positive);
  rf_json_class_margin(json, "negative", &part->negative);
}

/* The sum over the classes; null when a part is missing. */
static void sum_json(RfJson *json, const Answer *answer) {
  const RfOptimum **parts = RF_NEW(const RfOptimum *, answer->count);
  bool complete = parts != NULL;
  for (rf_index k = 0; k < answer->count && complete; k++) {
    complete = answer->parts[k].has_global;
    parts[k] = &answer->parts[k].global;
  }
  if (!parts) rf_json_fail(json);
  if (complete)
    rf_json_optimum_sum(json, "global", parts, answer->count);
  else
    rf_json_null(json, "global");
  rf_free(parts);
}

static void answer_json(RfJson *json, const Answer *answer, const CliRun *run) {
  head_json(json, answer->data);
  if (answer->data->y) {
    part_json(json, &answer->parts[0], run);
    rf_json_null(json, "positive_class");
    return rf_json_null(json, "per_class");
  }
  static const char *const absent[] = {"linear", "positive", "negative", "positive_class"};
  for (size_t k = 0; k < sizeof absent / sizeof absent[0]; k++) rf_json_null(json, absent[k]);
  sum_json(json, answer);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < answer->count; k++) {
    rf_json_object(json, NULL);
    head_json(json, &answer->parts[k].data);
    part_json(json, &answer->parts[k], run);
    rf_json_string(json, "positive_class", answer->data->class_names[k]);
    rf_json_null(json, "per_class");
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void vector_line(RfText *page, const char *name, const double *w, rf_index d) {
  rf_text_addf(page, "  %-10s ", name);
  rf_text_vector(page, w, d, 8);
  rf_text_add(page, "\n");
}

static void rows_line(RfText *page, const rf_index *rows, rf_index count) {
  rf_text_add(page, "  support    ");
  rf_text_rows(page, rows, count, 16);
  rf_text_add(page, "\n");
}

static void linear_page(RfText *page, const RfLinearMargin *linear, bool intercept) {
  rf_text_styled(page, RF_BOLD, intercept ? "Linear, with intercept" : "Linear, through the origin");
  if (linear->status == RF_NOT_SEPARABLE) {
    rf_text_styled(page, RF_BAD, "  not separable");
    rf_text_addf(page, "\n  proof      weights of --json balance to 0, residual %.1e\n",
                 linear->farkas_residual);
    return;
  }
  if (linear->status != RF_OK) {
    rf_text_add(page, "  not decided\n");
    return;
  }
  rf_text_styled(page, RF_GOOD, "  separable");
  rf_text_addf(page, "\n  margin     %.15g\n", linear->margin);
  vector_line(page, "w, unit", linear->w, linear->d);
  if (intercept) rf_text_addf(page, "  b          %.15g\n", linear->b);
  rows_line(page, linear->support, linear->n_support);
  rf_text_addf(page, "  residual   %.1e\n", linear->stationarity);
}

static void class_page(RfText *page, const char *name, const RfClassMargin *margin) {
  rf_text_styled(page, RF_BOLD, name);
  if (margin->empty) {
    rf_text_add(page, "  no samples\n");
    return;
  }
  if (!margin->exists) {
    rf_text_add(page, margin->status == RF_NOT_SEPARABLE ? "  no w has w.x_i > 0 on the class\n"
                                                         : "  not decided\n");
    return;
  }
  rf_text_addf(page, "\n  norm       %.15g\n", margin->norm);
  vector_line(page, "w", margin->w, margin->d);
  rows_line(page, margin->support, margin->n_support);
  rf_text_addf(page, "  spans      %s\n", margin->spans ? "yes" : "no");
}

static void part_page(RfText *page, const Part *part, const CliRun *run) {
  const Settings *settings = run->settings;
  RfOptimumSettings global = optimum_settings(run);
  if (part->has_global) rf_text_optimum(page, &part->global, &global);
  linear_page(page, &part->linear, settings->intercept);
  class_page(page, "Positive class, shortest w with w.x_i >= 1", &part->positive);
  class_page(page, "Negative class, shortest w with w.x_i >= 1", &part->negative);
}

static void answer_page(RfText *page, const Answer *answer, const CliRun *run) {
  double sum = 0;
  for (rf_index k = 0; k < answer->count; k++) {
    if (!answer->data->y)
      rf_text_addf(page, "%sClass %s against the rest\n", k ? "\n" : "", answer->data->class_names[k]);
    part_page(page, &answer->parts[k], run);
    sum += answer->parts[k].has_global ? answer->parts[k].global.objective : NAN;
  }
  if (!answer->data->y && isfinite(sum))
    rf_text_addf(page, "\nSum over the classes: |theta|^2/2 = %.15g\n", sum);
}

/* ---- pictures and the page ------------------------------------------------------------------- */

typedef void (*Draw)(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y, int signs);

static const Draw draw[] = {rf_svg_optimum_ellipsoid, rf_svg_optimum_polar};

/* Pictures are in the plane with one coordinate per sample. */
static bool has_pictures(const Answer *answer) {
  const Part *part = answer->parts;
  return answer->data->y && answer->data->n == 2 && part->has_global && part->global.lambda &&
         isfinite(part->global.objective);
}

static RfStatus write_pictures(CliRun *run, const Answer *answer) {
  static const char *const names[] = {"ellipsoid.svg", "polar.svg"};
  const RfDataset *data = answer->data;
  const Part *part = answer->parts;
  if (!has_pictures(answer)) {
    rf_message(&run->context, RF_WARNING, "pictures need two samples and a network that fits them");
    return RF_OK;
  }
  RfStatus status = RF_OK;
  for (int k = 0; k < 2 && status == RF_OK; k++) {
    RfSvg svg;
    draw[k](&svg, &part->global, data->X, data->y, optimum_settings(run).signs);
    status = cli_write_svg(run, &svg, names[k]);
    rf_svg_free(&svg);
  }
  return status;
}

static void verdict(char *out, size_t size, const Answer *answer) {
  const Part *part = answer->parts;
  double sum = 0, lower = 0;
  for (rf_index k = 0; k < answer->count; k++)
    sum += part[k].has_global ? part[k].global.objective : NAN, lower += part[k].global.lower;
  if (isnan(sum))
    rf_format(out, size, "%s", part->linear.separable ? "Linearly separable." : "The linear part.");
  else if (!isfinite(sum))
    rf_format(out, size, "No network fits these data, or none was found.");
  else if (sum - lower <= 1e-8 * sum)
    rf_format(out, size, "The best margin of any network is %.12g, proved.", 1 / (2 * sum));
  else
    rf_format(out, size, "The best margin of any network lies between %.8g and %.8g.", 1 / (2 * sum),
              1 / (2 * lower));
}

static void answer_html(RfText *html, const Answer *answer, const CliRun *run) {
  static const char *const captions[] = {
      "Outputs of one unit neuron on the two samples, and the neurons of the best network.",
      "Multipliers that no neuron beats, and the optimal ones."};
  const RfDataset *data = answer->data;
  char line[160];
  RfText plain = {0};
  verdict(line, sizeof line, answer);
  rf_html_begin(html, data->name, "the best margin, over all networks, with its proof");
  rf_html_verdict(html, RF_PLAIN, line);
  for (int k = 0; k < 2 && has_pictures(answer); k++) {
    RfSvg svg;
    draw[k](&svg, &answer->parts->global, data->X, data->y, optimum_settings(run).signs);
    rf_html_picture(html, &svg, captions[k]);
    rf_svg_free(&svg);
  }
  answer_page(&plain, answer, run);
  if (plain.failed) html->failed = true;
  rf_html_preformatted(html, rf_text_string(&plain));
  rf_text_free(&plain);
  rf_html_end(html);
}

static int maxmargin_run(CliRun *run) {
  if (run->common.tol > 0) run->context.tol.tight = run->context.tol.gap = run->common.tol;
  RfDataset data = {0};
  Answer answer = {.data = &data};
  RfStatus status = cli_load(run, &data);
  if (status == RF_OK) status = solve(run, &answer);
  if (status >= 0 && answer.parts && run->json) answer_json(run->json, &answer, run);
  if (status >= 0 && answer.parts && run->wants_page) answer_page(&run->page, &answer, run);
  if (status >= 0 && answer.parts && run->common.report) answer_html(&run->html, &answer, run);
  if (status >= 0 && answer.parts && run->common.svg) {
    RfStatus written = write_pictures(run, &answer);
    if (written < 0) status = written;
  }
  answer_free(&answer);
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
        "larger than --tol. --time and Ctrl-C leave the best bounds so far. For two samples --svg draws the "
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
                "  reluflow maxmargin iris.csv --classes 1,2 --linear --intercept --json\n",
    .run = maxmargin_run,
};

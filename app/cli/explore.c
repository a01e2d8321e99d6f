/* `reluflow explore [DATA]`: the explorer, one page that runs in a browser, with these data and settings
 * inside. */
#include "cli/cli.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

typedef struct ExploreFlags {
  rf_index width;
  double leak;
  const char *loss, *init, *scale, *page;
} ExploreFlags;

#define FIELD(name) offsetof(ExploreFlags, name)

/* What the page takes (web/src/model.js); larger questions are for the other commands. */
enum { MOST_SAMPLES = 400, MOST_COLUMNS = 50, MOST_WIDTH = 1000, PAGE_LIMIT = 16 << 20 };

static const CliOption options[] = {
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons of the network that is followed"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0,
     "of a margin q: logistic ln(1+e^-q), logistic2 twice that, exp e^-q"},
    {"--init", CLI_TEXT, FIELD(init), "NAME", "balanced", 0, 0,
     "balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he; drawn with --seed"},
    {"--scale", CLI_TEXT, FIELD(scale), "EPS", "1e-6", 0, 0,
     "multiplies the initial weights: a positive number or 'limit'"},
    {"--page", CLI_TEXT, FIELD(page), "FILE", NULL, 0, 0,
     "the page that ./bootstrap web built; default: the one installed with the program, or in build-web"},
    {0},
};

/* ---- the link that the page opens with --------------------------------------------------------------- */

static RfStatus check_data(CliRun *run, const RfDataset *data) {
  if (data->n_classes > 2)
    return rf_fail(&run->context, RF_ERR_USAGE,
                   "%lld classes: the explorer shows two; choose them with --classes",
                   (long long)data->n_classes);
  if (data->n > MOST_SAMPLES)
    return rf_fail(&run->context, RF_ERR_USAGE,
                   "%lld samples: the explorer takes %d; keep some with --shuffle 1 --limit %d",
                   (long long)data->n, MOST_SAMPLES, MOST_SAMPLES);
  if (data->d > MOST_COLUMNS || data->d < 2)
    return rf_fail(&run->context, RF_ERR_USAGE, "%lld columns: the explorer takes 2 to %d",
                   (long long)data->d, MOST_COLUMNS);
  return RF_OK;
}

static void add_points(RfText *link, const RfDataset *data) {
  char number[RF_NUMBER_SIZE];
  rf_text_add(link, "points=");
  for (rf_index i = 0; i < data->n; i++) {
    for (rf_index j = 0; j < data->d; j++) {
      rf_number_format(number, data->X[i * data->d + j]);
      rf_text_addf(link, "%s,", number);
    }
    rf_text_addf(link, "%s%s", data->y[i] > 0 ? "+" : "-", i + 1 < data->n ? ";" : "");
  }
}

static RfStatus check_flags(CliRun *run) {
  const ExploreFlags *flags = run->settings;
  RfStudyStart start = {0};
  RfLoss loss;
  RfStatus status = cli_read_scale(run, &start, flags->scale, 0);
  if (!status) status = rf_loss_from_name(&run->context, &loss, flags->loss);
  if (!status) status = rf_init_from_name(&run->context, &start.init, flags->init);
  if (!status && flags->width > MOST_WIDTH)
    status = rf_fail(&run->context, RF_ERR_USAGE, "--width %lld: the explorer takes %d",
                     (long long)flags->width, MOST_WIDTH);
  return status;
}

static void add_flags(RfText *link, const CliRun *run) {
  const ExploreFlags *flags = run->settings;
  char number[RF_NUMBER_SIZE];
  rf_number_format(number, flags->leak);
  rf_text_addf(link, "%swidth=%lld&leak=%s&loss=%s&init=%s&scale=%s&seed=%llu", link->length ? "&" : "",
               (long long)flags->width, number, flags->loss, flags->init, flags->scale,
               (unsigned long long)run->common.seed);
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static RfStatus read_page(CliRun *run, RfText *page, const char *path) {
  char block[65536];
  FILE *file = fopen(path, "rb");
  size_t got = 0;
  if (!file) return rf_fail(&run->context, RF_ERR_IO, "%s: cannot be read", path);
  while (page->length < PAGE_LIMIT && (got = fread(block, 1, sizeof block, file)) > 0)
    rf_text_add_bytes(page, block, got);
  bool bad = ferror(file) != 0;
  fclose(file);
  if (bad) return rf_fail(&run->context, RF_ERR_IO, "%s: cannot be read", path);
  return page->failed ? rf_fail(&run->context, RF_ERR_MEMORY, "out of memory") : RF_OK;
}

/* The mark of web/src/page.html, before which the settings go. */
static const char mark[] = "<script id=\"given\" type=\"application/json\">";

static RfStatus fill_page(CliRun *run, RfText *out, const RfText *page, const char *path, const char *link) {
  const char *at = page->data ? strstr(page->data, mark) : NULL;
  if (!at || strncmp(at + sizeof mark - 1, "null", 4) != 0)
    return rf_fail(&run->context, RF_ERR_INPUT, "%s: not the page that ./bootstrap web builds", path);
  at += sizeof mark - 1;
  rf_text_add_bytes(out, page->data, (size_t)(at - page->data));
  rf_text_addf(out, "{\"link\":\"%s\"}", link); /* nothing in a link needs an escape */
  rf_text_add_bytes(out, at + 4, page->length - (size_t)(at + 4 - page->data));
  return out->failed ? rf_fail(&run->context, RF_ERR_MEMORY, "out of memory") : RF_OK;
}

static RfStatus write_page(CliRun *run, const char *link, const char *output, size_t *bytes) {
  const ExploreFlags *flags = run->settings;
  RfText page = {0}, filled = {0};
  char found[CLI_PATH_SIZE];
  const char *path = flags->page;
  RfStatus status = RF_OK;
  if (!path && !cli_page_file(found))
    status = rf_fail(&run->context, RF_ERR_USAGE,
                     "the page of the explorer was not built: ./bootstrap web, or --page FILE");
  if (!path) path = found;
  if (!status) status = read_page(run, &page, path);
  if (!status) status = fill_page(run, &filled, &page, path, link);
  if (!status) status = rf_file_write(&run->context, output, filled.data, filled.length);
  *bytes = filled.length;
  rf_text_free(&page), rf_text_free(&filled);
  return status;
}

static int explore_run(CliRun *run) {
  RfDataset data = {0};
  RfText link = {0};
  const char *output = run->common.output ? run->common.output : "reluflow.html";
  bool given = run->n_arguments > 0;
  size_t bytes = 0;
  RfStatus status = check_flags(run);
  if (!status && given) status = cli_load(run, &data);
  if (!status && given) status = check_data(run, &data);
  if (!status && given) add_points(&link, &data);
  if (!status) add_flags(&link, run);
  if (!status && link.failed) status = rf_fail(&run->context, RF_ERR_MEMORY, "out of memory");
  if (!status) status = write_page(run, rf_text_string(&link), output, &bytes);
  if (!status && run->json) {
    rf_json_string(run->json, "name", given ? data.name : NULL);
    rf_json_string(run->json, "file", output);
    rf_json_integer(run->json, "bytes", (rf_index)bytes);
    rf_json_string(run->json, "link", rf_text_string(&link));
  }
  if (!status && run->wants_page) rf_text_addf(&run->page, "%s\n", output);
  rf_text_free(&link);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_explore = {
    .name = "explore",
    .arguments = "[DATA]",
    .summary = "a page to play with these data in a browser",
    .description = "Writes the explorer, one page that works from disk and offline, with the data and the "
                   "settings inside, and "
                   "prints its path: open it in a browser, drag points and watch where gradient flow goes. "
                   "Two classes, at "
                   "most 400 samples and 50 columns. -o FILE names the page; default reluflow.html.",
    .options = options,
    .settings_size = sizeof(ExploreFlags),
    .takes_data = true,
    .min_arguments = 0,
    .max_arguments = 1,
    .owns_output = true,
    .examples = "  reluflow explore gen:xor -o xor.html\n"
                "  reluflow explore iris.csv --classes 0,1 --center --scale limit\n",
    .run = explore_run,
};

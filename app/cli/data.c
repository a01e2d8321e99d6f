/* `reluflow data list | info`: the generators, and what is in a dataset. */
#include "cli/cli.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* ---- data list ------------------------------------------------------------------------------- */

static void list_json(RfJson *json, const RfGenerator *all, rf_index count) {
  rf_json_array(json, "generators");
  for (rf_index i = 0; i < count; i++) {
    rf_json_object(json, NULL);
    rf_json_string(json, "name", all[i].name);
    rf_json_string(json, "alias", all[i].alias);
    rf_json_string(json, "paper", all[i].paper);
    rf_json_string(json, "summary", all[i].summary);
    rf_json_array(json, "keys");
    for (rf_index k = 0; k < all[i].n_keys; k++) {
      rf_json_object(json, NULL);
      rf_json_string(json, "name", all[i].keys[k].name);
      rf_json_string(json, "default", all[i].keys[k].default_value);
      rf_json_string(json, "meaning", all[i].keys[k].meaning);
      rf_json_end(json);
    }
    rf_json_end(json);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void list_one(RfText *page, const RfGenerator *generator, int width) {
  rf_text_styled(page, RF_BOLD, "gen:");
  rf_text_styled(page, RF_BOLD, generator->name);
  if (generator->alias) rf_text_addf(page, "  (%s)", generator->alias);
  if (generator->paper && generator->paper[0]) {
    rf_text_style(page, RF_DIM);
    rf_text_addf(page, "  %s", generator->paper);
    rf_text_style(page, RF_PLAIN);
  }
  rf_text_add(page, "\n    ");
  rf_text_wrap(page, generator->summary ? generator->summary : "", 4, width);
  RfTable keys;
  rf_table_init(&keys, "ll", NULL);
  for (rf_index k = 0; k < generator->n_keys; k++) {
    const char *value = generator->keys[k].default_value;
    rf_table_cell(&keys, value && value[0] ? "%s=%s" : "%s", generator->keys[k].name, value);
    rf_table_cell(&keys, "%s", generator->keys[k].meaning ? generator->keys[k].meaning : "");
  }
  rf_table_print(page, &keys, 4);
  rf_table_free(&keys);
}

static int list_run(CliRun *run) {
  rf_index count;
  const RfGenerator *all = rf_data_generators(&count);
  if (run->json) list_json(run->json, all, count);
  if (!run->wants_page) return CLI_DONE;
  rf_text_add(&run->page,
              "Generators: gen:NAME,key=value,... (or gen:ID). Same seed, same bytes on every machine.\n\n");
  for (rf_index i = 0; i < count; i++) list_one(&run->page, &all[i], run->width);
  return CLI_DONE;
}

const CliCommand cli_data_list = {
    .name = "data list",
    .arguments = "",
    .summary = "every generator with its keys and defaults",
    .description = "Lists the generators of datasets: name, catalogue id, where it comes from, keys with "
                   "their defaults.",
    .run = list_run,
};

/* ---- data info ------------------------------------------------------------------------------- */

typedef struct Facts {
  double norm_min, norm_max, low, high, mean_norm, filled;
  rf_index zeros;
} Facts;

static RfStatus find_facts(RfContext *context, Facts *facts, const RfDataset *data) {
  double *mean = RF_NEW(double, data->d);
  if (!mean) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  *facts = (Facts){.norm_min = INFINITY, .low = INFINITY, .high = -INFINITY};
  rf_index filled = 0;
  for (rf_index i = 0; i < data->n; i++) {
    const double *x = data->X + i * data->d;
    double norm = rf_la_norm(x, data->d);
    facts->norm_min = fmin(facts->norm_min, norm);
    facts->norm_max = fmax(facts->norm_max, norm);
    facts->zeros += !(norm > 0);
    for (rf_index j = 0; j < data->d; j++) {
      facts->low = fmin(facts->low, x[j]);
      facts->high = fmax(facts->high, x[j]);
      filled += fabs(x[j]) > 0;
      mean[j] += x[j] / (double)data->n;
    }
  }
  facts->mean_norm = rf_la_norm(mean, data->d);
  facts->filled = (double)filled / ((double)data->n * (double)data->d);
  rf_free(mean);
  return RF_OK;
}

static RfStatus class_sizes(RfContext *context, rf_index **sizes, const RfDataset *data) {
  *sizes = RF_NEW(rf_index, data->n_classes);
  if (!*sizes) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  for (rf_index i = 0; i < data->n; i++) (*sizes)[data->class_of[i]]++;
  return RF_OK;
}

static void info_json(RfJson *json, const RfDataset *data, const Facts *facts, const rf_index *sizes) {
  rf_json_string(json, "name", data->name);
  rf_json_integer(json, "n", data->n);
  rf_json_integer(json, "d", data->d);
  rf_json_classes(json, data);
  rf_json_integers(json, "class_sizes", sizes, data->n_classes);
  rf_json_number(json, "norm_min", facts->norm_min);
  rf_json_number(json, "norm_max", facts->norm_max);
  rf_json_number(json, "low", facts->low);
  rf_json_number(json, "high", facts->high);
  rf_json_number(json, "mean_norm", facts->mean_norm);
  rf_json_integer(json, "zeros", facts->zeros);
  rf_json_number(json, "filled", facts->filled);
}

static void info_page(RfText *page, const RfDataset *data, const Facts *facts, const rf_index *sizes) {
  rf_text_styled(page, RF_BOLD, data->name ? data->name : "data");
  rf_text_addf(page, "  %lld samples in %lld dimensions\n", (long long)data->n, (long long)data->d);
  RfTable table;
  rf_table_init(&table, "lrl", NULL);
  for (rf_index k = 0; k < data->n_classes; k++) {
    rf_table_cell(&table, "class %s", data->class_names[k]);
    rf_table_cell(&table, "%lld", (long long)sizes[k]);
    rf_table_cell(&table, "%s",
                  !data->y                         ? "samples"
                  : data->n_classes == 2 && k == 0 ? "samples, y = -1"
                                                   : "samples, y = +1");
  }
  rf_table_print(page, &table, 2);
  rf_table_free(&table);
  rf_text_addf(page, "  norms %.6g to %.6g, entries %.6g to %.6g, %.3g%% not zero, |mean| %.6g\n",
               facts->norm_min, facts->norm_max, facts->low, facts->high, 100 * facts->filled,
               facts->mean_norm);
  if (facts->zeros) rf_text_addf(page, "  %lld samples are zero\n", (long long)facts->zeros);
}

static int info_run(CliRun *run) {
  RfDataset data = {0};
  Facts facts = {0};
  rf_index *sizes = NULL;
  RfStatus status = cli_load(run, &data);
  if (status == RF_OK) status = find_facts(&run->context, &facts, &data);
  if (status == RF_OK) status = class_sizes(&run->context, &sizes, &data);
  if (status == RF_OK && run->json) info_json(run->json, &data, &facts, sizes);
  if (status == RF_OK && run->wants_page) info_page(&run->page, &data, &facts, sizes);
  rf_free(sizes);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

const CliCommand cli_data_info = {
    .name = "data info",
    .arguments = "DATA",
    .summary = "size, classes and norms of a dataset",
    .description = "Reads or generates a dataset, applies the transforms, and says what is in it. For what "
                   "the data decide "
                   "before training see reluflow inspect.",
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = info_run,
};

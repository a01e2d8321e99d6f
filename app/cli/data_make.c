/* `reluflow data make | convert`: datasets from one form to another. */
#include "cli/cli.h"

static int make_run(CliRun *run) {
  if (!run->common.output)
    return cli_finish(run, rf_fail(&run->context, RF_ERR_USAGE,
                                   "%s needs -o FILE: .csv, .tsv, .libsvm, .svm, .svmlight or .npz",
                                   run->command->name));
  RfDataset data = {0};
  RfStatus status = cli_load(run, &data);
  if (status == RF_OK) status = rf_data_save(&run->context, &data, run->common.output);
  if (status == RF_OK && run->json) {
    rf_json_string(run->json, "name", data.name);
    rf_json_string(run->json, "file", run->common.output);
    rf_json_integer(run->json, "n", data.n);
    rf_json_integer(run->json, "d", data.d);
    rf_json_classes(run->json, &data);
  }
  if (status == RF_OK && run->wants_page)
    rf_text_addf(&run->page, "%s: %lld samples, %lld columns, %lld classes\n", run->common.output,
                 (long long)data.n, (long long)data.d, (long long)data.n_classes);
  rf_dataset_free(&data);
  return cli_finish(run, status);
}

#define MAKE_DESCRIPTION                                                                                     \
  "Reads or generates a dataset, applies the transforms, and writes it in the format that the ending of "    \
  "the file names: "                                                                                         \
  ".csv, .tsv, .libsvm, .svm, .svmlight or .npz."

const CliCommand cli_data_make = {
    .name = "data make",
    .arguments = "DATA",
    .summary = "generate a dataset, or convert one (-o FILE)",
    .description = MAKE_DESCRIPTION,
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .owns_output = true,
    .examples = "  reluflow data make gen:orthant,n=500,d=20,seed=1 -o orthant.npz\n"
                "  reluflow data make iris.csv --classes 0,1 --center -o iris01.libsvm\n",
    .run = make_run,
};

const CliCommand cli_data_convert = {
    .name = "data convert",
    .arguments = "DATA",
    .summary = "the same as data make",
    .description = MAKE_DESCRIPTION,
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .owns_output = true,
    .fields = "data make",
    .run = make_run,
};

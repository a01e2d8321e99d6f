/* `reluflow train`: the training that people run. */
#include "cli/train.h"
#include "device/device.h"
#include "layers/layers.h"
#include "la/la.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct TrainFlags {
  rf_index width, steps, epochs, batch, record;
  double leak, scale, rate, raise, stop_loss, stop_margin, checkpoint_every;
  int optimizer, norm, precision, freeze, device, then;
  const char *loss, *init, *model, *test, *test_labels, *checkpoint, *resume;
} TrainFlags;

#define FIELD(name) offsetof(TrainFlags, name)

static const CliOption options[] = {
    {"--optimizer", CLI_CHOICE, FIELD(optimizer), "gd|sgd|adam", "gd", 0, 0, "how to descend"},
    {"--rate", CLI_NUMBER, FIELD(rate), "X", "0.01", 1e-300, 1e300, "learning rate"},
    {"--steps", CLI_INDEX, FIELD(steps), "N", NULL, 0, 0,
     "updates; default 1000 for gd, no limit for sgd and adam"},
    {"--epochs", CLI_INDEX, FIELD(epochs), "N", NULL, 0, 0,
     "passes over the data; default 100 for sgd and adam"},
    {"--batch", CLI_INDEX, FIELD(batch), "N", "0", 0, 0, "samples per update; 0 = all (gd always takes all)"},
    {"--loss", CLI_TEXT, FIELD(loss), "NAME", "logistic", 0, 0,
     "of a margin q: logistic ln(1+e^-q), logistic2 twice that, exp e^-q"},
    {"--norm", CLI_CHOICE, FIELD(norm), "sum|mean", "mean", 0, 0,
     "loss as the sum or the mean over the batch"},
    {"--width", CLI_INDEX, FIELD(width), "M", "50", 1, 0, "neurons"},
    {"--leak", CLI_NUMBER, FIELD(leak), "L", "0", 0, 1,
     "slope for non-positive inputs: 0 = ReLU, 1 = linear"},
    {"--init", CLI_TEXT, FIELD(init), "NAME", "he", 0, 0,
     "balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he; drawn with --seed"},
    {"--model", CLI_TEXT, FIELD(model), "FILE", NULL, 0, 0,
     "start from this network, two-layer or layered (.json with layers); without weights they are drawn "
     "uniform in +-1/sqrt(fan-in) with --seed"},
    {"--scale", CLI_NUMBER, FIELD(scale), "EPS", "1", 0, 1e150, "multiplies the initial weights"},
    {"--freeze", CLI_CHOICE, FIELD(freeze), "none|second", "none", 0, 0, "layer that is not trained"},
    {"--precision", CLI_CHOICE, FIELD(precision), "double|float", "double", 0, 0,
     "number type of the updates"},
    {"--raise", CLI_NUMBER, FIELD(raise), "C", "0", 0, 1e300,
     "once all samples are classified correctly, use the rate C / loss (gd and sgd); 0 = never"},
    {"--stop-loss", CLI_NUMBER, FIELD(stop_loss), "L", "0", 0, 1e300,
     "stop when the loss is at most L; 0 = never"},
    {"--stop-margin", CLI_NUMBER, FIELD(stop_margin), "Q", "0", 0, 1e300,
     "stop when the smallest y f(x) is at least Q; 0 = never"},
    {"--record", CLI_INDEX, FIELD(record), "N", "0", 0, 0,
     "steps (epochs with mini-batches) between records; 0 = about 100 in all"},
    {"--test", CLI_TEXT, FIELD(test), "DATA", NULL, 0, 0,
     "data for the test error, read with the same transforms"},
    {"--test-labels", CLI_TEXT, FIELD(test_labels), "FILE", NULL, 0, 0,
     "labels of --test, for idx and npy files"},
    {"--device", CLI_CHOICE, FIELD(device), DEVICE_CHOICES, "cpu", 0, 0,
     "where the updates run: gd of two-layer networks also on a CUDA card, in sweeps a whole population at "
     "once; "
     "emulated: the card's arithmetic on the processor"},
    {"--then", CLI_CHOICE, FIELD(then), "nothing|flow", "nothing", 0, 0,
     "flow: follow gradient flow from the trained network to t = infinity, when it has reached --stop-loss "
     "(without "
     "that flag: when all samples are classified correctly)"},
    {"--checkpoint", CLI_TEXT, FIELD(checkpoint), "FILE", NULL, 0, 0, "keep the state in FILE while running"},
    {"--checkpoint-every", CLI_NUMBER, FIELD(checkpoint_every), "S", "10", 0, 1e9,
     "seconds between checkpoints"},
    {"--resume", CLI_TEXT, FIELD(resume), "FILE", NULL, 0, 0, "continue from a checkpoint, to the same bits"},
    {0},
};

static RfStatus settings_from_flags(CliRun *run, RfTrainSettings *s) {
  const TrainFlags *flags = run->settings;
  rf_train_settings_init(s);
  s->optimizer = (RfOptimizer)flags->optimizer;
  s->rate = flags->rate, s->batch = flags->batch, s->mean = flags->norm == 1, s->seed = run->common.seed;
  s->precision = flags->precision ? RF_FLOAT : RF_DOUBLE;
  bool steps = cli_given(run, "--steps"), epochs = cli_given(run, "--epochs"),
       rules = flags->stop_loss > 0 || flags->stop_margin > 0;
  s->max_steps = steps ? flags->steps : -1;
  s->max_epochs = epochs ? flags->epochs : -1;
  if (!steps && !epochs && !rules) {
    if (s->optimizer == RF_TRAIN_GD)
      s->max_steps = 1000;
    else
      s->max_epochs = 100;
  }
  s->raise_rate = flags->raise, s->stop_loss = flags->stop_loss, s->record_every = flags->record;
  s->stop_min_q = flags->stop_margin > 0 ? flags->stop_margin : INFINITY;
  s->checkpoint = flags->checkpoint, s->checkpoint_seconds = flags->checkpoint_every,
  s->resume = flags->resume;
  return rf_loss_from_name(&run->context, &s->loss, flags->loss);
}

/* The network of --model; *layered tells whether its result is given in layers. */
static RfStatus model_net(CliRun *run, RfLayeredNet *net, bool *layered, rf_index d) {
  const TrainFlags *flags = run->settings;
  RfNet two = {0};
  bool weighted = true;
  RfStatus status = cli_load_layers(run, net, layered, &weighted, flags->model);
  if (!status && !*layered) {
    bool stated;
    status = cli_load_net(run, &two, &stated, flags->model, NULL);
    if (!status && !stated) two.leak = flags->leak;
    if (!status) status = rf_train_from_net(&run->context, net, &two);
    weighted = true;
  }
  rf_net_free(&two);
  if (status) return status;
  if (cli_given(run, "--leak") && net->leak != flags->leak)
    return rf_fail(&run->context, RF_ERR_USAGE, "--leak %g: %s has leak %g", flags->leak, flags->model,
                   net->leak);
  if (rf_layers_inputs(net) != d)
    return rf_fail(&run->context, RF_ERR_USAGE,
                   "%s: a network with %lld inputs, but the data have %lld columns", flags->model,
                   (long long)rf_layers_inputs(net), (long long)d);
  if (!weighted) {
    RfRandom random;
    rf_random_init(&random, run->common.seed, 0);
    rf_layers_init_uniform(net, &random, 1);
  }
  if (flags->freeze == 1 && net->n_layers == 2) net->layers[1].fixed = true;
  rf_la_scale(net->theta, flags->scale, net->n_parameters);
  return RF_OK;
}

static RfStatus initial_net(CliRun *run, RfLayeredNet *net, bool *layered, rf_index d) {
  *layered = false;
  if (((const TrainFlags *)run->settings)->model) return model_net(run, net, layered, d);
  const TrainFlags *flags = run->settings;
  RfInit init;
  RfNet two = {0};
  RfStatus status = rf_init_from_name(&run->context, &init, flags->init);
  if (!status)
    status = rf_net_init(&run->context, &two, init, flags->width, d, flags->leak, run->common.seed, 1);
  if (!status) status = rf_train_from_net(&run->context, net, &two);
  if (!status) rf_la_scale(net->theta, flags->scale, net->n_parameters);
  if (!status) net->layers[1].fixed = flags->freeze == 1;
  rf_net_free(&two);
  return status;
}

static RfStatus pictures(CliRun *run, const RfTrainResult *r, const char *name) {
  if (!run->common.report && !run->common.svg) return RF_OK;
  RfSvg svg = {0};
  char caption[160];
  rf_svg_train(&svg, r);
  RfStatus status = run->common.svg ? cli_picture(run, &svg, name) : RF_OK;
  rf_format(caption, sizeof caption, "Loss and normalised margin over %lld updates.", (long long)r->steps);
  if (run->common.report) rf_html_picture(&run->html, &svg, caption);
  rf_svg_free(&svg);
  return status;
}

/* The result of a device: here a population of one, unless company has been there before. */
static RfStatus train_on_device(CliRun *run, RfTrainResult *result, const RfLayeredNet *net,
                                const RfTrainData *samples, const RfTrainSettings *settings) {
  const TrainFlags *flags = run->settings;
  Device device;
  DeviceMember member = {samples, net, settings->rate, settings->raise_rate};
  RfStatus status = device_check(&run->context, net, samples, settings);
  if (!status) status = device_open(&run->context, &device, (DeviceKind)flags->device);
  return status ? status : device_train(&run->context, &device, result, &member, 1, settings, true);
}

/* On to t = infinity from the trained weights. */
static RfStatus follow_flow(CliRun *run, RfStudyFlow *study, const char **name, const RfDataset *data,
                            const RfTrainResult *result) {
  const TrainFlags *flags = run->settings;
  bool reached = flags->stop_loss > 0 ? result->stop == RF_STOP_LOSS : result->last.train_error <= 0;
  RfStudyFlowSettings wanted;
  RfNet net = {0};
  RfTrainSettings trained;
  *name = "not-reached";
  if (!reached) return RF_OK;
  rf_study_flow_settings_init(&wanted);
  RfStatus status = settings_from_flags(run, &trained);
  if (!status) status = rf_train_to_net(&run->context, &net, &result->net);
  wanted.start.weights = &net, wanted.start.name = "the trained network", wanted.start.log_scale = 0;
  wanted.loss = trained.loss, wanted.mean = trained.mean, wanted.freeze_second = flags->freeze == 1;
  wanted.verdict_seconds = 0;
  wanted.flow.trace = 0, wanted.flow.check_direction = wanted.flow.with_alignment = wanted.flow.audit = false;
  wanted.flow.branches = RF_BRANCHES_FOLLOW;
  if (!status) status = rf_study_flow(&run->context, study, data, NULL, &wanted);
  rf_net_free(&net);
  if (status < 0) return status;
  *name = rf_flow_outcome_name(study->run.result.limit.outcome);
  return status == RF_INTERRUPTED ? status : RF_OK;
}

static RfStatus report(CliRun *run, const RfDataset *data, const RfTrainResult *result, bool layered) {
  const TrainFlags *flags = run->settings;
  RfStudyFlow study = {0};
  const char *then = NULL;
  RfStatus status = flags->then ? follow_flow(run, &study, &then, data, result) : RF_OK;
  const RfFlowLimit *limit = then && study.run.result.limit.net.W ? &study.run.result.limit : NULL;
  if (status >= 0 && run->json) {
    rf_json_train(run->json, result, layered);
    rf_json_then(run->json, then, limit);
  }
  if (status >= 0 && run->wants_page) {
    rf_text_train(&run->page, result);
    if (then) rf_text_addf(&run->page, "then gradient flow: %s", then);
    if (limit) rf_text_addf(&run->page, ", margin %.12g", limit->margin);
    if (then) rf_text_add(&run->page, "\n");
  }
  rf_study_flow_free(&study);
  return status;
}

RfStatus cli_train_prepare(CliRun *run, const RfDataset *data, RfLayeredNet *net, bool *layered,
                           RfTrainSettings *settings) {
  RfStatus status = settings_from_flags(run, settings);
  return status ? status : initial_net(run, net, layered, data->d);
}

/* One binary problem. */
static RfStatus train_one(CliRun *run, const RfDataset *data, const RfDataset *test, const char *picture) {
  const TrainFlags *flags = run->settings;
  RfTrainSettings settings;
  RfLayeredNet net = {0};
  RfTrainResult own = {0};
  const RfTrainResult *result = run->trained ? run->trained : &own;
  bool layered = false;
  RfStatus status = RF_OK, outcome = RF_OK;
  if (!run->trained) status = cli_train_prepare(run, data, &net, &layered, &settings);
  if (!status && !run->trained) {
    RfTrainData samples = {.X = data->X, .y = data->y, .n = data->n};
    if (test) samples.test_X = test->X, samples.test_y = test->y, samples.test_n = test->n;
    outcome = status = flags->device == DEVICE_CPU
                           ? rf_train_run(&run->context, &own, &net, &samples, &settings)
                           : train_on_device(run, &own, &net, &samples, &settings);
  }
  if (status >= 0 && isnan(result->last.loss))
    status = rf_fail(&run->context, RF_ERR_NUMERIC,
                     "the outputs overflowed by step %lld: a smaller learning rate is needed",
                     (long long)result->steps);
  if (status >= 0) {
    status = report(run, data, result, layered);
    if (status >= 0) status = pictures(run, result, picture);
    if (!status) status = outcome;
  }
  rf_train_result_free(&own);
  rf_layers_free(&net);
  return status;
}

static RfStatus load_test(CliRun *run, RfDataset *test, const RfDataset *data) {
  const TrainFlags *flags = run->settings;
  if (!flags->test) return RF_OK;
  RfDataSource source = run->source;
  source.path = flags->test, source.labels_path = flags->test_labels;
  source.shuffle = false, source.limit = -1;
  RfStatus status = cli_load_source(run, test, &source);
  if (!status && (test->d != data->d || test->n_classes != data->n_classes))
    status = rf_fail(&run->context, RF_ERR_USAGE,
                     "--test: %lld columns and %lld classes, but the training data have %lld and %lld",
                     (long long)test->d, (long long)test->n_classes, (long long)data->d,
                     (long long)data->n_classes);
  return status;
}

/* Several classes: one network against the rest for each, as in the papers. */
static RfStatus train_each_class(CliRun *run, const RfDataset *data, const RfDataset *test) {
  RfStatus status = RF_OK;
  const TrainFlags *flags = run->settings;
  if (flags->device != DEVICE_CPU)
    return rf_fail(&run->context, RF_ERR_USAGE, "--device is for two classes: choose them with --classes");
  if (flags->checkpoint || flags->resume)
    return rf_fail(&run->context, RF_ERR_USAGE,
                   "--checkpoint and --resume are for two classes: choose them with --classes");
  if (run->json) rf_json_array(run->json, "per_class");
  for (rf_index k = 0; k < data->n_classes && !status; k++) {
    RfDataset one = {0}, one_test = {0};
    char picture[64];
    rf_format(picture, sizeof picture, "train-class%lld.svg", (long long)k);
    status = rf_dataset_one_versus_rest(&run->context, &one, data, k);
    if (!status && test) status = rf_dataset_one_versus_rest(&run->context, &one_test, test, k);
    if (!status && run->json)
      rf_json_object(run->json, NULL), rf_json_string(run->json, "class", data->class_names[k]);
    if (!status && run->wants_page)
      rf_text_addf(&run->page, "class %s against the rest\n", data->class_names[k]);
    if (!status) status = train_one(run, &one, test ? &one_test : NULL, picture);
    if (status >= 0 && run->json) rf_json_end(run->json);
    rf_dataset_free(&one), rf_dataset_free(&one_test);
  }
  if (run->json) rf_json_end(run->json);
  return status;
}

static int train_run(CliRun *run) {
  RfDataset data = {0}, test = {0};
  RfStatus status = cli_load(run, &data);
  const TrainFlags *flags = run->settings;
  if (!status) status = load_test(run, &test, &data);
  const RfDataset *tested = flags->test ? &test : NULL;
  if (!status) {
    if (run->json) rf_json_string(run->json, "name", data.name);
    if (run->common.report) rf_html_begin(&run->html, "reluflow train", data.name);
    status = data.n_classes > 2 ? train_each_class(run, &data, tested)
                                : train_one(run, &data, tested, "train.svg");
    if (run->common.report) rf_html_end(&run->html);
  }
  rf_dataset_free(&data), rf_dataset_free(&test);
  return cli_finish(run, status);
}

const CliCommand cli_train = {
    .name = "train",
    .arguments = "DATA",
    .summary = "gradient descent, sgd or adam on a two-layer or layered network",
    .description = "Trains a two-layer (leaky) ReLU network, or the layered one of --model, as people do, "
                   "with finite steps. For where training goes in the end, "
                   "see reluflow flow. Same flags and seed, same bits, with any number of threads.",
    .options = options,
    .settings_size = sizeof(TrainFlags),
    .takes_data = true,
    .min_arguments = 1,
    .max_arguments = 1,
    .examples =
        "reluflow train gen:orthant --width 100 --rate 0.1 --steps 10000 # gradient descent\n"
        "reluflow train gen:orthant --optimizer sgd --batch 50 --epochs 500 # stochastic\n"
        "reluflow train gen:orthant --model deep.json --optimizer adam --epochs 50 # a layered network\n"
        "reluflow train gen:orthant --steps 20000 --stop-loss 1e-2 --then flow # and its limit at t = "
        "infinity\n"
        "reluflow train gen:orthant --checkpoint run.ckpt --steps 100000 # can be resumed",
    .has_report = true,
    .has_pictures = true,
    .run = train_run,
};

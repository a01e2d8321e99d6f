/* What explain says is what its JSON holds, and that is what a second computation finds: on generated data,
 * on XOR, on MNIST 0 and 1, digits 3 and 8, iris 1 and 2. */
#include "rf_test.h"

#include <jansson.h>
#include "present/present.h"

typedef struct Case {
  const char *name, *path, *labels, *classes;
  bool center;
  rf_index limit;
  double leak, flow_seconds;
} Case;

static const Case cases[] = {
    {"DS-PL2", "gen:DS-PL2", NULL, NULL, false, 0, 0, 60},
    {"hinted", "gen:DS-HINT(20,1,0.1)", NULL, NULL, false, 0, 0.5, 60},
    {"orthant", "gen:orthant,n=30,d=5", NULL, NULL, false, 0, 0, 60},
    {"xor", "gen:xor", NULL, NULL, false, 0, 0, 60},
    {"iris 1/2", "iris.csv", NULL, "1,2", false, 0, 0, 20},
    {"digits 3/8", "digits8x8.csv", NULL, "3,8", true, 60, 0, 10},
    {"MNIST 0/1", "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", "0,1", true, 80, 0,
     10},
    {"MNIST 0/1, out of time", "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", "0,1",
     true, 400, 0, 0.01},
};

/* The sentence that holds `phrase`; NULL when none does. */
static const char *sentence(json_t *object, const char *phrase) {
  json_t *list = json_object_get(object, "sentences");
  for (size_t k = 0; k < json_array_size(list); k++) {
    const char *text = json_string_value(json_array_get(list, k));
    if (strstr(text, phrase)) return text;
  }
  return NULL;
}

/* The number after `phrase`; NaN when no sentence holds it. */
static double said(json_t *object, const char *phrase) {
  const char *text = sentence(object, phrase);
  return text ? strtod(strstr(text, phrase) + strlen(phrase), NULL) : NAN;
}

static json_t *at(json_t *object, const char *path) {
  char word[64];
  while (object && *path) {
    size_t length = strcspn(path, ".");
    snprintf(word, sizeof word, "%.*s", (int)length, path);
    object = json_object_get(object, word);
    path += length + (path[length] == '.');
  }
  return object;
}

static double number(json_t *object, const char *path) {
  json_t *value = at(object, path);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(json_t *object, const char *path) {
  const char *text = json_string_value(at(object, path));
  return text ? text : "";
}

/* min y f(x) / |theta|^2 of the limit in the JSON, by its definition. */
static double margin_of(json_t *object, const RfDataset *data, double leak) {
  json_t *W = at(object, "flow.limit.W"), *a = at(object, "flow.limit.a");
  double least = INFINITY, norm2 = 0;
  for (size_t k = 0; k < json_array_size(a); k++) {
    norm2 += pow(json_number_value(json_array_get(a, k)), 2);
    for (rf_index j = 0; j < data->d; j++)
      norm2 += pow(json_number_value(json_array_get(json_array_get(W, k), (size_t)j)), 2);
  }
  for (rf_index i = 0; i < data->n; i++) {
    double f = 0;
    for (size_t k = 0; k < json_array_size(a); k++) {
      double z = 0;
      for (rf_index j = 0; j < data->d; j++)
        z += json_number_value(json_array_get(json_array_get(W, k), (size_t)j)) * data->X[i * data->d + j];
      f += json_number_value(json_array_get(a, k)) * (z > 0 ? z : leak * z);
    }
    least = fmin(least, data->y[i] * f);
  }
  return least / norm2;
}

static void check_data_sentence(json_t *object, const RfDataset *data) {
  char phrase[64];
  snprintf(phrase, sizeof phrase, "%lld samples in %lld dimensions", (long long)data->n, (long long)data->d);
  assert_non_null(sentence(object, phrase));
  bool separable = json_is_true(at(object, "inspect.linear.separable"));
  assert_true(separable == (sentence(object, "separates the classes, with margin") != NULL));
  if (separable)
    assert_relative(said(object, "separates the classes, with margin "),
                    number(object, "inspect.linear.margin"), 1e-5);
  else
    assert_non_null(sentence(object, "through the origin separates the classes"));
}

static void check_prediction(json_t *object) {
  if (text_at(object, "predicted.theorem")[0])
    assert_relative(said(object, "gradient flow goes: normalised margin "),
                    number(object, "predicted.margin"), 1e-9);
  else
    assert_true(sentence(object, "No theorem of the five papers") ||
                sentence(object, "Whether a theorem of the five papers"));
}

static void check_limit(json_t *object, const RfDataset *data, double leak) {
  bool converged = strcmp(text_at(object, "flow.limit.status"), "converged") == 0;
  assert_true(converged == (sentence(object, "converges in direction") != NULL));
  if (!converged) {
    assert_true(sentence(object, "never separates") || sentence(object, "was stopped after") ||
                sentence(object, "the flow ends"));
    return;
  }
  double margin = said(object, "the normalised margin is ");
  assert_relative(margin, number(object, "flow.limit.margin"), 1e-11);
  assert_relative(margin, margin_of(object, data, leak), 1e-8);
  assert_close(said(object, "attained by "), (double)json_array_size(at(object, "flow.limit.support")), 0);
  assert_close(said(object, "in direction, to "), (double)json_array_size(at(object, "flow.limit.groups")),
               0);
  double predicted = number(object, "predicted.margin");
  if (isfinite(predicted))
    assert_true((fabs(margin / predicted - 1) < 1e-8) ==
                (sentence(object, "what the theorem predicts") != NULL));
}

static void check_verdicts(json_t *object) {
  const char *local = text_at(object, "certify.local.verdict"),
             *global = text_at(object, "certify.global.verdict");
  if (sentence(object, "a KKT point of the max-margin"))
    assert_true(json_is_true(at(object, "certify.kkt.holds")) || sentence(object, "not a KKT point"));
  assert_true((strcmp(local, "not-optimum") == 0) ==
              (sentence(object, "a better network lies nearby") != NULL));
  assert_true((strcmp(global, "optimum") == 0) ==
              (sentence(object, "finds the best margin there is") != NULL));
  if (sentence(object, "finds the best margin there is")) /* then the bounds beside it say the same */
    assert_non_null(sentence(object, "(proved to a relative gap"));
  assert_true((strcmp(global, "not-optimum") == 0) == (sentence(object, "stops short: it") != NULL));
  double best = 1 / (2 * number(object, "maxmargin.global.objective"));
  if (sentence(object, "(proved to a relative gap"))
    assert_relative(said(object, "margin of any width is "), best, 1e-11);
  if (sentence(object, "normalised margin lies between"))
    assert_relative(said(object, "margin lies between "), best, 1e-7);
  if (sentence(object, "stops short: it"))
    assert_relative(said(object, "it reaches "), 100 * number(object, "flow.limit.margin") / best, 1e-3);
}

static json_t *explain_json(RfContext *context, const Case *c, const RfDataset *data) {
  RfExplainSettings settings;
  rf_explain_settings_init(&settings);
  RfExplanation e;
  RfText text = {0};
  RfJson *json = NULL;
  json_error_t error;
  settings.flow.start.leak = c->leak, settings.flow_seconds = c->flow_seconds;
  settings.optimum_seconds = settings.certify_seconds = 3, settings.flow.start.width = data->d > 10 ? 10 : 50;
  RfStatus status = rf_study_explain(context, &e, data, &settings);
  if (status < 0) print_error("%s: %s\\n", c->name, context->error);
  assert_true(status >= 0);
  assert_true(e.flow.run.out_of_time == (status == RF_LIMIT));
  assert_ok(context, rf_json_new(context, &json, "explain"));
  rf_explanation_json(json, &e, 2);
  assert_ok(context, rf_json_finish(context, &text, json));
  json_t *object = json_loads(rf_text_string(&text), 0, &error);
  assert_non_null(object);
  assert_true((sentence(object, "--flow-time") != NULL) == (e.flow.run.out_of_time && e.flow_capped));
  rf_json_free(json);
  rf_text_free(&text);
  rf_explanation_free(&e);
  return object;
}

static void sentences_hold(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const Case *c = &cases[k];
    RfContext context;
    RfDataSource source;
    RfDataset data;
    rf_context_init(&context);
    rf_data_source_init(&source);
    char path[4200], labels[4200];
    const char *folder = c->labels ? rf_test_mnist() : rf_test_data();
    if (!folder) continue;
    snprintf(path, sizeof path, "%s/%s", folder, c->path);
    snprintf(labels, sizeof labels, "%s/%s", folder, c->labels ? c->labels : "");
    source.path = strncmp(c->path, "gen:", 4) == 0 ? c->path : path;
    source.labels_path = c->labels ? labels : NULL;
    source.classes = c->classes, source.center = c->center, source.limit = c->limit > 0 ? c->limit : -1;
    assert_ok(&context, rf_data_load(&context, &data, &source));
    json_t *object = explain_json(&context, c, &data);
    print_message("%s: %s\n", c->name, text_at(object, "flow.limit.status"));
    check_data_sentence(object, &data);
    check_prediction(object);
    check_limit(object, &data, c->leak);
    check_verdicts(object);
    json_decref(object);
    rf_dataset_free(&data);
  }
}

/* Data that no network fits: the sentence names the obstacle that is there, and no other. */
static void obstacles_are_named(void **state) {
  (void)state;
  static const struct {
    double X[8], y[4], leak;
    const char *phrase;
  } sets[] = {{{0, 0, 0, 1, 1, 0, 1, 1}, {-1, 1, 1, -1}, 0, "Sample 0 is zero"},
              {{1, 1, -1, -1, 1, -1, -1, 1}, {1, 1, -1, -1}, 1, "With leak 1 the network is linear"},
              {{1, 0, 2, 0, 0, 1, 1, 1}, {1, -1, 1, 1}, 0, "on one line through the origin"}};
  for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
    RfContext context;
    RfDataset data;
    rf_context_init(&context);
    assert_ok(&context, rf_dataset_from_arrays(&context, &data, sets[k].X, sets[k].y, 4, 2, NULL));
    Case c = {.leak = sets[k].leak, .flow_seconds = 20};
    json_t *object = explain_json(&context, &c, &data);
    for (size_t other = 0; other < sizeof sets / sizeof sets[0]; other++)
      assert_int_equal(sentence(object, sets[other].phrase) != NULL, other == k);
    json_decref(object);
    rf_dataset_free(&data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sentences_hold), cmocka_unit_test(obstacles_are_named)};
  return cmocka_run_group_tests_name("explain/sentences", tests, NULL, NULL);
}

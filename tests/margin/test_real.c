/* Hard margins of real data: the verdicts that are known, with certificates recomputed here. */
#include "rf_test.h"
#include "margin_check.h"

typedef struct Real {
  const char *file, *labels, *classes;
  bool center, bias;
  RfStatus expected, with_intercept;
} Real;

static const Real cases[] = {
    {"digits8x8.csv", NULL, "0,1", false, false, RF_OK, RF_OK},
    {"digits8x8.csv", NULL, "3,8", false, false, RF_OK, RF_OK},
    {"iris.csv", NULL, "1,2", false, false, RF_NOT_SEPARABLE, RF_NOT_SEPARABLE},
    {"iris.csv", NULL, "1,2", false, true, RF_NOT_SEPARABLE, RF_NOT_SEPARABLE},
    {"iris.csv", NULL, "0,1", false, false, RF_OK, RF_OK},
    {"breast_cancer.csv", NULL, NULL, false, false, RF_OK, RF_OK},
    {"breast_cancer.csv", NULL, NULL, true, false, RF_NOT_SEPARABLE, RF_OK},
    {"mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", "0,1", false, false, RF_OK,
     RF_OK},
};

/* False when the files are not there. */
static bool load(RfDataset *data, const Real *real) {
  RfContext context;
  RfDataSource source;
  char path[4400], labels[4400];
  const char *folder = real->labels ? rf_test_mnist() : rf_test_data();
  if (!folder) return false;
  rf_context_init(&context);
  rf_data_source_init(&source);
  snprintf(path, sizeof path, "%s/%s", folder, real->file);
  snprintf(labels, sizeof labels, "%s/%s", folder, real->labels ? real->labels : "");
  source.path = path;
  source.labels_path = real->labels ? labels : NULL;
  source.classes = real->classes;
  source.center = real->center;
  source.has_bias = real->bias;
  source.bias = 1;
  assert_ok(&context, rf_data_load(&context, data, &source));
  return true;
}

static void known_verdicts(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    RfDataset data;
    if (!load(&data, &cases[c])) continue;
    for (int intercept = 0; intercept < 2; intercept++) {
      RfLinearMargin m;
      RfStatus want = intercept ? cases[c].with_intercept : cases[c].expected;
      RfStatus status = intercept ? rf_margin_linear_intercept(&context, &m, data.X, data.y, data.n, data.d)
                                  : rf_margin_linear(&context, &m, data.X, data.y, data.n, data.d);
      if (status != want) fail_msg("%s %s: status %d", cases[c].file, cases[c].classes, status);
      check_certificate(&m, data.X, data.y, data.n, data.d, 1e-9);
      rf_linear_margin_free(&m);
    }
    rf_dataset_free(&data);
  }
}

/* Each class of the raw digits lies in a half space: w+ and w- exist, and their multipliers rebuild them. */
static void class_vectors(void **state) {
  (void)state;
  RfContext context;
  RfDataset data;
  rf_context_init(&context);
  load(&data, &cases[1]);
  for (int sign = -1; sign <= 1; sign += 2) {
    RfClassMargin c;
    double *sum = RF_NEW(double, data.d);
    assert_ok(&context, rf_margin_class(&context, &c, data.X, data.y, data.n, data.d, sign));
    assert_true(c.exists && c.n_support > 0);
    for (rf_index i = 0; i < data.n; i++) {
      rf_la_axpy(sum, c.multipliers[i], data.X + i * data.d, data.d);
      if (data.y[i] * sign > 0) assert_true(rf_la_dot(c.w, data.X + i * data.d, data.d) >= 1 - 1e-12);
    }
    for (rf_index j = 0; j < data.d; j++) assert_close(sum[j], c.w[j], 1e-12 * c.norm);
    rf_class_margin_free(&c);
    rf_free(sum);
  }
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_verdicts), cmocka_unit_test(class_vectors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

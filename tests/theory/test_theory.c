/* Which theorems apply to which data, why not, and what they predict: predictions are turned into networks
 * and their margins recomputed. */
#include "theory_test.h"

static RfContext context;

static int setup(void **state) {
  (void)state;
  rf_context_init(&context);
  return 0;
}

static void expect_applies(const Inspected *all, const char *id, RfAnswer applies, const char *words) {
  const RfTheorem *theorem = rf_theory_find(&all->theory, id);
  assert_non_null(theorem);
  if (theorem->applies != applies || !strstr(theorem->why, words))
    print_error("%s on %s: applies %d, '%s'; expected %d, '%s'\n", id,
                all->data.name ? all->data.name : "arrays", theorem->applies, theorem->why, applies, words);
  assert_int_equal(theorem->applies, applies);
  assert_non_null(strstr(theorem->why, words));
}

/* The predicted groups as a network: min margin 1, normalised margin as stated. */
static void check_predictions(const Inspected *all, double leak) {
  const RfDataset *data = &all->data;
  for (rf_index k = 0; k < all->theory.n_predictions; k++) {
    const RfPrediction *p = &all->theory.predictions[k];
    RfNet net;
    double margin, margins[64];
    assert_true(data->n <= 64);
    assert_ok(&context, rf_net_new(&context, &net, p->groups, data->d, leak));
    for (rf_index g = 0; g < p->groups; g++) {
      double size = sqrt(dot_of(p->u + g * data->d, p->u + g * data->d, data->d));
      net.a[g] = p->sign[g] * sqrt(size);
      for (rf_index j = 0; j < data->d; j++) net.W[g * data->d + j] = p->u[g * data->d + j] / sqrt(size);
    }
    assert_ok(&context, rf_net_margin(&context, &margin, margins, &net, data->X, data->y, data->n));
    double least = INFINITY;
    for (rf_index i = 0; i < data->n; i++) least = fmin(least, margins[i]);
    if (fabs(least - 1) > 1e-9) print_error("%s on %s: min margin %.17g\n", p->theorem, data->name, least);
    assert_close(least, 1, 1e-9);
    assert_relative(margin, p->margin, 1e-9);
    rf_net_free(&net);
  }
}

static const RfPrediction *prediction(const Inspected *all, const char *id) {
  for (rf_index k = 0; k < all->theory.n_predictions; k++)
    if (strcmp(all->theory.predictions[k].theorem, id) == 0) return &all->theory.predictions[k];
  return NULL;
}

static void orthogonally_separable_data(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-PL2", 0);
  const char *yes[] = {"PL-Thm1",  "PL-Cor1", "MMV-Thm1", "LLWA-Thm3.1", "LLWA-ThmH.2",
                       "WP-Prop4", "WP-Thm1", "WP-Thm2",  "WP-Thm4",     "VSS-Thm4.3"};
  for (size_t k = 0; k < sizeof yes / sizeof *yes; k++) expect_applies(&all, yes[k], RF_YES, "");
  expect_applies(&all, "LLWA-Thm4.3", RF_NO, "leak strictly between 0 and 1, leak is 0");
  expect_applies(&all, "LLWA-ThmA.7", RF_NO, "leak");
  expect_applies(&all, "VSS-Thm3.1", RF_NO, "linear networks");
  expect_applies(&all, "VSS-Thm3.2", RF_NO, "two samples");
  check_predictions(&all, 0);
  const RfPrediction *p = prediction(&all, "PL-Thm1");
  assert_non_null(p);
  assert_true(p == &all.theory.predictions[0]);
  assert_close(p->margin, 0.506851, 5e-7);
  assert_close(p->u[0], 1.0 / 3, 1e-14);
  assert_close(p->u[2], -3.0 / 7, 1e-14);
  assert_close(p->u[3], -2.0 / 7, 1e-14);
  assert_non_null(prediction(&all, "WP-Thm4"));
  inspected_free(&all);

  all = inspect_loss(&context, "gen:DS-PL2", 0, RF_LOSS_EXP);
  expect_applies(&all, "PL-Thm1", RF_NO, "exp");
  expect_applies(&all, "WP-Thm4", RF_NO, "exp");
  expect_applies(&all, "MMV-Thm1", RF_YES, "0.141421");
  expect_applies(&all, "LLWA-ThmH.2", RF_YES, "");
  inspected_free(&all);

  all = inspect(&context, "gen:DS-OS(5,5,3,0.2,1)", 0); /* one support sample too few in R^3 */
  expect_applies(&all, "PL-Thm1", RF_NO, "do not span R^3");
  expect_applies(&all, "WP-Thm4", RF_YES, "");
  check_predictions(&all, 0);
  inspected_free(&all);

  all = inspect(&context, "gen:DS-PL2", 0.5);
  expect_applies(&all, "PL-Thm1", RF_NO, "leak is 0.5");
  expect_applies(&all, "LLWA-Thm4.2", RF_NO, "not symmetric");
  inspected_free(&all);

  all = inspect(&context, "gen:orthogonal", 0); /* I_2: zero products are allowed */
  expect_applies(&all, "WP-Thm4", RF_YES, "");
  expect_applies(&all, "MMV-Thm1", RF_NO, "smallest cosine");
  expect_applies(&all, "WP-Thm1", RF_YES, "");
  inspected_free(&all);
}

static void reasons_name_samples(void **state) {
  (void)state;
  const double X[] = {1, 0, -0.2, 1, 2, 0.1}, y[] = {1, 1, -1};
  Inspected all = inspect_arrays(&context, X, y, 3, 2, 0);
  expect_applies(&all, "PL-Thm1", RF_NO, "samples 0 and 1 of equal label have inner product -0.2");
  inspected_free(&all);
  const double X2[] = {1, 0, 1, 1, 2, 0.1};
  all = inspect_arrays(&context, X2, y, 3, 2, 0);
  expect_applies(&all, "WP-Prop4", RF_NO, "samples 0 and 2 of different labels have inner product 2");
  inspected_free(&all);
  const double zero[] = {1, 0, 0, 0, -1, 0};
  all = inspect_arrays(&context, zero, y, 3, 2, 0);
  expect_applies(&all, "LLWA-ThmH.2", RF_NO, "sample 1 is zero");
  expect_applies(&all, "LLWA-Thm3.1", RF_NO, "sample 1 is zero");
  expect_applies(&all, "MMV-Thm1", RF_NO, "zero");
  assert_int_equal(all.theory.fits, RF_NO);
  inspected_free(&all);
}

static void one_class_and_one_sample(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-V1", 0);
  expect_applies(&all, "VSS-Thm3.2", RF_YES, "2.06155");
  expect_applies(&all, "PL-Thm1", RF_NO, "inner product -0.9375");
  assert_close(prediction(&all, "VSS-Thm3.2")->margin, 0.125, 1e-14);
  check_predictions(&all, 0);
  inspected_free(&all);
  all = inspect(&context, "gen:vee,h=0.7", 0); /* h^2 > 1/3: one neuron is the optimum */
  expect_applies(&all, "VSS-Thm3.2", RF_NO, "dual feasible");
  inspected_free(&all);
  all = inspect(&context, "gen:DS-V2", 0);
  expect_applies(&all, "PL-Thm1", RF_NO, "no negative sample");
  expect_applies(&all, "MMV-Thm1", RF_NO, "two samples");
  expect_applies(&all, "LLWA-ThmH.2", RF_YES, "");
  assert_close(prediction(&all, "LLWA-ThmH.2")->margin, sqrt(5) / 2, 1e-14);
  check_predictions(&all, 0);
  inspected_free(&all);
  all = inspect(&context, "gen:DS-E3", 0); /* a single negative sample */
  assert_close(prediction(&all, "LLWA-ThmH.2")->sign[0], -1, 0);
  check_predictions(&all, 0);
  inspected_free(&all);
  all = inspect(&context, "gen:cross", 0);
  expect_applies(&all, "VSS-Thm4.2", RF_YES, "part 2");
  expect_applies(&all, "LLWA-Thm3.1", RF_YES, "");
  inspected_free(&all);
}

static void linear_network_data(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-SEP(10,3,1)", 1);
  expect_applies(&all, "VSS-Thm3.1", RF_YES, "");
  expect_applies(&all, "VSS-Thm4.2", RF_YES, "part 1");
  assert_relative(prediction(&all, "VSS-Thm3.1")->margin, all.linear.margin / 2, 1e-12);
  check_predictions(&all, 1);
  inspected_free(&all);
  all = inspect(&context, "gen:xor", 1);
  expect_applies(&all, "VSS-Thm3.1", RF_NO, "not linearly separable");
  expect_applies(&all, "LLWA-Thm3.1", RF_NO, "linear");
  assert_int_equal(all.theory.fits, RF_NO);
  inspected_free(&all);
}

static void lyu_theorems(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-SYM6", 0.5);
  expect_applies(&all, "LLWA-Thm4.2", RF_YES, "0.3");
  expect_applies(&all, "LLWA-Thm4.3", RF_YES, "0.04");
  expect_applies(&all, "LLWA-ThmA.7", RF_NO, "A.2");
  assert_close(prediction(&all, "LLWA-Thm4.3")->margin, 0.1125, 1e-14);
  check_predictions(&all, 0.5);
  inspected_free(&all);

  const char *hinted[] = {"gen:DS-HINT(80,1,0.1)", "gen:DS-HINT(20,1,0.1)"};
  for (int k = 0; k < 2; k++) {
    all = inspect(&context, hinted[k], 0.5);
    expect_applies(&all, "LLWA-ThmA.7", RF_YES, "0.05");
    expect_applies(&all, "LLWA-Thm6.2", RF_YES, "");
    expect_applies(&all, "LLWA-ThmA.10", RF_NO, "A.8");
    assert_close(prediction(&all, "LLWA-ThmA.7")->margin, 0.05, 1e-14);
    check_predictions(&all, 0.5);
    inspected_free(&all);
  }
  all = inspect(&context, "gen:DS-HINT(10,1,0.1)", 0.5);
  expect_applies(&all, "LLWA-ThmA.7", RF_NO, "A.2 (all early velocities separate the data) fails");
  expect_applies(&all, "LLWA-Thm6.2", RF_NO, "A.2 (all early velocities separate the data) fails");
  inspected_free(&all);

  all = inspect(&context, "gen:DS-MID", 0.5);
  expect_applies(&all, "LLWA-ThmA.7", RF_YES, "0.0269258");
  expect_applies(&all, "LLWA-Thm6.2", RF_NO, "no hints");
  check_predictions(&all, 0.5);
  inspected_free(&all);

  RfDataset data = generated(&context, "gen:DS-MID"); /* flipped labels: negative neurons win */
  for (rf_index i = 0; i < data.n; i++) data.y[i] = -data.y[i];
  all = inspect_arrays(&context, data.X, data.y, data.n, data.d, 0.5);
  expect_applies(&all, "LLWA-ThmA.10", RF_YES, "0.0269258");
  expect_applies(&all, "LLWA-ThmA.7", RF_NO, "A.3");
  assert_close(prediction(&all, "LLWA-ThmA.10")->margin, 0.0538516 / 2, 5e-8);
  check_predictions(&all, 0.5);
  inspected_free(&all);
  rf_dataset_free(&data);
}

static void several_classes(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-MC3", 0);
  expect_applies(&all, "WP-Thm2", RF_NO, "among 3 classes");
  expect_applies(&all, "WP-Thm1", RF_YES, "");
  expect_applies(&all, "PL-Thm1", RF_NO, "two classes, these data have 3");
  assert_int_equal(all.theory.n_predictions, 0);
  inspected_free(&all);
  all = inspect(&context, "gen:DS-MC2", 0);
  expect_applies(&all, "WP-Thm2", RF_YES, "");
  check_predictions(&all, 0);
  inspected_free(&all);
  all = inspect(&context, "gen:gaussian,n=12,d=2,classes=3", 0);
  expect_applies(&all, "WP-Thm2", RF_NO, "inner product");
  inspected_free(&all);
}

static void wang_pilanci_theorems(void **state) {
  (void)state;
  Inspected all = inspect(&context, "gen:DS-WP1", 0);
  expect_applies(&all, "WP-Prop4", RF_YES, "");
  expect_applies(&all, "WP-Prop5", RF_NO, "1.2222");
  expect_applies(&all, "WP-Thm1", RF_YES, "");
  assert_close(prediction(&all, "WP-Thm4")->margin, 0.3898842, 5e-8);
  inspected_free(&all);
  all = inspect(&context, "gen:DS-WP2", 0);
  expect_applies(&all, "WP-Prop5", RF_YES, "");
  expect_applies(&all, "WP-Thm4", RF_NO, "no negative sample");
  inspected_free(&all);
  /* the counter-example to Theorem 1 as printed: the positive neuron ends on the hyperplane of sample 1 */
  const double X[] = {1, 0, sqrt(0.5), sqrt(0.5)}, y[] = {1, -1};
  all = inspect_arrays(&context, X, y, 2, 2, 0);
  expect_applies(&all, "WP-Thm1", RF_YES,
                 "positive neurons can end on the hyperplane of sample 1, at cosine 0.707107");
  inspected_free(&all);
}

/* Random data: every theorem has a verdict and a sentence, predictions are consistent, nothing predicts a
 * margin above that of another prediction with the same leak when both claim the optimum. */
static void random_data(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 17, 0);
  for (rf_index k = 0; k < rf_test_iterations(150); k++) {
    char spec[80];
    const char *families[] = {"gaussian,n=%d,d=%d,seed=%d", "separated,n=%d,d=%d,seed=%d",
                              "teacher,n=%d,d=%d,seed=%d", "orthant,n=%d,d=%d,seed=%d"};
    int n = (int)rf_random_below(&random, 9) + 1, d = (int)rf_random_below(&random, 4) + 2;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(spec, sizeof spec, families[k % 4], n, d, (int)k);
#pragma GCC diagnostic pop
    const double leaks[] = {0, 0.1, 0.5, 0.9, 1};
    double leak = leaks[rf_random_below(&random, 5)];
    Inspected all = inspect(&context, spec, leak);
    assert_int_equal(all.theory.n_theorems, 19);
    for (rf_index t = 0; t < all.theory.n_theorems; t++) assert_true(strlen(all.theory.theorems[t].why) > 10);
    check_predictions(&all, leak);
    if (k % 4 == 1 || k % 4 == 3) expect_applies(&all, "LLWA-Thm3.1", RF_YES, "");
    inspected_free(&all);
  }
}

static void bad_problems(void **state) {
  (void)state;
  RfDataset data = generated(&context, "gen:DS-PL2");
  RfTheory theory;
  RfTheoryProblem problem = {.data = &data};
  assert_int_equal(rf_theory_inspect(&context, &theory, &problem), RF_ERR_USAGE);
  rf_theory_free(&theory);
  rf_theory_free(NULL);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(orthogonally_separable_data, setup),
      cmocka_unit_test_setup(reasons_name_samples, setup),
      cmocka_unit_test_setup(one_class_and_one_sample, setup),
      cmocka_unit_test_setup(linear_network_data, setup),
      cmocka_unit_test_setup(lyu_theorems, setup),
      cmocka_unit_test_setup(several_classes, setup),
      cmocka_unit_test_setup(wang_pilanci_theorems, setup),
      cmocka_unit_test_setup(random_data, setup),
      cmocka_unit_test_setup(bad_problems, setup),
  };
  return cmocka_run_group_tests_name("theory/theory", tests, NULL, NULL);
}

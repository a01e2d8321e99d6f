/* The binary questions of a dataset: two classes are one question, the data themselves; K classes are K, each
 * with the samples of the whole (not a copy), +1 for its class and -1 for the rest. */
#include "data/data.h"
#include "reluflow/study.h"
#include "rf_test.h"

static void two_classes_are_one_question(void **state) {
  (void)state;
  RfContext context;
  RfDataset data;
  RfStudySplit split;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "gen:DS-PL2"));
  assert_ok(&context, rf_study_split(&context, &split, &data));
  assert_int_equal(split.count, 1);
  assert_ptr_equal(rf_study_split_data(&split, 0), &data);
  assert_null(rf_study_split_name(&split, 0));
  rf_study_split_free(&split);
  assert_non_null(data.X);
  rf_dataset_free(&data);
}

static void each_class_against_the_rest(void **state) {
  (void)state;
  for (int K = 3; K <= 5; K++) {
    RfContext context;
    RfDataset data;
    RfStudySplit split;
    char spec[64];
    rf_context_init(&context);
    snprintf(spec, sizeof spec, "gen:multiclass-orthant,K=%d,n=20,d=6", K);
    assert_ok(&context, rf_data_generate(&context, &data, spec));
    assert_ok(&context, rf_study_split(&context, &split, &data));
    assert_int_equal(split.count, K);
    for (rf_index k = 0; k < K; k++) {
      const RfDataset *part = rf_study_split_data(&split, k);
      assert_ptr_equal(part->X, data.X);
      assert_int_equal(part->n, data.n);
      assert_int_equal(part->d, data.d);
      assert_string_equal(rf_study_split_name(&split, k), data.class_names[k]);
      for (rf_index i = 0; i < data.n; i++) assert_true(part->y[i] == (data.class_of[i] == k ? 1 : -1));
    }
    rf_study_split_free(&split);
    rf_study_split_free(&split); /* of a zeroed struct, too */
    assert_true(isfinite(data.X[0]));
    rf_dataset_free(&data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_classes_are_one_question),
                                     cmocka_unit_test(each_class_against_the_rest)};
  return cmocka_run_group_tests_name("study/split", tests, NULL, NULL);
}

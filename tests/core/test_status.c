/* The worse of two outcomes: the same both ways, the same in any order of several, never better than either.
 */
#include "core/core.h"
#include "rf_test.h"

static const RfStatus all[] = {RF_OK,          RF_NOT_SEPARABLE, RF_BRANCHED,   RF_UNDECIDED, RF_LIMIT,
                               RF_INTERRUPTED, RF_INFEASIBLE,    RF_ERR_MEMORY, RF_ERR_USAGE, RF_ERR_IO};
enum { COUNT = sizeof all / sizeof *all };

static void worse_is_an_order(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(rf_status_worse(all[i], all[i]), all[i]);
    assert_int_equal(rf_status_worse(all[i], RF_OK), all[i]);
    for (int j = 0; j < COUNT; j++) {
      RfStatus worse = rf_status_worse(all[i], all[j]);
      assert_true(worse == all[i] || worse == all[j]);
      if (all[i] < 0 && all[j] < 0) continue; /* of two failures the first is told */
      assert_int_equal(worse, rf_status_worse(all[j], all[i]));
      for (int k = 0; k < COUNT; k++) {
        if ((all[i] < 0) + (all[j] < 0) + (all[k] < 0) > 1) continue;
        assert_int_equal(rf_status_worse(worse, all[k]),
                         rf_status_worse(all[i], rf_status_worse(all[j], all[k])));
      }
    }
  }
  assert_int_equal(rf_status_worse(RF_ERR_IO, RF_ERR_MEMORY), RF_ERR_IO);
}

static void failures_and_interruptions_win(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    if (all[i] >= 0) assert_int_equal(rf_status_worse(all[i], RF_ERR_USAGE), RF_ERR_USAGE);
    if (all[i] >= 0) assert_int_equal(rf_status_worse(all[i], RF_INTERRUPTED), RF_INTERRUPTED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(worse_is_an_order),
                                     cmocka_unit_test(failures_and_interruptions_win)};
  return cmocka_run_group_tests_name("core/status", tests, NULL, NULL);
}

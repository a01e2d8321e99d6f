/* Random small problems of every kind (random_problem.h): each ends in a status, in time; what is called
 * converged passes a KKT projection and an escape test made outside the flow; nothing is NaN; few are
 * undecided. RF_TEST_MULT=100 runs ten thousand; RF_ANY_FIRST=K
 * starts at problem K, RF_ANY_VERBOSE=1 prints every one, RF_ANY_PRINT=1 the first in full. */
#include "rf_test.h"
#include "random_problem.h"

/* The problems of hard_problems() belong to seed 77; RF_ANY_SEED changes the others. */
enum { SEED = 77 };

static void print_tally(const char *name, const RandomTally tally[2]) {
  for (int frozen = 0; frozen < 2; frozen++) {
    if (tally[frozen].count == 0) continue;
    print_message("%s, %s: %d problems:", name, frozen ? "second layer frozen" : "both layers",
                  (int)tally[frozen].count);
    for (int k = 0; k < 4; k++)
      print_message(" %s %d", rf_flow_outcome_name((RfFlowOutcome)k), (int)tally[frozen].outcomes[k]);
    print_message("; failures %d, without an end %d, wrong %d; residual %.1e; slowest %.2f s\n",
                  (int)tally[frozen].failures, (int)tally[frozen].late, (int)tally[frozen].wrong,
                  tally[frozen].residual, tally[frozen].slowest);
  }
}

static void any_problem(void **state) {
  (void)state;
  RandomTally tally[2] = {{0}};
  RfFlowOutcome outcome;
  const char *first = getenv("RF_ANY_FIRST");
  rf_index begin = first ? atoll(first) : 0, count = rf_test_iterations(100);
  uint64_t seed = getenv("RF_ANY_SEED") ? strtoull(getenv("RF_ANY_SEED"), NULL, 10) : SEED;
  if (getenv("RF_ANY_PRINT")) {
    RfContext context;
    RandomProblem p;
    rf_context_init(&context);
    assert_ok(&context, random_problem_new(&context, &p, seed, begin, true));
    random_problem_print(&p, begin);
    random_problem_free(&p);
  }
  for (rf_index k = begin; k < begin + count; k++)
    random_problem_run(tally, &outcome, seed, k, true, 20, getenv("RF_ANY_VERBOSE") != NULL);
  print_tally("random", tally);
  for (int frozen = 0; frozen < 2; frozen++) {
    assert_int_equal(tally[frozen].wrong, 0);
    assert_true((double)tally[frozen].outcomes[RF_FLOW_UNDECIDED] <= 0.01 * (double)tally[frozen].count + 2);
  }
}

/* Problems that were undecided or slow once; the names say how. */
static void hard_problems(void **state) {
  (void)state;
  static const rf_index no_step[] = {20032, 20664, 20769, 21060, 21304, 22484, 22491, 5379,
                                     5447,  972,   1327,  1410,  1455,  1485,  1946,  2504},
                        two_runs[] = {20157, 20491, 21097, 21150, 21708, 21740, 21887, 5206, 5401, 244, 2100},
                        no_kkt[] = {20010, 22223}, accumulate[] = {21789, 22448},
                        frozen[] = {30,  54,  79,  83,  86,  115,  116,  128,
                                    177, 184, 829, 855, 895, 1062, 1161, 1612},
                        linear[] = {463, 1468}, slow[] = {30516, 40177, 22310},
                        slow_frozen[] = {30038, 30047, 40016, 40023, 40296, 40319};
  const struct {
    const char *name;
    const rf_index *list;
    size_t count;
  } kinds[] = {{"no step", no_step, sizeof no_step / sizeof *no_step},
               {"two runs", two_runs, sizeof two_runs / sizeof *two_runs},
               {"no KKT point", no_kkt, sizeof no_kkt / sizeof *no_kkt},
               {"events", accumulate, sizeof accumulate / sizeof *accumulate},
               {"frozen", frozen, sizeof frozen / sizeof *frozen},
               {"linear", linear, sizeof linear / sizeof *linear},
               {"slow", slow, sizeof slow / sizeof *slow},
               {"slow, frozen", slow_frozen, sizeof slow_frozen / sizeof *slow_frozen}};
  if (getenv("RF_ANY_FIRST")) return;
  for (int k = 0; k < (rf_test_iterations(1) >= 10 ? 8 : 6); k++) { /* the slow ones in long runs only */
    RandomTally tally[2] = {{0}};
    RfFlowOutcome outcome;
    for (size_t j = 0; j < kinds[k].count; j++) {
      random_problem_run(tally, &outcome, SEED, kinds[k].list[j], true, 20, false);
      bool solved = kinds[k].list == frozen || kinds[k].list == linear || kinds[k].list[j] < 5000;
      if (solved && outcome == RF_FLOW_UNDECIDED)
        fail_msg("%s: problem %d is undecided again", kinds[k].name, (int)kinds[k].list[j]);
    }
    print_tally(kinds[k].name, tally);
    assert_int_equal(tally[0].wrong + tally[1].wrong, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_problem), cmocka_unit_test(hard_problems)};
  return cmocka_run_group_tests_name("flow/any_problem", tests, NULL, NULL);
}

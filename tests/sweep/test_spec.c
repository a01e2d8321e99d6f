/* Lists and ranges, and the cells they make. */
#include "sweep_test.h"

#include <math.h>

static void expands(const char *text, bool commas, const char *expected) {
  RfContext context;
  SweepTexts out = {0};
  RfText joined = {0};
  rf_context_init(&context);
  assert_int_equal(sweep_expand(&context, &out, "--x", text, commas, true), RF_OK);
  for (rf_index k = 0; k < out.count; k++) rf_text_addf(&joined, "%s%s", k ? " " : "", out.items[k]);
  if (strcmp(rf_text_string(&joined), expected) != 0)
    fail_msg("%s: %s instead of %s", text, rf_text_string(&joined), expected);
  rf_text_free(&joined);
  sweep_texts_free(&out);
}

static void lists_and_ranges(void **state) {
  (void)state;
  expands("5", true, "5");
  expands("1e-2,1e-4,limit", true, "1e-2 1e-4 limit");
  expands("0,1", false, "0,1");
  expands("{0\\,1,0\\,2}", false, "0,1 0,2");
  expands("0..3", true, "0 1 2 3");
  expands("3..3", true, "3");
  expands("5..20..5", true, "5 10 15 20");
  expands("5..19..5", true, "5 10 15");
  expands("10..4..-3", true, "10 7 4");
  expands("-2..2", true, "-2 -1 0 1 2");
  expands("0..1..0.25", true, "0 0.25 0.5 0.75 1");
  expands("0..1..0.1", true, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
  expands("log(1e-6..1e-2..3)", true, "1e-6 0.0001 1e-2");
  expands("log(1..8..4),limit", true, "1 2 4 8 limit");
  expands("0..2,{7,9}", true, "0 1 2 7 9");
  expands("{0..2,7}", true, "0 1 2 7");
  expands("time={1,10}", true, "time=1 time=10");
  expands("a{1,2}b{x,y}", true, "a1bx a1by a2bx a2by");
  expands("{a{1,2},b}", true, "a1 a2 b");
  expands("f(1,2),3", true, "f(1,2) 3");
  expands("8999999999999997..8999999999999999", true, "8999999999999997 8999999999999998 8999999999999999");
}

/* The ends are the texts given, and neighbours differ by one ratio. */
static void ratios_are_equal(void **state) {
  (void)state;
  RfContext context;
  SweepTexts out = {0};
  rf_context_init(&context);
  assert_int_equal(sweep_expand(&context, &out, "--x", "log(0.3..70..11)", true, true), RF_OK);
  assert_int_equal(out.count, 11);
  double ratio = pow(70 / 0.3, 0.1);
  for (rf_index k = 0; k + 1 < out.count; k++)
    assert_true(fabs(strtod(out.items[k + 1], NULL) / strtod(out.items[k], NULL) / ratio - 1) < 1e-10);
  sweep_texts_free(&out);
}

static void paths_are_no_ranges(void **state) {
  (void)state;
  RfContext context;
  SweepTexts out = {0};
  rf_context_init(&context);
  assert_int_equal(sweep_expand(&context, &out, "", "../nets/{a,b}.npz", false, false), RF_OK);
  assert_int_equal(out.count, 2);
  assert_string_equal(out.items[1], "../nets/b.npz");
  sweep_texts_free(&out);
}

static void plan_is(const char *const *words, int count, const char *zip, const char *where,
                    const char *const *lines, rf_index n_lines) {
  RfContext context;
  SweepPlan plan;
  rf_context_init(&context);
  RfStatus status = sweep_plan_new(&context, &plan, &toy, count, (char **)words, zip, where);
  if (status) fail_msg("%s", context.error);
  assert_int_equal(plan.n_cells, n_lines);
  for (rf_index cell = 0; cell < n_lines; cell++) {
    RfText line = {0};
    sweep_plan_line(&line, &plan, cell);
    assert_string_equal(rf_text_string(&line), lines[cell]);
    rf_text_free(&line);
  }
  sweep_plan_free(&plan);
}

static void products(void **state) {
  (void)state;
  const char *words[] = {"gen:orthant,n={5,6},d=2", "--scale", "1e-2,limit", "--audit"};
  const char *lines[] = {
      "flow gen:orthant,n=5,d=2 --scale=1e-2 --audit", "flow gen:orthant,n=5,d=2 --scale=limit --audit",
      "flow gen:orthant,n=6,d=2 --scale=1e-2 --audit", "flow gen:orthant,n=6,d=2 --scale=limit --audit"};
  plan_is(words, 4, NULL, NULL, lines, 4);
  const char *some[] = {lines[1], lines[2], lines[3]};
  plan_is(words, 4, NULL, "scale = 'limit' or n > 5", some, 3);
  const char *one[] = {lines[1]};
  plan_is(words, 4, NULL, "scale = 'limit' and n * 2 = 10 and d < n", one, 1);
}

static void zips(void **state) {
  (void)state;
  const char *words[] = {"--width=4,5", "a.csv", "--seed=0..1", "--scale", "1,2"};
  const char *lines[] = {"flow a.csv --width=4 --seed=0 --scale=1", "flow a.csv --width=4 --seed=1 --scale=1",
                         "flow a.csv --width=5 --seed=0 --scale=2",
                         "flow a.csv --width=5 --seed=1 --scale=2"};
  plan_is(words, 5, "scale,width", NULL, lines, 4);
  const char *diagonal[] = {lines[0], lines[3]};
  plan_is(words, 5, "seed,width,scale", NULL, diagonal, 2);
}

/* What a shell makes of braces that were not quoted; ranges without braces stay as they are. */
static void words_that_a_shell_expanded(void **state) {
  (void)state;
  const SweepCommand one = {.name = "flow",
                            .table = "flow",
                            .arguments = "data",
                            .kind_of = toy_kind,
                            .check = toy_check,
                            .run = toy_run};
  char *words[] = {"gen:orthant,n=5,d=2,s=0..1", "gen:orthant,n=6,d=2,s=0..1", "gen:orthant,n=8,d=2,s=0..1",
                   "--width", "1,2,3"};
  RfContext context;
  SweepPlan plan;
  rf_context_init(&context);
  assert_int_equal(sweep_plan_new(&context, &plan, &one, 5, words, NULL, NULL), RF_OK);
  assert_int_equal(plan.n_cells, 18);
  assert_string_equal(plan.axes[1].name, "n");
  assert_string_equal(sweep_plan_value(&plan, 17, 1), "8");
  assert_int_equal(plan.axes[1].type, SWEEP_INTEGER);
  sweep_plan_free(&plan);
  assert_int_equal(sweep_plan_new(&context, &plan, &one, 5, words, "n,width", NULL), RF_OK);
  assert_int_equal(plan.n_cells, 6);
  assert_string_equal(sweep_plan_value(&plan, 5, 1), "8");
  assert_string_equal(sweep_plan_value(&plan, 5, 4), "3");
  sweep_plan_free(&plan);
  char *pairs[] = {"gen:orthant,n=5,d=2", "gen:orthant,n=5,d=3", "gen:orthant,n=6,d=2",
                   "gen:orthant,n=6,d=3"};
  assert_int_equal(sweep_plan_new(&context, &plan, &one, 4, pairs, NULL, "n + d <> 8"), RF_OK);
  assert_int_equal(plan.n_cells, 2);
  assert_string_equal(sweep_plan_value(&plan, 1, 2), "3");
  assert_string_equal(sweep_plan_value(&plan, 1, 1), "6");
  sweep_plan_free(&plan);
  char *mixed[] = {"gen:orthant,n=5", "a.csv"};
  assert_int_equal(sweep_plan_new(&context, &plan, &one, 2, mixed, NULL, NULL), RF_ERR_USAGE);
}

/* The work that is handed out first is the work that takes longest. */
static void costly_cells_first(void **state) {
  (void)state;
  RfContext context;
  SweepPlan plan;
  char *words[] = {"gen:orthant,n={5,50},d=2", "--width", "4,9", "--seed=0..1"};
  rf_index cells[8] = {0, 1, 2, 3, 4, 5, 6, 7}, expected[8] = {6, 7, 4, 5, 2, 3, 0, 1};
  rf_context_init(&context);
  assert_int_equal(sweep_plan_new(&context, &plan, &toy, 4, words, NULL, NULL), RF_OK);
  assert_int_equal(sweep_plan_order(&context, &plan, cells, 8), RF_OK);
  assert_memory_equal(cells, expected, sizeof cells);
  sweep_plan_free(&plan);
}

static void digests_leave_times_out(void **state) {
  (void)state;
  RfContext context;
  char a[72], b[72], c[72], empty[72];
  const char one[] = "{\"b\": 1.5, \"a\": [{\"seconds\": 1}], \"seconds\": 3}";
  const char two[] = "{\n\"b\":1.5,\"a\":[ {\"seconds\": 2}], \"run\": {\"started\": [7, {}]} }\n";
  const char three[] = "{\"b\": 1.5000000000000002, \"a\": [{\"seconds\": 2}]}";
  rf_context_init(&context);
  assert_int_equal(sweep_digest(&context, a, one, strlen(one)), RF_OK);
  assert_int_equal(sweep_digest(&context, b, two, strlen(two)), RF_OK);
  assert_int_equal(sweep_digest(&context, c, three, strlen(three)), RF_OK);
  assert_string_equal(a, b);
  assert_string_not_equal(a, c);
  static const char *const broken[] = {"", "{", "{\"a\"}", "{\"a\": }", "[1,", "{\"a\": 1,}", "{} x", "{\"a"};
  for (size_t k = 0; k < sizeof broken / sizeof broken[0]; k++)
    assert_int_equal(sweep_digest(&context, empty, broken[k], strlen(broken[k])), RF_ERR_INTERNAL);
  /* SHA-256 of the two bytes {} */
  assert_int_equal(sweep_digest(&context, empty, "{ }", 3), RF_OK);
  assert_string_equal(empty, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_and_ranges),
      cmocka_unit_test(ratios_are_equal),
      cmocka_unit_test(paths_are_no_ranges),
      cmocka_unit_test(products),
      cmocka_unit_test(zips),
      cmocka_unit_test(words_that_a_shell_expanded),
      cmocka_unit_test(costly_cells_first),
      cmocka_unit_test(digests_leave_times_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

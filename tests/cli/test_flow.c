/* `reluflow flow` through the program: reference cases by file, exit statuses, every scale, several classes,
 * partial results, checkpoints. */
#include "rf_test.h"

#include <jansson.h>
#include <libgen.h>
#include <unistd.h>

static char program[1024], folder[] = "/tmp/rf_flow_XXXXXX", data[64], model[64], state[64];

static int set_up(void **unused) {
  (void)unused;
  char self[900];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0 || !mkdtemp(folder)) return 1;
  self[length] = '\0';
  snprintf(program, sizeof program, "%s/reluflow", dirname(self));
  snprintf(data, sizeof data, "%s/data.csv", folder);
  snprintf(model, sizeof model, "%s/model.json", folder);
  snprintf(state, sizeof state, "%s/state", folder);
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  unlink(data), unlink(model), unlink(state);
  return rmdir(folder);
}

/* Runs flow; *status is the exit status, the result the object or NULL. */
static json_t *flow(const char *arguments, int *status) {
  char command[2400];
  snprintf(command, sizeof command, "'%s' flow %s --json 2>/dev/null", program, arguments);
  FILE *pipe = popen(command, "r");
  json_error_t error;
  json_t *root = json_loadf(pipe, 0, &error);
  *status = pclose(pipe) >> 8;
  return root;
}

static json_t *expect(int want, const char *arguments) {
  int status;
  json_t *root = flow(arguments, &status);
  if (status != want || (want != 2 && !root)) fail_msg("flow %s: exit %d, not %d", arguments, status, want);
  return root;
}

static json_t *at(json_t *root, const char *first, const char *second) {
  json_t *inner = json_object_get(root, first);
  return second ? json_object_get(inner, second) : inner;
}

static json_t *load_case(const char *name) {
  char path[4096];
  json_error_t error;
  snprintf(path, sizeof path, "%s/flow/%s.json", rf_test_golden(), name);
  json_t *root = json_load_file(path, 0, &error), *input = json_object_get(root, "input");
  if (!root) fail_msg("%s: %s", path, error.text);
  FILE *out = fopen(data, "w");
  json_t *X = json_object_get(input, "X"), *row, *value;
  size_t i, j;
  json_array_foreach(X, i, row) {
    json_array_foreach(row, j, value) fprintf(out, "%.17g,", json_number_value(value));
    fprintf(out, "%g\n", json_number_value(json_array_get(json_object_get(input, "y"), i)));
  }
  fclose(out);
  json_t *net = json_pack("{sOsOsO}", "W", json_object_get(input, "W0"), "a", json_object_get(input, "a0"),
                          "leak", json_object_get(input, "alpha"));
  json_dump_file(net, model, JSON_REAL_PRECISION(17));
  json_decref(net);
  return root;
}

static void reference_case(const char *name) {
  json_t *want = load_case(name), *input = json_object_get(want, "input"),
         *limit = json_object_get(want, "limit");
  char arguments[512];
  snprintf(arguments, sizeof arguments, "%s --weights %s --scale %.17g --loss %s", data, model,
           json_number_value(json_object_get(input, "eps")),
           json_string_value(json_object_get(input, "loss")));
  json_t *got = expect(0, arguments);
  assert_string_equal(json_string_value(at(got, "limit", "status")), "converged");
  assert_relative(json_number_value(at(got, "limit", "margin")),
                  json_number_value(json_object_get(limit, "normalised_margin")), 1e-10);
  json_t *theta = json_object_get(limit, "theta_bar"), *W = at(got, "limit", "W"), *a = at(got, "limit", "a"),
         *row;
  size_t k;
  json_array_foreach(theta, k, row) {
    size_t d = json_array_size(row) - 1;
    assert_close(json_number_value(json_array_get(a, k)), json_number_value(json_array_get(row, d)), 1e-6);
    for (size_t j = 0; j < d; j++)
      assert_close(json_number_value(json_array_get(json_array_get(W, k), j)),
                   json_number_value(json_array_get(row, j)), 1e-6);
  }
  json_t *alignment = json_object_get(want, "alignment_eps0"),
         *crossings = json_object_get(alignment, "crossings");
  json_t *neurons = at(got, "alignment", "neurons"), *list;
  json_array_foreach(crossings, k, list) {
    json_t *mine = json_object_get(json_array_get(neurons, k), "crossings");
    assert_int_equal(json_array_size(mine), json_array_size(list));
    for (size_t e = 0; e < json_array_size(list); e++)
      assert_relative(json_number_value(json_object_get(json_array_get(mine, e), "t")),
                      json_number_value(json_array_get(json_array_get(list, e), 0)), 1e-9);
  }
  json_decref(got), json_decref(want);
}

static void reference_cases(void **unused) {
  (void)unused;
  const char *names[] = {"orthsep_d2", "vardi32_leaky", "xor_d2", "symmetric_d3_unbal", "gauss_d3_leaky"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) reference_case(names[k]);
}

/* A start on a ridge: stop, follow, all. */
static void branches(void **unused) {
  (void)unused;
  json_t *want = load_case("ridge_branch_d2"), *got;
  char arguments[512];
  snprintf(arguments, sizeof arguments, "%s --weights %s --scale 1e-6", data, model);
  got = expect(1, arguments);
  assert_string_equal(json_string_value(at(got, "limit", "status")), "branched");
  assert_true(json_is_true(json_object_get(got, "branched")));
  assert_true(json_is_true(at(got, "alignment", "branched")));
  json_t *branch = json_array_get(at(got, "alignment", "branches"), 0);
  assert_int_equal(json_array_size(json_object_get(branch, "sectors")), 2);
  json_decref(got);
  snprintf(arguments, sizeof arguments, "%s --weights %s --scale 1e-6 --branches follow", data, model);
  got = expect(0, arguments);
  assert_true(json_is_true(json_object_get(got, "branched")));
  json_decref(got);
  snprintf(arguments, sizeof arguments, "%s --weights %s --scale 1e-6 --branches all", data, model);
  got = expect(0, arguments);
  json_t *continuations = json_object_get(got, "continuations");
  assert_int_equal(json_array_size(continuations), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(continuations, 0), "choice")),
                      "neuron 0: ++");
  assert_string_equal(json_string_value(json_object_get(json_array_get(continuations, 1), "choice")),
                      "neuron 0: -+");
  assert_string_equal(json_string_value(at(json_array_get(continuations, 1), "limit", "status")),
                      "not-separated");
  /* the flow itself is the first of them, not a run of its own */
  assert_true(json_is_true(json_object_get(got, "branched")));
  assert_true(json_equal(json_object_get(got, "events"),
                         json_object_get(json_array_get(continuations, 0), "events")));
  assert_true(json_equal(json_object_get(got, "monitors"),
                         json_object_get(json_array_get(continuations, 0), "monitors")));
  json_decref(got), json_decref(want);
}

/* The limit does not depend on the scale on orthogonally separable data. */
static void scales(void **unused) {
  (void)unused;
  const char *scale[] = {"--scale 1e-3", "--scale 1e-6", "--scale 1e-300", "--log-scale -1e5",
                         "--scale limit"};
  double best = 0.50685096540490;
  for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, "gen:DS-PL2 --width 8 --seed 3 %s", scale[k]);
    json_t *got = expect(0, arguments);
    assert_relative(json_number_value(at(got, "limit", "margin")), best, 1e-10);
    assert_string_equal(json_string_value(at(got, "verdict", "global")), "optimum");
    assert_true(json_is_true(at(got, "verdict", "kkt")));
    if (k == 4) {
      json_t *event = json_array_get(json_object_get(got, "events"), 0);
      assert_true(json_is_null(at(got, "phases", "t_fit")));
      assert_true(json_is_null(json_object_get(event, "log_t")) || !event);
    } else {
      assert_true(json_is_number(at(got, "phases", "t_fit")));
    }
    json_decref(got);
  }
}

static void statuses(void **unused) {
  (void)unused;
  json_decref(expect(1, "gen:xor --width 1"));
  const char *bad[] = {"",
                       "gen:nonsense",
                       "gen:DS-PL2 --scale 0",
                       "gen:DS-PL2 --scale -1",
                       "gen:DS-PL2 --scale x",
                       "gen:DS-PL2 --scale nan",
                       "gen:DS-PL2 --scale 1e-6 --log-scale -3",
                       "gen:DS-PL2 --width 0",
                       "gen:DS-PL2 --leak 1.5",
                       "gen:DS-PL2 --leak -0.1",
                       "gen:DS-PL2 --loss square",
                       "gen:DS-PL2 --init mystery",
                       "gen:DS-PL2 --until loss=-1",
                       "gen:DS-PL2 --until someday",
                       "gen:DS-PL2 --until time=1x",
                       "gen:DS-PL2 --weights /nonexistent.json",
                       "gen:DS-PL2 --resume /nonexistent",
                       "gen:DS-PL2 --branches maybe",
                       "gen:DS-PL2 --freeze first"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) json_decref(expect(2, bad[k]));
  json_t *want = load_case("vardi32_leaky");
  char arguments[512];
  snprintf(arguments, sizeof arguments, "%s --weights %s --leak 0.2", data, model); /* the file says 0.1 */
  json_decref(expect(2, arguments));
  snprintf(arguments, sizeof arguments, "gen:orthant,d=3,n=6 --weights %s", model); /* dimension 2 */
  json_decref(expect(2, arguments));
  json_decref(want);
}

static void until_and_classes(void **unused) {
  (void)unused;
  json_t *got = expect(0, "gen:DS-PL2 --width 4 --until time=3");
  assert_string_equal(json_string_value(at(got, "limit", "status")), "stopped");
  assert_close(exp(json_number_value(at(got, "end", "log_t"))), 3, 1e-9);
  json_decref(got);
  got = expect(0, "gen:DS-PL2 --width 4 --until loss=0.01 --norm mean");
  assert_close(json_number_value(at(got, "end", "log_loss")), log(0.01), 1e-6);
  json_decref(got);
  got = expect(0, "gen:multiclass-orthant,K=3 --width 20 --seed 1");
  json_t *classes = json_object_get(got, "per_class"), *one;
  size_t k;
  assert_int_equal(json_array_size(classes), 3);
  json_array_foreach(classes, k, one) {
    assert_string_equal(json_string_value(at(one, "limit", "status")), "converged");
    assert_true(json_is_string(json_object_get(one, "positive_class")));
  }
  json_decref(got);
}

/* Stopped at once: marked, whole, exit 130. */
static void interrupted(void **unused) {
  (void)unused;
  json_t *got = expect(130, "gen:orthant,n=60,d=8 --width 30 --time 0");
  assert_string_equal(json_string_value(at(got, "limit", "status")), "interrupted");
  json_decref(got);
}

/* Stopped in the middle and resumed: the same object as in one go. A file for another run, or cut short, is
 * refused. */
static void resumed(void **unused) {
  (void)unused;
  const char *problem = "gen:gaussian,n=30,d=4 --width 20 --scale 1e-3 --verdict 0";
  char arguments[512];
  int status, stops = 0;
  json_t *whole = flow(problem, &status);
  int want = status;
  assert_non_null(whole);
  json_object_del(whole, "run");
  json_object_del(whole, "audit");
  for (int k = 0; k < 3; k++) {
    snprintf(arguments, sizeof arguments, "%s --checkpoint %s --time %g", problem, state,
             0.01 * (1 << 2 * k));
    json_decref(flow(arguments, &status));
    if (status != 130) continue;
    stops++;
    snprintf(arguments, sizeof arguments, "%s --resume %s", problem, state);
    json_t *again = expect(want, arguments);
    json_object_del(again, "run"); /* other words, another time */
    assert_true(json_is_true(json_object_get(json_object_get(again, "audit"), "passed")));
    json_object_del(again, "audit"); /* it reads the part that was run */
    assert_true(json_equal(whole, again));
    json_decref(again);
  }
  json_decref(whole);
  if (stops == 0) {
    print_message("the machine was too fast to stop the run\n");
    return;
  }
  snprintf(arguments, sizeof arguments, "gen:gaussian,n=30,d=4 --width 21 --resume %s", state);
  json_decref(expect(2, arguments));
  assert_int_equal(truncate(state, 1000), 0);
  snprintf(arguments, sizeof arguments, "%s --resume %s", problem, state);
  json_decref(expect(2, arguments));
}

/* Twelve neurons cross a ridge one after the other at ln t = 3817 (an integrator in plain weights says so,
 * too); at 1e-8 and coarser seven of them are lost, whatever else is chosen: 1.6e-6 was told for 0.47. */
static void coarse_tolerances(void **unused) {
  (void)unused;
  int status;
  json_t *coarse = flow("gen:hinted --width 50 --leak 0 --tol 1e-8 --verdict 0", &status);
  assert_non_null(coarse);
  json_t *limit = json_object_get(coarse, "limit");
  const char *word = json_string_value(json_object_get(limit, "status"));
  double error = json_number_value(json_object_get(limit, "direction_error"));
  double disagreed = json_number_value(json_object_get(json_object_get(limit, "compared"), "disagreed"));
  json_t *groups = json_object_get(limit, "groups"),
         *first = json_object_get(json_array_get(groups, 0), "members");
  bool lost = json_array_size(first) == 7; /* of fourteen */
  assert_true(!lost || (strcmp(word, "converged") && error > 0.1 && disagreed > 0.1));
  json_decref(coarse);
}

/* Seed 0: a slope left its range inside a step and was back at its end, while another ended a slide: both
 * were let go, 2.8e-5 too early. Seed 9: units that nothing pushes (1e-150 of the others) were audited as if.
 */
static void slides_end_in_order(void **unused) {
  (void)unused;
  const char *cases[] = {"gen:gaussian,n=20,d=5,seed=0", "gen:gaussian,n=20,d=5,seed=9"};
  for (int j = 0; j < 2; j++) {
    char words[200];
    int status;
    snprintf(words, sizeof words, "%s --width 50 --verdict 0 --once --trace 0", cases[j]);
    json_t *root = flow(words, &status);
    assert_non_null(root);
    json_t *audit = json_object_get(root, "audit");
    assert_true(json_is_true(json_object_get(audit, "passed")));
    assert_true(json_number_value(json_object_get(audit, "events")) < 1e-9);
    json_decref(root);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_cases),
      cmocka_unit_test(branches),
      cmocka_unit_test(scales),
      cmocka_unit_test(statuses),
      cmocka_unit_test(until_and_classes),
      cmocka_unit_test(interrupted),
      cmocka_unit_test(resumed),
      cmocka_unit_test(coarse_tolerances),
      cmocka_unit_test(slides_end_in_order),
  };
  return cmocka_run_group_tests_name("cli/flow", tests, set_up, tear_down);
}

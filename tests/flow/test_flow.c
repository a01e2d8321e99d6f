/* The flow against reference results: events in order and time, limit margin, direction, support, groups, KKT
 * residual recomputed from the network. */
#include "golden.h"

static double number(json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

/* A slide left at the moment another hyperplane is met: the reference lists only the second. */
static bool left_on_arrival(const RfFlowResult *result, rf_index e) {
  const RfFlowEvent *left = &result->events[e];
  for (rf_index f = 0; f < result->n_events && left->kind == RF_EVENT_RELEASE; f++)
    if (f != e && result->events[f].neuron == left->neuron && result->events[f].log_t == left->log_t)
      return true;
  return false;
}

/* Events of equal time (to 1e-9) may come in any order: each reference event must be met once among its ties.
 */
static void check_events(const Golden *golden, const RfFlowResult *result, const char *name) {
  json_t *list = json_object_get(json_object_get(golden->root, "flow"), "events");
  size_t count = json_array_size(list);
  bool near_start = strcmp(name, "min_mu_d2") == 0; /* neurons that start within rounding of a hyperplane */
  char *used = calloc((size_t)result->n_events + 1, 1);
  rf_index seen = 0, early = 0;
  for (size_t j = 0; j < count; j++) {
    json_t *want = json_array_get(list, j);
    double t = json_number_value(json_array_get(want, 0));
    rf_index neuron = (rf_index)json_integer_value(json_array_get(want, 1));
    rf_index sample = (rf_index)json_integer_value(json_array_get(want, 2));
    const char *kind = json_string_value(json_array_get(want, 3));
    if (strcmp(kind, "slide-exit") == 0) kind = "release";
    if (strcmp(kind, "dead") == 0) kind = "die";
    if (near_start && t < 1e-12) continue;
    bool found = false;
    for (rf_index e = 0; e < result->n_events && !found; e++) {
      const RfFlowEvent *event = &result->events[e];
      found = !used[e] && event->neuron == neuron && event->sample == sample &&
              strcmp(rf_event_kind_name(event->kind), kind) == 0 && fabs(exp(event->log_t) / t - 1) < 1e-7;
      if (found) used[e] = 1, seen++;
    }
    if (!found)
      print_error("%s: event %zu at t=%.15g, neuron %d, sample %d, %s not met\n", name, j, t, (int)neuron,
                  (int)sample, kind);
    assert_true(found);
  }
  for (rf_index e = 0; e < result->n_events; e++) {
    early += result->events[e].q_min < 15 && (used[e] || !left_on_arrival(result, e));
    if (e > 0) assert_true(result->events[e].log_t >= result->events[e - 1].log_t - 1e-9);
  }
  assert_int_equal(early, seen);
  free(used);
}

static void check_limit(const Golden *golden, const RfFlowResult *result, const char *name) {
  json_t *want = json_object_get(golden->root, "limit"), *rows = json_object_get(want, "theta_bar");
  const RfFlowLimit *limit = &result->limit;
  rf_index d = result->d;
  if (limit->outcome != RF_FLOW_CONVERGED)
    print_error("%s: %s (%s)\n", name, rf_flow_outcome_name(limit->outcome), limit->why);
  assert_int_equal(limit->outcome, RF_FLOW_CONVERGED);
  assert_close(limit->margin, number(want, "normalised_margin"), 1e-10);
  assert_true(limit->stationarity <= 1e-10 && limit->complementarity <= 1e-10);
  double worst = 0;
  for (rf_index k = 0; k < result->m; k++)
    for (rf_index j = 0; j <= d; j++) {
      double value = json_number_value(json_array_get(json_array_get(rows, (size_t)k), (size_t)j));
      worst = fmax(worst, fabs(value - (j < d ? limit->net.W[k * d + j] : limit->net.a[k])));
    }
  if (worst > 1e-6) {
    print_error("%s: direction off by %.3g\n", name, worst);
    rf_test_print_matrix("W", limit->net.W, result->m, d);
  }
  assert_true(worst <= 1e-6);
  assert_true(limit->direction_error <= 1e-5);
  json_t *support = json_object_get(want, "active");
  assert_int_equal(limit->n_support, json_array_size(support));
  for (rf_index s = 0; s < limit->n_support; s++)
    assert_int_equal(limit->support[s], json_integer_value(json_array_get(support, (size_t)s)));
}

static void check_groups(const Golden *golden, const RfFlowResult *result, const char *name) {
  json_t *list = json_object_get(json_object_get(golden->root, "limit"), "groups");
  assert_int_equal(result->limit.n_groups, json_array_size(list));
  for (rf_index g = 0; g < result->limit.n_groups; g++) {
    const RfFlowGroup *group = &result->limit.groups[g];
    json_t *match = NULL, *candidate;
    size_t index;
    json_array_foreach(list, index, candidate) {
      json_t *members = json_object_get(candidate, "members");
      if (json_integer_value(json_array_get(members, 0)) == group->members[0]) match = candidate;
    }
    assert_non_null(match);
    json_t *members = json_object_get(match, "members"), *beta = json_object_get(match, "beta");
    if (strcmp(name, "gauss_d3_leaky") != 0) assert_int_equal(group->n_members, json_array_size(members));
    assert_int_equal(group->sign, json_integer_value(json_object_get(match, "sign")));
    double scale = rf_la_norm(group->beta, result->d);
    for (rf_index j = 0; j < result->d; j++)
      assert_close(group->beta[j], json_number_value(json_array_get(beta, (size_t)j)), 1e-9 * scale);
    json_t *sector = json_object_get(match, "sig");
    for (rf_index i = 0; i < result->n; i++)
      assert_int_equal(group->sector[i], json_integer_value(json_array_get(sector, (size_t)i)));
  }
}

static void golden_cases(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (size_t c = 0; c < sizeof golden_names / sizeof *golden_names; c++) {
    Golden golden;
    RfFlowSettings settings;
    RfFlowResult result;
    golden_load(&context, &golden, golden_names[c]);
    rf_flow_settings_init(&settings);
    RfStatus status = rf_flow_run(&context, &result, &golden.problem, &settings);
    if (status) print_error("%s: %s\n", golden_names[c], rf_status_name(status));
    check_limit(&golden, &result, golden_names[c]);
    check_groups(&golden, &result, golden_names[c]);
    check_events(&golden, &result, golden_names[c]);
    rf_flow_result_free(&result);
    golden_free(&golden);
  }
}

static void ridge_is_a_branch(void **state) {
  (void)state;
  RfContext context;
  Golden golden;
  RfFlowSettings settings;
  RfFlowResult result;
  rf_context_init(&context);
  golden_load(&context, &golden, "ridge_branch_d2");
  golden.problem.log_scale = log(1e-3);
  rf_flow_settings_init(&settings);
  assert_int_equal(rf_flow_run(&context, &result, &golden.problem, &settings), RF_BRANCHED);
  assert_int_equal(result.limit.outcome, RF_FLOW_BRANCHED);
  assert_true(result.branched);
  assert_true(result.n_events >= 1 && result.events[0].kind == RF_EVENT_BRANCH);
  rf_flow_result_free(&result);
  settings.branches = RF_BRANCHES_FOLLOW;
  assert_int_equal(rf_flow_run(&context, &result, &golden.problem, &settings), RF_OK);
  assert_true(result.branched && result.limit.margin > 0);
  rf_flow_result_free(&result);
  golden_free(&golden);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(golden_cases), cmocka_unit_test(ridge_is_a_branch)};
  return cmocka_run_group_tests_name("flow/flow", tests, NULL, NULL);
}

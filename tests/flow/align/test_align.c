/* Exact alignment against the reference results. */
#include "rf_test.h"

#include <jansson.h>

#include "rf_flow_case.h"

static void golden_case(const char *name, const rf_index *excluded, rf_index n_excluded) {
  RfContext context;
  rf_context_init(&context);
  RfFlowCase c;
  rf_flow_case_load(&c, name);
  json_t *want = json_object_get(c.root, "alignment_eps0");
  RfAlignment got;
  assert_ok(&context, rf_flow_align(&context, &got, &c.problem));
  assert_false(got.branched);
  double worst = 0;
  for (rf_index k = 0; k < c.start.m; k++) {
    const RfAlignNeuron *neuron = got.neurons + k;
    bool skip = false;
    for (rf_index e = 0; e < n_excluded; e++) skip = skip || excluded[e] == k;
    const char *destiny = json_string_value(json_array_get(json_object_get(want, "destiny"), (size_t)k));
    if (strncmp(destiny, "ext:", 4) == 0) destiny = "extremal";
    assert_string_equal(rf_destiny_name(neuron->destiny), destiny);
    json_t *sector = json_array_get(json_object_get(want, "sector"), (size_t)k);
    for (rf_index i = 0; i < neuron->n; i++)
      assert_int_equal(neuron->sector[i], json_integer_value(json_array_get(sector, (size_t)i)));
    assert_relative(neuron->G, json_number_value(json_array_get(json_object_get(want, "G"), (size_t)k)),
                    1e-13);
    json_t *log_b = json_array_get(json_object_get(want, "log_b"), (size_t)k);
    if (json_is_null(log_b))
      assert_true(isnan(neuron->log_amplitude));
    else
      assert_close(neuron->log_amplitude, json_number_value(log_b), 1e-11);
    if (skip) continue;
    json_t *crossings = json_array_get(json_object_get(want, "crossings"), (size_t)k);
    if (json_array_size(crossings) != (size_t)neuron->n_crossings)
      print_error("%s neuron %d: %d crossings, expected %d\n", name, (int)k, (int)neuron->n_crossings,
                  (int)json_array_size(crossings));
    assert_int_equal(json_array_size(crossings), neuron->n_crossings);
    for (rf_index e = 0; e < neuron->n_crossings; e++) {
      json_t *row = json_array_get(crossings, (size_t)e), *samples = json_array_get(row, 1);
      double t = json_number_value(json_array_get(row, 0));
      assert_relative(neuron->crossings[e].t, t, 1e-12);
      worst = fmax(worst, fabs(neuron->crossings[e].t - t) / t);
      assert_int_equal(neuron->crossings[e].n_samples, json_array_size(samples));
      for (rf_index i = 0; i < neuron->crossings[e].n_samples; i++)
        assert_int_equal(neuron->crossings[e].samples[i],
                         json_integer_value(json_array_get(samples, (size_t)i)));
      assert_int_equal(neuron->crossings[e].sliding, json_integer_value(json_array_get(row, 2)));
    }
    assert_close(neuron->t_last,
                 json_number_value(json_array_get(json_object_get(want, "t_last"), (size_t)k)), 1e-11);
  }
  assert_relative(got.t1, json_number_value(json_object_get(want, "t1")), 1e-12);
  print_message("%s: crossing times within %.1e\n", name, worst);
  rf_alignment_free(&got);
  rf_flow_case_free(&c);
}

static void golden(void **state) {
  (void)state;
  const char *names[] = {
      "gauss_d3_leaky", "hinted_d2",          "orthsep_d2",    "orthsep_d20",      "orthsep_d3_leaky",
      "symmetric_d2",   "symmetric_d3_unbal", "vardi32_leaky", "vardi32_logistic", "vardi_local",
      "xor_d2"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) golden_case(names[k], NULL, 0);
  const rf_index near_start[] = {1, 4, 6};
  golden_case("min_mu_d2", near_start, 3);
}

/* A start exactly on a ridge has two continuations; each leads to its own direction. */
static void golden_ridge(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfFlowCase c;
  rf_flow_case_load(&c, "ridge_branch_d2");
  json_t *want = json_object_get(c.root, "expected");
  RfAlignment got;
  assert_ok(&context, rf_flow_align(&context, &got, &c.problem));
  assert_true(got.branched);
  const RfAlignNeuron *first = got.neurons;
  assert_int_equal(first->n_options, 2);
  assert_true(first->options_complete);
  assert_close(first->t_branch, 0, 0);
  const char *sides[] = {"plus", "minus"};
  double weights[] = {0.5, 0.5};
  RfAlignField field = {.X = c.problem.X, .c = weights, .n = 2, .d = 2, .leak = 0};
  for (int o = 0; o < 2; o++) {
    json_t *side = json_object_get(want, sides[o]);
    RfAlignNeuron leaf;
    assert_ok(&context, rf_flow_align_neuron(&context, &leaf, &field, first->branch_direction,
                                             first->branch_log_norm, first->options + 2 * o, INFINITY));
    assert_false(leaf.branched);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(leaf.sector[i],
                       json_integer_value(json_array_get(json_object_get(side, "sig"), (size_t)i)));
      assert_close(leaf.velocity[i] / leaf.G,
                   json_number_value(json_array_get(json_object_get(side, "u"), (size_t)i)), 1e-15);
    }
    rf_align_neuron_free(&leaf);
  }
  rf_alignment_free(&got);
  rf_flow_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden),
      cmocka_unit_test(golden_ridge),
  };
  return cmocka_run_group_tests_name("flow/align/align", tests, NULL, NULL);
}

/* Alignment proved: random neurons agree with floating point, exact ties are branching points, and the cases
 * in which floating point was wrong. */
#include "rf_test.h"

#include "flow/align/prove_internal.h"
#include "random_neurons.h"

/* Every family; in general position every path is proved. */
static void random_paths(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (int family = 0; family < NEURON_FAMILIES; family++) {
    rf_index proved = 0, all = 0, exact = 0;
    for (rf_index number = 0; number < rf_test_iterations(12); number++) {
      RandomNeurons p;
      RfAlignment alignment;
      assert_ok(&context, random_neurons_new(&context, &p, family, 20, number));
      assert_ok(&context, rf_flow_align(&context, &alignment, &p.flow));
      assert_ok(&context, rf_align_prove(&context, &alignment, &p.flow));
      for (rf_index k = 0; k < alignment.m; k++) {
        const RfAlignNeuron *neuron = &alignment.neurons[k];
        const RfAlignProof *proof = &neuron->proof;
        all++, proved += proof->proved, exact += proof->bits == 0;
        if (!proof->proved) continue;
        if (!proof->agrees)
          fail_msg("%s, problem %lld, neuron %lld: %s, floating point %s", random_neurons_name(family),
                   (long long)number, (long long)k, rf_destiny_name(proof->destiny),
                   rf_destiny_name(neuron->destiny));
        if (family == NEURONS_GENERAL) assert_int_equal(proof->crossings, neuron->n_crossings);
        assert_true(neuron->G >= proof->G_lower * (1 - 1e-12) - 1e-9 &&
                    neuron->G <= proof->G_upper + fabs(proof->G_upper) * 1e-12 + 1e-9);
      }
      rf_alignment_free(&alignment);
      rf_flow_start_free(&p.start);
    }
    print_message("[          ] %s: %lld of %lld, %lld exactly\n", random_neurons_name(family),
                  (long long)proved, (long long)all, (long long)exact);
    assert_true(family == NEURONS_GENERAL ? proved == all : 100 * proved >= 98 * all);
  }
}

static RfAlignProof prove_one(const RfAlignField *field, const double *direction) {
  RfContext context;
  RfAlignProof proof = {0};
  RfAlignNeuron neuron;
  rf_context_init(&context);
  assert_ok(&context, rf_align_prove_neuron(&context, &proof, field, direction, 0));
  assert_true(proof.proved);
  assert_ok(&context, rf_flow_align_neuron(&context, &neuron, field, direction, 0, NULL, INFINITY));
  assert_int_equal(neuron.destiny, proof.destiny);
  assert_int_equal(neuron.branched, proof.branched);
  rf_align_neuron_free(&neuron);
  return proof;
}

/* A start exactly on a ridge between two ways, and one unit of rounding beside it. */
static void tie_is_a_branch(void **state) {
  (void)state;
  double X[] = {1, 1, 1, -1}, c[] = {1, 1}, on[] = {-0.5, 0.5, sqrt(0.5)};
  RfAlignField field = {.X = X, .c = c, .n = 2, .d = 2, .leak = 0.5};
  RfContext context;
  RfAlignProof proof = {0};
  rf_context_init(&context);
  X[2] = -2, X[3] = 1; /* the second sample holds it on the side of the first */
  c[1] = 2;
  assert_ok(&context, rf_align_prove_neuron(&context, &proof, &field, on, 0));
  assert_true(proof.proved);
  rf_free(proof.branch_samples);
  /* x and -x with equal weights: at w orthogonal to x both sides climb. */
  double mirrored[] = {1, 0, -1, 0, 0, 1}, equal[] = {1, 1, 1}, start[] = {0, 0.5, 0.5};
  field = (RfAlignField){.X = mirrored, .c = equal, .n = 3, .d = 2, .leak = 0};
  proof = prove_one(&field, start);
  assert_true(proof.branched);
  assert_int_equal(proof.n_options, 2);
  assert_int_equal(proof.n_branch, 2);
  assert_int_equal(proof.branch_samples[0] + proof.branch_samples[1], 1);
  rf_free(proof.branch_samples);
  start[0] = 0x1p-80; /* far below every tolerance of floating point, and decided all the same */
  proof = (RfAlignProof){0};
  assert_ok(&context, rf_align_prove_neuron(&context, &proof, &field, start, 0));
  assert_true(proof.proved && !proof.branched);
  rf_free(proof.branch_samples);
}

/* One input, a > |w|: the neuron passes w = 0, where all hyperplanes meet, and goes on on the other side.
 * Floating point once tried so many sides one by one that it gave up and called it stuck. */
static void through_the_origin(void **state) {
  (void)state;
  double X[40], c[40], start[] = {0.28, 0.96};
  for (int i = 0; i < 40; i++) X[i] = (i % 2 ? 1 : -1) * (1 + 0.1 * i), c[i] = i % 3 ? -1 : 1;
  double right = 0;
  for (int i = 0; i < 40; i++) right += c[i] * (X[i] > 0 ? 1 : 0.5) * X[i];
  double turn = right < 0 ? 1 : -1; /* so that it moves towards 0 */
  for (int i = 0; i < 40; i++) X[i] *= turn;
  RfAlignField field = {.X = X, .c = c, .n = 40, .d = 1, .leak = 0.5};
  RfAlignProof proof = prove_one(&field, start);
  assert_true(proof.destiny == RF_DESTINY_EXTREMAL || proof.destiny == RF_DESTINY_STUCK);
  rf_free(proof.branch_samples);
}

/* At leak 1 nothing is a kink: w = 0 moves. Floating point once left it there. */
static void linear_from_zero(void **state) {
  (void)state;
  double X[] = {3, 1, -1, 2}, c[] = {1, 1}, start[] = {0, 0, 1};
  RfAlignField field = {.X = X, .c = c, .n = 2, .d = 2, .leak = 1};
  RfAlignProof proof = prove_one(&field, start);
  assert_relative(proof.G_lower, sqrt(13), 1e-14);
  assert_true(proof.G_lower <= sqrt(13) * (1 + 1e-15) && proof.G_upper >= sqrt(13) * (1 - 1e-15));
}

/* a passes 0 once: w leaves the rationals by one square root, and ties behind it are still decided. */
static void behind_the_turn(void **state) {
  (void)state;
  double X[] = {1, 0, 0, 1, 1, 1}, c[] = {1, 1, -1}, start[] = {-0.75, -0.5, 0.125};
  RfAlignField field = {.X = X, .c = c, .n = 3, .d = 2, .leak = 0.25};
  for (int sign = -1; sign <= 1; sign += 2) {
    start[2] = 0.125 * sign;
    RfAlignProof proof = prove_one(&field, start);
    assert_true(proof.bits > 0);
    rf_free(proof.branch_samples);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_paths),       cmocka_unit_test(tie_is_a_branch),
      cmocka_unit_test(through_the_origin), cmocka_unit_test(linear_from_zero),
      cmocka_unit_test(behind_the_turn),
  };
  return cmocka_run_group_tests_name("prove", tests, NULL, NULL);
}

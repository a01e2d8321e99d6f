/* Alignment on the emulated device beside rf_flow_align_neuron: the same destinies and sectors, for balanced
 * and unbalanced starts, with and without a leak; and what is said where there is no device. */
#include "rf_test.h"
#include "device/device.h"
#include <stdlib.h>

enum { STARTS = 150 };

typedef struct Draw {
  rf_index n, d;
  double leak;
  double X[64 * 6], c[64], starts[STARTS * 7];
} Draw;

static void draw(Draw *p, RfRandom *random, bool balanced) {
  p->n = 3 + (rf_index)(rf_random_uniform(random) * 40), p->d = 2 + (rf_index)(rf_random_uniform(random) * 3);
  p->leak = rf_random_uniform(random) < 0.5 ? 0 : 0.3 * rf_random_uniform(random);
  for (rf_index k = 0; k < p->n * p->d; k++) p->X[k] = rf_random_gaussian(random);
  for (rf_index i = 0; i < p->n; i++) p->c[i] = rf_random_uniform(random) < 0.5 ? 0.5 : -0.5;
  for (rf_index s = 0; s < STARTS; s++) {
    double *start = p->starts + s * (p->d + 1), square = 0, norm = 0;
    for (rf_index j = 0; j <= p->d; j++) start[j] = rf_random_gaussian(random);
    for (rf_index j = 0; j < p->d; j++) square += start[j] * start[j];
    if (balanced) start[p->d] = copysign(sqrt(square), start[p->d]);
    norm = sqrt(square + start[p->d] * start[p->d]);
    for (rf_index j = 0; j <= p->d; j++) start[j] /= norm;
  }
}

static void destinies_are_those_of_the_flow(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  Device device;
  rf_index asked = 0, followed = 0, cases = rf_test_iterations(60);
  rf_context_init(&context);
  rf_random_init(&random, 20240, 1);
  assert_ok(&context, device_open(&context, &device, DEVICE_EMULATED));
  for (rf_index k = 0; k < cases; k++) {
    Draw p;
    int8_t destiny[STARTS];
    uint32_t plus[STARTS * 2], still[STARTS * 2];
    draw(&p, &random, k % 3 > 0);
    DeviceAlign task = {.n = (int)p.n,
                        .d = (int)p.d,
                        .leak = p.leak,
                        .X = p.X,
                        .c = p.c,
                        .zero = context.tol.zero,
                        .balanced = context.tol.balanced,
                        .solver = context.tol.solver,
                        .count = STARTS,
                        .starts = p.starts,
                        .destiny = destiny,
                        .plus = plus,
                        .still = still};
    assert_ok(&context, device_align(&context, &device, &task));
    RfAlignField field = {.X = p.X, .c = p.c, .n = p.n, .d = p.d, .leak = p.leak};
    for (rf_index s = 0; s < STARTS; s++) {
      RfAlignNeuron neuron;
      rf_index words = (p.n + 31) / 32;
      if (destiny[s] == DEVICE_ASK) {
        asked++;
        continue;
      }
      followed++;
      assert_ok(&context,
                rf_flow_align_neuron(&context, &neuron, &field, p.starts + s * (p.d + 1), 0, NULL, INFINITY));
      assert_false(neuron.branched);
      assert_int_equal(destiny[s], neuron.destiny);
      for (rf_index i = 0; i < p.n && neuron.destiny != RF_DESTINY_DEAD; i++) {
        uint32_t bit = 1u << (i % 32), word = (uint32_t)(s * words + i / 32);
        assert_int_equal(still[word] & bit ? 0 : plus[word] & bit ? 1 : -1, neuron.sector[i]);
      }
      rf_align_neuron_free(&neuron);
    }
  }
  print_message("%lld starts followed alike, %lld left to the processor\n", (long long)followed,
                (long long)asked);
  assert_true(asked * 50 <= followed);
}

static void a_device_that_is_not_there_is_one_line(void **state) {
  (void)state;
  RfContext context;
  Device device;
  rf_context_init(&context);
  RfStatus status = device_open(&context, &device, DEVICE_CUDA);
  if (status) {
    assert_int_equal(status, RF_ERR_USAGE);
    assert_non_null(strstr(context.error, "--device cuda: "));
    assert_null(strchr(context.error, '\n'));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(destinies_are_those_of_the_flow),
      cmocka_unit_test(a_device_that_is_not_there_is_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

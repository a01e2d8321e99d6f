/* Walkers against the alignment that follows one neuron at a time: the same
 * ends at the same times. A slide that is left and taken up again at one moment may count as two crossings.
 */
#include "flow/large/walk.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

typedef struct Sample {
  double *X, *c, *directions, *log_norms;
  rf_index n, d, m;
  double leak;
} Sample;

static Sample draw(uint64_t seed, rf_index n, rf_index d, rf_index m, double leak) {
  Sample s = {.n = n, .d = d, .m = m, .leak = leak};
  RfRandom random;
  rf_random_init(&random, seed, 0);
  s.X = RF_NEW(double, n *d), s.c = RF_NEW(double, n);
  s.directions = RF_NEW(double, m *(d + 1)), s.log_norms = RF_NEW(double, m);
  for (rf_index k = 0; k < n * d; k++) s.X[k] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < n; i++) s.c[i] = 0.5 * rf_random_sign(&random);
  for (rf_index k = 0; k < m; k++) {
    double *v = s.directions + k * (d + 1);
    rf_random_direction(&random, v, d);
    rf_la_scale(v, sqrt(0.5), d);
    v[d] = sqrt(0.5) * rf_random_sign(&random);
    s.log_norms[k] = rf_random_uniform(&random);
  }
  return s;
}

static void release(Sample *s) {
  rf_free(s->X), rf_free(s->c), rf_free(s->directions), rf_free(s->log_norms);
}

static void same_path(const RfAlignNeuron *a, const RfAlignNeuron *b, rf_index d, uint64_t seed) {
  if (a->destiny != b->destiny)
    print_error("seed %llu: %lld crossings and %s, walkers %lld and %s\n", (unsigned long long)seed,
                (long long)a->n_crossings, rf_destiny_name(a->destiny), (long long)b->n_crossings,
                rf_destiny_name(b->destiny));
  assert_int_equal(a->destiny, b->destiny);
  assert_int_equal(memcmp(a->sector, b->sector, (size_t)a->n), 0);
  assert_true(fabs(a->G - b->G) <= 1e-9 * (1 + fabs(a->G)));
  if (a->destiny == RF_DESTINY_EXTREMAL || a->destiny == RF_DESTINY_S_PLUS)
    assert_true(fabs(a->log_amplitude - b->log_amplitude) <= 1e-6);
  assert_true(fabs(a->t_last - b->t_last) <= 1e-6 * (1 + a->t_last));
  bool same_moment = fabs(a->t_state - b->t_state) <= 1e-6 * (1 + a->t_state);
  for (rf_index j = 0; j < d + 1 && same_moment; j++)
    assert_true(fabs(a->direction[j] - b->direction[j]) <= 1e-6);
}

/* All neurons of the sample at once. */
static RfAlignNeuron *walk(RfContext *context, const Sample *s, const RfAlignField *field, RfGram *gram) {
  RfAlignNeuron *walked = RF_NEW(RfAlignNeuron, s->m);
  rf_context_init(context);
  assert_ok(context, rf_gram_new(context, gram, s->X, s->n, s->d));
  assert_ok(context, rf_walk_align(context, walked, field, gram, s->directions, s->log_norms, s->m, INFINITY,
                                   NULL, 0));
  return walked;
}

static void compare(uint64_t seed, rf_index n, rf_index d, rf_index m, double leak) {
  RfContext context;
  RfGram gram;
  Sample s = draw(seed, n, d, m, leak);
  RfAlignField field = {.X = s.X, .c = s.c, .n = n, .d = d, .leak = leak};
  RfAlignNeuron *walked = walk(&context, &s, &field, &gram);
  for (rf_index k = 0; k < m; k++) {
    RfAlignNeuron one;
    assert_ok(&context, rf_flow_align_neuron(&context, &one, &field, s.directions + k * (d + 1),
                                             s.log_norms[k], NULL, INFINITY));
    same_path(&one, &walked[k], d, seed);
    rf_align_neuron_free(&one);
    rf_align_neuron_free(&walked[k]);
  }
  rf_free(walked);
  rf_gram_free(&gram);
  release(&s);
}

static void same_as_one_by_one(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)rf_test_iterations(20); seed++) {
    compare(seed, 30, 4, 6, 0);
    compare(seed, 60, 12, 6, 0);
    compare(seed, 40, 6, 6, 0.3);
  }
}

/* Samples on one line: a third of them is a copy, longer or shorter, or a mirror image of another, of either
 * label, so that hyperplanes have no kink, one of twice the weight, or one sample that is always seen. */
static Sample draw_lines(uint64_t seed, rf_index n, rf_index d, rf_index m, double leak, bool mirrored) {
  static const double factors[] = {1, 2, 0.5, -1, -2, -1};
  Sample s = draw(seed, n, d, m, leak);
  RfRandom random;
  rf_random_init(&random, seed, 1);
  for (rf_index i = 2 * n / 3; i < n; i++) {
    rf_index of = rf_random_below(&random, 2 * n / 3);
    double factor = factors[rf_random_below(&random, mirrored ? 6 : 3)];
    for (rf_index j = 0; j < d; j++) s.X[i * d + j] = factor * s.X[of * d + j];
  }
  return s;
}

static rf_index compare_lines(uint64_t seed, rf_index n, rf_index d, rf_index m, double leak, bool mirrored) {
  RfContext context;
  RfGram gram;
  rf_index dead = 0;
  Sample s = draw_lines(seed, n, d, m, leak, mirrored);
  RfAlignField field = {.X = s.X, .c = s.c, .n = n, .d = d, .leak = leak};
  RfAlignNeuron *walked = walk(&context, &s, &field, &gram);
  for (rf_index k = 0; k < m; k++) {
    RfAlignNeuron one;
    assert_ok(&context, rf_flow_align_neuron(&context, &one, &field, s.directions + k * (d + 1),
                                             s.log_norms[k], NULL, INFINITY));
    dead += one.destiny == RF_DESTINY_DEAD;
    for (rf_index i = 0; i < n && one.destiny == RF_DESTINY_DEAD; i++) { /* it may rest on several at once */
      if (one.sector[i] == 0) one.sector[i] = -1;
      if (walked[k].sector[i] == 0) walked[k].sector[i] = -1;
    }
    same_path(&one, &walked[k], d, seed);
    rf_index met = 0, met_walking = 0; /* every sample of a line is told */
    for (rf_index e = 0; e < one.n_crossings; e++) met += one.crossings[e].n_samples;
    for (rf_index e = 0; e < walked[k].n_crossings; e++) met_walking += walked[k].crossings[e].n_samples;
    if (one.n_slides == 0) assert_int_equal(met, met_walking);
    rf_align_neuron_free(&one);
    rf_align_neuron_free(&walked[k]);
  }
  rf_free(walked);
  rf_gram_free(&gram);
  release(&s);
  return dead;
}

static void lines_as_one_by_one(void **state) {
  (void)state;
  rf_index dead = 0, seeds = rf_test_iterations(20);
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    compare_lines(seed, 30, 4, 6, 0, true);
    compare_lines(seed, 6, 2, 6, 0, true);
    compare_lines(seed, 40, 6, 6, 0.3, true);
    dead += compare_lines(seed, 9, 4, 6, 0, false);
  }
  assert_true(dead > 0 || seeds < 20);
}

/* (x,+1), (-x,-1) and a neuron that leaves x: on the other side it sees -x, which pushes it on. */
static void mirrored_is_not_dead(void **state) {
  (void)state;
  double X[] = {1, 0, -1, 0, 0, 1}, c[] = {0.5, -0.5, -0.1}, log_norms[] = {0};
  double directions[] = {0.6 * sqrt(0.5), -0.8 * sqrt(0.5), -sqrt(0.5)};
  RfAlignField field = {.X = X, .c = c, .n = 3, .d = 2};
  RfContext context;
  RfGram gram;
  RfAlignNeuron out;
  rf_context_init(&context);
  assert_ok(&context, rf_gram_new(&context, &gram, X, 3, 2));
  assert_ok(&context,
            rf_walk_align(&context, &out, &field, &gram, directions, log_norms, 1, INFINITY, NULL, 0));
  assert_int_equal(out.n_crossings, 1);
  assert_int_equal(out.crossings[0].n_samples, 2);
  assert_int_equal(out.sector[0], -1);
  assert_int_equal(out.sector[1], 1);
  assert_true(out.destiny != RF_DESTINY_DEAD);
  rf_align_neuron_free(&out);
  rf_gram_free(&gram);
}

/* Halfway and on: the same ends, the same state at a time in between, whatever the number of threads. */
static void halfway_and_on(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    enum { N = 60, D = 8, M = 7 };
    RfContext context;
    RfGram gram;
    RfWalkHalfway halfway = {0};
    Sample s = draw(seed, N, D, M, 0);
    RfAlignField field = {.X = s.X, .c = s.c, .n = N, .d = D};
    RfAlignNeuron whole[M], stages[M], at[M], on[M];
    double half[N];
    rf_context_init(&context);
    assert_ok(&context, rf_gram_new(&context, &gram, s.X, N, D));
    assert_ok(&context,
              rf_walk_align(&context, whole, &field, &gram, s.directions, s.log_norms, M, INFINITY, NULL, 0));
    gram.threads = 3;
    assert_ok(&context, rf_walk_align(&context, stages, &field, &gram, s.directions, s.log_norms, M, INFINITY,
                                      &halfway, 3));
    assert_true(halfway.t > 0);
    double t = 1.3 * halfway.t, scale = 0.5; /* in a field half as strong clocks run twice as long */
    assert_ok(&context, rf_walk_align(&context, at, &field, &gram, s.directions, s.log_norms, M, t, NULL, 0));
    for (rf_index i = 0; i < N; i++) half[i] = scale * s.c[i];
    field.c = half;
    assert_ok(&context,
              rf_walk_align_on(&context, on, &field, &gram, &halfway, s.directions, scale, -2, t / scale));
    for (rf_index k = 0; k < M; k++) {
      same_path(&whole[k], &stages[k], D, seed);
      assert_int_equal(memcmp(at[k].sector, on[k].sector, N), 0);
      if (at[k].destiny != RF_DESTINY_DEAD) assert_true(fabs(at[k].log_norm - 2 - on[k].log_norm) <= 1e-6);
      for (rf_index j = 0; j < D + 1; j++) assert_true(fabs(at[k].direction[j] - on[k].direction[j]) <= 1e-6);
      rf_align_neuron_free(&whole[k]), rf_align_neuron_free(&stages[k]);
      rf_align_neuron_free(&at[k]), rf_align_neuron_free(&on[k]);
    }
    rf_walk_halfway_free(&halfway);
    rf_gram_free(&gram);
    release(&s);
  }
}

/* Gram rows against the products themselves, over the edge of a block. */
static void rows_are_products(void **state) {
  (void)state;
  RfContext context;
  RfGram gram;
  rf_index n = 1100, d = 3;
  Sample s = draw(5, n, d, 1, 0);
  rf_context_init(&context);
  assert_ok(&context, rf_gram_new(&context, &gram, s.X, n, d));
  for (rf_index i = 0; i < n; i += 7)
    for (rf_index j = 0; j < n; j += 11) {
      double exact = rf_la_dot(s.X + i * d, s.X + j * d, d);
      assert_true(fabs((double)gram.rows[i * n + j] - exact) <= 1e-5);
    }
  rf_index few[] = {3, 700, 1099};
  double part_X[9];
  RfGram part;
  for (rf_index r = 0; r < 3; r++) memcpy(part_X + r * d, s.X + few[r] * d, (size_t)d * sizeof(double));
  assert_ok(&context, rf_gram_part(&context, &part, &gram, few, 3, part_X, d));
  for (rf_index r = 0; r < 9; r++) assert_true(part.rows[r] == gram.rows[few[r / 3] * n + few[r % 3]]);
  rf_gram_free(&part);
  assert_true(rf_gram_pays(5000, 50, 50) && !rf_gram_pays(100, 50, 50) && !rf_gram_pays(100000, 50, 50));
  assert_false(rf_gram_pays(5000, 10, 50));
  rf_gram_free(&gram);
  release(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_one_by_one), cmocka_unit_test(halfway_and_on),
                                     cmocka_unit_test(rows_are_products),
                                     cmocka_unit_test(lines_as_one_by_one),
                                     cmocka_unit_test(mirrored_is_not_dead)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

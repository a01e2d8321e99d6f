/* The linear systems of the implicit method: (shift - J) x = b with x from the structured solver and J x by
 * differences of the right-hand side. */
#include "flow/fit/implicit_internal.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

typedef struct Case {
  rf_index n, d, m, copies; /* `copies` neurons per pattern */
  double leak, log_scale;
  bool frozen, unbalanced, slide, plain;
} Case;

static double uniform(RfRandom *random) { return 2 * rf_random_uniform(random) - 1; }

static void random_start(RfFlowStart *start, const Case *c, RfRandom *random) {
  for (rf_index k = 0; k < c->m; k++) {
    double *v = start->directions + k * (c->d + 1);
    const double *first = start->directions + (k - k % c->copies) * (c->d + 1);
    for (rf_index j = 0; j < c->d; j++)
      v[j] = k % c->copies == 0 ? uniform(random) : first[j] + 1e-7 * uniform(random);
    double size = rf_la_norm(v, c->d);
    v[c->d] = (k % 2 ? -1 : 1) * size * (c->unbalanced ? 0.5 + rf_random_uniform(random) : 1);
    double norm = rf_la_norm(v, c->d + 1);
    rf_la_scale(v, 1 / norm, c->d + 1);
    start->log_norms[k] = 0.3 * uniform(random);
  }
}

static void to_blocks(const RfSystem *system, double *blocks, const double *flat) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    memcpy(blocks + k * (d + 2), flat + k * d, (size_t)d * sizeof(double));
    blocks[k * (d + 2) + d] = flat[units * d + k];
    blocks[k * (d + 2) + d + 1] = flat[units * (d + 1) + k];
  }
}

static void from_blocks(const RfSystem *system, double *flat, const double *blocks) {
  rf_index d = system->d, units = system->units;
  for (rf_index k = 0; k < units; k++) {
    memcpy(flat + k * d, blocks + k * (d + 2), (size_t)d * sizeof(double));
    flat[units * d + k] = blocks[k * (d + 2) + d];
    flat[units * (d + 1) + k] = blocks[k * (d + 2) + d + 1];
  }
}

/* f at system->y + step x, x and f in the coordinates of plain.c where asked for. */
static void rate_at(RfSystem *system, const uint8_t *plain, const double *x, double step, double *y,
                    double *f) {
  rf_index size = rf_system_size(system);
  memcpy(y, system->y, (size_t)size * sizeof(double));
  if (plain) rf_plain_from_polar(plain, system, y);
  for (rf_index i = 0; i < size; i++) y[i] += step * x[i];
  if (plain) rf_plain_to_polar(plain, system, y);
  rf_system_rhs(system, y, f);
  if (plain) rf_plain_rate(plain, system, y, f);
}

/* |shift x - J x - b| over |b|. */
static double residual(RfSystem *system, const uint8_t *plain, const double *x, const double *b,
                       double shift) {
  rf_index size = rf_system_size(system), N = size - 1;
  double *y = malloc((size_t)(4 * size) * sizeof(double)), *plus = y + size, *minus = plus + size,
         *flat = minus + size, error = 0, scale = 0, step = 1e-5 / rf_la_max_abs(x, N);
  flat[N] = 0;
  from_blocks(system, flat, x);
  rate_at(system, plain, flat, step, y, plus);
  rate_at(system, plain, flat, -step, y, minus);
  double *rows = y, *product = plus;
  for (rf_index i = 0; i < N; i++) minus[i] = (plus[i] - minus[i]) / (2 * step);
  to_blocks(system, product, minus);
  for (rf_index i = 0; i < N; i++) {
    rows[i] = shift * x[i] - product[i] - b[i];
    error += rows[i] * rows[i], scale += b[i] * b[i];
  }
  free(y);
  return sqrt(error / scale);
}

static void check(const Case *c, uint64_t seed) {
  RfContext context;
  RfRandom random;
  RfFlowStart start;
  RfSystem system;
  RfBlocks *blocks;
  rf_context_init(&context);
  rf_random_init(&random, seed, 0);
  double *X = calloc((size_t)(c->n * (c->d + 1)), sizeof *X), *y = X + c->n * c->d;
  for (rf_index i = 0; i < c->n * c->d; i++) X[i] = uniform(&random);
  for (rf_index i = 0; i < c->n; i++) y[i] = i % 3 == 0 ? -1 : 1;
  assert_ok(&context, rf_flow_start_new(&context, &start, c->m, c->d));
  random_start(&start, c, &random);
  RfFlowProblem problem = {.X = X,
                           .y = y,
                           .n = c->n,
                           .d = c->d,
                           .leak = c->leak,
                           .start = &start,
                           .log_scale = c->log_scale,
                           .freeze_second = c->frozen};
  assert_ok(&context, rf_system_new(&context, &system, &problem));
  for (rf_index k = 0; k < system.units; k++) {
    if (c->slide && k < c->copies) system.sigma[k * c->n] = system.sigma[k * c->n + 1] = 0;
    assert_ok(&context, rf_system_refresh_unit(&system, k));
  }
  rf_system_normalise(&system, system.y);
  rf_index N = system.units * (c->d + 2);
  double *x = calloc((size_t)(3 * N + 1), sizeof *x), *b = x + N, *f = b + N;
  uint8_t *plain = c->plain ? malloc((size_t)system.units) : NULL;
  if (plain) memset(plain, 1, (size_t)system.units), system.mu = 0.1;
  assert_ok(&context, rf_blocks_new(&context, &blocks, system.units, c->n, c->d));
  rf_system_rhs(&system, system.y, f);
  assert_ok(&context, rf_blocks_prepare(&context, blocks, &system, plain));
  for (int round = 0; round < 2; round++) {
    double shift = round ? 0.7 : 30;
    for (rf_index i = 0; i < N; i++) b[i] = x[i] = uniform(&random);
    for (rf_index k = 0; k < system.units && !c->unbalanced; k++) /* a does not move */
      b[k * (c->d + 2) + c->d] = x[k * (c->d + 2) + c->d] = 0;
    for (rf_index k = 0; k < system.units && plain; k++) /* and the place of rho is empty */
      b[k * (c->d + 2) + c->d + 1] = x[k * (c->d + 2) + c->d + 1] = 0;
    if (c->slide) /* the system lives on the face */
      for (rf_index k = 0; k < c->copies; k++) {
        rf_system_project(&system, k, b + k * (c->d + 2));
        memcpy(x + k * (c->d + 2), b + k * (c->d + 2), (size_t)c->d * sizeof(double));
      }
    assert_true(rf_blocks_factor(blocks, &system, shift));
    rf_blocks_solve(blocks, &system, x);
    double error = residual(&system, plain, x, b, shift);
    if (!(error < 1e-6))
      print_error("n %d d %d m %d copies %d leak %g frozen %d unbalanced %d slide %d plain %d seed %d "
                  "classes %d: %g\n",
                  (int)c->n, (int)c->d, (int)c->m, (int)c->copies, c->leak, c->frozen, c->unbalanced,
                  c->slide, c->plain, (int)seed, (int)system.classes, error);
    assert_true(error < 1e-6);
  }
  rf_blocks_free(blocks);
  rf_system_free(&system);
  rf_flow_start_free(&start);
  free(X);
  free(x);
  free(plain);
}

static void test_against_differences(void **state) {
  (void)state;
  static const Case cases[] = {
      {20, 3, 100, 1, 0.2, 0, false, false, false, false}, /* by sample */
      {20, 3, 100, 1, 0, 0, false, true, false, false},
      {20, 3, 100, 1, 0.3, 0, true, false, false, false},
      {20, 5, 100, 1, 0.2, 0, false, false, true, false},
      {60, 5, 40, 20, 0.2, -0.5, false, false, false, false}, /* by class */
      {60, 5, 40, 20, 0, -0.5, false, true, false, false},
      {60, 5, 40, 20, 0.3, -0.5, true, false, false, false},
      {60, 5, 40, 20, 0.2, -0.5, false, false, true, false},
      {20, 5, 100, 1, 0.2, 0, false, false, true, true}, /* margins linear in the unknowns */
      {60, 5, 40, 20, 0, -0.5, false, false, true, true},
  };
  for (uint64_t seed = 1; seed <= (uint64_t)rf_test_iterations(5); seed++)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check(&cases[k], seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two dense layers with the vector kernel: against rf_layers_gradient (which uses matrix products) with
 * weights computed here, over widths, inputs and sample counts that leave remainders everywhere; float
 * against double; threads; fixed layers. */
#include "layers/layers.h"
#include "rf_test.h"

typedef struct Problem {
  RfContext context;
  RfLayeredNet net;
  rf_index n, d, m;
  double *X, *y, *q, *r, *g, *want;
  float *Xf, *yf, *qf, *gf, *thetaf;
} Problem;

static void make(Problem *p, RfRandom *random, rf_index n, rf_index d, rf_index m, double leak) {
  memset(p, 0, sizeof *p);
  rf_context_init(&p->context);
  p->n = n, p->d = d, p->m = m;
  assert_ok(&p->context, rf_layers_new(&p->context, &p->net, leak));
  assert_ok(&p->context, rf_layers_add_dense(&p->context, &p->net, d, m));
  assert_ok(&p->context, rf_layers_add_dense(&p->context, &p->net, m, 1));
  rf_index P = p->net.n_parameters;
  p->X = RF_NEW(double, n *d), p->y = RF_NEW(double, n), p->q = RF_NEW(double, n), p->r = RF_NEW(double, n);
  p->g = RF_NEW(double, P), p->want = RF_NEW(double, P), p->Xf = RF_NEW(float, n *d),
  p->yf = RF_NEW(float, n), p->qf = RF_NEW(float, n), p->gf = RF_NEW(float, P), p->thetaf = RF_NEW(float, P);
  for (rf_index k = 0; k < P; k++)
    p->net.theta[k] = 0.5 * rf_random_gaussian(random), p->thetaf[k] = (float)p->net.theta[k];
  for (rf_index k = 0; k < n * d; k++) p->X[k] = rf_random_gaussian(random), p->Xf[k] = (float)p->X[k];
  for (rf_index i = 0; i < n; i++) p->y[i] = rf_random_sign(random), p->yf[i] = (float)p->y[i];
}

static void clear(Problem *p) {
  rf_layers_free(&p->net);
  rf_free(p->X), rf_free(p->y), rf_free(p->q), rf_free(p->r), rf_free(p->g), rf_free(p->want);
  rf_free(p->Xf), rf_free(p->yf), rf_free(p->qf), rf_free(p->gf), rf_free(p->thetaf);
}

static void compare(Problem *p, RfLoss loss) {
  RfLossWork *work, *work_float;
  RfContext *c = &p->context;
  rf_index P = p->net.n_parameters, n = p->n;
  assert_ok(c, rf_layers_loss_work_new(c, &work, &p->net, RF_DOUBLE, n));
  assert_ok(c, rf_layers_loss_work_new(c, &work_float, &p->net, RF_FLOAT, n));
  for (rf_index k = 0; k < P; k++) p->g[k] = NAN, p->gf[k] = NAN;
  rf_layers_loss_gradient(c, work, p->g, p->q, p->net.theta, p->X, p->y, loss, 0, n);
  rf_layers_loss_gradient_float(c, work_float, p->gf, p->qf, p->thetaf, p->Xf, p->yf, loss, 0, n);
  assert_ok(c, rf_layers_evaluate(c, p->r, NULL, &p->net, p->X, n));
  for (rf_index i = 0; i < n; i++) {
    assert_close(p->q[i], p->y[i] * p->r[i], 1e-12 * (1 + fabs(p->r[i])));
    p->r[i] = -p->y[i] * exp(rf_loss_log_slope(loss, p->q[i]));
  }
  assert_ok(c, rf_layers_gradient(c, p->want, NULL, &p->net, p->X, p->r, n));
  double size = rf_la_norm(p->want, P) + rf_la_norm(p->r, n);
  for (rf_index k = 0; k < P; k++) {
    assert_close(p->g[k], p->want[k], 1e-12 * size);
    assert_close((double)p->gf[k], p->want[k], 1e-3 * size);
  }
  rf_layers_loss_work_free(work), rf_layers_loss_work_free(work_float);
}

static void remainders(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 77, 0);
  const double leaks[] = {0, 0.3, 1};
  for (rf_index draw = 0; draw < rf_test_iterations(200); draw++) {
    rf_index n = (rf_index)(60 * rf_random_uniform(&random)),
             d = 1 + (rf_index)(30 * rf_random_uniform(&random)),
             m = 1 + (rf_index)(90 * rf_random_uniform(&random));
    Problem p;
    make(&p, &random, n, d, m, leaks[draw % 3]);
    if (draw % 7 == 0) p.net.layers[0].fixed = true;
    if (draw % 7 == 1) p.net.layers[1].fixed = true;
    compare(&p, (RfLoss)(draw % 3));
    clear(&p);
  }
}

/* Samples that a neuron sees with input exactly 0 count with phi'(0) = leak. */
static void kinks(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 78, 0);
  Problem p;
  make(&p, &random, 40, 6, 20, 0.25);
  for (rf_index k = 0; k < 6 * 7; k++) p.net.theta[k] = 0, p.thetaf[k] = 0;
  for (rf_index k = 0; k < 6 * 3; k++) p.X[k] = 0, p.Xf[k] = 0;
  compare(&p, RF_LOSS_LOGISTIC);
  clear(&p);
}

static void threads(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 79, 0);
  Problem p;
  make(&p, &random, 6007, 9, 90, 0);
  RfLossWork *work;
  p.context.threads = 3;
  assert_ok(&p.context, rf_layers_loss_work_new(&p.context, &work, &p.net, RF_DOUBLE, p.n));
  rf_layers_loss_gradient(&p.context, work, p.g, p.q, p.net.theta, p.X, p.y, RF_LOSS_LOGISTIC, 0, p.n);
  p.context.threads = 1;
  rf_layers_loss_gradient(&p.context, work, p.want, p.r, p.net.theta, p.X, p.y, RF_LOSS_LOGISTIC, 0, p.n);
  assert_memory_equal(p.g, p.want, (size_t)p.net.n_parameters * sizeof *p.g);
  assert_memory_equal(p.q, p.r, (size_t)p.n * sizeof *p.q);
  rf_layers_loss_work_free(work);
  compare(&p, RF_LOSS_LOGISTIC);
  clear(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(remainders), cmocka_unit_test(kinks),
                                     cmocka_unit_test(threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

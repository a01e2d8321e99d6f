/* Steps per second of training, with the floor: flops of the two matrix products against the dgemm/sgemm rate
 * measured at the same shapes in the same run. */
#include <stdio.h>

#include "reluflow/la.h"
#include "reluflow/train.h"

typedef struct Shape {
  rf_index n, d, m, steps;
} Shape;

static void fill(RfRandom *random, double *x, rf_index count, double scale) {
  for (rf_index k = 0; k < count; k++) x[k] = scale * rf_random_gaussian(random);
}

/* Seconds for the two products of one step, X W^T and A^T X, over all samples at once. */
static double products(const Shape *s, RfPrecision precision, const double *X, const double *W) {
  rf_index repeats = s->steps / 4 + 1;
  double *H = RF_NEW(double, s->n * s->m), *G = RF_NEW(double, s->m * s->d);
  float *Xf = RF_NEW(float, s->n * s->d), *Wf = RF_NEW(float, s->m * s->d), *Hf = RF_NEW(float, s->n * s->m),
        *Gf = RF_NEW(float, s->m * s->d);
  double seconds = -1;
  if (H && G && Xf && Wf && Hf && Gf) {
    for (rf_index k = 0; k < s->n * s->d; k++) Xf[k] = (float)X[k];
    for (rf_index k = 0; k < s->m * s->d; k++) Wf[k] = (float)W[k];
    double start = rf_clock_seconds();
    for (rf_index r = 0; r < repeats; r++) {
      if (precision == RF_DOUBLE)
        rf_la_product_nt(H, X, W, s->n, s->m, s->d), rf_la_product_tn(G, H, X, s->m, s->d, s->n);
      if (precision == RF_FLOAT)
        rf_la_product_nt_float(Hf, Xf, Wf, s->n, s->m, s->d),
            rf_la_product_tn_float(Gf, Hf, Xf, s->m, s->d, s->n);
    }
    seconds = (rf_clock_seconds() - start) / (double)repeats;
  }
  rf_free(H), rf_free(G), rf_free(Xf), rf_free(Wf), rf_free(Hf), rf_free(Gf);
  return seconds;
}

static int measure(const Shape *s, RfPrecision precision) {
  RfContext context;
  RfRandom random;
  RfNet net = {0};
  RfLayeredNet layered = {0};
  RfTrainResult result = {0};
  rf_context_init(&context);
  rf_random_init(&random, 1, 0);
  double *X = RF_NEW(double, s->n * s->d), *y = RF_NEW(double, s->n);
  int status = 1;
  if (!X || !y || rf_net_new(&context, &net, s->m, s->d, 0)) goto done;
  fill(&random, X, s->n * s->d, 0.1), fill(&random, net.W, s->m * s->d, 0.1), fill(&random, net.a, s->m, 0.1);
  for (rf_index i = 0; i < s->n; i++) y[i] = rf_random_sign(&random);
  if (rf_train_from_net(&context, &layered, &net)) goto done;
  RfTrainSettings settings = rf_train_settings_default();
  settings.rate = 1e-4, settings.max_steps = s->steps, settings.precision = precision,
  settings.record_every = s->steps;
  RfTrainData data = {.X = X, .y = y, .n = s->n};
  if (rf_train_run(&context, &result, &layered, &data, &settings)) goto done;
  double floor_seconds = products(s, precision, X, net.W), step = 1 / result.steps_per_second;
  double flops = 4.0 * (double)s->n * (double)s->d * (double)s->m;
  printf("%8lld x %4lld x %4lld  %-6s  %10.1f steps/s  %6.1f GF/s  %5.2f of the gemm rate at these shapes "
         "(%.1f GF/s)\n",
         (long long)s->n, (long long)s->d, (long long)s->m, precision == RF_DOUBLE ? "double" : "float",
         result.steps_per_second, 1e-9 * flops / step, floor_seconds / step, 1e-9 * flops / floor_seconds);
  status = 0;
done:
  rf_train_result_free(&result);
  rf_layers_free(&layered);
  rf_net_free(&net);
  rf_free(X), rf_free(y);
  return status;
}

int main(void) {
  rf_la_serial_blas();
  const Shape shapes[] = {
      {500, 20, 100, 5000}, {2000, 20, 100, 1000}, {500, 20, 1000, 500}, {12665, 784, 50, 10}};
  puts("full-batch gradient descent, one thread: samples x inputs x neurons");
  int status = 0;
  for (int k = 0; k < 4; k++) status |= measure(&shapes[k], RF_DOUBLE) | measure(&shapes[k], RF_FLOAT);
  return status;
}

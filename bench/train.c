/* Training: updates per second of processor time, flops and bytes against what this machine reaches, and, for
 * two layers, the time of the matrix products of one update at the same shapes, measured in the same run.
 *
 * Rows: kind, sizes, number type, updates/s, GF/s, share of the peak, GB/s that must come from memory, share
 * of the measured bandwidth, share of the gemm rate at these shapes. Times are processor seconds of one
 * thread, so that other work on the machine does not count. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "la/la.h"
#include "layers/layers.h"
#include "reluflow/train.h"

typedef struct Peaks {
  double flops[2], bytes; /* double and float; per second */
} Peaks;

typedef struct Case {
  const char *kind;
  rf_index n, d, m, batch, steps;
  RfOptimizer optimizer;
} Case;

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fill(RfRandom *random, double *x, rf_index count, double scale) {
  for (rf_index k = 0; k < count; k++) x[k] = scale * rf_random_gaussian(random);
}

/* Seconds for C = A B^T (n x m from inner d) and its transposed companion, all rows at once: the best of
 * three tries. */
static double products(rf_index n, rf_index d, rf_index m, RfPrecision precision, rf_index repeats) {
  double *A = RF_NEW(double, n *d), *B = RF_NEW(double, m *d), *C = RF_NEW(double, n *m),
         *G = RF_NEW(double, m *d), best = 1e300;
  float *Af = RF_NEW(float, n *d), *Bf = RF_NEW(float, m *d), *Cf = RF_NEW(float, n *m),
        *Gf = RF_NEW(float, m *d);
  if (A && B && C && G && Af && Bf && Cf && Gf) {
    for (rf_index k = 0; k < n * d; k++) Af[k] = (float)(A[k] = 1e-3 * (double)(k % 17));
    for (rf_index k = 0; k < m * d; k++) Bf[k] = (float)(B[k] = 1e-3 * (double)(k % 13));
    for (int attempt = 0; attempt < 3; attempt++) {
      double start = processor_seconds();
      for (rf_index r = 0; r < repeats; r++) {
        if (precision == RF_DOUBLE)
          rf_la_product_nt(C, A, B, n, m, d), rf_la_product_tn(G, C, A, m, d, n);
        else
          rf_la_product_nt_float(Cf, Af, Bf, n, m, d), rf_la_product_tn_float(Gf, Cf, Af, m, d, n);
      }
      double seconds = (processor_seconds() - start) / (double)repeats;
      if (seconds < best) best = seconds;
    }
  }
  rf_free(A), rf_free(B), rf_free(C), rf_free(G), rf_free(Af), rf_free(Bf), rf_free(Cf), rf_free(Gf);
  return best;
}

/* Sums 128 MB, eight sums at a time. */
static double read_bandwidth(void) {
  const rf_index count = 16 << 20;
  double *x = RF_NEW(double, count), best = 0, total = 0;
  if (!x) return 0;
  for (rf_index k = 0; k < count; k++) x[k] = 1;
  for (int attempt = 0; attempt < 4; attempt++) {
    double sums[8] = {0}, start = processor_seconds();
    for (rf_index k = 0; k < count; k += 8)
      for (int lane = 0; lane < 8; lane++) sums[lane] += x[k + lane];
    double seconds = processor_seconds() - start;
    for (int lane = 0; lane < 8; lane++) total += sums[lane];
    if (8.0 * (double)count / seconds > best) best = 8.0 * (double)count / seconds;
  }
  rf_free(x);
  return total > 0 ? best : 0;
}

static Peaks measure_peaks(void) {
  Peaks peaks;
  const rf_index size = 768;
  double flops = 4.0 * (double)size * (double)size * (double)size;
  peaks.flops[0] = flops / products(size, size, size, RF_DOUBLE, 2);
  peaks.flops[1] = flops / products(size, size, size, RF_FLOAT, 4);
  peaks.bytes = read_bandwidth();
  return peaks;
}

/* Two layers, the residual network of Phuong and Lampert (30), or the convolutional one of their Table 1. */
static RfStatus build(RfContext *context, RfLayeredNet *net, const Case *c) {
  RfStatus status = rf_layers_new(context, net, 0);
  if (strcmp(c->kind, "conv") == 0) {
    const rf_index rows[6][4] = {{32, 3, 1, 1}, {32, 3, 1, 1}, {32, 5, 2, 2},
                                 {64, 3, 1, 1}, {64, 3, 1, 1}, {64, 5, 2, 2}};
    rf_index channels = 1, side = 28;
    for (int l = 0; l < 6 && !status; l++) {
      RfConvShape shape = {.channels_in = channels,
                           .height = side,
                           .width = side,
                           .channels_out = rows[l][0],
                           .kernel_h = rows[l][1],
                           .kernel_w = rows[l][1],
                           .stride = rows[l][2],
                           .padding = rows[l][3]};
      status = rf_layers_add_conv(context, net, shape);
      channels = rows[l][0], side = status ? side : net->layers[l].conv.height_out;
    }
    if (!status) status = rf_layers_add_dense(context, net, 3136, 128);
    return status ? status : rf_layers_add_dense(context, net, 128, 1);
  }
  if (!status) status = rf_layers_add_dense(context, net, c->d, c->m);
  for (int l = 0; l < 2 && strcmp(c->kind, "residual") == 0 && !status; l++) {
    status = rf_layers_add_dense(context, net, c->m, c->m);
    if (!status) status = rf_layers_set_residual(context, net);
  }
  return status ? status : rf_layers_add_dense(context, net, c->m, 1);
}

/* Multiplications and additions of one sample: forward, gradient, and back through all layers but the first.
 */
static double flops_per_sample(const RfLayeredNet *net) {
  double total = 0;
  for (rf_index l = 0; l < net->n_layers; l++) {
    const RfLayer *layer = &net->layers[l];
    double products_ = (double)layer->parameters;
    if (layer->kind == RF_LAYER_CONV) products_ *= (double)(layer->conv.height_out * layer->conv.width_out);
    total += products_ * (l > 0 && net->n_layers > 2 ? 6 : 4);
  }
  return total;
}

static int measure(const Case *c, RfPrecision precision, const Peaks *peaks) {
  RfContext context;
  RfRandom random;
  RfLayeredNet net = {0};
  int failed = 1;
  rf_context_init(&context);
  rf_random_init(&random, 1, 0);
  double *X = RF_NEW(double, c->n * c->d), *y = RF_NEW(double, c->n), best = 1e300;
  if (!X || !y || build(&context, &net, c)) goto done;
  fill(&random, X, c->n * c->d, 0.1);
  for (rf_index i = 0; i < c->n; i++) y[i] = rf_random_sign(&random);
  rf_layers_init_uniform(&net, &random, 1);
  RfTrainSettings settings;
  rf_train_settings_init(&settings);
  settings.optimizer = c->optimizer, settings.batch = c->batch, settings.rate = 1e-4;
  settings.precision = precision, settings.record_every = 1000000;
  RfTrainData data = {.X = X, .y = y, .n = c->n};
  for (int attempt = 0; attempt < 3; attempt++) { /* setup is what a run of no updates costs */
    double seconds[2];
    for (int k = 0; k < 2; k++) {
      RfTrainResult result;
      double start = processor_seconds();
      settings.max_steps = k ? c->steps : 0;
      if (rf_train_run(&context, &result, &net, &data, &settings)) goto done;
      seconds[k] = processor_seconds() - start;
      rf_train_result_free(&result);
    }
    double step = (seconds[1] - seconds[0]) / (double)c->steps;
    if (step < best) best = step;
  }
  rf_index rows = c->batch ? c->batch : c->n;
  double size = precision == RF_DOUBLE ? 8 : 4, flops = flops_per_sample(&net) * (double)rows / best;
  double bytes = size * ((double)rows * (double)c->d + 2.0 * (double)net.n_parameters) / best;
  printf("%-9s %6lld x %4lld x %5lld  %-6s %10.1f steps/s %7.1f GF/s %5.2f %7.2f GB/s %5.2f ", c->kind,
         (long long)rows, (long long)c->d, (long long)c->m, precision == RF_DOUBLE ? "double" : "float",
         1 / best, 1e-9 * flops, flops / peaks->flops[precision == RF_FLOAT], 1e-9 * bytes,
         bytes / peaks->bytes);
  if (strcmp(c->kind, "two") == 0)
    printf("%6.2f\n", products(c->n, c->d, c->m, precision, c->steps / 4 + 1) / best);
  else
    puts("     -");
  fflush(stdout);
  failed = 0;
done:
  if (failed) fprintf(stderr, "%s: %s\n", c->kind, context.error);
  rf_layers_free(&net);
  rf_free(X), rf_free(y);
  return failed;
}

int main(void) {
  Peaks peaks = measure_peaks();
  printf("measured peaks of one thread: %.1f GF/s double, %.1f GF/s float (gemm 768), %.1f GB/s read\n",
         1e-9 * peaks.flops[0], 1e-9 * peaks.flops[1], 1e-9 * peaks.bytes);
  puts("network   samples x inputs x width  type        updates      flops, of peak   memory, of peak, "
       "of the gemm rate at these shapes");
  const Case cases[] = {
      {"two", 500, 20, 100, 0, 3000, RF_TRAIN_GD},     {"two", 2000, 20, 100, 0, 700, RF_TRAIN_GD},
      {"two", 500, 20, 1000, 0, 300, RF_TRAIN_GD},     {"two", 12665, 784, 50, 0, 4, RF_TRAIN_GD},
      {"residual", 500, 20, 100, 0, 200, RF_TRAIN_GD}, {"conv", 128, 784, 128, 0, 1, RF_TRAIN_ADAM}};
  int failed = 0;
  for (int k = 0; k < 6; k++) {
    if (k < 5) failed |= measure(&cases[k], RF_DOUBLE, &peaks);
    failed |= measure(&cases[k], RF_FLOAT, &peaks);
  }
  return failed;
}

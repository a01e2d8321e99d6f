/* Hard margins: how the time grows with n and d, and on real data. `bench_margin FILE` runs one problem from
 * a raw file (int64 n, int64 d, n*d doubles, n labels) and prints `seconds margin`, for the comparison with
 * the peers. */
#include "reluflow/reluflow.h"
#include "la/la.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Gaussian rows with labels of a random direction, pushed `gap` away from its hyperplane. */
static void teacher(double *X, double *y, rf_index n, rf_index d, double gap) {
  RfRandom random;
  rf_random_init(&random, (uint64_t)(n + d), 0);
  double *w = RF_NEW(double, d);
  rf_random_direction(&random, w, d);
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < n; i++) {
    y[i] = rf_la_dot(w, X + i * d, d) > 0 ? 1 : -1;
    rf_la_axpy(X + i * d, gap * y[i], w, d);
  }
  rf_free(w);
}

static void report(const char *name, const double *X, const double *y, rf_index n, rf_index d,
                   bool intercept) {
  RfContext context;
  RfLinearMargin m;
  rf_context_init(&context);
  double best = INFINITY, begin = rf_clock_seconds();
  for (int run = 0; run < 20 && (run < 2 || rf_clock_seconds() - begin < 0.5); run++) {
    double start = rf_clock_seconds();
    RfStatus status = intercept ? rf_margin_linear_intercept(&context, &m, X, y, n, d)
                                : rf_margin_linear(&context, &m, X, y, n, d);
    best = fmin(best, rf_clock_seconds() - start);
    if (status < 0) {
      printf("%-26s %s\n", name, context.error);
      return;
    }
    if (best > 2 || run == 19 || (run >= 1 && rf_clock_seconds() - begin >= 0.5)) break;
    rf_linear_margin_free(&m);
  }
  printf("%-26s %8lld %6lld %10.5f %8lld %8lld %12.5g %9.1e\n", name, (long long)n, (long long)d, best,
         (long long)m.iterations, (long long)m.n_support, m.margin,
         m.separable ? m.stationarity : m.farkas_residual);
  rf_linear_margin_free(&m);
}

static void scaling(const char *name, rf_index n, rf_index d, double gap) {
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
  if (X && y) {
    teacher(X, y, n, d, gap);
    report(name, X, y, n, d, false);
  }
  rf_free(X);
  rf_free(y);
}

static void real(const char *name, const char *file, const char *labels, const char *classes) {
  const char *own = RF_SOURCE_DIR "/data", *more = getenv("RELUFLOW_DATA");
  const char *folder = labels && more ? more : own; /* MNIST is not part of the project */
  char path[4096], second[4096];
  RfContext context;
  RfDataSource source;
  RfDataset data;
  rf_context_init(&context);
  rf_data_source_init(&source);
  snprintf(path, sizeof path, "%s/%s", folder, file);
  snprintf(second, sizeof second, "%s/%s", folder, labels ? labels : "");
  source.path = path;
  source.labels_path = labels ? second : NULL;
  source.classes = classes;
  if (rf_data_load(&context, &data, &source)) {
    printf("%-26s %s\n", name, context.error);
    return;
  }
  report(name, data.X, data.y, data.n, data.d, false);
  report("   with intercept", data.X, data.y, data.n, data.d, true);
  rf_dataset_free(&data);
}

static int one_file(const char *path) {
  FILE *file = fopen(path, "rb");
  int64_t size[2];
  if (!file || fread(size, sizeof *size, 2, file) != 2) return 2;
  rf_index n = size[0], d = size[1];
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n), best = INFINITY;
  if (!X || !y || fread(X, sizeof *X, (size_t)(n * d), file) != (size_t)(n * d) ||
      fread(y, sizeof *y, (size_t)n, file) != (size_t)n)
    return 2;
  RfContext context;
  RfLinearMargin m = {0};
  rf_context_init(&context);
  for (int run = 0; run < 5; run++) {
    rf_linear_margin_free(&m);
    double start = rf_clock_seconds();
    if (rf_margin_linear(&context, &m, X, y, n, d) < 0) return 2;
    best = fmin(best, rf_clock_seconds() - start);
    if (best > 1) break;
  }
  printf("%.9g %.17g\n", best, m.separable ? m.margin : 0.0);
  rf_linear_margin_free(&m);
  fclose(file);
  rf_free(X);
  rf_free(y);
  return 0;
}

int main(int count, char **arguments) {
  if (count > 1) return one_file(arguments[1]);
  printf("%-26s %8s %6s %10s %8s %8s %12s %9s\n", "hard margin", "n", "d", "seconds", "steps", "support",
         "margin", "residual");
  for (rf_index n = 100; n <= 1000000; n *= 10) scaling("n grows, gap 0.1", n, 20, 0.1);
  for (rf_index d = 10; d <= 1000; d *= 10) scaling("d grows, gap 0", 2000, d, 0);
  scaling("wide", 100, 20000, 0);
  scaling("large", 1000000, 100, 0.05);
  real("digits 0,1", "digits8x8.csv", NULL, "0,1");
  real("digits 3,8", "digits8x8.csv", NULL, "3,8");
  real("iris 1,2", "iris.csv", NULL, "1,2");
  real("breast cancer", "breast_cancer.csv", NULL, NULL);
  real("MNIST 0,1", "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", "0,1");
  real("MNIST 3,8", "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz", "3,8");
  return 0;
}

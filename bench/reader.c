/* Speed and peak memory of the readers. Files of growing size are written to RF_BENCH_DIR (default: a folder
 * under /tmp) and kept there for the peers (bench/peers/reader.py), together with our results in ours.tsv.
 * Each file is read in a process of its own, so that the peak belongs to it alone. Sizes in MB:
 * RF_BENCH_SIZES, default "10 40 160". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reluflow/reluflow.h"
#include "core/core.h"

typedef struct Kind {
  const char *name, *ending;
  rf_index columns;
} Kind;

static const Kind kinds[] = {
    {"csv, 17 digits, d=20", "digits17.csv", 20},  {"csv, 4 digits, d=20", "digits4.csv", 20},
    {"csv, integers, d=784", "integers.csv", 784}, {"libsvm, all entries, d=20", "full.svm", 20},
    {"libsvm, 1 of 10, d=500", "sparse.svm", 500},
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static size_t write_row(char *out, size_t kind, RfRandom *random, rf_index row) {
  size_t used = 0;
  rf_index d = kinds[kind].columns;
  if (kind >= 3) used += (size_t)sprintf(out, row % 2 ? "1" : "-1");
  for (rf_index j = 0; j < d; j++) {
    double x = rf_random_gaussian(random);
    if (kind == 0) used += (size_t)sprintf(out + used, "%.17g,", x);
    if (kind == 1) used += (size_t)sprintf(out + used, "%.4g,", x);
    if (kind == 2) used += (size_t)sprintf(out + used, "%d,", (int)rf_random_below(random, 256));
    if (kind == 3) used += (size_t)sprintf(out + used, " %d:%.9g", (int)j + 1, x);
    if (kind == 4 && (j == d - 1 || rf_random_below(random, 10) == 0)) {
      used += (size_t)sprintf(out + used, " %d:%.9g", (int)j + 1, x);
    }
  }
  if (kind < 3) used += (size_t)sprintf(out + used, "%d", (int)(row % 2));
  out[used++] = '\n';
  return used;
}

/* One megabyte of rows, repeated. */
static void write_file(const char *path, size_t kind, long megabytes) {
  struct stat about;
  if (stat(path, &about) == 0 && about.st_size >= megabytes * 1000000) return;
  char *block = malloc(1200000);
  size_t used = 0;
  RfRandom random;
  rf_random_init(&random, kind, 0);
  for (rf_index row = 0; used < 1000000; row++) used += write_row(block + used, kind, &random, row);
  FILE *file = fopen(path, "wb");
  for (double left = (double)megabytes * 1e6; file && left > 0; left -= (double)used)
    fwrite(block, 1, used, file);
  if (file) fclose(file);
  free(block);
}

typedef struct Reading {
  double seconds, peak, matrix; /* bytes */
  rf_index n, d;
} Reading;

/* Of this process on its core: other work on the machine does not count. */
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss * 1024;
}

static Reading read_once(const char *path) {
  Reading reading = {0};
  RfContext context;
  RfDataset dataset;
  RfDataSource source;
  rf_context_init(&context);
  rf_data_source_init(&source);
  source.path = path;
  double before = peak_bytes(), start = cpu_seconds();
  RfStatus status = rf_data_load(&context, &dataset, &source);
  reading.seconds = cpu_seconds() - start;
  if (status) fprintf(stderr, "%s\n", context.error);
  reading.peak = peak_bytes() - before, reading.matrix = (double)(dataset.n * dataset.d) * 8;
  reading.n = dataset.n, reading.d = dataset.d;
  rf_dataset_free(&dataset);
  return reading;
}

/* In a child, the best of two. */
static Reading read_apart(const char *path) {
  int ends[2];
  Reading best = {.seconds = -1};
  for (int repeat = 0; repeat < 2; repeat++) {
    Reading reading = {.seconds = -1};
    if (pipe(ends) != 0) return best;
    pid_t child = fork();
    if (child == 0) {
      reading = read_once(path);
      ssize_t sent = write(ends[1], &reading, sizeof reading);
      _exit(sent == (ssize_t)sizeof reading ? 0 : 1);
    }
    if (read(ends[0], &reading, sizeof reading) != (ssize_t)sizeof reading) reading.seconds = -1;
    waitpid(child, NULL, 0);
    close(ends[0]), close(ends[1]);
    if (best.seconds < 0 || reading.seconds < best.seconds) best = reading;
  }
  return best;
}

int main(void) {
  const char *folder = getenv("RF_BENCH_DIR"), *sizes = getenv("RF_BENCH_SIZES");
  char path[1024];
  if (!folder) folder = "/tmp/reluflow-bench-reader";
  if (!sizes) sizes = "10 40 160";
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/ours.tsv", folder);
  FILE *results = fopen(path, "w");
  if (!results) return 1;
  printf("%-28s %8s %10s %6s %9s %9s %12s\n", "file", "MB", "rows", "d", "seconds", "MB/s", "peak/matrix");
  for (size_t kind = 0; kind < N_KINDS; kind++) {
    for (const char *p = sizes; *p;) {
      char *end;
      long megabytes = strtol(p, &end, 10);
      if (end == p) break;
      p = end;
      snprintf(path, sizeof path, "%s/%ld-%s", folder, megabytes, kinds[kind].ending);
      write_file(path, kind, megabytes);
      struct stat about = {0};
      stat(path, &about);
      Reading reading = read_apart(path);
      double size = (double)about.st_size / 1e6;
      printf("%-28s %8.0f %10lld %6lld %9.3f %9.0f %12.3f\n", kinds[kind].name, size, (long long)reading.n,
             (long long)reading.d, reading.seconds, size / reading.seconds, reading.peak / reading.matrix);
      fflush(stdout);
      fprintf(results, "%s\t%s\t%.6f\t%.0f\n", path, kinds[kind].name, reading.seconds, size);
    }
  }
  return fclose(results) == 0 ? 0 : 1;
}

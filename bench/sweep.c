/* Sweeps of small flows: a loop on one core, without a store, against the engine with one and two workers.
 * Wall time and processor time (which does not mind what else the machine does), overhead per cell, memory
 * after a tenth and at the end. bench_sweep [--cells N] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "options.h"
#include "cli/sweep_cells.h"

typedef struct Cost {
  double wall, cpu, writer; /* seconds; writer: processor time of the parent alone */
  long memory;              /* largest resident set of a process, kB */
} Cost;

static double seconds_of(const struct rusage *usage) {
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static Cost now(void) {
  struct rusage self, children;
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  return (Cost){rf_clock_seconds(), seconds_of(&self) + seconds_of(&children), seconds_of(&self),
                children.ru_maxrss};
}

static Cost since(Cost before) {
  Cost after = now();
  return (Cost){after.wall - before.wall, after.cpu - before.cpu, after.writer - before.writer, after.memory};
}

static void fail(const RfContext *context) {
  fprintf(stderr, "%s\n", context->error);
  exit(1);
}

/* The cells one after the other, results thrown away: what a script that calls the library would need. */
static Cost loop(RfContext *context, const SweepPlan *plan) {
  Cost start = now();
  for (rf_index cell = 0; cell < plan->n_cells; cell++) {
    SweepTexts words = {0};
    SweepAnswer answer = {0};
    if (sweep_plan_words(context, &words, plan, cell)) fail(context);
    plan->command->run(plan->command->user, &answer, (int)words.count, words.items);
    rf_text_free(&answer.json);
    sweep_texts_free(&words);
  }
  return since(start);
}

static Cost engine(RfContext *context, const SweepPlan *plan, char **words, int count, rf_index workers) {
  char path[] = "/tmp/bench_sweep_XXXXXX", beside[64];
  SweepStore *store = NULL;
  SweepSpec spec = {.command = "flow", .words = {count, count, words}};
  int file = mkstemp(path);
  if (file >= 0) close(file);
  Cost start = now();
  if (sweep_store_create(context, &store, path, plan, &spec) ||
      sweep_run(context, store, plan, workers, false) || sweep_store_close(context, store))
    fail(context);
  Cost cost = since(start);
  unlink(path);
  snprintf(beside, sizeof beside, "%s-wal", path), unlink(beside);
  return cost;
}

static void line(const char *name, Cost cost, Cost base, rf_index cells) {
  printf("%-22s %9.2f %9.2f %9.0f %8.2f %14.3f %12.3f %10ld\n", name, cost.wall, cost.cpu,
         (double)cells / cost.wall, base.wall / cost.wall, 1e3 * (cost.cpu - base.cpu) / (double)cells,
         1e3 * cost.writer / (double)cells, cost.memory / 1024);
}

int main(int argc, char **argv) {
  long cells = 20000;
  const BenchOption table[] = {OPTION("--cells", "N", OPTION_COUNT, &cells)};
  if (!bench_options(table, 1, argc, argv)) return 2;
  char seeds[40], few[40];
  RfContext context;
  SweepCommand command;
  SweepPlan plan, tenth;
  rf_serial_blas();
  rf_context_init(&context);
  snprintf(seeds, sizeof seeds, "--seed=0..%lld", (long long)cells - 1);
  snprintf(few, sizeof few, "--seed=0..%lld", (long long)cells / 10 - 1);
  char *words[] = {"gen:orthant,n=10,d=3", "--width=4", "--scale=limit", "--trace=0", "--verdict=0", seeds};
  char *fewer[] = {words[0], words[1], words[2], words[3], words[4], few};
  if (sweep_command_named(&context, &command, "flow") ||
      sweep_plan_new(&context, &plan, &command, 6, words, NULL, NULL) ||
      sweep_plan_new(&context, &tenth, &command, 6, fewer, NULL, NULL))
    fail(&context);
  printf("%lld cells: flow %s %s %s %s %s\n", (long long)cells, words[0], words[1], words[2], words[3],
         words[4]);
  printf("%-22s %9s %9s %9s %8s %14s %12s %10s\n", "", "wall, s", "CPU, s", "cells/s", "speed-up",
         "overhead, ms", "writer, ms", "worker, MB");
  Cost base = loop(&context, &plan);
  line("loop, no store", base, base, cells);
  Cost small = engine(&context, &tenth, fewer, 6, 1);
  printf("%-22s %80ld\n", "a tenth, 1 worker", small.memory / 1024);
  line("1 worker", engine(&context, &plan, words, 6, 1), base, cells);
  line("2 workers", engine(&context, &plan, words, 6, 2), base, cells);
  sweep_plan_free(&plan);
  sweep_plan_free(&tenth);
  return 0;
}

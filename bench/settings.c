/* Does the limit depend on what a run may choose? Tolerance, margin at which the scale is frozen, merging and
 * events method, two settings each: every problem is run with all sixteen.
 *
 *   bench_settings [--family F|all] [--count N] [--first J] [--seed S] [--threads K] [--limit T] [--list]
 *
 * Against the usual settings, where both runs converge: margins to 1e-9 of each other, directions to 1e-6 or
 * to the direction_error that the usual run reports of itself. Without --seed the clock gives it, and it is
 * printed. Runs at fault are printed as commands. Exit status 1 when a limit moves by more than it says, or a
 * run that converges at one setting is called not separated at another. */
#include <time.h>

#include "../tests/flow/families.h"
#include "jobs.h"
#include "options.h"

enum { CHOICES = 4, VARIANTS = 1 << CHOICES, RUN_SECONDS = 300 };
static const char *const choice_names[CHOICES] = {"tolerance / 10", "frozen at q / 4", "merging / 10",
                                                  "events by steps"};

typedef struct Options {
  int family; /* FAMILY_COUNT: all */
  long count, first, threads;
  uint64_t seed;
  double limit;
  bool list;
} Options;

typedef struct Report {
  RfFlowOutcome outcome[VARIANTS]; /* 0: the usual settings */
  bool failed[VARIANTS];
  double margin[VARIANTS], distance[VARIANTS], direction_error, seconds;
} Report;

typedef struct Row {
  long pairs, margins, same, covered, beyond, undecided, contrary;
  double worst;
} Row;

typedef struct Bench {
  Options options;
  Row alone[CHOICES], all;
  long runs, converged, faults;
  double slowest;
} Bench;

static Family family_of(const Options *options, long job) {
  return (Family)(options->family < FAMILY_COUNT ? options->family : job % FAMILY_COUNT);
}

static RfFlowVariant variant_of(int which) {
  RfFlowVariant variant = rf_flow_usual;
  if (which & 1) variant.tolerance *= 0.1, variant.stride *= 0.1;
  if (which & 2) variant.q_frozen *= 0.25, variant.q_slow *= 0.5;
  if (which & 4) variant.together *= 0.1;
  variant.by_steps = (which & 8) != 0;
  return variant;
}

static double distance(const RfNet *one, const RfNet *other) {
  double sum = 0;
  for (rf_index k = 0; k < one->m * one->d; k++) sum += pow(one->W[k] - other->W[k], 2);
  for (rf_index k = 0; k < one->m; k++) sum += pow(one->a[k] - other->a[k], 2);
  return sqrt(sum);
}

static void work(void *user, long job, void *into) {
  const Options *options = &((const Bench *)user)->options;
  Report *report = into;
  RfContext context;
  FamilyProblem p;
  RfFlowResult usual = {0};
  rf_context_init(&context);
  if (family_problem_new(&context, &p, family_of(options, job), options->seed, options->first + job, false))
    exit(2);
  for (int v = 0; v < VARIANTS; v++) {
    RfFlowResult result = {0};
    RfFlowSettings settings;
    RfFlowVariant variant = variant_of(v);
    rf_flow_settings_init(&settings);
    settings.with_alignment = false;
    settings.check_direction = v == 0;
    settings.audit = v == 0;
    settings.variant = &variant;
    report->failed[v] = rf_flow_run(&context, &result, &p.flow, &settings) < 0;
    if (report->failed[v]) break;
    report->outcome[v] = result.limit.outcome, report->margin[v] = result.limit.margin;
    if (v == 0) {
      usual = result, report->direction_error = result.limit.direction_error;
      if (result.limit.outcome != RF_FLOW_CONVERGED) break;
      continue;
    }
    if (result.limit.outcome == RF_FLOW_CONVERGED)
      report->distance[v] = distance(&usual.limit.net, &result.limit.net);
    rf_flow_result_free(&result);
  }
  report->seconds = jobs_own_seconds();
}

/* True when the pair is one to look at. */
static bool count_pair(Row *row, const Report *report, int v) {
  if (report->outcome[v] != RF_FLOW_CONVERGED) {
    bool contrary = report->outcome[v] == RF_FLOW_NOT_SEPARATED;
    row->contrary += contrary, row->undecided += !contrary;
    return contrary;
  }
  bool same = report->distance[v] <= 1e-6, covered = !same && report->distance[v] <= report->direction_error;
  bool margin = fabs(report->margin[v] / report->margin[0] - 1) <= 1e-9;
  row->pairs++, row->same += same, row->covered += covered, row->beyond += !same && !covered;
  row->margins += margin;
  row->worst = fmax(row->worst, report->distance[v]);
  return !margin || !(same || covered);
}

static bool done(void *user, long job, const void *from, JobEnd end) {
  Bench *bench = user;
  const Options *options = &bench->options;
  const Report *report = from;
  char text[256] = "";
  bool failed = end != JOB_DONE;
  for (int v = 0; v < VARIANTS && !failed; v++) failed = report->failed[v];
  bench->runs++, bench->faults += failed, bench->slowest = fmax(bench->slowest, report->seconds);
  if (failed)
    snprintf(text, sizeof text, "%s", end == JOB_LATE ? "no end" : end == JOB_CRASHED ? "crash" : "failure");
  if (!failed && report->outcome[0] == RF_FLOW_CONVERGED) {
    bench->converged++;
    for (int v = 1; v < VARIANTS; v++) {
      bool look = count_pair(&bench->all, report, v);
      for (int c = 0; c < CHOICES; c++)
        if (v == 1 << c) count_pair(&bench->alone[c], report, v);
      if ((look || (options->list && report->outcome[v] != RF_FLOW_CONVERGED)) && !text[0])
        snprintf(text, sizeof text,
                 "settings %d: %s, distance %.3g (direction_error %.3g), margin %.12g (usual %.12g)", v,
                 rf_flow_outcome_name(report->outcome[v]), report->distance[v], report->direction_error,
                 report->margin[v], report->margin[0]);
    }
  }
  if (text[0]) {
    RfContext context;
    FamilyProblem p;
    Family family = family_of(options, job);
    rf_context_init(&context);
    if (family_problem_new(&context, &p, family, options->seed, options->first + job, false)) exit(2);
    printf("# %s %ld: %s\n", family_names[family], options->first + job, text);
    family_problem_print(stdout, &p, NULL);
    family_problem_free(&p);
  }
  return true;
}

static void print_row(const char *name, const Row *r) {
  double pairs = r->pairs > 0 ? (double)r->pairs : 1;
  printf("%-22s %7ld %9ld (%7.3f %%) %9ld (%7.3f %%) %8ld %7ld %10ld %14ld %9.1e\n", name, r->pairs,
         r->margins, 100 * (double)r->margins / pairs, r->same, 100 * (double)r->same / pairs, r->covered,
         r->beyond, r->undecided, r->contrary, r->worst);
}

static bool read_options(Options *o, int argc, char **argv) {
  *o = (Options){.family = FAMILY_COUNT,
                 .count = 2000,
                 .seed = (uint64_t)time(NULL),
                 .threads = 1,
                 .limit = RUN_SECONDS};
  const BenchOption table[] = {OPTION_OF("--family", "F|all", &o->family, family_names, "all"),
                               OPTION("--count", "N", OPTION_COUNT, &o->count),
                               OPTION("--first", "J", OPTION_COUNT, &o->first),
                               OPTION("--seed", "S", OPTION_SEED, &o->seed),
                               OPTION("--threads", "K", OPTION_COUNT, &o->threads),
                               OPTION("--limit", "T", OPTION_NUMBER, &o->limit),
                               OPTION("--list", NULL, OPTION_SWITCH, &o->list)};
  return bench_options(table, (int)(sizeof table / sizeof *table), argc, argv);
}

int main(int argc, char **argv) {
  static Bench bench;
  if (!read_options(&bench.options, argc, argv)) return 2;
  Jobs jobs = {.workers = (int)bench.options.threads,
               .seconds = bench.options.limit,
               .size = sizeof(Report),
               .user = &bench,
               .work = work,
               .done = done};
  printf("seed %llu\n", (unsigned long long)bench.options.seed);
  jobs_run(&jobs, 0, bench.options.count);
  printf(
      "\n%ld problems, %ld converged at the usual settings, %ld without end or with a failure, the slowest "
      "%.1f s\n\n",
      bench.runs, bench.converged, bench.faults, bench.slowest);
  printf("%-22s %7s %21s %21s %8s %7s %10s %14s %9s\n", "changed", "both", "margin to 1e-9", "direction 1e-6",
         "covered", "beyond", "undecided", "not-separated", "farthest");
  for (int c = 0; c < CHOICES; c++) print_row(choice_names[c], &bench.alone[c]);
  print_row("all 15 combinations", &bench.all);
  printf("\nboth: pairs of converged runs, the changed one beside the usual one. covered: farther than 1e-6, "
         "within direction_error.\n");
  return bench.all.beyond + bench.all.contrary + bench.faults > 0;
}

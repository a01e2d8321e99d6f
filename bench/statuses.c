/* Are the words of the flow true? `converged` and `not-separated` against an integrator that shares no code
 * with it (tests/flow/cartesian_far.h), carried to margin 400 or to where the loss no longer falls; and
 * weights at finite times against that integrator's.
 *
 *   bench_statuses [--runs N] [--times N] [--threads K] [--seed S] [--first J] [--family F|all] [--list]
 *
 * Problems with up to six neurons from the families of tests/flow/families.h in turn, until N runs of
 * either word have an opinion; then N finite times. `layered`: networks of depth 2 to 4, against a plain
 * integration (tests/flow/layered_plain.h), without finite times; not one of all. Without --seed the clock
 * gives it, and it is printed. Contradictions are printed as commands, with --list also where the integrator
 * has no opinion. Exit status 1 when something is contradicted. */
#include <time.h>

#include "../tests/flow/layered_plain.h"
#include "../tests/flow/opinion.h"
#include "jobs.h"
#include "options.h"

enum { JOB_SECONDS = 120, WORDS = 2 };

typedef struct Options {
  long runs, times, first, threads;
  int family; /* FAMILY_COUNT: layered; FAMILY_COUNT + 1: all */
  uint64_t seed;
  bool list;
} Options;

typedef struct Report {
  RfStatus status;
  RfFlowOutcome outcome;
  bool asked;
  Opinion opinion;
  double flow_seconds, opinion_seconds, time;
} Report;

typedef struct Row {
  long runs, agreed, brief, contradicted, none, faults;
  double seconds, slowest, farthest;
} Row;

typedef struct Bench {
  Options options;
  bool finite;
  Row rows[FAMILY_COUNT + 1][WORDS], times[FAMILY_COUNT + 1];
  long given[WORDS], others, given_times;
} Bench;

static Family family_of(const Bench *bench, long job) {
  return (Family)(bench->options.family <= FAMILY_COUNT ? bench->options.family : job % FAMILY_COUNT);
}

static const char *name_of(int family) { return family < FAMILY_COUNT ? family_names[family] : "layered"; }

static void make_problem(const Bench *bench, long job, FamilyProblem *p, double *time) {
  RfContext context;
  rf_context_init(&context);
  if (family_problem_new(&context, p, family_of(bench, job), bench->options.seed, job, true)) exit(2);
  *time = exp(-1 + 5 * (double)(job % 17) / 16);
  if (bench->finite) p->scale = 1, p->flow.log_scale = 0; /* the integrator's clock is plain time */
}

static void work_layered(const Bench *bench, long job, Report *report) {
  RfContext context;
  RfFlowSettings settings;
  RfLayeredLimit limit = {0};
  LayeredProblem p;
  rf_context_init(&context);
  if (layered_problem_new(&context, &p, bench->options.seed, job)) exit(2);
  rf_flow_settings_init(&settings);
  report->status = rf_flow_run_layered(&context, &limit, &p.net, p.X, p.y, p.n, p.loss, false, &settings);
  report->flow_seconds = jobs_own_seconds();
  if (report->status < 0) return;
  report->outcome = limit.outcome;
  report->asked = limit.outcome == RF_FLOW_CONVERGED || limit.outcome == RF_FLOW_NOT_SEPARATED;
  if (!report->asked) return;
  PlainOpinion own = plain_opinion(&p, &limit);
  report->opinion = (Opinion){
      .given = own.given, .contradicts = own.contradicts, .distance = own.distance, .log_t = own.log_t};
  snprintf(report->opinion.text, sizeof report->opinion.text, "%s", own.text);
  report->opinion_seconds = jobs_own_seconds() - report->flow_seconds;
}

static void work(void *user, long job, void *into) {
  const Bench *bench = user;
  Report *report = into;
  if (bench->options.family == FAMILY_COUNT) {
    work_layered(bench, job, report);
    return;
  }
  RfContext context;
  RfFlowSettings settings;
  RfFlowResult result = {0};
  FamilyProblem p;
  make_problem(bench, job, &p, &report->time);
  rf_context_init(&context);
  rf_flow_settings_init(&settings);
  if (bench->finite) settings.until = RF_UNTIL_TIME, settings.until_value = report->time;
  report->status = rf_flow_run(&context, &result, &p.flow, &settings);
  report->flow_seconds = jobs_own_seconds();
  if (report->status < 0) return;
  report->outcome = result.limit.outcome;
  if (bench->finite && report->outcome == RF_FLOW_STOPPED)
    report->asked = true, report->opinion = opinion_at_time(&p, &result, report->time);
  if (!bench->finite && (report->outcome == RF_FLOW_CONVERGED || report->outcome == RF_FLOW_NOT_SEPARATED))
    report->asked = true, report->opinion = opinion_on_status(&p, &result);
  report->opinion_seconds = jobs_own_seconds() - report->flow_seconds;
}

static void tell(const Bench *bench, long job, const char *what, const Report *report) {
  FamilyProblem p;
  double time;
  char flags[64] = "";
  if (bench->options.family == FAMILY_COUNT) {
    printf("# layered %ld, %s: %s: %s\n", job, rf_flow_outcome_name(report->outcome), what,
           report->opinion.text);
    return;
  }
  make_problem(bench, job, &p, &time);
  if (bench->finite) snprintf(flags, sizeof flags, " --until time=%.17g", time);
  printf("# %s %ld, %s: %s: %s\n", name_of((int)family_of(bench, job)), job,
         rf_flow_outcome_name(report->outcome), what, report->opinion.text);
  family_problem_print(stdout, &p, flags);
  family_problem_free(&p);
}

static bool done(void *user, long job, const void *from, JobEnd end) {
  Bench *bench = user;
  const Report *report = from;
  Family family = family_of(bench, job);
  int word = report->outcome == RF_FLOW_NOT_SEPARATED;
  Row *row = bench->finite ? &bench->times[family] : &bench->rows[family][word];
  if (end != JOB_DONE || report->status < 0) {
    row->faults++;
    tell(bench, job, end == JOB_LATE ? "no end" : end == JOB_CRASHED ? "crash" : "failure", report);
    return true;
  }
  if (!report->asked) {
    bench->others++;
  } else {
    long *given = bench->finite ? &bench->given_times : &bench->given[word];
    if (!bench->finite && *given >= bench->options.runs) return true; /* enough of this word */
    row->runs++;
    row->seconds += report->opinion_seconds, row->slowest = fmax(row->slowest, report->opinion_seconds);
    row->none += !report->opinion.given;
    row->contradicted += report->opinion.contradicts;
    row->agreed += report->opinion.given && !report->opinion.contradicts;
    row->brief += report->opinion.given && report->opinion.short_of;
    *given += report->opinion.given;
    if (report->opinion.given && report->opinion.distance > row->farthest)
      row->farthest = report->opinion.distance;
    if (report->opinion.contradicts) tell(bench, job, "CONTRADICTED", report);
    if (!report->opinion.given && bench->options.list) tell(bench, job, "not decided", report);
  }
  return bench->finite ? bench->given_times < bench->options.times
                       : bench->given[0] < bench->options.runs || bench->given[1] < bench->options.runs;
}

static void print_row(const char *name, const char *word, const Row *r) {
  if (r->runs + r->faults == 0) return;
  printf("%-12s %-14s %6ld %7ld %6ld %13ld %12ld %7ld %9.3f %8.2f %9.1e\n", name, word, r->runs, r->agreed,
         r->brief, r->contradicted, r->none, r->faults, r->runs ? r->seconds / (double)r->runs : 0,
         r->slowest, r->farthest);
}

static void add(Row *sum, const Row *r) {
  sum->runs += r->runs, sum->agreed += r->agreed, sum->contradicted += r->contradicted;
  sum->none += r->none, sum->brief += r->brief, sum->faults += r->faults, sum->seconds += r->seconds;
  sum->slowest = fmax(sum->slowest, r->slowest), sum->farthest = fmax(sum->farthest, r->farthest);
}

static bool read_options(Options *o, int argc, char **argv) {
  *o = (Options){
      .runs = 500, .times = 200, .threads = 1, .family = FAMILY_COUNT + 1, .seed = (uint64_t)time(NULL)};
  const BenchOption table[] = {OPTION("--runs", "N", OPTION_COUNT, &o->runs),
                               OPTION("--times", "N", OPTION_COUNT, &o->times),
                               OPTION("--threads", "K", OPTION_COUNT, &o->threads),
                               OPTION("--seed", "S", OPTION_SEED, &o->seed),
                               OPTION("--first", "J", OPTION_COUNT, &o->first),
                               OPTION_OF("--family", "F|all", &o->family, family_names, "layered", "all"),
                               OPTION("--list", NULL, OPTION_SWITCH, &o->list)};
  return bench_options(table, (int)(sizeof table / sizeof *table), argc, argv);
}

int main(int argc, char **argv) {
  static Bench bench;
  static const char *const words[] = {"converged", "not-separated"};
  if (!read_options(&bench.options, argc, argv)) return 2;
  Jobs jobs = {.workers = (int)bench.options.threads,
               .seconds = JOB_SECONDS,
               .size = sizeof(Report),
               .user = &bench,
               .work = work,
               .done = done};
  Row sums[WORDS + 1] = {{0}};
  long most = bench.options.first + 40 * (bench.options.runs + bench.options.times);
  printf("seed %llu\n", (unsigned long long)bench.options.seed);
  if (bench.options.runs > 0) jobs_run(&jobs, bench.options.first, most);
  bench.finite = true;
  if (bench.options.times > 0 && bench.options.family != FAMILY_COUNT)
    jobs_run(&jobs, bench.options.first, most);
  printf("\n%-12s %-14s %6s %7s %6s %13s %12s %7s %9s %8s %9s\n", "family", "status", "runs", "agreed",
         "brief", "contradicted", "not decided", "faults", "mean s", "worst s", "farthest");
  for (int f = 0; f <= FAMILY_COUNT; f++) {
    for (int w = 0; w < WORDS; w++)
      print_row(name_of(f), words[w], &bench.rows[f][w]), add(&sums[w], &bench.rows[f][w]);
    print_row(name_of(f), "time=T", &bench.times[f]), add(&sums[WORDS], &bench.times[f]);
  }
  for (int w = 0; w < WORDS; w++) print_row("all", words[w], &sums[w]);
  print_row("all", "time=T", &sums[WORDS]);
  printf("\nagreed includes brief: plateaus that rounding ends after three to six decades of time. seconds: "
         "processor time of an opinion. farthest: the direction at margin 400 from the limit's, and "
         "for\ntime=T the largest difference of a weight over the largest weight. %ld runs had another "
         "status.\n",
         bench.others);
  return sums[0].contradicted + sums[1].contradicted + sums[2].contradicted + sums[0].faults +
             sums[1].faults + sums[2].faults >
         0;
}

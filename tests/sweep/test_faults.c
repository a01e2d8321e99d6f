/* Workers that crash, are killed, or never end: after all of it the store equals that of an undisturbed run,
 * column by column but for the seconds. */
#include "sweep_test.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { CELLS = 60 };
static char folder[] = "/tmp/rf_sweep_XXXXXX";

static char *path_of(char out[96], const char *name) {
  snprintf(out, 96, "%s/%s", folder, name);
  return out;
}

static char *words[] = {"gen:orthant,n={5,9},d=2", "--scale", "1e-2,limit", "--seed", "0..14"};

/* Makes or resumes a store; returns what sweep_run said. */
static RfStatus sweep(RfContext *context, const char *path, int count, char **own, rf_index workers,
                      const volatile int *stop) {
  SweepPlan plan;
  SweepStore *store = NULL;
  SweepSpec spec = {.command = (char *)"flow", .words = {count, count, own}};
  rf_context_init(context);
  context->cancel = stop;
  RfStatus status = sweep_plan_new(context, &plan, &toy, count, own, NULL, NULL);
  if (status) return status;
  status = sweep_store_create(context, &store, path, &plan, &spec);
  if (!status) status = sweep_run(context, store, &plan, workers, false);
  RfStatus closed = sweep_store_close(context, store);
  sweep_plan_free(&plan);
  return status < 0 ? status : closed ? closed : status;
}

static void runs(const char *path, rf_index workers) {
  RfContext context;
  RfStatus status = sweep(&context, path, 5, words, workers, NULL);
  if (status) fail_msg("%s: %s", path, context.error);
}

/* Every row of the table of cells as text, without seconds. */
static char *contents(const char *path) {
  sqlite3 *database;
  sqlite3_stmt *rows;
  RfText out = {0};
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, "SELECT * FROM cells ORDER BY id", -1, &rows, NULL),
                   SQLITE_OK);
  while (sqlite3_step(rows) == SQLITE_ROW) {
    for (int k = 0; k < sqlite3_column_count(rows); k++) {
      if (strcmp(sqlite3_column_name(rows, k), "seconds") == 0) continue;
      if (sqlite3_column_type(rows, k) == SQLITE_FLOAT)
        rf_text_addf(&out, "%s=%a|", sqlite3_column_name(rows, k), sqlite3_column_double(rows, k));
      else
        rf_text_addf(&out, "%s=%s|", sqlite3_column_name(rows, k),
                     (const char *)sqlite3_column_text(rows, k));
    }
    rf_text_add(&out, "\n");
  }
  sqlite3_finalize(rows);
  sqlite3_close(database);
  assert_false(out.failed);
  return out.data;
}

static long count(const char *path, const char *sql) {
  sqlite3 *database;
  sqlite3_stmt *rows;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &rows, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
  long number = (long)sqlite3_column_int64(rows, 0);
  sqlite3_finalize(rows);
  sqlite3_close(database);
  return number;
}

static void same_stores(const char *a, const char *b) {
  char *one = contents(a), *two = contents(b);
  assert_string_equal(one, two);
  rf_free(one);
  rf_free(two);
}

static void types_and_names(void **state) {
  (void)state;
  char a[96];
  misdeeds_reset();
  runs(path_of(a, "plain.db"), 2);
  assert_int_equal(count(a, "SELECT count(*) FROM cells"), CELLS);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE status='undecided'"), 8);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE \"limit.margin\" = 1.0/(3.0+seed)"), CELLS);
  assert_int_equal(
      count(a, "SELECT count(*) FROM cells WHERE typeof(seed)='integer' AND typeof(n)='integer'"), CELLS);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE typeof(scale)='real'"), CELLS / 2);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE typeof(scale)='text'"), CELLS / 2);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE branched = seed % 2 AND \"json.n\" = 4"),
                   CELLS);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE \"end.log_t\" IS NULL AND length(digest) = 64"),
                   CELLS);
  assert_int_equal(count(a, "SELECT count(*) FROM incidents"), 0);
}

static void one_worker_or_many(void **state) {
  (void)state;
  char a[96], b[96];
  misdeeds_reset();
  runs(path_of(a, "plain.db"), 1); /* the store is there: nothing runs again */
  runs(path_of(b, "serial.db"), 1);
  same_stores(a, b);
  runs(path_of(b, "many.db"), 7);
  same_stores(a, b);
}

/* Killed once: one retry, recorded, and the result is there. */
static void killed_once(void **state) {
  (void)state;
  char a[96], b[96];
  misdeeds_reset();
  misdeeds.once_at = 4;
  path_of(misdeeds.once, "once");
  runs(path_of(b, "once.db"), 2);
  unlink(misdeeds.once);
  same_stores(path_of(a, "plain.db"), b);
  assert_true(count(b, "SELECT count(*) FROM incidents WHERE what LIKE '%signal 9%'") >= 1);
}

/* A cell that always crashes costs two workers and nothing else; undisturbed or not it ends as crashed. */
static void crashing_cell(void **state) {
  (void)state;
  char a[96], b[96];
  misdeeds_reset();
  misdeeds.crash_at = 6;
  runs(path_of(a, "crash1.db"), 1);
  runs(path_of(b, "crash3.db"), 3);
  same_stores(a, b);
  assert_int_equal(
      count(a, "SELECT count(*) FROM cells WHERE status='crashed' AND seed=6 AND digest IS NULL"), 4);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE status='crashed'"), 4);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE status='pending'"), 0);
  assert_int_equal(count(a, "SELECT count(*) FROM incidents"), 8);
}

/* Killed twice by somebody else: resume tries again and ends like an undisturbed run. */
static void killed_twice(void **state) {
  (void)state;
  char a[96], b[96];
  misdeeds_reset();
  misdeeds.kill_at = 9;
  runs(path_of(b, "killed.db"), 2);
  assert_int_equal(count(b, "SELECT count(*) FROM cells WHERE status='killed'"), 4);
  misdeeds_reset();
  runs(b, 2);
  same_stores(path_of(a, "plain.db"), b);
}

static void refused_cell(void **state) {
  (void)state;
  char a[96];
  misdeeds_reset();
  misdeeds.refuse_at = 3;
  runs(path_of(a, "refused.db"), 2);
  assert_int_equal(
      count(a, "SELECT count(*) FROM cells WHERE status='refused' AND error='seed 3 is refused'"), 4);
}

/* A cell that does not end is ended, once, when cells have a time. */
static void endless_cell(void **state) {
  (void)state;
  char a[96];
  RfContext context;
  char *own[] = {"gen:orthant,n=5,d=2", "--seed", "0..3", "--time", "0"};
  misdeeds_reset();
  misdeeds.sleep_at = 2;
  SweepPlan plan;
  SweepStore *store = NULL;
  SweepSpec spec = {.command = (char *)"flow", .words = {5, 5, own}};
  rf_context_init(&context);
  assert_int_equal(sweep_plan_new(&context, &plan, &toy, 5, own, NULL, NULL), RF_OK);
  plan.cell_limit = 0.3;
  assert_int_equal(sweep_store_create(&context, &store, path_of(a, "endless.db"), &plan, &spec), RF_OK);
  assert_int_equal(sweep_run(&context, store, &plan, 2, false), RF_OK);
  assert_int_equal(sweep_store_close(&context, store), RF_OK);
  sweep_plan_free(&plan);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE status='timeout' AND seed=2"), 1);
  assert_int_equal(count(a, "SELECT count(*) FROM cells WHERE status IN ('timeout','pending')"), 1);
}

static volatile int stop_now;
static void on_alarm(int number) {
  (void)number;
  stop_now = 1;
}

/* Ctrl-C: what has ended is in the store, the rest is pending; then resume. */
static void interrupted(void **state) {
  (void)state;
  char a[96], b[96];
  RfContext context;
  misdeeds_reset();
  misdeeds.nap = 20000;
  stop_now = 0;
  signal(SIGALRM, on_alarm);
  alarm(1);
  RfStatus status = sweep(&context, path_of(b, "stopped.db"), 5, words, 1, &stop_now);
  assert_int_equal(status, RF_INTERRUPTED);
  assert_true(count(b, "SELECT count(*) FROM cells WHERE status='pending'") > 0);
  misdeeds_reset();
  runs(b, 2);
  same_stores(path_of(a, "plain.db"), b);
}

/* The parent is killed again and again at random moments, its workers with it. */
static void parent_killed(void **state) {
  (void)state;
  char a[96], b[96];
  RfContext context;
  path_of(b, "parent.db");
  misdeeds_reset();
  misdeeds.nap = 10000;
  for (int round = 0; round < 12; round++) {
    pid_t pid = fork();
    if (pid == 0) _exit(sweep(&context, b, 5, words, 2, NULL) == RF_OK ? 0 : 1);
    nanosleep(&(struct timespec){.tv_nsec = 20000000L + 17000000L * round}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
  misdeeds_reset();
  runs(b, 2);
  same_stores(path_of(a, "plain.db"), b);
}

/* A disk that is full (here: a limit on the size of files): a failure in one line, then resume with room. */
static void full_disk(void **state) {
  (void)state;
  char a[96], b[96];
  RfContext context;
  misdeeds_reset();
  path_of(b, "full.db");
  int failures = 0;
  for (long limit = 4096; limit < 400000; limit += 24000) {
    pid_t pid = fork();
    if (pid == 0) {
      struct rlimit most = {(rlim_t)limit, (rlim_t)limit};
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &most);
      RfStatus status = sweep(&context, b, 5, words, 2, NULL);
      _exit(status == RF_OK ? 0 : status < 0 && context.error[0] ? 1 : 2);
    }
    int how;
    waitpid(pid, &how, 0);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) < 2);
    failures += WEXITSTATUS(how);
  }
  assert_true(failures > 0);
  runs(b, 2);
  same_stores(path_of(a, "plain.db"), b);
}

/* A store is for one sweep, and for one run at a time. */
static void stores_are_guarded(void **state) {
  (void)state;
  char a[96];
  RfContext context;
  char *other[] = {"gen:orthant,n={5,9},d=2", "--scale", "1e-2,limit", "--seed", "0..15"};
  misdeeds_reset();
  assert_int_equal(sweep(&context, path_of(a, "plain.db"), 5, other, 2, NULL), RF_ERR_USAGE);
  assert_non_null(strstr(context.error, "another sweep"));
}

static int set_up(void **state) {
  (void)state;
  return !mkdtemp(folder);
}

static int tear_down(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command); /* NOLINT: a folder of our own */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_and_names),    cmocka_unit_test(one_worker_or_many),
      cmocka_unit_test(killed_once),        cmocka_unit_test(crashing_cell),
      cmocka_unit_test(killed_twice),       cmocka_unit_test(refused_cell),
      cmocka_unit_test(endless_cell),       cmocka_unit_test(interrupted),
      cmocka_unit_test(parent_killed),      cmocka_unit_test(full_disk),
      cmocka_unit_test(stores_are_guarded),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

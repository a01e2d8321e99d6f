/* A host that has chosen a locale with a decimal comma (or one whose separator is several bytes long): the
 * commands read the same flags, specifications and files and write the same JSON, pages and pictures as in
 * the C locale. The locales are made here, so that the test does not depend on what the machine has. */
#include "rf_test.h"
#include "cli/cli.h"
#include "core/core.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/rf_locale_XXXXXX";
static const char *const names[] = {"de_DE", "fa_IR", "tr_TR"};
static bool made[3];

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return 1;
  setenv("LOCPATH", folder, 1);
  for (size_t k = 0; k < 3; k++) {
    char command[256];
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", names[k],
             folder, names[k]);
    made[k] = system(command) == 0; /* NOLINT(cert-env33-c): the test's own words */
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); /* NOLINT(cert-env33-c) */
}

/* True when the locale is in force and does print a separator that is not a point. */
static bool choose(size_t k) {
  char name[32], text[16];
  snprintf(name, sizeof name, "%s.UTF-8", names[k]);
  if (!made[k] || !setlocale(LC_ALL, name)) return false;
  snprintf(text, sizeof text, "%.1f", 1.5);
  return strcmp(text, "1.5") != 0;
}

static char *contents(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  char *text = calloc(1, (size_t)size + 1);
  rewind(file);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  return text;
}

/* Times differ from run to run: `"seconds": NUMBER` becomes `"seconds": `, the line "NUMBER s: ..." goes. */
static void forget_times(char *text) {
  static const char mark[] = "seconds\": ";
  for (char *at = text; (at = strstr(at, mark)) != NULL;) {
    at += sizeof mark - 1;
    size_t length = strspn(at, "0123456789.,e+-");
    while (length > 0 && (at[length - 1] == ',')) length--;
    memmove(at, at + length, strlen(at + length) + 1);
  }
  char *started = strstr(text, "\"started\": \"");
  if (started) memset(started + 12, '0', 20);
  char *line = strstr(text, " s: ");
  while (line && line > text && line[-1] != '\n') line--;
  if (line) *line = '\0';
}

/* What the command writes to standard output, in the locale in force. */
static char *output_of(const CliCommand *command, int count, const char *const *words, int want) {
  char path[64], *copies[16];
  snprintf(path, sizeof path, "%s/out", folder);
  for (int i = 0; i < count; i++) copies[i] = strdup(words[i]);
  fflush(stdout);
  int before = dup(1), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  dup2(file, 1);
  int exit_status = cli_run(command, count, copies);
  fflush(stdout);
  dup2(before, 1);
  close(before), close(file);
  for (int i = 0; i < count; i++) free(copies[i]);
  if (exit_status != want) print_error("%s %s: exit %d\n", command->name, words[0], exit_status);
  assert_int_equal(exit_status, want);
  char *text = contents(path);
  forget_times(text);
  return text;
}

static void assert_same(const CliCommand *command, int count, const char *const *words, int want) {
  assert_non_null(setlocale(LC_ALL, "C"));
  char *plain = output_of(command, count, words, want);
  int tried = 0;
  for (size_t k = 0; k < 3; k++) {
    if (!choose(k)) continue;
    tried++;
    char *here = output_of(command, count, words, want);
    if (strcmp(here, plain) != 0) print_error("%s %s differs under %s\n", command->name, words[0], names[k]);
    assert_string_equal(here, plain);
    free(here);
  }
  free(plain);
  setlocale(LC_ALL, "C");
  if (tried == 0) {
    print_message("skipped: localedef could not make a locale with a decimal comma (Debian: locales)\n");
    skip();
  }
}

static void catalogue(void **state) {
  (void)state;
  static const char *const specs[] = {
      "gen:DS-PL2", "gen:DS-M2(0.1)",           "gen:DS-SYM6",    "gen:DS-HINT(20,1,0.1)", "gen:xor",
      "gen:DS-MC3", "gen:DS-OS(3,3,3,0.2)/2.5", "gen:DS-LL1(0.5)"};
  for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
    const char *const inspect[] = {specs[k], "--json", "--leak", "0.25"};
    assert_same(&cli_inspect, 4, inspect, CLI_DONE);
  }
  const char *const flow[] = {"gen:DS-PL2", "--json", "--scale", "1.5e-3", "--width", "6"};
  assert_same(&cli_flow, 6, flow, CLI_DONE);
  const char *const best[] = {"gen:DS-HINT(20,1,0.1)", "--json", "--leak", "0.5"};
  assert_same(&cli_maxmargin, 4, best, CLI_DONE);
  const char *const explain[] = {"gen:DS-PL2", "--json", "--width", "6"};
  assert_same(&cli_explain, 4, explain, CLI_DONE);
}

static void pages(void **state) {
  (void)state;
  const char *const flow[] = {"gen:DS-PL2", "--until", "time=2.5", "--width", "4"};
  assert_same(&cli_flow, 5, flow, CLI_DONE);
  const char *const inspect[] = {"gen:DS-OS(3,3,3,0.2)", "--memory", "1.5M"};
  assert_same(&cli_inspect, 3, inspect, CLI_DONE);
}

static void files(void **state) {
  (void)state;
  char csv[64], net[64], picture[80];
  snprintf(csv, sizeof csv, "%s/data.csv", folder);
  snprintf(net, sizeof net, "%s/net.json", folder);
  snprintf(picture, sizeof picture, "%s/plane.svg", folder);
  FILE *out = fopen(csv, "w");
  assert_non_null(out);
  fputs("1.5,0.25,1\n-0.125,1.75e0,-1\n", out);
  fclose(out);
  out = fopen(net, "w");
  assert_non_null(out);
  fputs("{\"W\": [[1.25, 0.5], [-0.75, 1e-1]], \"a\": [1.5, -2.25], \"leak\": 0.125}", out);
  fclose(out);
  const char *const certify[] = {csv, net, "--json"};
  assert_same(&cli_certify, 3, certify, CLI_DOES_NOT_HOLD);
  char *pictures[4] = {NULL};
  for (size_t k = 0; k < 4; k++) {
    if (k == 0 || choose(k - 1)) {
      const char *const words[] = {csv, "--svg", folder};
      free(output_of(&cli_inspect, 3, words, CLI_DONE));
      pictures[k] = contents(picture);
      assert_string_equal(pictures[k], pictures[0]);
    }
    setlocale(LC_ALL, "C");
  }
  for (size_t k = 0; k < 4; k++) free(pictures[k]);
}

/* Library routines that take or give a number as text. */
static void routines(void **state) {
  (void)state;
  int tried = 0;
  for (size_t k = 0; k < 3; k++) {
    if (!choose(k)) continue;
    tried++;
    char text[64];
    double value = 0;
    assert_int_equal(rf_format(text, sizeof text, "%g|%.3f|%s", 1.5, 2.25, "a,b"), 13);
    assert_string_equal(text, "1.5|2.250|a,b");
    rf_number_format(text, 0.1);
    assert_string_equal(text, "0.1");
    assert_true(rf_number_read(&value, "2.2250738585072012e-308")); /* the slow path */
    assert_true(value == 2.2250738585072014e-308);
    assert_false(rf_number_read(&value, "1,5"));
    assert_int_equal(rf_number_whole(&value, "INFINITY", 8), RF_NUMBER_NONFINITE);
    assert_true(rf_letters_equal("DS-XOR.GZIP", "ds-xor.gzip", 12));
    RfContext context;
    rf_context_init(&context);
    rf_fail(&context, RF_ERR_USAGE, "%g", 0.5);
    assert_string_equal(context.error, "0.5");
    snprintf(text, sizeof text, "%.1f", 1.5); /* and the host keeps its locale */
    assert_string_not_equal(text, "1.5");
  }
  setlocale(LC_ALL, "C");
  if (tried == 0) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(catalogue), cmocka_unit_test(pages),
                                     cmocka_unit_test(files), cmocka_unit_test(routines)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

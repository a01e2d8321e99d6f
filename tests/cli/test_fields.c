/* The program's JSON and the table of fields agree in both directions: every key of every run is in the table
 * with its type, and every field of a command's table is given a value by some run. */
#include "rf_test.h"

#include <jansson.h>
#include <libgen.h>
#include <unistd.h>
#include "present/present.h"

/* Commands, and the runs that together show every field. */
static const struct {
  const char *table, *arguments;
} runs[] = {
    {"data list", "data list"},
    {"data info", "data info gen:DS-PL2"},
    {"data info", "data info gen:multiclass-orthant,K=3 --bias 1 --center"},
    {"data make", "data make gen:xor -o $TMP/x.csv"},
    {"explore", "explore gen:xor --page $TMP/small.html -o $TMP/x.html"},
    {"inspect", "inspect gen:DS-PL2"},
    {"inspect", "inspect gen:DS-WP1"},
    {"inspect", "inspect gen:DS-WP2"},
    {"inspect", "inspect gen:DS-SYM6 --leak 0.5"},
    {"inspect", "inspect gen:hinted --leak 0.5 --loss exp"},
    {"inspect", "inspect gen:xor --leak 1 --loss log2"},
    {"inspect", "inspect gen:gaussian,n=14,d=3,seed=2"},
    {"inspect", "inspect gen:gaussian,n=9,d=12,seed=1"},
    {"inspect", "inspect gen:orthant,n=50,d=8"},
    {"inspect", "inspect gen:multiclass-orthant,K=3"},
    {"inspect", "inspect gen:DS-MC3"},
    {"inspect", "inspect gen:DS-V2"},
    {"inspect", "inspect gen:DS-V3"},
    {"inspect", "inspect gen:DS-E3"},
    {"inspect", "inspect gen:gaussian,n=40,d=6 --time 0"},
    {"maxmargin", "maxmargin gen:DS-PL2 --linear"},
    {"maxmargin", "maxmargin gen:xor --linear"},
    {"maxmargin", "maxmargin gen:xor --linear --intercept"},
    {"maxmargin", "maxmargin gen:separated --linear --intercept"},
    {"maxmargin", "maxmargin gen:multiclass-orthant,K=3 --linear"},
    {"maxmargin", "maxmargin gen:DS-V1 --leak 0.1"},
    {"maxmargin", "maxmargin gen:DS-MC3"},
    {"maxmargin", "maxmargin gen:DS-V1 --width 1"},
    {"maxmargin", "maxmargin $TMP/conflict.csv"},
    {"maxmargin", "maxmargin gen:xor --proof $TMP/xor.proof --check"},
    {"flow", "flow gen:DS-PL2 --width 6"},
    {"flow", "flow gen:DS-PL2 --width 6 --max-steps 10"},
    {"flow", "flow gen:xor --width 1"},
    {"flow", "flow gen:xor --width 4 --scale limit"},
    {"flow", "flow gen:DS-SYM6 --leak 0.5 --width 4 --scale 0.01 --trace 20"},
    {"flow", "flow gen:DS-MC3 --width 3"},
    {"flow", "flow gen:xor --width 4 --frames 8"},
    {"flow", "flow 'gen:DS-GEN(6,2,1)' --width 5 --branches all --scale 1e-4"},
    {"train", "train gen:DS-PL2 --width 4 --steps 50 --test gen:DS-PL2"},
    {"flow", "flow $TMP/ridge.csv --weights $TMP/ridge.json"},
    {"flow", "flow $TMP/ridge.csv --weights $TMP/ridge.json --branches all"},
    {"flow", "flow gen:hinted --leak 0.5 --width 4"},
    {"flow", "flow $TMP/ridge.csv --weights $TMP/ridge.json --prove-alignment --paths 1"},
    {"flow",
     "flow gen:orthant,n=10,d=3 --until time=0.1 --weights " RF_SOURCE_DIR "/tests/fuzz/corpus/layers/mixed"},
    {"train",
     "train gen:orthant,n=10,d=3 --steps 5 --model " RF_SOURCE_DIR "/tests/fuzz/corpus/layers/mixed"},
    {"train", "train gen:multiclass-orthant,K=3,d=3 --steps 5 --model " RF_SOURCE_DIR
              "/tests/fuzz/corpus/layers/mixed"},
    {"train", "train gen:orthant,n=10,d=2 --width 4 --steps 2000 --stop-loss 1e-1 --then flow"},
    {"train", "train gen:multiclass-orthant,K=3,d=3 --width 4 --steps 20000 --stop-loss 0.5 --then flow"},
    {"train", "train gen:multiclass-orthant,K=3 --width 4 --steps 5 --test gen:multiclass-orthant,K=3"},
    {"certify", "certify gen:DS-V1 $TMP/pair.json --robustness --freeze second"},
    {"certify", "certify gen:DS-PL2 $TMP/best.json --proof $TMP/kkt.proof --check"},
    {"certify", "certify gen:DS-LL1,leak=0 $TMP/kinks.json"},
    {"certify", "certify gen:DS-V1 $TMP/pair.json --prove"},
    {"certify", "certify gen:xor $TMP/four.json --proof $TMP/four.proof --check"},
    {"explain", "explain gen:DS-PL2 --width 6"},
    {"explain", "explain gen:DS-MC3 --width 3 --proof $TMP/proofs --check"},
    {"explain", "explain gen:DS-MC3 --width 3 --leak 0.5"},
    {"explain", "explain gen:gaussian,n=5,d=3 --init gaussian --width 8 --scale 1 --seed 10"},
    {"verify", "verify VSS-07 VSS-11 --quick"},
    {"sweep", "sweep flow gen:xor --width 4,5 --store $TMP/sweep.db"},
    {"sweep", "sweep flow gen:xor --width 4,5 --dry-run"},
    {"sweep", "sweep status $TMP/sweep.db"},
    {"sweep plot", "sweep plot $TMP/sweep.db --x width --y limit.margin"},
    {"basins", "basins gen:xor --grid 9x9 --device emulated"},
    {"basins", "basins gen:DS-PL2 --grid 3x3 --color margin"},
    {"sweep show", "sweep show $TMP/sweep.db 1"},
    {"sweep export", "sweep export $TMP/sweep.db --csv $TMP/sweep.csv --npz $TMP/sweep.npz"},
};

/* Fields that these runs need not show. */
static bool excused(const char *table, const char *path) {
  if (strcmp(table, "flow") == 0 && strcmp(path, "phases.T_bound") == 0)
    return true; /* needs a bound that applies */
  if (strcmp(table, "flow") == 0 && (strncmp(path, "alignment.proof.differs[]", 25) == 0 ||
                                     strncmp(path, "alignment.proof.not_proved[]", 28) == 0))
    return true; /* of a fault */
  if (strcmp(table, "flow") == 0 && strncmp(path, "limit.candidates[]", 18) == 0)
    return true; /* of two runs that disagree */
  return strcmp(table, "certify") == 0 &&
         (strcmp(path, "positive_class") == 0 || strcmp(path, "per_class[]") == 0);
}

enum { MOST_TABLES = 64, MOST_ROWS = 256 };
static bool shown[MOST_TABLES][MOST_ROWS]; /* by table and row: a value that is not null was seen */

static rf_index table_index(const RfFieldTable *table) {
  rf_index count;
  const RfFieldTable *const *tables = rf_field_tables(&count);
  for (rf_index t = 0; t < count && t < MOST_TABLES; t++) {
    if (tables[t] == table) return t;
  }
  fail_msg("no table");
  return 0;
}

static rf_index find_row(const RfFieldTable *table, const char *path) {
  for (rf_index i = 0; i < table->count; i++) {
    if (strcmp(table->fields[i].path, path) == 0) return i;
  }
  return -1;
}

/* null stands for any field below it. */
static bool null_allowed(const RfFieldTable *table, const char *path) {
  size_t length = strlen(path);
  for (rf_index i = 0; i < table->count; i++) {
    const char *have = table->fields[i].path;
    if (strncmp(have, path, length) == 0 && (have[length] == '\0' || have[length] == '[')) return true;
  }
  return false;
}

static bool type_fits(RfFieldType type, const json_t *value) {
  switch (type) {
  case RF_FIELD_OBJECT:
  case RF_FIELD_MAP:
  case RF_FIELD_SHAPE: return json_is_object(value);
  case RF_FIELD_BOOLEAN: return json_is_boolean(value);
  case RF_FIELD_INTEGER: return json_is_integer(value);
  case RF_FIELD_COUNT: return json_is_integer(value) || json_is_string(value);
  case RF_FIELD_NUMBER: return json_is_number(value);
  case RF_FIELD_STRING: return json_is_string(value);
  }
  return false;
}

static void walk(const RfFieldTable *table, const char *path, json_t *value, const char *run);

static void walk_members(const RfFieldTable *table, const char *path, json_t *object, const char *run) {
  const char *key;
  json_t *member;
  json_object_foreach(object, key, member) {
    char below[512];
    snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", key);
    walk(table, below, member, run);
  }
}

static void walk(const RfFieldTable *table, const char *path, json_t *value, const char *run) {
  if (json_is_null(value)) {
    if (!null_allowed(table, path)) fail_msg("%s: %s.%s is not in the table", run, table->name, path);
    return;
  }
  if (json_is_array(value)) {
    char below[512];
    snprintf(below, sizeof below, "%s[]", path);
    for (size_t i = 0; i < json_array_size(value); i++) walk(table, below, json_array_get(value, i), run);
    return;
  }
  rf_index row = find_row(table, path);
  if (row < 0) fail_msg("%s: %s.%s is not in the table", run, table->name, path);
  const RfField *field = &table->fields[row];
  if (!type_fits(field->type, value)) fail_msg("%s: %s.%s has another type", run, table->name, path);
  shown[table_index(table)][row] = true;
  if (field->type == RF_FIELD_SHAPE)
    walk_members(rf_field_table(field->shape), "", value, run);
  else if (json_is_object(value) && field->type != RF_FIELD_MAP)
    walk_members(table, path, value, run);
}

/* The program beside this test, and a folder for what it writes. */
static char program[1024], folder[] = "/tmp/rf_cli_XXXXXX";

static void write_file(const char *name, const char *content) {
  char path[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  fputs(content, file);
  fclose(file);
}

static int set_up(void **state) {
  (void)state;
  char self[900];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0 || !mkdtemp(folder)) return 1;
  self[length] = '\0';
  snprintf(program, sizeof program, "%s/reluflow", dirname(self));
  write_file("pair.json",
             "{\"W\": [[0, 2], [0, 0]], \"a\": [2, 0]}"); /* a KKT point that is not a local optimum */
  write_file("small.html", "<script id=\"given\" type=\"application/json\">null</script>\n");
  write_file("conflict.csv", "1,2,1\n1,2,-1\n3,1,1\n");
  write_file("ridge.csv", "0,1,1\n1,-0.5,1\n");
  write_file("ridge.json",
             "{\"W\": [[1, 0]], \"a\": [1]}"); /* on the hyperplane of the first sample: a ridge */
  write_file("kinks.json",
             "{\"W\": [[0.5946035575013605, 0.5946035575013605], [0.5946035575013605, -0.5946035575013605], "
             "[-1, 0]], \"a\": [0.8408964152537145, 0.8408964152537145, -1]}");
  write_file("four.json", "{\"W\": [[0.7071067811865476, 0.7071067811865476], [0.7071067811865476, "
                          "-0.7071067811865476], [-0.7071067811865476, 0.7071067811865476], "
                          "[-0.7071067811865476, -0.7071067811865476]], \"a\": [1, -1, -1, 1]}");
  write_file("best.json", "{\"W\": [[1, 1], [-3, -2]], \"a\": [1, -1]}");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  static const char *const names[] = {"four.json",
                                      "four.proof",
                                      "four.proof.optimum",
                                      "proofs/class1-maxmargin.proof",
                                      "proofs/class1-limit.proof",
                                      "proofs/class2-maxmargin.proof",
                                      "proofs/class2-limit.proof",
                                      "proofs/class3-maxmargin.proof",
                                      "proofs/class3-limit.proof",
                                      "x.csv",
                                      "pair.json",
                                      "best.json",
                                      "ridge.json",
                                      "ridge.csv",
                                      "conflict.csv",
                                      "small.html",
                                      "x.html",
                                      "kinks.json",
                                      "sweep.db",
                                      "sweep.csv",
                                      "sweep.npz",
                                      "xor.proof",
                                      "kkt.proof"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char file[64];
    snprintf(file, sizeof file, "%s/%s", folder, names[i]);
    unlink(file);
  }
  char proofs[64];
  snprintf(proofs, sizeof proofs, "%s/proofs", folder);
  rmdir(proofs);
  return rmdir(folder);
}

static json_t *run_program(const char *arguments, int *exit_status) {
  char command[2048];
  snprintf(command, sizeof command, "TMP=%s; '%s' %s --json", folder, program, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  json_error_t error;
  json_t *root = json_loadf(pipe, 0, &error); /* one object, nothing after it */
  *exit_status = pclose(pipe) >> 8;
  if (!root) print_error("%s: %s (exit %d)\n", arguments, error.text, *exit_status);
  assert_non_null(root);
  return root;
}

static void every_key_is_in_the_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    int status;
    json_t *root = run_program(runs[i].arguments, &status);
    walk_members(rf_field_table(runs[i].table), "", root, runs[i].arguments);
    json_decref(root);
  }
}

static void every_field_is_shown(void **state) {
  (void)state;
  rf_index count, missing = 0;
  const RfFieldTable *const *tables = rf_field_tables(&count);
  for (rf_index t = 0; t < count; t++) {
    bool used = tables[t]->is_shape;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
      used = used || !strcmp(runs[i].table, tables[t]->name);
    for (rf_index i = 0; used && i < tables[t]->count; i++) {
      if (shown[t][i] || excused(tables[t]->name, tables[t]->fields[i].path)) continue;
      print_error("no run shows %s.%s\n", tables[t]->name, tables[t]->fields[i].path);
      missing++;
    }
  }
  assert_int_equal(missing, 0);
}

/* Fields of a command are always there, null when they are not known: scripts need not test for keys. */
static void keys_do_not_depend_on_the_data(void **state) {
  (void)state;
  int status;
  json_t *first = run_program("inspect gen:DS-PL2", &status);
  static const char *const others[] = {"inspect gen:xor", "inspect gen:DS-MC3", "inspect gen:DS-V2",
                                       "inspect gen:gaussian,n=40,d=6 --time 0"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    json_t *other = run_program(others[i], &status);
    json_t *part = json_array_get(json_object_get(other, "per_class"), 0), *value;
    const char *key;
    json_object_foreach(first, key, value) {
      if (!json_object_get(other, key)) fail_msg("%s has no %s", others[i], key);
      if (strcmp(key, "run") == 0) continue; /* of the whole */
      if (part && !json_object_get(part, key)) fail_msg("per_class of %s has no %s", others[i], key);
    }
    json_decref(other);
  }
  json_decref(first);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_key_is_in_the_table),
                                     cmocka_unit_test(every_field_is_shown),
                                     cmocka_unit_test(keys_do_not_depend_on_the_data)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

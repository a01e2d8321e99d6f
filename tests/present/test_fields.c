/* The table of fields is consistent: paths are unique, parents are there, shapes exist, every row says
 * something. */
#include "rf_test.h"
#include "present/present.h"

static const RfField *find(const RfFieldTable *table, const char *path, size_t length) {
  for (rf_index i = 0; i < table->count; i++) {
    const char *have = table->fields[i].path;
    if (strlen(have) == length && strncmp(have, path, length) == 0) return &table->fields[i];
  }
  return NULL;
}

static void check_row(const RfFieldTable *table, const RfField *field) {
  if (find(table, field->path, strlen(field->path)) != field)
    print_error("%s.%s twice\n", table->name, field->path);
  assert_ptr_equal(find(table, field->path, strlen(field->path)), field);
  assert_non_null(field->unit);
  assert_true(strlen(field->meaning) >= 3);
  assert_true((field->type == RF_FIELD_SHAPE) == (field->shape != NULL));
  if (field->shape) assert_non_null(rf_field_table(field->shape));
  if (field->unit[0]) assert_int_equal(field->type, RF_FIELD_NUMBER);
  const char *dot = strrchr(field->path, '.');
  if (!dot) return;
  const RfField *parent = find(table, field->path, (size_t)(dot - field->path));
  if (!parent) print_error("%s: no row for the parent of %s\n", table->name, field->path);
  assert_non_null(parent);
  assert_int_equal(parent->type, RF_FIELD_OBJECT);
}

static void rows_are_consistent(void **state) {
  (void)state;
  rf_index count;
  const RfFieldTable *const *tables = rf_field_tables(&count);
  assert_true(count > 10);
  for (rf_index t = 0; t < count; t++) {
    assert_ptr_equal(rf_field_table(tables[t]->name), tables[t]);
    for (rf_index i = 0; i < tables[t]->count; i++) check_row(tables[t], &tables[t]->fields[i]);
  }
  assert_null(rf_field_table("no such command"));
}

/* Man pages write '-' as '\-'; field paths hold none. */
static void printed_forms_name_every_field(void **state) {
  (void)state;
  rf_index count;
  const RfFieldTable *const *tables = rf_field_tables(&count);
  for (rf_index t = 0; t < count; t++) {
    RfText plain = {0}, markdown = {0}, man = {0};
    rf_fields_print(&plain, tables[t], 100);
    rf_fields_markdown(&markdown, tables[t]);
    rf_fields_man(&man, tables[t]);
    for (rf_index i = 0; i < tables[t]->count; i++) {
      assert_non_null(strstr(plain.data, tables[t]->fields[i].path));
      assert_non_null(strstr(markdown.data, tables[t]->fields[i].path));
      if (!strchr(tables[t]->fields[i].path, '-')) /* there it is written \- */
        assert_non_null(strstr(man.data, tables[t]->fields[i].path));
    }
    rf_text_free(&plain);
    rf_text_free(&markdown);
    rf_text_free(&man);
  }
}

/* Names that scripts and other programs rely on: a few that were once written under others. */
static void promised_names(void **state) {
  (void)state;
  static const struct {
    const char *table, *names[4];
  } promised[] = {{"certify", {"kkt.exists.proved", "kkt.exists.radius", "robustness.radius[]", NULL}},
                  {"flow", {"alignment.proved", "limit.compared.frozen_at", "limit.candidates[]", NULL}},
                  {"maxmargin", {"global.width_needed", "global.patterns_seen", "proof.accepted", NULL}}};
  for (size_t p = 0; p < sizeof promised / sizeof *promised; p++)
    for (int j = 0; promised[p].names[j]; j++) {
      const RfFieldTable *table = rf_field_table(promised[p].table);
      rf_index k = 0;
      while (k < table->count && strcmp(table->fields[k].path, promised[p].names[j]) != 0) k++;
      if (k == table->count) fail_msg("%s: no field %s", promised[p].table, promised[p].names[j]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_consistent),
                                     cmocka_unit_test(printed_forms_name_every_field),
                                     cmocka_unit_test(promised_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

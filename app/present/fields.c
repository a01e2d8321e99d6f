/* The table of fields: found by name, printed for the terminal, for docs/fields.md and for the man page. The
 * rows are in fields_NAME.c, one file per command. */
#include "present/present_internal.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

static const RfFieldTable *const tables[] = {
    &rf_fields_explain,      &rf_fields_inspect,    &rf_fields_maxmargin,  &rf_fields_flow,
    &rf_fields_train,        &rf_fields_certify,    &rf_fields_verify,     &rf_fields_sweep,
    &rf_fields_sweep_export, &rf_fields_sweep_show, &rf_fields_sweep_plot, &rf_fields_basins,
    &rf_fields_data_list,    &rf_fields_data_make,  &rf_fields_data_info,  &rf_fields_separator,
    &rf_fields_class_vector, &rf_fields_witness,    &rf_fields_slack,      &rf_fields_run,
    &rf_fields_rerun,        &rf_fields_explore,
};

const RfFieldTable *const *rf_field_tables(rf_index *count) {
  *count = (rf_index)(sizeof tables / sizeof tables[0]);
  return tables;
}

const RfFieldTable *rf_field_table(const char *name) {
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    if (strcmp(tables[i]->name, name) == 0) return tables[i];
  }
  return NULL;
}

const char *rf_field_type_text(RfFieldType type) {
  static const char *const texts[] = {"object", "boolean", "integer", "integer or string",
                                      "number", "string",  "map",     "shape"};
  return texts[type];
}

/* "number, length" or the name of the shape. */
static void type_cell(char *out, size_t size, const RfField *field) {
  const char *type = field->type == RF_FIELD_SHAPE ? field->shape : rf_field_type_text(field->type);
  rf_format(out, size, field->unit[0] ? "%s, %s" : "%s", type, field->unit);
}

void rf_fields_print(RfText *out, const RfFieldTable *table, int width) {
  int path_width = 0, type_width = 0;
  char type[96];
  for (rf_index i = 0; i < table->count; i++) {
    type_cell(type, sizeof type, &table->fields[i]);
    int path = (int)strlen(table->fields[i].path), cell = (int)strlen(type);
    if (path > path_width) path_width = path;
    if (cell > type_width) type_width = cell;
  }
  rf_text_style(out, RF_BOLD);
  rf_text_add(out, table->name);
  rf_text_style(out, RF_PLAIN);
  rf_text_addf(out, "  %s\n", table->summary);
  for (rf_index i = 0; i < table->count; i++) {
    const RfField *field = &table->fields[i];
    type_cell(type, sizeof type, field);
    rf_text_addf(out, "  %-*s  %-*s  ", path_width, field->path, type_width, type);
    rf_text_wrap(out, field->meaning, path_width + type_width + 6, width);
  }
}

/* A vertical bar would end the cell. */
static void add_cell(RfText *out, const char *prose) {
  for (; *prose; prose++) {
    if (*prose == '|')
      rf_text_add(out, "\\|");
    else
      rf_text_add_bytes(out, prose, 1);
  }
}

void rf_fields_markdown(RfText *out, const RfFieldTable *table) {
  rf_text_addf(out, "## %s%s\n\n%s.\n\n| field | type | unit | meaning |\n|---|---|---|---|\n", table->name,
               table->is_shape ? " (shape)" : "", table->summary);
  for (rf_index i = 0; i < table->count; i++) {
    const RfField *field = &table->fields[i];
    bool shape = field->type == RF_FIELD_SHAPE;
    rf_text_addf(out, "| `%s` | %s%s | ", field->path, shape ? "shape " : "",
                 shape ? field->shape : rf_field_type_text(field->type));
    add_cell(out, field->unit);
    rf_text_add(out, " | ");
    add_cell(out, field->meaning);
    rf_text_add(out, " |\n");
  }
  rf_text_add(out, "\n");
}

/* roff: backslash and a leading dot or quote are special, a hyphen would become a typographic one. */
static void add_roff(RfText *out, const char *prose) {
  if (*prose == '.' || *prose == '\'') rf_text_add(out, "\\&");
  for (; *prose; prose++) {
    if (*prose == '\\')
      rf_text_add(out, "\\e");
    else if (*prose == '-')
      rf_text_add(out, "\\-");
    else
      rf_text_add_bytes(out, prose, 1);
  }
}

void rf_fields_man(RfText *out, const RfFieldTable *table) {
  rf_text_addf(out, ".SS \"%s%s\"\n", table->name, table->is_shape ? " (shape)" : "");
  for (rf_index i = 0; i < table->count; i++) {
    char type[96];
    type_cell(type, sizeof type, &table->fields[i]);
    rf_text_add(out, ".TP\n\\fB");
    add_roff(out, table->fields[i].path);
    rf_text_add(out, "\\fR (");
    add_roff(out, type);
    rf_text_add(out, ")\n");
    add_roff(out, table->fields[i].meaning);
    rf_text_add(out, "\n");
  }
}

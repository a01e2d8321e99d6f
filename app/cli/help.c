/* Help pages, the man page and docs/fields.md, all from the tables of commands, options and fields. */
#include "cli/cli.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

static void heading(RfText *out, const char *title) {
  rf_text_add(out, "\n");
  rf_text_styled(out, RF_BOLD, title);
  rf_text_add(out, "\n");
}

void cli_help_group(RfText *out, const char *group) {
  int count;
  const CliCommand *const *commands = cli_commands(&count);
  size_t prefix = group ? strlen(group) : 0;
  for (int i = 0; i < count; i++) {
    if (group && (strncmp(commands[i]->name, group, prefix) != 0 || commands[i]->name[prefix] != ' '))
      continue;
    char usage[64];
    rf_format(usage, sizeof usage, "%s %s", commands[i]->name, commands[i]->arguments);
    rf_text_addf(out, "  %-22s  %s\n", usage, commands[i]->summary);
  }
}

void cli_help_overview(RfText *out) {
  rf_text_styled(out, RF_BOLD, "reluflow");
  rf_text_add(out, "  where does gradient flow go, and is that the best margin there is?\n");
  heading(out, "Commands");
  cli_help_group(out, NULL);
  rf_text_addf(out, "  %-22s  %s\n", "help [COMMAND]", "help on a command");
  rf_text_addf(out, "  %-22s  %s\n", "help fields [COMMAND]", "every field of the JSON output");
  rf_text_addf(out, "  %-22s  %s\n", "completion SHELL", "completion for bash, zsh or fish");
  heading(out, "Data");
  rf_text_add(
      out, "  DATA is a file (.csv .tsv .libsvm .svm .svmlight .npz .npy, MNIST idx), - for standard input,\n"
           "  or a generator: gen:NAME,key=value,...  (reluflow data list)\n");
  heading(out, "Examples");
  rf_text_add(out, "  reluflow inspect gen:DS-PL2              what the data decide before training\n"
                   "  reluflow inspect iris.csv --classes 0,1 --report iris.html\n"
                   "  reluflow maxmargin data.csv --linear --json\n");
  rf_text_add(
      out,
      "\nreluflow COMMAND --help shows every flag. Exit status: 0 done, 1 does not hold, 2 bad usage or\n"
      "input, 3 numerical failure or undecided, 130 interrupted.\n");
}

/* "--leak L" */
static void option_usage(char *out, size_t size, const CliOption *option) {
  if (option->argument)
    rf_format(out, size, "%s %s", option->name, option->argument);
  else
    rf_format(out, size, "%s", option->name);
}

/* command: whose help it is, NULL for all. */
static void print_options(RfText *out, const CliOption *options, const CliCommand *command, int width) {
  enum { INDENT = 28 };
  for (const CliOption *option = options; option->name; option++) {
    char usage[128];
    bool common = options == cli_common_options && command;
    if (common && !cli_takes(command, option)) continue;
    option_usage(usage, sizeof usage, option);
    rf_text_addf(out, "  %-*s", INDENT - 2, usage);
    if (strlen(usage) > INDENT - 4) {
      rf_text_add(out, "\n");
      rf_text_repeat(out, " ", INDENT);
    }
    RfText help = {0};
    rf_text_add(&help, common && strcmp(option->name, "--tol") == 0 ? command->tol : option->help);
    if (option->fallback) rf_text_addf(&help, " (default %s)", option->fallback);
    rf_text_wrap(out, rf_text_string(&help), INDENT, width);
    if (help.failed) out->failed = true;
    rf_text_free(&help);
  }
}

void cli_help_command(RfText *out, const CliCommand *command, int width) {
  rf_text_styled(out, RF_BOLD, "reluflow ");
  rf_text_styled(out, RF_BOLD, command->name);
  rf_text_addf(out, " %s  ", command->arguments);
  rf_text_add(out, command->summary);
  rf_text_add(out, "\n\n");
  rf_text_wrap(out, command->description, 0, width);
  if (command->options && command->options->name) {
    heading(out, "Flags");
    print_options(out, command->options, command, width);
  }
  if (command->takes_data) {
    heading(out, "Data flags, applied in this order");
    print_options(out, cli_data_options, command, width);
  }
  heading(out, "Common flags");
  print_options(out, cli_common_options, command, width);
  if (command->examples) {
    heading(out, "Examples");
    rf_text_add(out, command->examples);
  }
  const char *fields = command->fields ? command->fields : command->name;
  rf_text_addf(out, "\nFields of --json: reluflow help fields %s\n", fields);
}

/* ---- fields and documents -------------------------------------------------------------------- */

static const char *fields_of(const CliCommand *command) {
  return command->fields ? command->fields : command->name;
}

typedef void (*PrintTable)(RfText *out, const RfFieldTable *table);

static void print_plain(RfText *out, const RfFieldTable *table) {
  rf_fields_print(out, table, cli_width());
  rf_text_add(out, "\n");
}

/* The tables of the commands that exist, each once, then the shapes. */
static void all_tables(RfText *out, PrintTable print) {
  int n_commands;
  const CliCommand *const *commands = cli_commands(&n_commands);
  for (int i = 0; i < n_commands; i++) {
    bool seen = false;
    for (int j = 0; j < i; j++) seen = seen || strcmp(fields_of(commands[i]), fields_of(commands[j])) == 0;
    const RfFieldTable *table = rf_field_table(fields_of(commands[i]));
    if (table && !seen) print(out, table);
  }
  rf_index count;
  const RfFieldTable *const *tables = rf_field_tables(&count);
  for (rf_index i = 0; i < count; i++) {
    if (tables[i]->is_shape) print(out, tables[i]);
  }
}

static void markdown(RfText *out) {
  rf_text_add(
      out, "# JSON fields\n\nWritten by `reluflow help fields --markdown` from the table in "
           "`app/present/fields_*.c`; do "
           "not edit.\nEvery field may be `null`: not computed, or not a number. Numbers have 17 significant "
           "digits.\nA shape is an object that several commands share; its members are at the end.\n\n");
  all_tables(out, rf_fields_markdown);
}

static void man_text(RfText *out, const char *prose) {
  for (const char *c = prose; *c; c++) {
    bool line_start = c == prose || c[-1] == '\n';
    if (line_start && (*c == '.' || *c == '\'')) rf_text_add(out, "\\&");
    if (*c == '\\')
      rf_text_add(out, "\\e");
    else if (*c == '-')
      rf_text_add(out, "\\-");
    else
      rf_text_add_bytes(out, c, 1);
  }
}

static void man_options(RfText *out, const CliOption *options) {
  for (const CliOption *option = options; option->name; option++) {
    rf_text_add(out, ".TP\n\\fB");
    man_text(out, option->name);
    rf_text_add(out, "\\fR");
    if (option->argument) {
      rf_text_add(out, " \\fI");
      man_text(out, option->argument);
      rf_text_add(out, "\\fR");
    }
    rf_text_add(out, "\n");
    man_text(out, option->help);
    if (option->fallback) {
      rf_text_add(out, " (default ");
      man_text(out, option->fallback);
      rf_text_add(out, ")");
    }
    rf_text_add(out, "\n");
  }
}

static void man_command(RfText *out, const CliCommand *command) {
  rf_text_addf(out, ".SS \"reluflow %s %s\"\n", command->name, command->arguments);
  man_text(out, command->description);
  rf_text_add(out, "\n");
  if (command->options) man_options(out, command->options);
  if (!command->examples) return;
  rf_text_add(out, ".PP\n.nf\n");
  man_text(out, command->examples);
  rf_text_add(out, ".fi\n");
}

static void man_page(RfText *out) {
  rf_text_add(
      out,
      ".TH RELUFLOW 1 \"\" \"reluflow " RF_VERSION "\" \"User Commands\"\n.SH NAME\n"
      "reluflow \\- where gradient flow on two\\-layer networks goes, and whether that is the best margin\n"
      ".SH SYNOPSIS\n.B reluflow\n.I COMMAND\n[\\fIDATA\\fR] [\\fIFLAGS\\fR]\n.SH COMMANDS\n");
  int count;
  const CliCommand *const *commands = cli_commands(&count);
  for (int i = 0; i < count; i++) man_command(out, commands[i]);
  rf_text_add(out,
              ".SH DATA\nA file (.csv .tsv .libsvm .svm .svmlight .npz .npy, MNIST idx), \\- for standard "
              "input, or a "
              "generator gen:NAME,key=value,... (see \\fBreluflow data list\\fR). Flags are applied in this "
              "order:\n");
  man_options(out, cli_data_options);
  rf_text_add(out, ".SH COMMON FLAGS\n");
  man_options(out, cli_common_options);
  rf_text_add(out,
              ".SH EXIT STATUS\n.TP\n0\ndone, and what was asked for holds\n.TP\n1\nran, but it does not "
              "hold\n.TP\n2\nbad "
              "usage or input; one line on standard error\n.TP\n3\nnumerical failure or undecided\n.TP\n130\n"
              "interrupted; the partial result is written and marked\n");
  rf_text_add(out,
              ".SH ENVIRONMENT\n.TP\nNO_COLOR\nwhen set and not empty, no colours on a terminal\n"
              ".TP\nRELUFLOW_DATA\na folder in which data files are looked up that are not found as named, "
              "unless \\fB\\-\\-data\\-dir\\fR names one\n");
  rf_text_add(out, ".SH JSON FIELDS\nEvery field may be null: not computed, or not a number.\n");
  all_tables(out, rf_fields_man);
}

/* ---- `reluflow help ...` --------------------------------------------------------------------- */

static int unknown_topic(const char *word) {
  const char *names[CLI_MAX_OPTIONS] = {"fields", "help", "data", "completion"};
  int count, known = 4;
  const CliCommand *const *commands = cli_commands(&count);
  for (int i = 0; i < count && known < CLI_MAX_OPTIONS; i++) names[known++] = commands[i]->name;
  const char *close = cli_suggest(word, names, known);
  if (close) return cli_usage("%s: no such command; did you mean '%s'?", word, close);
  return cli_usage("%s: no such command; see reluflow help", word);
}

static int help_fields(RfText *out, const char *name) {
  if (name[0] == '\0') {
    all_tables(out, print_plain);
  } else if (strcmp(name, "--markdown") == 0) {
    markdown(out);
  } else {
    const RfFieldTable *table = rf_field_table(name);
    if (!table) return cli_usage("help fields %s: no such command or shape", name);
    print_plain(out, table);
  }
  return CLI_DONE;
}

static int help_topic(RfText *out, const char *topic) {
  if (strcmp(topic, "completion") == 0) return cli_completion(0, NULL);
  int count;
  const CliCommand *const *commands = cli_commands(&count);
  for (int i = 0; i < count; i++) {
    if (strcmp(commands[i]->name, topic) != 0) continue;
    cli_help_command(out, commands[i], cli_width());
    return CLI_DONE;
  }
  size_t before = out->length;
  cli_help_group(out, topic);
  return out->length > before ? CLI_DONE : unknown_topic(topic);
}

int cli_help(int count, char **words) {
  RfText out = {.colour = cli_colour(1)};
  char topic[128] = "";
  size_t used = 0;
  bool fields = count > 0 && strcmp(words[0], "fields") == 0;
  for (int i = fields; i < count && used < sizeof topic; i++)
    used += (size_t)rf_format(topic + used, sizeof topic - used, "%s%s", used ? " " : "", words[i]);
  int exit_status = CLI_DONE;
  if (fields)
    exit_status = help_fields(&out, topic);
  else if (topic[0] == '\0')
    cli_help_overview(&out);
  else if (strcmp(topic, "--man") == 0)
    man_page(&out);
  else
    exit_status = help_topic(&out, topic);
  if (exit_status == CLI_DONE && out.failed) exit_status = cli_usage("out of memory");
  if (exit_status == CLI_DONE && !cli_print(rf_text_string(&out), out.length)) exit_status = CLI_BAD_USAGE;
  rf_text_free(&out);
  return exit_status;
}

/* `reluflow completion SHELL` prints the script that a shell reads; the script asks `reluflow completion
 * words WORD...` at every tab, and the answer comes from the tables of commands and options: it cannot go
 * stale. */
#include "cli/cli.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

static const char bash[] = "# completion of reluflow for bash: source <(reluflow completion bash)\n"
                           "_reluflow() {\n"
                           "  local IFS=$'\\n'\n"
                           "  COMPREPLY=($(compgen -W \"$(reluflow completion words "
                           "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\" "
                           "-- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                           "}\n"
                           "complete -o default -F _reluflow reluflow\n";

static const char zsh[] =
    "#compdef reluflow\n"
    "# completion of reluflow for zsh: source <(reluflow completion zsh)\n"
    "_reluflow() {\n"
    "  local -a found\n"
    "  found=(${(f)\"$(reluflow completion words \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "  if (( ${#found} )); then compadd -a found; else _files; fi\n"
    "}\n"
    "compdef _reluflow reluflow\n";

static const char fish[] =
    "# completion of reluflow for fish: reluflow completion fish | source\n"
    "function __reluflow\n"
    "  set -l before (commandline -opc)\n"
    "  set -l found (reluflow completion words $before[2..-1] (commandline -ct) 2>/dev/null)\n"
    "  if test (count $found) -gt 0\n"
    "    printf '%s\\n' $found\n"
    "  else\n"
    "    __fish_complete_path (commandline -ct)\n"
    "  end\n"
    "end\n"
    "complete -c reluflow -f -a '(__reluflow)'\n";

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(RfText *out, const char *word, size_t length) {
  rf_text_add_bytes(out, word, length);
  rf_text_add(out, "\n");
}

/* The words at place `at` of the commands' names whose earlier words are those typed; each once. */
static void add_commands(RfText *out, const char *first) {
  int count;
  const CliCommand *const *commands = cli_commands(&count);
  const char *last = "";
  for (int i = 0; i < count; i++) {
    const char *name = commands[i]->name, *space = strchr(name, ' ');
    if (first) {
      size_t length = strlen(first);
      if (space && (size_t)(space - name) == length && strncmp(name, first, length) == 0)
        add_word(out, space + 1, strlen(space + 1));
      continue;
    }
    size_t length = space ? (size_t)(space - name) : strlen(name);
    bool again = strncmp(last, name, length) == 0 && (last[length] == ' ' || last[length] == '\0');
    if (!again) add_word(out, name, length);
    last = name;
  }
}

static int tables_of(const CliOption *tables[3], const CliCommand *command) {
  int count = 0;
  if (command->options) tables[count++] = command->options;
  if (command->takes_data) tables[count++] = cli_data_options;
  tables[count++] = cli_common_options;
  return count;
}

static const CliOption *option_named(const CliCommand *command, const char *name) {
  const CliOption *tables[3];
  int count = tables_of(tables, command);
  for (int t = 0; t < count; t++)
    for (const CliOption *option = tables[t]; option->name; option++)
      if (strcmp(option->name, name) == 0) return option;
  return NULL;
}

static void add_flags(RfText *out, const CliCommand *command) {
  const CliOption *tables[3];
  int count = tables_of(tables, command);
  for (int t = 0; t < count; t++)
    for (const CliOption *option = tables[t]; option->name; option++)
      if (tables[t] != cli_common_options || cli_takes(command, option))
        add_word(out, option->name, strlen(option->name));
  add_word(out, "--help", 6);
}

/* The choices "a|b|c" of a flag; nothing for a number or a file, and the shell then offers files. */
static void add_values(RfText *out, const CliOption *option) {
  if (option->kind != CLI_CHOICE) return;
  for (const char *choice = option->argument;; choice += strcspn(choice, "|") + 1) {
    size_t length = strcspn(choice, "|");
    add_word(out, choice, length);
    if (!choice[length]) return;
  }
}

/* What can stand in place of the last of the words. */
static void add_candidates(RfText *out, int count, char **words) {
  const char *word = count > 0 ? words[count - 1] : "";
  int used = 1;
  if (count <= 1) {
    add_commands(out, NULL);
    add_word(out, "help", 4);
    add_word(out, "completion", 10);
    return;
  }
  if (strcmp(words[0], "completion") == 0) return rf_text_add(out, "bash\nzsh\nfish\n");
  if (strcmp(words[0], "help") == 0) {
    add_commands(out, NULL);
    return add_word(out, "fields", 6);
  }
  const CliCommand *command = cli_find_command(&used, count - 1, words);
  if (!command || (count == 2 && word[0] != '-')) add_commands(out, count == 2 ? words[0] : NULL);
  if (!command) return;
  const CliOption *before = count > 1 + used ? option_named(command, words[count - 2]) : NULL;
  if (before && before->kind != CLI_FLAG) return add_values(out, before);
  if (word[0] == '-') add_flags(out, command);
}

int cli_completion(int count, char **words) {
  static const char help[] =
      "reluflow completion bash|zsh|fish  the script that completes commands, flags and choices\n\n"
      "  source <(reluflow completion bash)   in ~/.bashrc, likewise zsh\n"
      "  reluflow completion fish | source    in config.fish\n";
  if (count == 0 || strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0)
    return cli_print(help, sizeof help - 1) ? CLI_DONE : CLI_BAD_USAGE;
  static const struct {
    const char *name, *script;
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t k = 0; count == 1 && k < sizeof shells / sizeof shells[0]; k++)
    if (strcmp(words[0], shells[k].name) == 0)
      return cli_print(shells[k].script, strlen(shells[k].script)) ? CLI_DONE : CLI_BAD_USAGE;
  if (count < 1 || strcmp(words[0], "words") != 0) return cli_usage("completion: expected bash, zsh or fish");
  RfText out = {0};
  add_candidates(&out, count - 1, words + 1);
  bool done = !out.failed && cli_print(rf_text_string(&out), out.length);
  rf_text_free(&out);
  return done ? CLI_DONE : CLI_BAD_USAGE;
}

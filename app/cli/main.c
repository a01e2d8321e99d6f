/* Finds the command among the first one or two words and runs it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static bool wants_help(int count, char **words) {
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
    if (is_help(words[i])) return true;
  }
  return false;
}

int main(int argc, char **argv) {
  int count = argc > 0 ? argc - 1 : 0;
  char **words = argv + 1;
  if (count == 0 || is_help(words[0])) return cli_help(0, NULL);
  if (strcmp(words[0], "help") == 0) return cli_help(count - 1, words + 1);
  if (strcmp(words[0], "completion") == 0) return cli_completion(count - 1, words + 1);
  if (strcmp(words[0], "--version") == 0) {
    static const char version[] = "reluflow " RF_VERSION "\n";
    return cli_print(version, sizeof version - 1) ? CLI_DONE : CLI_BAD_USAGE;
  }
  int used = 1;
  const CliCommand *command = cli_find_command(&used, count, words);
  if (!command) { /* an unknown word, or the first word of a group such as `data` */
    if (count > 1 && !is_help(words[1]) && words[0][0] != '-') {
      char *pair[] = {words[0], words[1]};
      return used == 2 ? cli_help(2, pair) : cli_help(1, words);
    }
    return cli_help(1, words);
  }
  if (wants_help(count - used, words + used)) return cli_help(used, words);
  return cli_run(command, count - used, words + used);
}

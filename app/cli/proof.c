/* Proof files on the command line: --check runs the checker that stands beside the program, a separate
 * program which shares no code with it, and reports its verdict. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/core.h"

/* rfcheck in the folder of the program, or by name. */
static void checker_path(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  char *slash = NULL;
  if (length > 0) {
    path[length] = '\0';
    slash = strrchr(path, '/');
  }
  if (slash && (size_t)(slash - path) + sizeof "/rfcheck" <= size) {
    memcpy(slash + 1, "rfcheck", sizeof "rfcheck");
    if (access(path, X_OK) == 0) return;
  }
  rf_format(path, size, "rfcheck");
}

/* Runs the checker; its one line in `line`. Returns its exit status, or -1 when it did not run. */
static int run_checker(char *line, size_t size, const char *path) {
  char checker[1024];
  int ends[2], state = -1;
  checker_path(checker, sizeof checker);
  if (pipe(ends)) return -1;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]), close(ends[1]);
    execlp(checker, "rfcheck", path, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE *in = child > 0 ? fdopen(ends[0], "r") : NULL;
  if (!in)
    close(ends[0]);
  else {
    if (!fgets(line, (int)size, in)) line[0] = '\0';
    fclose(in);
  }
  if (child > 0) waitpid(child, &state, 0);
  line[strcspn(line, "\n")] = '\0';
  return child > 0 && WIFEXITED(state) && WEXITSTATUS(state) != 127 ? WEXITSTATUS(state) : -1;
}

RfStatus cli_check_proof(CliRun *run, CliProof *proof) {
  int state = run_checker(proof->verdict, sizeof proof->verdict, proof->file);
  if (state < 0) return rf_fail(&run->context, RF_ERR_IO, "the checker rfcheck does not run");
  proof->checked = true, proof->accepted = state == 0;
  if (!proof->accepted)
    return rf_fail(&run->context, RF_ERR_INTERNAL, "the proof is not accepted: %s", proof->verdict);
  return RF_OK;
}

void cli_proof_json(RfJson *json, const char *name, const CliProof *proof) {
  if (!proof->file) return rf_json_null(json, name);
  rf_json_object(json, name);
  rf_json_string(json, "file", proof->file);
  rf_json_string(json, "claim", proof->written.claim);
  rf_json_number(json, "lower", proof->written.lower);
  rf_json_number(json, "upper", proof->written.upper);
  rf_json_number(json, "bytes", proof->written.bytes);
  rf_json_number(json, "seconds", proof->written.seconds);
  if (proof->checked)
    rf_json_boolean(json, "accepted", proof->accepted);
  else
    rf_json_null(json, "accepted");
  rf_json_string(json, "verdict", proof->checked ? proof->verdict : NULL);
  rf_json_end(json);
}

void cli_proof_page(RfText *page, const CliProof *proof) {
  if (!proof->file) return;
  rf_text_styled(page, RF_BOLD, "Proof file");
  rf_text_addf(page, "\n  file       %s, %.0f bytes\n", proof->file, proof->written.bytes);
  if (proof->checked)
    rf_text_addf(page, "  checker    %s\n", proof->verdict);
  else
    rf_text_addf(page, "  check it   rfcheck %s\n", proof->file);
}

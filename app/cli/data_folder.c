/* Where data files are looked up that are not there as named: in --data-dir alone when it is given; otherwise
 * in the folder that RELUFLOW_DATA names, then in the data that came with the program:
 * PREFIX/share/reluflow/data, data/ beside the extension of the Python package, data/ of the source tree for
 * a program in its build folder. */
#define _GNU_SOURCE /* dladdr */
#include "cli/cli.h"
#include "core/core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool join(char *path, const char *folder, const char *name) {
  int length = rf_format(path, CLI_PATH_SIZE, "%s/%s", folder, name);
  return length > 0 && length < CLI_PATH_SIZE;
}

static bool holds(const char *folder, const char *file) {
  char path[CLI_PATH_SIZE];
  return join(path, folder, file) && access(path, F_OK) == 0;
}

/* The folder of the file that holds this code: the program or the extension of a host. */
static bool own_folder(char *path) {
  Dl_info info;
  ssize_t length = -1;
  /* of a program dladdr gives the word it was called by, of a library its path */
  if (dladdr((const void *)&cli_explain, &info) && info.dli_fname && strstr(info.dli_fname, ".so"))
    length = rf_format(path, CLI_PATH_SIZE, "%s", info.dli_fname);
  else
    length = readlink("/proc/self/exe", path, CLI_PATH_SIZE - 1);
  if (length <= 0 || length >= CLI_PATH_SIZE) return false;
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

/* The data that came with the program, without dots in the path (CLI_PATH_SIZE is PATH_MAX); false when it
 * stands alone. */
static bool installed(char *folder) {
  static const char *const places[] = {"../share/reluflow/data", "data", "../data"};
  char own[CLI_PATH_SIZE], path[CLI_PATH_SIZE];
  if (!own_folder(own)) return false;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++)
    if (join(path, own, places[k]) && holds(path, "digits8x8.csv")) return realpath(path, folder) != NULL;
  return false;
}

bool cli_page_file(char path[CLI_PATH_SIZE]) {
  static const char *const places[] = {"../share/reluflow", "data", "../build-web", "../../build-web"};
  char own[CLI_PATH_SIZE], folder[CLI_PATH_SIZE];
  if (!own_folder(own)) return false;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++)
    if (join(folder, own, places[k]) && holds(folder, "reluflow.html"))
      return join(path, folder, "reluflow.html");
  return false;
}

bool cli_data_folder(const CliRun *run, char *folder, const char *file) {
  const char *given = run->common.data_dir, *named = given ? given : getenv("RELUFLOW_DATA");
  char own[CLI_PATH_SIZE];
  folder[0] = '\0';
  if (named && strlen(named) < CLI_PATH_SIZE) strcpy(folder, named);
  if (folder[0] && holds(folder, file)) return true;
  if (given || !installed(own)) return false;
  bool found = holds(own, file);
  if (found || !folder[0])
    strcpy(folder, own); /* otherwise the folder that the user named is the one to speak of */
  return found;
}

/* The extension module: commands of the library run from Python, arrays in and out without copies.
 *
 * Stable ABI of CPython 3.11 (the first with the buffer protocol in it): one wheel serves every later Python,
 * and neither NumPy's headers nor a code generator are needed to build it.
 *
 *   job.c     a command in its own thread, while the calling thread watches for signals and shows progress
 *   block.c   memory of the library as a buffer that NumPy looks into
 *   module.c  arguments from Python, results to Python */
#ifndef RF_PYTHON_NATIVE_H
#define RF_PYTHON_NATIVE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "cli/cli.h"

/* ---- block.c --------------------------------------------------------------------------------- */

/* The module's type of blocks, a new reference. */
PyObject *block_type_new(void);
/* A block that owns `memory` (released with rf_free, here too on failure): rows x cols values, or `rows` when
 * cols < 0. format: "d", "l" or "i". */
PyObject *block_new(PyObject *type, void *memory, const char *format, rf_index rows, rf_index cols);

/* ---- job.c ----------------------------------------------------------------------------------- */

typedef struct Job Job;

/* What is done in the thread: exit status of the program. */
typedef int (*JobWork)(CliRun *run, void *product);

typedef struct JobMessages {
  RfText text; /* one message a line */
} JobMessages;

/* Runs work(run, product) in a thread of its own with the GIL released. `progress` is called with (phase,
 * fraction, detail), fraction negative when unknown, or is None. Returns false with a Python exception set
 * when a signal handler or `progress` raised: the work has been stopped by then, and its product is not to be
 * used. */
bool job_run(CliRun *run, int *exit_status, RfText *messages, JobWork work, void *product,
             PyObject *progress);

#endif

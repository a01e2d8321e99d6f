/* The extension module: commands of the library run from Python, arrays in and out without copies.
 *
 * Stable ABI of CPython 3.9: one wheel serves every later Python, and neither NumPy's headers nor a code
 * generator are needed to build it. Arrays go both ways by NumPy's array interface (the attribute
 * __array_interface__: address, type, shape), because the buffer protocol entered the stable ABI with 3.11.
 *
 *   job.c     a command in its own thread, while the calling thread watches for signals and shows progress
 *   block.c   memory of the library that NumPy looks into, and NumPy's memory that the library looks into
 *   module.c  arguments from Python, results to Python */
#ifndef RF_PYTHON_NATIVE_H
#define RF_PYTHON_NATIVE_H

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "cli/cli.h"

/* ---- block.c --------------------------------------------------------------------------------- */

/* The module's type of blocks, a new reference. */
PyObject *block_type_new(void);
/* A block that owns `memory` (released with rf_free, here too on failure): rows x cols values, or `rows` when
 * cols < 0. kind: BLOCK_... */
PyObject *block_new(PyObject *type, void *memory, const char *kind, rf_index rows, rf_index cols);

/* Kinds of numbers as the array interface names them, without the byte order. */
#define BLOCK_DOUBLE "f8"
#define BLOCK_INDEX  "i8"
#define BLOCK_INT    "i4"

/* An array of Python's, in C order and in this machine's byte order; valid as long as the array. */
typedef struct ArrayView {
  void *memory;
  rf_index shape[2];
} ArrayView;

/* Looks into an array of this kind and number of dimensions; false with an exception set. */
bool array_view(PyObject *array, const char *kind, int dimensions, ArrayView *view);

/* ---- job.c ----------------------------------------------------------------------------------- */

typedef struct Job Job;

/* What is done in the thread: exit status of the program. */
typedef int (*JobWork)(CliRun *run, void *product);

/* Runs work(run, product) in a thread of its own with the GIL released. `progress` is called with (phase,
 * fraction, detail), fraction negative when unknown, or is None. Returns false with a Python exception set
 * when a signal handler or `progress` raised: the work has been stopped by then, and its product is not to be
 * used. */
bool job_run(CliRun *run, int *exit_status, RfText *messages, JobWork work, void *product,
             PyObject *progress);

#endif

/* Arguments from Python, results to Python. One function runs any command of the program, so that flags,
 * defaults, checks and fields are the same in both; the package around it gives them Python's shape. */
#include "native.h"
#include "core/core.h"

#include <string.h>

typedef struct State {
  PyObject *block_type;
} State;

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_free(char **texts) {
  for (char **text = texts; text && *text; text++) rf_free(*text);
  rf_free(texts);
}

/* A copy of a string in UTF-8; NULL with an exception set. */
static char *text_of(PyObject *string) {
  PyObject *bytes = string ? PyUnicode_AsUTF8String(string) : NULL;
  Py_ssize_t length;
  char *inside, *text = NULL;
  if (!bytes) return NULL;
  if (PyBytes_AsStringAndSize(bytes, &inside, &length) == 0) {
    if ((size_t)length != strlen(inside))
      PyErr_SetString(PyExc_ValueError, "a text holds a zero byte");
    else if (!(text = rf_copy_text(inside)))
      PyErr_NoMemory();
  }
  Py_DECREF(bytes);
  return text;
}

/* Texts of a list of strings, NULL at the end. */
static char **texts_of(PyObject *list) {
  Py_ssize_t count = PyList_Size(list);
  if (count < 0) return NULL;
  char **texts = rf_alloc(count + 1, sizeof *texts);
  if (!texts) return (char **)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; i++) {
    texts[i] = text_of(PyList_GetItem(list, i));
    if (texts[i]) continue;
    texts_free(texts);
    return NULL;
  }
  return texts;
}

static PyObject *string_of(const RfText *text) {
  return PyUnicode_DecodeUTF8(rf_text_string(text), (Py_ssize_t)text->length, "replace");
}

static const CliCommand *command_named(const char *name) {
  int count;
  const CliCommand *const *commands = cli_commands(&count);
  for (int k = 0; k < count; k++)
    if (strcmp(commands[k]->name, name) == 0) return commands[k];
  PyErr_Format(PyExc_ValueError, "%s: no such command", name);
  return NULL;
}

/* ---- arrays in ------------------------------------------------------------------------------- */

/* What is used in place while a command runs; the caller holds the arrays. */
typedef struct Held {
  char **names[2];
  int n_names;
  CliMemory memory;
  RfNet net;
} Held;

static void held_free(Held *held) {
  for (int k = 0; k < held->n_names; k++) texts_free(held->names[k]);
}

static bool hold_samples(Held *held, CliSamples *samples, PyObject *tuple) {
  if (tuple == Py_None) return true;
  PyObject *X, *class_of, *names;
  if (!PyArg_ParseTuple(tuple, "OOO", &X, &class_of, &names)) return false;
  ArrayView x, c;
  if (!array_view(X, BLOCK_DOUBLE, 2, &x) || !array_view(class_of, BLOCK_INT, 1, &c)) return false;
  char **texts = texts_of(names);
  if (!texts) return false;
  held->names[held->n_names++] = texts;
  if (c.shape[0] != x.shape[0]) {
    PyErr_SetString(PyExc_ValueError, "X and y differ in length");
    return false;
  }
  *samples = (CliSamples){.X = x.memory,
                          .class_of = c.memory,
                          .class_names = (const char *const *)texts,
                          .n = x.shape[0],
                          .d = x.shape[1],
                          .n_classes = PyList_Size(names)};
  return true;
}

static bool hold_net(Held *held, PyObject *tuple) {
  if (tuple == Py_None) return true;
  PyObject *W, *a;
  RfNet *net = &held->net;
  if (!PyArg_ParseTuple(tuple, "OOd", &W, &a, &net->leak)) return false;
  ArrayView w, v;
  if (!array_view(W, BLOCK_DOUBLE, 2, &w) || !array_view(a, BLOCK_DOUBLE, 1, &v)) return false;
  if (w.shape[0] != v.shape[0]) {
    PyErr_SetString(PyExc_ValueError, "W and a differ in the number of neurons");
    return false;
  }
  net->m = w.shape[0], net->d = w.shape[1], net->W = w.memory, net->a = v.memory;
  held->memory.net = net;
  return true;
}

/* ---- run ------------------------------------------------------------------------------------- */

typedef struct Product {
  RfText json;
  RfJsonArrays arrays;
} Product;

/* In the thread: the command, its JSON, and the files it was asked for. */
static int work_run(CliRun *run, void *out) {
  Product *product = out;
  RfContext *context = &run->context;
  const char *table = run->command->fields ? run->command->fields : run->command->name;
  run->wants_page = true;
  run->width = 96;
  context->threads = run->common.threads > 1024 ? 1024 : (int)run->common.threads;
  if (cli_given(run, "--time")) rf_context_limit(context, run->common.time);
  RfStatus status = rf_json_new(context, &run->json, table);
  if (status != RF_OK) return cli_finish(run, status);
  rf_json_set_aside(run->json, &product->arrays);
  int exit_status = run->command->run(run);
  if (run->failed) return exit_status;
  status = cli_finish_json(run, &product->json);
  if (status == RF_OK && (run->page.failed || run->html.failed))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory");
  if (status == RF_OK && run->common.report && run->html.length)
    status = rf_file_write(context, run->common.report, rf_text_string(&run->html), run->html.length);
  return status == RF_OK ? exit_status : cli_finish(run, status);
}

/* The arrays set aside as blocks that own their memory. */
static PyObject *blocks_of(State *state, RfJsonArrays *arrays) {
  PyObject *list = PyList_New((Py_ssize_t)arrays->count);
  for (rf_index k = 0; list && k < arrays->count; k++) {
    RfJsonArray *item = &arrays->items[k];
    PyObject *block = item->numbers
                          ? block_new(state->block_type, item->numbers, BLOCK_DOUBLE, item->rows, item->cols)
                          : block_new(state->block_type, item->integers, BLOCK_INDEX, item->rows, item->cols);
    item->numbers = NULL, item->integers = NULL;
    if (!block || PyList_SetItem(list, (Py_ssize_t)k, block)) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

static const char *error_of(const CliRun *run) {
  return run->context.error[0] ? run->context.error : rf_status_name(run->status);
}

/* (exit status, status, json or error, arrays, page, messages). */
static PyObject *answer_of(State *state, const CliRun *run, int exit_status, Product *product,
                           const RfText *messages) {
  PyObject *warnings = string_of(messages);
  if (!warnings) return NULL;
  if (run->failed)
    return Py_BuildValue("iisOON", exit_status, (int)run->status, error_of(run), Py_None, Py_None, warnings);
  PyObject *json = string_of(&product->json), *page = string_of(&run->page);
  PyObject *arrays = json && page ? blocks_of(state, &product->arrays) : NULL;
  if (arrays) return Py_BuildValue("iiNNNN", exit_status, (int)run->status, json, arrays, page, warnings);
  Py_XDECREF(json);
  Py_XDECREF(page);
  Py_DECREF(warnings);
  return NULL;
}

PyDoc_STRVAR(
    run_doc,
    "run(command, words, data, test, net, progress, /)\n--\n\n"
    "Runs a command of the program. data, test: (X, class_of, names) or None; net: (W, a, leak) or None.\n"
    "Returns (exit status, status, json or error, blocks, page, messages).");

static PyObject *native_run(PyObject *module, PyObject *arguments) {
  const char *name;
  PyObject *words, *data, *test, *net, *progress, *answer = NULL;
  if (!PyArg_ParseTuple(arguments, "sOOOOO", &name, &words, &data, &test, &net, &progress)) return NULL;
  const CliCommand *command = command_named(name);
  char **texts = command ? texts_of(words) : NULL;
  if (!texts) return NULL;
  Held held = {0};
  Product product = {0};
  RfText messages = {0};
  CliRun run;
  int exit_status = CLI_BAD_USAGE;
  RfStatus status = cli_open(&run, command, (int)PyList_Size(words), texts);
  run.memory = &held.memory;
  bool fine = hold_samples(&held, &held.memory.data, data) && hold_samples(&held, &held.memory.test, test) &&
              hold_net(&held, net);
  if (fine && status != RF_OK)
    cli_finish(&run, status);
  else if (fine)
    fine = job_run(&run, &exit_status, &messages, work_run, &product, progress);
  if (fine) answer = answer_of(PyModule_GetState(module), &run, exit_status, &product, &messages);
  rf_json_arrays_free(&product.arrays);
  rf_text_free(&product.json);
  rf_text_free(&messages);
  cli_close(&run);
  held_free(&held);
  texts_free(texts);
  return answer;
}

/* ---- load ------------------------------------------------------------------------------------ */

static int work_load(CliRun *run, void *out) { return cli_finish(run, cli_load(run, out)); }

static PyObject *names_of(const RfDataset *data) {
  PyObject *list = PyList_New((Py_ssize_t)data->n_classes);
  for (rf_index k = 0; list && k < data->n_classes; k++) {
    const char *name = data->class_names[k];
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    if (text && PyList_SetItem(list, (Py_ssize_t)k, text) == 0) continue;
    Py_DECREF(list);
    return NULL;
  }
  return list;
}

/* (X, class_of, class names, name); X and class_of move out of the dataset. */
static PyObject *dataset_of(State *state, RfDataset *data) {
  PyObject *X = block_new(state->block_type, data->X, BLOCK_DOUBLE, data->n, data->d);
  data->X = NULL;
  PyObject *class_of = block_new(state->block_type, data->class_of, BLOCK_INT, data->n, -1);
  data->class_of = NULL;
  PyObject *names = names_of(data);
  if (X && class_of && names) return Py_BuildValue("NNNs", X, class_of, names, data->name ? data->name : "");
  Py_XDECREF(X);
  Py_XDECREF(class_of);
  Py_XDECREF(names);
  return NULL;
}

PyDoc_STRVAR(load_doc,
             "load(words, /)\n--\n\nReads or generates a dataset; the words are those of `data info`.\n"
             "Returns (status, error, None) or (0, messages, (X, class_of, names, name)).");

static PyObject *native_load(PyObject *module, PyObject *arguments) {
  PyObject *words, *answer = NULL;
  if (!PyArg_ParseTuple(arguments, "O", &words)) return NULL;
  char **texts = texts_of(words);
  if (!texts) return NULL;
  RfDataset data = {0};
  RfText messages = {0};
  CliRun run;
  int exit_status;
  bool fine = true;
  RfStatus status = cli_open(&run, &cli_data_info, (int)PyList_Size(words), texts);
  if (status != RF_OK)
    cli_finish(&run, status);
  else
    fine = job_run(&run, &exit_status, &messages, work_load, &data, Py_None);
  if (fine && run.failed) {
    answer = Py_BuildValue("isO", (int)run.status, error_of(&run), Py_None);
  } else if (fine) {
    PyObject *dataset = dataset_of(PyModule_GetState(module), &data);
    if (dataset) answer = Py_BuildValue("isN", 0, rf_text_string(&messages), dataset);
  }
  rf_dataset_free(&data);
  rf_text_free(&messages);
  cli_close(&run);
  texts_free(texts);
  return answer;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool append_options(PyObject *list, const CliOption *options) {
  for (const CliOption *option = options; option && option->name; option++) {
    PyObject *row = Py_BuildValue("(zizzz)", option->name, (int)option->kind, option->argument,
                                  option->fallback, option->help);
    if (!row || PyList_Append(list, row)) {
      Py_XDECREF(row);
      return false;
    }
    Py_DECREF(row);
  }
  return true;
}

PyDoc_STRVAR(options_doc,
             "options(command, /)\n--\n\n"
             "The command's own flags, then the data flags where it takes data, then the common ones:\n"
             "(name, kind, argument, default, help).");

static PyObject *native_options(PyObject *module, PyObject *arguments) {
  const char *name;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
  const CliCommand *command = command_named(name);
  PyObject *list = command ? PyList_New(0) : NULL;
  if (!list) return NULL;
  if (append_options(list, command->options) &&
      (!command->takes_data || append_options(list, cli_data_options)) &&
      append_options(list, cli_common_options))
    return list;
  Py_DECREF(list);
  return NULL;
}

static PyObject *keys_of(const RfGenerator *generator) {
  PyObject *list = PyList_New((Py_ssize_t)generator->n_keys);
  for (rf_index k = 0; list && k < generator->n_keys; k++) {
    const RfGeneratorKey *key = &generator->keys[k];
    PyObject *row = Py_BuildValue("(zzz)", key->name, key->default_value, key->meaning);
    if (row && PyList_SetItem(list, (Py_ssize_t)k, row) == 0) continue;
    Py_DECREF(list);
    return NULL;
  }
  return list;
}

PyDoc_STRVAR(
    generators_doc,
    "generators()\n--\n\n(name, alias, paper, summary, [(key, default, meaning)]) of every generator.");

static PyObject *native_generators(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  rf_index count;
  const RfGenerator *generators = rf_data_generators(&count);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (rf_index k = 0; list && k < count; k++) {
    const RfGenerator *g = &generators[k];
    PyObject *keys = keys_of(g);
    PyObject *row = keys ? Py_BuildValue("(zzzzN)", g->name, g->alias, g->paper, g->summary, keys) : NULL;
    if (row && PyList_SetItem(list, (Py_ssize_t)k, row) == 0) continue;
    Py_DECREF(list);
    return NULL;
  }
  return list;
}

static PyObject *native_status_text(PyObject *module, PyObject *arguments) {
  int status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "i", &status)) return NULL;
  return PyUnicode_FromString(rf_status_name((RfStatus)status));
}

/* ---- the module ------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"run", native_run, METH_VARARGS, run_doc},
    {"load", native_load, METH_VARARGS, load_doc},
    {"options", native_options, METH_VARARGS, options_doc},
    {"generators", native_generators, METH_NOARGS, generators_doc},
    {"status_text", native_status_text, METH_VARARGS,
     "status_text(status, /)\n--\n\nThe phrase for a status."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module) {
  State *state = PyModule_GetState(module);
  state->block_type = block_type_new();
  if (!state->block_type) return -1;
  Py_INCREF(state->block_type); /* taken over by the module */
  if (PyModule_AddObject(module, "Block", state->block_type)) {
    Py_DECREF(state->block_type);
    return -1;
  }
  return PyModule_AddStringConstant(module, "version", RF_VERSION);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
  State *state = PyModule_GetState(module);
  if (state) Py_VISIT(state->block_type);
  return 0;
}

static int module_clear(PyObject *module) {
  State *state = PyModule_GetState(module);
  if (state) Py_CLEAR(state->block_type);
  return 0;
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};
  static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                          .m_name = "reluflow._native",
                                          .m_doc = "The C library: see reluflow.",
                                          .m_size = sizeof(State),
                                          .m_methods = methods,
                                          .m_slots = slots,
                                          .m_traverse = module_traverse,
                                          .m_clear = module_clear};
  return PyModuleDef_Init(&definition);
}

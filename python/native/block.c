/* Arrays by NumPy's array interface (version 3): memory of the library out, arrays of Python in. */
#include "native.h"

#include <string.h>

#if PY_LITTLE_ENDIAN
#define BYTE_ORDER_MARK "<"
#else
#define BYTE_ORDER_MARK ">"
#endif

/* ---- out ------------------------------------------------------------------------------------- */

typedef struct Block {
  PyObject_HEAD void *memory;
  const char *kind;
  int dimensions;
  Py_ssize_t shape[2];
} Block;

/* NumPy keeps the block alive as long as it looks into it. */
static PyObject *get_interface(PyObject *self, void *unused) {
  Block *block = (Block *)self;
  (void)unused;
  char type[8];
  rf_format(type, sizeof type, "%s%s", BYTE_ORDER_MARK, block->kind);
  PyObject *shape = block->dimensions == 2 ? Py_BuildValue("(nn)", block->shape[0], block->shape[1])
                                           : Py_BuildValue("(n)", block->shape[0]);
  PyObject *address = shape ? PyLong_FromVoidPtr(block->memory) : NULL;
  if (!address) {
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue("{s:i,s:s,s:N,s:(NO)}", "version", 3, "typestr", type, "shape", shape, "data", address,
                       Py_False);
}

static PyObject *block_refuse(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type, (void)arguments, (void)keywords;
  PyErr_SetString(PyExc_TypeError, "blocks are made by the library");
  return NULL;
}

static void block_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  rf_free(((Block *)self)->memory);
  release(self);
  Py_DECREF(type);
}

PyObject *block_type_new(void) {
  static PyGetSetDef attributes[] = {
      {"__array_interface__", get_interface, NULL, "Address, type and shape, for NumPy.", NULL},
      {NULL, NULL, NULL, NULL, NULL},
  };
  static PyType_Slot slots[] = {
      {Py_tp_getset, attributes},
      {Py_tp_new, block_refuse},
      {Py_tp_dealloc, block_free},
      {Py_tp_doc, "Memory of the library; numpy.asarray looks into it without a copy."},
      {0, NULL},
  };
  static PyType_Spec spec = {.name = "reluflow._native.Block",
                             .basicsize = sizeof(Block),
                             .flags = Py_TPFLAGS_DEFAULT,
                             .slots = slots};
  return PyType_FromSpec(&spec);
}

PyObject *block_new(PyObject *type, void *memory, const char *kind, rf_index rows, rf_index cols) {
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  Block *block = (Block *)allocate((PyTypeObject *)type, 0);
  if (!block) {
    rf_free(memory);
    return NULL;
  }
  block->memory = memory;
  block->kind = kind;
  block->dimensions = cols < 0 ? 1 : 2;
  block->shape[0] = (Py_ssize_t)rows, block->shape[1] = (Py_ssize_t)cols;
  return (PyObject *)block;
}

/* ---- in -------------------------------------------------------------------------------------- */

static bool is_text(PyObject *object, const char *text) {
  return object && PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

/* From the dictionary; false, without an exception where the array is merely of another kind. */
static bool read_interface(PyObject *interface, const char *kind, int dimensions, ArrayView *view) {
  char type[8];
  rf_format(type, sizeof type, "%s%s", BYTE_ORDER_MARK, kind);
  if (!is_text(PyDict_GetItemString(interface, "typestr"), type)) return false;
  PyObject *strides = PyDict_GetItemString(interface, "strides"); /* None: in C order */
  PyObject *shape = PyDict_GetItemString(interface, "shape"), *data = PyDict_GetItemString(interface, "data");
  if ((strides && strides != Py_None) || !shape || !data || !PyTuple_Check(shape) || !PyTuple_Check(data))
    return false;
  if (PyTuple_Size(shape) != dimensions || PyTuple_Size(data) != 2) return false;
  for (int k = 0; k < dimensions; k++) view->shape[k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
  view->memory = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
  return !PyErr_Occurred();
}

bool array_view(PyObject *array, const char *kind, int dimensions, ArrayView *view) {
  PyObject *interface = PyObject_GetAttrString(array, "__array_interface__");
  bool fine = interface && PyDict_Check(interface) && read_interface(interface, kind, dimensions, view);
  Py_XDECREF(interface);
  if (fine) return true;
  if (PyErr_Occurred()) PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "expected a %d-dimensional array of kind %s in C order", dimensions, kind);
  return false;
}

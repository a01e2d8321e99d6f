/* Memory of the library behind the buffer protocol. */
#include "native.h"

#include <string.h>

typedef struct Block {
  PyObject_HEAD void *memory;
  char format[2];
  int dimensions;
  Py_ssize_t item, shape[2], strides[2];
} Block;

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  Block *block = (Block *)self;
  Py_ssize_t count = block->shape[0] * (block->dimensions == 2 ? block->shape[1] : 1);
  *view = (Py_buffer){
      .buf = block->memory, .len = count * block->item, .itemsize = block->item, .ndim = block->dimensions};
  view->format = flags & PyBUF_FORMAT ? block->format : NULL;
  view->shape = block->shape;
  view->strides = block->strides;
  view->obj = self;
  Py_INCREF(self);
  return 0;
}

static void block_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  rf_free(((Block *)self)->memory);
  release(self);
  Py_DECREF(type);
}

PyObject *block_type_new(void) {
  static PyType_Slot slots[] = {
      {Py_bf_getbuffer, get_buffer},
      {Py_tp_dealloc, block_free},
      {Py_tp_doc, "Memory of the library; numpy.asarray looks into it without a copy."},
      {0, NULL},
  };
  static PyType_Spec spec = {.name = "reluflow._native.Block",
                             .basicsize = sizeof(Block),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             .slots = slots};
  return PyType_FromSpec(&spec);
}

PyObject *block_new(PyObject *type, void *memory, const char *format, rf_index rows, rf_index cols) {
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  Block *block = (Block *)allocate((PyTypeObject *)type, 0);
  if (!block) {
    rf_free(memory);
    return NULL;
  }
  block->memory = memory;
  memcpy(block->format, format, 2);
  block->item = *format == 'i' ? 4 : 8;
  block->dimensions = cols < 0 ? 1 : 2;
  block->shape[0] = (Py_ssize_t)rows, block->shape[1] = (Py_ssize_t)cols;
  block->strides[0] = cols < 0 ? block->item : (Py_ssize_t)cols * block->item;
  block->strides[1] = block->item;
  return (PyObject *)block;
}

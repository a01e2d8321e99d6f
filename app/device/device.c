/* Finding and opening devices. */
#ifdef __linux__
#define _GNU_SOURCE /* dladdr */
#endif
#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[] = {"cpu", "cuda", "emulated"};

/* The plugin beside the program, or where an installation keeps it. */
static void *load_beside(DeviceKind kind, char path[4096]) {
  static const char *const places[] = {"", "/../lib/reluflow", "/../lib"};
  char self[3800];
  void *library = NULL;
  Dl_info where;
  for (int from = 0; from < 2 && !library; from++) { /* the program; this object, within a host */
    ssize_t length = from == 0 ? readlink("/proc/self/exe", self, sizeof self - 1) : -1;
    if (length >= 0)
      self[length] = '\0';
    else if (from == 1 && dladdr((const void *)&kind_names, &where) && where.dli_fname)
      rf_format(self, sizeof self, "%s", where.dli_fname);
    else
      continue;
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    for (size_t k = 0; k < sizeof places / sizeof places[0] && !library; k++) {
      rf_format(path, 4096, "%s%s/libreluflow_%s.so", self, places[k], kind_names[kind]);
      if (access(path, R_OK) == 0) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
  }
  return library;
}

RfStatus device_open(RfContext *context, Device *device, DeviceKind kind) {
  char path[4096] = "", error[DEVICE_ERROR_SIZE] = "";
  memset(device, 0, sizeof *device);
  void *library = load_beside(kind, path);
  if (!library)
    return rf_fail(context, RF_ERR_USAGE,
                   "--device %s: libreluflow_%s.so is not beside the program (built where nvcc is found, "
                   "docs/gpu.md)",
                   kind_names[kind], kind_names[kind]);
  device->plugin = dlsym(library, DEVICE_PLUGIN_ENTRY);
  if (!device->plugin || device->plugin->version != DEVICE_PLUGIN_VERSION)
    return rf_fail(context, RF_ERR_USAGE, "--device %s: %s belongs to another version", kind_names[kind],
                   path);
  if (device->plugin->open(device->name, error) != DEVICE_OK)
    return rf_fail(context, RF_ERR_USAGE, "--device %s: %s", kind_names[kind], error);
  return RF_OK;
}

RfStatus device_align(RfContext *context, const Device *device, DeviceAlign *task) {
  char error[DEVICE_ERROR_SIZE] = "";
  DeviceStatus status = device->plugin->align(task, error);
  if (status == DEVICE_OK) return RF_OK;
  return rf_fail(context, status == DEVICE_MEMORY ? RF_ERR_MEMORY : RF_ERR_NUMERIC, "%s: %s", device->name,
                 error);
}

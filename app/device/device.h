/* device: populations on an accelerator. The door to plugins (plugin.h) that lie beside the program and are
 * loaded when somebody asks for them; without one, or without a card, one line says so. */
#ifndef RF_DEVICE_H
#define RF_DEVICE_H

#include "core/core.h"
#include "device/plugin.h"
#include "reluflow/flow.h"
#include "reluflow/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where something runs. "emulated": the kernels of the card, compiled for the processor; for tests. */
typedef enum DeviceKind { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_EMULATED = 2 } DeviceKind;
#define DEVICE_CHOICES "cpu|cuda|emulated"

typedef struct Device {
  const DevicePlugin *plugin;
  char name[DEVICE_NAME_SIZE];
} Device;

/* RF_ERR_USAGE with one line when the plugin or the card is not there. */
RfStatus device_open(RfContext *context, Device *device, DeviceKind kind);

/* One network of a population, as rf_train_run would be asked for it. */
typedef struct DeviceMember {
  const RfTrainData *data;
  const RfLayeredNet *start; /* two dense layers, one output */
  double rate, raise_rate;
} DeviceMember;

/* RF_OK when these settings and this network can run on a device, otherwise a failure that says why not. */
RfStatus device_check(RfContext *context, const RfLayeredNet *net, const RfTrainData *data,
                      const RfTrainSettings *settings);
/* Trains `count` networks of one shape, data of one size, with the rules of `settings`; result[k] is as that
 * of rf_train_run. RF_INTERRUPTED with the states so far. A network that overflowed has a NaN as its loss. */
RfStatus device_train(RfContext *context, const Device *device, RfTrainResult *results,
                      const DeviceMember *members, rf_index count, const RfTrainSettings *settings,
                      bool with_records);

/* Destinies of many starts; see DeviceAlign. */
RfStatus device_align(RfContext *context, const Device *device, DeviceAlign *task);

#ifdef __cplusplus
}
#endif
#endif

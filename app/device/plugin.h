/* What a device is asked for: populations of small networks, and exact alignment of many starts. A device is
 * a shared object of its own that exports one DevicePlugin; the program links none. Plain C types only, so
 * that the object needs nothing of the program. */
#ifndef RF_DEVICE_PLUGIN_H
#define RF_DEVICE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_PLUGIN_ENTRY "reluflow_device"

enum { DEVICE_PLUGIN_VERSION = 1, DEVICE_ERROR_SIZE = 256, DEVICE_NAME_SIZE = 128 };

/* The largest problems a device takes. */
enum { DEVICE_MOST_SAMPLES = 1024, DEVICE_MOST_INPUTS = 64, DEVICE_MOST_NEURONS = 512 };

typedef enum DeviceStatus {
  DEVICE_OK = 0,
  DEVICE_NONE,    /* no such device here */
  DEVICE_MEMORY,  /* it has too little memory */
  DEVICE_FAILED,  /* the error says why */
  DEVICE_STOPPED, /* asked to stop; networks stand where they are */
} DeviceStatus;

/* What is measured of a network: at the end in double, along the way in the precision of the run. */
enum {
  DEVICE_STEP,
  DEVICE_LOG_LOSS,
  DEVICE_MIN_Q,
  DEVICE_NORM,
  DEVICE_WRONG, /* samples on the wrong side; NaN when an output is not finite */
  DEVICE_MEASURES
};

/* Gradient descent of a population of two-layer networks of one shape; arrays are the caller's. */
typedef struct DeviceDescent {
  int n, d, m;
  int loss; /* as RfLoss */
  bool mean, freeze_second, single;
  double leak;
  int64_t nets, data_sets;
  const double *X, *y;             /* per data set n rows of d, n labels */
  const int32_t *data_of;          /* per network; NULL: all use the first */
  double *weights;                 /* per network m rows of d, then m: start and end */
  const double *rate, *raise_rate; /* per network; raise_rate as in RfTrainSettings */
  int64_t max_steps;
  double stop_loss, stop_min_q; /* 0 and infinity: never */
  int64_t record_every, record_room;
  double *records;       /* per network record_room rows of DEVICE_MEASURES; NULL without */
  int32_t *record_count; /* per network */
  int64_t *steps;        /* per network: updates taken */
  int32_t *stop;         /* per network: as RfTrainStop; -1 while it could go on */
  double *measure;       /* per network a row of DEVICE_MEASURES */
  int lanes;             /* of a network on the device; 0 = chosen by its shape */
  bool (*stopped)(void *user);
  void *user;
  double seconds;  /* out: spent in updates on the device */
  double launches; /* out */
} DeviceDescent;

/* What becomes of neurons near zero (src/flow/align). */
typedef struct DeviceAlign {
  int n, d;
  double leak;
  const double *X, *c;           /* n rows of d, n weights */
  double zero, balanced, solver; /* tolerances of the context */
  int64_t count;
  const double *starts; /* rows of d+1, joint norm 1 */
  int8_t *destiny;      /* as RfDestiny; DEVICE_ASK: the processor has to follow this one */
  uint32_t *plus,
      *still;     /* per start (n+31)/32 words each: samples on side +, and slid on; NULL = not wished */
  double seconds; /* out */
} DeviceAlign;

enum { DEVICE_ASK = -1 };

typedef struct DevicePlugin {
  int version;
  DeviceStatus (*open)(char name[DEVICE_NAME_SIZE], char error[DEVICE_ERROR_SIZE]);
  DeviceStatus (*descend)(DeviceDescent *task, char error[DEVICE_ERROR_SIZE]);
  DeviceStatus (*align)(DeviceAlign *task, char error[DEVICE_ERROR_SIZE]);
} DevicePlugin;

#endif

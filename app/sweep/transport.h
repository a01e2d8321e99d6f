/* Messages between ranks, as the engine sees them. The only code that knows MPI is a small library of its
 * own, loaded when the program finds itself under mpirun: the program starts where MPI is not installed. */
#ifndef RF_SWEEP_TRANSPORT_H
#define RF_SWEEP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct SweepTransport {
  bool (*start)(int *rank, int *size);
  bool (*send)(int to, const void *data, size_t length);
  /* A message has arrived: from whom, how long. */
  bool (*ready)(int *from, size_t *length);
  bool (*receive)(int from, void *data, size_t length);
  void (*stop)(void);
} SweepTransport;

#define SWEEP_TRANSPORT_ENTRY "reluflow_sweep_transport"

#endif

/* The transport over MPI. Whole messages of bytes, one tag. */
#include <limits.h>
#include <mpi.h>

#include "sweep/transport.h"

static bool start(int *rank, int *size) {
  int provided;
  return MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
         MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS &&
         MPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

static bool send_bytes(int to, const void *data, size_t length) {
  if (length > INT_MAX) return false;
  return MPI_Send(data, (int)length, MPI_BYTE, to, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static bool ready(int *from, size_t *length) {
  int flag = 0, count = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS || !flag) return false;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *length = (size_t)count;
  return true;
}

static bool receive(int from, void *data, size_t length) {
  return MPI_Recv(data, (int)length, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static void stop(void) { MPI_Finalize(); }

__attribute__((visibility("default")))
const SweepTransport reluflow_sweep_transport = {start, send_bytes, ready, receive, stop};

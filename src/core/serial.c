/* BLAS on one thread. OpenMP keeps the number of threads per thread that asks, and OpenBLAS follows it: so
 * every thread that makes a context says it, and one that works with a context made elsewhere (a job of the
 * Python extension) says it again. OpenBLAS changes tables of its own meanwhile: one thread at a time. The
 * symbol is weak, so that another BLAS will do; it then has to be a serial one. */
#include "core/core.h"

#include <pthread.h>

__attribute__((weak)) void openblas_set_num_threads(int count); /* NOLINT: a name of OpenBLAS */

void rf_serial_blas(void) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one_at_a_time);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  pthread_mutex_unlock(&one_at_a_time);
}

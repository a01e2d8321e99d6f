/* A command in its own thread. The calling thread waits without the GIL, and twenty times a second takes it
 * to let signal handlers run and to show progress; so Ctrl-C works whatever the library is doing, and the
 * library never touches Python. */
#include "native.h"
#include "core/core.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct Job {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  CliRun *run;
  JobWork work;
  void *product;
  volatile int cancel;
  /* below: guarded by the lock */
  bool done;
  int exit_status;
  RfText *messages;
  bool news; /* progress that was not shown yet */
  double fraction;
  char phase[64], detail[160];
};

static void on_progress(void *user, const char *phase, double fraction, const char *detail) {
  Job *job = user;
  pthread_mutex_lock(&job->lock);
  job->news = true;
  job->fraction = fraction;
  rf_format(job->phase, sizeof job->phase, "%s", phase);
  rf_format(job->detail, sizeof job->detail, "%s", detail);
  pthread_mutex_unlock(&job->lock);
}

static void on_message(void *user, RfLevel level, const char *text) {
  Job *job = user;
  if (level != RF_WARNING) return;
  pthread_mutex_lock(&job->lock);
  rf_text_addf(job->messages, "%s\n", text);
  pthread_mutex_unlock(&job->lock);
}

static void *thread_main(void *user) {
  Job *job = user;
  rf_serial_blas(); /* the context was made in another thread */
  int exit_status = job->work(job->run, job->product);
  pthread_mutex_lock(&job->lock);
  job->exit_status = exit_status;
  job->done = true;
  pthread_cond_signal(&job->ended);
  pthread_mutex_unlock(&job->lock);
  return NULL;
}

/* Waits a moment for the end; true when it came. */
static bool wait_a_moment(Job *job) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 50 * 1000 * 1000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&job->lock);
  for (int error = 0; !job->done && error != ETIMEDOUT;)
    error = pthread_cond_timedwait(&job->ended, &job->lock, &until);
  bool done = job->done;
  pthread_mutex_unlock(&job->lock);
  return done;
}

/* With the GIL: shows what is new; false when the callback raised. */
static bool show_progress(Job *job, PyObject *progress) {
  char phase[sizeof job->phase], detail[sizeof job->detail];
  pthread_mutex_lock(&job->lock);
  bool news = job->news;
  double fraction = job->fraction;
  memcpy(phase, job->phase, sizeof phase);
  memcpy(detail, job->detail, sizeof detail);
  job->news = false;
  pthread_mutex_unlock(&job->lock);
  if (!news || progress == Py_None) return true;
  PyObject *answer = PyObject_CallFunction(progress, "sds", phase, fraction, detail);
  Py_XDECREF(answer);
  return answer != NULL;
}

/* The calling thread's part; false when Python raised. */
static bool watch(Job *job, PyObject *progress) {
  bool fine = true;
  for (;;) {
    bool done;
    Py_BEGIN_ALLOW_THREADS;
    done = wait_a_moment(job);
    Py_END_ALLOW_THREADS;
    if (done) return fine && show_progress(job, progress); /* short runs tell at least where they ended */
    if (fine && (PyErr_CheckSignals() != 0 || !show_progress(job, progress))) {
      fine = false;
      job->cancel = 1;
    }
  }
}

static bool locks_new(Job *job) {
  pthread_condattr_t monotonic;
  if (pthread_mutex_init(&job->lock, NULL)) return false;
  if (pthread_condattr_init(&monotonic) == 0) {
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&job->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!failed) return true;
  }
  pthread_mutex_destroy(&job->lock);
  return false;
}

bool job_run(CliRun *run, int *exit_status, RfText *messages, JobWork work, void *product,
             PyObject *progress) {
  Job job = {.run = run, .work = work, .product = product, .messages = messages};
  pthread_t thread;
  RfContext *context = &run->context;
  context->cancel = &job.cancel;
  context->user = &job;
  context->on_message = on_message;
  context->on_progress = progress == Py_None ? NULL : on_progress;
  bool ready = locks_new(&job), started = ready && pthread_create(&thread, NULL, thread_main, &job) == 0;
  bool fine = started && watch(&job, progress);
  if (started)
    pthread_join(thread, NULL);
  else
    PyErr_SetString(PyExc_RuntimeError, "cannot start a thread");
  *exit_status = job.exit_status;
  context->cancel = NULL, context->on_message = NULL, context->on_progress = NULL, context->user = NULL;
  if (ready) {
    pthread_cond_destroy(&job.ended);
    pthread_mutex_destroy(&job.lock);
  }
  return fine;
}

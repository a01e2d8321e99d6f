/* Many numbered jobs in processes of their own, so many at a time: crashes and endless loops are counted, not
 * shared. A job writes its report, a plain struct, and ends; the caller is told of each as it comes. */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum JobEnd { JOB_DONE = 0, JOB_LATE = 1, JOB_CRASHED = 2 } JobEnd;

typedef struct Jobs {
  int workers;
  double seconds; /* of processor time that a job may take */
  size_t size;    /* of a report */
  void *user;
  void (*work)(void *user, long job, void *report); /* in the child; report is zeroed */
  /* In the parent. `end`: whether the report is whole. False: start no more jobs. */
  bool (*done)(void *user, long job, const void *report, JobEnd end);
} Jobs;

enum { JOBS_MOST = 256 };

typedef struct JobSlot {
  pid_t child;
  int reader;
  long job;
  size_t got;
  char *report;
} JobSlot;

static void job_child(const Jobs *jobs, long job, int writer) {
  struct itimerval limit = {.it_value = {.tv_sec = (time_t)jobs->seconds + 1}};
  char *report = calloc(1, jobs->size);
  setitimer(ITIMER_PROF, &limit, NULL);
  alarm((unsigned)(20 * jobs->seconds) + 60); /* a job that waits for nothing uses no processor */
  jobs->work(jobs->user, job, report);
  size_t sent = 0;
  while (sent < jobs->size) {
    ssize_t part = write(writer, report + sent, jobs->size - sent);
    if (part <= 0) _exit(1);
    sent += (size_t)part;
  }
  _exit(0);
}

static void job_start(const Jobs *jobs, JobSlot *slot, long job) {
  int ends[2];
  fflush(stdout);
  if (pipe(ends)) exit(2);
  slot->job = job, slot->got = 0, slot->reader = ends[0];
  slot->child = fork();
  if (slot->child < 0) exit(2);
  if (slot->child == 0) {
    close(ends[0]);
    job_child(jobs, job, ends[1]);
  }
  close(ends[1]);
}

/* Jobs first, first + 1, ... before end, in this order of starting. */
static void jobs_run(const Jobs *jobs, long first, long end) {
  static JobSlot slots[JOBS_MOST];
  struct pollfd waits[JOBS_MOST];
  int workers = jobs->workers < 1 ? 1 : jobs->workers > JOBS_MOST ? JOBS_MOST : jobs->workers, busy = 0;
  long next = first;
  bool more = true;
  for (int w = 0; w < workers; w++) slots[w] = (JobSlot){.report = calloc(1, jobs->size)};
  while (busy > 0 || (more && next < end)) {
    for (int w = 0; w < workers && more && next < end; w++)
      if (slots[w].child == 0) job_start(jobs, &slots[w], next++), busy++;
    for (int w = 0; w < workers; w++)
      waits[w] = (struct pollfd){.fd = slots[w].child ? slots[w].reader : -1, .events = POLLIN};
    if (poll(waits, (nfds_t)workers, -1) < 0) continue;
    for (int w = 0; w < workers; w++) {
      JobSlot *slot = &slots[w];
      if (slot->child == 0 || !waits[w].revents) continue;
      char spare;
      bool full = slot->got == jobs->size;
      ssize_t part =
          read(slot->reader, full ? &spare : slot->report + slot->got, full ? 1 : jobs->size - slot->got);
      if (part > 0) {
        slot->got += (size_t)part;
        continue;
      }
      int state = 0;
      close(slot->reader);
      waitpid(slot->child, &state, 0);
      bool late = WIFSIGNALED(state) && (WTERMSIG(state) == SIGPROF || WTERMSIG(state) == SIGALRM);
      JobEnd how = full ? JOB_DONE : late ? JOB_LATE : JOB_CRASHED;
      if (!full) memset(slot->report, 0, jobs->size);
      more = jobs->done(jobs->user, slot->job, slot->report, how) && more;
      slot->child = 0, busy--;
    }
  }
  for (int w = 0; w < workers; w++) free(slots[w].report);
}

/* Seconds of processor time that this process has used. */
static inline double jobs_own_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

#endif

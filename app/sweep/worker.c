/* A worker: a forked copy of the program that knows the plan, is told the numbers of cells, and sends back
 * rows. It never touches the store. It dies with its parent. */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "sweep/sweep_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

bool sweep_send(int socket, const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t done = send(socket, at, length, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done, length -= (size_t)done;
  }
  return true;
}

static bool receive_all(int socket, void *data, size_t length) {
  char *at = data;
  while (length > 0) {
    ssize_t done = recv(socket, at, length, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done, length -= (size_t)done;
  }
  return true;
}

/* ---- the child -------------------------------------------------------------------------------- */

/* A cell whose answer could not be read or packed is one that the program failed at. */
static void note_failure(SweepAnswer *answer, const RfContext *context) {
  answer->failed = true;
  answer->exit_status = 3;
  rf_format(answer->error, sizeof answer->error, "%s", context->error);
}

void sweep_reply_new(SweepReply *reply, const SweepColumns *columns, rf_index cell, const SweepAnswer *answer,
                     bool keep_json) {
  RfContext context;
  SweepAnswer failed = *answer;
  *reply = (SweepReply){0};
  rf_context_init(&context);
  if (sweep_pack(&context, &reply->payload, columns, answer, keep_json) != RF_OK) {
    note_failure(&failed, &context);
    reply->payload.length = 0;
    sweep_pack(&context, &reply->payload, columns, &failed, false);
  }
  reply->header = (SweepHeader){cell, (int32_t)sweep_outcome_of(failed.exit_status), failed.exit_status, 0,
                                reply->payload.length};
}

bool sweep_reply_send(int socket, const SweepReply *reply) {
  return !reply->payload.failed && sweep_send(socket, &reply->header, sizeof reply->header) &&
         sweep_send(socket, rf_text_string(&reply->payload), reply->payload.length);
}

static bool serve(int socket, const SweepPlan *plan, const SweepColumns *columns, bool keep_json) {
  int64_t cell;
  RfContext context;
  SweepTexts words = {0};
  SweepAnswer answer = {0};
  SweepReply reply;
  if (!receive_all(socket, &cell, sizeof cell)) return false;
  rf_context_init(&context);
  double started = rf_clock_seconds();
  if (sweep_plan_words(&context, &words, plan, cell) != RF_OK)
    note_failure(&answer, &context);
  else
    plan->command->run(plan->command->user, &answer, (int)words.count, words.items);
  sweep_reply_new(&reply, columns, cell, &answer, keep_json);
  reply.header.seconds = rf_clock_seconds() - started;
  bool fine = sweep_reply_send(socket, &reply);
  rf_text_free(&reply.payload);
  rf_text_free(&answer.json);
  sweep_texts_free(&words);
  return fine;
}

/* Ctrl-C in a terminal goes to the whole group: the parent decides. */
static void settle(pid_t parent) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------- */

RfStatus sweep_worker_fork(RfContext *context, SweepWorker *worker, bool *is_child) {
  int ends[2];
  pid_t parent = getpid();
  worker->pid = 0;
  *is_child = false;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return rf_fail(context, RF_ERR_IO, "cannot start a worker: %s", strerror(errno));
  pid_t pid = fork();
  *is_child = pid == 0;
  close(ends[pid == 0 ? 0 : 1]);
  if (pid == 0) settle(parent);
  if (pid < 0) {
    close(ends[0]);
    return rf_fail(context, RF_ERR_IO, "cannot start a worker: %s", strerror(errno));
  }
  worker->pid = pid, worker->socket = ends[pid == 0 ? 1 : 0];
  return RF_OK;
}

RfStatus sweep_worker_start(RfContext *context, SweepWorker *worker, const SweepPlan *plan,
                            const SweepColumns *columns, bool keep_json, const SweepWorker *others,
                            rf_index n_others) {
  bool is_child;
  RfStatus status = sweep_worker_fork(context, worker, &is_child);
  if (status || !is_child) return status;
  for (rf_index k = 0; k < n_others; k++)
    if (&others[k] != worker && others[k].pid) close(others[k].socket);
  while (serve(worker->socket, plan, columns, keep_json)) {}
  _exit(0);
}

bool sweep_worker_send(const SweepWorker *worker, rf_index cell) {
  int64_t number = cell;
  return sweep_send(worker->socket, &number, sizeof number);
}

bool sweep_worker_receive(const SweepWorker *worker, SweepHeader *header, RfText *payload) {
  char bytes[16384];
  payload->length = 0;
  if (!receive_all(worker->socket, header, sizeof *header)) return false;
  for (uint64_t left = header->length; left > 0;) {
    size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;
    if (!receive_all(worker->socket, bytes, size)) return false;
    rf_text_add_bytes(payload, bytes, size);
    left -= size;
  }
  return !payload->failed;
}

SweepOutcome sweep_worker_end(SweepWorker *worker, char why[64]) {
  int how = 0;
  SweepOutcome outcome = SWEEP_CRASHED;
  rf_format(why, 64, "the worker ended");
  if (!worker->pid) return outcome;
  close(worker->socket);
  kill(worker->pid, SIGKILL); /* without effect when it is dead already: then how it died is on record */
  while (waitpid(worker->pid, &how, 0) < 0 && errno == EINTR) {}
  worker->pid = 0;
  if (WIFSIGNALED(how)) {
    int number = WTERMSIG(how);
    bool outside = number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
    outcome = outside ? SWEEP_KILLED : SWEEP_CRASHED;
    rf_format(why, 64, "the worker was ended by signal %d", number);
  } else if (WIFEXITED(how)) {
    rf_format(why, 64, "the worker ended with exit status %d", WEXITSTATUS(how));
  }
  return outcome;
}

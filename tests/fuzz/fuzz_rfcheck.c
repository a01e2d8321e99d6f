/* libFuzzer target: bytes as a proof file. The checker's own source is included: leaving it is a jump here
 * instead of the end of the process, and every block it took is given back afterwards, as the end of the
 * process would do. */
#include <gmp.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf left;
static int status_left;

typedef struct Block {
  struct Block *before, *after;
  size_t size[2]; /* one used: the other keeps the alignment */
} Block;

static Block blocks = {&blocks, &blocks, {0}};

static void *take(void *old, size_t size) {
  Block *block = old ? (Block *)old - 1 : NULL;
  if (block) block->before->after = block->after, block->after->before = block->before;
  block = realloc(block, sizeof *block + size);
  if (!block) abort();
  block->before = &blocks, block->after = blocks.after;
  block->after->before = block, blocks.after = block;
  return block + 1;
}

static void give(void *data) {
  if (!data) return;
  Block *block = (Block *)data - 1;
  block->before->after = block->after, block->after->before = block->before;
  free(block);
}

static void *gmp_take(size_t size) { return take(NULL, size); }
static void *gmp_resize(void *old, size_t old_size, size_t size) { return (void)old_size, take(old, size); }
static void gmp_give(void *data, size_t size) { (void)size, give(data); }

static _Noreturn void leave_check(int status) {
  status_left = status;
  longjmp(left, 1);
}

static int no_text(const char *format, ...) { return (void)format, 0; }
static int no_character(int character) { return character; }

#define main    rfcheck_main
#define realloc take
#define exit    leave_check
#define printf  no_text
#define putchar no_character
#include "../../check/rfcheck.c"
#undef realloc

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mp_set_memory_functions(gmp_take, gmp_resize, gmp_give);
  memset(&c, 0, sizeof c);
  FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
  if (!in) return 0;
  if (!setjmp(left)) {
    check_file(in);
    status_left = 0;
  }
  if (status_left < 0 || status_left > 2) abort();
  fclose(in);
  free(c.line);
  while (blocks.after != &blocks) give(blocks.after + 1);
  return 0;
}

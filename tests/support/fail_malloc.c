/* Preloaded library: fails the RF_FAIL_AT-th allocation made by the program's own code (calls from other
 * libraries, found by the return address, pass untouched). RF_FAIL_AT=0 counts and writes the number to
 * RF_FAIL_COUNT_FILE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uintptr_t text_low, text_high;
static long fail_at = -1, calls;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static char early[65536];
static size_t early_used;

static int first_object(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int k = 0; k < info->dlpi_phnum; k++) {
    if (info->dlpi_phdr[k].p_type != PT_LOAD || !(info->dlpi_phdr[k].p_flags & PF_X)) continue;
    text_low = (uintptr_t)(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
    text_high = text_low + info->dlpi_phdr[k].p_memsz;
  }
  return 1; /* the first object is the program itself */
}

static void find_real(void) {
  static int busy;
  if (real_realloc || busy) return;
  busy = 1;
  *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
  *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
  *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
  const char *text = getenv("RF_FAIL_AT");
  if (text) fail_at = atol(text);
  dl_iterate_phdr(first_object, NULL);
  busy = 0;
}

static int refuse(void *caller) {
  uintptr_t at = (uintptr_t)caller;
  if (fail_at < 0 || at < text_low || at >= text_high) return 0;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == fail_at;
}

static void *early_block(size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (early_used + size > sizeof early) return NULL;
  void *block = early + early_used;
  early_used += size;
  return block;
}

void *malloc(size_t size) {
  find_real();
  if (!real_malloc) return early_block(size);
  return refuse(__builtin_return_address(0)) ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size) {
  find_real();
  if (!real_calloc) return early_block(count * size);
  return refuse(__builtin_return_address(0)) ? NULL : real_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  find_real();
  if (!real_realloc) return NULL;
  return refuse(__builtin_return_address(0)) ? NULL : real_realloc(block, size);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("RF_FAIL_COUNT_FILE");
  if (!path || fail_at != 0) return;
  FILE *file = fopen(path, "w");
  if (file) fprintf(file, "%ld\n", calls), fclose(file);
}

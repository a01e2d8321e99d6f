/* The text of proof files: tokens separated by one space, numbers as hexadecimal floats, which are exact. */
#include "core/core.h"
#include "optimum/proof_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { buffer_size = 1 << 20 };

/* Devices and pipes are written to directly: they cannot be replaced. */
static FILE *open_beside(RfProofText *text, const char *path) {
  struct stat about;
  size_t room = strlen(path) + 40;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) return fopen(path, "w");
  text->beside = RF_NEW(char, (rf_index)room);
  if (!text->beside) return NULL;
  rf_format(text->beside, room, "%s.%ld.part", path, (long)getpid());
  return fopen(text->beside, "w");
}

RfStatus rf_proof_open(RfContext *context, RfProofText *text, const char *path) {
  *text = (RfProofText){.size = buffer_size, .buffer = RF_NEW(char, buffer_size)};
  if (!text->buffer) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a proof");
  if (!path) return RF_OK;
  errno = 0;
  text->file = open_beside(text, path);
  if (text->file) return RF_OK;
  rf_free(text->buffer);
  rf_free(text->beside);
  *text = (RfProofText){0};
  return errno ? rf_fail(context, RF_ERR_IO, "cannot write '%s': %s", path, strerror(errno))
               : rf_fail(context, RF_ERR_MEMORY, "out of memory for a proof");
}

static void flush(RfProofText *text) {
  if (text->file && fwrite(text->buffer, 1, text->used, text->file) != text->used) text->failed = true;
  text->bytes += (double)text->used;
  text->used = 0;
}

RfStatus rf_proof_close(RfContext *context, RfProofText *text, const char *path, RfStatus status) {
  flush(text);
  if (text->file && fclose(text->file)) text->failed = true;
  if (text->beside) { /* a reader sees the whole proof or what was there before */
    bool whole = !status && !text->failed;
    if (whole && rename(text->beside, path)) text->failed = true, whole = false;
    if (!whole) remove(text->beside);
  }
  rf_free(text->buffer);
  rf_free(text->beside);
  text->file = NULL, text->buffer = text->beside = NULL;
  if (status || !text->failed) return status;
  return path ? rf_fail(context, RF_ERR_IO, "cannot write '%s'", path) : RF_UNDECIDED;
}

void rf_proof_word(RfProofText *text, const char *word) {
  size_t length = strlen(word);
  if (text->used + length > text->size) flush(text);
  if (length > text->size) { /* an integer of a million digits */
    if (text->file && fwrite(word, 1, length, text->file) != length) text->failed = true;
    text->bytes += (double)length;
    return;
  }
  memcpy(text->buffer + text->used, word, length);
  text->used += length;
}

void rf_proof_integer(RfProofText *text, rf_index value) {
  char word[32];
  rf_format(word, sizeof word, "%lld", (long long)value);
  rf_proof_word(text, word);
}

void rf_proof_number(RfProofText *text, double value) {
  static const char digits[] = "0123456789abcdef";
  char word[48];
  int exponent, used = 0;
  if (!isfinite(value)) text->failed = true;
  if (!isfinite(value) || value == 0) {
    rf_proof_word(text, "0");
    return;
  }
  uint64_t bits = (uint64_t)ldexp(frexp(fabs(value), &exponent), 53); /* 2^52 <= bits < 2^53 */
  if (value < 0) word[used++] = '-';
  word[used++] = '0', word[used++] = 'x', word[used++] = '1';
  bits &= ((uint64_t)1 << 52) - 1;
  if (bits) word[used++] = '.';
  for (; bits; bits = (bits << 4) & (((uint64_t)1 << 52) - 1)) word[used++] = digits[bits >> 48];
  rf_format(word + used, sizeof word - (size_t)used, "p%+d", exponent - 1);
  rf_proof_word(text, word);
}

/* core's door to the other rooms and buildings: what they share and no user of the library needs. Numbers to
 * and from text, whatever locale the host of the library has chosen (Python, R, Qt and GTK programs often
 * have one with a decimal comma); no other file calls printf or strtod for numbers (a test looks). */
#ifndef RF_CORE_CORE_H
#define RF_CORE_CORE_H

#include "reluflow/core.h"

#include <locale.h>
#include <stdarg.h>

/* ---- format.c: text with numbers in it ------------------------------------------------------- */

/* As snprintf and vsnprintf in the C locale: 1.5 has a point. */
int rf_format(char *out, size_t size, const char *format, ...) RF_PRINTF(3, 4);
int rf_format_list(char *out, size_t size, const char *format, va_list arguments) RF_PRINTF(3, 0);
/* For a library that formats or reads numbers itself (jansson): the calling thread is in the C locale between
 * enter and leave, other threads keep theirs. */
locale_t rf_locale_enter(void);
void rf_locale_leave(locale_t before);
/* The first `length` bytes are equal up to the case of the letters A-Z, in every locale (Turkish has its own
 * idea of the capital of i). */
bool rf_letters_equal(const char *a, const char *b, size_t length);

/* ---- number.c: text to double and back, exactly rounded, independent of the locale ----------- */

typedef enum RfNumberKind {
  RF_NUMBER_FINITE,
  RF_NUMBER_OVERFLOW,  /* a decimal number beyond the largest double */
  RF_NUMBER_NONFINITE, /* nan, inf, infinity, in any case */
  RF_NUMBER_NONE       /* no number starts here */
} RfNumberKind;

/* The number at `text`; *end is behind its last character. The text stops at `limit`, and *limit must be
 * readable and no part of a number (a newline, a separator, the final zero). */
RfNumberKind rf_number_parse(double *value, const char **end, const char *text, const char *limit);
/* A whole text of `length` characters that is one number, blanks around it allowed; text[length] is readable.
 */
RfNumberKind rf_number_whole(double *value, const char *text, size_t length);
/* The text is one finite number and nothing else. */
bool rf_number_read(double *value, const char *text);

#define RF_NUMBER_SIZE 32
/* The shortest of 15, 16 or 17 digits that reads back as x; x is finite. Returns the length. */
int rf_number_format(char out[RF_NUMBER_SIZE], double x);

/* ---- digests --------------------------------------------------------------------------------------- */

enum { RF_SHA256_SIZE = 65 }; /* 64 hexadecimal digits and a zero */

typedef struct RfSha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
  size_t used;
} RfSha256;

void rf_sha256_init(RfSha256 *sha);
void rf_sha256_add(RfSha256 *sha, const void *data, size_t size);
/* Ends it: nothing can be added afterwards. */
void rf_sha256_text(RfSha256 *sha, char out[RF_SHA256_SIZE]);

#endif

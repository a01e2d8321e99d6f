/* SHA-256 (FIPS 180-4) of bytes in memory. */
#ifndef RF_SWEEP_SHA256_H
#define RF_SWEEP_SHA256_H

#include <stddef.h>

/* 64 hexadecimal digits and a closing zero. */
void sweep_sha256(char hex[65], const void *data, size_t length);

#endif

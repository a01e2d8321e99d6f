/* A check of SVG and HTML for tests. */
#ifndef RF_MARKUP_H
#define RF_MARKUP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Every tag is closed in order; enough for the markup written here. */
static inline bool well_formed(const char *text) {
  char names[64][32];
  int depth = 0;
  for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
    if (at[1] == '?' || at[1] == '!') continue;
    const char *end = strchr(at, '>');
    bool closing = at[1] == '/';
    char name[32] = "";
    sscanf(at + 1 + closing, "%31[a-zA-Z0-9]", name);
    if (!end || !name[0]) return false;
    bool alone = end[-1] == '/' || strcmp(name, "meta") == 0;
    if (closing && (depth == 0 || strcmp(names[--depth], name) != 0)) return false;
    if (!closing && !alone) strcpy(names[depth++], name);
  }
  return depth == 0;
}

#endif

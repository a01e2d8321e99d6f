/* Unit tests of the library as one program for node: without a word it lists them, with a name it runs that
 * one. */
#include <stdio.h>
#include <string.h>

#define UNIT(symbol, name) int unit_##symbol(void);
#include "units.inc"
#undef UNIT

static const struct {
  const char *name;
  int (*run)(void);
} units[] = {
#define UNIT(symbol, name) {name, unit_##symbol},
#include "units.inc"
};

int main(int argc, char **argv) {
  for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
    if (argc < 2)
      puts(units[k].name);
    else if (strcmp(argv[1], units[k].name) == 0)
      return units[k].run();
  }
  return argc < 2 ? 0 : 2;
}

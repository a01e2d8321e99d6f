#include <stdio.h>
int main(void) {
  puts("reluflow");
  return 0;
}

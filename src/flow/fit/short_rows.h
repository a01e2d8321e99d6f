/* Loops over rows of two to four numbers are most of a small problem; the compiler unrolls them where it
 * knows how many there are. */
#ifndef RF_FLOW_FIT_SHORT_ROWS_H
#define RF_FLOW_FIT_SHORT_ROWS_H

/* call with D for d, a constant where rows are short. */
#define OF_LENGTH(d, call)                                                                                   \
  do {                                                                                                       \
    if ((d) == 2)                                                                                            \
      OF_KNOWN_LENGTH(2, call);                                                                              \
    else if ((d) == 3)                                                                                       \
      OF_KNOWN_LENGTH(3, call);                                                                              \
    else if ((d) == 4)                                                                                       \
      OF_KNOWN_LENGTH(4, call);                                                                              \
    else                                                                                                     \
      OF_KNOWN_LENGTH((d), call);                                                                            \
  } while (0)

#define OF_KNOWN_LENGTH(length, call)                                                                        \
  do {                                                                                                       \
    const rf_index D = length;                                                                               \
    call;                                                                                                    \
  } while (0)

#endif

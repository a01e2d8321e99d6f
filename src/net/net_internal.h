/* What the readers of network files share. */
#ifndef RF_NET_INTERNAL_H
#define RF_NET_INTERNAL_H

#include "data/data.h"
#include "net/net.h"

/* Names of the arrays in the file, from --map or the defaults. */
typedef struct RfNetNames {
  char W[128], a[128];
  bool given; /* by --map */
} RfNetNames;

RfStatus rf_net_names(RfContext *context, RfNetNames *names, const char *map);

/* A file in memory. */
typedef struct RfNetBytes {
  const char *name; /* for messages */
  const unsigned char *bytes;
  size_t size;
} RfNetBytes;

/* Each fills a network from the bytes of a file; *leak_stated is false on entry. */
RfStatus rf_net_read_json(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                          const RfNetNames *names);
RfStatus rf_net_read_npz(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                         const RfNetNames *names);
RfStatus rf_net_read_safetensors(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                                 const RfNetNames *names);
/* A network from W (m x d) and a (m), copied, with a check of every number; `name` is for messages. */
RfStatus rf_net_from_arrays(RfContext *context, RfNet *net, const char *name, const double *W,
                            const double *a, rf_index m, rf_index d, double leak);

#endif

/* Network files stay outside the browser: the page hands its networks over as arrays. */
#include "layers/layers.h"
#include "net/net_internal.h"

static RfStatus refuse(RfContext *context, const char *name) {
  return rf_fail(context, RF_ERR_USAGE, "%s: network files are read by the program, not by the page", name);
}

RfStatus rf_net_read_json(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                          const RfNetNames *names) {
  (void)net, (void)leak_stated, (void)names;
  return refuse(context, file->name);
}

RfStatus rf_net_read_safetensors(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                                 const RfNetNames *names) {
  (void)net, (void)leak_stated, (void)names;
  return refuse(context, file->name);
}

RfStatus rf_layers_load(RfContext *context, RfLayeredNet *net, bool *layered, bool *weighted,
                        const char *path) {
  (void)net, (void)layered, (void)weighted;
  return refuse(context, path);
}

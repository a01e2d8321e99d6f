/* Existence of a KKT point beside the one computed (`certify --prove`) needs ball arithmetic, which the page
 * does not have. */
#include "certify/certify_internal.h"
#include "core/core.h"

RfStatus rf_certify_prove(RfContext *context, RfProvedPoint *proved, const RfKktSystem *system,
                          const RfNet *net) {
  (void)proved, (void)system, (void)net;
  return rf_fail(context, RF_ERR_USAGE, "--prove is for the program: the page has no ball arithmetic");
}

/* Fields of `explore`: a page written. */
#include "present/present_internal.h"

static const RfField explore[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("name", "the dataset as it was asked for; null without one"),
    RF_STRING_ROW("file", "the page written"),
    RF_INTEGER_ROW("bytes", "its size"),
    RF_STRING_ROW("link", "what the page opens with: the part of an address behind #"),
};
const RfFieldTable rf_fields_explore = {"explore", false, "a page to play with in a browser",
                                        RF_ROWS(explore)};

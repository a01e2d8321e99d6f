/* Fields of `sweep` and of the commands on its stores. */
#include "present/present_internal.h"

static const RfField sweep[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("store", "the SQLite file; null for --dry-run"),
    RF_STRING_ROW("command", "the command that is repeated"),
    RF_INTEGER_ROW("cells", "cells of the sweep"),
    RF_OBJECT_ROW("status", "how many cells have which status"),
    RF_INTEGER_ROW("status.holds", "exit status 0"),
    RF_INTEGER_ROW("status.does_not_hold", "exit status 1"),
    RF_INTEGER_ROW("status.undecided", "exit status 3"),
    RF_INTEGER_ROW("status.timeout", "stopped by --time; what was known by then is in the row"),
    RF_INTEGER_ROW("status.refused", "exit status 2; the column error says why"),
    RF_INTEGER_ROW("status.crashed", "the cell ended its worker twice"),
    RF_INTEGER_ROW("status.killed", "somebody killed its worker twice; resume runs it again"),
    RF_INTEGER_ROW("status.pending", "not run yet"),
    RF_INTEGER_ROW("incidents", "workers lost so far"),
    RF_NUMBER_ROW("cell_seconds", "s", "time of all cells together"),
    RF_INTEGER_ROW("workers", "worker processes"),
    RF_NUMBER_ROW("seconds", "s", "time of this run"),
    RF_NUMBER_ROW("estimate", "s", "--dry-run: time the sweep will take on these workers"),
    RF_OBJECT_ROW("plan[]", "--dry-run: the cells, at most 1000 of them"),
    RF_INTEGER_ROW("plan[].id", "number of the cell"),
    RF_STRING_ROW("plan[].command", "its command line"),
};
const RfFieldTable rf_fields_sweep = {"sweep", false, "a population of runs and its store", RF_ROWS(sweep)};

static const RfField export_rows[] = {
    RF_RUN_ROW,
    RF_STRING_ROW("store", "the SQLite file"),
    RF_INTEGER_ROW("cells", "rows written"),
    RF_STRING_ROW("csv", "file of comma-separated values"),
    RF_STRING_ROW("npz", "file of NumPy arrays"),
};
const RfFieldTable rf_fields_sweep_export = {"sweep export", false, "a store written in another format",
                                             RF_ROWS(export_rows)};

static const RfField show[] = {
    RF_RUN_ROW,
    RF_INTEGER_ROW("id", "number of the cell"),
    RF_STRING_ROW("command", "its command line"),
    RF_STRING_ROW("status", "its status in the store"),
    RF_STRING_ROW("stored", "digest in the store; null when the cell has no result there"),
    RF_STRING_ROW("digest", "digest of the result just computed"),
    RF_BOOLEAN_ROW("same", "the two are equal"),
};
const RfFieldTable rf_fields_sweep_show = {"sweep show", false, "one cell of a sweep, repeated",
                                           RF_ROWS(show)};

static const RfField plot[] = {
    RF_STRING_ROW("store", "the SQLite file"),
    RF_INTEGER_ROW("cells", "cells drawn"),
    RF_INTEGER_ROW("without_answer", "of these, cells without an answer"),
    RF_BOOLEAN_ROW("proportion", "what is shown is yes or no: shares instead of medians"),
    RF_OBJECT_ROW("groups[]", "one object per mark"),
    RF_STRING_ROW("groups[].x", "value of --x"),
    RF_STRING_ROW("groups[].series", "value of --color; of --y in a heat map"),
    RF_STRING_ROW("groups[].facet", "value of --facet"),
    RF_INTEGER_ROW("groups[].cells", "cells of the group"),
    RF_INTEGER_ROW("groups[].without_answer", "of these, cells without an answer"),
    RF_NUMBER_ROW("groups[].low", "", "lower quartile, or lower end of the interval of the share"),
    RF_NUMBER_ROW("groups[].middle", "", "median, or share"),
    RF_NUMBER_ROW("groups[].high", "", "upper quartile, or upper end of the interval of the share"),
    RF_RUN_ROW,
};
const RfFieldTable rf_fields_sweep_plot = {"sweep plot", false, "a picture of a store, in numbers",
                                           RF_ROWS(plot)};

static const RfField basins[] = {
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    RF_STRING_ROW("shape", "circle | sphere | plane"),
    RF_STRING_ROW("color", "destiny | limit | margin"),
    RF_INTEGER_ROW("width", "pixels across"),
    RF_INTEGER_ROW("height", "pixels down"),
    RF_INTEGER_ROW("starts", "pixels that are starts"),
    RF_INTEGER_ROW("undecided", "starts whose end is not known"),
    RF_INTEGER_ROW("on_processor", "starts that the device left to the processor; null without --device"),
    RF_NUMBER_ROW("margin", "length", "--color margin: the largest"),
    RF_OBJECT_ROW("places[]", "where starts go"),
    RF_STRING_ROW("places[].name", "destiny, or sign of a (p or n) and final sector"),
    RF_INTEGER_ROW("places[].pixels", "starts that go there"),
    RF_RUN_ROW,
};
const RfFieldTable rf_fields_basins = {"basins", false, "which start goes where", RF_ROWS(basins)};

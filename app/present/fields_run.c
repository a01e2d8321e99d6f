/* Fields that every command adds: how the result was made. */
#include "present/present_internal.h"

static const RfField run[] = {
    RF_STRING_ROW("version", "of the program"),
    RF_STRING_ROW("command", "the command line, quoted for a shell"),
    RF_STRING_ROW("words[]", "the same word by word, behind the program's name"),
    RF_MAP_ROW("flags", "every flag of the command with its value, given or by default"),
    RF_COUNT_ROW("seed", "of everything random"),
    RF_STRING_ROW(
        "data_sha256",
        "of the rows used, after all transforms: for each sample the name of its class, a zero byte, "
        "its coordinates as little-endian doubles; null without data"),
    RF_MAP_ROW("tolerances", "every tolerance in force, relative"),
    RF_STRING_ROW("started", "date and time, UTC"),
    RF_NUMBER_ROW("seconds", "seconds", "wall time"),
};
const RfFieldTable rf_fields_run = {"run", true, "how a result was made: enough to repeat it", RF_ROWS(run)};

static const RfField rerun[] = {
    RF_SHAPE_ROW("run", "run", "how this result was made"),
    RF_STRING_ROW("file", "the result that was repeated"),
    RF_BOOLEAN_ROW("same", "every value is the same, to --tol"),
    RF_BOOLEAN_ROW("data_same", "the rows used have the same digest; null without data"),
    RF_STRING_ROW("version_before", "the program that wrote the file"),
    RF_INTEGER_ROW("compared", "values compared: all but times"),
    RF_INTEGER_ROW("different", "values that differ by more than --tol"),
    RF_NUMBER_ROW("largest", "", "largest relative difference of two numbers"),
    RF_OBJECT_ROW("differences[]", "the first of them"),
    RF_STRING_ROW("differences[].path", "where it stands"),
    RF_STRING_ROW("differences[].before", "in the file, as JSON"),
    RF_STRING_ROW("differences[].now", "in the new run, as JSON"),
};
const RfFieldTable rf_fields_rerun = {"rerun", false, "a saved run, repeated", RF_ROWS(rerun)};

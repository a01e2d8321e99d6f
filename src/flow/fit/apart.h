/* What parting a unit needs, into all of its neurons (apart.c) or into those that reach a ridge (layer.c). */
#ifndef RF_FLOW_FIT_APART_H
#define RF_FLOW_FIT_APART_H

#include "flow/flow_internal.h"

/* Log-norm of neuron k. */
double rf_apart_log_norm(const RfSystem *system, rf_index k);
/* The state of system->units units is spread to make room for `grown` of them; system->units stays. */
void rf_apart_make_room(RfSystem *system, rf_index grown);
/* Unit `to` gets the pattern of `unit`. */
RfStatus rf_apart_copy_pattern(RfSystem *system, rf_index unit, rf_index to);
/* From now on there are `grown` units. */
void rf_apart_grown(RfSystem *system, rf_index grown);
/* A unit that slides on so many hyperplanes that one ray is left: whoever is on it is at the same place, and
 * what set its neurons apart is zero, not what rounding leaves of it. */
bool rf_apart_pinned(const RfSystem *system, rf_index unit);
/* merge.c: balanced units of one pattern that are pinned are one from then on, since their directions obey
 * the same equation from the same place; looked for before one of them leaves. */
RfStatus rf_system_merge_pinned(RfSystem *system, rf_index *merged);
/* merge.c: neurons that have grown until a^2 - |w|^2, which stays, is the square of `together` of them are
 * balanced, and others are not any more; parted: there are more units now. */
RfStatus rf_system_balance(RfSystem *system, double together, bool *parted);
/* (a^2 - |w|^2)/|(w,a)|^2 of a start that is rounding. */
bool rf_start_balanced(double difference);

#endif

/* Units that are on their kinks together. A weight that passes zero takes its unit to its kink on all samples
 * at once, and a unit that is the only input of others takes these along: their planes dz are parallel, and
 * next to theta there are two ways, all of them on one side or all on the other, not one for every choice. So
 * they are one: the first of them leads with a slope s, and the others have s or, turned, leak + 1 - s. On
 * one sample their slopes multiply, and what is held is the mean of the two ways, not of the slopes. Held one
 * by one they ended on sides that no theta has, and the flow rested there or never ended. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

double rf_sided_top(const RfSided *sided, rf_index k) {
  rf_index at = sided->held_at[k];
  double top = sided->top[at];
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->leader[sided->follower[f]] == at) top = fmax(top, sided->top[sided->follower[f]]);
  return top;
}

/* One slope for the group: beside a wall that of another sample is as much smaller as its weight is. */
void rf_sided_put_slope(RfSided *sided, rf_index k, double slope) {
  rf_index at = sided->held_at[k];
  double top = rf_sided_top(sided, k);
  sided->slope[at] = slope * (sided->top[at] / top);
  for (rf_index f = 0; f < sided->followers; f++) {
    rf_index other = sided->follower[f];
    if (sided->leader[other] == at)
      sided->slope[other] =
          sided->turned[other] > 0 ? slope * (sided->top[other] / top) : sided->net->leak + 1 - slope / top;
  }
}

/* All of the group of held unit k above their kinks, or below. */
static void put_way(RfSided *sided, rf_index k, bool above) {
  double ends[] = {sided->net->leak, 1};
  rf_index at = sided->held_at[k];
  sided->slope[at] = ends[above];
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->leader[sided->follower[f]] == at)
      sided->slope[sided->follower[f]] = ends[above == (sided->turned[sided->follower[f]] > 0)];
}

void rf_sided_put_slopes(RfSided *sided) {
  for (rf_index k = 0; k < sided->held; k++) rf_sided_put_slope(sided, k, sided->held_slope[k]);
}

rf_index rf_sided_touched(RfSided *sided, rf_index k) {
  rf_index at = sided->held_at[k], count = 1;
  sided->touched[0] = at / sided->hidden;
  for (rf_index f = 0; f < sided->followers; f++) {
    rf_index sample = sided->follower[f] / sided->hidden, t = 0;
    if (sided->leader[sided->follower[f]] != at) continue;
    while (t < count && sided->touched[t] != sample) t++;
    sided->touched[t] = sample, count += t == count;
  }
  return count;
}

/* Held units that have two or more of their group on sample i: their slopes are not independent there. */
static rf_index doubled(const RfSided *sided, rf_index i, rf_index *list) {
  rf_index count = 0;
  for (rf_index k = 0; k < sided->held && sided->followers > 0 && count < MOST_DOUBLED; k++) {
    rf_index at = sided->held_at[k], members = at / sided->hidden == i;
    for (rf_index f = 0; f < sided->followers; f++)
      members += sided->leader[sided->follower[f]] == at && sided->follower[f] / sided->hidden == i;
    if (members > 1) list[count++] = k;
  }
  return count;
}

/* A unit of the group of held unit k on sample i. */
static rf_index member(const RfSided *sided, rf_index k, rf_index i) {
  rf_index at = sided->held_at[k];
  for (rf_index f = 0; f < sided->followers && at / sided->hidden != i; f++)
    if (sided->leader[sided->follower[f]] == sided->held_at[k] && sided->follower[f] / sided->hidden == i)
      at = sided->follower[f];
  return at;
}

void rf_sided_cells(RfSided *sided, RfSidedCells *cells, rf_index i) {
  cells->held = doubled(sided, i, cells->k), cells->count = (rf_index)1 << cells->held;
  for (rf_index c = 0; c < cells->held; c++) {
    rf_index k = cells->k[c], at = sided->held_at[k];
    double top = rf_sided_top(sided, k);
    cells->slope[c] = sided->slope[at] * (top / sided->top[at]);
    cells->own[c] = cells->slope[c] * (sided->top[member(sided, k, i)] / top);
  }
}

double rf_sided_cell(RfSided *sided, const RfSidedCells *cells, rf_index cell) {
  double leak = sided->net->leak, weight = 1;
  for (rf_index c = 0; c < cells->held; c++) {
    bool above = cell >> c & 1;
    double share = (cells->own[c] - leak) / (1 - leak);
    weight *= above ? share : 1 - share;
    put_way(sided, cells->k[c], above);
  }
  return weight;
}

void rf_sided_cells_end(RfSided *sided, const RfSidedCells *cells) {
  for (rf_index c = 0; c < cells->held; c++) rf_sided_put_slope(sided, cells->k[c], cells->slope[c]);
}

typedef struct Plane {
  rf_index at, layer;
  bool felt;
  double length;
  double *normal; /* P */
} Plane;

/* Lower layers first, and there the longest: the others are told by it, and it by none of them. */
static bool before(const Plane *one, const Plane *other) {
  if (one->felt != other->felt) return one->felt;
  return one->layer != other->layer ? one->layer < other->layer : one->length > other->length;
}

/* Is the second a multiple of the first? 1 or -1: its sign. */
static int multiple(const Plane *one, const Plane *other, rf_index P) {
  if (!(other->length > RF_LAYERED_PARALLEL * one->length)) return 0;
  double factor = rf_la_quick_dot(one->normal, other->normal, P) / (one->length * one->length), square = 0;
  for (rf_index p = 0; p < P; p++) {
    double gap = other->normal[p] - factor * one->normal[p];
    square += gap * gap;
  }
  bool same = sqrt(square) <= RF_LAYERED_PARALLEL * fmax(other->length, RF_LAYERED_UNIT * one->length);
  return !same ? 0 : factor > 0 ? 1 : -1;
}

/* Planes of the units as if all of them were above their kinks: then those that follow see their leader. */
static void find_planes(RfSided *sided, Plane *planes, double *slopes, const rf_index *units, rf_index count,
                        rf_index felt) {
  for (rf_index c = 0; c < count; c++) slopes[c] = sided->slope[units[c]], sided->slope[units[c]] = 1;
  for (rf_index c = 0; c < count; c++) {
    Plane *plane = planes + c;
    plane->at = units[c], plane->felt = c < felt, plane->layer = rf_sided_layer_of(sided, units[c]);
    rf_sided_plane_of(sided, plane->normal, units[c]);
    plane->length = rf_la_norm(plane->normal, sided->P);
  }
  for (rf_index c = 0; c < count; c++) sided->slope[units[c]] = slopes[c];
}

/* A unit follows another, and where only it was held so is now the other. */
static void follow(RfSided *sided, rf_index at, rf_index leader, int turned) {
  double leak = sided->net->leak;
  sided->leader[at] = leader, sided->turned[at] = (int8_t)turned;
  sided->follower[sided->followers++] = at;
  if (sided->side[at] == 0 && sided->side[leader] != 0)
    sided->side[leader] = 0,
    sided->slope[leader] = turned > 0 ? sided->slope[at] : leak + 1 - sided->slope[at];
}

/* Does the plane vanish beside that of the same unit on another sample? Its input is on its kink, too. */
static bool vanishes(const RfSided *sided, const Plane *planes, rf_index count, const Plane *plane) {
  for (rf_index c = 0; c < count; c++)
    if ((planes[c].at - plane->at) % sided->hidden == 0 &&
        plane->length <= RF_LAYERED_PARALLEL * planes[c].length)
      return planes[c].length > 0;
  return false;
}

/* Inputs of the layer of unit `at` on its sample that it has weights for, into sided->below; those on their
 * kinks as they are a little later, on their sides. The square of their length. */
static double inputs_of(RfSided *sided, rf_index at) {
  rf_index i = at / sided->hidden, l = rf_sided_layer_of(sided, at), inputs = sided->net->layers[l].inputs;
  const double *z = sided->z + i * sided->hidden, *in = sided->activation + l * sided->width;
  const int32_t *index = sided->index[l] + (at % sided->hidden - sided->first[l]) * inputs;
  double square = 0;
  rf_sided_forward(sided, i);
  for (rf_index c = 0; c < inputs; c++) {
    double value = in[c];
    if (l > 0) {
      rf_index below = i * sided->hidden + sided->first[l - 1] + c;
      double near = RF_LAYERED_OVER * rf_sided_beyond(sided, below);
      if (fabs(z[sided->first[l - 1] + c]) <= near) value = near * sided->side[below] * sided->slope[below];
    }
    sided->below[c] = index[c] >= 0 ? value : 0;
    square += sided->below[c] * sided->below[c];
  }
  return square;
}

void rf_sided_join(RfSided *sided, const rf_index *units, rf_index count) {
  for (rf_index c = 0; c < count; c++)
    for (rf_index k = 0; k < sided->held; k++) {
      rf_index at = units[c], leader = sided->held_at[k], l = rf_sided_layer_of(sided, at);
      if ((at - leader) % sided->hidden != 0) continue;
      double square = inputs_of(sided, leader), along;
      memcpy(sided->lower_inputs, sided->below, (size_t)sided->width * sizeof(double));
      double own = inputs_of(sided, at);
      along = rf_la_quick_dot(sided->lower_inputs, sided->below, sided->net->layers[l].inputs);
      if (!(along * along > (1 - RF_LAYERED_PARALLEL) * square * own)) continue;
      follow(sided, at, leader, along > 0 ? 1 : -1);
      sided->side[at] = 0, sided->busy[at / sided->hidden] = 1;
      break;
    }
}

RfStatus rf_sided_group(RfSided *sided, rf_index *units, rf_index count, rf_index felt, rf_index *leaders,
                        rf_index *aside) {
  rf_index P = sided->P;
  Plane *planes = RF_NEW(Plane, count);
  double *memory = RF_NEW(double, count *(P + 1));
  sided->followers = *leaders = *aside = 0;
  RfStatus status =
      planes && memory ? RF_OK : rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for an event");
  for (rf_index c = 0; c < count && !status; c++) planes[c].normal = memory + count + c * P;
  if (!status) find_planes(sided, planes, memory, units, count, felt);
  for (rf_index c = 0; c < count && !status; c++) { /* sorted as they come */
    Plane plane = planes[c];
    rf_index place = c;
    for (; place > 0 && before(&plane, &planes[place - 1]); place--) planes[place] = planes[place - 1];
    planes[place] = plane;
  }
  for (rf_index c = 0; c < count && !status; c++) /* told before planes are moved */
    memory[c] = vanishes(sided, planes, count, &planes[c]);
  for (rf_index c = 0; c < count && !status; c++) { /* leaders are moved to the front */
    int turned = 0;
    rf_index l = 0;
    if (memory[c] > 0) {
      units[count - ++*aside] = planes[c].at;
      continue;
    }
    for (; l < *leaders && turned == 0; l++) turned = multiple(&planes[l], &planes[c], P);
    if (turned != 0)
      follow(sided, planes[c].at, planes[l - 1].at, turned);
    else if (planes[c].felt)
      planes[(*leaders)++] = planes[c];
  }
  for (rf_index l = 0; l < *leaders; l++) units[l] = planes[l].at, sided->leader[units[l]] = units[l];
  rf_free(planes), rf_free(memory);
  return status;
}

#!/usr/bin/env bash
# 200 random kills: workers, parents, ranks of MPI jobs; full disks and cells that run out of time in between. After the
# last resume the store must equal that of an undisturbed run, column by column but for the seconds.
#   bench/sweep_kills.sh PROGRAM [KILLS]
set -u
program=$(readlink -f "${1:?the program}") kills=${2:-200}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
spec=(flow "gen:gaussian,n={6,8},d=3,seed=0..4" --scale 1e-2,limit --seed 0..14 --width 5 --verdict 0 --quiet)
rows() {
  "$program" sweep export "$1" --csv "$1.csv" && python3 - "$1.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows: row.pop("seconds")
print(rows)
PY
}
"$program" sweep "${spec[@]}" --store quiet.db
rows quiet.db >quiet.txt
mpi=0; command -v mpirun >/dev/null && [ -e "$(dirname "$program")/libreluflow_mpi.so" ] && mpi=1
done_kills=0 workers=0 parents=0 ranks=0 full=0 rounds=0
store=$work/hit.db
while [ $done_kills -lt "$kills" ]; do
  rounds=$((rounds + 1))
  if [ $mpi = 1 ] && [ $((rounds % 5)) -eq 0 ]; then
    mpirun --oversubscribe -n 3 "$program" sweep "${spec[@]}" --store "$store" 2>/dev/null & job=$! kind=mpi
  elif [ $((rounds % 7)) -eq 0 ]; then # room for a few more kilobytes only
    size=$(stat -c %s "$store" 2>/dev/null || echo 0)
    (ulimit -f $(((size + 65536) / 1024)); trap '' XFSZ; "$program" sweep "${spec[@]}" --workers 2 --store "$store" 2>/dev/null) & job=$! kind=full
    full=$((full + 1))
  else
    "$program" sweep "${spec[@]}" --workers 2 --store "$store" 2>/dev/null & job=$! kind=local
  fi
  for _ in $(seq 40); do
    sleep 0.$((RANDOM % 15 + 5))
    kill -0 $job 2>/dev/null || break
    mapfile -t family < <(pgrep -f "$store" | grep -vx $$)
    [ ${#family[@]} -gt 0 ] || continue
    victim=${family[$((RANDOM % ${#family[@]}))]}
    if kill -9 "$victim" 2>/dev/null; then
      done_kills=$((done_kills + 1))
      if [ $kind = mpi ]; then ranks=$((ranks + 1)); elif [ "$victim" = $job ]; then parents=$((parents + 1)); else workers=$((workers + 1)); fi
    fi
  done
  wait $job 2>/dev/null
  # a store that is finished begins again: the kills are what is counted
  if [ -s "$store" ] && "$program" sweep status "$store" --json 2>/dev/null | grep -q '"pending": 0'; then
    "$program" sweep resume "$store" --quiet 2>/dev/null
    rows "$store" | cmp -s - quiet.txt || { echo "the store differs after $done_kills kills"; exit 1; }
    rm -f "$store"*
  fi
done
[ -s "$store" ] || "$program" sweep "${spec[@]}" --store "$store"
"$program" sweep resume "$store" --quiet
rows "$store" | cmp -s - quiet.txt || { echo "the store differs"; exit 1; }
echo "$done_kills kills ($workers workers, $parents parents, $ranks in MPI jobs), $full runs on a full disk, $rounds runs: the stores are equal"

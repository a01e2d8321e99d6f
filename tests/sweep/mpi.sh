#!/usr/bin/env bash
# The same store from four MPI ranks as from one worker; then ranks and their workers are killed, and the job resumed.
set -u
command -v mpirun >/dev/null || { echo "no mpirun"; exit 77; }
[ -e "$(dirname "$RELUFLOW")/libreluflow_mpi.so" ] || { echo "built without MPI"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks() { mpirun --oversubscribe "$@" 2>mpi.err; }
bad=0
complain() { echo "$*"; bad=$((bad + 1)); }
spec=(flow gen:orthant,n=6..9,d=2 --scale 1e-2,limit --seed 0..7 --width 4 --quiet)
rows() { # every column but seconds
  "$RELUFLOW" sweep export "$1" --csv "$1.csv" && python3 - "$1.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows: row.pop("seconds")
print(rows)
PY
}
"$RELUFLOW" sweep "${spec[@]}" --workers 1 --store one.db || complain "one worker: exit $?"
rows one.db >one.txt
ranks -n 4 "$RELUFLOW" sweep "${spec[@]}" --store four.db || complain "four ranks: exit $?: $(head -3 mpi.err)"
rows four.db | cmp -s - one.txt || complain "four ranks differ from one worker"
# a worker of a rank is killed: nobody else notices
ranks -n 3 "$RELUFLOW" sweep "${spec[@]}" --store worker.db & job=$!
sleep 0.8
descend() { local child; for child in $(ps -o pid= --ppid "$1"); do echo "$child"; descend "$child"; done; }
for worker in $(descend $job | tail -1); do kill -9 "$worker" 2>/dev/null; done
wait $job; status=$?
[ $status -eq 0 ] || "$RELUFLOW" sweep resume worker.db --quiet || complain "after a worker was killed: exit $?"
rows worker.db | cmp -s - one.txt || complain "a killed worker changed the results"
# ranks are killed, which ends the job; it is resumed, by ranks and by workers
for round in 1 2 3; do
  ranks -n 3 "$RELUFLOW" sweep "${spec[@]}" --store "$work/rank.db" & job=$!
  sleep 0.$((3 + 2 * round))
  victim=$(ps -eo pid=,args= | awk -v w="$work" -v p="$RELUFLOW" '$2 == p && index($0, "/rank.db") && index($0, w) {print $1}' | head -1)
  [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
  wait $job
done
[ -s rank.db ] || "$RELUFLOW" sweep "${spec[@]}" --store "$work/rank.db"
ranks -n 3 "$RELUFLOW" sweep resume rank.db --quiet || "$RELUFLOW" sweep resume rank.db --quiet || complain "resume: exit $?"
rows rank.db | cmp -s - one.txt || complain "killed ranks changed the results"
[ "$bad" -eq 0 ]

#!/usr/bin/env bash
# Faults on a real card: kills of the worker that drives it and of the whole sweep, and a card whose memory somebody else
# holds. Every store must end equal to that of an undisturbed run. RELUFLOW names the program; PyTorch fills the memory.
set -u
work=$(mktemp -d); trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
bad=0
sql() { python3 -c 'import sqlite3,sys; [print(*r, sep="|") for r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]' "$1" "$2"; }
cells=(train gen:gaussian,n=12,d=3 --width 50 --steps 40000 --rate 0.05 --device cuda --seed 0..19999)
rows='select id,command,status,exit_status,version,digest,"json.steps",stop,margin from cells order by id'
same() { cmp -s <(sql a.db "$rows") <(sql "$1" "$rows") && echo "$2: the store equals the undisturbed one" || { echo "$2: THE STORE DIFFERS"; bad=1; }; }

began=$(date +%s.%N)
"$RELUFLOW" sweep "${cells[@]}" --store a.db --quiet || { echo "the undisturbed sweep ended with $?"; exit 1; }
whole=$(python3 -c "import time; print(time.time() - $began)")
echo "undisturbed: $(sql a.db 'select count(*) from cells where status="holds"') cells in $whole s"

killed=0
for part in 0.15 0.3 0.5 0.7 0.9; do
  "$RELUFLOW" sweep "${cells[@]}" --store w.db --quiet & parent=$!
  python3 -c "import time; time.sleep($part * $whole)"
  for one in $(cat "/proc/$parent/task/$parent/children" 2>/dev/null); do kill -9 "$one" 2>/dev/null && killed=$((killed + 1)); done
  wait $parent 2>/dev/null
done
"$RELUFLOW" sweep resume w.db --quiet
same w.db "$killed kills of the worker"

killed=0
for part in 0.1 0.4 0.8; do
  "$RELUFLOW" sweep "${cells[@]}" --store p.db --quiet & parent=$!
  python3 -c "import time; time.sleep($part * $whole)"
  kill -9 $parent 2>/dev/null && killed=$((killed + 1))
  wait $parent 2>/dev/null
done
"$RELUFLOW" sweep resume p.db --quiet
same p.db "$killed kills of the sweep"

# somebody else holds the memory: all but a little, then all of it
for left in 1500 0; do
  python3 - "$left" <<'P' &
import sys, time, torch
held, piece = [], 64 << 20
while True:
    free, _ = torch.cuda.mem_get_info()
    if free - piece < int(sys.argv[1]) << 20: piece //= 2
    if piece < 1 << 20: break
    try: held.append(torch.empty(piece, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError: piece //= 2
print(f"held by another: all but {torch.cuda.mem_get_info()[0] >> 20} MiB", flush=True)
open("full", "w").close(); time.sleep(600)
P
  other=$!
  for _ in $(seq 600); do [ -e full ] && break; sleep 0.1; done; rm -f full
  rm -f m.db; "$RELUFLOW" sweep "${cells[@]}" --store m.db --quiet 2>err; code=$?
  echo "with $left MiB left: exit status $code, $(wc -l <err) line(s): $(head -1 err)"
  [ $code -eq 0 ] || [ $code -eq 2 ] || [ $code -eq 3 ] || bad=1
  kill -9 $other; wait $other 2>/dev/null
  [ $code -eq 0 ] || "$RELUFLOW" sweep resume m.db --quiet || bad=1
  same m.db "memory full, then free"
done
exit $bad

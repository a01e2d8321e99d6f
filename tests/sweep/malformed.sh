#!/usr/bin/env bash
# Malformed sweeps: exit 2, exactly one line on standard error that names the column or the flag, nothing on standard
# output, and no store left behind.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf 'no database\n' >text.db
mkdir folder.db
bad=0 checked=0
refuse() { # NEEDLE ARGUMENTS...
  local needle=$1; shift
  "$RELUFLOW" sweep "$@" >out 2>err </dev/null
  local status=$?
  checked=$((checked + 1))
  if [ $status -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || [ -s out ] || ! grep -qF -- "$needle" err || [ -e s.db ]; then
    echo "sweep $*: exit $status, stderr: $(cat err), stdout: $(head -c 200 out)"; bad=$((bad + 1))
    rm -f s.db*
  fi
}
spec() { # NEEDLE VALUE: as a number, as a text, inside braces where the value allows it
  refuse "--seed $2: $1" flow gen:xor --seed "$2" --store s.db
}
data() { refuse "$2: $1" flow "$2" --store s.db; }
spec 'column 1: a value is missing' ''
spec 'column 1: this brace is not closed' '{1,2'
spec 'column 4: this brace is not closed' '{1,{2'
spec 'column 2: this brace was never opened' '1}'
spec 'column 4: a value is missing' '{1,,2}'
spec 'column 2: a value is missing' '{}'
spec 'column 2: a value is missing' '{,1}'
spec 'column 4: a value is missing' '{1,}'
spec 'column 3: a value is missing' '1,'
spec 'column 1: a value is missing' ',1'
spec 'column 3: a value is missing' '1,,2'
spec 'column 4: expected a number' '0..'
spec 'column 1: expected a number' '..5'
spec 'column 4: expected a number' '0..x'
spec 'column 1: expected a number' 'x..5'
spec 'column 7: expected a number' '0..5..x'
spec 'column 7: expected a number' '0..5..'
spec 'column 10: a range has at most three parts' '0..5..1..2'
spec 'column 7: the step is 0' '0..5..0'
spec 'column 4: the range is empty' '5..0'
spec 'column 4: the range is empty' '0..5..-1'
spec 'column 1: a range of numbers that are not integers needs a step' '0.5..3'
spec 'column 4: the range has more than a million values' '0..1e9..1'
spec 'column 1: integers of a range go up to 9e15' '99999999999999999..999999999999999999'
spec 'column 4: expected a number' '0..nan'
spec 'column 4: expected a number' '0..0x10'
spec 'column 6: expected a number' '1,0..'
spec 'column 4: this parenthesis is not closed' 'log(1..10..3'
spec 'column 5: expected a number' 'log()'
spec 'column 8: expected log(a..b..k)' 'log(1..10)'
spec 'column 12: the number of values' 'log(1..10..1)'
spec 'column 12: the number of values' 'log(1..10..2.5)'
spec 'column 5: a logarithmic range needs positive ends' 'log(0..1..3)'
spec 'column 8: a logarithmic range needs positive ends' 'log(1..-1..3)'
spec 'column 14: expected the end of the value' 'log(1..10..3)4'
spec 'column 2: nothing follows the backslash' '1\'
spec 'column 17: braces are nested too deeply' '{{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}}'
data 'column 13: expected key=value' 'gen:orthant,n'
data 'column 13: expected key=value' 'gen:orthant,=5'
data 'column 13: expected key=value' 'gen:orthant,,n=5'
data 'column 17: this key was given before' 'gen:orthant,n=5,n=6'
data 'column 15: a value is missing' 'gen:orthant,n='
data 'column 15: this brace is not closed' 'gen:orthant,n={5,6'
data 'column 18: expected a number' 'gen:orthant,n=5..'
data 'column 5: a value is missing' 'gen:'
refuse '-: every cell reads its data anew' flow - --store s.db
refuse 'a.csv: one argument too many' flow gen:xor a.csv --store s.db
refuse '1: one argument too many' flow gen:xor --seed 0 1 2 --store s.db
refuse 'x.json: one argument too many' certify gen:xor a.json x.json --store s.db
refuse 'needs DATA' flow --seed 0..3 --store s.db
refuse '--wdth: unknown flag' flow gen:xor --wdth 3 --store s.db
refuse '--seed: given twice' flow gen:xor --seed 1 --seed 2 --store s.db
refuse '--seed needs a value' flow gen:xor --store s.db --seed
refuse '--report: not in a sweep' flow gen:xor --report x.html --store s.db
refuse '--checkpoint: not in a sweep' flow gen:xor --checkpoint x --store s.db
refuse '--width 1.5: expected an integer' flow gen:xor --width 1..2..0.5 --store s.db
refuse '--width 0: expected an integer' flow gen:xor --width 0..3 --store s.db
refuse '--leak 2: expected a number from 0 to 1' flow gen:xor --leak 0,1,2 --store s.db
refuse 'more than 10000000 cells' flow gen:xor --seed 0..99999 --width 1..1000 --store s.db
refuse '--zip seed,wdth: column 6: there is no parameter of this name' flow gen:xor --seed 0,1 --width 1,2 --zip seed,wdth --store s.db
refuse '--zip seed,width: column 6: it has another number of values' flow gen:xor --seed 0,1,2 --width 1,2 --zip seed,width --store s.db
refuse '--zip seed: column 1: one parameter alone' flow gen:xor --seed 0,1 --zip seed --store s.db
refuse '--zip seed,seed: column 6: this parameter was named before' flow gen:xor --seed 0,1 --zip seed,seed --store s.db
refuse '--zip ,seed: column 1: expected the name' flow gen:xor --seed 0,1 --zip ,seed --store s.db
refuse '--where seed >: column' flow gen:xor --seed 0,1 --where 'seed >' --store s.db
refuse '--where sed > 0: column 1: no such column' flow gen:xor --seed 0,1 --where 'sed > 0' --store s.db
refuse '--where "sed" > 0: column 1: no such column' flow gen:xor --seed 0,1 --where '"sed" > 0' --store s.db
refuse '--where seed > 5: column 1: it holds for none of the cells' flow gen:xor --seed 0,1 --where 'seed > 5' --store s.db
refuse '--where 1) OR (1; drop table cells: column' flow gen:xor --seed 0,1 --where '1) OR (1; drop table cells' --store s.db
refuse 'expected flow, maxmargin' nonsense gen:xor --store s.db
refuse 'expected flow, maxmargin' --store s.db
refuse 'needs --store' flow gen:xor --seed 0..3
refuse '--workers 0' flow gen:xor --seed 0,1 --workers 0 --store s.db
refuse 'folder.db' flow gen:xor --store folder.db
refuse 'text.db' flow gen:xor --store text.db
refuse 'none/s.db' flow gen:xor --store none/s.db
refuse 'none.db' status none.db
refuse 'text.db' status text.db
refuse 'none.db' resume none.db
refuse '--status nonsense' retry text.db --status nonsense
echo "$checked malformed sweeps, $bad not refused as they should be"
[ "$bad" -eq 0 ] && [ "$checked" -ge 60 ]

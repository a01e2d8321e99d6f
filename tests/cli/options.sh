#!/usr/bin/env bash
# Bad usage and bad input: exit 2, exactly one line on standard error, nothing on standard output.
set -u
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '1,2,1\n3,4\n' >ragged.csv
printf '1,nan,1\n3,4,0\n' >nan.csv
printf '1\n2\n' >narrow.csv
: >empty.csv
bad=0 checked=0
refuse() { # NEEDLE ARGUMENTS...
  local needle=$1; shift
  "$RELUFLOW" "$@" >out 2>err </dev/null
  local status=$?
  checked=$((checked + 1))
  if [ $status -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || [ -s out ] || ! grep -qF -- "$needle" err; then
    echo "reluflow $*: exit $status, stderr: $(cat err), stdout: $(head -c 200 out)"; bad=$((bad + 1))
  fi
}
refuse "no such command" nonsense
refuse "--check needs --proof DIR" explain gen:xor --check
refuse "--loss hinge" flow gen:xor --loss hinge
refuse "--init foo" flow gen:xor --init foo
refuse "--until time=0" flow gen:xor --until time=0
refuse "--until time=T, --scale limit" flow gen:xor --scale limit --until time=1
refuse "--freeze second, --scale limit" flow gen:xor --scale limit --freeze second
refuse "did you mean 'inspect'" inspct gen:xor
refuse "did you mean 'data make'" data mak gen:xor
refuse "no such command" data nonsense
refuse "no such command" --nonsense
refuse "no such command" help nonsense
refuse "no such command or shape" help fields nonsense
for command in inspect maxmargin "data info" "data make"; do
  refuse "needs DATA" $command
  refuse "did you mean --json" $command gen:xor --jsn
  refuse "unknown flag" $command gen:xor --zzzzzzzz
  refuse "unknown flag" $command gen:xor -z
  refuse "one argument too many" $command gen:xor gen:xor -o x.csv
  refuse "needs a value" $command gen:xor -o x.csv --limit
  refuse "takes no value" $command gen:xor -o x.csv --center=1
  refuse "--limit x" $command gen:xor -o x.csv --limit x
  refuse "--limit -1" $command gen:xor -o x.csv --limit -1
  refuse "--divide 0" $command gen:xor -o x.csv --divide 0
  refuse "--divide nan" $command gen:xor -o x.csv --divide nan
  refuse "--bias inf" $command gen:xor -o x.csv --bias inf
  refuse "--bias" $command gen:xor -o x.csv --bias=
  refuse "--seed -1" $command gen:xor -o x.csv --seed -1
  refuse "--seed" $command gen:xor -o x.csv --seed 99999999999999999999999
  refuse "--threads 0" $command gen:xor -o x.csv --threads 0
  refuse "--tol 0" $command gen:xor -o x.csv --tol 0
  refuse "--time -1" $command gen:xor -o x.csv --time -1
  refuse "--detail some" $command gen:xor -o x.csv --detail some
  refuse "--memory much" $command gen:xor -o x.csv --memory much
  refuse "missing.csv" $command missing.csv -o x.csv
  refuse "ragged.csv:2" $command ragged.csv -o x.csv
  refuse "nan.csv:1" $command nan.csv -o x.csv
  refuse "narrow.csv" $command narrow.csv -o x.csv
  refuse "empty.csv" $command empty.csv -o x.csv
  refuse "nonsense" $command gen:nonsense -o x.csv
  refuse "" $command gen:orthant,n=x -o x.csv
  refuse "" $command gen:orthant,zz=1 -o x.csv
done
for command in train "data info" "data make"; do # a flag that would be ignored is refused
  refuse "not for" $command gen:xor --tol 1e-3
done
refuse "not for" certify gen:xor x.json --svg d
refuse "data make needs -o" data make gen:xor
refuse "x.what" data make gen:xor -o x.what
refuse "none/x.csv" data make gen:xor -o none/x.csv
refuse "none/x.json" inspect gen:xor -o none/x.json
refuse "none/x.html" inspect gen:xor --report none/x.html
refuse "none/deep" inspect gen:xor --svg none/deep
refuse "--leak 2" inspect gen:xor --leak 2
refuse "square" inspect gen:xor --loss square
[ -e x.csv ] && { echo "a refused command left x.csv"; bad=$((bad + 1)); }
echo "$checked refusals checked, $bad wrong"
[ "$bad" -eq 0 ]

#!/usr/bin/env bash
# Completion: the words come from the tables, the scripts work in the shells that are installed.
set -u
fail() { echo "$1"; exit 1; }
words() { "$RELUFLOW" completion words "$@"; }
has() { grep -qxF -- "$1" <<<"$2" || fail "no '$1' among: $(tr '\n' ' ' <<<"$2")"; }
all=$(words "")
for command in explain inspect flow data sweep help completion; do has $command "$all"; done
[ "$(sort <<<"$all" | uniq -d)" = "" ] || fail "a command twice"
has info "$(words data "")"; has make "$(words data ma)"
has --width "$(words flow --w)"; has --center "$(words flow x.csv --)"; has --help "$(words data info --)"
has follow "$(words flow --branches "")"; [ -z "$(words flow --width "")" ] || fail "words where a number belongs"
[ -z "$(words flow gen)" ] || fail "words where a file belongs: the shell offers files"
! words flow -- | grep -qx -- --intercept || fail "a flag of another command"
"$RELUFLOW" completion tcsh 2>/dev/null; [ $? -eq 2 ] || fail "a shell that is not known"
# every flag of every --help page is offered
for command in explain flow maxmargin certify "data info"; do
  offered=$(words $command --)
  for flag in $("$RELUFLOW" $command --help | grep -oE '^  --[a-z-]+' | sort -u); do has "$flag" "$offered"; done
done
bin=$(mktemp -d); ln -s "$RELUFLOW" "$bin/reluflow"
PATH=$bin:$PATH bash -c 'source <(reluflow completion bash); COMP_WORDS=(reluflow flow --branches fo); COMP_CWORD=3; _reluflow; [ "${COMPREPLY[*]}" = follow ]' ||
  fail "bash: no completion"
for shell in zsh fish; do
  command -v $shell >/dev/null || { echo "$shell is not installed"; continue; }
  PATH=$bin:$PATH $shell -c "reluflow completion $shell | source /dev/stdin" 2>/dev/null || true
done
rm -rf "$bin"
echo "completion works"

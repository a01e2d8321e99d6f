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
# line:word, what must be offered after this much is typed
tries=("flow --branches fo:follow" "expla:explain" "flow --wid:--width" "flow --branches :follow" "data :info" "flow trees:trees.csv")
cd "$bin" && touch trees.csv
if command -v fish >/dev/null; then
  for try in "${tries[@]}"; do
    PATH=$bin:$PATH HOME=$bin fish -c "reluflow completion fish | source; complete -C 'reluflow ${try%:*}'" | cut -f1 | grep -qx -- "${try#*:}" || fail "fish: no ${try#*:} after '${try%:*}'"
  done
else
  echo "fish is not installed"
fi
if command -v zsh >/dev/null && ! zsh -fc 'zmodload zsh/zpty && zpty try true' 2>/dev/null; then
  echo "no pseudo-terminal here: zsh is not typed into"
elif command -v zsh >/dev/null; then # as somebody types: a terminal of its own, Tab, and what appears on it
  cat >"$bin/type.zsh" <<'ZSH'
zmodload zsh/zpty
zpty typed zsh -f -i
wait_for() { seen=; for k in {1..400}; do zpty -r -t typed part && seen+=$part; [[ $seen == *$1* ]] && return 0; sleep 0.05; done; return 1; }
zpty -w typed 'autoload -Uz compinit && compinit -u -D; source <(reluflow completion zsh); PROMPT=; setopt list_ambiguous; echo REA""DY'
wait_for READY || { print "zsh does not start"; exit 1; }
for try in "$@"; do
  zpty -w -n typed "reluflow ${try%:*}"$'\t\t'
  wait_for "${try#*:}" || { print -r "zsh: no ${try#*:} after '${try%:*}'; it showed: $seen"; exit 1; }
  zpty -w typed $'\x15echo CLE""AR'
  wait_for CLEAR
done
zpty -d typed
ZSH
  PATH=$bin:$PATH zsh -f "$bin/type.zsh" "${tries[@]}" || fail "zsh: no completion"
else
  echo "zsh is not installed"
fi
rm -rf "$bin"
echo "completion works"

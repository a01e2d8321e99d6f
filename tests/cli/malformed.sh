# Every text of tests/data/malformed.txt and some binary files through the program: exit status 2, nothing on standard
# output, exactly one line on standard error.
set -u
command=("$RELUFLOW" data info)
"${command[@]}" --help >/dev/null 2>&1 || { echo "no data command"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0 failed=0

check() { # name, then the arguments of the program
  local name=$1 status lines
  shift
  "${command[@]}" "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  lines=$(wc -l <"$folder/err")
  count=$((count + 1))
  if [ "$status" -ne 2 ] || [ "$lines" -ne 1 ] || [ -s "$folder/out" ]; then
    echo "$name: status $status, $lines lines on stderr: $(head -c 300 "$folder/err")"
    failed=$((failed + 1))
  fi
}

while IFS='|' read -r name format place flags text; do
  case $name in '#'*) continue ;; esac
  file="$folder/$name.$format"
  printf "${text//%/%%}" >"$file"
  [ "$flags" = - ] && flags=
  # shellcheck disable=SC2086
  check "$name" "$file" $flags
  if [ "$place" != - ] && ! grep -q "$name.$format:$place: " "$folder/err"; then
    echo "$name: expected $place, got $(cat "$folder/err")"
    failed=$((failed + 1))
  fi
done <"$RF_SOURCE/tests/data/malformed.txt"

corpus="$RF_SOURCE/tests/fuzz/corpus"
check missing_file "$folder/none.csv"
check folder "$folder"
check no_argument
check unknown_generator gen:nothing
cp "$corpus/npz/stored" "$folder/stored.npz"
for name in no_y nan cut bzip2 bad_sum net; do
  cp "$corpus/npz/$name" "$folder/$name.npz"
  check "npz_$name" "$folder/$name.npz"
done
for name in complex cut huge texts empty scalar; do
  cp "$corpus/npy/$name" "$folder/$name.npy"
  cp "$corpus/npy/bytes" "$folder/y.npy"
  check "npy_$name" "$folder/$name.npy" --labels "$folder/y.npy"
done
check npy_without_labels "$corpus/npy/le_f8"
check npy_missing_labels "$corpus/npy/le_f8" --labels "$folder/none.npy"
for name in cut huge type labels; do
  check "idx_$name" "$corpus/idx/$name" --labels "$corpus/idx/labels"
done
check idx_label_count "$corpus/idx/images" --labels "$corpus/idx/labels"
check labels_for_csv "$corpus/csv/plain" --labels "$corpus/idx/labels"
check memory_limit "$corpus/libsvm/plain" --memory 8

if "$RELUFLOW" certify --help >/dev/null 2>&1; then # networks
  command=("$RELUFLOW" certify gen:xor)
  for name in ragged null text leak cut array layers map; do
    cp "$corpus/net_json/$name" "$folder/$name.json"
    check "net_json_$name" "$folder/$name.json"
  done
  for name in bias three two_outputs integers offsets long_header no_object short bad_json; do
    cp "$corpus/safetensors/$name" "$folder/$name.safetensors"
    check "safetensors_$name" "$folder/$name.safetensors"
  done
  for name in stored cut bad_sum bzip2; do
    check "net_npz_$name" "$folder/$name.npz"
  done
  cp "$corpus/npz/net" "$folder/three_inputs.npz"
  check net_of_another_dimension "$folder/three_inputs.npz"
  check net_missing "$folder/none.json"
fi

echo "$count malformed inputs, $failed not refused as they should be"
[ "$failed" -eq 0 ] && [ "$count" -ge 60 ]

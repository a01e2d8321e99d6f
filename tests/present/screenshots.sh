# The pages in a browser, at the width of a desk and of a phone: no text over text, nothing that sticks out of the
# page or of its picture, no error from a script. RF_SCREENSHOTS=DIR keeps pictures of all pages there.
set -eu
source_dir=$RF_SOURCE/tests/present
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "chromium is not installed (./bootstrap test installs it): the pages were not looked at"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$RELUFLOW" verify WP-18 WP-24 VSS-01 VSS-06 VSS-07 VSS-23 WP-03 PL-15 LLWA-04 PL-20 --report ledger.html --svg figures >/dev/null
cp figures/index.html figures/*.svg .
mv index.html figures.html
"$RELUFLOW" explain gen:DS-PL2 --report explain-plane.html >/dev/null
"$RELUFLOW" explain gen:orthant,n=30,d=5 --report explain-space.html >/dev/null
"$RELUFLOW" explain gen:xor --report explain-xor.html >/dev/null
"$RELUFLOW" explain gen:hinted --report explain-hinted.html >/dev/null || true # undecided, with events at ln t = 1e6
"$RELUFLOW" explain gen:gaussian,n=12,d=2,seed=3 --report explain-random.html >/dev/null || true # never separates
"$RELUFLOW" sweep flow gen:orthant,n=10,d=3 --scale 1,1e-2,limit --width 6 --seed 0..3 --verdict 0 --store runs.db --quiet
"$RELUFLOW" sweep plot runs.db --x scale --y limit.margin --report sweep.html >/dev/null
"$RELUFLOW" explain gen:DS-MC3 --width 6 --report explain-classes.html >/dev/null
"$RELUFLOW" flow gen:vee --width 4 --leak 0.1 --report flow.html >/dev/null
"$RELUFLOW" inspect gen:DS-WP1 --report inspect.html >/dev/null
"$RELUFLOW" inspect gen:gaussian,n=14,d=3,seed=2 --report inspect-space.html >/dev/null || true
"$RELUFLOW" certify gen:vee "$RF_SOURCE/tests/certify/data/vee.json" --report certify.html >/dev/null || true
"$RELUFLOW" maxmargin gen:DS-WP1 --report maxmargin.html >/dev/null
"$RELUFLOW" train gen:orthant,n=20,d=3 --width 4 --steps 20 --report train.html >/dev/null

for picture in figures/*.svg; do # the pictures themselves, in a box that scrolls
  name=figure-$(basename "$picture" .svg).html
  { echo '<!DOCTYPE html><html><head></head><body><p>A</p><p>picture</p><p>alone</p><div style="overflow-x:auto">'
    cat "$picture"; echo '</div></body></html>'; } >"$name"
done

pages=
for page in *.html; do
  pages="$pages${pages:+ }$page"
  sed -i 's|<head>|<head><script>window.rfErrors=[];window.onerror=function(m){rfErrors.push(String(m))};console.error=function(m){rfErrors.push(String(m))};</script>|' "$page"
done
cat >check.htm <<PAGE
<!DOCTYPE html><html><head><meta charset="utf-8"></head><body data-pages="$pages"><pre id="result"></pre>
<script>$(cat "$source_dir/check_page.js")</script></body></html>
PAGE

chrome() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-extensions --hide-scrollbars --force-device-scale-factor=1 \
    --user-data-dir="$work/profile" --allow-file-access-from-files "$@" 2>chrome.log
}
chrome --window-size=1300,900 --virtual-time-budget=60000 --dump-dom "file://$work/check.htm" >dom.txt ||
  { cat chrome.log; echo "the browser failed"; exit 1; }
sed -n '/<pre id="result">/,/<\/pre>/p' dom.txt | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >result.txt
cat result.txt
grep -q '^END' result.txt || { echo "the check did not come to its end"; exit 1; }
for page in $pages; do
  for width in 1280 390; do
    grep -q "PAGE $page $width " result.txt || { echo "$page was not checked at $width"; exit 1; }
  done
done

# The check must be able to fail: a page with each of the faults.
cat >faulty.html <<'PAGE'
<!DOCTYPE html><html><head><script>window.rfErrors=[];window.onerror=function(m){rfErrors.push(String(m))};</script></head>
<body><p>one</p><p>two</p><p>three</p><div style="position:absolute;top:8px;left:0">one over another</div>
<div style="width:2000px;height:4px"></div><svg width="50" height="20"><text x="40" y="15">leaves</text></svg><svg viewBox="0 0 300 100" width="100"><text x="40" y="50" font-size="12">small</text></svg>
<script>throw new Error('a fault')</script></body></html>
PAGE
sed 's|data-pages="[^"]*"|data-pages="faulty.html"|' check.htm >faulty.htm
chrome --window-size=1300,900 --virtual-time-budget=20000 --dump-dom "file://$work/faulty.htm" >dom.txt
for fault in overlap 'letters of 4.0 px' 'the page is' 'leaves its picture' 'a fault'; do
  grep -q "$fault" dom.txt || { echo "the check does not see: $fault"; exit 1; }
done

if [ -n "${RF_SCREENSHOTS:-}" ]; then
  mkdir -p "$RF_SCREENSHOTS"
  for page in $pages; do
    for width in 1280 390; do
      chrome --window-size=$width,${RF_SCREENSHOT_HEIGHT:-4000} --screenshot="$RF_SCREENSHOTS/${page%.html}-$width.png" "file://$work/$page"
    done
  done
fi
! grep -q '^  ' result.txt

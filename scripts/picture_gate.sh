#!/usr/bin/env bash
# Makes the picture in docs/gate.md anew: docs/examples/storage_gate.sh on storage that is a formula, which then becomes slower; what the
# gate says on a terminal, as PNG.
#
#   scripts/picture_gate.sh [OUT.png]          default: docs/img/gate.png
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
out=$(realpath -m "${1:-$ROOT/docs/img/gate.png}") work=$ROOT/build/picture/gate
need_packages build test && need_npm tests/browser && build release feedbench || exit 1
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
export FEEDBENCH=$ROOT/build/release/feedbench SYSTEM=lab-nas RUN_OPTIONS=--virtual-time
export OPTIONS="-p dataset.num_files_train=2240 -p train.epochs=2 -p workflow.checkpoint=False"
for rate in 2 1.9; do
  DATA_FOLDER="model:bandwidth=${rate}GB,latency=1ms,latency_p99=2ms" "$ROOT/docs/examples/storage_gate.sh" >"gate-$rate.txt" 2>"gate-$rate.log"
done
# On a terminal, so that it has its colours.
script -qfec "$FEEDBENCH gate --baseline lab-nas --candidate gate-reports/runs" /dev/null >terminal.txt
python3 - terminal.txt page.html <<'PY' || exit 1
import html, re, sys
text = html.escape(open(sys.argv[1], errors="replace").read().replace("\r", ""))
colours = {"31": "#ff6b61", "32": "#5fd38d", "33": "#e8c547"}
def style(match):
    codes = match.group(1).split(";")
    if codes in ([""], ["0"]): return "</span>"
    return '<span style="' + "".join("font-weight:bold;" if c == "1" else f"color:{colours[c]};" for c in codes if c == "1" or c in colours) + '">'
text = re.sub("\x1b\\[([0-9;]*)m", style, text)
assert "regressed</span>" in text, "not what the picture is about"
open(sys.argv[2], "w").write('<!doctype html><meta charset="utf-8"><title>feedbench gate</title><body style="margin:0;background:#1c1f24;color:#dfe3e8">'
  '<pre style="margin:16px;font:13px/1.45 \'DejaVu Sans Mono\',monospace;white-space:pre-wrap">$ feedbench gate --baseline lab-nas --candidate gate-reports/runs\n' + text + "</pre></body>")
PY
node "$ROOT/tests/browser/picture.mjs" "$work/page.html" "$out" 330 || exit $?
size=$(stat -c %s "$out")
[ "$size" -lt $((200 * 1024)) ] || die "$out has $size bytes, expected less than 200 KiB"
echo "$out"

#!/usr/bin/env bash
# Runs the suite over all backends (tests/integration/backend.sh) and writes what it measured into results/backends/backends.tsv and the
# table of docs/backends.md.
#
#   scripts/backends_table.sh [--full] [ROW...]    rows of tests/integration/backend_rows.txt; default: all of CI, with --full all
# Rows that are not run keep their lines. The figures show that each backend works and what it costs on a small machine that also runs the
# server; they are no comparison of storage.
. "$(dirname "$0")/lib.sh"
full=
rows=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --full) full=1 ;;
    *) rows+=("$1") ;;
  esac
  shift
done
sections=(build test servers)
[ -z "$full" ] || sections+=(full)
need_packages "${sections[@]}" || exit 1
need_npm tests/servers/s3rver && build release feedbench feedfs || exit 1
TABLE=$ROOT/tests/integration/backend_rows.txt OUT=$ROOT/results/backends/backends.tsv
what() { awk -v row="$1" '$1 == row { $1 = $2 = ""; sub(/^ +/, ""); print }' "$TABLE"; }
[ ${#rows[@]} -gt 0 ] || mapfile -t rows < <(awk -v full="$full" '/^[a-z]/ && (full || $2 == "ci") { print $1 }' "$TABLE")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$OUT")"
failures=0
for row in "${rows[@]}"; do
  [ -n "$(what "$row")" ] || die "no row called $row in $TABLE"
  env BACKEND_ROW="$row" BACKEND_TABLE="$work/rows" FEEDBENCH="$ROOT/build/release/feedbench" FEEDBENCH_SOURCE_DIR="$ROOT" \
    FEEDBENCH_BINARY_DIR="$ROOT/build/release" bash "$ROOT/tests/integration/backend.sh" >"$work/$row.txt" 2>&1
  case $? in
    0) say "$row: passed" ;;
    77) say "$row: $(tail -n 1 "$work/$row.txt")" ;;
    *) cat "$work/$row.txt" >&2; failures=$((failures + 1)) ;;
  esac
done
touch "$work/rows" "$OUT"
{
  printf '# Made by scripts/backends_table.sh on %s, %s CPUs, kernel %s; columns: row, backend, filesystem, datagen MB/s, training MB/s (of 20.1 asked for), p50 of a sample ms, client CPU s/GB, checkpoint write MB/s, seconds of the suite\n' \
    "$(date -I)" "$(nproc)" "$(uname -r | cut -d- -f1)"
  awk '/^[a-z]/ { print $1 }' "$TABLE" | while read -r row; do # in the table's order; new lines before old ones
    cat "$work/rows" "$OUT" | awk -F'\t' -v row="$row" '$1 == row { print; exit }'
  done
} >"$work/new" && cp "$work/new" "$OUT"
python3 - "$OUT" "$TABLE" "$ROOT/docs/backends.md" <<'PY' || failures=$((failures + 1))
import sys
words = {line.split()[0]: line.split(None, 2)[2].strip() for line in open(sys.argv[2]) if line[:1].isalpha()}
lines = ["| row | what it is | backend | filesystem | datagen MB/s | training MB/s | sample p50 ms | client CPU s/GB | checkpoint MB/s | suite s |",
         "|---|---|---|---|---|---|---|---|---|---|"]
def short(text):
    try: return f"{float(text):.3g}" if float(text) < 100 else f"{float(text):.0f}"
    except ValueError: return text if text not in ("None", "") else "-"
made = ""
for line in open(sys.argv[1]):
    if line.startswith("#"):
        made = line[2:].split(";")[0].strip()
        continue
    row, *values = line.rstrip("\n").split("\t")
    lines.append(f"| `{row}` | {words[row]} | " + " | ".join(short(v) for v in values) + " |")
text = open(sys.argv[3]).read()
begin, end = "<!-- table: scripts/backends_table.sh -->", "<!-- end of table -->"
head, rest = text.split(begin)
_, tail = rest.split(end)
open(sys.argv[3], "w").write(f"{head}{begin}\n{made}.\n\n" + "\n".join(lines) + f"\n{end}{tail}")
PY
[ "$failures" -eq 0 ]

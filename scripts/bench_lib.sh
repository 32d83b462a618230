# Sourced by bench.sh: rows of a table of ratios, each measured beside its yardstick in the same run, and the yardsticks.
BENCH_ROWS=${BENCH_ROWS:-$(mktemp)}
export FEEDBENCH_CEILING_SECONDS=0 # what is measured here is the client already

# json FILE-OR-- EXPRESSION : a value of a JSON document (d), from a file or from standard input
json() { python3 -c 'import json,sys
d = json.load(sys.stdin if sys.argv[1] == "-" else open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"; }
# calc EXPRESSION : arithmetic with floats
calc() { python3 -c 'import sys; print("%.6g" % eval(sys.argv[1]))' "$1"; }

# ratio NAME OURS YARDSTICK UNIT RELATION BOUND : RELATION is ge or le; compares OURS / YARDSTICK with BOUND
ratio() { row "$1" "$2" "$3" "$4" "$(calc "$2/$3")" "$5" "$6"; }
# bound NAME VALUE UNIT RELATION BOUND : compares the value itself
bound() { row "$1" "$2" - "$3" "$2" "$4" "$5"; }
row() {
  local verdict; verdict=$(python3 -c 'import sys; v, r, b = float(sys.argv[1]), sys.argv[2], float(sys.argv[3])
print("ok" if (v >= b if r == "ge" else v <= b) else "MISSED")' "$5" "$6" "$7") || verdict=MISSED
  printf '%s\t%s\t%s\t%s\t%s\t%s %s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$verdict" >>"$BENCH_ROWS"
  say "$verdict: $1: $2 $4 beside $3, $5 (wanted: $6 $7)"
}
# skipped NAME UNIT RELATION BOUND WHY : a row that this machine cannot measure
skipped() { printf '%s\t-\t-\t%s\t-\t%s %s\tskipped: %s\n' "$@" >>"$BENCH_ROWS"; say "skipped: $1: $5"; }
# print_rows : the table; fails where a bound was missed
print_rows() {
  { printf 'what\tours\tyardstick\tunit\tvalue\twanted\tverdict\n'; cat "$BENCH_ROWS"; } | column -t -s "$(printf '\t')"
  ! grep -q 'MISSED$' "$BENCH_ROWS"
}

# settle : waits (at most a minute) until nothing else keeps the cores busy, so that ratios mean something
settle() {
  local try a b
  for try in $(seq 60); do
    a=$(awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat); sleep 1; b=$(awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat)
    [ $((b - a)) -lt $(($(nproc) * 10)) ] && return 0
  done
  say "the machine is not idle: ratios are taken nevertheless"
}

# fio_read DIR|FILE FIO-OPTION... : sequential read; prints JSON {"MB_per_second": .., "cpu_s_per_GB": .., "bytes": ..}
fio_read() { fio_run read "$@"; }
fio_write() { fio_run write "$@"; }
fio_run() {
  local rw=$1; shift
  fio --name=yardstick --rw="$rw" --output-format=json "$@" 2>/dev/null | python3 -c '
import json, sys
text = sys.stdin.read()
jobs = json.loads(text[text.index("{"):])["jobs"]
side = sys.argv[1]
total = sum(j[side]["io_bytes"] for j in jobs)
wall = max(j[side]["runtime"] for j in jobs) / 1000
cpu = sum((j["usr_cpu"] + j["sys_cpu"]) / 100 * j["job_runtime"] / 1000 for j in jobs)
print(json.dumps({"MB_per_second": total / 1e6 / wall, "cpu_s_per_GB": cpu / (total / 1e9), "bytes": total, "wall_s": wall}))' "$rw"
}

# run_result COMMAND... : a feedbench run into a folder of its own; prints the path of its result.json
run_result() {
  local folder; folder=$(mktemp -d "$BENCH_RAM/results.XXXXXX")
  "$@" --results-dir "$folder" >"$folder/out.txt" 2>&1 || { tail -n 5 "$folder/out.txt" >&2; return 1; }
  find "$folder" -name result.json | head -n 1
}
# metric RESULT KEY : a row of the whole run
metric() { json "$1" "next(m['value'] for m in d['metrics'] if m['key'] == '$2')"; }
# dataset FOLDER WORKLOAD OPTION... : generated once; says its speed only when it was made now
dataset() {
  local folder=$1; shift
  quietly "$ROOT/build/log/bench-datagen.txt" "$BIN/feedbench" datagen "$@" --data-dir "$folder" --no-fsync
}
# best_of N MAX|MIN COMMAND... : the machine's other work can only make a figure worse
best_of() {
  local count=$1 pick=$2 values=() i; shift 2
  for i in $(seq "$count"); do values+=("$("$@")") || return 1; done
  calc "$pick($(IFS=,; echo "${values[*]}"),$([ "$pick" = max ] && echo 0 || echo 1e300))"
}

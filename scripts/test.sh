#!/usr/bin/env bash
# Every test: integration, interop, simulated runs and style on the release build; unit tests with address and undefined behaviour
# sanitizers; with the thread sanitizer the engine's unit tests.
#
#   scripts/test.sh [--quick | --full] [CTEST-OPTION...]
#     --quick     all on the release build, no sanitizer builds
#     --full      besides: unit tests on the release build too, feedfs' with the thread sanitizer, every header compiled alone, Ceph's S3 gateway,
#                 a build without libcurl and libnfs
#     -R REGEX    and all other options go to ctest; sanitizer builds run the same selection
#   Exit code 0: everything passed. The last line counts tests.
. "$(dirname "$0")/lib.sh"
mode=normal
ctest_options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --quick | --full) mode=${1#--} ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done

sections=(build test servers)
[ "$mode" != full ] || sections+=(full)
need_packages "${sections[@]}" || exit 1
# Readers written by other people, for the interop tests; what drives the browser; a small S3 server.
need_npm tests/interop && need_npm tests/browser && need_npm tests/servers/s3rver || exit 1

failures=0 passed=0 failed=0 skipped=0
# run_tests PRESET OPTION... : ctest in build/PRESET; its counts are added up.
run_tests() {
  local preset=$1 log=$ROOT/build/log/ctest-$1.txt code; shift
  (cd "$ROOT/build/$preset" && ctest --output-on-failure --no-tests=ignore -j "$(nproc)" "$@" "${ctest_options[@]}") 2>&1 | tee "$log"
  code=$?
  [ "$code" -eq 0 ] || [ "$preset" != release ] || { try_again "$log"; code=$?; }
  passed=$((passed + $(tests_that Passed "$log" | wc -l)))
  skipped=$((skipped + $(tests_that '\*\*\*Skipped' "$log" | wc -l)))
  failed=$((failed + $(tests_that "$FAILED" "$log" | wc -l)))
  [ "$code" -eq 0 ] || failures=$((failures + 1))
}
FAILED='\*\*\*(Failed|Timeout|Not Run|Exception)'
tests_that() { sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([a-z0-9_]+) \.+ *$1.*/\1/p" "$2" | sort -u; } # OUTCOME LOG
# try_again LOG : on a shared machine a server or a moment of a run can be late. One or two tests that failed run once more, alone, and are named
# whatever comes of it; the log then tells how they ended. More are no accident.
try_again() {
  local log=$1 again=$1.again names name code
  names=$(tests_that "$FAILED" "$log")
  [ -n "$names" ] && [ "$(wc -l <<<"$names")" -le 2 ] || return 1
  say "once more, alone: $(paste -sd' ' <<<"$names")"
  (cd "$ROOT/build/release" && ctest --output-on-failure -R "^($(paste -sd'|' <<<"$names"))\$") 2>&1 | tee "$again"
  code=$?
  for name in $(tests_that Passed "$again"); do
    echo "UNSTEADY: $name failed once and passed once; its first output is above"
    sed -Ei "/ Test +#[0-9]+: $name \.+/s/$FAILED/Passed/" "$log"
  done
  return "$code"
}

case $mode in
  normal) build release && run_tests release -LE '^(unit|full)$' ;;
  quick) build release all unit_tests && run_tests release -LE '^full$' ;;
  full) build release all unit_tests && run_tests release ;;
esac || failures=$((failures + 1))

if [ "$mode" = full ]; then
  if build slim feedbench feedfs; then
    say "without libcurl and libnfs:"
    run_tests slim -R '^without_libraries$'
  else failures=$((failures + 1)); fi
fi
if [ "$mode" != quick ]; then
  # The leak checker would report what libraries keep for themselves until the end; ours are covered.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0} UBSAN_OPTIONS=print_stacktrace=1
  if build asan unit_tests; then
    say "with address and undefined behaviour sanitizers:"
    run_tests asan -L '^(unit|sim)$'
  else failures=$((failures + 1)); fi
  # GCC 12's thread sanitizer knows the older, less random address layout only.
  # tsan_test TEST CASE... : no cases: all of them
  tsan_test() {
    local log=$ROOT/build/log/tsan-$1.txt
    case " ${threaded[*]} " in *" $1 "*) ;; *) return ;; esac
    if setarch -R "$ROOT/build/tsan/$1" "${@:2}" >"$log" 2>&1; then passed=$((passed + 1))
    else tail -n 40 "$log"; failed=$((failed + 1)); fi
    echo "$1: $(tail -n 2 "$log" | head -n 1)"
  }
  threaded=() selected=$(cd "$ROOT/build/asan" && ctest -N "${ctest_options[@]}")
  with_threads=(unit_engine)
  [ "$mode" != full ] || with_threads+=(unit_feedfs unit_feedfs_mount)
  for name in "${with_threads[@]}"; do
    grep -q "#[0-9]*: $name\$" <<<"$selected" && threaded+=("$name")
  done
  if [ ${#threaded[@]} -eq 0 ]; then :
  elif build tsan "${threaded[@]}"; then
    say "with the thread sanitizer:"
    tsan_test unit_engine
    tsan_test unit_feedfs '[threads]'
    # A mount publishes hundreds of files together, each locked; the deadlock detector knows 64 locks a thread at most.
    TSAN_OPTIONS=detect_deadlocks=0 tsan_test unit_feedfs_mount
  else failures=$((failures + 1)); fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
# With a selection that fits nothing, nothing was shown.
[ "$failures" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

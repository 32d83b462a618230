#!/usr/bin/env bash
# Every test: integration, interop, simulated runs and style on the release build; unit tests with address and undefined behaviour
# sanitizers; the engine's unit tests with the thread sanitizer.
#
#   scripts/test.sh [--quick | --full] [CTEST-OPTION...]
#     --quick     all on the release build, no sanitizer builds
#     --full      besides: unit tests on the release build too, and every header compiled alone
#     -R REGEX    and all other options go to ctest; sanitizer builds run the same selection
#   Exit code 0: everything passed. The last line counts tests.
. "$(dirname "$0")/lib.sh"
mode=normal
ctest_options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --quick | --full) mode=${1#--} ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done

need_packages build test || exit 1
# Readers written by other people, for the interop tests; what drives the browser.
need_npm tests/interop && need_npm tests/browser || exit 1

failures=0 passed=0 failed=0 skipped=0
# run_tests PRESET OPTION... : ctest in build/PRESET; its counts are added up.
run_tests() {
  local preset=$1 log=$ROOT/build/log/ctest-$1.txt code; shift
  (cd "$ROOT/build/$preset" && ctest --output-on-failure --no-tests=ignore -j "$(nproc)" "$@" "${ctest_options[@]}") 2>&1 | tee "$log"
  code=$?
  passed=$((passed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed +[0-9.]+ sec' "$log")))
  skipped=$((skipped + $(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped' "$log")))
  failed=$((failed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Timeout|Not Run|Exception)' "$log")))
  [ "$code" -eq 0 ] || failures=$((failures + 1))
}

case $mode in
  normal) build release && run_tests release -LE '^(unit|full)$' ;;
  quick) build release all unit_tests && run_tests release -LE '^full$' ;;
  full) build release all unit_tests && run_tests release ;;
esac || failures=$((failures + 1))

if [ "$mode" != quick ]; then
  # The leak checker would report what libraries keep for themselves until the end; ours are covered.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0} UBSAN_OPTIONS=print_stacktrace=1
  if build asan unit_tests; then
    say "with address and undefined behaviour sanitizers:"
    run_tests asan -L '^(unit|sim)$'
  else failures=$((failures + 1)); fi
  # GCC 12's thread sanitizer knows the older, less random address layout only.
  if build tsan unit_engine; then
    say "with the thread sanitizer:"
    if setarch -R "$ROOT/build/tsan/unit_engine" >"$ROOT/build/log/tsan.txt" 2>&1; then passed=$((passed + 1))
    else tail -n 40 "$ROOT/build/log/tsan.txt"; failed=$((failed + 1)); fi
    tail -n 2 "$ROOT/build/log/tsan.txt" | head -n 1
  else failures=$((failures + 1)); fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
# With a selection that fits nothing, nothing was shown.
[ "$failures" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

#!/usr/bin/env bash
# Every test: builds release, runs ctest; then the unit tests with address and undefined behaviour sanitizers, the engine's with the
# thread sanitizer.
#
#   scripts/test.sh [--quick] [CTEST-OPTION...]
#     --quick     no sanitizer builds
#     -R REGEX    and all other options go to ctest; with -R, sanitizer builds run the same selection
#   Exit code 0: everything passed. The last line is ctest's verdict on the release build.
. "$(dirname "$0")/lib.sh"
quick=no
ctest_options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --quick) quick=yes ;;
    --full) quick=no ;;
    *) ctest_options+=("$1") ;;
  esac
  shift
done

need_packages build test || exit 1
# Readers written by other people, for the interop tests.
interop=$ROOT/tests/interop
if [ -e "$interop/package.json" ] && ! [ "$interop/node_modules/.package-lock.json" -nt "$interop/package.json" ]; then
  say "installing the npm readers"
  command=install; [ ! -e "$interop/package-lock.json" ] || command=ci
  quietly "$ROOT/build/log/npm.txt" npm --prefix "$interop" "$command" --no-audit --no-fund || exit 1
fi

failures=0
# run_tests PRESET OPTION... : ctest in build/PRESET; its closing line is kept in $verdict
run_tests() {
  local preset=$1 log=$ROOT/build/log/ctest-$1.txt code; shift
  (cd "$ROOT/build/$preset" && ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@" "${ctest_options[@]}") 2>&1 | tee "$log"
  code=$?
  verdict=$(grep -E '^[0-9]+% tests passed' "$log" || echo "ctest: no tests were run")
  [ "$code" -eq 0 ] || failures=$((failures + 1))
}

build release || exit 1
run_tests release
release_verdict=$verdict

if [ "$quick" = no ]; then
  # The leak checker would report what libraries keep for themselves until the end; ours are covered.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0} UBSAN_OPTIONS=print_stacktrace=1
  if build asan unit_tests; then
    run_tests asan -L '^unit$'
    say "address and undefined behaviour sanitizers: $verdict"
  else failures=$((failures + 1)); fi
  # GCC 12's thread sanitizer knows the older, less random address layout only.
  if build tsan unit_engine; then
    if setarch -R "$ROOT/build/tsan/unit_engine" >"$ROOT/build/log/tsan.txt" 2>&1; then say "thread sanitizer: $(tail -n 2 "$ROOT/build/log/tsan.txt" | head -n 1)"
    else tail -n 40 "$ROOT/build/log/tsan.txt"; say "thread sanitizer: failed"; failures=$((failures + 1)); fi
  else failures=$((failures + 1)); fi
fi
echo "$release_verdict"
[ "$failures" -eq 0 ]

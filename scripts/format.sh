#!/usr/bin/env bash
# Formats all C++ sources in place; with --check changes nothing and fails where a file would change.
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 1
case ${1:-} in
  "") mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *) say "usage: scripts/format.sh [--check]"; exit 2 ;;
esac
command -v clang-format >/dev/null || die "clang-format is missing; apt-get install clang-format"
git ls-files -z '*.cpp' '*.hpp' | xargs -0 -r -n 40 -P "$(nproc)" clang-format "${mode[@]}"

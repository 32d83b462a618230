#!/usr/bin/env bash
# The house rules that a program can check (docs/architecture.md says why they are there): scripts/check_style.py.
exec python3 "$(dirname "$0")/check_style.py" "$@"

#!/usr/bin/env bash
# The examples of docs/ci.md run: the shell script, and what the workflow of GitHub and the job of GitLab would run, on storage that is a
# formula in virtual time. First a baseline, then a pass, then slower storage.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
EXAMPLES="$FEEDBENCH_SOURCE_DIR/docs/examples"
export SYSTEM=lab-nas RUN_OPTIONS="--virtual-time" OPTIONS="-p dataset.num_files_train=2240 -p train.epochs=2 -p workflow.checkpoint=False" RUNS=4
fast=model:bandwidth=2GB,latency=1ms,latency_p99=2ms slow=model:bandwidth=1.5GB,latency=1ms,latency_p99=2ms

DATA_FOLDER=$fast run "$EXAMPLES/storage_gate.sh"
expect_status 0 "the first time"
expect_said '^no baseline of lab-nas yet' 1
expect_said '^lab-nas/unet3d_mini-4acc/.*: 4 runs' 1
DATA_FOLDER=$fast run "$EXAMPLES/storage_gate.sh"
expect_status 0
expect_said '^feedbench gate: pass' 1
DATA_FOLDER=$slow run "$EXAMPLES/storage_gate.sh"
expect_status 1
for file in gate.xml gate.md gate.json runs.txt; do expect_file "gate-reports/$file"; done
run env -u SYSTEM DATA_FOLDER=/tmp bash "$EXAMPLES/storage_gate.sh"
[ "$STATUS" -ne 0 ] || fail "an environment without SYSTEM was accepted"
expect_said 'a name for the storage under test' 1

# steps_of FILE : the commands of the job, each in a file steps/N.sh, as the CI system would run them; those that build apart
"$PYTHON" - "$EXAMPLES" <<'PY' || fail "the examples are not what CI systems read"
import pathlib, sys, yaml
examples = pathlib.Path(sys.argv[1])
def write(name, commands, built):
    folder = pathlib.Path(name)
    folder.mkdir()
    for i, command in enumerate(commands): (folder / f"{i}.sh").write_text("set -e\n" + command + "\n")
    (folder / "build.txt").write_text("\n".join(built))
github = yaml.safe_load((examples / "github_actions.yaml").read_text())
job = github["jobs"]["storage-gate"]
assert github[True] and job["runs-on"] and all("run" in s or "uses" in s for s in job["steps"])  # YAML 1.1 reads the key `on` as true
assert {"FEEDBENCH", "DATA_FOLDER", "SYSTEM"} == set(job["env"])
write("github", [s["run"] for s in job["steps"] if "run" in s and s["name"] != "Build feedbench"], [s["run"] for s in job["steps"] if s.get("name") == "Build feedbench"])
assert job["steps"][-1]["with"]["path"] == "gate-reports"
gitlab = yaml.safe_load((examples / "gitlab_ci.yaml").read_text())["storage-gate"]
assert gitlab["artifacts"]["reports"]["junit"] == "gate-reports/gate.xml" and gitlab["allow_failure"]["exit_codes"] == [4]
write("gitlab", gitlab["script"], gitlab["before_script"])
PY
grep -q 'cmake --preset release' github/build.txt && grep -q 'cmake --preset release' gitlab/build.txt || fail "neither builds"
(cd "$FEEDBENCH_SOURCE_DIR" && cmake --list-presets) | grep -q '"release"' || fail "the preset of the examples is none"
ln -s "$FEEDBENCH_SOURCE_DIR/docs" docs
export GITHUB_STEP_SUMMARY="$WORK/summary.md" DATA_FOLDER=$fast
for step in github/*.sh gitlab/*.sh; do
  run bash "$step"
  expect_status 0 "$step: $(cat "$step")"
done
grep -q '^### :white_check_mark: Storage gate: pass' summary.md || fail "no summary for GitHub"
xmllint --noout --schema "$FEEDBENCH_SOURCE_DIR/tests/interop/junit.xsd" gate-reports/gate.xml 2>/dev/null || fail "GitLab's test report is not JUnit XML"
note "shell script, GitHub's workflow and GitLab's job: baseline, pass, regressed"

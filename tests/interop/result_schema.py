"""Validates result.json files against the committed JSON Schema with a foreign validator (python3-jsonschema).

Also checks that the schema refuses what it must: a schema that accepts everything would pass in silence.
usage: result_schema.py SCHEMA WRITER FOLDER     WRITER writes sample results into FOLDER
       result_schema.py SCHEMA FILE.json...      validates these files
"""
import copy
import json
import pathlib
import subprocess
import sys

import jsonschema


def validator_of(schema_path):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def problems(validator, path):
    document = json.loads(pathlib.Path(path).read_text())
    return [f"{path}: {'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(document)]


def accepted_damage(validator, good):
    """Every change here makes the document wrong; returns those that the schema lets pass."""
    changes = []
    for key in good:
        changes.append((f"without {key}", lambda d, k=key: d.pop(k)))
        changes.append((f"{key} of another type", lambda d, k=key: d.__setitem__(k, {"not": "this"})))
    epoch_keys = good["epochs"][0]
    for key in epoch_keys:
        changes.append((f"an epoch without {key}", lambda d, k=key: d["epochs"][0].pop(k)))
    for key in good["hosts"][0]:
        changes.append((f"a host without {key}", lambda d, k=key: d["hosts"][0].pop(k)))
    for key in good["checkpoints"][0]:
        changes.append((f"a checkpoint without {key}", lambda d, k=key: d["checkpoints"][0].pop(k)))
    for key in good["checkpoints"][0]["ranks"][0]:
        changes.append((f"a checkpoint's rank without {key}", lambda d, k=key: d["checkpoints"][0]["ranks"][0].pop(k)))
    for key in good["storages"][0]:
        changes.append((f"a storage without {key}", lambda d, k=key: d["storages"][0].pop(k)))
    for key in good["storages"][0]["endpoints"][0]:
        changes.append((f"an endpoint without {key}", lambda d, k=key: d["storages"][0]["endpoints"][0].pop(k)))
    changes.append(("a cause of retries that nobody knows",
                    lambda d: d["storages"][0]["endpoints"][0]["retries"][0].update(cause="whim")))
    changes.append(("an unknown key", lambda d: d.__setitem__("au", 1)))
    changes.append(("a null metric without a reason", lambda d: d["metrics"][0].update(value=None, reason="")))
    changes.append(("a metric with value and reason", lambda d: d["metrics"][0].update(value=1, reason="why")))
    changes.append(("a unit nobody knows", lambda d: d["metrics"][0].update(unit="GB/fortnight")))
    changes.append(("another version", lambda d: d.__setitem__("schema_version", 5)))
    passed = []
    for name, change in changes:
        document = copy.deepcopy(good)
        change(document)
        if validator.is_valid(document):
            passed.append(name)
    return passed


def main():
    validator = validator_of(sys.argv[1])
    if len(sys.argv) == 4 and not sys.argv[2].endswith(".json"):
        folder = pathlib.Path(sys.argv[3])
        subprocess.run([sys.argv[2], str(folder)], check=True)
        files = sorted(folder.glob("*.json"))
    else:
        folder, files = None, [pathlib.Path(name) for name in sys.argv[2:]]
    if not files:
        sys.exit("no result files to validate")
    found = [problem for path in files for problem in problems(validator, path)]
    if folder is not None:
        good = json.loads((folder / "passing.json").read_text())
        # One of each is enough to damage, and hundreds of validations stay quick.
        good = {key: value[:1] if isinstance(value, list) else value for key, value in good.items()}
        good["histograms"][0]["buckets_ns_count"] = good["histograms"][0]["buckets_ns_count"][:1]
        found += [f"the schema accepts {name}" for name in accepted_damage(validator, good)]
    for problem in found:
        print(problem)
    print(f"{len(files)} files, {len(found)} problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

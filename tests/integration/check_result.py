"""A whole result folder, judged from outside: check_result.py FOLDER accelerators=4 epochs=5 files=28 ranks=4 [evaluations=N] [checkpoints=N]"""
import glob, json, os, sys

import h5py

SUMMARY = ["start", "end", "num_accelerators", "num_hosts", "hostname", "metric", "num_files_train", "num_files_eval", "num_samples_per_file",
           "host_cpu_count", "host_processor_name", "potential_caching", "host_cpuinfo", "host_meminfo", "host_memory_GB", "data_size_per_host_GB",
           "epochs"]
PHASE = ["au_percentage", "au_mean_percentage", "au_meet_expectation", "au_stdev_percentage", "throughput_samples_per_second",
         "throughput_mean_samples_per_second", "throughput_stdev_samples_per_second", "io_mean_MB_per_second", "io_stdev_MB_per_second"]
PARTS = ["think_s", "storage_wait_s", "client_wait_s", "barrier_wait_s", "outside_s"]
HISTOGRAMS = ["sample_read_latency", "time_to_first_byte", "batch_wait", "think_error"]
CHECKPOINT = ["save_checkpoint_io_mean_GB_per_second", "save_checkpoint_io_stdev_GB_per_second", "save_checkpoint_duration_mean_seconds",
              "save_checkpoint_duration_stdev_seconds", "checkpoint_size_GB"]


def main():
    folder, want = sys.argv[1], dict(a.split("=") for a in sys.argv[2:])
    want = {key: int(value) for key, value in want.items()}
    result = json.load(open(os.path.join(folder, "result.json")))
    bad = []

    def check(truth, words):
        if not truth:
            bad.append(words)

    def equal(what, found, expected):
        check(found == expected, f"{what} is {found!r}, expected {expected!r}")

    def adds_up(where, parts):
        total = sum(parts[key] for key in PARTS)
        check(abs(total - parts["total_s"]) <= 1e-6 * max(parts["total_s"], 1), where + f"attribution adds up to {total} of {parts['total_s']} s")

    def near(what, found, expected):
        check(abs(found - expected) <= 1e-6 * max(abs(expected), 1), f"{what} is {found}, expected {expected}")

    # What the hosts did adds up to the epoch, and nothing was left out of it.
    def hosts(where, epoch):
        equal(where + "hosts", [h["host"] for h in epoch["hosts"]], [h["name"] for h in result["hosts"]])
        for host in epoch["hosts"]:
            adds_up(where + host["host"] + ": ", host["attribution"])
            check(host["process_cpu_s"] > 0, where + host["host"] + ": no CPU time")
        for part in PARTS + ["total_s"]:
            near(where + "hosts' " + part, sum(h["attribution"][part] for h in epoch["hosts"]), epoch["attribution"][part])
        for part in epoch["loader_time"]:
            near(where + "hosts' " + part, sum(h["loader_time"][part] for h in epoch["hosts"]), epoch["loader_time"][part])
        equal(where + "hosts' bytes", sum(h["bytes_delivered"] for h in epoch["hosts"]), epoch["bytes_delivered"])
        equal(where + "histograms", [h["key"] for h in epoch["histograms"]], HISTOGRAMS)
        for i, histogram in enumerate(epoch["histograms"]):
            equal(where + histogram["key"], sum(h["histograms"][i]["count"] for h in epoch["hosts"]), histogram["count"])
            equal(where + histogram["key"] + "'s buckets", sum(count for _, count in histogram["buckets_ns_count"]), histogram["count"])
            if histogram["key"] in ("batch_wait", "think_error"):
                equal(where + histogram["key"], histogram["count"], epoch["step_count"] * want["accelerators"])

    equal("status", result["status"], "complete")
    equal("valid", result["valid"], True)
    equal("invalid_reasons", result["invalid_reasons"], [])
    equal("accelerator_count", result["accelerator_count"], want["accelerators"])
    equal("rank_count", result["rank_count"], want["ranks"])
    equal("num_files_train", result["num_files_train"], want["files"])
    train = [e for e in result["epochs"] if not e["evaluation"]]
    evaluations = [e for e in result["epochs"] if e["evaluation"]]
    equal("train epochs", len(train), want["epochs"])
    equal("evaluations", len(evaluations), want.get("evaluations", 0))
    equal("checkpoints", len(result["checkpoints"]), want.get("checkpoints", 0))
    for epoch in result["epochs"]:
        where = f"epoch {epoch['index']}{' (evaluation)' if epoch['evaluation'] else ''}: "
        equal(where + "samples_proved", epoch["samples_proved"], True)
        batch = result["batch_size_eval"] if epoch["evaluation"] else result["batch_size"]
        equal(where + "samples", epoch["sample_count"], epoch["step_count"] * batch * want["accelerators"])
        if not epoch["evaluation"] and "total_training_steps" not in want:
            equal(where + "samples and dropped", epoch["sample_count"] + epoch["dropped_sample_count"],
                  want["files"] * result["num_samples_per_file"])
        check(epoch["bytes_delivered"] > 0, where + "no bytes were delivered")
        adds_up(where, epoch["attribution"])
        hosts(where, epoch)
    equal("hosts' ranks", sum(h["rank_count"] for h in result["hosts"]), want["ranks"])
    delivered = sum(e["bytes_delivered"] for e in result["epochs"])
    by_hosts = sum(h["bytes_delivered"] for h in result["hosts"])
    check(by_hosts >= delivered > 0, f"hosts delivered {by_hosts} bytes, epochs {delivered}")

    steps = sum(e["step_count"] for e in result["epochs"]) * want["accelerators"]
    adds_up("", result["attribution"])
    for part in PARTS:
        near("epochs' " + part, sum(e["attribution"][part] for e in train), result["attribution"][part])
    equal("slices", [s["start_ns"] for s in result["slices"]], [i * 10**9 for i in range(len(result["slices"]))])
    equal("steps in slices", sum(s["steps"] for s in result["slices"]), steps)
    check(sum(s["bytes"] for s in result["slices"]) >= delivered, "slices hold fewer bytes than epochs")
    check(sum(s["process_cpu_ns"] for s in result["slices"]) > 0, "slices hold no CPU time")
    with h5py.File(os.path.join(folder, "steps.h5"), "r") as file:
        rows = file["steps"][:]
        equal("rows of steps.h5", len(rows), steps)
        equal("accelerators in steps.h5", sorted(set(rows["accelerator_index"])), list(range(want["accelerators"])))

    summary = json.load(open(os.path.join(folder, "summary.json")))
    equal("missing in summary.json", [key for key in SUMMARY if key not in summary], [])
    equal("num_accelerators", summary["num_accelerators"], want["accelerators"])
    equal("num_files_train", summary["num_files_train"], want["files"])
    equal("epochs in summary.json", summary["epochs"], want["epochs"])
    keys = ["train_" + key for key in PHASE]
    if evaluations:
        keys += ["eval_" + key for key in PHASE]
    if result["checkpoints"]:
        keys += CHECKPOINT
    equal("missing in metric", [key for key in keys if key not in summary["metric"]], [])
    equal("train_au_percentage's length", len(summary["metric"]["train_au_percentage"]), want["epochs"])
    check(summary["metric"]["train_au_meet_expectation"] in ("success", "fail"), "train_au_meet_expectation is another word")
    if train and train[0]["step_count"] > 1:
        au = summary["metric"]["train_au_mean_percentage"]
        check(au is not None and 0 < au <= 100.5, f"AU is {au}")
    for name in ("config.yaml", "log.txt"):
        check(os.path.getsize(os.path.join(folder, name)) > 0, name + " is empty")
    equal("leftovers", glob.glob(os.path.join(folder, "*partial*")) + glob.glob(os.path.join(folder, "*.tmp")), [])
    for words in bad:
        print(f"{folder}: {words}")
    return 1 if bad else 0


sys.exit(main())

// The comparison as a value: like grouped with like, one row a result, its figures as metric rows, and what is
// suspicious about them as footnotes.
//
// Thread: plain values; compare() is a pure function. Owner: the caller. Units: named in every key; MB = 10^6, MiB =
// 2^20, GiB = 2^30 bytes. Errors: none; what could not be read is in `problems`. Source: docs/compare.md. Every way of
// showing it (console, page, Markdown, CSV, JSON) walks over columns(kind), metrics and footnotes, and judges nothing
// itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/types/run_result.hpp"
#include "reporters/ingest/ingested_run.hpp"

namespace feedbench::compare {

// All repetitions of one measurement.
struct Row {
    std::string submitter, system, source; // source: folder that holds the runs
    ingest::Tool tool = ingest::Tool::reference;
    std::uint32_t accelerator_count = 0, host_count = 0; // host_count 0: not said
    std::uint32_t position = 0;               // 1 = highest of those that reached the bar and are valid; else 0
    std::vector<ingest::IngestedRun> runs;    // in order of their start; those that count
    std::vector<ingest::IngestedRun> warm_up; // left out by the rules of the edition
    ingest::SystemDescription description;
    std::vector<Metric> metrics;
    std::vector<Finding> footnotes; // verdict: "suspicious" or "note"
};

// Rows that may be ranked against each other: the same kind of result, workload, accelerator, edition and division.
struct Group {
    ingest::Kind kind = ingest::Kind::training;
    std::string workload, variant, accelerator_model, edition, division;
    std::vector<Row> rows; // by MB/s (checkpoints: GiB/s written), highest first
    std::string title() const;
};

struct Comparison {
    std::vector<Group> groups;
    std::vector<ingest::Problem> problems;
    std::size_t run_count = 0;
};

Comparison compare(ingest::Ingested ingested);

// What is shown of a row, in this order; `heading` is short, `help` one sentence.
struct Column {
    std::string_view key, heading, help;
    int decimals;    // -1: as many as tell something
    bool in_console; // the others are in Markdown, CSV and JSON
};
std::span<const Column> columns(ingest::Kind kind);

} // namespace feedbench::compare

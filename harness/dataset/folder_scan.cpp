#include "harness/dataset/folder_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "formats/registry.hpp"
#include "harness/engine/reactor.hpp"

namespace feedbench::dataset {

namespace {

constexpr std::size_t kNamesShown = 5;
constexpr std::uint64_t kGapSearch = 100'000; // stats at most, to name the first missing file

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    if (!all_digits(text)) return {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "indexed_binary.off.idx": what a format keeps beside its data files, in the same folder.
bool is_side_file(std::string_view ending) {
    for (const formats::Format* format : formats::all_formats())
        for (const formats::SideFile& side : format->side_files())
            if (side.folder.empty() && ending == std::string(format->name()).append(side.ending)) return true;
    return false;
}

// Takes in one name after another and stops at the first that cannot be part of the same dataset.
class Scan {
  public:
    Scan(storage::Backend& backend, Split split, engine::Reactor* reactor)
        : backend_(backend), reactor_(reactor), folder_(split_folder(split)) {}

    Expected<FolderScan> run();

  private:
    Status list_folder(const std::string& path, std::optional<std::uint64_t> subfolder);
    Status take(const std::string& path, std::string_view name, std::optional<std::uint64_t> subfolder);
    void foreign(const std::string& path, std::string_view name);
    Error gap() const;
    DatasetSection section() const;

    storage::Backend& backend_;
    engine::Reactor* reactor_;
    std::uint64_t seen_ = 0;
    const std::string folder_;
    FolderScan result_;
    std::uint64_t count_in_names_ = 0, found_ = 0, in_root_ = 0;
    std::string first_name_;
};

void Scan::foreign(const std::string& path, std::string_view name) {
    if (!name.empty() && name[0] == '.') return;
    if (++result_.foreign_count <= kNamesShown) result_.foreign.push_back(fmt::format("{}/{}", path, name));
}

Status Scan::take(const std::string& path, std::string_view name, std::optional<std::uint64_t> subfolder) {
    const std::optional<DataFileName> parts = parse_data_file_name(name);
    if (!parts) {
        foreign(path, name);
        return {};
    }
    if (is_side_file(parts->format)) return {};
    const std::string full = fmt::format("{}/{}", path, name);
    if (found_ == 0) {
        result_.prefix = parts->prefix;
        result_.format = parts->format;
        count_in_names_ = parts->count;
        first_name_ = full;
    } else if (parts->prefix != result_.prefix || parts->format != result_.format || parts->count != count_in_names_) {
        return format_error(backend_.display_path(folder_),
                            fmt::format("two datasets side by side: {} and {}", first_name_, full));
    }
    if (subfolder && parts->index % result_.subfolder_count != *subfolder)
        return format_error(backend_.display_path(full),
                            fmt::format("file {} belongs into subfolder {} of {}", parts->index,
                                        parts->index % result_.subfolder_count, result_.subfolder_count));
    ++found_;
    in_root_ += subfolder ? 0 : 1;
    return {};
}

Status Scan::list_folder(const std::string& path, std::optional<std::uint64_t> subfolder) {
    Status status;
    Status listed = backend_.list(path, [&](std::string_view name, bool is_directory) {
        if (reactor_ && ++seen_ % 1024 == 0) reactor_->beat_if_due(); // millions of names take their time
        if (!is_directory)
            status = take(path, name, subfolder);
        else if (subfolder)
            foreign(path, name); // nothing of ours lies deeper
        return status.has_value();
    });
    return status ? listed : status;
}

DatasetSection Scan::section() const {
    DatasetSection section;
    section.file_prefix = result_.prefix;
    section.format = result_.format;
    section.num_files_train = section.num_files_eval = count_in_names_;
    section.num_subfolders_train = section.num_subfolders_eval = result_.subfolder_count;
    return section;
}

Error Scan::gap() const {
    std::string first = "?";
    const Split split = folder_ == split_folder(Split::train) ? Split::train : Split::valid;
    if (Expected<DatasetPlan> plan = DatasetPlan::make(section(), split, DatasetPlan::Sizes::as_found)) {
        for (std::uint64_t i = 0; i < std::min(count_in_names_, kGapSearch); ++i) {
            const Expected<storage::FileStat> found = backend_.stat(plan->name(i));
            if (found || found.error().errno_value != ENOENT) continue;
            first = plan->name(i);
            break;
        }
    }
    return format_error(
        backend_.display_path(folder_),
        fmt::format("{} of {} files are there; the first that is missing: {}", found_, count_in_names_, first));
}

Expected<FolderScan> Scan::run() {
    // Subfolders first: a file's place can be checked only when their count is known.
    std::uint64_t numbered = 0, largest = 0;
    std::size_t width = 0;
    bool same_width = true;
    Status listed = backend_.list(folder_, [&](std::string_view name, bool is_directory) {
        if (!is_directory) return true;
        const std::optional<std::uint64_t> index = number(name);
        if (!index) return foreign(folder_, name), true;
        same_width = same_width && (width == 0 || width == name.size());
        width = name.size();
        largest = std::max(largest, *index);
        ++numbered;
        return true;
    });
    if (!listed) {
        if (listed.error().errno_value == ENOENT) return result_;
        return listed.error();
    }
    if (numbered > 0) {
        const bool complete = same_width && largest == numbered - 1 && width == fmt::format("{}", numbered).size();
        if (numbered < 2 || numbered > 0xffffffffULL || !complete)
            return format_error(
                backend_.display_path(folder_),
                fmt::format("{} numbered subfolders, but not 0 to {} with as many digits as the count has", numbered,
                            numbered - 1));
        result_.subfolder_count = static_cast<std::uint32_t>(numbered);
    }
    if (Status status = list_folder(folder_, {}); !status) return status.error();
    for (std::uint64_t k = 0; k < numbered; ++k)
        if (Status status = list_folder(fmt::format("{}/{:0{}}", folder_, k, width), k); !status) return status.error();

    if (in_root_ > 0 && in_root_ < found_)
        return format_error(backend_.display_path(folder_),
                            "data files both in the folder itself and in its subfolders");
    if (in_root_ > 0) result_.subfolder_count = 0; // empty numbered folders beside flat files
    if (found_ != count_in_names_) return gap();
    result_.file_count = found_;
    return result_;
}

} // namespace

std::optional<DataFileName> parse_data_file_name(std::string_view name) {
    const std::size_t of = name.rfind("_of_");
    if (of == std::string_view::npos) return {};
    const std::string_view head = name.substr(0, of), tail = name.substr(of + 4);
    const std::size_t dot = tail.find('.'), bar = head.rfind('_');
    if (dot == std::string_view::npos || bar == std::string_view::npos || bar == 0 || dot + 1 == tail.size()) return {};
    const std::string_view digits = head.substr(bar + 1), count_digits = tail.substr(0, dot);
    const std::optional<std::uint64_t> index = number(digits), count = number(count_digits);
    if (!index || !count || *index >= *count) return {};
    if (digits.size() != count_digits.size() || count_digits[0] == '0') return {}; // padded to the digits of the count
    return DataFileName{std::string(head.substr(0, bar)), std::string(tail.substr(dot + 1)), *index, *count};
}

Expected<FolderScan> scan_split(storage::Backend& backend, Split split, engine::Reactor* reactor) {
    return Scan(backend, split, reactor).run();
}

} // namespace feedbench::dataset

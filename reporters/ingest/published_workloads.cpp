#include "reporters/ingest/published_workloads.hpp"

#include <array>
#include <cctype>
#include <cmath>

namespace feedbench::ingest {
namespace {

constexpr std::array kWorkloads{
    PublishedWorkload{"unet3d", "a100", 7, 0.636, 146600628, 90},
    PublishedWorkload{"unet3d", "h100", 7, 0.323, 146600628, 90},
    PublishedWorkload{"unet3d", "b200", 7, 0.162, 146600628, 90},
    PublishedWorkload{"resnet50", "a100", 400, 0.435, 114660.07, 90},
    PublishedWorkload{"resnet50", "h100", 400, 0.224, 114660.07, 90},
    PublishedWorkload{"cosmoflow", "a100", 1, 0.00551, 2828486, 70},
    PublishedWorkload{"cosmoflow", "h100", 1, 0.00350, 2828486, 70},
    PublishedWorkload{"retinanet", "b200", 24, 0.04755, 322957, 85},
    PublishedWorkload{"retinanet", "mi355", 32, 0.0634, 322957, 85},
};

struct Alias {
    std::string_view text, model;
};
// Longer names first: the first that fits is taken.
constexpr std::array kModels{
    Alias{"resnet50", "resnet50"},   Alias{"resnet", "resnet50"}, Alias{"unet3d", "unet3d"},
    Alias{"3dunet", "unet3d"},       Alias{"unet", "unet3d"},     Alias{"cosmoflow", "cosmoflow"},
    Alias{"retinanet", "retinanet"}, Alias{"dlrm", "dlrm"},       Alias{"flux", "flux"},
    Alias{"bert", "bert"},
};
constexpr std::array<std::string_view, 5> kAccelerators{"a100", "h100", "b200", "mi355", "v100"};

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}
bool alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Without separators: "ResNet-50" and "3d_unet" are words too.
std::string squeezed(std::string_view text) {
    std::string result;
    for (const char c : lower(text))
        if (alphanumeric(c)) result += c;
    return result;
}

// The letters that follow a number, over at most one separator: "5client", "18-clients", "10acc".
std::string_view unit_after(std::string_view text, std::size_t at) {
    if (at < text.size() && (text[at] == '-' || text[at] == '_' || text[at] == ' ')) ++at;
    std::size_t end = at;
    while (end < text.size() && letter(text[end])) ++end;
    return text.substr(at, end - at);
}

} // namespace

std::span<const PublishedWorkload> published_workloads() { return kWorkloads; }

const PublishedWorkload* find_published(std::string_view model, std::string_view accelerator) {
    for (const PublishedWorkload& one : kWorkloads)
        if (one.model == model && one.accelerator == accelerator) return &one;
    return nullptr;
}

std::string_view model_of_record_length(double bytes) {
    for (const PublishedWorkload& one : kWorkloads)
        if (std::abs(bytes / one.record_length_bytes - 1) < 1e-3) return one.model;
    return {};
}

bool is_published_model(std::string_view model) {
    for (const PublishedWorkload& one : kWorkloads)
        if (one.model == model) return true;
    return false;
}

bool is_accelerator(std::string_view word) {
    for (const std::string_view one : kAccelerators)
        if (one == word) return true;
    return false;
}

std::string model_name(std::string_view text) {
    const std::string word = squeezed(text);
    for (const Alias& alias : kModels)
        if (word == alias.text) return std::string(alias.model);
    return lower(text);
}

std::string accelerator_name(std::string_view text) {
    const NameParts parts = parts_of_name(text);
    return parts.accelerator.empty() ? lower(text) : parts.accelerator;
}

NameParts parts_of_name(std::string_view name) {
    NameParts parts;
    const std::string text = lower(name);
    for (std::size_t at = 0; at < text.size();) {
        if (!alphanumeric(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && alphanumeric(text[end])) ++end;
        const std::string word = text.substr(at, end - at);
        if (is_accelerator(word)) parts.accelerator = word;
        for (const Alias& alias : kModels)
            if (word == alias.text && parts.model.empty()) parts.model = alias.model;
        // A number and its unit: at the start of a word only, so that "nvme_4xNDR400" says nothing.
        if (digit(text[at])) {
            std::size_t stop = at;
            while (stop < end && digit(text[stop])) ++stop;
            if (stop - at <= 6) {
                const auto count = static_cast<unsigned>(std::stoul(text.substr(at, stop - at)));
                const std::string_view unit = unit_after(text, stop);
                if (unit == "host" || unit == "hosts" || unit == "client" || unit == "clients") parts.hosts = count;
                if (unit == "acc" || unit == "accelerator" || unit == "accelerators") parts.accelerator_count = count;
            }
        }
        at = end;
    }
    return parts;
}

std::string_view accelerator_of_figures(std::string_view model, double au_percentage, double samples_per_second,
                                        double accelerator_count) {
    if (!(au_percentage > 0 && samples_per_second > 0 && accelerator_count > 0)) return {};
    std::string_view best;
    double best_distance = std::log(1.25);
    for (const PublishedWorkload& one : kWorkloads) {
        if (one.model != model) continue;
        const double think_s = au_percentage / 100 * accelerator_count * one.batch_size / samples_per_second;
        const double distance = std::abs(std::log(think_s / one.think_time_s));
        if (distance < best_distance) {
            best_distance = distance;
            best = one.accelerator;
        }
    }
    return best;
}

std::string_view accelerator_of_think_time(std::string_view model, double think_time_s) {
    for (const PublishedWorkload& one : kWorkloads)
        if (one.model == model && std::abs(think_time_s / one.think_time_s - 1) < 0.05) return one.accelerator;
    return {};
}

} // namespace feedbench::ingest

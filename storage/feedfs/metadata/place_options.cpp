#include "storage/feedfs/metadata/place_options.hpp"

#include <charconv>

namespace feedbench::feedfs {

const std::string* PlaceOptions::find(std::string_view name) {
    if (!names_.empty()) names_ += ", ";
    names_ += name;
    const std::string* found = nullptr;
    for (std::size_t i = 0; i < place_.options.size(); ++i) {
        if (place_.options[i].first != name) continue;
        taken_[i] = true;
        found = &place_.options[i].second;
    }
    return found;
}

void PlaceOptions::take(std::string_view name, std::uint64_t& value) {
    const std::string* text = find(name);
    if (text == nullptr) return;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (code != std::errc() || end != text->data() + text->size())
        complaint_ = "metadata option " + std::string(name) + ": '" + *text + "' is not a whole number";
}

void PlaceOptions::take(std::string_view name, std::uint32_t& value) {
    std::uint64_t wide = value;
    take(name, wide);
    if (wide > UINT32_MAX) complaint_ = "metadata option " + std::string(name) + ": the number is too large";
    value = static_cast<std::uint32_t>(wide);
}

void PlaceOptions::take(std::string_view name, std::string& value) {
    if (const std::string* text = find(name)) value = *text;
}

Status PlaceOptions::check() const {
    if (!complaint_.empty()) return config_error(complaint_);
    for (std::size_t i = 0; i < taken_.size(); ++i)
        if (!taken_[i])
            return config_error("metadata option '" + place_.options[i].first + "' is unknown to the engine " +
                                place_.engine + "; it knows: " + names_);
    return {};
}

} // namespace feedbench::feedfs

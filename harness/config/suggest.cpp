// "Did you mean": the known key that is nearest to an unknown one.
#include "harness/config/schema.hpp"

#include <algorithm>
#include <vector>

namespace feedbench::config {

namespace {

// Edits from one word to another: insert, remove, replace, swap two neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_previous, previous(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_previous[j - 2] + 1);
        }
        before_previous = previous;
        previous = row;
    }
    return previous[b.size()];
}

// As many slips as one makes in a word of this length; beyond that a suggestion would mislead.
std::size_t slips_allowed(std::string_view word) {
    return word.size() <= 3 ? 1 : std::max<std::size_t>(2, word.size() / 4);
}

std::string_view parent_of(std::string_view name) {
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}
std::string_view leaf_of(std::string_view name) {
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

struct Best {
    std::string name;
    std::size_t distance = static_cast<std::size_t>(-1);
    void offer(std::string_view candidate, std::size_t candidate_distance) {
        if (candidate_distance >= distance) return;
        name = candidate;
        distance = candidate_distance;
    }
};

} // namespace

std::string nearest_of(std::string_view word, const std::vector<std::string>& candidates) {
    Best best;
    for (const auto& candidate : candidates) best.offer(candidate, edit_distance(word, candidate));
    return best.distance <= slips_allowed(word) ? best.name : std::string{};
}

std::string nearest_key(std::string_view unknown) {
    const std::string_view parent = parent_of(unknown), leaf = leaf_of(unknown);
    Best sibling, elsewhere, section;
    for (const Key& key : schema()) {
        const std::string_view key_parent = parent_of(key.name), key_leaf = leaf_of(key.name);
        const std::size_t distance = edit_distance(leaf, key_leaf);
        if (key_parent == parent)
            sibling.offer(key_leaf, distance);
        else
            elsewhere.offer(key.name,
                            distance + edit_distance(parent, key_parent) / 16); // ties go to the nearer section
        // Sections on the way: "trian.epochs" or a section that nobody knows.
        for (std::string_view name = key_parent; !name.empty(); name = parent_of(name))
            if (parent_of(name) == parent) section.offer(leaf_of(name), edit_distance(leaf, leaf_of(name)));
    }
    const std::size_t allowed = slips_allowed(leaf);
    if (section.distance <= allowed && section.distance < sibling.distance) return section.name;
    if (sibling.distance <= allowed && sibling.distance <= elsewhere.distance) return sibling.name;
    if (elsewhere.distance <= allowed && (elsewhere.distance == 0 || sibling.distance > allowed)) return elsewhere.name;
    return sibling.distance <= allowed ? sibling.name : std::string{};
}

} // namespace feedbench::config

#include "storage/feedfs/mount/open_directory.hpp"

namespace feedbench::feedfs::mount {

void OpenDirectory::restart() {
    page_.clear();
    first_ = 0;
    after_.clear();
    complete_ = false;
}

Expected<const DirectoryEntry*> OpenDirectory::entry(std::uint64_t index) {
    if (index < first_) restart();
    while (index - first_ >= page_.size()) {
        if (complete_) return static_cast<const DirectoryEntry*>(nullptr);
        if (Status ok = next_page(); !ok) return ok.error();
    }
    return static_cast<const DirectoryEntry*>(&page_[index - first_]);
}

Status OpenDirectory::next_page() {
    first_ += page_.size();
    page_.clear();
    pending_.clear();
    published_.clear();
    // Pending first: what is published in between is then seen twice, not never.
    door_.pending.list(id_, after_, pending_);
    if (Status ok = door_.files.read_directory(id_, after_, kPageEntries, published_); !ok) return ok;
    complete_ = published_.size() < kPageEntries;
    std::size_t next = 0;
    const auto take_pending_up_to = [&](const std::string* name) {
        while (next < pending_.size() && (!name || pending_[next].name < *name))
            page_.push_back(std::move(pending_[next++]));
    };
    for (DirectoryEntry& one : published_) {
        take_pending_up_to(&one.name);
        if (next < pending_.size() && pending_[next].name == one.name)
            page_.push_back(std::move(pending_[next++]));
        else
            page_.push_back(std::move(one));
    }
    if (complete_) take_pending_up_to(nullptr);
    if (!page_.empty()) after_ = page_.back().name;
    return {};
}

} // namespace feedbench::feedfs::mount

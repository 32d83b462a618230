// Publishing: data to the targets, then one metadata transaction for all writers.
#include <cerrno>
#include <unordered_set>

#include "storage/feedfs/filesystem_parts.hpp"

namespace feedbench::feedfs {

namespace {

constexpr int kRounds = 64; // of others changing the same names meanwhile

void append(ExtentList& to, const ExtentList& from) {
    for (const Extent& extent : from.extents) to.append(extent, from.block_crcs.data() + extent.crc_first);
}

void add(Totals& to, const Totals& from) {
    to.files += from.files;
    to.directories += from.directories;
    to.symlinks += from.symlinks;
    to.payload_bytes += from.payload_bytes;
}

void count(Batch& batch, const ExtentList& added, const ExtentList& gone, const Totals& totals) {
    add_live(batch, added, 1);
    add_live(batch, gone, -1);
    add_totals(batch, totals);
}

} // namespace

// The writer's entry in the place of what is there now. `directory`: whose being there the batch requires already, of
// the one before; most files of a group lie in one.
Status VolumeFileSystem::build_publication(ReadView& view, Publication& publication, Batch& batch, InodeId& directory) {
    const FileWriter& writer = *publication.writer;
    publication.added.clear();
    publication.gone.clear();
    publication.totals = {};
    if (directory != writer.parent()) {
        std::string key = directory_key(writer.parent());
        auto there = view.get(key);
        if (!there) return there.error();
        if (!*there) return entry_error("publish", writer.name(), ENOENT, "its directory is no more");
        batch.require_present(std::move(key));
        directory = writer.parent();
    }

    std::string value;
    Inode old;
    auto found = get_entry(view, publication.key, value, old);
    if (!found) return found.error();
    const bool is_own = *found && old.id == writer.inode();
    if (writer.is_published() && !is_own)
        return entry_error("publish", writer.name(), ESTALE, "the file was renamed, replaced or removed meanwhile");
    if (*found) {
        if (old.type == InodeType::directory)
            return entry_error("publish", writer.name(), EISDIR, "a directory has this name");
        if (writer.exclusive() && !is_own) return entry_error("publish", writer.name(), EEXIST);
        if (auto status = read_extents(view, old, 0, old.size_bytes, publication.gone); !status) return status;
        batch.require_equals(publication.key, value);
        erase_entry(batch, publication.key, old);
        (old.type == InodeType::file ? publication.totals.files : publication.totals.symlinks) -= 1;
        if (old.type == InodeType::file) publication.totals.payload_bytes -= static_cast<std::int64_t>(old.size_bytes);
    } else
        batch.require_absent(publication.key);
    publication.changes_names = !*found || writer.was_renamed(); // else it replaces its old self
    Inode inode = writer.entry();
    publication.added = inode.content;
    publication.totals.files += 1;
    publication.totals.payload_bytes += static_cast<std::int64_t>(inode.size_bytes);
    put_entry(batch, publication.key, std::move(inode));
    return {};
}

// One batch for all, whose counts are summed up: what nearly always does. False: something is in the way of one of
// them.
bool VolumeFileSystem::publish_together(Writing& writing, std::span<Publication> publications, Durability durability,
                                        std::vector<Status>& results) {
    Batch batch;
    ExtentList added, gone;
    Totals totals;
    TouchedDirectories touched;
    const std::int64_t now_ns = options_.now_ns();
    SealedRows sealed;
    {
        std::unordered_set<std::string_view> keys;
        keys.reserve(publications.size());
        InodeId directory = 0;
        auto view = metadata_->read();
        if (!view) return false;
        for (Publication& publication : publications) {
            if (!keys.insert(publication.key).second || !build_publication(**view, publication, batch, directory))
                return false;
            append(added, publication.added);
            append(gone, publication.gone);
            add(totals, publication.totals);
            if (publication.changes_names)
                touched.touch(publication.writer->parent(), publication.writer->named_ns(), now_ns);
        }
        count(batch, added, gone, totals);
        touched.add_to(batch);
        sealed = writing.segments->add_sealed_rows(batch);
        writing.lease->require(batch);
    }
    auto outcome = metadata_->apply(batch, durability);
    if (!outcome) { // no space, no server: the same for everybody
        for (const Publication& publication : publications) results[publication.index] = outcome.error();
        return true;
    }
    if (!outcome->applied()) {
        sealed.refused();
        return false;
    }
    sealed.applied();
    for (const Publication& publication : publications) publication.writer->was_published();
    return true;
}

// A batch each, again for those whose names others changed meanwhile.
void VolumeFileSystem::publish_apart(Writing& writing, std::span<Publication> publications, Durability durability,
                                     std::vector<Status>& results) {
    std::vector<Publication*> waiting;
    for (Publication& publication : publications) waiting.push_back(&publication);
    for (int round = 0; round < kRounds && !waiting.empty(); ++round) {
        std::vector<Batch> batches;
        std::vector<Publication*> asked, again;
        std::unordered_set<std::string_view> keys;
        {
            auto view = metadata_->read();
            if (view)
                if (auto lease = (*view)->get(lease_key(writing.lease->id())); lease && !lease->has_value()) {
                    for (const Publication* publication : waiting) results[publication->index] = writing.lease->lost();
                    return;
                }
            for (Publication* publication : waiting) {
                if (!keys.insert(publication->key).second) { // two of one name: one after the other
                    again.push_back(publication);
                    continue;
                }
                Batch batch;
                InodeId directory = 0; // batches are applied one by one: each requires its own
                Status status = view ? build_publication(**view, *publication, batch, directory) : Status(view.error());
                if (!status) {
                    results[publication->index] = std::move(status);
                    continue;
                }
                count(batch, publication->added, publication->gone, publication->totals);
                if (publication->changes_names) {
                    TouchedDirectories touched;
                    touched.touch(publication->writer->parent(), publication->writer->named_ns(), options_.now_ns());
                    touched.add_to(batch);
                }
                writing.lease->require(batch);
                batches.push_back(std::move(batch));
                asked.push_back(publication);
            }
        }
        auto outcomes = metadata_->apply(batches, durability);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (!outcomes)
                results[asked[i]->index] = outcomes.error();
            else if ((*outcomes)[i].applied())
                asked[i]->writer->was_published();
            else
                again.push_back(asked[i]);
        }
        waiting = std::move(again);
    }
    for (const Publication* publication : waiting)
        results[publication->index] =
            entry_error("publish", publication->writer->name(), EBUSY, "others change this name all the time");
}

Status VolumeFileSystem::flush(Writer& writer) {
    std::vector<PendingRecord> records;
    auto& file = static_cast<FileWriter&>(writer);
    const FileContext& context = file.context();
    if (auto status = context.lease->check(); !status) return status;
    if (auto status = file.prepare(records); !status) return status;
    if (auto status = store_records(context, records); !status) return status;
    if (auto status = context.segments->sync(); !status) return status;
    if (file.is_lost())
        return entry_error("fsync", file.name(), EIO, "its data could not be brought to stable storage");
    return {};
}

std::vector<Status> VolumeFileSystem::publish(std::span<Writer* const> writers, Publish how) {
    std::vector<Status> results(writers.size());
    if (writers.empty()) return results;
    Writing& now = *writing(); // there is a Writer
    std::vector<PendingRecord> records;
    records.reserve(writers.size());
    for (std::size_t i = 0; i < writers.size(); ++i) {
        const std::size_t before = records.size();
        auto* const writer = static_cast<FileWriter*>(writers[i]);
        if (&writer->context() != &now.context)
            results[i] = writer->context().lease->lost();
        else
            results[i] = writer->prepare(records);
        if (!results[i]) records.resize(before);
    }
    Status stored = store_records(now.context, records);
    if (stored) stored = now.segments->sync();
    std::vector<Publication> publications;
    publications.reserve(writers.size());
    for (std::size_t i = 0; i < writers.size(); ++i) {
        auto* const writer = static_cast<FileWriter*>(writers[i]);
        if (results[i] && !stored) results[i] = stored;
        // Its bytes may have been in a segment that failed under another thread's sync.
        if (results[i] && writer->is_lost())
            results[i] = entry_error("publish", writer->name(), EIO, "its data could not be brought to stable storage");
        if (!results[i]) continue;
        publications.emplace_back();
        publications.back().writer = writer;
        publications.back().index = i;
        publications.back().key = entry_key(writer->parent(), writer->name());
    }
    const Durability durability = how == Publish::durable ? Durability::durable : Durability::relaxed;
    if (!publications.empty() && !publish_together(now, publications, durability, results))
        publish_apart(now, publications, durability, results);
    return results;
}

} // namespace feedbench::feedfs

// The table of metadata engines, and who has which place open in this process. The contract is in engine.hpp.
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>

#include "storage/feedfs/metadata/lmdb.hpp"
#include "storage/feedfs/metadata/memory.hpp"
#include "storage/feedfs/metadata/redis.hpp"
#include "storage/feedfs/metadata/schema.hpp"

namespace feedbench::feedfs {

namespace {

using Warn = std::function<void(const std::string&)>;

struct EngineEntry {
    const char* name;
    bool place_is_a_folder;
    Expected<std::unique_ptr<MetadataEngine>> (*open)(const MetadataPlace& place, OpenMode mode, const Warn& warn);
};

Expected<std::unique_ptr<MetadataEngine>> open_memory(const MetadataPlace&, OpenMode, const Warn&) {
    return std::unique_ptr<MetadataEngine>(std::make_unique<MemoryEngine>());
}
Expected<std::unique_ptr<MetadataEngine>> open_lmdb_entry(const MetadataPlace& place, OpenMode mode, const Warn&) {
    return open_lmdb(place, mode);
}

constexpr EngineEntry kEngines[] = {
    {"lmdb", true, open_lmdb_entry},
    {"redis", false, open_redis},
    {"memory", false, open_memory},
};

// A place stays in the table until its engine is wholly closed: LMDB must not be opened twice by one process, for
// closing the one would drop the file locks of the other.
struct OpenPlace {
    std::weak_ptr<MetadataEngine> engine;
    OpenMode mode = OpenMode::read_only;
};
// After a fork the child's copies of engines are of no use to it, and it must not close them either: it opens its own.
struct OpenPlaces {
    pid_t process = getpid();
    std::mutex mutex;
    std::condition_variable closed;
    std::map<std::string, OpenPlace> places;
};
OpenPlaces& open_places() {
    static auto* places = new OpenPlaces; // never destroyed: engines may be closed by other statics
    return *places;
}

std::string identity(const EngineEntry& entry, const MetadataPlace& place) {
    std::string where = place.place;
    if (entry.place_is_a_folder) {
        std::error_code code;
        const auto path = std::filesystem::weakly_canonical(place.place, code);
        if (!code) where = path.string();
    }
    return std::string(entry.name) + " " + where + " " + (entry.place_is_a_folder ? "" : place.volume_id);
}

Error wrong_volume(const MetadataEngine& engine, const std::string& message, int errno_value) {
    return storage_error("open", engine.properties().place, errno_value, message);
}

Status create_volume(MetadataEngine& engine, const std::string& volume_id) {
    Batch batch;
    batch.require_absent(volume_key());
    batch.require_empty(KeyRange{std::string(1, '\0'), {}});
    batch.put(volume_key(), encode(VolumeRecord{kSchemaVersion, volume_id}));
    const std::int64_t root[] = {static_cast<std::int64_t>(kRootInode)};
    batch.put(counter_key(kInodeCounter), encode_counters(root));
    auto outcome = engine.apply(batch, Durability::durable);
    if (!outcome) return std::move(outcome.error());
    if (!outcome->applied()) return wrong_volume(engine, "there is a volume's metadata here already", EEXIST);
    return {};
}

Status check_volume(MetadataEngine& engine, const std::string& volume_id) {
    std::string bytes;
    auto found = engine.get(volume_key(), bytes);
    if (!found) return std::move(found.error());
    if (!*found)
        return wrong_volume(engine,
                            "no volume's record is here, that of volume " + volume_id +
                                " was expected: the metadata is another program's, or the volume's mkfs was killed",
                            ENOENT);
    auto volume = decode_volume(bytes);
    if (!volume) return std::move(volume.error());
    if (volume->schema_version != kSchemaVersion)
        return wrong_volume(engine,
                            "the metadata has schema version " + std::to_string(volume->schema_version) +
                                ", this build knows version " + std::to_string(kSchemaVersion) +
                                ": use the build that made the volume, or a later one",
                            EPROTONOSUPPORT);
    if (volume->volume_id != volume_id)
        return wrong_volume(
            engine, "the metadata belongs to volume " + volume->volume_id + ", volume.yaml says " + volume_id, EINVAL);
    return {};
}

Expected<std::unique_ptr<MetadataEngine>> open_checked(const EngineEntry& entry, const MetadataPlace& place,
                                                       OpenMode mode, const Warn& warn) {
    auto engine = entry.open(place, mode, warn);
    if (!engine) return engine;
    Status checked =
        mode == OpenMode::create ? create_volume(**engine, place.volume_id) : check_volume(**engine, place.volume_id);
    if (!checked) return std::move(checked.error());
    return engine;
}

} // namespace

Expected<std::shared_ptr<MetadataEngine>> open_metadata(const MetadataPlace& place, OpenMode mode, const Warn& warn) {
    const EngineEntry* entry = nullptr;
    std::string names;
    for (const EngineEntry& each : kEngines) {
        if (place.engine == each.name) entry = &each;
        names += std::string(names.empty() ? "" : ", ") + each.name;
    }
    if (entry == nullptr) return config_error("metadata engine '" + place.engine + "' is unknown; there are: " + names);
    const std::string id = identity(*entry, place);
    OpenPlaces& open = open_places();
    std::unique_lock lock(open.mutex);
    if (open.process != getpid()) {
        open.places.clear();
        open.process = getpid();
    }
    for (auto found = open.places.find(id); found != open.places.end(); found = open.places.find(id)) {
        if (auto engine = found->second.engine.lock()) {
            const OpenMode opened_as = found->second.mode;
            lock.unlock(); // ours may become the last reference, and closing takes the mutex
            if (mode == OpenMode::create)
                return storage_error("open", engine->properties().place, EEXIST,
                                     "there is a volume's metadata here already");
            if (mode == OpenMode::read_write && opened_as == OpenMode::read_only)
                return storage_error("open", engine->properties().place, EROFS,
                                     "this process has the metadata open read-only: close it first");
            if (Status checked = check_volume(*engine, place.volume_id); !checked) return std::move(checked.error());
            return engine;
        }
        open.closed.wait(lock); // it is being closed by another thread
    }
    auto opened = open_checked(*entry, place, mode, warn);
    if (!opened) return std::move(opened.error());
    std::shared_ptr<MetadataEngine> engine(opened->release(), [id, process = getpid()](MetadataEngine* last) {
        if (process != getpid()) return;
        delete last;
        OpenPlaces& all = open_places();
        const std::lock_guard guard(all.mutex);
        all.places.erase(id);
        all.closed.notify_all();
    });
    open.places[id] = OpenPlace{engine, mode};
    return engine;
}

} // namespace feedbench::feedfs

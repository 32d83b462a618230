#include "storage/feedfs/metadata/lmdb_transactions.hpp"

namespace feedbench::feedfs {

namespace {

MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view to_view(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

// To the first key of the range; MDB_NOTFOUND: none.
int seek(MDB_cursor* cursor, std::string_view from, std::string_view to) {
    MDB_val key = to_val(from);
    MDB_val value{};
    const int code = mdb_cursor_get(cursor, &key, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    return code == 0 && !to.empty() && to_view(key) >= to ? MDB_NOTFOUND : code;
}

Expected<std::optional<std::string_view>> get_key(const LmdbEnvironment& environment, MDB_txn* transaction,
                                                  std::string_view key) {
    MDB_val wanted = to_val(key);
    MDB_val found{};
    const int code = mdb_get(transaction, environment.table(), &wanted, &found);
    if (code == 0) return std::optional<std::string_view>(to_view(found));
    if (code == MDB_NOTFOUND) return std::optional<std::string_view>();
    return environment.error("read", code);
}

} // namespace

LmdbView::~LmdbView() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
}

Status LmdbView::begin() {
    if (transaction_ != nullptr) return environment_.renew(transaction_);
    auto begun = environment_.begin(MDB_RDONLY);
    if (!begun) return std::move(begun.error());
    transaction_ = *begun;
    return {};
}

Expected<std::optional<std::string_view>> LmdbView::get(std::string_view key) {
    return get_key(environment_, transaction_, key);
}

Status LmdbView::get_many(std::span<const std::string> keys, const GetVisitor& visit) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto found = get(keys[i]);
        if (!found) return std::move(found.error());
        visit(i, *found);
    }
    return {};
}

Expected<ScanEnd> LmdbView::scan(const KeyRange& range, std::size_t limit, const ScanVisitor& visit) {
    int code = cursor_ == nullptr ? mdb_cursor_open(transaction_, environment_.table(), &cursor_)
                                  : mdb_cursor_renew(transaction_, cursor_);
    if (code != 0) return environment_.error("read", code);
    MDB_val key = to_val(range.from);
    MDB_val value{};
    code = mdb_cursor_get(cursor_, &key, &value, range.from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    bool more = limit > 0;
    while (code == 0 && (range.to.empty() || to_view(key) < range.to)) {
        if (!more) return ScanEnd{false, std::string(to_view(key))};
        more = visit(to_view(key), to_view(value)) && --limit > 0;
        code = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);
    }
    if (code != 0 && code != MDB_NOTFOUND) return environment_.error("read", code);
    return ScanEnd{true, {}};
}

void LmdbView::give_back() {
    mdb_txn_reset(transaction_);
    environment_.leave();
    views_.keep(this);
}

Expected<ReadHandle> LmdbViews::take() {
    std::unique_ptr<LmdbView> view;
    {
        const std::lock_guard lock(mutex_);
        if (!resting_.empty()) {
            view = std::move(resting_.back());
            resting_.pop_back();
        }
    }
    if (!view) view = std::make_unique<LmdbView>(*this, environment_);
    if (Status begun = view->begin(); !begun) return std::move(begun.error());
    return ReadHandle(view.release());
}

void LmdbViews::keep(LmdbView* view) {
    const std::lock_guard lock(mutex_);
    resting_.emplace_back(view);
}

Expected<std::optional<std::string_view>> LmdbWriter::get(std::string_view key) {
    return get_key(environment_, transaction_, key);
}

Status LmdbWriter::put(std::string_view key, std::string_view value) {
    MDB_val k = to_val(key);
    MDB_val v = to_val(value);
    return checked(mdb_put(transaction_, environment_.table(), &k, &v, 0));
}

Status LmdbWriter::erase(std::string_view key) {
    MDB_val k = to_val(key);
    const int code = mdb_del(transaction_, environment_.table(), &k, nullptr);
    return checked(code == MDB_NOTFOUND ? 0 : code);
}

Status LmdbWriter::erase_range(std::string_view from, std::string_view to) {
    MDB_cursor* cursor = nullptr;
    int code = mdb_cursor_open(transaction_, environment_.table(), &cursor);
    if (code != 0) return checked(code);
    while ((code = seek(cursor, from, to)) == 0 && (code = mdb_cursor_del(cursor, 0)) == 0) {
    }
    mdb_cursor_close(cursor);
    return checked(code == MDB_NOTFOUND ? 0 : code);
}

Expected<bool> LmdbWriter::is_empty(std::string_view from, std::string_view to) {
    MDB_cursor* cursor = nullptr;
    int code = mdb_cursor_open(transaction_, environment_.table(), &cursor);
    if (code == 0) {
        code = seek(cursor, from, to);
        mdb_cursor_close(cursor);
    }
    if (code == MDB_NOTFOUND) return true;
    if (Status read = checked(code); !read) return std::move(read.error());
    return false;
}

Status LmdbWriter::checked(int code) {
    if (code == 0) return {};
    code_ = code;
    return environment_.error("write", code);
}

} // namespace feedbench::feedfs

// Reads the columns that are wanted of a parquet file, a row group at a time.
//
// Thread: one user at a time; LayoutShelf: any. Owner: the loader. Units: bytes. Errors: format_error with the offset.
// Source: Apache Arrow's C++ reader, which is what pyarrow and tensorflow-io read with: the file's last 64 KiB, the
// rest of a longer footer, then of each row group the column chunks, ranges with a gap of at most 8 KiB in one piece.
//
// A row costs its row group, the first time one of its rows is asked for; other rows of the last kGroupsAtHand row
// groups cost nothing (the reference keeps as many). A byte that the file's last 64 KiB already gave is not read again.
#pragma once

#include <mutex>

#include "formats/format.hpp"
#include "formats/parquet_layout.hpp"

namespace feedbench::formats::parquet {

inline constexpr std::uint64_t kTailBytes = 64 << 10, kGapBytes = 8 << 10;
inline constexpr std::size_t kGroupsAtHand = 4;

// The layout that was read last: files of one dataset are alike, so that a thousand open ones hold one layout.
class LayoutShelf {
  public:
    std::shared_ptr<const FileLayout> share(FileLayout&& layout);

  private:
    std::mutex mutex_;
    std::shared_ptr<const FileLayout> last_;
};

// `known`: the layout, where there is no content to read it from; else nullptr.
std::unique_ptr<SampleReader> make_row_reader(const ReadRequest& request, std::shared_ptr<const FileLayout> known,
                                              LayoutShelf& shelf);
std::unique_ptr<StreamReader> make_row_stream(const ReadRequest& request, std::shared_ptr<const FileLayout> known,
                                              LayoutShelf& shelf);

} // namespace feedbench::formats::parquet

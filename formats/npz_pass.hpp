// The array of an npz that passes by in file order: local headers are read, x.npy is checked (and inflated where
// somebody looks), other members are stepped over, the directory is compared with what passed.
//
// Thread: any; one user an object. Owner: the reader; the request outlives it. Units: bytes.
// Errors: format_error naming the offset, found and expected.
// Source: zip_records.hpp, npy_header.hpp.
#pragma once

#include <memory>

#include "formats/inflate.hpp"
#include "formats/npy_pass.hpp"
#include "formats/zip_records.hpp"

namespace feedbench::formats {

inline constexpr std::string_view kArrayMember = "x.npy",
                                  kLabelMember = "y.npy"; // the reference reader takes 'x', never 'y'

class NpzPass {
  public:
    // Starts at the local header that lies at `offset`.
    NpzPass(const ReadRequest& request, std::uint64_t offset) : request_(request), position_(offset) {}
    Status feed(std::span<const std::byte> bytes);
    bool is_array_complete() const { return is_array_complete_; }
    // Where x.npy has been seen: what its local header says.
    const std::optional<ZipMember>& array_member() const { return array_member_; }
    Status check_against(const ZipMember& directory_entry) const;
    // After the file's last byte, where everything from the first header on was fed.
    Status finish_file();
    std::uint64_t position() const { return position_; }

  private:
    enum class State : std::uint8_t { header, array, skip, directory };
    Status begin_member(ZipLocalHeader header);
    Status feed_array(std::span<const std::byte> data);
    Status finish_array();

    const ReadRequest& request_;
    std::uint64_t position_; // in the file, of the next byte
    State state_ = State::header;
    std::vector<std::byte> collected_; // a local header or the directory
    std::uint64_t member_remaining_ = 0;
    std::optional<ZipMember> array_member_;
    std::optional<NpyPass> array_;
    std::optional<Inflater> inflater_;
    bool is_array_complete_ = false;
};

} // namespace feedbench::formats

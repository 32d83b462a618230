#include "formats/jpeg_encode.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

namespace feedbench::formats {

namespace {

constexpr std::size_t kFirstFileBytes = 64 * 1024;

// The library ends the process on an error unless it is led away by a jump; nothing with a destructor is made between
// the jump's start and the calls that may take it.
struct JpegErrors {
    jpeg_error_mgr manager;
    std::jmp_buf way_out;
    char message[JMSG_LENGTH_MAX];
};

void leave(j_common_ptr common) {
    auto* errors = reinterpret_cast<JpegErrors*>(common->err); // its first member
    common->err->format_message(common, errors->message);
    std::longjmp(errors->way_out, 1);
}

struct Encoding {
    jpeg_compress_struct library{};
    JpegErrors errors{};
    jpeg_destination_mgr destination{};
    std::vector<std::byte> bytes; // of the file; the library fills it from behind what it has filled
    Encoding() { library.err = jpeg_std_error(&errors.manager), errors.manager.error_exit = leave; }
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;
    ~Encoding() { jpeg_destroy_compress(&library); }
};

// The library's own destination in memory leaves a pointer to freed memory behind where an error comes between two of
// its buffers: the bytes are kept here.
void grow_file(j_compress_ptr library, std::size_t filled) {
    auto& e = *static_cast<Encoding*>(library->client_data);
    bool has_grown = true;
    try {
        e.bytes.resize(std::max(kFirstFileBytes, 2 * filled));
    } catch (const std::bad_alloc&) {
        has_grown = false; // no jump out of a handler
    }
    if (!has_grown) ERREXIT1(library, JERR_OUT_OF_MEMORY, 0);
    e.destination.next_output_byte = reinterpret_cast<JOCTET*>(e.bytes.data() + filled);
    e.destination.free_in_buffer = e.bytes.size() - filled;
}

void begin_file(j_compress_ptr library) { grow_file(library, 0); }

boolean continue_file(j_compress_ptr library) { // the buffer is full
    grow_file(library, static_cast<Encoding*>(library->client_data)->bytes.size());
    return TRUE;
}

void end_file(j_compress_ptr library) {
    auto& e = *static_cast<Encoding*>(library->client_data);
    e.bytes.resize(e.bytes.size() - e.destination.free_in_buffer);
}

bool begin_image(Encoding& e, JpegImage image) {
    if (setjmp(e.errors.way_out) != 0) return false;
    jpeg_create_compress(&e.library);
    e.library.client_data = &e;
    e.library.dest = &e.destination;
    e.destination.init_destination = begin_file;
    e.destination.empty_output_buffer = continue_file;
    e.destination.term_destination = end_file;
    e.library.image_height = image.height;
    e.library.image_width = image.width;
    e.library.input_components = 1;
    e.library.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&e.library);
    jpeg_start_compress(&e.library, TRUE);
    return true;
}

bool add_row(Encoding& e, unsigned char* row) {
    if (setjmp(e.errors.way_out) != 0) return false;
    return jpeg_write_scanlines(&e.library, &row, 1) == 1;
}

bool end_image(Encoding& e) {
    if (setjmp(e.errors.way_out) != 0) return false;
    jpeg_finish_compress(&e.library);
    return true;
}

} // namespace

Expected<std::vector<std::byte>> encode_jpeg(JpegImage image, const ContentSource& content) {
    const auto encoding = std::make_unique<Encoding>();
    bool is_good = begin_image(*encoding, image);
    std::vector<std::byte> row(image.width);
    for (std::uint64_t y = 0; is_good && y < image.height; ++y) {
        content(y * image.width, row);
        is_good = add_row(*encoding, reinterpret_cast<unsigned char*>(row.data()));
    }
    if (!is_good || !end_image(*encoding))
        return config_error(std::string("jpeg file: libjpeg says ") + encoding->errors.message);
    return std::move(encoding->bytes);
}

} // namespace feedbench::formats

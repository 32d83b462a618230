#include "formats/jpeg_encode.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace feedbench::formats {

namespace {

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
    unsigned char* bytes = nullptr; // grows; the library takes it from malloc
    unsigned long size = 0;
    Encoding() { library.err = jpeg_std_error(&errors.manager), errors.manager.error_exit = leave; }
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;
    ~Encoding() {
        jpeg_destroy_compress(&library);
        std::free(bytes);
    }
};

bool begin_image(Encoding& e, JpegImage image) {
    if (setjmp(e.errors.way_out) != 0) return false;
    jpeg_create_compress(&e.library);
    jpeg_mem_dest(&e.library, &e.bytes, &e.size);
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
    const auto* bytes = reinterpret_cast<const std::byte*>(encoding->bytes);
    return std::vector<std::byte>(bytes, bytes + encoding->size);
}

} // namespace feedbench::formats

#include "storage/s3/xml.hpp"

#if FEEDBENCH_HAS_CURL
#include <expat.h>

#include <memory>

namespace feedbench::storage::s3 {

namespace {

struct Walk {
    const std::function<void(std::string_view, std::string_view)>& each;
    std::string path, text;
    bool is_leaf = false;

    static void begin(void* self, const XML_Char* name, const XML_Char**) {
        auto& walk = *static_cast<Walk*>(self);
        walk.path += (walk.path.empty() ? "" : "/") + std::string(name);
        walk.text.clear();
        walk.is_leaf = true;
    }
    static void end(void* self, const XML_Char*) {
        auto& walk = *static_cast<Walk*>(self);
        walk.each(walk.path, walk.is_leaf ? std::string_view(walk.text) : std::string_view());
        walk.is_leaf = false;
        const std::size_t slash = walk.path.rfind('/');
        walk.path.resize(slash == std::string::npos ? 0 : slash);
    }
    static void characters(void* self, const XML_Char* text, int length) {
        static_cast<Walk*>(self)->text.append(text, static_cast<std::size_t>(length));
    }
};

} // namespace

bool for_each_element(std::string_view xml, const std::function<void(std::string_view, std::string_view)>& each) {
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate("UTF-8"),
                                                                              XML_ParserFree);
    if (!parser) return false;
    Walk walk{each, {}, {}, false};
    XML_SetUserData(parser.get(), &walk);
    XML_SetElementHandler(parser.get(), Walk::begin, Walk::end);
    XML_SetCharacterDataHandler(parser.get(), Walk::characters);
    return XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
}

std::string first_text(std::string_view xml, std::string_view name) {
    std::string found;
    bool has_found = false;
    for_each_element(xml, [&](std::string_view path, std::string_view text) {
        const std::size_t slash = path.rfind('/');
        if (has_found || path.substr(slash == std::string_view::npos ? 0 : slash + 1) != name) return;
        found = std::string(text);
        has_found = true;
    });
    return found;
}

} // namespace feedbench::storage::s3
#endif

#include "storage/s3/listing.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "storage/s3/address.hpp"
#include "storage/s3/xml.hpp"

namespace feedbench::storage::s3 {

namespace {

// encoding-type=url is a form's encoding: '+' is a blank.
std::string form_decode(std::string text) {
    std::replace(text.begin(), text.end(), '+', ' ');
    return decode(text);
}

// What all listings share.
struct ListingHead {
    bool is_encoded = false, has_more = false;
};

// visit(path below the root element, text) for all else.
template <class Visit>
Expected<ListingHead> read_listing(const std::string& xml, std::string_view root, const Visit& visit) {
    ListingHead head;
    bool is_listing = false;
    const bool is_xml = for_each_element(xml, [&](std::string_view path, std::string_view text) {
        if (!path.starts_with(root)) return;
        path.remove_prefix(root.size());
        is_listing |= path.empty();
        if (path == "/EncodingType")
            head.is_encoded = text == "url";
        else if (path == "/IsTruncated")
            head.has_more = text == "true";
        else
            visit(path, text);
    });
    if (!is_xml || !is_listing)
        return storage_error("list", "", EPROTO, "the answer is no listing: " + xml.substr(0, 200));
    return head;
}

} // namespace

Request list_request(const ListRequest& asked, const std::string& continuation) {
    Request request;
    request.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", std::to_string(asked.page_size)}};
    if (!asked.prefix.empty()) request.query.emplace_back("prefix", asked.prefix);
    if (asked.folders) request.query.emplace_back("delimiter", "/");
    if (!continuation.empty())
        request.query.emplace_back("continuation-token", continuation);
    else if (!asked.start_after.empty())
        request.query.emplace_back("start-after", asked.start_after);
    return request;
}

Expected<ListPage> parse_list_page(const std::string& xml) {
    ListPage page;
    ListEntry entry;
    const auto head = read_listing(xml, "ListBucketResult", [&](std::string_view path, std::string_view text) {
        if (path == "/NextContinuationToken")
            page.next = std::string(text);
        else if (path == "/Contents/Key" || path == "/CommonPrefixes/Prefix")
            entry.key = std::string(text);
        else if (path == "/Contents/Size")
            std::from_chars(text.data(), text.data() + text.size(), entry.object.size_bytes);
        else if (path == "/Contents/ETag")
            entry.object.etag = std::string(text);
        else if (path == "/Contents" || path == "/CommonPrefixes") {
            entry.is_prefix = path != "/Contents";
            page.entries.push_back(std::move(entry));
            entry = {};
        }
    });
    if (!head) return head.error();
    page.has_more = head->has_more;
    if (page.has_more && page.next.empty())
        return storage_error("list", "", EPROTO, "the listing says that there is more, and not where to go on");
    if (head->is_encoded)
        for (ListEntry& each : page.entries) each.key = form_decode(std::move(each.key));
    std::sort(page.entries.begin(), page.entries.end(),
              [](const ListEntry& a, const ListEntry& b) { return a.key < b.key; });
    return page;
}

Request uploads_request(const std::string& prefix, const UploadPage& before) {
    Request request;
    request.query = {{"uploads", ""}, {"encoding-type", "url"}};
    if (!prefix.empty()) request.query.emplace_back("prefix", prefix);
    if (!before.next_key.empty()) request.query.emplace_back("key-marker", before.next_key);
    if (!before.next_id.empty()) request.query.emplace_back("upload-id-marker", before.next_id);
    return request;
}

Expected<UploadPage> parse_upload_page(const std::string& xml) {
    UploadPage page;
    Upload upload;
    const auto head =
        read_listing(xml, "ListMultipartUploadsResult", [&](std::string_view path, std::string_view text) {
            if (path == "/NextKeyMarker")
                page.next_key = std::string(text);
            else if (path == "/NextUploadIdMarker")
                page.next_id = std::string(text);
            else if (path == "/Upload/Key")
                upload.key = std::string(text);
            else if (path == "/Upload/UploadId")
                upload.id = std::string(text);
            else if (path == "/Upload") {
                page.uploads.push_back(std::move(upload));
                upload = {};
            }
        });
    if (!head) return head.error();
    if (head->is_encoded) {
        for (Upload& each : page.uploads) each.key = form_decode(std::move(each.key));
        page.next_key = form_decode(std::move(page.next_key));
    }
    page.has_more = head->has_more && !page.next_key.empty();
    return page;
}

} // namespace feedbench::storage::s3

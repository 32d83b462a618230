// The namespace half of what every backend promises (storage/backend.hpp), over every line of the table of backends.
#include "tests/support/backend_variants.hpp"

namespace {

using namespace feedbench;
using namespace feedbench::test;

TEST_CASE("backends: what the table says of itself") {
    for_each_backend([](Rig& rig, const std::string& folder) {
        const storage::Capabilities& c = rig.backend->capabilities();
        CHECK_FALSE(c.name.empty());
        CHECK_FALSE(rig.backend->display_path("x/y.npz").empty());
        const auto facts = rig.backend->facts("");
        REQUIRE(facts);
        CHECK_FALSE(facts->type.empty());
        CHECK(facts->free_bytes > 0);
        if (!c.has_content) return;
        CHECK(rig.backend->display_path("x/y.npz").ends_with("/x/y.npz"));
        CHECK(rig.backend->display_path("x/y.npz").find(folder) != std::string::npos);
    });
    for (const storage::BackendEntry& entry : storage::backends()) {
        CHECK_FALSE(entry.help.empty());
        for (const Option& option : entry.options) {
            INFO(option.key);
            CHECK_FALSE(option.help.empty());
        }
    }
}

TEST_CASE("backends: the namespace, or a clear 'not offered'") {
    for_each_backend([](Rig& rig, const std::string&) {
        storage::Backend& b = *rig.backend;
        const std::string text = "twelve bytes";
        const auto bytes = std::as_bytes(std::span(text));
        if (!b.capabilities().has_content) {
            const auto content = b.read_file("n/a.txt", 100);
            REQUIRE_FALSE(content);
            CHECK(content.error().errno_value == EOPNOTSUPP);
            CHECK(content.error().message.find(b.capabilities().name) != std::string::npos);
            CHECK_FALSE(b.stat("n/a.txt"));
            CHECK_FALSE(b.list("", [](std::string_view, bool) { return true; }));
            CHECK_FALSE(b.remove("n/a.txt"));
            return;
        }
        REQUIRE(b.make_directories("n/m"));
        REQUIRE(b.make_directories("n/m")); // twice is fine
        REQUIRE(b.write_file("n/a.txt", bytes));
        REQUIRE(b.write_file("n/a.txt", bytes)); // replaces
        const auto whole = b.read_file("n/a.txt", 12);
        REQUIRE(whole);
        CHECK(*whole == text);
        const auto too_large = b.read_file("n/a.txt", 11);
        REQUIRE_FALSE(too_large);
        CHECK(too_large.error().errno_value == EFBIG);
        const auto file = b.stat("n/a.txt"), folder = b.stat("n");
        REQUIRE(file);
        REQUIRE(folder);
        CHECK(file->size_bytes == 12);
        CHECK_FALSE(file->is_directory);
        CHECK(folder->is_directory);
        std::vector<std::string> names;
        REQUIRE(b.list("n", [&](std::string_view name, bool is_directory) {
            names.push_back(std::string(name) + (is_directory ? "/" : ""));
            return true;
        }));
        std::sort(names.begin(), names.end());
        CHECK(names == std::vector<std::string>{"a.txt", "m/"});
        int asked = 0;
        REQUIRE(b.list("n", [&](std::string_view, bool) { return ++asked < 1; }));
        CHECK(asked == 1);
        CHECK_FALSE(b.make_directories("n/a.txt/below"));
        CHECK_FALSE(b.remove("n")); // not empty
        REQUIRE(b.remove("n/a.txt"));
        REQUIRE(b.remove("n/m"));
        REQUIRE(b.remove("n"));
        const auto gone = b.stat("n");
        REQUIRE_FALSE(gone);
        CHECK(gone.error().errno_value == ENOENT);
    });
}

} // namespace

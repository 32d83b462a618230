// What this build says where libcurl or expat was not there when it was made.
#if !FEEDBENCH_HAS_CURL
#include "storage/s3/client.hpp"
#include "storage/s3/engine.hpp"
#include "storage/s3/xml.hpp"

namespace feedbench::storage::s3 {

std::string Client::unavailable() {
    return "this feedbench was built without libcurl and expat, which s3: needs: install libcurl4-openssl-dev and "
           "libexpat1-dev and build again (FEEDBENCH_WITH_S3)";
}
Expected<std::unique_ptr<Client>> Client::make(Config, std::string) { return config_error(unavailable()); }
Expected<std::unique_ptr<Engine>> Engine::make(engine::Reactor&, const Config&, std::string) {
    return config_error(Client::unavailable());
}
bool for_each_element(std::string_view, const std::function<void(std::string_view, std::string_view)>&) {
    return false;
}
std::string first_text(std::string_view, std::string_view) { return {}; }

} // namespace feedbench::storage::s3
#endif

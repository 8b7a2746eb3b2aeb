// Directories of kind etcd:// pass the suite of writable directories.
#include "../directory_conformance.hpp"
#include "../etcd_server.hpp"

#include <memory>

namespace troupe::tests {

namespace {

/// Each place is another prefix of one etcd.
class etcd_place final : public directory_place {
public:
  etcd_place() : prefix_("place-" + std::to_string(++places)) {}

  [[nodiscard]] std::string address() const override { return server_->address(prefix_); }

private:
  static inline int places = 0;
  // The etcd of the first place serves all that are made while it lives.
  static inline std::weak_ptr<etcd_server> server;

  [[nodiscard]] static std::shared_ptr<etcd_server> shared_server() {
    auto shared = server.lock();
    if (!shared)
      server = shared = std::make_shared<etcd_server>();
    return shared;
  }

  std::shared_ptr<etcd_server> server_ = shared_server();
  std::string prefix_;
};

INSTANTIATE_TEST_SUITE_P(etcd, writable_directory,
                         ::testing::Values(directory_maker{.name = "etcd",
                                                           .make = [] { return std::make_unique<etcd_place>(); },
                                                           .short_lease = std::chrono::milliseconds{1'000}}),
                         name_of_maker);

} // namespace

} // namespace troupe::tests

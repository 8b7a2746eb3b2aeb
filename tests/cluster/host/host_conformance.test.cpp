// Directories of kind host:// pass the suite of writable directories.
#include "../directory_conformance.hpp"
#include "temporary_state.hpp"

namespace troupe::tests {

namespace {

/// Each place is another name in one folder, so that a test may have several.
class host_place final : public directory_place {
public:
  host_place() : name_("place-" + std::to_string(++places)) {}

  [[nodiscard]] std::string address() const override { return "host://" + name_; }

private:
  static inline int places = 0;
  // The folder of the first place serves all that are made while it lives.
  static inline std::weak_ptr<temporary_state> folder;

  [[nodiscard]] static std::shared_ptr<temporary_state> shared_folder() {
    auto shared = folder.lock();
    if (!shared)
      folder = shared = std::make_shared<temporary_state>();
    return shared;
  }

  std::shared_ptr<temporary_state> state_ = shared_folder();
  std::string name_;
};

INSTANTIATE_TEST_SUITE_P(host, writable_directory,
                         ::testing::Values(directory_maker{.name = "host",
                                                           .make = [] { return std::make_unique<host_place>(); },
                                                           .short_lease = std::chrono::milliseconds{300}}),
                         name_of_maker);

} // namespace

} // namespace troupe::tests

#include "certificates.hpp"

#include <troupe/certificates/certificates.hpp>

#include <atomic>
#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using namespace std::chrono_literals;

certificates::files paths_of(const certificate_files& files) {
  return {.certificate = files.certificate, .key = files.key};
}

void must(const std::expected<void, std::string>& done) {
  if (!done)
    throw std::runtime_error(done.error());
}

} // namespace

certificate_folder::certificate_folder() {
  static std::atomic<int> counter{0};
  folder_ = testing::TempDir() + "troupe-certificates-" + std::to_string(::getpid()) + '-' + std::to_string(counter++);
  std::filesystem::create_directory(folder_);
}

certificate_folder::~certificate_folder() {
  std::filesystem::remove_all(folder_);
}

certificate_files certificate_folder::authority(const std::string& name) {
  certificate_files result{folder_ + '/' + name + ".pem", folder_ + '/' + name + ".key"};
  must(
      certificates::make_self_signed(paths_of(result), {.name = name, .is_authority = true, .since = 2h, .until = 1h}));
  return result;
}

certificate_files certificate_folder::issue(const certificate_files& authority, const std::string& name,
                                            const std::string& names, std::chrono::seconds good_until) {
  certificate_files result{folder_ + '/' + name + ".pem", folder_ + '/' + name + ".key"};
  must(certificates::make_signed_by(paths_of(authority), paths_of(result),
                                    {.name = name, .names = names, .since = 2h, .until = good_until}));
  return result;
}

} // namespace troupe::tests

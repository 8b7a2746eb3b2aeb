#include "view/one_token.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

/// 40 letters and digits of 64: 240 bits.
std::string random_token() {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 40> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error{errno, std::system_category(), "getrandom"};
  std::string made;
  for (const auto each : bytes)
    made += alphabet[each % alphabet.size()];
  return made;
}

} // namespace

one_token::one_token(std::string_view rights)
    : token_(random_token()), file_(::memfd_create("troupe-view-token", MFD_CLOEXEC)) {
  const auto line = "view " + token_ + ' ' + std::string(rights) + '\n';
  if (file_ < 0 || ::fchmod(file_, S_IRUSR | S_IWUSR) != 0
      || ::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    const auto failure = errno;
    if (file_ >= 0)
      ::close(file_);
    throw std::system_error{failure, std::system_category(), "memfd_create"};
  }
}

one_token::~one_token() {
  ::close(file_);
}

std::string one_token::file() const {
  return "/proc/self/fd/" + std::to_string(file_);
}

} // namespace troupe::tools

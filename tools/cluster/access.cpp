#include "cluster/access.hpp"

#include "arguments.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

constexpr std::size_t password_bytes_max = 4'096;

std::unexpected<directory_error> unusable(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

/// The content of a file that no other user can read, without newlines at its end.
std::expected<std::string, directory_error> read_password(const std::string& path) {
  const auto file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return unusable(path + " cannot be opened: " + std::system_category().message(errno));
  struct stat about {};
  std::array<char, password_bytes_max + 1> bytes{};
  const auto is_known = ::fstat(file, &about) == 0;
  const auto size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  if (!is_known || size < 0)
    return unusable(path + " cannot be read");
  if ((about.st_mode & 077) != 0 || (about.st_uid != ::geteuid() && about.st_uid != 0))
    return unusable("other users can read or change " + path + ": run chmod 600 " + path);
  std::string password{bytes.data(), static_cast<std::size_t>(size)};
  bytes.fill(0);
  while (!password.empty() && (password.back() == '\n' || password.back() == '\r'))
    password.pop_back();
  if (password.empty() || password.size() > password_bytes_max)
    return unusable(path + " has no password of 1 to 4,096 bytes");
  return password;
}

} // namespace

void add_directory_access(CLI::App& command, directory_access& by) {
  command
      .add_option("--directory", by.address,
                  "Address of the directory, such as etcd://10.0.0.5:2379/shop or host://shop; default: "
                  "$TROUPE_DIRECTORY")
      ->envname("TROUPE_DIRECTORY")
      ->option_text("ADDRESS");
  command.add_option("--timeout", by.timeout_seconds, "Seconds for each answer of the directory, and of a member")
      ->check(is_within(0.001, 3600.0))
      ->capture_default_str();
  command.add_option("--user", by.options.user, "User of an etcd");
  const auto add_file = [&](const char* name, std::string& path, const char* what) {
    command.add_option(name, path, what)->check(CLI::ExistingFile)->option_text("FILE");
  };
  add_file("--password-file", by.password_file, "The file with the user's password, closed to others");
  add_file("--ca", by.options.ca_file, "The authority that signed the certificates of an etcd (PEM)");
  add_file("--certificate", by.options.certificate_file,
           "The certificate of this client, if an etcd asks for one (PEM)");
  add_file("--key", by.options.key_file, "The key of that certificate (PEM)");
  command.add_option("--name-servers", by.options.name_servers, "Name servers for dns://, as in 127.0.0.1:8600");
}

std::expected<std::shared_ptr<directory>, directory_error> open_directory_by(const directory_access& by) {
  if (by.address.empty())
    return std::unexpected{directory_error{
        directory_errc::bad_address,
        "there is no address of a directory: set --directory or TROUPE_DIRECTORY, for example to host://shop"}};
  auto options = by.options;
  options.timeout = by.timeout();
  options.may_make = false; // A mistyped name would look like a healthy cluster without members.
  if (!by.password_file.empty()) {
    auto password = read_password(by.password_file);
    if (!password)
      return std::unexpected{std::move(password).error()};
    options.password = *std::move(password);
  }
  return open_directory(by.address, options);
}

std::expected<cluster_observer, directory_error> observe(const directory_access& by,
                                                         cluster_observer::event_handler on_event) {
  auto opened = open_directory_by(by);
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  return cluster_observer::open(*std::move(opened), by.timeout(), std::move(on_event));
}

void cluster_answer::fail(const std::string& why, int with) const {
  err << printable("troupe: " + why) << '\n';
  status = with;
}

void cluster_answer::fail(const directory_access& by, const directory_error& why) const {
  fail((by.address.empty() ? std::string{} : "the directory cannot be asked: ") + why.message(), 2);
}

} // namespace troupe::tools

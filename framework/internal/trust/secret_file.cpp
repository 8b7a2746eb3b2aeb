#include <troupe/framework/internal/trust/secret_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t cookie_digits = 64;

/// Owns a descriptor.
class open_file {
public:
  open_file(const std::string& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode)) {} // Opening a pipe must not block.
  ~open_file() {
    if (number_ >= 0)
      ::close(number_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }

private:
  int number_;
};

/// Checks that the file is suitable for a secret. Fails with `bad_option` and the reason.
std::expected<void, node_error> check_owner_and_mode(const open_file& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    return bad_option("\"" + path + "\" is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return bad_option("\"" + path + "\" belongs to user " + std::to_string(status.st_uid)
                      + ", this process runs as user " + std::to_string(::geteuid())
                      + "; a secret must be a file of its own user");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return bad_option(
        "\"" + path
        + "\" can be read or written by other users, which a secret does not allow; to use it, run: chmod 600 " + path);
  if (static_cast<std::size_t>(status.st_size) > secret_bytes_max)
    return bad_option("\"" + path + "\" has " + grouped(static_cast<std::uint64_t>(status.st_size))
                      + " bytes, a secret at most 4,096");
  return {};
}

std::expected<std::string, node_error> read_private(const std::string& path) {
  open_file file{path, O_RDONLY};
  if (!file.is_open())
    return bad_option("\"" + path + "\" cannot be read: " + std::strerror(errno));
  if (auto good = check_owner_and_mode(file, path); !good)
    return std::unexpected{good.error()};
  std::array<char, secret_bytes_max> bytes;
  auto count = ::read(file.number(), bytes.data(), bytes.size());
  if (count < 0)
    return bad_option("\"" + path + "\" cannot be read: " + std::strerror(errno));
  std::string text{bytes.data(), static_cast<std::size_t>(count)};
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.pop_back();
  return text;
}

/// Writes a new cookie beside `path` and links it into place, so that no process reads a partial one. If another
/// process was faster, its cookie stays.
std::expected<void, node_error> make_cookie(const std::string& path) {
  std::error_code error;
  auto folder = std::filesystem::path{path}.parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (!error)
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
    if (error)
      return bad_option("the folder of the cookie file \"" + path + "\" cannot be made: " + error.message());
  }
  auto random = hex(random_digest());
  auto temporary = path + '.' + random.substr(0, 16);
  auto text = hex(random_digest()) + '\n';
  std::string reason;
  {
    open_file file{temporary, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR};
    if (!file.is_open() || ::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())
        || ::fsync(file.number()) != 0)
      reason = std::strerror(errno);
  }
  if (reason.empty() && ::link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST)
    reason = std::strerror(errno);
  ::unlink(temporary.c_str());
  if (!reason.empty())
    return bad_option("the cookie file \"" + path + "\" cannot be made: " + reason);
  return {};
}

/// Other files are keys of random bytes, some of which may be newlines.
bool is_plain_text(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char each) { return (each >= ' ' && each <= '~') || each == '\n' || each == '\r'; });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (line.ends_with('\r'))
      line.remove_suffix(1);
    if (!line.empty())
      lines.emplace_back(line);
  }
  return lines;
}

} // namespace

std::expected<std::vector<std::string>, node_error> read_secret_file(const std::string& path) {
  auto text = read_private(path);
  if (!text)
    return bad_option("secret_file: " + text.error().message());
  auto secrets = is_plain_text(*text) ? lines_of(*text) : std::vector{*text};
  if (secrets.empty())
    secrets.emplace_back();
  const auto place = "secret_file \"" + path + '"';
  if (secrets.size() > secrets_per_file_max)
    return bad_option(place + " has " + std::to_string(secrets.size())
                      + " lines; a secret has one line, and a file at most 2 secrets");
  for (const auto& each : secrets)
    if (each.size() < secret_bytes_min)
      return bad_option(place + " has " + (secrets.size() > 1 ? "a line of " : "") + std::to_string(each.size())
                        + " bytes, minimum 16; make one with: openssl rand -hex 32");
  return secrets;
}

std::expected<std::string, node_error> default_cookie_file() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/')
    return std::string{runtime} + "/troupe/cookie";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/')
    return std::string{home} + "/.config/troupe/cookie";
  const auto state_of = [](const char* name, const char* value) {
    return std::string{name}
           + (value == nullptr || *value == '\0' ? " is not set"
                                                 : " is not an absolute path (\"" + one_line(cut(value)) + "\")");
  };
  return bad_option("no folder for the cookie file: " + state_of("XDG_RUNTIME_DIR", runtime) + ", and "
                    + state_of("HOME", home) + "; set credentials.cookie_file or credentials.secret");
}

std::expected<std::string, node_error> read_or_make_cookie(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    if (auto made = make_cookie(path); !made)
      return std::unexpected{made.error()};
  auto text = read_private(path);
  if (!text)
    return bad_option("the cookie file " + text.error().message());
  if (text->size() != cookie_digits || text->find_first_not_of(hex_digits) != std::string::npos)
    return bad_option("the cookie file \"" + path
                      + "\" does not hold 64 hexadecimal digits; delete it, and the next node makes a new one");
  return text;
}

} // namespace troupe::internal

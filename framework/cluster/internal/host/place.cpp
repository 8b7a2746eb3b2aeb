#include <troupe/framework/cluster/internal/host/place.hpp>

#include <troupe/base/text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

std::unexpected<directory_error> refuse(directory_errc code, std::string text) {
  return std::unexpected{directory_error{code, std::move(text)}};
}

std::unexpected<directory_error> failed_call(const std::string& call) {
  const auto code = errno == EACCES || errno == EPERM ? directory_errc::refused : directory_errc::system_failure;
  const auto reason = std::string{std::strerror(errno)};
  return refuse(code, call + " failed for user " + std::to_string(::geteuid()) + ": " + reason);
}

std::string variable(const char* name) {
  const auto* const value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::expected<std::string, directory_error> chosen_folder() {
  if (const auto* const own = std::getenv("TROUPE_STATE_DIR"); own != nullptr && own[0] != '\0') {
    if (own[0] != '/')
      return refuse(directory_errc::bad_address,
                    "TROUPE_STATE_DIR is \"" + one_line(own, 256) + "\"; it must be an absolute path");
    return std::string{own} + "/clusters";
  }
  if (const auto state = variable("XDG_STATE_HOME"); !state.empty())
    return state + "/troupe/clusters";
  if (const auto home = variable("HOME"); !home.empty())
    return home + "/.local/state/troupe/clusters";
  return refuse(directory_errc::bad_address, "no folder for the directories of this host: neither TROUPE_STATE_DIR, "
                                             "XDG_STATE_HOME nor HOME is set to an absolute path; set one of them");
}

std::expected<void, directory_error> make_folders(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const auto part = path.substr(0, end);
    if (::mkdir(part.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      // A folder above may be one that this user cannot write to; what matters is whether it is there.
      const auto reason = errno;
      if (::access(part.c_str(), F_OK) != 0) {
        errno = reason;
        return failed_call("making the folder \"" + one_line(part, 256) + '"');
      }
    }
    if (end == std::string::npos)
      return {};
  }
}

std::expected<void, directory_error> check_owner_and_mode(const std::string& path, const struct stat& status,
                                                          mode_t wanted) {
  const auto shown = '"' + one_line(path, 256) + '"';
  if (status.st_uid != ::geteuid())
    return refuse(directory_errc::refused, shown + " belongs to user " + std::to_string(status.st_uid)
                                               + ", and this process runs as user " + std::to_string(::geteuid())
                                               + "; a directory of kind host:// serves the processes of one user");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return refuse(directory_errc::refused, shown + " is open to other users; to use it, run: chmod "
                                               + (wanted == S_IRWXU ? "700 " : "600 ") + one_line(path, 256));
  return {};
}

/// Locks and shared memory do not work, or not between hosts, on these.
bool is_network_file_system(const struct statfs& system) {
  constexpr std::array<std::uint32_t, 12> network{0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                  0x01021997, 0x00c36400, 0x5346414f, 0x73757245,
                                                  0x0bd00bd0, 0x47504653, 0x7461636f, 0x01161970};
  // NFS, SMB, CIFS, SMB 2, 9P, Ceph, AFS, Coda, Lustre, GPFS, OCFS2, GFS2.
  return std::ranges::find(network, static_cast<std::uint32_t>(system.f_type)) != network.end();
}

bool is_possible_name(std::string_view name) {
  constexpr std::size_t bytes_max = 64;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= bytes_max && name.find_first_not_of(letters) == std::string_view::npos
         && name[0] != '.' && name[0] != '-';
}

/// So that the file is still there after a power failure.
void sync_folder(const std::string& folder) {
  const auto descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Makes an empty file without opening it. If another process was faster, its file stays.
std::expected<void, directory_error> make_file(const std::string& folder, const std::string& path) {
  if (::mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) == 0) {
    ::chmod(path.c_str(), S_IRUSR | S_IWUSR); // The umask may have removed bits.
    sync_folder(folder);
    return {};
  }
  return errno == EEXIST ? std::expected<void, directory_error>{}
                         : failed_call("making \"" + one_line(path, 256) + '"');
}

/// "there are host://a, host://b".
std::string existing_in(const std::string& folder) {
  constexpr std::size_t named_most = 20;
  constexpr std::string_view ending = ".sqlite";
  std::vector<std::string> names;
  std::error_code failed;
  for (auto one = std::filesystem::directory_iterator{folder, failed};
       !failed && one != std::filesystem::directory_iterator{}; one.increment(failed))
    if (const auto file = one->path().filename().string();
        file.ends_with(ending) && is_possible_name(file.substr(0, file.size() - ending.size())))
      names.push_back("host://" + file.substr(0, file.size() - ending.size()));
  if (names.empty())
    return "there is none at all";
  std::ranges::sort(names);
  std::string text = names.size() == 1 ? "there is" : "there are";
  for (std::size_t i = 0; i < std::min(names.size(), named_most); ++i)
    text += (i == 0 ? " " : ", ") + names[i];
  return names.size() > named_most ? text + " and " + std::to_string(names.size() - named_most) + " more" : text;
}

} // namespace

std::expected<std::string, directory_error> state_folder(bool may_make) {
  const auto path = chosen_folder();
  if (!path)
    return path;
  if (may_make)
    if (auto made = make_folders(*path); !made)
      return std::unexpected{std::move(made).error()};
  struct stat status {};
  if (::lstat(path->c_str(), &status) != 0 && errno == ENOENT && !may_make)
    return refuse(directory_errc::bad_address, "there is no directory of kind host:// at all: there is no folder \""
                                                   + one_line(*path, 256)
                                                   + "\"; its place follows from TROUPE_STATE_DIR, XDG_STATE_HOME and "
                                                     "HOME, which must be those of the members");
  if (::lstat(path->c_str(), &status) != 0)
    return failed_call("looking at \"" + one_line(*path, 256) + '"');
  if (!S_ISDIR(status.st_mode))
    return refuse(directory_errc::refused, '"' + one_line(*path, 256) + "\" is "
                                               + (S_ISLNK(status.st_mode) ? "a symbolic link" : "no folder")
                                               + "; remove it, or set TROUPE_STATE_DIR to another folder");
  if (auto good = check_owner_and_mode(*path, status, S_IRWXU); !good)
    return std::unexpected{std::move(good).error()};
  struct statfs system {};
  if (::statfs(path->c_str(), &system) == 0 && is_network_file_system(system))
    return refuse(directory_errc::refused, '"' + one_line(*path, 256)
                                               + "\" lies on a network file system, whose locks are not reliable; "
                                                 "set TROUPE_STATE_DIR to a folder on a disk of this host");
  std::array<char, PATH_MAX> real{};
  if (::realpath(path->c_str(), real.data()) == nullptr)
    return failed_call("looking at \"" + one_line(*path, 256) + '"');
  return std::string{real.data()};
}

std::expected<std::string, directory_error> database_file(const std::string& folder, std::string_view name,
                                                          bool may_make) {
  if (!is_possible_name(name))
    return refuse(directory_errc::bad_address,
                  "\"host://" + one_line(name, 80)
                      + "\" does not name a directory; a name has 1 to 64 letters, digits, dots, hyphens and "
                        "underscores, and begins with a letter, a digit or an underscore");
  const auto path = folder + '/' + std::string{name} + ".sqlite";
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT)
      return failed_call("looking at \"" + one_line(path, 256) + '"');
    if (!may_make)
      return refuse(directory_errc::bad_address, "there is no directory host://" + std::string{name} + " in \""
                                                     + one_line(folder, 256) + "\"; " + existing_in(folder));
    if (auto made = make_file(folder, path); !made)
      return std::unexpected{std::move(made).error()};
    if (::lstat(path.c_str(), &status) != 0)
      return failed_call("looking at \"" + one_line(path, 256) + '"');
  }
  if (!S_ISREG(status.st_mode))
    return refuse(directory_errc::refused, '"' + one_line(path, 256) + "\" is "
                                               + (S_ISLNK(status.st_mode) ? "a symbolic link" : "no regular file")
                                               + "; remove it, or use another name");
  if (auto good = check_owner_and_mode(path, status, S_IRUSR | S_IWUSR); !good)
    return std::unexpected{std::move(good).error()};
  return path;
}

} // namespace troupe::cluster_directories

#include "folder_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace wordcount {

namespace {

std::string text_of(int error_number) {
  return std::generic_category().message(error_number);
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

enum class entry_kind { file, folder, other };

/// The kind of an entry, without following links.
entry_kind kind_of(const dirent& entry, int folder) {
  auto type = entry.d_type;
  if (type == DT_UNKNOWN) { // The file system does not report types.
    struct stat status {};
    if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
  }
  return type == DT_REG ? entry_kind::file : type == DT_DIR ? entry_kind::folder : entry_kind::other;
}

} // namespace

std::expected<folder_walk, std::string> folder_walk::open(const std::string& folder, problem_report report) {
  file_descriptor top{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!top.is_open())
    return std::unexpected{"cannot open the folder " + printable(folder) + ": " + text_of(errno)};
  folder_walk walk{std::move(report)};
  walk.enter(std::move(top), folder);
  return walk;
}

std::optional<open_file> folder_walk::next() {
  while (!levels_.empty()) {
    auto& [folder, folder_path, entries] = levels_.back();
    if (entries.empty()) {
      levels_.pop_back();
      continue;
    }
    auto [name, is_folder] = std::move(entries.back());
    entries.pop_back();
    auto path = joined(folder_path, name);
    // Open relative to the open folder and without following links, so that replaced entries cannot lead elsewhere.
    // With O_NONBLOCK, opening a named pipe in a file's place does not block.
    const auto flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (is_folder ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY);
    file_descriptor opened{::openat(folder.number(), name.c_str(), flags)};
    if (!opened.is_open()) {
      note_not_opened(path, errno);
      continue;
    }
    if (is_folder) {
      enter(std::move(opened), std::move(path));
      continue;
    }
    struct stat status {};
    if (::fstat(opened.number(), &status) != 0)
      note_unreadable(path, errno);
    else if (!S_ISREG(status.st_mode))
      note_vanished(path, "is no regular file any more");
    else
      return open_file{std::move(opened), std::move(path), static_cast<std::uint64_t>(status.st_size)};
  }
  return std::nullopt;
}

void folder_walk::enter(file_descriptor folder, std::string path) {
  auto entries = list(folder, path);
  levels_.push_back({std::move(folder), std::move(path), std::move(entries)});
}

std::vector<folder_walk::entry> folder_walk::list(const file_descriptor& folder, const std::string& path) {
  std::vector<entry> entries;
  // The stream owns its descriptor, so it gets a duplicate.
  file_descriptor again{::fcntl(folder.number(), F_DUPFD_CLOEXEC, 0)};
  std::unique_ptr<DIR, int (*)(DIR*)> stream{again.is_open() ? ::fdopendir(again.number()) : nullptr, ::closedir};
  if (!stream) {
    note_unreadable(path, errno);
    return entries;
  }
  [[maybe_unused]] auto owned = again.release();
  errno = 0;
  while (const auto* found = ::readdir(stream.get())) {
    const std::string_view name{found->d_name};
    if (name == "." || name == "..")
      continue;
    if (auto kind = kind_of(*found, folder.number()); kind != entry_kind::other)
      entries.push_back({std::string{name}, kind == entry_kind::folder});
    errno = 0;
  }
  if (errno != 0)
    note_unreadable(path, errno);
  std::ranges::sort(entries, std::ranges::greater{}, &entry::name);
  return entries;
}

void folder_walk::note_not_opened(const std::string& path, int error_number) {
  switch (error_number) {
  case ENOENT:
    return note_vanished(path, "vanished before it was read");
  case ELOOP:   // It is a link now,
  case ENOTDIR: // or no longer a folder,
  case ENXIO:   // or a socket.
    return note_vanished(path, "became something else before it was read");
  default:
    return note_unreadable(path, error_number);
  }
}

void folder_walk::note_unreadable(const std::string& path, int error_number) {
  ++problems_.unreadable;
  if (error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM)
    ++problems_.starved;
  report_("cannot read " + printable(path) + ": " + text_of(error_number));
}

void folder_walk::note_vanished(const std::string& path, const std::string& how) {
  ++problems_.vanished;
  report_(printable(path) + ' ' + how);
}

void folder_walk::note_changed(const std::string& path, const std::string& how) {
  ++problems_.changed;
  report_(printable(path) + " changed while it was read: " + how);
}

std::string printable(std::string_view path) {
  std::string shown{path};
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return shown;
}

} // namespace wordcount

#include <troupe/store/internal/attachment/left_stores.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace troupe::store::internal {

namespace {

/// The parts of "troupe.<uid>.<name>.<boot>.v<version>.<what>".
struct file_name {
  std::string name, boot;
  std::uint32_t version = 0;
};

[[nodiscard]] std::optional<file_name> parse(const std::string& text) {
  const auto prefix = "troupe." + std::to_string(::geteuid()) + ".";
  if (!text.starts_with(prefix))
    return std::nullopt;
  const auto name_end = text.find('.', prefix.size());
  const auto boot_end = name_end == text.npos ? text.npos : text.find('.', name_end + 1);
  if (boot_end == text.npos || text.size() < boot_end + 3 || text[boot_end + 1] != 'v')
    return std::nullopt;
  auto result = file_name{text.substr(prefix.size(), name_end - prefix.size()),
                          text.substr(name_end + 1, boot_end - name_end - 1)};
  const auto* const begin = text.data() + boot_end + 2;
  if (std::from_chars(begin, text.data() + text.size(), result.version).ec != std::errc{})
    return std::nullopt;
  return result;
}

} // namespace

void add_stores_in(const std::filesystem::path& place, std::vector<found_store>& to) {
  const auto this_boot = paths_of({.name = "x"}, place);
  auto found = std::map<std::string, found_store>{};
  auto failure = std::error_code{};
  for (const auto& entry : std::filesystem::directory_iterator(place, failure)) {
    const auto text = entry.path().filename().string();
    const auto parsed = parse(text);
    struct stat status {};
    if (!parsed || ::lstat(entry.path().c_str(), &status) != 0 || status.st_uid != ::geteuid())
      continue;
    const auto all = text.substr(0, text.find('.', text.find(".v" + std::to_string(parsed->version)) + 1));
    auto& store = found[all];
    store.name = parsed->name;
    store.directory = place;
    store.files = all;
    store.layout_version = parsed->version;
    store.is_of_this_boot = this_boot && this_boot->this_boot.ends_with(parsed->boot + ".");
    store.is_of_this_layout = store.is_of_this_boot && parsed->version == layout_version;
    store.memory_bytes += static_cast<std::size_t>(status.st_blocks) * 512;
  }
  for (auto& [prefix, store] : found) {
    store.in_use_by = any_lock_on(place / (prefix + ".lock"));
    to.push_back(std::move(store));
  }
}

namespace {

[[nodiscard]] bool is_of(const std::filesystem::path& file, const found_store& store) {
  return file.filename().string().starts_with(store.files + ".") && !is_of_another_user(file);
}

} // namespace

bool has_files(const found_store& store) {
  auto failure = std::error_code{};
  return std::ranges::any_of(std::filesystem::directory_iterator(store.directory, failure),
                             [&](const auto& entry) { return is_of(entry.path(), store); });
}

bool remove_files_of(const found_store& store) {
  auto failure = std::error_code{};
  auto all_are_gone = true;
  for (const auto& entry : std::filesystem::directory_iterator(store.directory, failure))
    if (is_of(entry.path(), store))
      all_are_gone = (::unlink(entry.path().c_str()) == 0 || errno == ENOENT) && all_are_gone;
  return all_are_gone;
}

void remove_forgotten(const store_paths& paths, std::chrono::seconds unused_for) {
  auto all = std::vector<found_store>{};
  add_stores_in(paths.directory, all);
  for (const auto& store : all) {
    struct stat status {};
    if (store.name == paths.name || store.in_use_by || !store.is_of_this_layout
        || ::lstat((store.directory / (store.files + ".lock")).c_str(), &status) != 0
        || std::time(nullptr) - status.st_mtim.tv_sec < unused_for.count())
      continue;
    auto left = options{};
    left.name = store.name;
    left.directory = store.directory;
    left.lock_timeout = std::chrono::milliseconds{0}; // A process that opens the store now cleans up as well.
    (void)remove_left_store(left);
  }
}

} // namespace troupe::store::internal

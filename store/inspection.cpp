#include <troupe/store/inspection.hpp>

#include <troupe/store/internal/attachment.hpp>
#include <troupe/store/internal/store_files.hpp>
#include <troupe/store/internal/store_places.hpp>
#include <troupe/store/object_store.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace troupe::store {

namespace {

using namespace internal;

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

[[nodiscard]] options named(const std::string& name, const std::filesystem::path& directory) {
  auto settings = options{};
  settings.name = name;
  settings.directory = directory;
  settings.must_exist = true;
  return settings;
}

void find_stores_in(const std::filesystem::path& place, std::vector<found_store>& result) {
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
    store.layout_version = parsed->version;
    store.is_of_this_boot = this_boot && this_boot->this_boot.ends_with(parsed->boot + ".");
    store.is_of_this_layout = store.is_of_this_boot && parsed->version == layout_version;
    store.memory_bytes += static_cast<std::size_t>(status.st_blocks) * 512;
  }
  for (auto& [prefix, store] : found) {
    store.in_use_by = any_lock_on(place / (prefix + ".lock"));
    result.push_back(std::move(store));
  }
}

} // namespace

std::vector<found_store> find_stores(const std::filesystem::path& directory) {
  auto result = std::vector<found_store>{};
  for (const auto& place : places_of(directory))
    find_stores_in(place, result);
  std::ranges::sort(result, {}, &found_store::name);
  return result;
}

std::expected<store_summary, store_error> inspect(const std::string& name, const std::filesystem::path& directory,
                                                  const summary_query& what) {
  const auto settings = named(name, directory);
  auto store = object_store::open(settings);
  if (store)
    return store->summary(what);
  if (store.error().code() != store_errc::not_found)
    return std::unexpected(store.error());
  return summary_of_left_store(settings);
}

std::expected<std::optional<std::size_t>, store_error> clean(const std::string& name,
                                                             const std::filesystem::path& directory) {
  const auto settings = named(name, directory);
  if (auto store = object_store::open(settings))
    return std::optional{store->reap()};
  else if (store.error().code() != store_errc::not_found)
    return std::unexpected(store.error());
  if (auto removed = remove_left_store(settings); !removed)
    return std::unexpected(removed.error());
  return std::nullopt;
}

} // namespace troupe::store

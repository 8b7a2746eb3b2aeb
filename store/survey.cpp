#include <troupe/store/survey.hpp>

#include <troupe/store/internal/attachment/left_stores.hpp>
#include <troupe/store/internal/files/store_places.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/object_store.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace troupe::store {

namespace {

using namespace internal;

[[nodiscard]] options named(const std::string& name, const std::filesystem::path& directory) {
  auto settings = options{};
  settings.name = name;
  settings.directory = directory;
  settings.must_exist = true;
  return settings;
}

/// Retries `look` while other processes open and close the store, because the store may become used or unused between
/// two steps.
template <class Look>
[[nodiscard]] auto until_settled(const options& settings, Look look) {
  const auto until = deadline(settings.lock_timeout);
  auto result = look();
  while (!result && result.error().code() == store_errc::busy && !until.passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    result = look();
  }
  return result;
}

} // namespace

std::vector<found_store> find_stores(const std::filesystem::path& directory) {
  auto result = std::vector<found_store>{};
  for (const auto& place : places_of(directory))
    add_stores_in(place, result);
  std::ranges::sort(result, {}, &found_store::name);
  return result;
}

std::expected<store_summary, store_error> inspect(const std::string& name, const std::filesystem::path& directory,
                                                  const summary_query& what) {
  const auto settings = named(name, directory);
  return until_settled(settings, [&]() -> std::expected<store_summary, store_error> {
    auto store = object_store::open(settings);
    if (store)
      return store->summary(what);
    if (store.error().code() != store_errc::not_found)
      return std::unexpected(store.error());
    return summary_of_left_store(settings);
  });
}

std::vector<cleaned_store> clean_all(const std::filesystem::path& directory) {
  auto result = std::vector<cleaned_store>{};
  for (auto& each : find_stores(directory)) {
    auto& cleaned = result.emplace_back();
    cleaned.store = std::move(each);
    const auto& store = cleaned.store;
    if (store.is_of_this_layout) {
      const auto done = clean(store.name, directory);
      // Meanwhile the last process may have closed the store, or another process may have cleaned up.
      cleaned.is_removed = done ? !*done : done.error().code() == store_errc::not_found && !has_files(store);
      if (!done && !cleaned.is_removed)
        cleaned.problem = done.error().message();
    } else if (store.in_use_by) {
      cleaned.problem = "process " + std::to_string(*store.in_use_by) + " of layout version "
                        + std::to_string(store.layout_version) + " has it open";
    } else {
      cleaned.is_removed = remove_files_of(store);
      if (!cleaned.is_removed)
        cleaned.problem = "its files in " + store.directory.string() + " cannot be removed";
    }
  }
  return result;
}

std::expected<std::optional<std::size_t>, store_error> clean(const std::string& name,
                                                             const std::filesystem::path& directory) {
  const auto settings = named(name, directory);
  return until_settled(settings, [&]() -> std::expected<std::optional<std::size_t>, store_error> {
    if (auto store = object_store::open(settings))
      return std::optional{store->reap()};
    else if (store.error().code() != store_errc::not_found)
      return std::unexpected(store.error());
    auto removed = remove_left_store(settings);
    if (!removed)
      return std::unexpected(removed.error());
    for (auto more = places_of(directory).size(); more > 1 && removed; --more)
      removed = remove_left_store(settings); // The store may have left files in several places.
    if (!removed && removed.error().code() != store_errc::not_found)
      return std::unexpected(removed.error());
    return std::nullopt;
  });
}

} // namespace troupe::store

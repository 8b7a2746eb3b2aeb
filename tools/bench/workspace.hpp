// What a run keeps in shared memory while it lasts, and what there is room for.
#pragma once

#include "bench/measurement.hpp"

#include <cstddef>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include <troupe/store/object_store.hpp>

namespace troupe::tools {

/// A folder for the stores of one run, and for what its links prove who they are by. It ends with this object. What
/// runs that were killed have left beside it is removed when one is made.
class workspace {
public:
  /// Fails with a text.
  [[nodiscard]] static std::expected<workspace, std::string> make(const std::filesystem::path& directory);

  workspace(workspace&& other) noexcept;
  workspace& operator=(workspace&& other) = delete;
  ~workspace();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// A certificate of 127.0.0.1, and its key, for links over TLS.
  [[nodiscard]] std::expected<void, std::string> make_certificate() const;

private:
  explicit workspace(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_; // Empty: none.
};

/// The store of one measurement, new and empty. What it took is given back when this ends, although processes that had
/// it open were killed.
class new_store {
public:
  /// Names it in `what`, or names none where it is not used. Fails with a text.
  [[nodiscard]] static std::expected<std::unique_ptr<new_store>, std::string> make(measurement& what);
  new_store(const new_store&) = delete;
  new_store& operator=(const new_store&) = delete;
  ~new_store();

private:
  new_store() = default;

  std::string name_;
  std::filesystem::path folder_;
  std::optional<store::object_store> kept_open_;
};

/// Memory that processes of this user can still take: of the host, or of its control group where that allows less.
[[nodiscard]] std::size_t free_memory_bytes();

/// Why there is no room for that; empty: there is.
[[nodiscard]] std::string no_room_for(const measurement& what, const std::filesystem::path& directory);

} // namespace troupe::tools

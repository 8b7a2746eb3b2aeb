// The files that a run keeps in shared memory, and a check that its measurements fit.
#pragma once

#include "bench/measurement.hpp"

#include <cstddef>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include <troupe/store/object_store.hpp>

namespace troupe::tools {

/// A folder for the stores of one run and the credentials of its links. The destructor removes it. Creating one also
/// removes the folders of killed runs beside it.
class workspace {
public:
  /// Fails with a text.
  [[nodiscard]] static std::expected<workspace, std::string> make(const std::filesystem::path& directory);

  workspace(workspace&& other) noexcept;
  workspace& operator=(workspace&& other) = delete;
  ~workspace();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Makes a certificate for 127.0.0.1 and its key, for links over TLS. Fails with a text.
  [[nodiscard]] std::expected<void, std::string> make_certificate() const;

private:
  explicit workspace(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_; // Empty after a move.
};

/// The store of one measurement, new and empty. The destructor frees its memory, even if processes that had it open
/// were killed.
class new_store {
public:
  /// Creates a store and sets its name in `what`; if the measurement uses no store, creates none. Fails with a text.
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

/// The memory that processes of this user can still take: that of the host, or that of the control group if it is less.
[[nodiscard]] std::size_t free_memory_bytes();

/// The reason why the measurement does not fit, or empty if it does.
[[nodiscard]] std::string no_room_for(const measurement& what, const std::filesystem::path& directory);

} // namespace troupe::tools

// Saves the states of entities.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace troupe::membership {

/// Saves the newest state of each entity, one after the other, until it is saved or given up.
///
/// Threads: any. Functions are called without its lock.
class state_saver {
public:
  using clock = std::chrono::steady_clock;

  struct parts {
    std::function<std::expected<void, std::string>(const std::string& key, const std::string& state)> save;
    /// Calls the function soon, on a thread that may block, and keeps this object until it has returned.
    std::function<void(std::function<void()>)> run;
    /// How long it is tried to save the state of an entity that has ended.
    std::chrono::milliseconds patience;
    /// Nothing of the entity is left to save.
    std::function<void(const std::string& key)> on_done;
    /// An empty text: the last call was well.
    std::function<void(std::string text)> problem;
  };

  explicit state_saver(parts of) : of_(std::move(of)) {}
  state_saver(const state_saver&) = delete;
  state_saver& operator=(const state_saver&) = delete;

  void save(const std::string& key, std::string state);
  /// Whether something of the entity is left to save.
  [[nodiscard]] bool has(const std::string& key) const;
  /// The entity has ended. Returns whether something is left to save; then parts::on_done is called.
  [[nodiscard]] bool end(const std::string& key);
  /// From now on states that cannot be saved at once are given up, once their entities have ended.
  void lose();
  /// Saves again what could not be saved.
  void retry(clock::time_point now);

private:
  struct unsaved {
    std::optional<std::string> newest;
    bool is_saving = false;
    bool has_ended = false;            // The entity.
    clock::time_point failing_since{}; // Zero: it does not fail.
    clock::time_point next{};
  };

  void begin(const std::string& key);
  void run(const std::string& key);

  const parts of_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, unsaved> all_; // By key.
  bool is_lost_ = false;
};

} // namespace troupe::membership

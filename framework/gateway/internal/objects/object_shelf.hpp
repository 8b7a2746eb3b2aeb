// The objects that clients can read.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/framework/gateway/internal/access/token_rights.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

/// An object on the shelf.
struct shelved_object {
  page_loader load;
  std::shared_ptr<const void> room; ///< What it takes of its token's quota, also while it is read after its end.
  std::string tag; ///< For the header ETag: differs for all objects that have been on the shelf, even under one id.
};

/// Has the objects that the program exposes, and those that clients have made until they expire.
///
/// Threads: any.
class object_shelf {
public:
  using clock = std::chrono::steady_clock;
  struct bounds {
    std::size_t objects_per_token_max;
    std::chrono::seconds lifetime;
  };

  explicit object_shelf(const bounds& limits);

  /// Exposes an object of the program's.
  void expose(std::string id, page_loader load);
  bool withdraw(std::string_view id);

  /// Reserves room for an object of `size_bytes` that `by` makes, after dropping expired objects. The room is free
  /// again when the result is destroyed; after put(), when the object is gone and nobody reads it any more. Fails with
  /// 403 if the token may make none, or with 413 or 429 if its objects would take too much together.
  [[nodiscard]] std::expected<std::shared_ptr<const void>, refusal>
  reserve(const token_rights& by, std::uint64_t size_bytes, clock::time_point now);
  /// Puts the object there and returns its id, which cannot be guessed. It stays until it is removed or expires.
  [[nodiscard]] std::string put(const token_rights& by, std::shared_ptr<const void> room, page_loader load,
                                clock::time_point now);
  /// Removes an object that the token has made. Fails with 404 if there is none, or with 403 for one of the program's.
  [[nodiscard]] std::expected<void, refusal> remove(const token_rights& by, std::string_view id, clock::time_point now);
  /// The object, if the token may read it. Fails with 404, also if the object exists and the token may not read it.
  [[nodiscard]] std::expected<shelved_object, refusal> find(const token_rights& by, std::string_view id,
                                                            clock::time_point now);
  /// Drops the expired objects.
  void expire(clock::time_point now);

  struct totals {
    std::uint64_t objects;
    std::uint64_t client_bytes;
  };
  [[nodiscard]] totals count() const;

private:
  struct made_object {
    shelved_object object;
    std::string owner;
    clock::time_point expires;
  };
  /// What the objects of one token take. Shared with the rooms, which may outlive the shelf.
  struct usage {
    std::mutex mutex;
    std::uint64_t bytes = 0;
    std::size_t objects = 0;
  };
  [[nodiscard]] std::string next_tag();

  const bounds limits_;
  mutable std::mutex mutex_; // Guards the members below.
  std::map<std::string, shelved_object, std::less<>> exposed_;
  std::map<std::string, made_object, std::less<>> made_;
  std::map<std::string, std::shared_ptr<usage>, std::less<>> used_;
  std::uint64_t tags_ = 0;
};

} // namespace troupe::web

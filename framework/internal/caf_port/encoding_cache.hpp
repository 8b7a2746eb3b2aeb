// What was encoded for one link, for the next link that takes the same: a message that goes to many is encoded once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <caf/message.hpp>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// One element of a message as it leaves.
struct encoded_element {
  const family* by = nullptr;
  frame header; // Empty where it is the standard one of family and type.
  std::uint64_t decompressed_bytes = 0;
  std::size_t weighed_bytes = 0; // What the value holds once it is decoded.
  std::vector<frame> frames;     // The body first.
};

/// By element; nullopt where an element depends on where it goes, and is encoded each time.
using encoded_message = std::vector<std::optional<encoded_element>>;

/// The last few messages that several hold, and so may be sent again, for a few milliseconds. Of a node.
///
/// Threads: any, at once. Lifetime: what it keeps lives up to 20 ms after its last use.
class encoding_cache : public std::enable_shared_from_this<encoding_cache> {
public:
  /// Messages that take less are encoded faster than found.
  static constexpr std::size_t encoded_bytes_min = 1024;

  explicit encoding_cache(asio::io_context& io) : io_(io), timer_(io) {}

  /// Of a message with that content, for links of such a context; null when it is not known.
  [[nodiscard]] std::shared_ptr<const encoded_message> find(const message_view& content,
                                                            const context& for_links) const;
  void put(caf::message message, const context& for_links, std::shared_ptr<const encoded_message> encoded);

  /// For messages that take long, which several threads may be about to encode. True: the caller encodes the one at
  /// that place until done(). False: another thread does, and `again` is called, once, when that is done: then the
  /// message may be known here.
  [[nodiscard]] bool begin(const void* place, std::function<void()> again);
  /// Requires: begin() has said true.
  void done(const void* place);

  /// Lets go of everything, and keeps nothing from then on.
  void close();

private:
  static constexpr std::size_t entries_max = 8;
  static constexpr auto patience = std::chrono::milliseconds(10);

  /// Of a context, what encoding depends on where the value does not depend on where it goes.
  struct terms {
    explicit terms(const context& of)
        : families(of.families.begin(), of.families.end()),
          bounds(of.limits),
          compression(of.compression),
          iterate(of.iterate),
          shared_store(of.shared_store) {}
    [[nodiscard]] bool are_those_of(const context& other) const;

    std::vector<const family*> families;
    limits bounds;
    troupe::compression compression;
    troupe::iterate iterate;
    bool shared_store;
  };
  struct entry {
    caf::message message; // Kept, so that no other message has its address.
    terms made_for;
    std::shared_ptr<const encoded_message> encoded;
    mutable bool used = true; // Since the last look.
  };
  void look_later();
  void drop_unused();

  asio::io_context& io_;
  io_timer timer_; // I/O thread.
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<entry> entries_;
  bool closed_ = false;
  mutable std::atomic<bool> is_empty_{true};

  std::mutex turns_mutex_;
  // For each message that is being encoded: the callbacks of those that wait for it. Guarded by turns_mutex_.
  std::map<const void*, std::vector<std::function<void()>>> turns_;
};

} // namespace troupe::internal

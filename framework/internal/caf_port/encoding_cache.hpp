// A cache of encoded messages, so that a message sent over many links with the same terms is encoded once.
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

/// One encoded element of a message.
struct encoded_element {
  const family* by = nullptr;
  frame header; // Empty if it is the standard header for family and type.
  std::uint64_t decompressed_bytes = 0;
  std::size_t weighed_bytes = 0; // Memory that the decoded value takes.
  std::vector<frame> frames;     // The body first.
};

/// One entry per element. Nullopt if the element's encoding depends on the receiver, so that it is encoded each time.
using encoded_message = std::vector<std::optional<encoded_element>>;

/// A node's cache of the last few messages that have several holders. Such a message may be sent again within a few
/// milliseconds.
///
/// Threads: any, concurrently. Lifetime: a cached message lives up to 20 ms after its last use.
class encoding_cache : public std::enable_shared_from_this<encoding_cache> {
public:
  /// Smaller messages are encoded faster than found.
  static constexpr std::size_t encoded_bytes_min = 1024;

  explicit encoding_cache(asio::io_context& io) : io_(io), timer_(io) {}

  /// The encoding of a message with that content, for links with such a context. Null if it is not cached.
  [[nodiscard]] std::shared_ptr<const encoded_message> find(const message_view& content,
                                                            const context& for_links) const;
  void put(caf::message message, const context& for_links, std::shared_ptr<const encoded_message> encoded);

  /// Avoids that several threads encode a large message at the same time. True: the caller encodes the message at that
  /// place until done(). False: another thread is encoding it. `again` is called once, when that thread is done; the
  /// message may then be cached.
  [[nodiscard]] bool begin(const void* place, std::function<void()> again);
  /// Requires: begin() has returned true.
  void done(const void* place);

  /// Drops all entries, and accepts none from then on.
  void close();

private:
  static constexpr std::size_t entries_max = 8;
  static constexpr auto patience = std::chrono::milliseconds(10);

  /// The parts of a context that affect the encoding of a value that does not depend on the receiver.
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
    caf::message message; // Kept alive, so that no other message gets its address.
    terms made_for;
    std::shared_ptr<const encoded_message> encoded;
    mutable bool used = true; // Since the last timer.
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
  // For each message that is being encoded: the callbacks of callers that wait for it. Guarded by turns_mutex_.
  std::map<const void*, std::vector<std::function<void()>>> turns_;
};

} // namespace troupe::internal

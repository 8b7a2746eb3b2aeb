// Work that the I/O thread's round postpones. To the end of the round it postpones one write for each connection to
// which the round has appended, and one report of consumed messages. To the next rounds it postpones packets that were
// read and not handled.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/framework/internal/flow/consumed_batch.hpp>

namespace troupe::internal {

class connection;

/// The connections to which this thread has appended since its round of work began. While a batch is current, its
/// thread writes nothing, so that the answers to many messages leave in one write. Consumed messages are reported
/// together in the same way.
///
/// Threads: one.
class io_batch {
public:
  /// The calling thread's batch. Null outside of a round of work, and after another thread has taken the round over.
  [[nodiscard]] static io_batch* current() noexcept;

  /// Any thread. While deposed, another thread continues in this thread's place, and nothing is gathered here. If a
  /// caller asks for the current batch under a connection's mutex, the thread that continues flushes what is gathered.
  void set_deposed(bool deposed) noexcept { consumed_.set_deposed(deposed); }

  /// Makes a batch current for the calling thread while the scope lives.
  class scope {
  public:
    explicit scope(io_batch& batch) noexcept;
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

  private:
    consumed_batch::scope consumed_;
  };

  void add(std::shared_ptr<connection> appended) { appended_.push_back(std::move(appended)); }

  /// Writes the waiting bytes of each connection, and reports what was consumed.
  void flush();

  /// Notes a connection that has read more than one turn handles. Its next turn comes without another system call.
  void read_on_later(std::shared_ptr<connection> has_more) { reading_.push_back(std::move(has_more)); }
  [[nodiscard]] bool has_more() const noexcept { return !reading_.empty(); }
  /// Performs one turn of the first noted connection. Requires: has_more().
  void read_on();
  /// Takes the noted connections of another thread's batch, which must not be in use.
  void take_reading(io_batch& of) { reading_ = std::exchange(of.reading_, {}); }

private:
  consumed_batch consumed_;
  std::vector<std::shared_ptr<connection>> appended_;
  std::vector<std::shared_ptr<connection>> flushing_;
  std::deque<std::shared_ptr<connection>> reading_;
};

} // namespace troupe::internal

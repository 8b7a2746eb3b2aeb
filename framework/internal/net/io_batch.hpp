// What the I/O thread's round of work leaves for later: for the round's end, one write for each connection that it has
// appended to and one note of what was consumed; for the next rounds, what was read and is not handled yet.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/framework/internal/flow/consumed_batch.hpp>

namespace troupe::internal {

class connection;

/// The connections that this thread has appended to since its round of work began. A thread that has one current writes
/// nothing by itself in between, so that the answers to many messages leave in one write. The same for messages that
/// end.
///
/// Threads: one.
class io_batch {
public:
  /// The calling thread's, or null outside of a round of work, and where another thread has taken that over.
  [[nodiscard]] static io_batch* current() noexcept;

  /// Any thread. Whether another thread goes on in place of this one's: nothing is gathered here then. Who asks for the
  /// current batch under a connection's mutex has what it gathers there flushed by the one who goes on.
  void set_deposed(bool deposed) noexcept { consumed_.set_deposed(deposed); }

  /// Makes a batch the calling thread's while it lives.
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

  /// Writes what each of them has waiting, and tells what was consumed.
  void flush();

  /// A connection that has read more than it handles in one turn: its next turn comes without asking the system again.
  void read_on_later(std::shared_ptr<connection> has_more) { reading_.push_back(std::move(has_more)); }
  [[nodiscard]] bool has_more() const noexcept { return !reading_.empty(); }
  /// One turn of the first of them. Requires: has_more().
  void read_on();
  /// Goes on in the place of another thread's batch, which is not used meanwhile.
  void take_reading(io_batch& of) { reading_ = std::exchange(of.reading_, {}); }

private:
  consumed_batch consumed_;
  std::vector<std::shared_ptr<connection>> appended_;
  std::vector<std::shared_ptr<connection>> flushing_;
  std::deque<std::shared_ptr<connection>> reading_;
};

} // namespace troupe::internal

// What the I/O thread's round of work has appended to connections and not yet written: one flush each at the round's
// end.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace troupe::internal {

class connection;

/// The connections that this thread has appended to since its round of work began. A thread that has one current writes
/// nothing by itself in between, so that the answers to many messages leave in one write.
///
/// Threads: one.
class io_batch {
public:
  /// The calling thread's, or null outside of a round of work.
  [[nodiscard]] static io_batch* current() noexcept;

  /// Makes a batch the calling thread's while it lives.
  class scope {
  public:
    explicit scope(io_batch& batch) noexcept;
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();
  };

  void add(std::shared_ptr<connection> appended) { appended_.push_back(std::move(appended)); }

  /// Writes what each of them has waiting.
  void flush();

private:
  std::vector<std::shared_ptr<connection>> appended_;
  std::vector<std::shared_ptr<connection>> flushing_;
};

} // namespace troupe::internal

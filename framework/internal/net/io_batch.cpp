#include <troupe/framework/internal/net/io_batch.hpp>

#include <utility>

#include <troupe/framework/internal/net/connection.hpp>

namespace troupe::internal {

namespace {

thread_local io_batch* batch_of_thread = nullptr;

} // namespace

io_batch* io_batch::current() noexcept {
  return batch_of_thread != nullptr && !batch_of_thread->consumed_.is_deposed() ? batch_of_thread : nullptr;
}

io_batch::scope::scope(io_batch& batch) noexcept : consumed_(batch.consumed_) {
  batch_of_thread = &batch;
}

io_batch::scope::~scope() {
  batch_of_thread = nullptr;
}

void io_batch::read_on() {
  auto next = std::move(reading_.front());
  reading_.pop_front();
  next->read_on();
}

void io_batch::flush() {
  do {
    while (!consumed_.empty())
      consumed_.settle(); // First, because this may append something to write.
    std::swap(appended_, flushing_);
    for (const auto& one : flushing_)
      one->flush_batch(); // Releases what it has written, which may end further messages.
    flushing_.clear();
  } while (!consumed_.empty() || !appended_.empty());
}

} // namespace troupe::internal

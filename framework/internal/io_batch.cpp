#include <troupe/framework/internal/io_batch.hpp>

#include <utility>

#include <troupe/framework/internal/connection.hpp>
#include <troupe/framework/internal/consumption.hpp>

namespace troupe::internal {

namespace {

thread_local io_batch* current_batch = nullptr;

} // namespace

io_batch* io_batch::current() noexcept {
  return current_batch != nullptr && !current_batch->deposed_.load() ? current_batch : nullptr;
}

io_batch::scope::scope(io_batch& batch) noexcept {
  current_batch = &batch;
}

io_batch::scope::~scope() {
  current_batch = nullptr;
}

void io_batch::gather(consumption& to, std::uint64_t cost) noexcept {
  while (consumed_of_ != nullptr && consumed_of_ != &to)
    settle(); // By which another may come.
  consumed_of_ = &to;
  consumed_bytes_ += cost;
  ++consumed_messages_;
  if (consumed_bytes_ >= to.gathered_max())
    settle();
}

void io_batch::settle() noexcept {
  auto* to = std::exchange(consumed_of_, nullptr);
  if (to == nullptr)
    return;
  const auto bytes = std::exchange(consumed_bytes_, 0);
  const auto messages = std::exchange(consumed_messages_, 0);
  to->consumed(bytes); // May gather another.
  to->let_go(messages);
}

void io_batch::read_on() {
  auto next = std::move(reading_.front());
  reading_.pop_front();
  next->read_on();
}

void io_batch::flush() {
  do {
    while (consumed_of_ != nullptr)
      settle(); // First, since it may have something to write.
    std::swap(appended_, flushing_);
    for (const auto& one : flushing_)
      one->flush_batch(); // Lets go of what it has written, by which a message may end.
    flushing_.clear();
  } while (consumed_of_ != nullptr || !appended_.empty());
}

} // namespace troupe::internal

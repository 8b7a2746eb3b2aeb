#include <troupe/framework/internal/io_batch.hpp>

#include <troupe/framework/internal/connection.hpp>

namespace troupe::internal {

namespace {

thread_local io_batch* current_batch = nullptr;

} // namespace

io_batch* io_batch::current() noexcept {
  return current_batch;
}

io_batch::scope::scope(io_batch& batch) noexcept {
  current_batch = &batch;
}

io_batch::scope::~scope() {
  current_batch = nullptr;
}

void io_batch::flush() {
  while (!appended_.empty()) {
    std::swap(appended_, flushing_);
    for (const auto& one : flushing_)
      one->flush_batch();
    flushing_.clear();
  }
}

} // namespace troupe::internal

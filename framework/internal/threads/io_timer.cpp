#include <troupe/framework/internal/threads/io_timer.hpp>

#include <utility>

#include <asio/basic_waitable_timer.hpp>
#include <asio/dispatch.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

namespace troupe::internal {

struct io_timer::impl {
  explicit impl(asio::io_context& io) : timer(io) {}

  asio::basic_waitable_timer<clock, asio::wait_traits<clock>, asio::io_context::executor_type> timer;
};

io_timer::io_timer(asio::io_context& io) : impl_(std::make_unique<impl>(io)) {}

io_timer::io_timer(asio::io_context& io, clock::time_point at) : io_timer(io) {
  expires_at(at);
}

io_timer::io_timer(asio::io_context& io, clock::duration after) : io_timer(io) {
  expires_after(after);
}

io_timer::~io_timer() = default;

void io_timer::expires_at(clock::time_point at) {
  impl_->timer.expires_at(at);
}

void io_timer::expires_after(clock::duration after) {
  impl_->timer.expires_after(after);
}

void io_timer::cancel() {
  impl_->timer.cancel();
}

void io_timer::async_wait(callback then) {
  impl_->timer.async_wait(std::move(then));
}

void post_to(asio::io_context& io, std::move_only_function<void()> what) {
  asio::post(io, std::move(what));
}

void run_on(asio::io_context& io, std::move_only_function<void()> what) {
  asio::dispatch(io, std::move(what));
}

} // namespace troupe::internal

#include <troupe/framework/internal/workers/output_reader.hpp>

#include <array>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace troupe::internal {

namespace {

constexpr std::size_t turn_bytes_max = 65536;
constexpr int last_turns_max = 16;

} // namespace

output_reader::output_reader(asio::io_context& io, int pipe, line_cutter::receiver receive)
    : pipe_(io, pipe), receive_(std::move(receive)) {}

void output_reader::start() {
  pipe_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](std::error_code cancelled) {
    if (cancelled || !self->pipe_.is_open())
      return;
    if (self->read_some() || errno == EAGAIN || errno == EINTR)
      self->start();
    else
      self->end();
  });
}

void output_reader::close() {
  for (int turns = 0; pipe_.is_open() && turns < last_turns_max && read_some(); ++turns)
    continue;
  end();
}

/// Returns false at the end, or if nothing is there (EAGAIN).
bool output_reader::read_some() {
  std::array<char, turn_bytes_max> bytes;
  errno = 0;
  const auto count = ::read(pipe_.native_handle(), bytes.data(), bytes.size());
  if (count <= 0)
    return false;
  lines_.take({bytes.data(), static_cast<std::size_t>(count)}, receive_);
  return true;
}

void output_reader::end() {
  if (!pipe_.is_open())
    return;
  lines_.finish(receive_);
  std::error_code ignored;
  pipe_.close(ignored);
}

} // namespace troupe::internal

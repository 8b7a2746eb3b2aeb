#include <troupe/framework/internal/net/unix_transport.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/ring_memory.hpp>
#include <troupe/framework/internal/net/ring_watch.hpp>
#include <troupe/framework/internal/net/socket_transport.hpp>

namespace troupe::internal {

namespace {

// Wake-up bytes that are read at a time. The peer sends few of them.
constexpr std::size_t wakes_read_max = 256;

constexpr auto never = SIZE_MAX;

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Drops the first `bytes` bytes of the pieces.
void drop(std::vector<bytes_view>& pieces, std::size_t bytes) {
  std::erase_if(pieces, [&](bytes_view& piece) {
    const auto dropped = std::min(bytes, piece.size());
    bytes -= dropped;
    piece = piece.subspan(dropped);
    return piece.empty();
  });
}

/// The rest of some pieces after their first bytes, piece by piece.
class rest_of_pieces {
public:
  explicit rest_of_pieces(std::span<const bytes_view> pieces) : pieces_(pieces) { skip(0); }

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  [[nodiscard]] bytes_view first() const noexcept { return pieces_.front().subspan(begin_); }
  void skip(std::size_t bytes) {
    begin_ += bytes;
    while (!pieces_.empty() && begin_ >= pieces_.front().size()) {
      begin_ -= pieces_.front().size();
      pieces_ = pieces_.subspan(1);
    }
  }

private:
  std::span<const bytes_view> pieces_;
  std::size_t begin_ = 0; // In the first piece.
};

class unix_transport final : public transport,
                             public ring_mover,
                             public watched_ring,
                             public std::enable_shared_from_this<unix_transport> {
public:
  explicit unix_transport(stream_socket socket)
      : socket_(std::move(socket)),
        watch_(ring_watch::of(static_cast<asio::io_context&>(socket_.get_executor().context()))) {}
  ~unix_transport() override {
    for (const auto each : {descriptor_in_, descriptor_out_})
      if (each >= 0)
        ::close(each);
  }

  // -- transport

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override {
    read_ = {into, std::move(done)};
    if (input_)
      look_soon();
    else if (expects_descriptor_)
      read_with_descriptor();
    else
      socket_.async_read_some(
          asio::buffer(into.data(), into.size()),
          [self = shared_from_this()](std::error_code error, std::size_t count) { self->finish_read(error, count); });
  }

  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) override {
    rest_.assign(pieces.begin(), pieces.end());
    write_done_ = std::move(done);
    go_on_writing();
  }

  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) override {
    std::size_t total = 0;
    rest_of_pieces rest{pieces};
    while (socket_bytes_ > 0) {
      std::array<bytes_view, 1> first{};
      if (total > 0 && !rest.empty())
        first[0] = rest.first(); // Rare: after a mark.
      const auto sent = total == 0 ? send(pieces) : send(first);
      if (!sent)
        return sent;
      total += *sent;
      rest.skip(*sent);
      if (*sent == 0 || rest.empty())
        break;
      if (socket_bytes_ == never)
        return total; // The kernel's buffer is full.
    }
    if (socket_bytes_ > 0 || rest.empty())
      return total;
    if (is_peer_gone_)
      return std::unexpected{std::make_error_code(std::errc::broken_pipe)};
    while (!rest.empty()) {
      const auto count = output_->put(rest.first());
      if (!count)
        return broken();
      total += *count;
      if (*count < rest.first().size())
        break;
      rest.skip(*count);
    }
    if (output_->publish())
      wake_peer();
    return total;
  }

  end_addresses addresses() const override {
    std::error_code ignored; // A disconnected socket has no addresses.
    return {text_of(transport_kind::unix_socket, socket_.local_endpoint(ignored)),
            text_of(transport_kind::unix_socket, socket_.remote_endpoint(ignored))};
  }

  ring_mover* rings() noexcept override { return this; }

  void close() override {
    std::error_code ignored; // They fail if the peer is gone, with the same result.
    socket_.shutdown(stream_socket::shutdown_both, ignored);
    socket_.close(ignored);
    is_peer_gone_ = true;
    is_closed_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (self->input_ && self->read_.done)
        self->finish_read(asio::error::operation_aborted, 0);
      self->finish_write(asio::error::operation_aborted);
    });
  }

  // -- ring_mover

  void expect_descriptor() override { expects_descriptor_ = true; }

  int take_descriptor() override {
    expects_descriptor_ = false;
    return std::exchange(descriptor_in_, -1);
  }

  void set_rings(ring_memory rings, link_side side) override {
    rings_.emplace(std::move(rings));
    side_ = side;
  }

  void drop_rings() override { rings_.reset(); }

  void move_input() override {
    input_.emplace(rings_->words_of(other(side_)), rings_->bytes_of(other(side_)));
    watch_socket();
  }

  void send_descriptor_at(std::size_t position) override {
    descriptor_out_ = rings_->take_descriptor();
    before_descriptor_ = position;
  }

  void move_output_at(std::size_t position) override {
    output_.emplace(rings_->words_of(side_), rings_->bytes_of(side_));
    socket_bytes_ = position;
    enter_ring();
  }

  bool writes_to_ring() const noexcept override { return is_in_ring_.load(); }

  std::expected<put_result, std::error_code> put(bytes_view bytes) override {
    const auto count = output_->put(bytes);
    if (!count)
      return broken();
    return put_result{*count, output_->publish()};
  }

  bool peer_has_all() const override { return output_->reader_has_all(); }

  void wake_peer() override {
    owes_wake_ = true;
    if (is_in_ring_ && owes_wake_.exchange(false))
      send_wake();
  }

  // -- watched_ring

  bool look() override {
    if (!read_.done)
      return false;
    const auto count = input_->take(read_.into);
    if (!count) {
      finish_read(std::make_error_code(std::errc::protocol_error), 0);
      return true;
    }
    if (*count > 0) {
      if (input_->writer_is_to_be_woken())
        wake_peer();
      finish_read({}, *count);
      return true;
    }
    if (!is_peer_gone_)
      return false;
    finish_read(asio::error::eof, 0);
    return true;
  }

  bool sleep() override {
    if (is_closed_ || !read_.done || is_asleep()) {
      is_looked_at_ = false;
      return true;
    }
    return false;
  }

private:
  struct read_order {
    std::span<std::byte> into;
    std::function<void(std::error_code, std::size_t)> done; // Null: no read is in progress.
  };

  static std::unexpected<std::error_code> broken() {
    return std::unexpected{std::make_error_code(std::errc::protocol_error)};
  }

  [[nodiscard]] bool is_asleep() {
    if (is_peer_gone_)
      return false; // Its end has to be read.
    const auto asleep = input_->sleep();
    return asleep && *asleep; // The next look reports a broken ring.
  }

  void finish_read(std::error_code error, std::size_t count) {
    if (auto done = std::exchange(read_.done, nullptr)) {
      const auto self = shared_from_this(); // `done` may drop the last other reference.
      done(error, count);
    }
  }

  void look_soon() {
    if (watch_.is_driven()) {
      if (!std::exchange(is_looked_at_, true))
        watch_.add(shared_from_this());
      return;
    }
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->look_or_sleep(); });
  }

  /// Used if the I/O context's thread does not check the rings by itself.
  void look_or_sleep() {
    while (read_.done && !look() && !is_asleep()) {
    }
  }

  void read_with_descriptor() {
    std::array<iovec, 1> list{{{read_.into.data(), read_.into.size()}}};
    descriptor_room room;
    msghdr message{};
    message.msg_iov = list.data();
    message.msg_iovlen = list.size();
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    ssize_t count = 0;
    do {
      count = ::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && would_block(errno)) {
      socket_.async_wait(stream_socket::wait_read, [self = shared_from_this()](std::error_code error) {
        if (error)
          self->finish_read(error, 0);
        else
          self->read_with_descriptor();
      });
      return;
    }
    std::error_code error;
    if (count < 0)
      error = last_error();
    else if (!keep_descriptor(message))
      error = std::make_error_code(std::errc::protocol_error);
    else if (count == 0)
      error = asio::error::eof;
    asio::post(socket_.get_executor(), [self = shared_from_this(), error, count] {
      self->finish_read(error, error ? 0 : static_cast<std::size_t>(count));
    });
  }

  /// Keeps one descriptor; returns false if more than one arrived.
  [[nodiscard]] bool keep_descriptor(msghdr& message) {
    auto is_one = (message.msg_flags & MSG_CTRUNC) == 0;
    for (auto* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        continue;
      const auto count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
        if (descriptor_in_ < 0 && is_one) {
          descriptor_in_ = descriptor;
        } else {
          ::close(descriptor);
          is_one = false;
        }
      }
    }
    return is_one;
  }

  /// Writes into the socket, up to the next mark.
  std::expected<std::size_t, std::error_code> send(std::span<const bytes_view> pieces) {
    const auto has_descriptor = descriptor_out_ >= 0 && before_descriptor_ == 0;
    const auto sent = send_now(socket_.native_handle(), pieces,
                               descriptor_out_ >= 0 && !has_descriptor ? before_descriptor_ : socket_bytes_,
                               has_descriptor ? descriptor_out_ : -1);
    if (!sent || *sent == 0)
      return sent;
    const auto count = *sent;
    if (has_descriptor)
      ::close(std::exchange(descriptor_out_, -1));
    else if (descriptor_out_ >= 0)
      before_descriptor_ -= count;
    if (socket_bytes_ != never) {
      socket_bytes_ -= count;
      enter_ring();
    }
    return count;
  }

  /// Moves the output into the ring once everything for the socket is written.
  void enter_ring() {
    if (socket_bytes_ > 0)
      return;
    is_in_ring_ = true;
    if (owes_wake_.exchange(false))
      send_wake();
  }

  /// If the socket is full, it holds bytes that the peer has not seen, so no wake-up is needed.
  void send_wake() {
    const char look = 1;
    static_cast<void>(::send(socket_.native_handle(), &look, sizeof(look), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  void go_on_writing() {
    while (write_done_) {
      const auto written = write_now(rest_);
      if (!written)
        return finish_write_soon(written.error());
      drop(rest_, *written);
      if (rest_.empty())
        return finish_write_soon({});
      if (!is_in_ring_) {
        socket_.async_wait(stream_socket::wait_write, [self = shared_from_this()](std::error_code error) {
          if (error)
            self->finish_write(error);
          else
            self->go_on_writing();
        });
        return;
      }
      const auto waits = output_->wait_for_room();
      if (!waits)
        return finish_write_soon(std::make_error_code(std::errc::protocol_error));
      if (*waits)
        return; // on_woken() continues.
    }
  }

  /// Ends the write at once, so that an earlier wake-up cannot finish it again, and calls back later.
  void finish_write_soon(std::error_code error) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), done = std::exchange(write_done_, nullptr), error] {
      self->rest_.clear();
      done(error);
    });
  }

  void finish_write(std::error_code error) {
    rest_.clear();
    if (auto done = std::exchange(write_done_, nullptr))
      done(error);
  }

  void watch_socket() {
    socket_.async_wait(stream_socket::wait_read, [self = shared_from_this()](std::error_code error) {
      if (!error && !self->is_closed_)
        self->on_woken();
    });
  }

  void on_woken() {
    std::array<char, wakes_read_max> wakes{};
    const auto count = ::recv(socket_.native_handle(), wakes.data(), wakes.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && !would_block(errno) && errno != EINTR))
      is_peer_gone_ = true;
    else
      watch_socket();
    input_->awake();
    if (write_done_ && is_in_ring_)
      go_on_writing();
    if (read_.done) {
      look();
      if (read_.done)
        look_soon();
    }
  }

  stream_socket socket_;
  ring_watch& watch_;
  std::optional<ring_memory> rings_; // Set once, before anything moves.
  link_side side_ = link_side::dialer;

  // Used by the writer only.
  std::size_t socket_bytes_ = never; // This many bytes go into the socket, then the ring.
  int descriptor_out_ = -1;
  std::size_t before_descriptor_ = 0; // This many bytes go before the descriptor.
  std::optional<ring_writer<shared_word>> output_;

  // I/O thread only.
  read_order read_;
  bool expects_descriptor_ = false;
  int descriptor_in_ = -1;
  std::optional<ring_reader<shared_word>> input_; // Set once the input has moved.
  bool is_looked_at_ = false;                     // It is in watch_.
  bool is_closed_ = false;
  std::vector<bytes_view> rest_; // Of the write in progress.
  std::function<void(std::error_code)> write_done_;

  // Shared by writer and I/O thread. Sequentially consistent: if both act at the same time, one must see the other's
  // store.
  std::atomic<bool> is_in_ring_{false}; // Output goes into the ring.
  std::atomic<bool> owes_wake_{false};  // Send a wake-up once all packets for the socket are written.
  std::atomic<bool> is_peer_gone_{false};
};

} // namespace

std::shared_ptr<transport> make_unix_transport(stream_socket socket) {
  tune(socket);
  return std::make_shared<unix_transport>(std::move(socket));
}

} // namespace troupe::internal

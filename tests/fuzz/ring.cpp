// Fuzzes a transport whose bytes go through rings. The input is a script: what the peer does to the memory and the
// socket that it shares with this end, and what this end reads and writes meanwhile.
//
// All bytes pass between this end and an honest peer, in both directions. Whatever else the peer does, each read and
// each write is called back exactly once, and the connection ends when it is closed.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <troupe/framework/internal/net/ring_memory.hpp>
#include <troupe/framework/internal/net/unix_transport.hpp>

#include "decoding.hpp"

namespace {

using namespace troupe;
using namespace troupe::internal;

constexpr std::size_t ring_bytes = 4096;
constexpr std::size_t steps_max = 400;

class script {
public:
  explicit script(std::span<const std::byte> bytes) : left_(bytes) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty())
      return 0;
    const auto first = std::to_integer<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return first;
  }
  /// Below 16 Ki.
  std::size_t amount() { return (byte() + 256u * byte()) % (4 * ring_bytes); }
  /// A count near a possible one, or any number.
  std::uint64_t count(std::uint64_t honest) {
    const auto kind = byte() % 4;
    if (kind == 0)
      return honest + byte();
    if (kind == 1)
      return honest - byte();
    if (kind == 2)
      return honest + ring_bytes - 2 + byte();
    std::uint64_t any = 0;
    for (int i = 0; i < 8; ++i)
      any = any << 8 | byte();
    return any;
  }

private:
  std::span<const std::byte> left_;
};

/// The bytes at this place of a stream; each follows from its position.
byte_vector stream_bytes(std::size_t from, std::size_t count) {
  byte_vector bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>((from + i) * 131 + ((from + i) >> 8));
  return bytes;
}

class play {
public:
  play() {
    std::array<int, 2> ends{};
    fuzz::expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0, "no sockets");
    peer_ = ends[1];
    near_ = make_unix_transport(stream_socket{io_, asio::generic::stream_protocol{AF_UNIX, 0}, ends[0]});
    auto made = ring_memory::make(ring_bytes);
    fuzz::expect(made.has_value(), "no memory");
    auto theirs = ring_memory::adopt(made->take_descriptor(), ring_bytes);
    fuzz::expect(theirs.has_value(), "no second mapping");
    memory_.emplace(*std::move(theirs));
    out_.emplace(memory_->words_of(link_side::acceptor), memory_->bytes_of(link_side::acceptor));
    in_.emplace(memory_->words_of(link_side::dialer), memory_->bytes_of(link_side::dialer));
    near_->rings()->set_rings(*std::move(made), link_side::dialer);
    near_->rings()->move_output_at(0);
    near_->rings()->move_input();
  }
  ~play() {
    near_->close();
    run();
    fuzz::expect(reads_ == 0, "a read was not called back");
    fuzz::expect(writes_ == 0, "a write was not called back");
    near_ = nullptr;
    if (peer_ >= 0)
      ::close(peer_);
  }

  void step(script& what) {
    switch (what.byte() % 13) {
    case 0:
      return put(what.amount());
    case 1:
      return take(what.amount());
    case 2:
      return read(what.amount());
    case 3:
      return write(what.amount());
    case 4:
      return write_now(what.amount());
    case 5:
    case 6:
      return run();
    case 7:
      wake(what.byte());
      return;
    case 8:
      dishonest().written.store(what.count(0));
      return;
    case 9:
      is_honest_ = false;
      memory_->words_of(link_side::dialer).read.store(what.count(sent_));
      return;
    case 10: {
      auto& words = dishonest();
      words.reader_sleeps.store(what.byte());
      words.writer_waits.store(what.byte());
      return;
    }
    case 11: {
      is_honest_ = false;
      const auto at = what.amount() % ring_bytes;
      memory_->bytes_of(what.byte() % 2 == 0 ? link_side::dialer : link_side::acceptor)[at] =
          static_cast<std::byte>(what.byte());
      return;
    }
    default:
      if (what.byte() == 0 && peer_ >= 0) {
        is_honest_ = false;
        ::close(std::exchange(peer_, -1));
      }
    }
  }

  /// If the peer was honest to the end, expects that all bytes of both directions arrive.
  void finish() {
    for (int i = 0; i < 100 && is_honest_ && (received_ < put_ || taken_ < sent_ || writes_ > 0); ++i) {
      read(1000);
      take(4 * ring_bytes);
      wake(1);
      run();
    }
    if (is_honest_) {
      fuzz::expect(received_ == put_, "not all that the peer put in was read");
      fuzz::expect(taken_ == sent_, "not all that was written can be taken out");
    }
  }

private:
  ring_memory::words& dishonest() {
    is_honest_ = false;
    return memory_->words_of(link_side::acceptor);
  }

  void put(std::size_t count) {
    const auto done = out_->put(stream_bytes(put_, count));
    fuzz::expect(done || !is_honest_, "an honest end is not believed");
    if (!done)
      return;
    put_ += *done;
    if (out_->publish())
      wake(1);
  }

  void take(std::size_t count) {
    byte_vector into(count);
    const auto done = in_->take(into);
    fuzz::expect(done || !is_honest_, "an honest end is not believed");
    if (!done)
      return;
    into.resize(*done);
    fuzz::expect(!is_honest_ || into == stream_bytes(taken_, *done), "other bytes come out than were written");
    taken_ += *done;
    if (in_->writer_is_to_be_woken())
      wake(1);
  }

  void read(std::size_t count) {
    if (reads_ > 0 || has_failed_)
      return;
    ++reads_;
    into_.assign(std::max<std::size_t>(1, count), std::byte{0});
    near_->read_some(into_, [this](std::error_code error, std::size_t got) {
      --reads_;
      if (error) {
        has_failed_ = true;
        return;
      }
      fuzz::expect(got > 0 && got <= into_.size(), "a read of an impossible size");
      into_.resize(got);
      fuzz::expect(!is_honest_ || into_ == stream_bytes(received_, got), "other bytes come in than were put");
      received_ += got;
    });
  }

  void write(std::size_t count) {
    if (writes_ > 0 || has_failed_ || count == 0)
      return;
    ++writes_;
    bytes_ = stream_bytes(sent_, count);
    sent_ += count;
    pieces_ = {bytes_view{bytes_}.first(count / 3), bytes_view{bytes_}.subspan(count / 3)};
    near_->write(pieces_, [this](std::error_code error) {
      --writes_;
      has_failed_ = has_failed_ || error;
    });
  }

  void write_now(std::size_t count) {
    if (writes_ > 0 || has_failed_)
      return;
    const auto bytes = stream_bytes(sent_, count);
    std::array<bytes_view, 2> pieces{bytes_view{bytes}.first(count / 2), bytes_view{bytes}.subspan(count / 2)};
    const auto done = near_->write_now(pieces);
    fuzz::expect(!done || *done <= count, "more was written than there is");
    has_failed_ = has_failed_ || !done;
    sent_ += done.value_or(0);
  }

  void run() {
    io_.restart();
    for (int i = 0; i < 10'000 && io_.poll_one() > 0; ++i) {
    }
  }

  void wake(std::uint8_t times) {
    const std::array<std::byte, 255> look{};
    if (peer_ >= 0)
      static_cast<void>(::send(peer_, look.data(), std::max<std::size_t>(1, times), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  asio::io_context io_;
  int peer_ = -1;
  std::shared_ptr<transport> near_;
  std::optional<ring_memory> memory_; // The peer's view of it.
  std::optional<ring_writer<shared_word>> out_;
  std::optional<ring_reader<shared_word>> in_;
  bool is_honest_ = true;
  bool has_failed_ = false;
  int reads_ = 0; // In progress.
  int writes_ = 0;
  std::size_t put_ = 0;
  std::size_t received_ = 0;
  std::size_t sent_ = 0;
  std::size_t taken_ = 0;
  byte_vector into_;
  byte_vector bytes_;
  std::vector<bytes_view> pieces_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  script input{std::as_bytes(std::span(data, size))};
  play game;
  for (std::size_t steps = 0; steps < steps_max && !input.empty(); ++steps)
    game.step(input);
  game.finish();
  return 0;
}

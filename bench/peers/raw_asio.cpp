#include "peers/raw_asio.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"

#include <array>
#include <cassert>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <unistd.h>

namespace bench {

namespace {

using unix_stream = asio::local::stream_protocol;
using command = hand_coded_command;

constexpr std::size_t batch_bytes = 64 << 10;

/// Gathers messages until there are enough to write at once.
class batch {
public:
  void add(const small_message& message) {
    assert(!is_full());
    used_ += hand_coded::encode(message, bytes_.data() + used_);
  }
  void add(const small_messages& messages) {
    assert(!is_full(messages.size()));
    used_ += hand_coded::encode_each(messages, bytes_.data() + used_);
  }
  /// Whether there may be no room for that many more structs.
  [[nodiscard]] bool is_full(std::size_t structs = 1) const {
    return bytes_.size() - used_ < structs * hand_coded::bytes_max;
  }
  void write_to(unix_stream::socket& socket) {
    asio::write(socket, asio::buffer(bytes_.data(), used_));
    used_ = 0;
  }

private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(batch_bytes);
  std::size_t used_ = 0;
};

/// Reads the available bytes and passes on the complete messages in them.
class message_reader {
public:
  template <class Handler>
  void read_from(unix_stream::socket& socket, const Handler& handler) {
    used_ += socket.read_some(asio::buffer(bytes_.data() + used_, bytes_.size() - used_));
    const auto taken = hand_coded::decode_each(std::span{bytes_}.first(used_), message_, handler);
    std::memmove(bytes_.data(), bytes_.data() + taken, used_ - taken);
    used_ -= taken;
  }

private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(batch_bytes);
  std::size_t used_ = 0;
  small_message message_; // Reused, so that its text needs no new memory.
};

template <class T>
void write_object(unix_stream::socket& socket, const T& object) {
  asio::write(socket, asio::buffer(&object, sizeof object));
}

template <class T>
T read_object(unix_stream::socket& socket) {
  T object{};
  asio::read(socket, asio::buffer(&object, sizeof object));
  return object;
}

void consume(unix_stream::socket& socket, std::uint64_t count) {
  message_reader reader;
  for (std::uint64_t received = 0; received < count;)
    reader.read_from(socket, [&](const small_message& message) {
      check_number(message, received++);
      if (is_acknowledged(received, count))
        write_object(socket, received);
    });
}

void send_back(unix_stream::socket& socket, std::uint64_t count) {
  message_reader reader;
  batch answers;
  for (std::uint64_t received = 0; received < count;) {
    reader.read_from(socket, [&](const small_message& message) {
      check_number(message, received++);
      answers.add(message);
      if (answers.is_full())
        answers.write_to(socket);
    });
    answers.write_to(socket);
  }
}

/// The size precedes each value.
void take(unix_stream::socket& socket, std::uint64_t count) {
  std::vector<char> value; // Reused, as efficient programs do.
  for (std::uint64_t taken = 0; taken < count; ++taken) {
    value.resize(read_object<std::uint64_t>(socket));
    asio::read(socket, asio::buffer(value));
    write_object(socket, number_of_large(value));
  }
}

void serve_one(unix_stream::socket socket) {
  for (;;) {
    const auto [what, count] = read_object<command>(socket);
    if (what == command::kind::consume)
      consume(socket, count);
    else if (what == command::kind::echo)
      send_back(socket, count);
    else
      take(socket, count);
  }
}

unix_stream::endpoint endpoint_of(const std::string& name) {
  return unix_stream::endpoint{std::string(1, '\0') + name}; // An abstract name, which has no file.
}

class raw_asio_near_end : public near_end {
public:
  raw_asio_near_end(const std::string& address, load carried) : carried_(carried) {
    socket_.connect(endpoint_of(address));
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    write_object(socket_, command{command::kind::consume, count});
    std::uint64_t acknowledged = 0;
    const auto added_at_once = carried_ == load::one_struct ? 1 : structs_together;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max && !batch_.is_full(added_at_once))
        add_next(sent, count);
      batch_.write_to(socket_);
      if (sent == count || sent - acknowledged == window_max)
        acknowledged = read_object<std::uint64_t>(socket_);
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    write_object(socket_, command{command::kind::echo, count});
    std::uint64_t answered = 0;
    for (std::uint64_t sent = 0; answered < count;) {
      const auto sent_at = bench_clock::now();
      while (sent < count && sent - answered < window && !batch_.is_full())
        batch_.add(numbered(sent++));
      batch_.write_to(socket_);
      reader_.read_from(socket_, [&](const small_message& message) { check_number(message, answered++); });
      if (round_trips != nullptr)
        round_trips->push_back(bench_clock::now() - sent_at);
    }
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    write_object(socket_, command{command::kind::take, count});
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      const std::uint64_t size = bytes.size();
      asio::write(socket_, std::array{asio::buffer(&size, sizeof size), asio::buffer(bytes)});
      return read_object<std::uint64_t>(socket_);
    });
  }

private:
  /// A stream has no messages: structs that are built together are encoded one after the other as usual.
  void add_next(std::uint64_t& sent, std::uint64_t count) {
    if (carried_ == load::one_struct) {
      batch_.add(numbered(sent++));
      return;
    }
    const auto messages = numbered_together(sent, count);
    batch_.add(messages);
    sent += messages.size();
  }

  load carried_;
  asio::io_context context_;
  unix_stream::socket socket_{context_};
  batch batch_;
  message_reader reader_;
};

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_raw_asio(const ready_report& ready) {
  asio::io_context context;
  const auto address = "troupe-bench-raw-" + std::to_string(::getpid());
  unix_stream::acceptor acceptor{context, endpoint_of(address)};
  ready(address);
  std::thread{[&acceptor] {
    try {
      serve_one(acceptor.accept());
    } catch (const std::system_error&) {
      // The near end is gone.
    }
  }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits in the socket.
}

subject raw_asio(std::string name, load carried) {
  return {std::move(name), serve_raw_asio,
          [carried](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<raw_asio_near_end>(address, carried);
          }};
}

} // namespace

subject raw_asio_unix() {
  return raw_asio("raw-asio-unix", load::one_struct);
}

subject batches_raw_asio_unix() {
  return raw_asio("batches-raw-asio-unix", load::many_structs);
}

} // namespace bench

#include "peers/nng.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <unistd.h>

namespace bench {

namespace {

using command = hand_coded_command;

void must(int result) {
  if (result != 0)
    throw std::runtime_error{nng_strerror(result)};
}

/// Owns a message to be sent or a received one.
class packet {
public:
  explicit packet(std::size_t size_bytes) { must(nng_msg_alloc(&message_, size_bytes)); }
  explicit packet(nng_msg* message) : message_(message) {}
  packet(packet&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
  packet& operator=(packet&&) = delete;
  ~packet() { nng_msg_free(message_); } // Null is ignored.

  [[nodiscard]] std::span<std::byte> bytes() {
    return {static_cast<std::byte*>(nng_msg_body(message_)), nng_msg_len(message_)};
  }
  void shorten(std::size_t size_bytes) { must(nng_msg_chop(message_, nng_msg_len(message_) - size_bytes)); }
  nng_msg* release() { return std::exchange(message_, nullptr); }

private:
  nng_msg* message_ = nullptr;
};

class nng_end {
public:
  /// Uses the largest possible queues and does not bound a message's size: the benchmark has its own bounds.
  nng_end() {
    must(nng_pair0_open(&socket_));
    constexpr int queued_messages_max = 8192;
    must(nng_socket_set_int(socket_, NNG_OPT_SENDBUF, queued_messages_max));
    must(nng_socket_set_int(socket_, NNG_OPT_RECVBUF, queued_messages_max));
    must(nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0));
  }
  nng_end(const nng_end&) = delete;
  nng_end& operator=(const nng_end&) = delete;
  ~nng_end() { nng_close(socket_); }

  void listen(const std::string& address) { must(nng_listen(socket_, address.c_str(), nullptr, 0)); }
  void dial(const std::string& address) { must(nng_dial(socket_, address.c_str(), nullptr, 0)); }

  void send(packet what) {
    must(nng_sendmsg(socket_, what.release(), 0)); // The socket owns it now. If sending fails, the process ends.
  }
  template <class T>
  void send_object(const T& object) {
    packet made{sizeof object};
    std::memcpy(made.bytes().data(), &object, sizeof object);
    send(std::move(made));
  }
  /// Encodes in place, as nng's messages allow.
  void send_message(const small_message& message) {
    packet made{hand_coded::bytes_max};
    made.shorten(hand_coded::encode(message, made.bytes().data()));
    send(std::move(made));
  }

  packet receive() {
    nng_msg* message = nullptr;
    must(nng_recvmsg(socket_, &message, 0));
    return packet{message};
  }
  template <class T>
  T receive_object() {
    auto came = receive();
    T object{};
    std::memcpy(&object, came.bytes().data(), std::min(sizeof object, came.bytes().size()));
    return object;
  }
  void receive_message(small_message& into) { hand_coded::decode(receive().bytes(), into); }

private:
  nng_socket socket_ = NNG_SOCKET_INITIALIZER;
};

/// An abstract name, which has no file.
std::string address_of(const std::string& name) {
  return "abstract://" + name;
}

class nng_server {
public:
  explicit nng_server(const std::string& name) { socket_.listen(address_of(name)); }

  [[noreturn]] void serve() {
    for (;;) {
      const auto [what, count] = socket_.receive_object<command>();
      for (std::uint64_t received = 0; received < count;) {
        if (what == command::kind::take) {
          auto came = socket_.receive();
          const auto bytes = came.bytes();
          socket_.send_object(number_of_large({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
          ++received;
          continue;
        }
        socket_.receive_message(message_);
        check_number(message_, received++);
        if (what == command::kind::echo)
          socket_.send_message(message_);
        else if (is_acknowledged(received, count))
          socket_.send_object(received);
      }
    }
  }

private:
  nng_end socket_;
  small_message message_;
};

class nng_near_end : public near_end {
public:
  explicit nng_near_end(const std::string& name) { socket_.dial(address_of(name)); }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    socket_.send_object(command{command::kind::consume, count});
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max)
        socket_.send_message(numbered(sent++));
      acknowledged = socket_.receive_object<std::uint64_t>();
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    socket_.send_object(command{command::kind::echo, count});
    const auto send = [this](const small_message& message) { socket_.send_message(message); };
    exchange_echoes(count, window, round_trips, send, [this](std::uint64_t& answered) {
      socket_.receive_message(message_);
      check_number(message_, answered++);
    });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    socket_.send_object(command{command::kind::take, count});
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      packet made{bytes.size()};
      std::memcpy(made.bytes().data(), bytes.data(), bytes.size());
      socket_.send(std::move(made));
      return socket_.receive_object<std::uint64_t>();
    });
  }

private:
  nng_end socket_;
  small_message message_;
};

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_nng(const ready_report& ready) {
  const auto name = "troupe-bench-nng-" + std::to_string(::getpid());
  nng_server far{name};
  ready(name);
  std::thread{[&far] { far.serve(); }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits in a socket.
}

} // namespace

subject nng_ipc() {
  return {"nng-ipc", serve_nng,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<nng_near_end>(address);
          }};
}

} // namespace bench

#include "peers/zeromq.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"

#include <array>
#include <thread>

#include <unistd.h>
#include <zmq.hpp>

namespace bench {

namespace {

using command = hand_coded_command;

/// Opens a socket without ZeroMQ's bound on queued messages: the benchmark's own bound, the same for all subjects,
/// is the only one.
zmq::socket_t open_socket(zmq::context_t& context, zmq::socket_type type) {
  zmq::socket_t socket{context, type};
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  socket.set(zmq::sockopt::linger, 0);
  return socket;
}

// Both are abstract names, which have no files.
std::string stream_address(const std::string& name) {
  return "ipc://@" + name + "-stream";
}
std::string question_address(const std::string& name) {
  return "ipc://@" + name + "-questions";
}

void send_message(zmq::socket_t& socket, const small_message& message) {
  std::array<std::byte, hand_coded::bytes_max> bytes;
  const auto size = hand_coded::encode(message, bytes.data());
  socket.send(zmq::const_buffer{bytes.data(), size}, zmq::send_flags::none);
}

void receive(zmq::socket_t& socket, zmq::message_t& into) {
  if (!socket.recv(into))
    throw zmq::error_t{};
}

std::span<const std::byte> bytes_of(const zmq::message_t& packet) {
  return {static_cast<const std::byte*>(packet.data()), packet.size()};
}

/// The far end. One thread serves both sockets, because only one is in use at a time.
class zeromq_server {
public:
  explicit zeromq_server(const std::string& name) {
    stream_.bind(stream_address(name));
    questions_.bind(question_address(name));
  }

  [[noreturn]] void serve() {
    for (;;) {
      receive(questions_, asker_);
      receive(questions_, packet_);
      const auto [what, count] = *packet_.data<command>();
      if (what == command::kind::consume)
        consume(count);
      else if (what == command::kind::echo)
        send_back(count);
      else
        take(count);
    }
  }

private:
  void consume(std::uint64_t count) {
    for (std::uint64_t received = 0; received < count;) {
      receive(stream_, packet_);
      hand_coded::decode_each(bytes_of(packet_), message_, [&](const small_message& message) {
        check_number(message, received++);
        if (!is_acknowledged(received, count))
          return;
        questions_.send(zmq::const_buffer{asker_.data(), asker_.size()}, zmq::send_flags::sndmore);
        questions_.send(zmq::const_buffer{&received, sizeof received}, zmq::send_flags::none);
      });
    }
  }

  void send_back(std::uint64_t count) {
    for (std::uint64_t received = 0; received < count;) {
      receive(questions_, asker_);
      receive(questions_, packet_);
      hand_coded::decode(bytes_of(packet_), message_);
      check_number(message_, received++);
      questions_.send(asker_, zmq::send_flags::sndmore);
      send_message(questions_, message_);
    }
  }

  void take(std::uint64_t count) {
    for (std::uint64_t taken = 0; taken < count; ++taken) {
      receive(questions_, asker_);
      receive(questions_, packet_);
      const auto number = number_of_large({packet_.data<char>(), packet_.size()});
      questions_.send(asker_, zmq::send_flags::sndmore);
      questions_.send(zmq::const_buffer{&number, sizeof number}, zmq::send_flags::none);
    }
  }

  zmq::context_t context_;
  zmq::socket_t stream_ = open_socket(context_, zmq::socket_type::pull);
  zmq::socket_t questions_ = open_socket(context_, zmq::socket_type::router);
  zmq::message_t asker_; // The sender of the router socket's present question.
  zmq::message_t packet_;
  small_message message_;
};

class zeromq_near_end : public near_end {
public:
  zeromq_near_end(const std::string& name, load carried) : carried_(carried) {
    stream_.connect(stream_address(name));
    questions_.connect(question_address(name));
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    send_command({command::kind::consume, count});
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max)
        stream_next(sent, count);
      receive(questions_, packet_);
      acknowledged = *packet_.data<std::uint64_t>();
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    send_command({command::kind::echo, count});
    const auto send = [this](const small_message& message) { send_message(questions_, message); };
    exchange_echoes(count, window, round_trips, send, [this](std::uint64_t& answered) {
      receive(questions_, packet_);
      hand_coded::decode(bytes_of(packet_), message_);
      check_number(message_, answered++);
    });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    send_command({command::kind::take, count});
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      questions_.send(zmq::const_buffer{bytes.data(), bytes.size()}, zmq::send_flags::none);
      receive(questions_, packet_);
      return *packet_.data<std::uint64_t>();
    });
  }

private:
  void stream_next(std::uint64_t& sent, std::uint64_t count) {
    if (carried_ == load::one_struct) {
      send_message(stream_, numbered(sent++));
      return;
    }
    const auto messages = numbered_together(sent, count);
    const auto size = hand_coded::encode_each(messages, together_.data());
    stream_.send(zmq::const_buffer{together_.data(), size}, zmq::send_flags::none);
    sent += messages.size();
  }

  void send_command(const command& what) {
    questions_.send(zmq::const_buffer{&what, sizeof what}, zmq::send_flags::none);
  }

  zmq::context_t context_;
  zmq::socket_t stream_ = open_socket(context_, zmq::socket_type::push);
  zmq::socket_t questions_ = open_socket(context_, zmq::socket_type::dealer);
  zmq::message_t packet_;
  small_message message_;
  load carried_;
  std::vector<std::byte> together_ = std::vector<std::byte>(hand_coded::bytes_max_together);
};

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_zeromq(const ready_report& ready) {
  const auto name = "troupe-bench-zeromq-" + std::to_string(::getpid());
  zeromq_server far{name};
  ready(name);
  std::thread{[&far] { far.serve(); }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits in a socket.
}

subject zeromq(std::string name, load carried) {
  return {std::move(name), serve_zeromq,
          [carried](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<zeromq_near_end>(address, carried);
          }};
}

} // namespace

subject zeromq_ipc() {
  return zeromq("zeromq-ipc", load::one_struct);
}

subject batches_zeromq_ipc() {
  return zeromq("batches-zeromq-ipc", load::many_structs);
}

} // namespace bench

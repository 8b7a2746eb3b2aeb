#include "peers/redis.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"
#include "peers/own_folder.hpp"
#include "peers/own_server.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include <hiredis/hiredis.h>

namespace bench {

namespace {

using command = hand_coded_command;
using characters = std::span<const char>;

/// Commands that are written at once when many are sent, which the documentation calls pipelining.
constexpr std::uint64_t pipelined_commands = 500;

// The channels, named after their destination.
constexpr std::string_view to_far = "far";
constexpr std::string_view to_near = "near";

struct reply_deleter {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using reply = std::unique_ptr<redisReply, reply_deleter>;

class redis_connection {
public:
  /// Returns null if no server listens yet.
  static std::unique_ptr<redis_connection> open(const std::string& address) {
    auto* const context = redisConnectUnix(address.c_str());
    auto made = std::unique_ptr<redis_connection>{new redis_connection{context}};
    return context == nullptr || context->err != 0 ? nullptr : std::move(made);
  }
  redis_connection(const redis_connection&) = delete;
  redis_connection& operator=(const redis_connection&) = delete;
  ~redis_connection() { redisFree(context_); }

  void append(std::initializer_list<characters> words) {
    std::array<const char*, 3> texts{};
    std::array<std::size_t, 3> sizes{};
    std::size_t count = 0;
    for (const auto word : words) {
      texts[count] = word.data();
      sizes[count++] = word.size();
    }
    if (redisAppendCommandArgv(context_, static_cast<int>(count), texts.data(), sizes.data()) != REDIS_OK)
      fail();
  }

  void write_out() {
    for (int is_done = 0; is_done == 0;)
      if (redisBufferWrite(context_, &is_done) != REDIS_OK)
        fail();
  }

  reply receive() {
    void* came = nullptr;
    if (redisGetReply(context_, &came) != REDIS_OK)
      fail();
    return reply{static_cast<redisReply*>(came)};
  }

  /// A reply from bytes already read; null if none is complete.
  reply receive_ready() {
    void* came = nullptr;
    if (redisReaderGetReply(context_->reader, &came) != REDIS_OK)
      fail();
    return reply{static_cast<redisReply*>(came)};
  }

private:
  explicit redis_connection(redisContext* context) : context_(context) {}
  [[noreturn]] void fail() const { throw std::runtime_error{std::string{"redis: "} + context_->errstr}; }

  redisContext* context_;
};

/// One end: a connection that publishes and one that is subscribed.
class redis_end {
public:
  redis_end(const std::string& address, std::string_view to, std::string_view from)
      : speaking_(must_open(address)), hearing_(must_open(address)), to_(to) {
    hearing_->append({std::string_view{"SUBSCRIBE"}, from});
    hearing_->write_out();
    static_cast<void>(hearing_->receive());
  }

  /// Sent with the next flush.
  void publish(characters bytes) {
    speaking_->append({std::string_view{"PUBLISH"}, to_, bytes});
    ++appended_;
  }
  template <class T>
  void publish_object(const T& object) {
    publish({reinterpret_cast<const char*>(&object), sizeof object});
  }
  void publish_message(const small_message& message) {
    std::array<std::byte, hand_coded::bytes_max> bytes;
    publish({reinterpret_cast<const char*>(bytes.data()), hand_coded::encode(message, bytes.data())});
  }

  /// The server answers each command. The answers are read before the next commands are written. They have arrived by
  /// then, so reading them does not wait.
  void flush() {
    for (; unanswered_ > 0; --unanswered_)
      if (const auto answer = speaking_->receive(); answer->type != REDIS_REPLY_INTEGER || answer->integer != 1)
        throw std::runtime_error{"redis: a message was published to nobody"};
    speaking_->write_out();
    unanswered_ = std::exchange(appended_, 0);
  }
  [[nodiscard]] std::uint64_t appended() const { return appended_; }

  /// Waits for the next message and passes it to `handle`, followed by the other messages that have arrived.
  template <class Handle>
  void hear(const Handle& handle) {
    for (auto next = hearing_->receive(); next != nullptr; next = hearing_->receive_ready()) {
      if (next->type != REDIS_REPLY_ARRAY || next->elements != 3)
        throw std::runtime_error{"redis: a message that is none"};
      handle(characters{next->element[2]->str, static_cast<std::size_t>(next->element[2]->len)});
    }
  }

  /// Requires: nothing else is in flight.
  template <class T>
  T hear_object() {
    T object{};
    hear([&](characters bytes) { std::memcpy(&object, bytes.data(), std::min(sizeof object, bytes.size())); });
    return object;
  }

private:
  static std::unique_ptr<redis_connection> must_open(const std::string& address) {
    auto made = redis_connection::open(address);
    if (made == nullptr)
      throw std::runtime_error{"redis: cannot connect to " + address};
    return made;
  }

  std::unique_ptr<redis_connection> speaking_;
  std::unique_ptr<redis_connection> hearing_;
  std::string_view to_;
  std::uint64_t appended_ = 0;
  std::uint64_t unanswered_ = 0; // Commands written whose answers have not been read.
};

void decode(characters from, small_message& into) {
  hand_coded::decode(std::as_bytes(from), into);
}

[[noreturn]] void serve_near_end(redis_end& end) {
  small_message message;
  command asked;
  std::uint64_t received = 0;
  for (;;) {
    end.hear([&](characters bytes) {
      if (received == asked.count) { // This is the next command.
        std::memcpy(&asked, bytes.data(), sizeof asked);
        received = 0;
        return;
      }
      if (asked.what == command::kind::take) {
        ++received;
        end.publish_object(number_of_large(bytes));
        return;
      }
      decode(bytes, message);
      check_number(message, received++);
      if (asked.what == command::kind::echo)
        end.publish_message(message);
      else if (is_acknowledged(received, asked.count))
        end.publish_object(received);
    });
    if (end.appended() > 0)
      end.flush();
  }
}

class redis_near_end : public near_end {
public:
  explicit redis_near_end(const std::string& address) : end_(address, to_far, to_near) {
    own_folder::remove(std::filesystem::path{address}.parent_path()); // No other process will connect.
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    end_.publish_object(command{command::kind::consume, count});
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max && end_.appended() < pipelined_commands)
        end_.publish_message(numbered(sent++));
      end_.flush();
      if (sent == count || sent - acknowledged == window_max)
        end_.hear([&](characters bytes) { std::memcpy(&acknowledged, bytes.data(), sizeof acknowledged); });
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    end_.publish_object(command{command::kind::echo, count});
    const auto send = [this](const small_message& message) { end_.publish_message(message); };
    exchange_echoes(count, window, round_trips, send, [this](std::uint64_t& answered) {
      end_.flush();
      end_.hear([&](characters bytes) {
        decode(bytes, message_);
        check_number(message_, answered++);
      });
    });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    end_.publish_object(command{command::kind::take, count});
    end_.flush();
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      end_.publish(bytes);
      end_.flush();
      return end_.hear_object<std::uint64_t>();
    });
  }

private:
  redis_end end_;
  small_message message_;
};

/// Starts a server that keeps nothing on disk and does not bound how far a subscriber is behind. The benchmark has its
/// own bound; by default, Redis would cut off a subscriber that is sent 256 MiB at once.
std::expected<troupe::processes::process, std::string> start_redis_server(const std::filesystem::path& folder,
                                                                          const std::string& socket) {
  return start_server(TROUPE_BENCH_REDIS_SERVER,
                      {"redis-server", "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir",
                       folder.string(), "--save", "", "--appendonly", "no", "--daemonize", "no", "--set-proc-title",
                       "no", "--client-output-buffer-limit", "pubsub 0 0 0"},
                      [&socket] { return redis_connection::open(socket) != nullptr; });
}

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_redis(const ready_report& ready) {
  std::optional<own_folder> folder{std::in_place, "troupe-bench-redis"};
  const auto address = (folder->path() / "socket").string();
  auto server = start_redis_server(folder->path(), address);
  if (!server)
    return std::unexpected{std::move(server).error()};
  redis_end far{address, to_near, to_far};
  ready(address);
  serve_by(*std::move(server), folder, [&far] { serve_near_end(far); });
}

} // namespace

subject redis_unix() {
  return {"redis-unix", serve_redis,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<redis_near_end>(address);
          }};
}

} // namespace bench

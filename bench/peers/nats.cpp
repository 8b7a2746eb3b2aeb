#include "peers/nats.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"
#include "peers/own_folder.hpp"
#include "peers/own_server.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include <nats/nats.h>

namespace bench {

namespace {

// The subjects, named after their destination.
constexpr const char* nats_to_far = "bench.far";
constexpr const char* nats_to_near = "bench.near";

/// A server accepts no message above 64 MiB, and by default none above this size. Larger values are sent in pieces, as
/// in its object store.
constexpr std::size_t piece_bytes_max = 1 << 20;

void must(natsStatus status) {
  if (status != NATS_OK)
    throw std::runtime_error{std::string{"nats: "} + natsStatus_GetText(status)};
}

enum class nats_writing : std::uint8_t {
  gathered, ///< The default: a thread of the library writes the messages gathered within a millisecond.
  at_once,  ///< Writes each message by itself.
};

class nats_connection {
public:
  nats_connection(const std::string& address, nats_writing how) {
    natsOptions* options = nullptr;
    must(natsOptions_Create(&options));
    natsOptions_SetURL(options, address.c_str());
    natsOptions_SetAllowReconnect(options, false);
    natsOptions_SetSendAsap(options, how == nats_writing::at_once);
    const auto status = natsConnection_Connect(&connection_, options);
    natsOptions_Destroy(options);
    must(status);
  }
  nats_connection(const nats_connection&) = delete;
  nats_connection& operator=(const nats_connection&) = delete;
  ~nats_connection() { natsConnection_Destroy(connection_); }

  void publish(const char* subject, const void* bytes, std::size_t size) {
    must(natsConnection_Publish(connection_, subject, bytes, static_cast<int>(size)));
  }

  [[nodiscard]] natsConnection* get() const { return connection_; }

private:
  natsConnection* connection_ = nullptr;
};

/// The receiving side of one end.
class nats_hearing {
public:
  nats_hearing(const std::string& address, const char* subject) : connection_(address, nats_writing::at_once) {
    must(natsConnection_SubscribeSync(&subscription_, connection_.get(), subject));
    constexpr int no_limit = -1; // The benchmark has its own bound.
    must(natsSubscription_SetPendingLimits(subscription_, no_limit, no_limit));
    must(natsConnection_Flush(connection_.get())); // Now the server knows the subscription.
  }
  nats_hearing(const nats_hearing&) = delete;
  nats_hearing& operator=(const nats_hearing&) = delete;
  ~nats_hearing() { natsSubscription_Destroy(subscription_); }

  /// Waits for the next message and passes it to `handle`.
  template <class Handle>
  void hear(const Handle& handle) {
    constexpr std::int64_t for_ever_ms = 1'000'000'000;
    natsMsg* message = nullptr;
    must(natsSubscription_NextMsg(&message, subscription_, for_ever_ms));
    handle(std::span{natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))});
    natsMsg_Destroy(message);
  }

  template <class T>
  T hear_object() {
    T object{};
    hear([&](std::span<const char> bytes) {
      std::memcpy(&object, bytes.data(), std::min(sizeof object, bytes.size()));
    });
    return object;
  }

  /// Waits for the next struct, and checks its number.
  void hear_message(small_message& into, std::uint64_t number) {
    hear([&](std::span<const char> bytes) { hand_coded::decode(std::as_bytes(bytes), into); });
    check_number(into, number);
  }

  /// Messages published through this connection are sent at once.
  [[nodiscard]] nats_connection& speaking() { return connection_; }

private:
  nats_connection connection_;
  natsSubscription* subscription_ = nullptr;
};

template <class T>
void publish_object(nats_connection& by, const char* subject, const T& object) {
  by.publish(subject, &object, sizeof object);
}

void publish_message(nats_connection& by, const char* subject, const small_message& message) {
  std::array<std::byte, hand_coded::bytes_max> bytes;
  by.publish(subject, bytes.data(), hand_coded::encode(message, bytes.data()));
}

/// The near end's request, and the size of its values.
struct nats_command {
  hand_coded_command asked;
  std::uint64_t size_bytes = 0;
};

[[noreturn]] void serve_near_end(nats_hearing& end) {
  using kind = hand_coded_command::kind;
  small_message message;
  std::vector<char> value; // Reused.
  for (;;) {
    const auto [asked, size_bytes] = end.hear_object<nats_command>();
    for (std::uint64_t received = 0; received < asked.count;) {
      if (asked.what == kind::take) {
        value.resize(size_bytes);
        for (std::size_t at = 0; at < size_bytes;)
          end.hear([&](std::span<const char> bytes) {
            std::memcpy(value.data() + at, bytes.data(), std::min(bytes.size(), size_bytes - at));
            at += bytes.size();
          });
        ++received;
        publish_object(end.speaking(), nats_to_near, number_of_large(value));
        continue;
      }
      end.hear_message(message, received++);
      if (asked.what == kind::echo)
        publish_message(end.speaking(), nats_to_near, message);
      else if (is_acknowledged(received, asked.count))
        publish_object(end.speaking(), nats_to_near, received);
    }
  }
}

class nats_near_end : public near_end {
public:
  explicit nats_near_end(const std::string& address)
      : stream_(address, nats_writing::gathered), questions_(address, nats_to_near) {}

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    ask(stream_, {{hand_coded_command::kind::consume, count}}); // The stream's own connection keeps the order.
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max)
        publish_message(stream_, nats_to_far, numbered(sent++));
      acknowledged = questions_.hear_object<std::uint64_t>();
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    auto& speaking = questions_.speaking();
    ask(speaking, {{hand_coded_command::kind::echo, count}});
    const auto send = [&speaking](const small_message& message) { publish_message(speaking, nats_to_far, message); };
    exchange_echoes(count, window, round_trips, send,
                    [this](std::uint64_t& answered) { questions_.hear_message(message_, answered++); });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    auto& speaking = questions_.speaking();
    ask(speaking, {{hand_coded_command::kind::take, count}, size_bytes});
    return time_large_values(count, size_bytes, [&](const std::vector<char>& bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += piece_bytes_max)
        speaking.publish(nats_to_far, bytes.data() + at, std::min(piece_bytes_max, bytes.size() - at));
      return questions_.hear_object<std::uint64_t>();
    });
  }

private:
  static void ask(nats_connection& by, const nats_command& what) { publish_object(by, nats_to_far, what); }

  nats_connection stream_;
  nats_hearing questions_;
  small_message message_;
};

/// The address of the server that has this folder, or nullopt until it listens.
std::optional<std::string> nats_address(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{folder, ignored}) {
    if (entry.path().extension() != ".ports")
      continue;
    std::ifstream file{entry.path()};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto begin = text.find("nats://");
    const auto end = text.find('"', begin);
    if (begin != std::string::npos && end != std::string::npos)
      return text.substr(begin, end - begin);
  }
  return std::nullopt;
}

/// Starts a server on a free port of the loopback device. The benchmark bounds how far a subscriber is behind: with its
/// default bound, the server would cut off a subscriber that is sent 256 MiB at once.
std::expected<troupe::processes::process, std::string> start_nats_server(const std::filesystem::path& folder) {
  const auto settings = folder / "settings";
  std::ofstream{settings} << "listen: \"127.0.0.1:-1\"\nports_file_dir: \"" << folder.string()
                          << "\"\nmax_pending: 1073741824\nwrite_deadline: \"60s\"\n";
  return start_server(TROUPE_BENCH_NATS_SERVER, {"nats-server", "-c", settings.string()},
                      [&folder] { return nats_address(folder).has_value(); });
}

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_nats(const ready_report& ready) {
  std::optional<own_folder> folder{std::in_place, "troupe-bench-nats"};
  auto server = start_nats_server(folder->path());
  if (!server)
    return std::unexpected{std::move(server).error()};
  const auto address = nats_address(folder->path()).value();
  folder.reset(); // The folder is not needed any more. Removed now, it cannot be left behind.
  nats_hearing far{address, nats_to_far};
  ready(address);
  serve_by(*std::move(server), folder, [&far] { serve_near_end(far); });
}

} // namespace

subject nats_tcp() {
  return {"nats-tcp", serve_nats,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<nats_near_end>(address);
          }};
}

} // namespace bench

#include "peers/iceoryx.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"
#include "peers/own_folder.hpp"
#include "peers/polling.hpp"

#include <troupe/processes/process.hpp>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_hoofs/platform/platform_settings.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace bench {

namespace {

using troupe::processes::lines;
using troupe::processes::nothing;
using troupe::processes::process;

enum class iceoryx_waiting : std::uint8_t { by_polling, by_waitset };

// Topics, named after their destination.
constexpr const char* topic_to_far = "to-far";
constexpr const char* topic_to_near = "to-near";

/// The near end's request and process.
struct iceoryx_command {
  hand_coded_command asked;
  pid_t near_process = 0;
};

iox::capro::ServiceDescription description_of(const std::string& run, const char* topic) {
  return {"troupe-bench", iox::capro::IdString_t{iox::cxx::TruncateToCapacity, run},
          iox::capro::IdString_t{iox::cxx::TruncateToCapacity, std::string{topic}}};
}

/// Nothing is lost: a publisher waits if its subscriber's queue, which holds 256 messages, is full.
iox::popo::PublisherOptions publishing() {
  iox::popo::PublisherOptions options;
  options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
  return options;
}
iox::popo::SubscriberOptions subscribing() {
  iox::popo::SubscriberOptions options;
  options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
  return options;
}

std::string runtime_name() {
  return "troupe-bench-iceoryx-" + std::to_string(::getpid());
}

/// Starts the runtime, which every end needs first. The daemon answers through files that are not needed later.
void join_runtime() {
  iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kOff,
                                                           iox::log::LogLevelOutput::kHideLogLevel);
  iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t{iox::cxx::TruncateToCapacity, runtime_name()});
}

/// Removes these files, so that none is left behind however this process ends. Requires: both ends have met.
void remove_files_of_runtime() {
  std::error_code ignored;
  for (const auto* ending : {"", ".lock"})
    std::filesystem::remove(std::string{iox::platform::IOX_UDS_SOCKET_PATH_PREFIX} + runtime_name() + ending, ignored);
}

/// One end: its publisher and its subscriber.
class iceoryx_end {
public:
  /// Requires: the daemon runs, and this process has no other end.
  iceoryx_end(const std::string& run, const char* to, const char* from, iceoryx_waiting how)
      : out_(description_of(run, to), publishing()), in_(description_of(run, from), subscribing()) {
    if (how == iceoryx_waiting::by_polling)
      return;
    waits_.emplace();
    if (waits_->attachState(in_, iox::popo::SubscriberState::HAS_DATA).has_error())
      throw std::runtime_error{"iceoryx: a WaitSet takes no subscriber"};
  }

  /// Waits up to ten seconds for the other end. Throws if it does not come.
  void meet() const {
    const auto deadline = bench_clock::now() + std::chrono::seconds{10};
    while (!out_.hasSubscribers() || in_.getSubscriptionState() != iox::SubscribeState::SUBSCRIBED) {
      if (bench_clock::now() > deadline)
        throw std::runtime_error{"iceoryx: the two ends do not find each other"};
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    remove_files_of_runtime();
  }

  /// To be called when the ends may have moved to other cores.
  void look_at_cores(pid_t other) { is_polite_ = share_one_core(other); }

  /// Publishes `size_bytes` of shared memory after `fill` has written them.
  template <class Fill>
  void publish(std::size_t size_bytes, const Fill& fill) {
    auto loaned = out_.loan(static_cast<std::uint32_t>(size_bytes));
    if (loaned.has_error())
      throw std::runtime_error{"iceoryx: no memory for " + std::to_string(size_bytes) + " bytes"};
    fill(static_cast<std::byte*>(loaned.value()));
    out_.publish(loaned.value());
  }
  template <class T>
  void publish_object(const T& object) {
    publish(sizeof object, [&](std::byte* to) { std::memcpy(to, &object, sizeof object); });
  }
  void publish_message(const small_message& message) {
    publish(hand_coded::bytes_max, [&](std::byte* to) { hand_coded::encode(message, to); });
  }

  /// Waits for the next message and passes it to `handle`, followed by the other messages that have arrived, until
  /// `handle` returns false.
  template <class Handle>
  void hear(const Handle& handle) {
    for (bool goes_on = true, has_heard = false; goes_on;) {
      auto taken = in_.take();
      if (taken.has_error()) {
        if (has_heard)
          return;
        wait();
        continue;
      }
      const auto* bytes = static_cast<const std::byte*>(taken.value());
      const auto size = iox::mepoo::ChunkHeader::fromUserPayload(bytes)->userPayloadSize();
      goes_on = handle(std::span{bytes, size});
      in_.release(bytes);
      has_heard = true;
    }
  }

  template <class T>
  T hear_object() {
    T object{};
    hear([&](std::span<const std::byte> bytes) {
      std::memcpy(&object, bytes.data(), std::min(sizeof object, bytes.size()));
      return false;
    });
    return object;
  }

private:
  void wait() {
    if (waits_)
      waits_->wait();
    else if (is_polite_)
      ::sched_yield();
  }

  iox::popo::UntypedPublisher out_;
  iox::popo::UntypedSubscriber in_;
  std::optional<iox::popo::WaitSet<1>> waits_;
  bool is_polite_ = false;
};

[[noreturn]] void serve_near_end(iceoryx_end& end) {
  using kind = hand_coded_command::kind;
  small_message message;
  for (;;) {
    const auto [asked, near_process] = end.hear_object<iceoryx_command>();
    end.look_at_cores(near_process);
    for (std::uint64_t received = 0; received < asked.count;) {
      end.hear([&, what = asked.what, count = asked.count](std::span<const std::byte> bytes) {
        if (what == kind::take) {
          ++received;
          end.publish_object(number_of_large({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
          return received < count;
        }
        hand_coded::decode(bytes, message);
        check_number(message, received++);
        if (what == kind::echo)
          end.publish_message(message);
        else if (is_acknowledged(received, count))
          end.publish_object(received);
        return received < count;
      });
    }
  }
}

class iceoryx_near_end : public near_end {
public:
  iceoryx_near_end(const std::string& run, iceoryx_waiting how)
      : far_process_(std::stoi(run)), end_(run, topic_to_far, topic_to_near, how) {
    end_.meet();
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    ask(hand_coded_command::kind::consume, count);
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max)
        end_.publish_message(numbered(sent++));
      acknowledged = end_.hear_object<std::uint64_t>();
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    ask(hand_coded_command::kind::echo, count);
    const auto send = [this](const small_message& message) { end_.publish_message(message); };
    exchange_echoes(count, window, round_trips, send, [&](std::uint64_t& answered) {
      end_.hear([&](std::span<const std::byte> bytes) {
        hand_coded::decode(bytes, message_);
        check_number(message_, answered++);
        return answered < count;
      });
    });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    ask(hand_coded_command::kind::take, count);
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      end_.publish(bytes.size(), [&](std::byte* to) { std::memcpy(to, bytes.data(), bytes.size()); });
      return end_.hear_object<std::uint64_t>();
    });
  }

private:
  void ask(hand_coded_command::kind what, std::uint64_t count) {
    end_.look_at_cores(far_process_);
    end_.publish_object(iceoryx_command{{what, count}, ::getpid()});
  }

  pid_t far_process_;
  iceoryx_end end_;
  small_message message_;
};

/// The daemon's memory pools, as bytes per piece and number of pieces: queues of small messages in both directions, and
/// two pieces for each size of large values.
constexpr std::pair<std::size_t, std::size_t> pools[] = {
    {128, 2000}, {64 << 10, 2}, {1 << 20, 2}, {16 << 20, 2}, {256 << 20, 2}};

/// Starts the daemon and reports when it is ready. On SIGTERM, ends the daemon and removes its files: the daemon leaves
/// them if one of its users died first. The lock shows that no other daemon uses these files.
constexpr const char* keep_daemon = R"sh(
folder=$1
finish() {
  kill -KILL $!
  wait
  flock -n /tmp/iox-unique-roudi.lock \
    rm -f /tmp/roudi /tmp/roudi.lock /tmp/iox-unique-roudi.lock /dev/shm/iceoryx_mgmt "/dev/shm/$(id -gn)"
  rm -rf "$folder"
  exit
}
trap finish TERM
"$0" -c "$folder/roudi.toml" >"$folder/output" &
until grep -q 'RouDi is ready' "$folder/output"; do kill -0 $! || exit; sleep 0.01; done
rm -rf "$folder"
echo ready
wait
)sh";

/// Only one daemon can run on a machine. If another benchmark has started one, waits up to 15 seconds for its end.
std::expected<process, std::string> start_daemon() {
  const own_folder folder{"troupe-bench-iceoryx"};
  std::ofstream settings{folder.path() / "roudi.toml"};
  settings << "[general]\nversion = 1\n[[segment]]\n";
  for (const auto& [size, count] : pools)
    settings << "[[segment.mempool]]\nsize = " << size << "\ncount = " << count << '\n';
  settings.close();
  constexpr std::chrono::seconds patience{15};
  for (const auto deadline = bench_clock::now() + patience; bench_clock::now() < deadline;) {
    auto daemon = process::start({.program = "/bin/sh",
                                  .words = {"sh", "-c", keep_daemon, TROUPE_BENCH_ROUDI, folder.path().string()},
                                  .input = nothing{},
                                  .output = lines{},
                                  .errors = nothing{},
                                  .environment = {},
                                  .parting_signal = SIGTERM});
    if (!daemon || daemon->channel().read_line())
      return daemon;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return std::unexpected{"iox-roudi does not start; another one may run"};
}

/// Serves until standard input ends, and then ends the process and the daemon.
std::expected<void, std::string> serve_iceoryx(const ready_report& ready, iceoryx_waiting how) {
  auto daemon = start_daemon();
  if (!daemon)
    return std::unexpected{std::move(daemon).error()};
  join_runtime();
  const auto run = std::to_string(::getpid());
  iceoryx_end far{run, topic_to_near, topic_to_far, how};
  ready(run);
  std::thread{[&far] {
    try {
      far.meet();
      serve_near_end(far);
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n'; // The near end reports that no answer comes.
    }
  }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits for a message.
}

subject iceoryx(std::string name, iceoryx_waiting how) {
  return {std::move(name), [how](const ready_report& ready) { return serve_iceoryx(ready, how); },
          [how](const std::string& run) -> std::expected<std::unique_ptr<near_end>, std::string> {
            join_runtime();
            return std::make_unique<iceoryx_near_end>(run, how);
          }};
}

} // namespace

subject iceoryx_polling() {
  return iceoryx("iceoryx-polling", iceoryx_waiting::by_polling);
}

subject iceoryx_waitset() {
  return iceoryx("iceoryx-waitset", iceoryx_waiting::by_waitset);
}

} // namespace bench

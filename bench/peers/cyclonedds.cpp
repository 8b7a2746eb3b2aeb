#include "peers/cyclonedds.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <utility>

#include <cyclonedds.h>
#include <dds/dds.h>
#include <unistd.h>

namespace bench {

namespace {

/// Ends share a domain if they have the same tag, so simultaneous runs do not hear each other. Packets may be as large
/// as the loopback device allows. Everything else has its default.
std::string dds_settings(const std::string& tag) {
  return "<Domain Id=\"any\">"
         "<General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces>"
         "<AllowMulticast>false</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize>"
         "<FragmentSize>65000B</FragmentSize></General>"
         "<Discovery><Tag>"
         + tag
         + "</Tag><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>99</MaxAutoParticipantIndex>"
           "<Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>"
           "<Tracing><Verbosity>none</Verbosity></Tracing></Domain>";
}

dds_entity_t checked(dds_return_t result) {
  if (result < 0)
    throw std::runtime_error{std::string{"Cyclone DDS: "} + dds_strretcode(result)};
  return result;
}

/// This process's participant in the domain. Entities are not deleted, because the process ends first.
class dds_participant {
public:
  explicit dds_participant(const std::string& tag) {
    constexpr dds_domainid_t domain = 0;
    checked(dds_create_domain(domain, dds_settings(tag).c_str()));
    dds_write_set_batch(true); // Gathers small messages until dds_write_flush().
    participant_ = checked(dds_create_participant(domain, nullptr, nullptr));
    qos_ = dds_create_qos();
    dds_qset_reliability(qos_, DDS_RELIABILITY_RELIABLE, DDS_INFINITY); // Writers wait for slow readers.
    dds_qset_history(qos_, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  }
  dds_participant(const dds_participant&) = delete;
  dds_participant& operator=(const dds_participant&) = delete;
  ~dds_participant() { dds_delete_qos(qos_); }

  [[nodiscard]] dds_entity_t topic(const dds_topic_descriptor_t& type, const char* name) const {
    return checked(dds_create_topic(participant_, &type, name, qos_, nullptr));
  }
  [[nodiscard]] dds_entity_t get() const { return participant_; }
  [[nodiscard]] const dds_qos_t* qos() const { return qos_; }

private:
  dds_entity_t participant_ = 0;
  dds_qos_t* qos_ = nullptr;
};

template <class T>
class dds_sender {
public:
  dds_sender(const dds_participant& by, const dds_topic_descriptor_t& type, const char* topic)
      : writer_(checked(dds_create_writer(by.get(), by.topic(type, topic), by.qos(), nullptr))) {}

  /// Sent with the next flush, or earlier.
  void write(const T& value) { checked(dds_write(writer_, &value)); }
  void flush() { dds_write_flush(writer_); }

  [[nodiscard]] bool is_met() const {
    dds_publication_matched_status_t status;
    checked(dds_get_publication_matched_status(writer_, &status));
    return status.current_count > 0;
  }

private:
  dds_entity_t writer_;
};

template <class T>
class dds_receiver {
public:
  dds_receiver(const dds_participant& by, const dds_topic_descriptor_t& type, const char* topic)
      : reader_(checked(dds_create_reader(by.get(), by.topic(type, topic), by.qos(), nullptr))),
        waits_(checked(dds_create_waitset(by.get()))) {
    checked(dds_waitset_attach(waits_, checked(dds_create_readcondition(reader_, DDS_ANY_STATE)), 0));
  }

  /// Passes up to `count` arrived values to `handle`, waiting up to `patience` for the first one. Returns their number.
  template <class Handle>
  std::uint64_t take(std::uint64_t count, const Handle& handle, dds_duration_t patience = DDS_INFINITY) {
    std::array<void*, together_max> samples{}; // On loan from the reader.
    std::array<dds_sample_info_t, together_max> infos;
    const auto room = std::min<std::uint64_t>(count, together_max);
    for (int tries = 0;; ++tries) {
      const auto taken =
          checked(dds_take(reader_, samples.data(), infos.data(), room, static_cast<std::uint32_t>(room)));
      std::uint64_t valid = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(taken); ++i)
        if (infos[i].valid_data) {
          handle(*static_cast<const T*>(samples[i]));
          ++valid;
        }
      if (taken > 0)
        checked(dds_return_loan(reader_, samples.data(), taken));
      if (valid > 0 || (tries > 0 && patience != DDS_INFINITY))
        return valid;
      checked(dds_waitset_wait(waits_, nullptr, 0, patience));
    }
  }

  T take_one() {
    T one{};
    take(1, [&](const T& came) { one = came; });
    return one;
  }

  [[nodiscard]] bool is_met() const {
    dds_subscription_matched_status_t status;
    checked(dds_get_subscription_matched_status(reader_, &status));
    return status.current_count > 0;
  }

private:
  static constexpr std::size_t together_max = 256;
  dds_entity_t reader_;
  dds_entity_t waits_;
};

using dds_small = bench_dds_small;
using dds_large = bench_dds_large;
using dds_command = bench_dds_command;
using dds_answer = bench_dds_answer;

/// Returns once every end knows that there is another end. Throws after 15 seconds.
template <class... Ends>
void meet(const Ends&... ends) {
  constexpr std::chrono::seconds patience{15};
  const auto deadline = bench_clock::now() + patience;
  while (!(ends.is_met() && ...)) {
    if (bench_clock::now() > deadline)
      throw std::runtime_error{"Cyclone DDS: the two ends do not find each other"};
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

void write_small(dds_sender<dds_small>& to, small_message message) {
  to.write({message.number, message.second, message.third, message.text.data()});
}

void check_small(const dds_small& came, std::uint64_t expected) {
  check_fields(came.number, std::string_view{came.text}.size(), expected);
}

class cyclonedds_far_end {
public:
  explicit cyclonedds_far_end(const std::string& tag) : participant_(tag) {}

  [[noreturn]] void serve() {
    meet(commands_, messages_, values_, answers_, echoes_);
    for (;;) {
      const auto asked = commands_.take_one();
      const auto what = static_cast<hand_coded_command::kind>(asked.kind);
      if (asked.count == 0)
        answer(0);
      for (std::uint64_t received = 0; received < asked.count;) {
        const auto left = asked.count - received;
        if (what == hand_coded_command::kind::take)
          values_.take(left, [&](const dds_large& value) {
            ++received;
            answer(number_of_large({reinterpret_cast<const char*>(value.bytes._buffer), value.bytes._length}));
          });
        else if (what == hand_coded_command::kind::echo)
          send_back(left, received);
        else
          messages_.take(left, [&](const dds_small& message) {
            check_small(message, received++);
            if (is_acknowledged(received, asked.count))
              answer(received);
          });
      }
    }
  }

private:
  void send_back(std::uint64_t count, std::uint64_t& received) {
    messages_.take(count, [&](const dds_small& message) {
      check_small(message, received++);
      write_small(echoes_, {message.number, message.second, message.third, message.text});
    });
    echoes_.flush();
  }

  void answer(std::uint64_t number) {
    answers_.write({number});
    answers_.flush();
  }

  dds_participant participant_;
  dds_receiver<dds_command> commands_{participant_, bench_dds_command_desc, "commands"};
  dds_receiver<dds_small> messages_{participant_, bench_dds_small_desc, "messages"};
  dds_receiver<dds_large> values_{participant_, bench_dds_large_desc, "values"};
  dds_sender<dds_answer> answers_{participant_, bench_dds_answer_desc, "answers"};
  dds_sender<dds_small> echoes_{participant_, bench_dds_small_desc, "echoes"};
};

class cyclonedds_near_end : public near_end {
public:
  explicit cyclonedds_near_end(const std::string& tag) : participant_(tag) {
    meet(commands_, messages_, values_, answers_, echoes_);
    // Before an end has met the other one, it may miss messages. Ask until the far end answers, then drain the answers
    // to the other requests.
    constexpr dds_duration_t patience = DDS_MSECS(20);
    for (std::uint64_t heard = 0; heard == 0;) {
      ask(hand_coded_command::kind::consume, 0);
      heard = answers_.take(
          1, [](const dds_answer&) {}, patience);
    }
    while (answers_.take(
               1, [](const dds_answer&) {}, 5 * patience)
           > 0)
      continue;
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    ask(hand_coded_command::kind::consume, count);
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max)
        write_small(messages_, numbered(sent++));
      messages_.flush();
      acknowledged = answers_.take_one().number;
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    ask(hand_coded_command::kind::echo, count);
    const auto send = [this](small_message&& message) { write_small(messages_, std::move(message)); };
    exchange_echoes(count, window, round_trips, send, [&](std::uint64_t& answered) {
      messages_.flush();
      echoes_.take(count - answered, [&](const dds_small& message) { check_small(message, answered++); });
    });
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    ask(hand_coded_command::kind::take, count);
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      const auto size = static_cast<std::uint32_t>(bytes.size());
      // The value is only read.
      auto* const front = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
      values_.write({{size, size, front, false}});
      values_.flush();
      return answers_.take_one().number;
    });
  }

private:
  void ask(hand_coded_command::kind what, std::uint64_t count) {
    commands_.write({static_cast<std::uint64_t>(what), count});
    commands_.flush();
  }

  dds_participant participant_;
  dds_sender<dds_command> commands_{participant_, bench_dds_command_desc, "commands"};
  dds_sender<dds_small> messages_{participant_, bench_dds_small_desc, "messages"};
  dds_sender<dds_large> values_{participant_, bench_dds_large_desc, "values"};
  dds_receiver<dds_answer> answers_{participant_, bench_dds_answer_desc, "answers"};
  dds_receiver<dds_small> echoes_{participant_, bench_dds_small_desc, "echoes"};
};

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_cyclonedds(const ready_report& ready) {
  const auto tag = "troupe-bench-" + std::to_string(::getpid());
  cyclonedds_far_end far{tag};
  ready(tag);
  std::thread{[&far] {
    try {
      far.serve();
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n'; // The near end reports that no answer comes.
    }
  }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits for a message.
}

} // namespace

subject cyclonedds_udp() {
  return {"cyclonedds-udp", serve_cyclonedds,
          [](const std::string& tag) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<cyclonedds_near_end>(tag);
          }};
}

} // namespace bench

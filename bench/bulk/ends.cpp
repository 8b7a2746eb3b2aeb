#include "bulk/ends.hpp"

#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/link_ready.hpp>

#include <caf/all.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

namespace bench {

namespace {

using begin_atom = caf::atom_constant<caf::atom("begin")>;
using done_atom = caf::atom_constant<caf::atom("done")>;
using bytes = troupe::array<char>;

void add_types(troupe::type_registry& types) {
  types.add<small_message>("bench.small_message");
  types.add<bytes>("bench.bytes");
}

struct taker_state {
  std::uint64_t taken = 0;
  std::uint64_t count = 0;
  caf::actor sender;
};

/// Receives large messages and tells the sender when it has the last one.
caf::behavior taker(caf::stateful_actor<taker_state>* self) {
  return {
      [self](begin_atom, std::uint64_t count, const caf::actor& sender) {
        self->state = {.taken = 0, .count = count, .sender = sender};
      },
      [self](const bytes& large) {
        if (large.size() != bulk_frame_bytes || large[0] != 'b' || large[large.size() - 1] != 'b') {
          std::cerr << "a large message of " << large.size() << " bytes is not what was sent\n";
          std::_Exit(3);
        }
        auto& state = self->state;
        if (++state.taken == state.count)
          self->send(state.sender, done_atom::value);
      },
  };
}

struct sender_state {
  std::uint64_t left = 0;
  bytes large;
  bench_clock::time_point began;
  caf::typed_response_promise<double> finished;
};

/// Sends while the link has room, as a sender of many messages should, and answers with the seconds it took.
caf::behavior sender(caf::stateful_actor<sender_state>* self, const caf::actor& taker) {
  self->state.large = bytes(std::vector<char>(bulk_frame_bytes, 'b'));
  const auto go_on = [self, taker] {
    auto& state = self->state;
    for (; state.left > 0 && troupe::is_ready(taker); --state.left)
      self->send(taker, state.large);
    if (state.left > 0)
      troupe::notify_when_ready(self, taker);
  };
  return {
      [self, taker, go_on](begin_atom, std::uint64_t count) {
        auto& state = self->state;
        state.left = count;
        state.began = bench_clock::now();
        state.finished = self->make_response_promise<double>();
        self->send(taker, begin_atom::value, count, caf::actor{self});
        go_on();
        return state.finished;
      },
      [go_on](const troupe::link_ready&) { go_on(); },
      [self](done_atom) { self->state.finished.deliver(seconds{bench_clock::now() - self->state.began}.count()); },
  };
}

} // namespace

std::expected<void, std::string> serve_bulk(const std::string& address, const ready_report& ready) {
  troupe_process process;
  add_types(process.types);
  if (auto opened = process.open({address}); !opened)
    return opened;
  for (const auto& [name, actor] :
       {std::pair{"taker", process.system.spawn(taker)}, std::pair{"echoer", spawn_echoer(process.system)}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class bulk_near_end::parts {
public:
  troupe_process process;
  caf::actor sender;
  std::unique_ptr<near_end> asker;
};

bulk_near_end::bulk_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
bulk_near_end::~bulk_near_end() = default;

std::expected<std::unique_ptr<bulk_near_end>, std::string> bulk_near_end::connect(const std::string& address) {
  auto made = std::make_unique<parts>();
  add_types(made->process.types);
  auto link = made->process.connect(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  auto taker = link->find("taker");
  auto echoer = link->find("echoer");
  if (!taker || !echoer)
    return std::unexpected{(taker ? echoer : taker).error().message()};
  made->sender = made->process.system.spawn(sender, *taker);
  made->asker = make_caf_near_end(made->process.system, {}, *std::move(echoer)); // Without a consumer.
  return std::unique_ptr<bulk_near_end>{new bulk_near_end{std::move(made)}};
}

std::expected<std::vector<seconds>, std::string> bulk_near_end::ask(std::uint64_t count) {
  std::vector<seconds> round_trips;
  if (auto asked = parts_->asker->echo(count, 1, &round_trips); !asked)
    return std::unexpected{std::move(asked).error()};
  return round_trips;
}

std::expected<seconds, std::string> bulk_near_end::send_bulk(std::uint64_t messages) {
  std::expected<seconds, std::string> result;
  auto& system = parts_->process.system;
  caf::scoped_actor self{system};
  self->request(parts_->sender, caf::infinite, begin_atom::value, messages)
      .receive([&](double took) { result = seconds{took}; },
               [&](const caf::error& error) { result = std::unexpected{system.render(error)}; });
  return result;
}

std::expected<bulk_near_end::both, std::string> bulk_near_end::ask_beside_bulk(std::uint64_t messages) {
  constexpr std::uint64_t questions_at_once = 10;
  std::atomic<bool> is_over = false;
  std::expected<seconds, std::string> bulk;
  std::thread sending{[&] {
    bulk = send_bulk(messages);
    is_over = true;
  }};
  std::vector<seconds> round_trips;
  std::optional<std::string> problem;
  while (!is_over && !problem) {
    auto some = ask(questions_at_once);
    if (!some)
      problem = std::move(some).error();
    else if (!is_over || round_trips.empty()) // Otherwise some of these were asked after the transfer.
      round_trips.insert(round_trips.end(), some->begin(), some->end());
  }
  sending.join();
  if (!bulk || problem)
    return std::unexpected{bulk ? *problem : bulk.error()};
  return both{*bulk, std::move(round_trips)};
}

} // namespace bench

// The two ends for large values as ordinary event-based actors, for any transport.
#pragma once

#include "peers/large_values.hpp"

#include <caf/all.hpp>
#include <troupe/framework/message_types.hpp>

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Answers each value with its number. `Bytes` is the message's type: a vector of char, or a view of one.
template <class Bytes>
[[nodiscard]] caf::actor spawn_taker(caf::actor_system& system) {
  return system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const Bytes& value) { return number_of_large({value.data(), value.size()}); }};
  });
}

namespace detail {

/// Forwards the value by moving it, and answers with the seconds until the answer arrived.
template <class Bytes>
caf::behavior large_asker(caf::event_based_actor* self, const caf::actor& taker) {
  return {[self, taker](Bytes& value, std::uint64_t number) {
    auto answer = self->make_response_promise<double>();
    const auto began = bench_clock::now();
    self->request(taker, caf::infinite, std::move(value))
        .then(
            [answer, began, number](std::uint64_t seen) mutable {
              const seconds took = bench_clock::now() - began;
              if (seen == number)
                answer.deliver(took.count());
              else
                answer.deliver(caf::make_error(caf::sec::unexpected_response));
            },
            [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
    return answer;
  }};
}

} // namespace detail

/// See near_end::hand_over.
template <class Bytes>
[[nodiscard]] std::expected<std::vector<seconds>, std::string>
caf_hand_over(caf::actor_system& system, const caf::actor& taker, std::uint64_t count, std::size_t size_bytes) {
  std::expected<std::vector<seconds>, std::string> took;
  large_value value{size_bytes};
  caf::scoped_actor self{system};
  const auto asker = self->spawn(detail::large_asker<Bytes>, taker);
  for (std::uint64_t i = 0; i < count && took; ++i) {
    value.number(i);
    self->request(asker, caf::infinite, Bytes(value.bytes()), i)
        .receive([&](double one) { took->emplace_back(one); },
                 [&](const caf::error& error) { took = std::unexpected{system.render(error)}; });
  }
  self->send_exit(asker, caf::exit_reason::user_shutdown);
  return took;
}

} // namespace bench

#include "handles/sending.hpp"

#include "handles/hosts.hpp"
#include "handles/values.hpp"
#include "harness/statistics.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/message_types.hpp>

#include <caf/all.hpp>

#include <utility>
#include <vector>

namespace bench {

namespace {

void add_sending_types(troupe::type_registry& types) {
  types.add<small_message>("bench.small_message");
  add_value_types(types);
}

/// Answers with the message's number, or the size of the value that it has read.
caf::behavior taker(caf::event_based_actor*) {
  return {
      [](const small_message& message) { return static_cast<std::uint64_t>(message.number); },
      [](const bytes_ref& ref) {
        const auto value = ref.get();
        if (!value)
          return std::uint64_t{0}; // No caller expects 0.
        check_value(*value, ref.size_bytes());
        return std::uint64_t{value->size()};
      },
  };
}

/// Asks the taker, and answers with the seconds until the taker's answer arrived.
template <class T>
caf::typed_response_promise<double> time_request(caf::event_based_actor* self, const caf::actor& taker, const T& value,
                                                 std::uint64_t expected) {
  auto answer = self->make_response_promise<double>();
  const auto began = bench_clock::now();
  self->request(taker, caf::infinite, value)
      .then(
          [answer, began, expected](std::uint64_t seen) mutable {
            if (seen == expected)
              answer.deliver(seconds{bench_clock::now() - began}.count());
            else
              answer.deliver(caf::make_error(caf::sec::unexpected_response));
          },
          [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
  return answer;
}

caf::behavior asker(caf::event_based_actor* self, const caf::actor& taker) {
  return {
      [self, taker](const small_message& message) {
        return time_request(self, taker, message, static_cast<std::uint64_t>(message.number));
      },
      [self, taker](const bytes_ref& ref) { return time_request(self, taker, ref, ref.size_bytes()); },
  };
}

} // namespace

std::expected<void, std::string> serve_sending(const ready_report& ready) {
  troupe_process process;
  add_sending_types(process.types);
  if (auto opened = process.open({unix_address()}, inherited_host(0)); !opened)
    return opened;
  if (auto published = process.node->publish("taker", process.system.spawn(taker)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class sending_near_end::parts {
public:
  template <class T>
  std::expected<double, std::string> ask(const T& value) {
    std::expected<double, std::string> result;
    caf::scoped_actor self{process.system};
    self->request(asker, caf::infinite, value)
        .receive([&](double took) { result = took; },
                 [&](const caf::error& error) { result = std::unexpected{process.system.render(error)}; });
    return result;
  }

  troupe_process process;
  caf::actor asker;
};

sending_near_end::sending_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
sending_near_end::~sending_near_end() = default;

std::expected<std::unique_ptr<sending_near_end>, std::string> sending_near_end::connect(const std::string& address) {
  auto made = std::make_unique<parts>();
  add_sending_types(made->process.types);
  if (auto opened = made->process.open({}, inherited_host(0)); !opened)
    return std::unexpected{std::move(opened).error()};
  auto link = made->process.dial(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  if (!link->shares_store())
    return std::unexpected{"the two ends do not share a store"};
  auto found = link->find("taker");
  if (!found)
    return std::unexpected{found.error().message()};
  made->asker = made->process.system.spawn(asker, *std::move(found));
  return std::unique_ptr<sending_near_end>{new sending_near_end{std::move(made)}};
}

std::expected<sending_near_end::times, std::string> sending_near_end::measure(std::uint64_t count,
                                                                              std::size_t large_bytes) {
  std::vector<double> of_small;
  std::vector<double> of_reference;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto value = make_value(*parts_->process.node, large_bytes);
    if (!value)
      return std::unexpected{value.error()};
    auto small = parts_->ask(numbered(i));
    if (!small)
      return std::unexpected{std::move(small).error()};
    of_small.push_back(*small);
    auto reference = parts_->ask(*value);
    if (!reference)
      return std::unexpected{std::move(reference).error()};
    of_reference.push_back(*reference);
  }
  return times{seconds{median(of_small)}, seconds{median(of_reference)}};
}

} // namespace bench

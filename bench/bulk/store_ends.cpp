#include "bulk/store_ends.hpp"

#include "harness/statistics.hpp"
#include "peers/run_store.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/message_types.hpp>

#include <caf/all.hpp>

#include <cstring>
#include <utility>
#include <vector>

namespace bench {

namespace {

using bytes = troupe::array<char>;

constexpr std::size_t small_bytes = 64 << 10;
constexpr char sign = 's';

/// Reads the value and answers with its size.
caf::behavior value_taker(caf::event_based_actor*) {
  return {[](const bytes& value) {
    if (value.size() == 0 || value[0] != sign || value[value.size() - 1] != sign) {
      std::cerr << "a value of " << value.size() << " bytes is not what was sent\n";
      std::_Exit(3);
    }
    return std::uint64_t{value.size()};
  }};
}

/// Forwards the value, and answers with the seconds until the taker's answer arrived.
caf::behavior asker(caf::event_based_actor* self, const caf::actor& taker) {
  return {[self, taker](const bytes& value) {
    auto answer = self->make_response_promise<double>();
    const auto began = bench_clock::now();
    self->request(taker, caf::infinite, value)
        .then(
            [answer, began, size = value.size()](std::uint64_t seen) mutable {
              if (seen == size)
                answer.deliver(seconds{bench_clock::now() - began}.count());
              else
                answer.deliver(caf::make_error(caf::sec::unexpected_response));
            },
            [answer](caf::error& error) mutable { answer.deliver(std::move(error)); });
    return answer;
  }};
}

seconds copy(const std::vector<char>& from, std::vector<char>& to) {
  const auto began = bench_clock::now();
  std::memcpy(to.data(), from.data(), from.size());
  asm volatile("" : : "r"(to.data()) : "memory"); // Keeps the compiler from removing the copy.
  return bench_clock::now() - began;
}

} // namespace

std::expected<void, std::string> serve_store(const ready_report& ready) {
  troupe_process process;
  process.types.add<bytes>("bench.bytes");
  if (auto opened = process.open({unix_address()}, inherited_store()); !opened)
    return opened;
  if (auto published = process.node->publish("taker", process.system.spawn(value_taker)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class store_near_end::parts {
public:
  std::expected<seconds, std::string> ask(const bytes& value) {
    std::expected<seconds, std::string> result;
    caf::scoped_actor self{process.system};
    self->request(asker, caf::infinite, value)
        .receive([&](double took) { result = seconds{took}; },
                 [&](const caf::error& error) { result = std::unexpected{process.system.render(error)}; });
    return result;
  }

  troupe_process process;
  caf::actor asker;
};

store_near_end::store_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
store_near_end::~store_near_end() = default;

std::expected<std::unique_ptr<store_near_end>, std::string> store_near_end::connect(const std::string& address) {
  auto made = std::make_unique<parts>();
  made->process.types.add<bytes>("bench.bytes");
  if (auto opened = made->process.open({}, inherited_store()); !opened)
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
  return std::unique_ptr<store_near_end>{new store_near_end{std::move(made)}};
}

std::expected<store_near_end::times, std::string> store_near_end::measure(std::uint64_t count,
                                                                          std::size_t large_bytes) {
  const bytes small{std::vector<char>(small_bytes, sign)};
  const bytes large{std::vector<char>(large_bytes, sign)};
  const std::vector<char> from(large_bytes, sign);
  std::vector<char> to(large_bytes, 't');
  std::vector<double> of_small;
  std::vector<double> of_large;
  std::vector<double> of_copy;
  // A small value takes a thousandth of the time and is disturbed as easily, so it is measured more often.
  constexpr int smalls_for_each = 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    of_copy.push_back(copy(from, to).count());
    for (int j = 0; j <= smalls_for_each; ++j) {
      auto took = parts_->ask(j < smalls_for_each ? small : large);
      if (!took)
        return std::unexpected{std::move(took).error()};
      (j < smalls_for_each ? of_small : of_large).push_back(took->count());
    }
  }
  return times{seconds{median(of_small)}, seconds{median(of_large)}, seconds{median(of_copy)}};
}

} // namespace bench

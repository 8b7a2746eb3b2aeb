#include "handles/getting.hpp"

#include "handles/hosts.hpp"
#include "handles/values.hpp"
#include "harness/statistics.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/message_types.hpp>

#include <caf/all.hpp>

#include <utility>

namespace bench {

namespace {

using keep_atom = caf::atom_constant<caf::atom("keep")>;
using here_atom = caf::atom_constant<caf::atom("here")>;
using time_atom = caf::atom_constant<caf::atom("time")>;

/// Seconds per call.
struct call_times {
  double get = 0;
  double find_and_pin = 0;
};
TROUPE_DESCRIBE(call_times, get, find_and_pin)

void add_getting_types(troupe::type_registry& types) {
  types.add<call_times>("bench.call_times");
  add_value_types(types);
}

template <class Call>
double time_of_each(std::uint64_t count, Call call) {
  const auto began = bench_clock::now();
  for (std::uint64_t i = 0; i < count; ++i)
    call();
  return seconds{bench_clock::now() - began}.count() / static_cast<double>(count);
}

/// Both calls read the first byte.
call_times time_calls(const bytes_ref& ref, troupe::store::object_store store, std::uint64_t count) {
  const auto of_get = time_of_each(count, [&] {
    if (const auto value = ref.get(); !value || (*value)[0] == 0)
      std::_Exit(3);
  });
  const auto place = troupe::internal::state_of(ref)->source->place();
  const auto of_store = time_of_each(count, [&] {
    const auto found = store.find(*place);
    if (!found)
      std::_Exit(3);
    if (const auto pinned = found->pin(); !pinned || pinned->bytes()[0] == std::byte{})
      std::_Exit(3);
  });
  return {of_get, of_store};
}

struct reader_state {
  std::vector<bytes_ref> kept;
  caf::typed_response_promise<bool> waiting;
};

/// Keeps references, one at a time, and answers when their bytes have arrived. Then measures how long reading them
/// takes.
caf::behavior reader(caf::stateful_actor<reader_state>* self, const troupe::store::object_store& store) {
  return {
      [self](keep_atom, const bytes_ref& ref) {
        auto& state = self->state;
        state.kept.push_back(ref);
        state.waiting = self->make_response_promise<bool>();
        when_here(ref, [me = caf::actor{self}](const std::expected<void, std::string>& came) {
          caf::anon_send(me, here_atom::value, came.has_value());
        });
        return state.waiting;
      },
      [self](here_atom, bool is_here) { self->state.waiting.deliver(is_here); },
      [self, store](time_atom, std::uint64_t which, std::uint64_t count) {
        return time_calls(self->state.kept.at(which), store, count);
      },
  };
}

} // namespace

std::vector<std::size_t> got_sizes(std::size_t largest_bytes) {
  return {1 << 10, largest_bytes >> 8, largest_bytes >> 4, largest_bytes};
}

std::expected<void, std::string> serve_getting(origin from, const ready_report& ready) {
  troupe_process process;
  add_getting_types(process.types);
  const auto is_elsewhere = from == origin::pulled;
  if (auto opened = process.open({is_elsewhere ? tcp_address() : unix_address()}, inherited_host(is_elsewhere ? 1 : 0));
      !opened)
    return opened;
  if (auto published = process.node->publish("reader", process.system.spawn(reader, *process.node->store()));
      !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class getting_near_end::parts {
public:
  template <class Result, class... Arguments>
  std::expected<Result, std::string> ask(const Arguments&... arguments) {
    std::expected<Result, std::string> result;
    caf::scoped_actor self{process.system};
    self->request(reader, caf::infinite, arguments...)
        .receive([&](const Result& answer) { result = answer; },
                 [&](const caf::error& error) { result = std::unexpected{process.system.render(error)}; });
    return result;
  }

  troupe_process process;
  caf::actor reader;
  std::uint64_t kept = 0; // Number of values kept by the reader.
};

getting_near_end::getting_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
getting_near_end::~getting_near_end() = default;

std::expected<std::unique_ptr<getting_near_end>, std::string> getting_near_end::connect(origin from,
                                                                                        const std::string& address) {
  auto made = std::make_unique<parts>();
  auto& process = made->process;
  add_getting_types(process.types);
  if (auto opened = process.open({}, inherited_host(0)); !opened)
    return std::unexpected{std::move(opened).error()};
  auto link = process.dial(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  if (from == origin::own) {
    made->reader = process.system.spawn(reader, *process.node->store());
  } else {
    auto found = link->find("reader");
    if (!found)
      return std::unexpected{found.error().message()};
    made->reader = *std::move(found);
  }
  return std::unique_ptr<getting_near_end>{new getting_near_end{std::move(made)}};
}

std::expected<std::vector<getting_near_end::times>, std::string> getting_near_end::measure(std::uint64_t count,
                                                                                           std::size_t largest_bytes) {
  const auto sizes = got_sizes(largest_bytes);
  while (parts_->kept < sizes.size()) {
    const auto value = make_value(*parts_->process.node, sizes[parts_->kept]);
    if (!value)
      return std::unexpected{value.error()};
    const auto is_here = parts_->ask<bool>(keep_atom::value, *value);
    if (!is_here || !*is_here)
      return std::unexpected{is_here ? "the bytes of a value did not come" : is_here.error()};
    ++parts_->kept;
  }
  constexpr int runs = 21;
  std::vector<std::vector<double>> of_get(sizes.size());
  std::vector<std::vector<double>> of_store(sizes.size());
  for (int run = 0; run < runs; ++run)
    for (std::size_t which = 0; which < sizes.size(); ++which) {
      const auto took = parts_->ask<call_times>(time_atom::value, std::uint64_t{which}, count);
      if (!took)
        return std::unexpected{took.error()};
      of_get[which].push_back(took->get);
      of_store[which].push_back(took->find_and_pin);
    }
  std::vector<times> result;
  for (std::size_t which = 0; which < sizes.size(); ++which)
    result.push_back({seconds{median(of_get[which])}, seconds{median(of_store[which])}});
  return result;
}

} // namespace bench

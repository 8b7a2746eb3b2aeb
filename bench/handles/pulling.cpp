#include "handles/pulling.hpp"

#include "handles/hosts.hpp"
#include "handles/values.hpp"
#include "harness/statistics.hpp"
#include "peers/troupe_process.hpp"

#include <troupe/framework/message_types.hpp>

#include <caf/all.hpp>

#include <map>
#include <utility>
#include <vector>

namespace bench {

namespace {

using warm_atom = caf::atom_constant<caf::atom("warm")>;
using give_atom = caf::atom_constant<caf::atom("give")>;

/// Answers with references to values of any size. Makes one value of each size. `node` must outlive the actor.
caf::behavior holder(caf::stateful_actor<std::map<std::uint64_t, bytes_ref>>* self, troupe::node* node) {
  return {
      [node](warm_atom) {
        use_all_memory(*node->store());
        return true;
      },
      [self, node](give_atom, std::uint64_t size_bytes) -> caf::result<bytes_ref> {
        auto& value = self->state[size_bytes];
        if (value.empty()) {
          auto made = make_value(*node, size_bytes);
          if (!made)
            return caf::make_error(caf::sec::runtime_error, made.error());
          value = *std::move(made);
        }
        return value;
      },
  };
}

} // namespace

std::expected<void, std::string> serve_pulling(const ready_report& ready) {
  troupe_process process;
  add_value_types(process.types);
  if (auto opened = process.open({tcp_address()}, inherited_host(0)); !opened)
    return opened;
  if (auto published = process.node->publish("holder", process.system.spawn(holder, &*process.node)); !published)
    return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

class pulling_near_end::parts {
public:
  template <class Result, class... Arguments>
  std::expected<Result, std::string> ask(const Arguments&... arguments) {
    std::expected<Result, std::string> result;
    caf::scoped_actor self{process.system};
    self->request(holder, caf::infinite, arguments...)
        .receive([&](const Result& answer) { result = answer; },
                 [&](const caf::error& error) { result = std::unexpected{process.system.render(error)}; });
    return result;
  }

  troupe_process process;
  caf::actor holder;
};

pulling_near_end::pulling_near_end(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
pulling_near_end::~pulling_near_end() = default;

std::expected<std::unique_ptr<pulling_near_end>, std::string> pulling_near_end::connect(const std::string& address) {
  auto made = std::make_unique<parts>();
  add_value_types(made->process.types);
  if (auto opened = made->process.open({}, inherited_host(1)); !opened)
    return std::unexpected{std::move(opened).error()};
  auto link = made->process.dial(address);
  if (!link)
    return std::unexpected{std::move(link).error()};
  auto found = link->find("holder");
  if (!found)
    return std::unexpected{found.error().message()};
  made->holder = *std::move(found);
  return std::unique_ptr<pulling_near_end>{new pulling_near_end{std::move(made)}};
}

std::expected<void, std::string> pulling_near_end::warm_up() {
  use_all_memory(*parts_->process.node->store());
  if (auto warm = parts_->ask<bool>(warm_atom::value); !warm)
    return std::unexpected{std::move(warm).error()};
  return {};
}

std::expected<seconds, std::string> pulling_near_end::pull(std::uint64_t count, std::size_t size_bytes) {
  std::vector<double> took;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto ref = parts_->ask<bytes_ref>(give_atom::value, std::uint64_t{size_bytes});
    if (!ref)
      return std::unexpected{std::move(ref).error()};
    if (ref->get())
      return std::unexpected{"a value is on this host before it was fetched"};
    const auto began = bench_clock::now();
    const auto value = value_of(*ref);
    took.push_back(seconds{bench_clock::now() - began}.count());
    if (!value)
      return std::unexpected{value.error()};
    check_value(*value, size_bytes);
  }
  return seconds{median(took)};
}

} // namespace bench

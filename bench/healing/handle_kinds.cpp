#include "healing/handle_kinds.hpp"

#include "peers/small_messages.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include <troupe/framework/node_error.hpp>

namespace bench {

namespace {

/// The result would mean nothing.
[[noreturn]] void end_after(const caf::error& why) {
  std::cerr << "a request failed: " << troupe::text_of(why) << '\n';
  std::_Exit(3);
}

} // namespace

caf::behavior receiving() {
  return {[](const small_message&) {}, [](int number) { return number; }};
}

std::expected<caf::actor, std::string> get_handle(troupe_process& process, handle_kind kind,
                                                  const std::string& address) {
  const auto found = [&]() -> std::expected<caf::actor, troupe::node_error> {
    if (kind == handle_kind::plain) {
      auto link = process.node->connect(address);
      if (!link)
        return std::unexpected{std::move(link).error()};
      return link->find(receiver_name);
    }
    return process.node->lasting(address, receiver_name,
                                 {.retry = kind == handle_kind::lasting ? troupe::request_retry::none
                                                                        : troupe::request_retry::repeat_idempotent});
  }();
  if (!found)
    return std::unexpected{found.error().message()};
  send_requests(caf::scoped_actor{process.system}, *found, 1, 1); // A lasting handle has now found its actor.
  return *found;
}

void send_messages(const caf::scoped_actor& self, const caf::actor& to, std::uint64_t count, std::uint64_t window) {
  for (std::uint64_t i = 0; i < count; ++i) {
    self->send(to, numbered(i));
    if ((i + 1) % window == 0 || i + 1 == count)
      self->request(to, caf::infinite, 0).receive([](int) {}, end_after);
  }
}

void send_requests(const caf::scoped_actor& self, const caf::actor& to, std::uint64_t count, std::uint64_t window) {
  std::vector<decltype(self->request(to, caf::infinite, 0))> asked;
  for (std::uint64_t sent = 0; sent < count;) {
    asked.clear();
    for (; asked.size() < window && sent < count; ++sent)
      asked.push_back(self->request(to, caf::infinite, 0));
    for (auto& each : asked)
      std::move(each).receive([](int) {}, end_after);
  }
}

} // namespace bench

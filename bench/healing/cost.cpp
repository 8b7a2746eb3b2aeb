// The work of messages through a plain and a lasting handle, for bench/instructions: two nodes of one process, an actor
// that does nothing, and a sender outside of actors.
//   lasting_cost plain|lasting|lasting-repeating one-way|requests MESSAGES
#include "healing/handle_kinds.hpp"
#include "peers/small_messages.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <caf/all.hpp>
#include <troupe/base/value_or_throw.hpp>

namespace {

constexpr std::uint64_t window = 100;

bench::handle_kind kind_of(const std::string& subject) {
  if (subject == "plain")
    return bench::handle_kind::plain;
  if (subject == "lasting")
    return bench::handle_kind::lasting;
  if (subject == "lasting-repeating")
    return bench::handle_kind::lasting_repeating;
  throw std::runtime_error("plain, lasting or lasting-repeating, not " + subject);
}

} // namespace

int main(int argument_count, char** arguments) try {
  if (argument_count != 4)
    throw std::runtime_error("lasting_cost plain|lasting|lasting-repeating one-way|requests MESSAGES");
  const auto kind = kind_of(arguments[1]);
  const auto send = arguments[2] == std::string{"requests"} ? bench::send_requests : bench::send_messages;
  const auto messages = std::strtoull(arguments[3], nullptr, 10);
  bench::make_secret_of_this_run();
  bench::troupe_process far, near;
  for (auto* each : {&far, &near})
    each->types.add<bench::small_message>("small");
  for (auto* each : {&far, &near})
    if (auto opened = each->open(each == &far ? std::vector{bench::unix_address()} : std::vector<std::string>{});
        !opened)
      throw std::runtime_error(opened.error());
  troupe::value_or_throw(far.node->publish(bench::receiver_name, far.system.spawn(bench::receiving)));
  const auto there = bench::get_handle(near, kind, far.node->addresses().front());
  if (!there)
    throw std::runtime_error(there.error());
  send(caf::scoped_actor{near.system}, *there, messages, window);
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}

// The work of messages one way, for bench/instructions: two nodes of one process, an actor that does nothing, and a
// sender outside of actors.
//   tracing_cost off|sampled-1-percent|sampled-all MESSAGES
#include "peers/small_messages.hpp"
#include "peers/troupe_process.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <caf/all.hpp>
#include <troupe/base/value_or_throw.hpp>

namespace {

class no_sink final : public troupe::span_sink {
  bool take(troupe::span) noexcept override { return true; }
};

double sample_of(const std::string& subject) {
  if (subject == "off")
    return 0;
  if (subject == "sampled-1-percent")
    return 0.01;
  if (subject == "sampled-all")
    return 1;
  throw std::runtime_error("off, sampled-1-percent or sampled-all, not " + subject);
}

caf::behavior receiving() {
  return {[](const bench::small_message&) {}, [](int number) { return number; }};
}

} // namespace

int main(int argument_count, char** arguments) try {
  if (argument_count != 3)
    throw std::runtime_error("tracing_cost off|sampled-1-percent|sampled-all MESSAGES");
  const std::string subject = arguments[1];
  const auto messages = std::strtoull(arguments[2], nullptr, 10);
  bench::make_secret_of_this_run();
  bench::troupe_process far, near;
  for (auto* each : {&far, &near})
    each->types.add<bench::small_message>("small");
  if (auto opened = far.open({bench::unix_address()}); !opened)
    throw std::runtime_error(opened.error());
  troupe::value_or_throw(far.node->publish("receiving", far.system.spawn(receiving)));
  auto link = near.connect(far.node->addresses().front());
  if (!link)
    throw std::runtime_error(link.error());
  const auto there = troupe::value_or_throw(link->find("receiving"));
  if (subject != "off") {
    const auto sink = std::make_shared<no_sink>();
    troupe::value_or_throw(near.node->record_spans(sink, sample_of(subject)));
    troupe::value_or_throw(far.node->record_spans(sink, 0));
  }
  caf::scoped_actor self{near.system};
  for (std::uint64_t i = 0; i < messages; ++i) {
    self->send(there, bench::numbered(i));
    if (i % 100 == 99) // The answer says that the messages before have been handled.
      self->request(there, caf::infinite, 0).receive([](int) {}, [](const caf::error&) { std::abort(); });
  }
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}

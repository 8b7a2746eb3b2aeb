// Two processes for the tests of the view: `shop stock ADDRESS`, and `shop front ADDRESS STORE`, which opens two links
// to it at once, holds an object by an out-of-band pin, and does what it is told, a line each:
//
//     ask    sends a sampled request, which the stock answers, over the second link
//     lose   sends a message that the stock cannot decode; the stock says why
//     read   reads the object by the reference that was serialized
//
// It answers each line with a line. Both end when their input ends.
#include <chrono>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/tracing.hpp>
#include <troupe/serializers/serialize.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

using doubles = troupe::array<double>;
using count_atom = caf::atom_constant<caf::atom("count")>;

/// Known to the front only.
struct parcel {
  std::string label;
};
TROUPE_DESCRIBE(parcel, label)

void say(const std::string& line) {
  std::cout << line << std::endl;
}

/// An actor system with a node.
struct member {
  explicit member(troupe::node_options options) {
    types.add<troupe::object_ref<doubles>>("shop.doubles");
    node.emplace(value_or_throw(troupe::node::open(system, types, families, std::move(options))));
  }

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::optional<troupe::node> node;
};

void run_stock(const std::string& address) {
  member stock{{.name = "stock", .listen = {address}, .store = std::nullopt}};
  value_or_throw(stock.node->publish("stock", stock.system.spawn([]() -> caf::behavior {
    return {[](count_atom, int pieces) { return 100 - pieces; }};
  })));
  value_or_throw(stock.node->dead_letters(stock.system.spawn([]() -> caf::behavior {
    return {[](const troupe::dead_letter& letter) {
      say(std::string(troupe::to_string(letter.reason)) + " from " + letter.peer + ": " + letter.reason_text);
    }};
  })));
  say("ready");
  for (std::string line; std::getline(std::cin, line);)
    ;
}

class front {
public:
  front(const std::string& address, const std::string& store)
      : me_({.name = "front", .store = troupe::store::options{.name = store, .capacity_bytes = 16 << 20}}) {
    me_.types.add<parcel>("shop.parcel");
    value_or_throw(me_.node->connect(address));
    stock_ = value_or_throw(value_or_throw(me_.node->connect(address)).find("stock"));
    const auto kept = value_or_throw(me_.node->put(doubles(std::vector<double>(50'000, 0.5))));
    const troupe::allow_out_of_band_handles guard{*me_.node};
    saved_ = value_or_throw(troupe::serialize(kept, {}, me_.types, me_.families));
  }

  std::string obey(const std::string& order) {
    if (order == "ask")
      return ask();
    if (order == "lose")
      return lose();
    if (order == "read")
      return read();
    return "unknown";
  }

private:
  std::string ask() {
    std::string answer;
    const auto send = [&] {
      self_->request(stock_, 10s, count_atom::value, 58)
          .receive([&](int number) { answer = "answer " + std::to_string(number); },
                   [&](const caf::error& why) { answer = troupe::text_of(why); });
    };
    troupe::with_context(troupe::trace_context::begin(), send)();
    return answer;
  }

  std::string lose() {
    self_->send(stock_, parcel{"fragile"});
    return "sent";
  }

  std::string read() {
    const auto ref = troupe::deserialize<troupe::object_ref<doubles>>(saved_, {}, me_.types, me_.families);
    if (!ref)
      return ref.error().message();
    const auto values = ref->get();
    return values ? std::to_string(values->size()) + " numbers" : std::string(troupe::to_string(values.error().code()));
  }

  member me_;
  caf::scoped_actor self_{me_.system};
  caf::actor stock_;
  troupe::payload saved_;
};

int main(int argument_count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.size() == 2 && words[0] == "stock") {
    run_stock(words[1]);
    return 0;
  }
  if (words.size() != 3 || words[0] != "front")
    throw std::runtime_error("shop stock ADDRESS, or shop front ADDRESS STORE");
  front one{words[1], words[2]};
  say("ready");
  for (std::string line; std::getline(std::cin, line);)
    say(one.obey(line));
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}

// One order on its way through three nodes, drawn as the tree of its spans: `traces`. With the URL of a collector, the
// spans go there: `traces http://127.0.0.1:4318/v1/traces`.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

#include <troupe/framework/tracing.hpp>
#include <troupe/troupe.hpp>
#ifdef HAS_EXPORTER
#include <troupe/framework/otlp/trace_exporter.hpp>
#endif

using namespace std::chrono_literals;

using price_atom = caf::atom_constant<caf::atom("price")>;
using count_atom = caf::atom_constant<caf::atom("count")>;
using note_atom = caf::atom_constant<caf::atom("note")>;

/// A process of a real system.
struct member {
  explicit member(const std::string& name)
      : node(troupe::value_or_throw(
          troupe::node::open(system, types, families, {.name = name, .listen = {address_of(name)}, .store = {}}))) {}

  static std::string address_of(const std::string& name) { return "unix://@" + name + '-' + std::to_string(getpid()); }
  caf::actor find(const std::string& where, const std::string& what) {
    links.push_back(troupe::value_or_throw(node.connect(address_of(where))));
    return troupe::value_or_throw(links.back().find(what));
  }

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  troupe::node node;
  std::vector<troupe::link> links;
};

/// Keeps the spans of all three nodes.
class kept_spans : public troupe::span_sink {
public:
  bool take(troupe::span what) noexcept override {
    const std::lock_guard guard{mutex_};
    children_[what.parent].push_back(std::move(what));
    return true;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard{mutex_};
    std::size_t sum = 0;
    for (const auto& [parent, spans] : children_)
      sum += spans.size();
    return sum;
  }
  void print(const troupe::span_id& below = {}, const std::string& margin = "") {
    auto& spans = children_[below];
    std::ranges::sort(spans, {}, &troupe::span::start);
    for (const auto& each : spans) {
      std::cout << margin << each.name << (each.kind == troupe::span_kind::client ? " to " : " from ") << each.peer
                << '\n';
      print(each.id, margin + "  ");
    }
  }

private:
  mutable std::mutex mutex_;
  std::map<troupe::span_id, std::vector<troupe::span>> children_;
};

/// Prices an order by what is in stock, and has the sale noted.
caf::behavior pricer(caf::event_based_actor* self, const caf::actor& stock) {
  return {[=](price_atom, int pieces) {
    auto price = self->make_response_promise<int>();
    self->request(stock, 5s, count_atom::value).then([=](int in_stock) mutable {
      self->send(stock, note_atom::value, pieces); // Still in the context of the order.
      price.deliver(in_stock > 10 * pieces ? 3 * pieces : 4 * pieces);
    });
    return price;
  }};
}

int main(int argument_count, char** arguments) try { // traces [URL]
  member shop{"shop"}, pricing{"pricing"}, stock{"stock"};
  troupe::value_or_throw(stock.node.publish("stock", stock.system.spawn([]() -> caf::behavior {
    return {[](count_atom) { return 100; }, [](note_atom, int) {}};
  })));
  const auto priced = pricing.system.spawn(pricer, pricing.find("stock", "stock"));
  troupe::value_or_throw(pricing.node.publish("pricer", priced));
  const auto pricer_there = shop.find("pricing", "pricer");

  const auto spans = std::make_shared<kept_spans>();
#ifndef HAS_EXPORTER
  if (argument_count > 1)
    throw std::runtime_error("built without troupe::otlp, which needs libcurl");
#endif
#ifdef HAS_EXPORTER
  std::vector<troupe::trace_exporter> exporters;
#endif
  for (auto* each : {&shop, &pricing, &stock}) {
    // Work begins in the shop, so only the shop decides what is sampled: here, everything.
    const auto sample = each == &shop ? 1.0 : 0.0;
    if (argument_count == 1)
      troupe::value_or_throw(each->node.record_spans(spans, sample));
#ifdef HAS_EXPORTER
    else
      exporters.push_back(troupe::value_or_throw(
          troupe::trace_exporter::open(each->node, {.endpoint = arguments[1], .sample = sample})));
#endif
  }

  caf::scoped_actor self{shop.system};
  self->request(pricer_there, 10s, price_atom::value, 7)
      .receive([](int price) { std::cout << "7 pieces cost " << price << '\n'; },
               [&](const caf::error& why) { throw std::runtime_error(shop.system.render(why)); });
  self->send_exit(priced, caf::exit_reason::user_shutdown); // CAF keeps it until the timeout of its request.
#ifdef HAS_EXPORTER
  for (auto& each : exporters) {
    each.flush(5s);
    const auto stats = each.stats();
    std::cout << stats.exported << " spans exported" << (stats.last_error.empty() ? "" : ": " + stats.last_error)
              << '\n';
  }
#endif
  if (argument_count > 1)
    return 0;
  for (int i = 0; i < 5'000 && spans->size() < 5; ++i) // The last handler has yet to end.
    usleep(1'000);
  spans->print();
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}

// Functions that run in another process: `tasks serve` in one terminal, `tasks` in another. Both processes run this
// program, so they register the functions by the same names.
#include <algorithm>
#include <expected>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <troupe/troupe.hpp>

using doubles = troupe::array<double>;
using namespace std::chrono_literals;

/// A function reports failure by an error, as here, or by an exception.
std::expected<double, std::string> mean(const troupe::object_ref<doubles>& samples) {
  const auto values = samples.get(); // Read in place from the shared store.
  if (!values)
    return std::unexpected(values.error().message());
  if (values->empty())
    return std::unexpected("no samples");
  return std::accumulate(values->begin(), values->end(), 0.0) / static_cast<double>(values->size());
}

/// A functor's state travels with the task.
struct above {
  double threshold = 0;
  std::size_t operator()(const std::vector<double>& samples) const {
    return static_cast<std::size_t>(std::ranges::count_if(samples, [this](double each) { return each > threshold; }));
  }
};
TROUPE_DESCRIBE(above, threshold)

int main(int argument_count, char**) try {
  troupe::type_registry types;
  types.add<troupe::object_ref<doubles>>("tasks.doubles");
  types.add_function<&mean>("tasks.mean").add_function<above>("tasks.above");
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  const auto serves = argument_count > 1;
  troupe::node_options options{.name = serves ? "server" : "client"};
  if (serves) {
    options.listen = {"unix://@tasks"};
    options.accepted_links.allow_tasks = true; // Off by default.
  }
  auto node = troupe::node::open(system, types, families, options);
  if (!node)
    throw std::runtime_error(node.error().message());
  if (serves) {
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
    return 0;
  }
  auto link = node->connect("unix://@tasks");
  if (!link)
    throw std::runtime_error(link.error().message());

  auto show = [](std::string_view what, const auto& result) {
    std::cout << what << ": ";
    if (result)
      std::cout << *result << '\n';
    else
      std::cout << result.error().message() << '\n';
  };
  auto samples = node->put(doubles(std::vector<double>(1'000'000, 0.25)));
  auto none = node->put(doubles());
  if (!samples || !none)
    throw std::runtime_error("no room in the store");
  show("mean", link->submit(troupe::fn_ref<&mean>, *samples).get(5s));
  show("mean of nothing", link->submit(troupe::fn_ref<&mean>, *none).get(5s));
  show("above 0.5", link->submit(above{0.5}, std::vector{0.1, 0.7, 0.9}).get(5s));
  double limit = 0.5;
  show("a lambda", link->submit([limit](double value) { return value > limit; }, 0.7).get(5s));
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

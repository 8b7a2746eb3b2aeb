#include <iostream>

#include <troupe/framework/bench/compare.hpp>

struct order {
  std::string customer;
  std::vector<double> prices;
};
TROUPE_DESCRIBE(order, customer, prices)

int main() {
  const std::vector<order> samples{{"Ada", {1.5, 2.5}}};
  const auto result = troupe::bench::compare<order>(
      samples,
      {.families = {"typed", "json"}, .over = {"unix", "tcp", "store"}, .time = std::chrono::milliseconds(200)});
  std::cout << (result ? result->table() + '\n' + result->advice() : result.error().message()) << '\n';
  return result ? 0 : 1;
}

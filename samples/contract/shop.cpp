// Prints the contract of the program's types, to be kept beside the source: `shop > released.contract`. The script
// `check` is the build step that compares a new contract with it.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include <troupe/serializers/contract.hpp>

namespace shop {

enum class payment { cash, card };
TROUPE_DESCRIBE_ENUM(payment, cash, card)

struct order {
  std::uint64_t number = 0;
  std::map<std::string, std::uint32_t> items;
  std::int64_t cents = 0;
  payment paid_by = payment::cash;
  std::optional<std::chrono::sys_seconds> delivered;
};
TROUPE_DESCRIBE(order, number, items, cents, paid_by, delivered)

} // namespace shop

int main() {
  troupe::type_registry types; // The registry that the program gives to its node.
  types.add<shop::order>("shop.order");
  std::cout << troupe::contract_of(types);
}

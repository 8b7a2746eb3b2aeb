#include "handles/values.hpp"

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <utility>

namespace bench {

namespace {

constexpr char sign = 's';
constexpr std::chrono::seconds fetch_patience{60};

} // namespace

void add_value_types(troupe::type_registry& types) {
  types.add<bytes_ref>("bench.bytes_ref");
}

std::expected<bytes_ref, std::string> make_value(troupe::node& node, std::size_t size_bytes) {
  auto room = node.make_array<char>(size_bytes);
  if (!room)
    return std::unexpected{room.error().message()};
  room->values().front() = sign;
  room->values().back() = sign;
  auto sealed = (*std::move(room)).seal();
  if (!sealed)
    return std::unexpected{sealed.error().message()};
  return *std::move(sealed);
}

void check_value(const bytes& value, std::size_t size_bytes) {
  if (value.size() == size_bytes && value[0] == sign && value[size_bytes - 1] == sign)
    return;
  std::cerr << "a value of " << value.size() << " bytes is not what was sent\n";
  std::_Exit(3);
}

void when_here(const bytes_ref& ref, std::function<void(std::expected<void, std::string>)> then) {
  troupe::internal::state_of(ref)->source->fetch(
      std::chrono::steady_clock::now() + fetch_patience,
      [then = std::move(then)](const std::expected<troupe::frame, troupe::node_error>& came) {
        if (came)
          then({});
        else
          then(std::unexpected{came.error().message()});
      });
}

std::expected<bytes, std::string> value_of(const bytes_ref& ref) {
  std::promise<std::expected<void, std::string>> came;
  when_here(ref, [&](std::expected<void, std::string> result) { came.set_value(std::move(result)); });
  if (auto result = came.get_future().get(); !result)
    return std::unexpected{std::move(result).error()};
  auto value = ref.get();
  if (!value)
    return std::unexpected{value.error().message()};
  return *std::move(value);
}

} // namespace bench

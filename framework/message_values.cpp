#include <troupe/framework/message_values.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>

namespace troupe {

namespace {

/// Keeps a message's types, and what the program wants kept, until the message is consumed.
class kept_until_consumed final : public internal::consumption {
public:
  kept_until_consumed(internal::signature types, std::shared_ptr<const void> keeps)
      : consumption(0, std::move(keeps)), types_(std::move(types)) {}

  void consumed(std::uint64_t) noexcept override {}
  [[nodiscard]] const internal::signature& types() const noexcept { return types_; }

private:
  const internal::signature types_;
};

} // namespace

std::vector<message_value> values_of(const caf::message& message, const type_registry& types) {
  const internal::message_view view{message};
  std::vector<message_value> values(view.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = {.type = view.type(i).entry_in(types), .value = view.value(i)};
  return values;
}

std::string type_name_of(const caf::message& message, std::size_t place) {
  return internal::message_view{message}.type(place).name();
}

std::expected<caf::message, node_error>
message_with(std::span<const type_entry* const> types,
             const std::function<std::expected<void, node_error>(std::size_t place, void* value)>& fill,
             std::shared_ptr<const void> keeps) {
  const internal::consumption_ptr<kept_until_consumed> kept{
      new kept_until_consumed{internal::signature_of(types), std::move(keeps)}};
  internal::message_under_construction made{kept->types(), kept->issue(0)};
  for (std::size_t i = 0; i < types.size(); ++i) {
    auto* const place = made.construct_next();
    if (place == nullptr)
      return std::unexpected{node_error{node_errc::undecodable, "values of the type \"" + types[i]->alias()
                                                                    + "\" cannot be made without arguments or copied"}};
    if (auto filled = fill(i, place); !filled)
      return std::unexpected{std::move(filled).error()};
  }
  return std::move(made).finish(nullptr, {})->move_content_to_message();
}

} // namespace troupe

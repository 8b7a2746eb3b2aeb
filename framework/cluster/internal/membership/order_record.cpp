#include <troupe/framework/cluster/internal/membership/order_record.hpp>

#include <utility>

#include <nlohmann/json.hpp>

namespace troupe::membership {

namespace {

constexpr std::size_t order_text_bytes_max = 1'024;

} // namespace

std::string order_record(const drain_order& of) {
  return nlohmann::json{{"drain", true}, {"incarnation", of.incarnation}, {"by", of.by}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::expected<drain_order, std::string> read_order_record(std::string member, std::string_view record) {
  const auto read = nlohmann::json::parse(record, nullptr, false);
  if (!read.is_object())
    return std::unexpected{std::string{"it is not a JSON object"}};
  const auto drain = read.find("drain");
  if (drain == read.end() || !drain->is_boolean() || !drain->get<bool>())
    return std::unexpected{std::string{"it is no order to drain"}};
  drain_order order{.member = std::move(member), .incarnation = {}, .by = {}};
  for (const auto& [key, into] : {std::pair{"incarnation", &order.incarnation}, std::pair{"by", &order.by}}) {
    const auto found = read.find(key);
    if (found == read.end())
      continue;
    if (!found->is_string() || found->get_ref<const std::string&>().size() > order_text_bytes_max)
      return std::unexpected{std::string{key} + " is not a text of at most 1,024 bytes"};
    *into = found->get<std::string>();
  }
  if (order.incarnation.empty())
    return std::unexpected{std::string{"it does not say which process it is for"}};
  return order;
}

} // namespace troupe::membership

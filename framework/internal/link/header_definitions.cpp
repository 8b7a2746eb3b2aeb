#include <troupe/framework/internal/link/header_definitions.hpp>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

std::optional<std::uint64_t> header_definitions::number_of(const family& by, const type_entry& type,
                                                           const sending_terms& terms, bool is_waited_for) {
  auto held = link_.mutex.lock();
  if (!is_waited_for && terms.peer_epoch != lists_.peer_epoch())
    return std::nullopt;
  auto* out = to_->open_outbox(held);
  const auto [number, is_new] = words_.header(held, by, type, out);
  if (is_new && out != nullptr)
    to_->flush_soon(held); // The header leaves with the message at the latest.
  held.unlock();
  if (is_new)
    link_.log.say(log_level::debug, [&] {
      return "to " + link_.peer_name() + ": header " + grouped(number) + " is \"" + type.alias() + "\" by "
             + std::string{by.name()};
    });
  return number;
}

std::uint64_t header_definitions::number_for_others(bytes_view header) {
  const auto held = link_.mutex.lock();
  auto* out = to_->open_outbox(held);
  if (out == nullptr)
    return 0;
  const auto [number, is_new] = words_.header_for_others(held, header, *out);
  if (is_new)
    to_->flush_soon(held); // The header leaves with the message at the latest.
  return number;
}

bool header_definitions::admits_for_others(const std::vector<std::string>& aliases) const {
  const auto held = link_.mutex.lock();
  return words_.admits_for_others(held, aliases);
}

} // namespace troupe::internal

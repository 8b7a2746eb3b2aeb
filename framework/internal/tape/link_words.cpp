#include <troupe/framework/internal/tape/link_words.hpp>

#include <optional>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/payload.hpp>

namespace troupe::internal {

namespace {

std::unexpected<std::string> too_many_definitions() {
  return std::unexpected{"one end of the link has defined more than " + grouped(kept_definitions::signatures_max)
                         + " signatures, or more than " + grouped(kept_definitions::bytes_max)
                         + " bytes of signatures and headers"};
}

} // namespace

std::expected<std::size_t, std::string> link_words::add_signature(bytes_view body) {
  auto definition = read_signature(body);
  if (!definition)
    return std::unexpected{"a signature cannot be read"};
  if (const auto known = signatures_.find(definition->number); known != signatures_.end()) {
    if (known->second != definition->aliases)
      return std::unexpected{"signature " + grouped(definition->number) + " comes again with other types"};
    return 0;
  }
  const auto bytes = kept_definitions::bytes_of_signature(body.size(), definition->aliases.size());
  if (!kept_.has_room_for(bytes) || signatures_.size() >= kept_definitions::signatures_max)
    return too_many_definitions();
  kept_.add(bytes);
  signatures_.emplace(definition->number, std::move(definition->aliases));
  return bytes;
}

std::expected<std::size_t, std::string> link_words::add_header(bytes_view body) {
  const auto definition = read_header(body);
  if (!definition || definition->number == 0)
    return std::unexpected{"a header cannot be read"};
  if (const auto known = headers_.find(definition->number); known != headers_.end()) {
    if (!std::ranges::equal(known->second.bytes.bytes(), definition->header))
      return std::unexpected{"header " + grouped(definition->number) + " comes again with another content"};
    return 0;
  }
  const auto bytes = kept_definitions::bytes_of_header(body.size());
  if (!kept_.has_room_for(bytes))
    return too_many_definitions();
  const auto fields = parse_header(definition->header, taped_header_limits());
  if (!fields)
    return std::unexpected{"header " + grouped(definition->number) + ": " + fields.error().message()};
  kept_.add(bytes);
  headers_.emplace(definition->number, taped_header{.bytes = frame::copy_of(definition->header),
                                                    .family = std::string{fields->family},
                                                    .type = std::string{fields->type}});
  return bytes;
}

const std::vector<std::string>* link_words::signature(std::uint64_t number) const {
  const auto found = signatures_.find(number);
  return found == signatures_.end() ? nullptr : &found->second;
}

const taped_header* link_words::header(std::uint64_t number) const {
  const auto found = headers_.find(number);
  return found == headers_.end() ? nullptr : &found->second;
}

} // namespace troupe::internal

// Handles in payloads that are nested in a message's payloads. A nested payload numbers its mentions independently, so
// that its bytes keep their meaning wherever it is forwarded. Its header maps those numbers to the mentions of the
// enclosing payload.
#include <algorithm>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

using detail::failure;

struct mention_list {
  std::vector<actor_handle> actors;
  std::vector<object_source_ptr> objects;
  std::shared_ptr<const object_environment> environment;
};

/// The handles that a nested payload mentions, while the payload is kept.
class listed_mentions final : public kept_mentions {
public:
  explicit listed_mentions(mention_list list) : list_(std::move(list)) {}

  [[nodiscard]] extension_kind kind() const noexcept override { return extension_kind::link; }
  [[nodiscard]] const mention_list& list() const noexcept { return list_; }
  [[nodiscard]] std::unique_ptr<context_extension> reading() const override;

private:
  const mention_list list_;
};

/// Encodes a nested payload, or decodes it again.
class part_extension final : public codec_mentions {
public:
  explicit part_extension(mention_list list) : list_(std::move(list)) {}

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& actor) override {
    if (!actor)
      return 0;
    return place_of(actor, list_.actors, "actors");
  }
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override {
    if (!list_.environment)
      list_.environment = object.environment;
    return place_of(object.source, list_.objects, "objects");
  }

  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override {
    if (place == 0)
      return actor_handle{};
    if (place > list_.actors.size())
      return failure(serialize_errc::malformed, "the payload names an actor that its header does not list");
    return list_.actors[place - 1];
  }
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override {
    if (place == 0 || place > list_.objects.size())
      return failure(serialize_errc::malformed, "the payload names an object that its header does not list");
    return list_.objects[place - 1];
  }
  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return list_.environment; }

  [[nodiscard]] std::shared_ptr<const kept_mentions> kept() const override {
    if (list_.actors.empty() && list_.objects.empty())
      return nullptr;
    return std::make_shared<const listed_mentions>(list_);
  }

private:
  template <class Handle>
  static std::expected<std::uint32_t, serialize_error> place_of(const Handle& handle, std::vector<Handle>& list,
                                                                std::string_view what) {
    constexpr std::size_t looked_at = 64; // Limits the search; beyond these a handle may be listed twice.
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), looked_at));
    if (const auto known = std::find(list.begin(), end, handle); known != end)
      return static_cast<std::uint32_t>(known - list.begin() + 1);
    if (list.size() == element_actors_max)
      return failure(serialize_errc::limit_exceeded, "the value contains more than " + grouped(element_actors_max)
                                                         + " handles of " + std::string{what}
                                                         + ", the limit of one value");
    list.push_back(handle);
    return static_cast<std::uint32_t>(list.size());
  }

  mention_list list_;
};

std::unique_ptr<context_extension> listed_mentions::reading() const {
  return std::make_unique<part_extension>(list_);
}

std::unexpected<serialize_error> unreadable() {
  return failure(serialize_errc::malformed, "a payload's header does not say which handles it mentions");
}

} // namespace

std::unique_ptr<context_extension> codec_mentions::for_part() {
  return std::make_unique<part_extension>(mention_list{});
}

std::expected<std::vector<std::byte>, serialize_error> codec_mentions::mention_all(const kept_mentions& what) {
  if (what.kind() != extension_kind::link)
    return context_extension::mention_all(what);
  if (!reads_mentions_of_parts())
    return failure(serialize_errc::codec_failed,
                   "handles within a troupe::serialized cannot be sent to this peer, whose version does not support "
                   "them there (the feature \"nested_handles\"); send them beside it");
  const auto& list = static_cast<const listed_mentions&>(what).list();
  std::vector<std::byte> note;
  append_varint(note, list.actors.size());
  for (const auto& actor : list.actors) {
    const auto place = mention(actor);
    if (!place)
      return std::unexpected{place.error()};
    append_varint(note, *place);
  }
  for (const auto& object : list.objects) {
    const auto place = mention(object_state{{}, object, list.environment});
    if (!place)
      return std::unexpected{place.error()};
    if (*place == 0)
      return failure(serialize_errc::codec_failed,
                     "an object_ref within a troupe::serialized cannot be sent to a node without a store of its own; "
                     "send it beside that, or send the result of get()");
    append_varint(note, *place);
  }
  return note;
}

std::expected<std::shared_ptr<const kept_mentions>, serialize_error>
codec_mentions::find_all(std::span<const std::byte> note) {
  packet_reader in{note};
  mention_list list{.actors = {}, .objects = {}, .environment = objects()};
  const auto count = in.varint_up_to(element_actors_max);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto place = in.varint_up_to(UINT32_MAX);
    if (!in.ok() || place == 0) // Null actors are never listed.
      return unreadable();
    auto actor = mentioned(static_cast<std::uint32_t>(place));
    if (!actor)
      return std::unexpected{std::move(actor).error()};
    list.actors.push_back(*std::move(actor));
  }
  while (in.ok() && !in.finished()) {
    const auto place = in.varint_up_to(UINT32_MAX);
    if (!in.ok())
      break;
    auto object = mentioned_object(static_cast<std::uint32_t>(place));
    if (!object)
      return std::unexpected{std::move(object).error()};
    list.objects.push_back(*std::move(object));
  }
  if (!in.ok())
    return unreadable();
  return std::make_shared<const listed_mentions>(std::move(list));
}

} // namespace troupe::internal

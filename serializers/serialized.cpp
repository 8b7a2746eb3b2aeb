#include <troupe/serializers/serialized.hpp>

#include <algorithm>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/internal/payload/compressing.hpp>
#include <troupe/serializers/internal/payload/error_payload.hpp>
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

using detail::failure;

/// Marks compressed frames, so that they leave unchanged even if the payload around them is compressed.
serialized_form with_marked_frames(serialized_form form, const context& ctx) {
  if (!detail::compresses(ctx) || form.header.size_bytes() == 0)
    return form;
  const auto fields = parse_header(form.header.bytes(), ctx.limits);
  if (!fields || fields->frame_codecs.empty())
    return form;
  const auto forms = detail::read_frame_codecs(fields->frame_codecs, form.frames.size());
  for (std::size_t i = 0; forms && i < form.frames.size(); ++i)
    if ((*forms)[i].codec != detail::frame_codec::none)
      form.frames[i] = detail::marked_as_compressed(form.frames[i]);
  return form;
}

/// Writes into the header which mentions of the outer payload belong to this payload. They differ with each outer
/// payload.
std::expected<void, serialize_error> mention_in_header(const kept_mentions* what, frame& header, const context& ctx) {
  if (header.size_bytes() == 0)
    return {};
  auto fields = parse_header(header.bytes(), {.header_bytes = header.size_bytes()});
  if (!fields || (what == nullptr && fields->mentions.empty()))
    return {};
  if (what == nullptr)
    return failure(serialize_errc::out_of_band_handle,
                   "the payload contains handles of a message, but was taken out of the troupe::serialized that holds "
                   "them: send that troupe::serialized");
  if (ctx.extension == nullptr)
    return failure(serialize_errc::out_of_band_handle,
                   "a troupe::serialized with handles in it can only be serialized inside a message to a remote actor, "
                   "where they are counted");
  const auto note = ctx.extension->mention_all(*what);
  if (!note)
    return std::unexpected(note.error());
  fields->mentions = *note;
  auto made = make_header(*fields);
  if (made.size_bytes() > ctx.limits.header_bytes)
    return failure(serialize_errc::limit_exceeded, "its handles make a header of " + grouped(made.size_bytes())
                                                       + " bytes, limit " + grouped(ctx.limits.header_bytes)
                                                       + " (limits::header_bytes)");
  header = std::move(made);
  return {};
}

} // namespace

std::expected<header_fields, serialize_error> serialized::header() const {
  if (!is_encoded())
    return failure(serialize_errc::malformed, empty() ? "there is no payload" : "the value is not encoded yet");
  return parse_header(payload_.header.bytes());
}

std::expected<deserialize_options, serialize_error>
serialized::accepted_options(const deserialize_options& options) const {
  if (!is_encoded())
    return failure(serialize_errc::malformed, "there is no payload");
  auto made = options;
  if (accepted_)
    std::erase_if(made.deserializers,
                  [&](const std::string& name) { return std::ranges::find(*accepted_, name) == accepted_->end(); });
  return made;
}

serialize_error serialized::holds_another(const std::type_info& wanted) const {
  return {serialize_errc::type_mismatch, "holds a value of " + detail::type_text(held_->type) + ", expected "
                                             + detail::type_text(wanted)
                                             + (held_->type == wanted ? ", which cannot be copied" : "")};
}

std::expected<serialized_form, serialize_error> codec<serialized>::reduce(const serialized& value, const context& ctx) {
  if (!value.held_) {
    serialized_form kept{value.payload_.header, value.payload_.frames};
    if (auto told = mention_in_header(value.mentions_.get(), kept.header, ctx); !told)
      return std::unexpected(std::move(told.error()));
    return with_marked_frames(std::move(kept), ctx);
  }
  const auto& type = value.held_->type;
  const auto* entry = ctx.types == nullptr ? nullptr : ctx.types->find(type);
  if (entry == nullptr)
    return failure(serialize_errc::unknown_type,
                   detail::type_text(type) + " is marked by to_serialize() but not registered: types.add<...>(alias)");
  auto inner = ctx;
  inner.limits = detail::limits_of_parts(ctx.limits, 1);
  // Mentions that only this message can name are listed beside the payload.
  const auto part = ctx.extension != nullptr ? ctx.extension->for_part() : nullptr;
  inner.extension = part.get();
  inner.value_owner = value.held_;
  if (inner.limits.depth == 0)
    return failure(serialize_errc::limit_exceeded, "payloads are nested too deep (limits::depth)");
  encode_output output;
  const auto by = encode_value(*entry, value.held_->value(), ctx.families, inner, output);
  if (!by)
    return std::unexpected(by.error());
  serialized_form made{.header = header_of(**by, *entry, output), .frames = {}};
  made.frames.reserve(1 + output.frames().size());
  made.frames.push_back(frame::copy_of(output.body().bytes()));
  made.frames.insert(made.frames.end(), output.frames().begin(), output.frames().end());
  const auto mentions = part ? part->kept() : nullptr;
  if (auto told = mention_in_header(mentions.get(), made.header, ctx); !told)
    return std::unexpected(std::move(told.error()));
  return with_marked_frames(std::move(made), ctx);
}

std::size_t codec<serialized>::rebuilt_bytes(const serialized_form& form) {
  constexpr std::size_t base_bytes = 256;   // The object itself, and the list of families that its link accepts.
  constexpr std::size_t small_header = 512; // Up to this size, reading the header twice is not worthwhile.
  constexpr std::size_t mention_bytes = 16; // For each mention, which takes at least a byte in the header.
  const auto header_bytes = form.header.size_bytes();
  const auto mentions = [&]() -> std::size_t {
    if (header_bytes <= small_header)
      return 0;
    const auto fields = parse_header(form.header.bytes(), {.header_bytes = header_bytes});
    return fields ? fields->mentions.size() : 0;
  }();
  // A quarter of the header, because reading it takes less time than making values of that size.
  return base_bytes + header_bytes / 4 + mention_bytes * (header_bytes <= small_header ? header_bytes / 4 : mentions);
}

std::expected<serialized, serialize_error> codec<serialized>::rebuild(serialized_form&& from, const context& ctx) {
  if (from.header.size_bytes() == 0 && from.frames.empty())
    return serialized();
  const auto fields = parse_header(from.header.bytes(), ctx.limits);
  if (!fields)
    return std::unexpected(fields.error());
  if (const auto by = check_accepted(fields->family, ctx.families); !by && fields->family != detail::error_family)
    return std::unexpected(by.error());
  std::shared_ptr<const kept_mentions> mentions;
  if (!fields->mentions.empty()) {
    if (ctx.extension == nullptr)
      return failure(serialize_errc::out_of_band_handle,
                     "the payload contains handles, which can only be decoded in a message");
    auto found = ctx.extension->find_all(fields->mentions);
    if (!found)
      return std::unexpected(std::move(found.error()));
    mentions = *std::move(found);
  }
  serialized made(payload{std::move(from.header), std::move(from.frames)});
  made.mentions_ = std::move(mentions);
  std::vector<std::string> accepted;
  for (const auto* each : ctx.families)
    accepted.emplace_back(each->name());
  made.accepted_ = std::make_shared<const std::vector<std::string>>(std::move(accepted));
  return made;
}

} // namespace troupe

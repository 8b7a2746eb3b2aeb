#include <troupe/serializers/family.hpp>

#include <algorithm>
#include <exception>

#include <troupe/serializers/internal/diagnose/trace.hpp>
#include <troupe/serializers/internal/payload/compressing.hpp>
#include <troupe/serializers/internal/payload/elements_family.hpp>
#include <troupe/serializers/internal/payload/error_payload.hpp>
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/internal/payload/pieces.hpp>
#include <troupe/serializers/internal/payload/repeats.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/json/json_family.hpp>
#include <troupe/serializers/msgpack/msgpack_family.hpp>
#include <troupe/serializers/splitting.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/serializers/typed/typed_family.hpp>

namespace troupe {

namespace {

using detail::failure;

std::string listed(const auto& items, auto&& name_of_item) {
  std::string text = "[";
  for (const auto& item : items)
    text += (text.size() > 1 ? ", " : "") + std::string(name_of_item(item));
  return text + "]";
}

std::expected<void, serialize_error> own_failure(const type_entry& entry, const family& by,
                                                 const serialize_error& error) {
  return failure(error.code(), std::string(by.name()) + ": " + entry.alias() + ": " + error.message());
}

std::expected<void, serialize_error> guarded(const type_entry& entry, const family& by, auto&& step) {
  try {
    return step();
  } catch (const std::exception& thrown) {
    return own_failure(entry, by, thrown_by_codec(thrown));
  } catch (...) {
    return own_failure(entry, by, thrown_by_codec("an object that is not a std::exception"));
  }
}

// The body of a value that its type's own codec has encoded: this one byte. Header and frames are the codec's.
constexpr std::byte form_of_own_codec{2};

std::expected<void, serialize_error> encode_own(const type_entry& entry, const own_codec& own, const family& by,
                                                const void* value, const context& ctx, encode_output& output) {
  auto form = own.to_frames(value, ctx);
  if (!form)
    return own_failure(entry, by, form.error());
  output.body().append(form_of_own_codec);
  output.extra().append(form->header);
  for (auto& each : form->frames)
    output.attach(std::move(each));
  return {};
}

std::expected<void, serialize_error> decode_own(const type_entry& entry, const own_codec& own, const family& by,
                                                void* target, const header_fields& header,
                                                std::span<const frame> frames, const context& ctx) {
  if (frames.empty() || frames[0].size_bytes() != 1 || frames[0].bytes()[0] != form_of_own_codec)
    return own_failure(entry, by,
                       {serialize_errc::layout_mismatch, "has a codec of its own here, but not at the sender"});
  const auto done = own.from_frames(target, header.extra, frames.subspan(1), ctx);
  return done ? done : own_failure(entry, by, done.error());
}

/// The type's own codec if it belongs to this family, else null.
const own_codec* own_of(const type_entry& entry, const family& by) {
  const auto* own = entry.own();
  return own != nullptr && own->family == by.name() ? own : nullptr;
}

/// Names a limit of the receiver.
std::string limit_text(std::string_view limit, const context& ctx) {
  const auto text = " (limits::" + std::string(limit);
  return ctx.recipient.empty() ? text + ")" : text + ", in the receive_limits of " + std::string(ctx.recipient) + ")";
}

// Refuses to send an output that a receiver with the same limits would refuse.
std::expected<void, serialize_error> check_output(const type_entry& entry, const family& by, const context& ctx,
                                                  const encode_output& output) {
  if (const auto frames = 1 + output.frames().size(); frames > ctx.limits.frames)
    return own_failure(entry, by,
                       {serialize_errc::limit_exceeded,
                        grouped(frames) + " frames, limit " + grouped(ctx.limits.frames) + limit_text("frames", ctx)});
  if (output.extra().size() + by.schema(entry).size() <= ctx.limits.header_bytes / 2) // The names are short.
    return {};
  const auto bytes = header_of(by, entry, output).size_bytes();
  if (bytes <= ctx.limits.header_bytes)
    return {};
  if (output.extra().size() == 0)
    return own_failure(entry, by,
                       {serialize_errc::not_supported, "its layout makes a header of " + grouped(bytes)
                                                           + " bytes, limit " + grouped(ctx.limits.header_bytes)
                                                           + limit_text("header_bytes", ctx)});
  return own_failure(entry, by,
                     {serialize_errc::limit_exceeded, "its codec makes a header of " + grouped(bytes) + " bytes, limit "
                                                          + grouped(ctx.limits.header_bytes)
                                                          + limit_text("header_bytes", ctx)
                                                          + ": put large things into frames"});
}

std::vector<frame> frames_of(const encode_output& output) {
  std::vector<frame> frames{frame(output.body().bytes(), nullptr)};
  frames.insert(frames.end(), output.frames().begin(), output.frames().end());
  return frames;
}

std::expected<void, serialize_error> trace_encoded(const type_entry& entry, const family& by,
                                                   const std::expected<void, serialize_error>& done, const context& ctx,
                                                   const encode_output& output) {
  if (!done) {
    detail::trace_refusal("encode", entry, by, done.error());
    return {};
  }
  const header_fields header{
      .family = by.name(), .type = entry.alias(), .schema = by.schema(entry), .extra = output.extra().bytes()};
  detail::trace_payload("encode", entry, by, header, frames_of(output), ctx);
  return {};
}

std::expected<void, serialize_error> check_frames(std::span<const frame> frames, const limits& bounds) {
  if (frames.size() > bounds.frames)
    return failure(serialize_errc::limit_exceeded, "payload of " + grouped(frames.size()) + " frames, limit "
                                                       + grouped(bounds.frames) + " (limits::frames)");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto most = i == 0 ? bounds.body_bytes : bounds.frame_bytes;
    if (frames[i].size_bytes() > most)
      return failure(serialize_errc::limit_exceeded,
                     "frame " + grouped(i) + " of " + grouped(frames[i].size_bytes()) + " bytes, limit " + grouped(most)
                         + (i == 0 ? " (limits::body_bytes)" : " (limits::frame_bytes)"));
  }
  return {};
}

/// The number of bytes of the header that are left for notes about frames.
std::size_t room_for_notes(const type_entry& entry, const family& by, const context& ctx, const encode_output& output) {
  constexpr std::size_t names_of_fields_bytes = 64; // Including the sizes of the fields.
  const auto taken = output.extra().size() + by.schema(entry).size() + by.name().size() + entry.alias().size()
                     + output.frame_repeats().size() + names_of_fields_bytes;
  return ctx.limits.header_bytes - std::min(ctx.limits.header_bytes, taken);
}

/// Compresses the frames for which compression pays, large ones piece by piece.
std::expected<void, serialize_error> compress(const type_entry& entry, const family& by, const context& ctx,
                                              encode_output& output) {
  const auto room = room_for_notes(entry, by, ctx, output);
  if (room == 0)
    return {};
  detail::split_output(frame_piece_bytes, ctx.limits, room / 2, output);
  detail::compress_frames(ctx, room - output.frame_pieces().size(), output);
  if (detail::is_tracing) [[unlikely]]
    detail::trace_compression(entry, output.frame_codecs().bytes(), frames_of(output));
  return {};
}

/// Whether the frames are the ones that the family made.
bool is_as_encoded(const header_fields& header) {
  return header.frame_codecs.empty() && header.frame_pieces.empty() && header.frame_repeats.empty();
}

std::expected<void, serialize_error> decode_by(const type_entry& entry, void* target, const family& by,
                                               const header_fields& header, std::span<const frame> frames,
                                               const context& ctx) {
  if (detail::is_tracing) [[unlikely]]
    static_cast<void>(guarded(entry, by, [&] {
      detail::trace_payload("decode", entry, by, header, frames, ctx);
      return std::expected<void, serialize_error>();
    }));
  const auto* own = own_of(entry, by);
  return own != nullptr ? decode_own(entry, *own, by, target, header, frames, ctx)
                        : by.decode(entry, target, header, frames, ctx);
}

/// Decodes a payload in which frames may repeat earlier ones.
std::expected<void, serialize_error> decode_repeated(const type_entry& entry, void* target, const family& by,
                                                     const header_fields& header, std::span<const frame> frames,
                                                     const context& ctx) {
  if (header.frame_repeats.empty())
    return decode_by(entry, target, by, header, frames, ctx);
  const auto made = detail::expand_repeats(header.frame_repeats, frames, ctx.limits);
  if (!made)
    return own_failure(entry, by, made.error());
  auto inner = ctx;
  inner.repeated_bytes = detail::repeated_frames().count(made->frames);
  inner.limits.memory_bytes -= std::min(inner.limits.memory_bytes, made->taken_bytes);
  detail::add_taken(ctx, made->taken_bytes);
  return decode_by(entry, target, by, header, made->frames, inner);
}

/// Decodes a payload whose frames are compressed or in pieces.
std::expected<void, serialize_error> decode_packed(const type_entry& entry, void* target, const family& by,
                                                   const header_fields& header, std::span<const frame> frames,
                                                   const context& ctx) {
  if (detail::is_tracing) [[unlikely]]
    detail::trace_compression(entry, header.frame_codecs, frames);
  const auto made = header.frame_codecs.empty()
                        ? detail::join_pieces(header.frame_pieces, frames, ctx.limits)
                        : detail::decompress_frames(header.frame_codecs, header.frame_pieces, frames, ctx.limits);
  if (!made)
    return own_failure(entry, by, made.error());
  auto inner = ctx;
  inner.limits.memory_bytes -= made->taken_bytes;
  return decode_repeated(entry, target, by, header, made->frames, inner);
}

/// Collects why families do not carry a type. A reason that several families give is told once.
class reasons_of_families {
public:
  explicit reasons_of_families(const type_entry& entry) : alias_(entry.alias()) {}

  /// Without the family's name and the type's alias, with which most reasons begin.
  void add(std::string_view family, std::string_view reason) {
    for (const auto& known : {std::string(family) + ": ", alias_ + ": "})
      if (reason.starts_with(known))
        reason.remove_prefix(known.size());
    const auto same = std::ranges::find(reasons_, reason, &one_reason::text);
    if (same != reasons_.end())
      same->families += ", " + std::string(family);
    else
      reasons_.push_back({std::string(family), std::string(reason)});
  }

  [[nodiscard]] std::string text() const {
    if (reasons_.size() == 1)
      return ": " + reasons_[0].text;
    std::string all;
    for (const auto& [families, text] : reasons_)
      all += (all.empty() ? ": " : "; ") + families + ": " + text;
    return all;
  }

private:
  struct one_reason {
    std::string families;
    std::string text;
  };

  const std::string& alias_;
  std::vector<one_reason> reasons_;
};

std::expected<const family*, serialize_error> encode_by_first(const type_entry& entry, const void* value,
                                                              std::span<const family* const> serializers,
                                                              const context& ctx, encode_output& output) {
  reasons_of_families reasons(entry);
  const detail::taken_mark before(ctx);
  const auto one_by_one = [&]() -> std::expected<const family*, serialize_error> {
    const auto& elements = detail::elements_family::instance();
    output.clear();
    auto done = guarded(entry, elements, [&] { return elements.encode(entry, value, ctx, output); });
    return done ? std::expected<const family*, serialize_error>(&elements) : std::unexpected(std::move(done.error()));
  };
  if (ctx.iterate == iterate::elements && entry.parts() != nullptr)
    return one_by_one();
  for (const auto* each : serializers) {
    output.clear();
    auto done = guarded(entry, *each, [&] {
      const auto* own = own_of(entry, *each);
      return own != nullptr ? encode_own(entry, *own, *each, value, ctx, output)
                            : each->encode(entry, value, ctx, output);
    });
    if (done)
      done = check_output(entry, *each, ctx, output);
    if (detail::is_tracing) [[unlikely]]
      static_cast<void>(guarded(entry, *each, [&] { return trace_encoded(entry, *each, done, ctx, output); }));
    if (done)
      return each;
    if (done.error().code() != serialize_errc::not_supported)
      return std::unexpected(std::move(done.error()));
    before.restore();
    reasons.add(each->name(), done.error().message());
  }
  if (ctx.iterate == iterate::automatic && entry.parts() != nullptr && ctx.types != nullptr) {
    auto used = one_by_one();
    if (used || used.error().code() != serialize_errc::not_supported)
      return used;
    reasons.add(detail::elements_family::instance().name(), used.error().message());
  }
  output.clear();
  return failure(serialize_errc::not_supported, "no family of "
                                                    + listed(serializers, [](const auto* each) { return each->name(); })
                                                    + " can carry '" + entry.alias() + "'" + reasons.text());
}

} // namespace

family::~family() = default;

family_set::family_set() {
  add(std::make_unique<typed_family>());
  add(std::make_unique<msgpack_family>());
  add(std::make_unique<json_family>());
}

family_set& family_set::add(std::unique_ptr<family> added) {
  if (added->name() == detail::elements_family::reserved_name || added->name() == detail::error_family)
    throw registration_error("the family name '" + std::string(added->name()) + "' is reserved; choose another name");
  if (find(added->name()) != nullptr)
    throw registration_error("two families are named '" + std::string(added->name()) + "'; load or add each once");
  families_.push_back(std::move(added));
  return *this;
}

const family* family_set::find(std::string_view name) const {
  for (const auto& each : families_)
    if (each->name() == name)
      return each.get();
  return nullptr;
}

std::vector<std::string> family_set::names() const {
  std::vector<std::string> all;
  for (const auto& each : families_)
    all.emplace_back(each->name());
  return all;
}

std::expected<std::vector<const family*>, serialize_error>
family_set::resolve(std::span<const std::string> wanted) const {
  std::vector<const family*> found;
  found.reserve(wanted.size());
  if (auto done = resolve(wanted, found); !done)
    return std::unexpected(std::move(done).error());
  return found;
}

std::expected<void, serialize_error> family_set::resolve(std::span<const std::string> wanted,
                                                         std::vector<const family*>& into) const {
  into.clear();
  for (const auto& name : wanted) {
    const auto* each = find(name);
    if (each == nullptr)
      return failure(serialize_errc::unknown_family,
                     "no family '" + name + "'; known are " + listed(names(), [](const auto& known) { return known; }));
    into.push_back(each);
  }
  return {};
}

std::expected<const family*, serialize_error> encode_value(const type_entry& entry, const void* value,
                                                           std::span<const family* const> serializers,
                                                           const context& ctx, encode_output& output) {
  auto used = encode_by_first(entry, value, serializers, ctx, output);
  if (!used)
    return used;
  if (output.frames().size() > 1) {
    detail::drop_repeats(room_for_notes(entry, **used, ctx, output) / 2, output);
    detail::add_taken(ctx, detail::expanding_bytes(output.frame_repeats().size()));
  }
  if (!detail::compresses(ctx))
    return used;
  const auto done = guarded(entry, **used, [&] { return compress(entry, **used, ctx, output); });
  return done ? used : std::unexpected(done.error());
}

std::expected<const family*, serialize_error> detail::encode_part(const type_entry& entry, const void* value,
                                                                  std::span<const family* const> serializers,
                                                                  const context& ctx, encode_output& output) {
  return encode_by_first(entry, value, serializers, ctx, output);
}

std::expected<void, serialize_error> decode_value(const type_entry& entry, void* target, const family& by,
                                                  const header_fields& header, std::span<const frame> frames,
                                                  const context& ctx) {
  const auto is_small = frames.size() == 1 && ctx.limits.frames > 0 && frames[0].size_bytes() <= ctx.limits.body_bytes;
  if (is_small && is_as_encoded(header) && entry.own() == nullptr && !detail::is_tracing) [[likely]]
    return guarded(entry, by, [&] { return by.decode(entry, target, header, frames, ctx); });
  if (auto checked = check_frames(frames, ctx.limits); !checked)
    return checked;
  return guarded(entry, by, [&] {
    return header.frame_codecs.empty() && header.frame_pieces.empty()
               ? decode_repeated(entry, target, by, header, frames, ctx)
               : decode_packed(entry, target, by, header, frames, ctx);
  });
}

std::expected<void, serialize_error> detail::check_parts_within(const type_entry& entry, const family& by,
                                                                const header_fields& header,
                                                                std::span<const frame> frames, const context& ctx) {
  const auto& elements = elements_family::instance();
  if (&by == &elements)
    return guarded(entry, by, [&] { return elements.check(entry, frames, ctx); });
  const auto* own = own_of(entry, by);
  if (own == nullptr || !own->check_parts || frames.empty())
    return {};
  const auto done = guarded(entry, by, [&] { return own->check_parts(header.extra, frames.subspan(1), ctx); });
  return done ? done : own_failure(entry, by, done.error());
}

std::expected<const family*, serialize_error> check_accepted(std::string_view name,
                                                             std::span<const family* const> accepted) {
  for (const auto* each : accepted)
    if (each->name() == name)
      return each;
  if (name == detail::elements_family::reserved_name)
    return &detail::elements_family::instance();
  return failure(serialize_errc::refused_family, "data serialized with " + std::string(name.substr(0, 100))
                                                     + " but this link only accepts "
                                                     + listed(accepted, [](const auto* each) { return each->name(); }));
}

const frame& standard_header(const family& of, const type_entry& entry) {
  return entry.standard_header(of);
}

frame header_of(const family& of, const type_entry& entry, const encode_output& output) {
  if (output.has_standard_header())
    return entry.standard_header(of);
  return make_header({.family = of.name(),
                      .type = entry.alias(),
                      .schema = of.schema(entry),
                      .extra = output.extra().bytes(),
                      .frame_codecs = output.frame_codecs().bytes(),
                      .frame_pieces = output.frame_pieces().bytes(),
                      .frame_repeats = output.frame_repeats().bytes()});
}

} // namespace troupe

#include <troupe/serializers/internal/payload/part_payloads.hpp>

#include <algorithm>

#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/internal/payload/repeats.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::detail {

namespace {

// The cost of reading a byte of a layout, in bytes of memory that a decoder may take.
constexpr std::size_t layout_cost = 4;

std::unexpected<serialize_error> too_deep() {
  return failure(serialize_errc::limit_exceeded, "payloads are nested too deep (limits::depth)");
}

} // namespace

limits limits_of_parts(const limits& whole, std::size_t count) {
  auto each = whole;
  each.memory_free_bytes = whole.memory_free_bytes / std::max<std::size_t>(1, count);
  each.hash_probes = whole.hash_probes / std::max<std::size_t>(1, count);
  each.depth = whole.depth > 0 ? whole.depth - 1 : 0;
  return each;
}

parts_encoder::parts_encoder(const context& ctx) : context_(ctx) {
  context_.limits = limits_of_parts(ctx.limits, 1);
  context_.compression = compression::none; // The outer payload compresses all of its frames.
}

std::expected<void, serialize_error> parts_encoder::add(std::string_view name, const type_entry& entry,
                                                        const void* value) {
  if (context_.limits.depth == 0)
    return too_deep();
  const auto by = encode_part(entry, value, context_.families, context_, output_);
  if (!by)
    return std::unexpected(by.error());
  const auto header = header_of(**by, entry, output_);
  const auto bytes = header.bytes();
  const auto [number, first] = headers_.try_emplace(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), list_.headers.size());
  if (first)
    list_.headers.emplace_back(bytes.begin(), bytes.end());
  auto known = names_.find(name);
  if (known == names_.end()) {
    known = names_.emplace(name, list_.names.size()).first;
    list_.names.emplace_back(name);
  }
  list_.parts.push_back({.name = known->second, .header = number->second, .frames = 1 + output_.frames().size()});
  frames_.push_back(frame::copy_of(output_.body().bytes()));
  frames_.insert(frames_.end(), output_.frames().begin(), output_.frames().end());
  return {};
}

std::expected<parts_decoder, serialize_error> parts_decoder::open(payload_parts list, std::span<const frame> frames,
                                                                  const context& ctx) {
  if (ctx.limits.depth == 0)
    return too_deep();
  parts_decoder made(std::move(list), ctx);
  made.context_.limits = limits_of_parts(ctx.limits, made.list_.parts.size());
  made.by_.reserve(made.list_.headers.size());
  made.fields_.reserve(made.list_.headers.size());
  made.frames_.reserve(made.list_.parts.size());
  for (const auto& header : made.list_.headers) {
    const auto fields = parse_header(header, ctx.limits);
    if (!fields)
      return std::unexpected(fields.error());
    // These are refused, because each part could otherwise take as much as the whole.
    if (!fields->frame_codecs.empty() || !fields->frame_pieces.empty() || !fields->frame_repeats.empty())
      return failure(serialize_errc::malformed, "a part that is compressed, in pieces or repeats frames by itself");
    const auto by = check_accepted(fields->family, ctx.families);
    if (!by)
      return std::unexpected(by.error());
    made.by_.push_back(*by);
    made.fields_.push_back(*fields);
  }
  std::size_t received = made.list_.parts.size() * sizeof(payload_part);
  for (const auto& each : frames)
    received += each.size_bytes();
  received -= std::min(received, ctx.repeated_bytes);
  repeated_frames known;
  made.layout_bytes_left_ = decoding_bytes(ctx.limits, received) / layout_cost;
  for (const auto& each : made.list_.parts) {
    if (each.header >= made.by_.size() || each.name >= made.list_.names.size() || each.frames > frames.size())
      return failure(serialize_errc::malformed, "a part refers to a header, name or frame that is missing");
    made.frames_.push_back(frames.first(each.frames));
    if (ctx.repeated_bytes > 0)
      made.repeated_bytes_.push_back(known.count(made.frames_.back()));
    frames = frames.subspan(each.frames);
  }
  if (!frames.empty())
    return failure(serialize_errc::malformed, "frames that belong to no part");
  return made;
}

// A part of another version takes the time to read its layout, however small the part is.
bool parts_decoder::may_read_layout(std::size_t header, const type_entry& entry) {
  const auto& layout = fields_[header].schema;
  if (layout.empty() || std::ranges::equal(layout, by_[header]->schema(entry)))
    return true;
  if (layout.size() > layout_bytes_left_)
    return false;
  layout_bytes_left_ -= layout.size();
  return true;
}

std::expected<void, serialize_error> parts_decoder::check(std::size_t index, const type_entry& entry) const {
  const auto header = list_.parts[index].header;
  return check_parts_within(entry, *by_[header], fields_[header], frames_[index], context_);
}

std::expected<void, serialize_error> parts_decoder::decode(std::size_t index, const type_entry& entry, void* target) {
  const auto header = list_.parts[index].header;
  if (!may_read_layout(header, entry))
    return failure(serialize_errc::limit_exceeded, "too many parts of another version, whose layout takes "
                                                       + grouped(fields_[header].schema.size())
                                                       + " bytes (limits::memory_ratio, limits::memory_free_bytes)");
  context_.repeated_bytes = repeated_bytes_.empty() ? 0 : repeated_bytes_[index];
  auto of_part = context_;
  std::size_t taken_bytes = 0;
  of_part.parts_are_checked = true; // They were checked when the outermost payload was opened.
  of_part.taken_bytes = &taken_bytes;
  auto done = decode_value(entry, target, *by_[header], fields_[header], frames_[index], of_part);
  context_.limits.memory_bytes -= std::min(context_.limits.memory_bytes, taken_bytes);
  add_taken(context_, taken_bytes);
  return done;
}

} // namespace troupe::detail

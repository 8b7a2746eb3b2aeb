#include <troupe/framework/internal/tape/cost_meter.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/tape/link_words.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialize.hpp>

namespace troupe::internal {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::string_view needs_program = "needs the program";
// What a message names a known header by.
constexpr std::uint64_t header_number_bytes = 2;

/// The shorter time of two attempts: the first one may find memory and caches cold. Zero if an attempt fails.
nanoseconds time_of(const std::function<bool()>& attempt) {
  auto shortest = nanoseconds::max();
  for (int i = 0; i < 2; ++i) {
    const auto begin = steady_clock::now();
    if (!attempt())
      return nanoseconds{0};
    shortest = std::min(shortest, std::chrono::duration_cast<nanoseconds>(steady_clock::now() - begin));
  }
  return shortest;
}

/// Carries the frames of a payload unchanged, so that encoding only compresses and decoding only decompresses them.
class unchanged final : public family {
public:
  explicit unchanged(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string unsupported(const type_entry&) const override { return {}; }
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry&, const void* value, const context&,
                                                            encode_output& output) const override {
    const auto& frames = *static_cast<const std::vector<frame>*>(value);
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (i == 0)
        output.body().append(frames[i].bytes());
      else
        output.attach(frames[i]);
    return {};
  }
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry&, void* target, const header_fields&,
                                                            std::span<const frame> frames,
                                                            const context&) const override {
    static_cast<std::vector<frame>*>(target)->assign(frames.begin(), frames.end());
    return {};
  }

private:
  const std::string name_;
};

/// The value outlives its frames.
class borrowed_value final : public frame_owner {};

context context_by(compression by) {
  return {.compression = by, .limits = taped_header_limits()};
}

std::uint64_t size_of(const encode_output& output) {
  std::uint64_t bytes = output.body().size();
  for (const auto& each : output.frames())
    bytes += each.size_bytes();
  return bytes;
}

/// The body is a view of the output.
std::vector<frame> frames_of(const encode_output& output) {
  std::vector<frame> frames{frame(output.body().bytes(), nullptr)};
  frames.insert(frames.end(), output.frames().begin(), output.frames().end());
  return frames;
}

} // namespace

struct cost_meter::subject {
  const tape_element& element;
  const type_entry* entry = nullptr; // Of the value; null: only the payload is there.
  any_value value = {};
  record as_record = {};
  std::vector<frame> frames = {}; // Of the payload, decompressed.
  header_fields fields = {};
  std::string why_not = {}; // Why the value cannot be decoded.

  [[nodiscard]] bool has_type() const { return value.entry() != nullptr; }
  [[nodiscard]] const void* content() const { return has_type() ? value.data() : &as_record; }
};

cost_meter::subject cost_meter::subject_of(const tape_element& of) const {
  subject result{.element = of};
  const auto fields = parse_header(of.content.header.bytes(), taped_header_limits());
  if (!fields) {
    result.why_not = fields.error().message();
    return result;
  }
  result.fields = *fields;
  const unchanged copier{of.family};
  if (auto frames = decode_value(*types_.find<record>(), &result.frames, copier, *fields, of.content.frames,
                                 context_by(compression::none));
      !frames) {
    result.why_not = frames.error().message();
    return result;
  }
  if (types_.find(of.type) != nullptr && families_.find(of.family) != nullptr) {
    auto value = deserialize_any(of.content, {.deserializers = {of.family}, .context = context_by(compression::none)},
                                 types_, families_);
    if (value) {
      result.entry = value->entry();
      result.value = *std::move(value);
      return result;
    }
    result.why_not = value.error().message();
    return result;
  }
  if (auto value = to_record(of)) {
    result.as_record = *std::move(value);
    result.entry = types_.find<record>();
  } else {
    result.why_not = needs_program;
  }
  return result;
}

void cost_meter::measure(const tape_element& of, tape_cost_row& row) const {
  const auto what = subject_of(of);
  if (row.figures.empty())
    for (const auto& family : names_)
      for (const auto by : compressions_)
        row.figures.push_back({.family = family, .compressed_by = by});
  for (auto& figure : row.figures) {
    const auto result = try_one(what, figure.family, figure.compressed_by);
    if (!result) {
      if (figure.why_not.empty())
        figure.why_not = result.error();
      continue;
    }
    const auto is_known = result->is_standard && figure.payloads > 0;
    figure.basis = std::max(figure.basis, result->basis);
    ++figure.payloads;
    figure.bytes += result->frame_bytes + (is_known ? header_number_bytes : result->header_bytes);
    figure.encode += result->encode;
    figure.decode += result->decode;
  }
  ++row.measured;
}

cost_meter::outcome cost_meter::try_one(const subject& of, const std::string& family, compression by) const {
  const auto is_same_family = family == of.element.family;
  if (of.has_type())
    return try_value(*of.entry, of.content(), family, by);
  if (!is_same_family && of.entry == nullptr)
    return std::unexpected{of.why_not};
  if (!is_same_family && family != "msgpack" && family != "json") // The layout of a record is not that of the type.
    return std::unexpected{std::string{needs_program}};
  if (!is_same_family)
    return try_value(*of.entry, of.content(), family, by);
  auto result = try_payload(of, family, by);
  if (!result || of.entry == nullptr)
    return result;
  const auto times = try_value(*of.entry, of.content(), family, by);
  if (!times)
    return times;
  result->basis = tape_cost_basis::record;
  result->encode = times->encode;
  result->decode = times->decode;
  return result;
}

/// Encodes and decodes a value of a C++ type, or a record.
cost_meter::outcome cost_meter::try_value(const type_entry& entry, const void* value, const std::string& family,
                                          compression by) const {
  const auto* const known = families_.find(family);
  if (known == nullptr)
    return std::unexpected{std::string{needs_program}};
  auto ctx = context_by(by);
  ctx.types = &types_;
  ctx.families = std::span{&known, 1};
  ctx.value_owner = std::make_shared<const borrowed_value>(); // Arrays leave without a copy, as on a link.
  encode_output output;
  std::string why;
  trial result{.basis = entry.type() == typeid(record) ? tape_cost_basis::record : tape_cost_basis::type};
  result.encode = time_of([&] {
    const auto done = encode_value(entry, value, ctx.families, ctx, output);
    if (!done)
      why = done.error().message();
    return done.has_value();
  });
  if (!why.empty())
    return std::unexpected{why};
  const payload made{header_of(*known, entry, output), frames_of(output)};
  result.frame_bytes = size_of(output);
  result.header_bytes = made.header.size_bytes();
  result.is_standard = output.has_standard_header();
  result.decode = time_of([&] {
    const auto back =
        deserialize_any(made, {.deserializers = {family}, .context = context_by(compression::none)}, types_, families_);
    if (!back)
      why = back.error().message();
    return back.has_value();
  });
  if (!why.empty())
    return std::unexpected{why};
  return result;
}

/// Compresses and decompresses the payload as it is.
cost_meter::outcome cost_meter::try_payload(const subject& of, const std::string& family, compression by) const {
  if (of.frames.empty() && !of.element.content.frames.empty())
    return std::unexpected{of.why_not};
  const unchanged copier{family};
  const class family* const list = &copier;
  const auto& entry = *types_.find<record>();
  const auto ctx = context_by(by);
  encode_output output;
  std::string why;
  trial result{.basis = tape_cost_basis::payload};
  result.encode = time_of([&] {
    const auto done = encode_value(entry, &of.frames, std::span{&list, 1}, ctx, output);
    if (!done)
      why = done.error().message();
    return done.has_value();
  });
  if (!why.empty())
    return std::unexpected{why};
  auto fields = of.fields;
  fields.frame_codecs = output.frame_codecs().bytes();
  fields.frame_pieces = output.frame_pieces().bytes();
  fields.frame_repeats = output.frame_repeats().bytes();
  const payload made{make_header(fields), frames_of(output)};
  result.frame_bytes = size_of(output);
  result.header_bytes = made.header.size_bytes();
  result.is_standard = output.has_standard_header() && fields.extra.empty();
  result.decode = time_of([&] {
    std::vector<frame> back;
    const auto done = decode_value(entry, &back, copier, fields, made.frames, ctx);
    if (!done)
      why = done.error().message();
    return done.has_value();
  });
  if (!why.empty())
    return std::unexpected{why};
  return result;
}

} // namespace troupe::internal

#include <troupe/serializers/internal/diagnose/trace.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <troupe/base/text.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/internal/coding/unit_text.hpp>
#include <troupe/serializers/internal/payload/compressing.hpp>
#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::detail {

/// The target of a payload that is only shown, with one line for each value in it.
class traced {
public:
  traced() {} // Not an aggregate, so that its members are not fields.
  std::string text;
};
TROUPE_DESCRIBE(traced)

/// Walks over a payload and writes one line for each value.
class tracer {
public:
  explicit tracer(value_reader& from) : from_(from) {}

  bool walk(const std::string& path);
  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  static constexpr std::size_t lines_max = 1000;
  static constexpr std::size_t elements_max = 20; // Of one list; further elements are skipped.
  static constexpr std::size_t entries_max = 200; // Of one map.

  bool walk_value(const std::string& path, value_kind kind);
  bool walk_list(const std::string& path);
  bool walk_map(const std::string& path);
  bool walk_structure(const std::string& path);
  bool walk_shared(const std::string& path);
  bool pass_over(const std::string& path, std::size_t index, std::size_t shown);
  void line(const std::string& path, std::string_view what) {
    if (lines_ == lines_max)
      text_ += "    ...\n";
    if (++lines_ <= lines_max)
      text_ +=
          fmt::format("    {}{}  bytes {} to {}\n", path.empty() ? "(value)" : path, what, begin_, from_.position());
  }

  value_reader& from_;
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t begin_ = 0; // Of the current value.
};

namespace {

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string shown_text(std::string_view value) {
  constexpr std::size_t longest = 60;
  return fmt::format(" {:?}{}", value.substr(0, longest), value.size() > longest ? "..." : "");
}

} // namespace

bool tracer::walk(const std::string& path) {
  if (!from_.enter())
    return false;
  begin_ = from_.position();
  const auto kind = from_.kind();
  if (!walk_value(path, kind))
    return false;
  from_.leave();
  return true;
}

bool tracer::walk_value(const std::string& path, value_kind kind) {
  switch (kind) {
  case value_kind::null:
    return from_.null() && (line(path, " nothing"), true);
  case value_kind::boolean: {
    bool value = false;
    return from_.boolean(value) && (line(path, value ? " true" : " false"), true);
  }
  case value_kind::number: {
    number value;
    std::string_view unit;
    if (!from_.take_unit(unit))
      return false;
    const auto suffix = unit.empty() ? std::string() : unit_suffix(unit);
    if (!from_.number(value))
      return false;
    const auto shown = value.text() + suffix;
    return line(path, suffix.empty() ? " " + shown : shown_text(shown)), true;
  }
  case value_kind::text: {
    std::string_view value;
    if (!from_.text(value))
      return false;
    const auto shown = shown_text(value);
    return line(path, shown), true;
  }
  case value_kind::bytes: {
    std::span<const std::byte> value;
    return from_.bytes(value) && (line(path, fmt::format(" {} bytes", value.size())), true);
  }
  case value_kind::frame: {
    frame value;
    return from_.attached(value) && (line(path, fmt::format(" a frame of {} bytes", value.size_bytes())), true);
  }
  case value_kind::list:
    return walk_list(path);
  case value_kind::map:
    return from_.at_structure() ? walk_structure(path) : walk_map(path);
  case value_kind::shared:
    return walk_shared(path);
  case value_kind::some:
    return from_.begin_some() && walk(path) && from_.end_some();
  case value_kind::invalid:
    break;
  }
  return from_.unexpected("a value");
}

bool tracer::pass_over(const std::string& path, std::size_t index, std::size_t shown) {
  if (index == shown)
    line(path, " ...");
  return from_.skip();
}

bool tracer::walk_list(const std::string& path) {
  std::size_t expected = 0;
  if (!from_.begin_list(expected))
    return false;
  line(path, " a list");
  for (std::size_t i = 0;; ++i) {
    bool more = false;
    if (!from_.next(more))
      return false;
    if (!more)
      return true;
    if (i < elements_max ? !walk(fmt::format("{}[{}]", path, i)) : !pass_over(path, i, elements_max))
      return false;
  }
}

bool tracer::walk_map(const std::string& path) {
  std::size_t expected = 0;
  if (!from_.begin_map(expected))
    return false;
  line(path, " a map");
  for (std::size_t i = 0;; ++i) {
    bool more = false;
    if (!from_.next(more))
      return false;
    if (!more)
      return true;
    auto name = fmt::format("{}{{{}}}", path, i);
    if (from_.kind() == value_kind::text) {
      std::string_view key;
      if (!from_.text(key))
        return false;
      name = fmt::format("{}.{}", path, one_line(key, 60));
    } else if (!walk(name + " key")) {
      return false;
    }
    if (i < entries_max ? !walk(name) : !pass_over(path, i, entries_max))
      return false;
  }
}

bool tracer::walk_structure(const std::string& path) {
  if (!from_.begin_structure())
    return false;
  for (;;) {
    std::string_view name;
    bool more = false;
    if (!from_.field(name, more))
      return false;
    if (!more)
      return true;
    if (!walk(fmt::format("{}.{}", path, one_line(name, 100))))
      return false;
  }
}

bool tracer::walk_shared(const std::string& path) {
  bool first = true;
  std::size_t number = 0;
  if (!from_.shared(first, number))
    return false;
  line(path, fmt::format(" object {}{}", number, first ? "" : " again"));
  if (!first)
    return true;
  static_cast<void>(from_.number_shared());
  return walk(path + "->");
}

template <>
bool walk_read<visit_source>(value_reader& from, traced& target) {
  tracer walker(from);
  const auto done = walker.walk("");
  target.text = walker.take();
  return done;
}

const bool is_tracing = [] {
  const auto* text = std::getenv("TROUPE_SERIALIZE_VERBOSE");
  return text != nullptr && std::string_view(text) != "" && std::string_view(text) != "0";
}();

void trace_refusal(std::string_view doing, const type_entry& entry, const family& by, const serialize_error& why) {
  say(fmt::format("troupe: {} '{}' by {}: {}\n", doing, entry.alias(), by.name(), why.message()));
}

void trace_payload(std::string_view doing, const type_entry& entry, const family& by, const header_fields& header,
                   std::span<const frame> frames, const context& ctx) {
  static const type_entry entry_of_traced(std::in_place_type<traced>, "traced", std::nullopt);
  auto text = fmt::format("troupe: {} '{}' by {}: {} frames\n", doing, entry.alias(), by.name(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i)
    text += fmt::format("  frame {}{}: {} bytes\n", i, i == 0 ? " (body)" : "", frames[i].size_bytes());
  if (const auto* own = entry.own(); own != nullptr && own->family == by.name()) {
    text += fmt::format("    by the type's own codec, whose header has {} bytes\n", header.extra.size());
    return say(text);
  }
  traced shown;
  auto alone = ctx;
  alone.extension = nullptr;
  const auto done = by.decode(entry_of_traced, &shown, header, frames, alone);
  text += shown.text;
  if (!done)
    text += "    no more can be shown: " + done.error().message() + "\n";
  say(text);
}

void trace_compression(const type_entry& entry, std::span<const std::byte> frame_codecs,
                       std::span<const frame> frames) {
  if (frame_codecs.empty())
    return;
  auto text = fmt::format("troupe: compressed '{}':\n", entry.alias());
  const auto forms = read_frame_codecs(frame_codecs, frames.size());
  if (!forms)
    return say(text + "  " + forms.error().message() + "\n");
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (const auto& form = (*forms)[i]; form.codec != frame_codec::none)
      text += fmt::format("  frame {}{}: {}, {} of {} bytes\n", i, i == 0 ? " (body)" : "",
                          form.codec == frame_codec::lz4 ? "lz4" : "zstd", grouped(frames[i].size_bytes()),
                          grouped(form.original_bytes));
  say(text);
}

} // namespace troupe::detail

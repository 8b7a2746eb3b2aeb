#include <troupe/serializers/internal/typed/schema.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include <troupe/base/fnv1a.hpp>
#include <troupe/base/varint.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

namespace {

class schema_builder {
public:
  type_layout build(const type_node& type) {
    for (std::size_t known = 0;; known = recursive_.size()) {
      add(type);
      if (recursive_.size() == known)
        return std::move(made_);
      start_again();
    }
  }

private:
  void put(schema_code code) { put(static_cast<std::uint8_t>(code)); }
  void put(number_kind kind) { put(static_cast<std::uint8_t>(kind)); }
  void put(std::uint8_t byte) { made_.bytes.push_back(std::byte{byte}); }
  void put_count(std::uint64_t count) {
    write_varint(count, [this](std::byte each) { made_.bytes.push_back(each); });
  }
  void put_text(std::string_view text) {
    put_count(text.size());
    const auto bytes = std::as_bytes(std::span(text));
    made_.bytes.insert(made_.bytes.end(), bytes.begin(), bytes.end());
  }

  // Starts again, but keeps recursive_.
  void start_again() {
    made_ = {};
    numbered_.clear();
  }

  /// Numbers a structure or form. False if it has a number already; then a reference to it is written.
  bool begin_numbered(schema_code code, std::type_index type) {
    const auto [known, first] = numbered_.try_emplace(type, numbered_.size());
    put(first ? code : schema_code::again);
    if (!first)
      put_count(known->second);
    return first;
  }

  void refuse(const type_node& type, std::string_view why) {
    put(schema_code::unsupported);
    if (!made_.unsupported.empty())
      return;
    made_.unsupported = path_.empty() ? "" : path_ + ": ";
    made_.unsupported += type_text(*type.info) + " has ";
    made_.unsupported += why;
  }

  void add_within(const type_node& type, std::string_view place) {
    const auto length = path_.size();
    path_ += place;
    add(type);
    path_.resize(length);
  }

  void add_structure(const type_node& type) {
    if (!begin_numbered(schema_code::structure, *type.info))
      return;
    put_count(type.parts.size());
    const auto around = std::exchange(forms_, {}); // A type that contains itself refers to this structure.
    for (const auto& field : type.parts) {
      put_text(field.name);
      add_within(*field.of, "." + std::string(field.name));
    }
    forms_ = around;
  }

  /// Adds `content`, for a type that may contain itself without a structure in between.
  void add_guarded(const type_node& type, auto&& content) {
    const std::type_index index = *type.info;
    if (recursive_.contains(index)) {
      if (!begin_numbered(schema_code::form, index))
        return;
    } else if (std::ranges::find(forms_, index) != forms_.end()) {
      recursive_.insert(index); // The type needs a number, so build() starts again.
      return;
    }
    forms_.push_back(index);
    content();
    forms_.pop_back();
  }

  void add_enumeration(const type_node& type) {
    if (type.is_boolean_enum)
      return put(schema_code::boolean);
    if (!type.is_named_enum)
      return put(type.kind);
    put(schema_code::enumeration);
    put(type.kind);
    put_count(type.names.size());
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      put_text(type.names[i]);
      put_count(static_cast<std::uint64_t>(type.values[i]));
    }
  }

  void add_options(const type_node& type) {
    const auto& labels = type.labels();
    put(schema_code::variant);
    put_count(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      put_text(labels[i]);
      add_within(*type.parts[i].of, "<" + labels[i] + ">");
    }
  }

  void add_tuple(const type_node& type) {
    put(schema_code::tuple);
    put_count(type.parts.size());
    for (std::size_t i = 0; i < type.parts.size(); ++i)
      add_within(*type.parts[i].of, "<" + std::to_string(i) + ">");
  }

  void add_pointee(const type_node& pointer) {
    if (!pointer.may_be_derived)
      return add_within(*pointer.pointee, "->");
    put(schema_code::pointee);
    if (pointer.is_makeable)
      add_within(*pointer.pointee, "->");
    else
      put(schema_code::none);
  }

  void add(const type_node& type) {
    if (type.of != shape::hook && type.of != shape::unsupported && !type.has_default && !type.is_built_in_array)
      return refuse(type, "no default constructor: give it a codec<T>, or reduce() and rebuild()");
    switch (type.of) {
    case shape::hook:
      return add_guarded(type, [&] { add(*type.parts[0].of); });
    case shape::structure:
      return add_structure(type);
    case shape::enumeration:
      return add_enumeration(type);
    case shape::boolean:
      return put(schema_code::boolean);
    case shape::number:
      return put(type.kind);
    case shape::text:
    case shape::path:
      return put(schema_code::text);
    case shape::duration:
    case shape::time_point:
      put(schema_code::unit);
      put_text(type.unit());
      return add(*type.parts[0].of);
    case shape::unit:
      return put(schema_code::none);
    case shape::optional:
      put(schema_code::optional);
      return add(*type.parts[0].of);
    case shape::unique:
      put(schema_code::optional);
      return add_pointee(type);
    case shape::shared:
    case shape::weak:
      put(schema_code::shared);
      return add_pointee(type);
    case shape::variant:
      return add_options(type);
    case shape::tuple:
      return add_tuple(type);
    case shape::fixed:
      put(schema_code::fixed);
      put_count(type.count);
      return add_within(*type.parts[0].of, "[]");
    case shape::frame:
      return put(schema_code::frame);
    case shape::record:
      return put(schema_code::record);
    case shape::array:
      put(schema_code::array);
      return put(type.kind);
    case shape::numbers:
      put(schema_code::numbers);
      return put(type.kind);
    case shape::sequence:
    case shape::set:
      return add_guarded(type, [&] {
        put(schema_code::list);
        add_within(*type.parts[0].of, "[]");
      });
    case shape::map:
      return add_guarded(type, [&] {
        put(schema_code::map);
        add_within(*type.parts[0].of, "{key}");
        add_within(*type.parts[1].of, "{}");
      });
    case shape::unsupported:
      put(schema_code::foreign);
      made_.foreign.push_back({.type = *type.info, .place = path_});
    }
  }

  type_layout made_;
  std::unordered_map<std::type_index, std::size_t> numbered_;
  std::vector<std::type_index> forms_;            // Forms and containers being added within the innermost structure.
  std::unordered_set<std::type_index> recursive_; // Forms and containers that contain themselves.
  std::string path_;
};

} // namespace

type_layout layout_of(const type_node& type) {
  return schema_builder().build(type);
}

// Folded to 32 bits. It distinguishes versions of a type, and is no protection against forgery.
std::uint32_t fingerprint_of(std::span<const std::byte> schema) {
  const auto hash = detail::fnv1a(schema);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::string fingerprints_text(std::uint32_t there, std::uint32_t here) {
  return fmt::format("fingerprint there {:08x}, here {:08x}", there, here);
}

} // namespace troupe::detail

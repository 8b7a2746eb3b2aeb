#include "bench/sample/typed_value.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace troupe::tools {

namespace {

class typed_value_writer {
public:
  explicit typed_value_writer(const contract_tree& contract) : contract_(contract) {}

  /// False if the bytes are not known.
  [[nodiscard]] bool write(const record& value, std::size_t number) {
    const auto& node = contract_.nodes[number];
    const std::string_view form = node.form;
    if (is_number(form))
      return put_number(value, form);
    if (form == "bool")
      return put_byte(value.boolean().value_or(false) ? 1 : 0);
    if (form == "nothing")
      return true;
    if (form == "text")
      return put_text(*value.text());
    if (form == "frame")
      return value.bytes() != nullptr && put(value.bytes()->bytes());
    if (form == "optional")
      return value.is_null() ? put_byte(0) : put_byte(1) && write(value, node.parts.at(0).second);
    if (form == "shared") // Each object is a new one: JSON does not tell which are the same.
      return value.is_null() ? put_byte(0) : put_byte(1) && write(value, node.parts.at(0).second);
    if (form == "form")
      return write(value, node.parts.at(0).second);
    if (form == "struct")
      return put_fields(value, node);
    if (form == "list")
      return put_list(value, node, true);
    if (form.starts_with("fixed "))
      return put_list(value, node, false);
    if (form.starts_with("numbers "))
      return put_numbers(value, form.substr(8));
    if (form == "tuple")
      return put_tuple(value, node);
    if (form == "map")
      return put_map(value, node);
    if (form == "variant")
      return put_variant(value, node);
    if (form.starts_with("enum "))
      return put_enum(value, node);
    if (form.starts_with("unit "))
      return put_count(*value.text(), contract_.nodes[node.parts.at(0).second].form);
    return false;
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(made_); }

private:
  [[nodiscard]] static std::size_t bytes_of(std::string_view kind) {
    unsigned bits = 0;
    std::from_chars(kind.data() + 1, kind.data() + kind.size(), bits);
    return bits / 8;
  }
  [[nodiscard]] static bool is_number(std::string_view form) {
    return form.size() >= 2 && form.size() <= 3 && (form[0] == 'i' || form[0] == 'u' || form[0] == 'f')
           && bytes_of(form) > 0;
  }

  bool put(std::span<const std::byte> bytes) {
    made_.insert(made_.end(), bytes.begin(), bytes.end());
    return true;
  }
  bool put_byte(std::uint8_t byte) {
    made_.push_back(std::byte{byte});
    return true;
  }
  bool put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      put_byte(static_cast<std::uint8_t>(value | 0x80));
    return put_byte(static_cast<std::uint8_t>(value));
  }
  bool put_text(std::string_view text) {
    put_varint(text.size() * 2);
    return put(std::as_bytes(std::span(text)));
  }
  template <class T>
  bool put_low_bytes(const T& value, std::size_t count) {
    return put(std::as_bytes(std::span(&value, 1)).first(count)); // Little-endian, as all machines of Troupe.
  }
  bool put_integer(std::uint64_t value, std::size_t bytes) { return put_low_bytes(value, bytes); }
  bool put_number(const record& value, std::string_view kind) {
    if (kind == "f64")
      return put_low_bytes(value.real().value_or(0), 8);
    if (kind == "f32")
      return put_low_bytes(static_cast<float>(value.real().value_or(0)), 4);
    const auto* natural = std::get_if<std::uint64_t>(&value.value());
    return put_integer(natural != nullptr ? *natural : static_cast<std::uint64_t>(value.integer().value_or(0)),
                       bytes_of(kind));
  }
  bool put_count(std::string_view text, std::string_view kind) {
    if (kind[0] == 'f') {
      double count = 0;
      std::from_chars(text.data(), text.data() + text.size(), count);
      return put_number(record(count), kind);
    }
    std::int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return put_number(record(count), kind);
  }

  bool put_fields(const record& value, const contract_node& node) {
    for (const auto& [name, part] : node.parts)
      if (!write(*value.find(std::string_view(name).substr(1)), part))
        return false;
    return true;
  }
  bool put_list(const record& value, const contract_node& node, bool has_count) {
    if (const auto* bytes = value.bytes())
      return (!has_count || put_varint(bytes->size_bytes())) && put(bytes->bytes());
    if (has_count)
      put_varint(value.elements()->size());
    for (const auto& each : *value.elements())
      if (!write(each, node.parts.at(0).second))
        return false;
    return true;
  }
  bool put_numbers(const record& value, std::string_view kind) {
    if (const auto* bytes = value.bytes())
      return put_varint(bytes->size_bytes() * 2) && put(bytes->bytes());
    put_varint(value.elements()->size() * 2);
    for (const auto& each : *value.elements())
      put_number(each, kind);
    return true;
  }
  bool put_tuple(const record& value, const contract_node& node) {
    for (std::size_t i = 0; i < node.parts.size(); ++i)
      if (!write((*value.elements())[i], node.parts[i].second))
        return false;
    return true;
  }
  bool put_map(const record& value, const contract_node& node) {
    const auto put_entry = [&](const record& key, const record& mapped) {
      return write(key, node.parts.at(0).second) && write(mapped, node.parts.at(1).second);
    };
    if (value.fields() != nullptr) {
      put_varint(value.fields()->size());
      for (const auto& [key, mapped] : *value.fields())
        if (!put_entry(record(key), mapped))
          return false;
      return true;
    }
    put_varint(value.elements()->size());
    for (const auto& each : *value.elements())
      if (!put_entry(each.elements()->front(), each.elements()->back()))
        return false;
    return true;
  }
  bool put_variant(const record& value, const contract_node& node) {
    const auto& [label, alternative] = value.fields()->front();
    for (std::size_t i = 0; i < node.parts.size(); ++i)
      if (node.parts[i].first == fmt::format("<{:?}>", label))
        return put_varint(i) && write(alternative, node.parts[i].second);
    return false;
  }
  bool put_enum(const record& value, const contract_node& node) {
    for (const auto& [name, part] : node.parts)
      if (name == '.' + *value.text())
        return put_count(contract_.nodes[part].form, std::string_view(node.form).substr(5));
    return false;
  }

  const contract_tree& contract_;
  std::vector<std::byte> made_;
};

} // namespace

std::optional<std::vector<std::byte>> typed_value(const record& value, const contract_tree& contract,
                                                  std::size_t node) {
  typed_value_writer writer{contract};
  return writer.write(value, node) ? std::optional(writer.take()) : std::nullopt;
}

} // namespace troupe::tools

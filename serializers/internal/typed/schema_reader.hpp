// Reads the `typed` family's form where the sender had another version of the type: its layout says what lies where,
// and the value is handed on by name, as from a self-describing format.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/serializers/internal/typed/schema_code.hpp>
#include <troupe/serializers/internal/typed/typed_arrays.hpp>
#include <troupe/serializers/internal/typed/typed_reader.hpp>
#include <troupe/serializers/value_reader.hpp>

namespace troupe::detail {

/// A layout's tree. Nodes refer to each other by index; structures may contain themselves.
struct schema_node {
  using enumerator = std::pair<std::int64_t, std::string_view>;
  std::uint8_t code = 0;               // schema_code, or a number_kind
  number_kind kind{};                  // of array, numbers, enumeration
  std::uint64_t count = 0;             // of fixed
  std::string_view text;               // of unit
  std::vector<std::size_t> parts;      // the nodes within
  std::vector<std::string_view> names; // of fields, alternatives
  std::vector<enumerator> enumerators; // by value
};

class schema_reader final : public value_reader {
public:
  /// The value begins behind `prefix_bytes` of the body.
  schema_reader(const troupe::context& ctx, std::span<const std::byte> schema, std::span<const std::byte> body,
                std::size_t prefix_bytes, std::span<const frame> frames, std::size_t received_bytes);
  /// For values inside what another reader reads: between begin_named() and hand_back().
  explicit schema_reader(const typed_reader& from);
  /// A value of the type that the input named by that number comes next, where `from` stands; with its budget and
  /// shared objects.
  void begin_named(typed_reader& from, std::size_t number);
  /// `from` goes on behind the value, or has failed.
  void hand_back(typed_reader& from);

  [[nodiscard]] value_kind kind() override;
  bool null() override;
  bool boolean(bool& value) override;
  bool number(troupe::number& value) override;
  bool text(std::string_view& value) override;
  bool bytes(std::span<const std::byte>& value) override;
  bool begin_list(std::size_t& expected) override;
  bool next(bool& more) override;
  bool begin_map(std::size_t& expected) override;
  bool begin_structure() override;
  bool field(std::string_view& name, bool& more) override;
  bool skip() override;
  bool shared(bool& first, std::size_t& number) override;
  [[nodiscard]] bool at_some() override { return kind() == value_kind::some; }
  bool begin_some() override;
  bool end_some() override { return true; }
  [[nodiscard]] const frame* array_frame(std::string_view& type) override;
  bool attached(frame& target) override;
  bool unit(std::string_view text) override;
  [[nodiscard]] bool at_structure() override;
  [[nodiscard]] bool at_container_map() override;
  bool take_unit(std::string_view& unit) override;
  [[nodiscard]] std::size_t position() const override;

  [[nodiscard]] bool finish();

private:
  // What comes next: a node's value, or something that stands for part of one.
  enum class state : std::uint8_t {
    node,       // a value of node_
    label,      // the label of a variant's alternative, whose value node_ is
    element,    // one of the numbers of the innermost open block
    shape,      // the shape of the innermost open array
    data_shape, // and that of its data
    block,      // the numbers of the innermost open array
  };
  enum class array_field : std::uint8_t { shape, data_shape, order, data };
  // A list, map or structure that has been begun.
  struct level {
    std::size_t node = 0;
    std::size_t done = 0;
    std::size_t total = 0;
    bool at_key = false;                // of maps
    std::string_view label;             // of variants and pointees: what names the value that is there,
    std::size_t value = 0;              // and its node
    std::span<const std::byte> numbers; // of blocks, arrays and shapes
    number_kind kind{};
    std::vector<std::byte> shape; // of arrays: lengths as u64
    std::vector<std::byte> data_shape;
    const frame* whole = nullptr;          // of arrays whose elements are all of a frame: that frame
    std::unique_ptr<wire_array> unpacked;  // of arrays whose elements lie in another order
    std::vector<std::byte> packed;         // and those in C order, once they are asked for
    std::vector<array_field> array_fields; // in the order in which they are shown
  };

  bool parse(std::span<const std::byte> schema, std::size_t& root);
  bool parse_node(typed_reader& from, std::size_t& index, std::size_t depth, std::vector<std::size_t>& structures);
  bool parse_parts(typed_reader& from, std::size_t index, std::size_t count, bool named, std::size_t depth,
                   std::vector<std::size_t>& structures);

  [[nodiscard]] const schema_node& here() const { return nodes_[node_]; }
  [[nodiscard]] bool is(schema_code code) const {
    return state_ == state::node && here().code == static_cast<std::uint8_t>(code);
  }
  [[nodiscard]] bool is_number() const { return state_ == state::node && is_number_kind(here().code); }
  /// The node that says what stands there, where this one is the form of a type that contains itself.
  [[nodiscard]] std::size_t behind_forms(std::size_t node) const;
  [[nodiscard]] bool nullable(std::size_t node) const;
  void expect(std::size_t node, state as = state::node);
  bool settle();   // Passes over the mark of an optional that is there.
  void complete(); // A value has been read.
  bool transfer(); // Takes over the wire's failure; always false.
  bool open(level opened);
  bool open_block(number_kind kind, std::span<const std::byte> bytes, std::size_t node);
  bool begin_array();
  bool pack_block();
  void array_field_at(std::size_t index, std::string_view& name);
  bool begin_pointee(level& opened);
  bool enter_foreign();
  bool enter_record();
  bool add_node(std::uint8_t code, std::size_t& index);
  bool add_record(std::size_t index);
  bool parse_enumeration(typed_reader& from, std::size_t index);
  bool named_node(std::size_t number, const named_type& named, std::size_t& node);
  bool varint(std::uint64_t& value) { return wire_.varint(value) || transfer(); }
  bool skip_value(std::size_t before);

  std::vector<schema_node> nodes_;
  std::vector<std::size_t> named_nodes_; // Of types that the input named itself: their node, by number; 0 = not parsed.
  std::optional<std::size_t> record_node_;
  std::size_t body_bytes_ = 0;
  typed_reader wire_;
  state state_ = state::node;
  std::size_t node_ = 0;
  std::vector<level> levels_;
};

} // namespace troupe::detail

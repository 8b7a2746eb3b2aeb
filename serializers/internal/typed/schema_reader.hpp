// Reads the `typed` family's form if the sender has another version of the type. The sender's layout says where the
// values are. They are handed on by name, as from a self-describing format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/internal/typed/schema_code.hpp>
#include <troupe/serializers/internal/typed/typed_arrays.hpp>
#include <troupe/serializers/internal/typed/typed_reader.hpp>

namespace troupe::detail {

/// A layout as a tree. Nodes refer to each other by index, because structures may contain themselves.
struct schema_node {
  using enumerator = std::pair<std::int64_t, std::string_view>;
  std::uint8_t code = 0;               // A schema_code or a number_kind.
  number_kind kind{};                  // Of array, numbers, enumeration.
  std::uint64_t count = 0;             // Of fixed.
  std::string_view text;               // Of unit.
  std::vector<std::size_t> parts;      // The nested nodes.
  std::vector<std::string_view> names; // Of fields, alternatives.
  std::vector<enumerator> enumerators; // By value.
};

class schema_reader final : public value_reader {
public:
  /// The value begins behind `prefix_bytes` of the body.
  schema_reader(const troupe::context& ctx, std::span<const std::byte> schema, std::span<const std::byte> body,
                std::size_t prefix_bytes, std::span<const frame> frames, std::size_t received_bytes);
  /// For values within the input of another reader. Use it between begin_named() and hand_back().
  explicit schema_reader(const typed_reader& from);
  /// Prepares for a value of the type that the input named by that number. Continues where `from` is, with its budget
  /// and its shared objects.
  void begin_named(typed_reader& from, std::size_t number);
  /// Lets `from` continue behind the value, or passes the failure on.
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
  [[nodiscard]] std::string found() override;

  [[nodiscard]] bool finish();

private:
  // The next thing in the input: the value of a node, or something in place of a part of one.
  enum class state : std::uint8_t {
    node,       // A value of node_.
    label,      // The label of a variant's alternative, whose value is of node_.
    element,    // A number of the innermost open block.
    shape,      // The shape of the innermost open array.
    data_shape, // The shape of its data.
    block,      // The numbers of the innermost open array.
  };
  enum class array_field : std::uint8_t { shape, data_shape, order, data };
  // A list, map or structure that has been begun.
  struct level {
    std::size_t node = 0;
    std::size_t done = 0;
    std::size_t total = 0;
    bool at_key = false;                // Of maps.
    std::string_view label;             // Of variants and pointees: the name of the value.
    std::size_t value = 0;              // Of variants and pointees: the node of the value.
    std::span<const std::byte> numbers; // Of blocks, arrays and shapes.
    number_kind kind{};
    std::vector<std::byte> shape; // Of arrays: lengths as u64.
    std::vector<std::byte> data_shape;
    const frame* whole = nullptr;          // Of arrays whose elements fill a frame: that frame.
    std::unique_ptr<wire_array> unpacked;  // Of arrays whose elements are in another order.
    std::vector<std::byte> packed;         // Those elements in C order, once needed.
    std::vector<array_field> array_fields; // In the order in which they are shown.
  };

  [[nodiscard]] std::string form_of(std::size_t node, std::size_t depth_max) const;
  bool parse(std::span<const std::byte> schema, std::size_t& root);
  bool parse_node(typed_reader& from, std::size_t& index, std::size_t depth, std::vector<std::size_t>& structures);
  bool parse_parts(typed_reader& from, std::size_t index, std::size_t count, bool named, std::size_t depth,
                   std::vector<std::size_t>& structures);

  [[nodiscard]] const schema_node& here() const { return nodes_[node_]; }
  [[nodiscard]] bool is(schema_code code) const {
    return state_ == state::node && here().code == static_cast<std::uint8_t>(code);
  }
  [[nodiscard]] bool is_number() const { return state_ == state::node && is_number_kind(here().code); }
  /// The node of the actual value, if this node is the form of a type that contains itself.
  [[nodiscard]] std::size_t behind_forms(std::size_t node) const;
  [[nodiscard]] bool nullable(std::size_t node) const;
  void expect(std::size_t node, state as = state::node);
  bool settle();   // Goes to the actual value: into forms, and past the marks of present optionals.
  void complete(); // Call after each value.
  bool transfer(); // Takes over the failure of wire_. Always returns false.
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
  std::vector<std::size_t> named_nodes_; // The nodes of types that the input itself named, by number; 0: not parsed.
  std::optional<std::size_t> record_node_;
  std::size_t body_bytes_ = 0;
  typed_reader wire_;
  state state_ = state::node;
  std::size_t node_ = 0;
  std::vector<level> levels_;
};

} // namespace troupe::detail

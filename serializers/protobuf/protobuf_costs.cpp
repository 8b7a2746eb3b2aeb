#include <troupe/serializers/protobuf/protobuf_costs.hpp>

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

namespace troupe::detail {

namespace {

namespace pb = google::protobuf;

// The allocations of libprotobuf 3.21, rounded up. Memory that grows by doubling counts with all the blocks that it
// outgrows: less than four times its final size, and at least four elements.
constexpr std::size_t list_slot_bytes = 48;     // A pointer or number in a list, and its share of the list's head.
constexpr std::size_t string_bytes = 32;        // std::string, without its characters.
constexpr std::size_t unknown_field_bytes = 64; // A field that the type does not have. The parser keeps it.
constexpr std::size_t unknown_set_bytes = 48;   // The set of unknown fields, once per message.
constexpr std::size_t map_entry_bytes = 256;    // A map's node with its share of the table, and the parser's own entry.
constexpr std::size_t extension_bytes = 192;    // An entry in the table of extensions.
constexpr std::size_t element_bytes = 32;       // A number in a packed list.
constexpr std::size_t closed_enum_bytes = 80;   // An element of an enum list. It may be kept as an unknown field.
constexpr std::size_t field_bytes_least = 2;    // On the wire: a tag, and a length or one byte of value.

enum wire : std::uint32_t { varint, fixed64, sized, group_begins, group_ends, fixed32 };

bool is_message(const pb::FieldDescriptor& field) {
  return field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
}

std::size_t packed_element_bytes(const pb::FieldDescriptor& field) {
  return field.cpp_type() == pb::FieldDescriptor::CPPTYPE_ENUM ? closed_enum_bytes : element_bytes;
}

} // namespace

protobuf_costs::protobuf_costs(const pb::Descriptor& of)
    : of_(of), memory_per_byte_((unknown_field_bytes + unknown_set_bytes) / field_bytes_least + 1) {
  depth_most_ = look_at(of);
}

// Returns the depth to which messages nest in a message of that type.
std::size_t protobuf_costs::look_at(const pb::Descriptor& of) {
  if (const auto known = depths_.find(&of); known != depths_.end())
    return known->second;
  depths_.emplace(&of, SIZE_MAX);
  const bool is_entry = of.map_value() != nullptr;
  if (!is_entry) {
    constexpr std::size_t unusual_bytes = 256; // For a type without a class of its own.
    const auto* empty = pb::MessageFactory::generated_factory()->GetPrototype(&of);
    object_bytes_.emplace(&of, empty != nullptr ? empty->SpaceUsedLong() : unusual_bytes);
  }
  std::vector<const pb::FieldDescriptor*> fields;
  if (of.extension_range_count() > 0)
    of.file()->pool()->FindAllExtensions(&of, &fields);
  for (int i = 0; i < of.field_count(); ++i)
    fields.push_back(of.field(i));
  std::size_t depth = 0;
  for (const auto* field : fields) {
    if (is_message(*field)) {
      const auto below = look_at(*field->message_type());
      depth = std::max(depth, below == SIZE_MAX ? SIZE_MAX : below + 1);
    }
    look_at_field(*field);
  }
  if (is_entry) { // The map's node holds the value, even if none was sent.
    const auto* value = of.map_value();
    object_bytes_.emplace(&of, map_entry_bytes + (is_message(*value) ? object_bytes_.at(value->message_type()) : 0));
  }
  return depths_[&of] = depth;
}

void protobuf_costs::look_at_field(const pb::FieldDescriptor& field) {
  const auto alone = (bytes_of(&field) + unknown_set_bytes) / field_bytes_least + 1;
  const auto packed = field.is_packable() ? packed_element_bytes(field) : 0; // Elements of one byte each.
  memory_per_byte_ = std::max({memory_per_byte_, alone, packed});
}

std::size_t protobuf_costs::bytes_of(const pb::FieldDescriptor* field) const {
  if (field == nullptr)
    return unknown_field_bytes;
  std::size_t bytes = field->is_extension() ? extension_bytes : 0;
  if (field->is_repeated() && !field->is_map())
    bytes += list_slot_bytes;
  if (is_message(*field))
    return bytes + object_bytes_.at(field->message_type());
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
    return bytes + string_bytes;
  return bytes + (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_ENUM ? unknown_field_bytes : 0);
}

std::size_t protobuf_costs::memory_bytes_most(std::size_t received_bytes) const {
  std::size_t most = 0;
  return __builtin_mul_overflow(received_bytes, memory_per_byte_, &most)
                 || __builtin_add_overflow(most, unknown_set_bytes, &most)
             ? SIZE_MAX
             : most;
}

/// One walk over the bytes of a message.
class protobuf_costs::walk {
public:
  walk(const protobuf_costs& costs, decoding& state, std::span<const std::byte> bytes)
      : costs_(costs),
        state_(state),
        bytes_(bytes),
        in_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  bool whole() { return fields(&costs_.of_, 0); }

private:
  /// Walks over the fields of a message of that type; null for an unknown type. Ends at the end of the bytes, or of
  /// group number `group` if that is not 0.
  bool fields(const pb::Descriptor* of, std::uint32_t group);
  bool field(const pb::FieldDescriptor* known, std::uint32_t number, wire type);
  bool sized_field(const pb::FieldDescriptor* known);
  bool message(const pb::Descriptor* of, std::uint32_t group);
  bool cut() { return state_.fail(serialize_errc::malformed, "the bytes end within a field"); }

  [[nodiscard]] static const pb::FieldDescriptor* find(const pb::Descriptor* of, std::uint32_t number) {
    if (of == nullptr || number > INT_MAX)
      return nullptr;
    const auto signed_number = static_cast<int>(number);
    const auto* found = of->FindFieldByNumber(signed_number);
    return found != nullptr || !of->IsExtensionNumber(signed_number)
               ? found
               : of->file()->pool()->FindExtensionByNumber(of, signed_number);
  }

  const protobuf_costs& costs_;
  decoding& state_;
  const std::span<const std::byte> bytes_;
  pb::io::CodedInputStream in_;
};

bool protobuf_costs::walk::fields(const pb::Descriptor* of, std::uint32_t group) {
  if (!state_.charge_memory(unknown_set_bytes))
    return false;
  while (const auto tag = in_.ReadTag()) {
    const auto number = tag >> 3;
    const auto type = static_cast<wire>(tag & 7);
    if (type == group_ends)
      return number == group || state_.fail(serialize_errc::malformed, "a group ends that did not begin");
    const auto* known = find(of, number);
    if (!field(known, number, type))
      return state_.within(known != nullptr ? known->name() : std::to_string(number));
  }
  if (group != 0)
    return state_.fail(serialize_errc::malformed, "a group does not end");
  return in_.ConsumedEntireMessage()
         || state_.fail(serialize_errc::malformed, "a field without a number, or one that is cut");
}

bool protobuf_costs::walk::field(const pb::FieldDescriptor* known, std::uint32_t number, wire type) {
  if (!state_.charge(1, costs_.bytes_of(known)))
    return false;
  std::uint64_t value = 0;
  switch (type) {
  case varint:
    return in_.ReadVarint64(&value) || cut();
  case fixed64:
    return in_.Skip(8) || cut();
  case fixed32:
    return in_.Skip(4) || cut();
  case sized:
    return sized_field(known);
  case group_begins:
    return message(known != nullptr && is_message(*known) ? known->message_type() : nullptr, number);
  default:
    return state_.fail(serialize_errc::malformed, "a field of the unknown wire type " + std::to_string(type));
  }
}

bool protobuf_costs::walk::sized_field(const pb::FieldDescriptor* known) {
  std::uint64_t size = 0;
  if (!in_.ReadVarint64(&size))
    return cut();
  if (size > INT_MAX)
    return state_.fail(serialize_errc::malformed, "a field that says it has " + grouped(size)
                                                      + " bytes: the message is damaged, or is no message");
  if (static_cast<int>(size) > in_.BytesUntilLimit())
    return cut();
  const auto at = static_cast<std::size_t>(in_.CurrentPosition());
  const auto content = bytes_.subspan(at, size);
  if (known != nullptr && is_message(*known)) {
    const auto outer = in_.PushLimit(static_cast<int>(size));
    const auto done = message(known->message_type(), 0);
    in_.PopLimit(outer);
    return done;
  }
  if (known != nullptr && known->is_packable()) {
    const auto is_varint = [](std::byte byte) { return std::to_integer<int>(byte) < 0x80; }; // The last of a varint.
    const auto count = static_cast<std::size_t>(std::ranges::count_if(content, is_varint));
    if (!state_.charge(1, count * packed_element_bytes(*known) + 4 * content.size()))
      return false;
  } else if (!state_.check_text(size) || !state_.charge_memory(size + string_bytes + 1)) {
    return false;
  }
  return in_.Skip(static_cast<int>(size)) || cut();
}

bool protobuf_costs::walk::message(const pb::Descriptor* of, std::uint32_t group) {
  if (!state_.enter() || !fields(of, group))
    return false;
  state_.leave();
  return true;
}

bool protobuf_costs::charge(decoding& state, std::span<const std::byte> bytes) const {
  if (bytes.size() > INT_MAX)
    return state.fail(serialize_errc::limit_exceeded, "a message of more than 2 GiB");
  return walk(*this, state, bytes).whole();
}

} // namespace troupe::detail

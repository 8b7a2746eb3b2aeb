// protobuf_costs: what protobuf's parser takes for the bytes of a message, known before it takes it.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>

#include <troupe/base/export.hpp>
#include <troupe/serializers/coding.hpp>

namespace google::protobuf {

class Descriptor;
class FieldDescriptor;

} // namespace google::protobuf

namespace troupe::detail {

/// The parser asks nobody before it allocates. So what it will take is found from the outside: an upper bound by the
/// number of bytes, which is enough for nearly every message, and where that is over the budget a walk over the bytes,
/// which counts what is really there.
///
/// Immutable. Threads: any, at once.
class TROUPE_EXPORT protobuf_costs {
public:
  /// Looks at all message types that the bytes of one can lead to, extensions that are known by now included.
  explicit protobuf_costs(const google::protobuf::Descriptor& of);

  /// No message of so many bytes makes the parser allocate more.
  [[nodiscard]] std::size_t memory_bytes_most(std::size_t received_bytes) const;
  /// How deep messages of the type nest at most; SIZE_MAX when it contains itself.
  [[nodiscard]] std::size_t depth_most() const { return depth_most_; }

  /// Charges what is in the bytes, field by field. False, with the failure and its place set, when a limit does not
  /// hold or the bytes are no message.
  [[nodiscard]] bool charge(decoding& state, std::span<const std::byte> bytes) const;

private:
  class walk;

  std::size_t look_at(const google::protobuf::Descriptor& of);
  void look_at_field(const google::protobuf::FieldDescriptor& field);
  /// What one appearance of the field takes at most, without the bytes in it; for null, one that is unknown.
  [[nodiscard]] std::size_t bytes_of(const google::protobuf::FieldDescriptor* field) const;

  const google::protobuf::Descriptor& of_;
  std::unordered_map<const google::protobuf::Descriptor*, std::size_t> object_bytes_; // Of an empty message.
  std::unordered_map<const google::protobuf::Descriptor*, std::size_t> depths_;       // SIZE_MAX while looked at.
  std::size_t memory_per_byte_;
  std::size_t depth_most_ = 0;
};

} // namespace troupe::detail

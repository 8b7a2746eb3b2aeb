// protobuf_costs: predicts the memory that protobuf's parser allocates for the bytes of a message.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>

namespace google::protobuf {

class Descriptor;
class FieldDescriptor;

} // namespace google::protobuf

namespace troupe::detail {

/// Predicts the parser's allocations, which cannot be limited otherwise. An upper bound that follows from the number of
/// bytes suffices for nearly every message. If it exceeds the budget, charge() counts the actual content of the bytes.
///
/// Immutable. Threads: any number of threads at once.
class TROUPE_EXPORT protobuf_costs {
public:
  /// Visits all message types that can be reached from that type, including the extensions that are known by now.
  explicit protobuf_costs(const google::protobuf::Descriptor& of);

  /// An upper bound of the bytes that the parser allocates for any message of that many received bytes.
  [[nodiscard]] std::size_t memory_bytes_most(std::size_t received_bytes) const;
  /// The deepest nesting of messages in the type; SIZE_MAX if it contains itself.
  [[nodiscard]] std::size_t depth_most() const { return depth_most_; }

  /// Charges the content of the bytes, field by field. False, with the failure and its place set, if a limit is
  /// exceeded or the bytes are not a message.
  [[nodiscard]] bool charge(decoding& state, std::span<const std::byte> bytes) const;

private:
  class walk;

  std::size_t look_at(const google::protobuf::Descriptor& of);
  void look_at_field(const google::protobuf::FieldDescriptor& field);
  /// The largest number of bytes that one appearance of the field takes, without its content; null stands for an
  /// unknown field.
  [[nodiscard]] std::size_t bytes_of(const google::protobuf::FieldDescriptor* field) const;

  const google::protobuf::Descriptor& of_;
  std::unordered_map<const google::protobuf::Descriptor*, std::size_t> object_bytes_; // Of an empty message.
  std::unordered_map<const google::protobuf::Descriptor*, std::size_t> depths_;       // SIZE_MAX while being visited.
  std::size_t memory_per_byte_;
  std::size_t depth_most_ = 0;
};

} // namespace troupe::detail

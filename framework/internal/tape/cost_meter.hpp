// Encodes and decodes recorded payloads by other families.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/tape.hpp>
#include <troupe/framework/tape_cost.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Measures payloads one after the other, by each family and compression.
///
/// Threads: one.
class cost_meter {
public:
  /// `families` and `types` must outlive this object. Requires: `families` has all `names`.
  cost_meter(const type_registry& types, const family_set& families, std::vector<std::string> names,
             std::vector<compression> compressions)
      : types_(types), families_(families), names_(std::move(names)), compressions_(std::move(compressions)) {}

  /// Adds the costs of a payload to its row, whose figures are made with the first one. Requires: the payload is whole.
  void measure(const tape_element& of, tape_cost_row& row) const;

private:
  /// One payload by one family and compression.
  struct trial {
    tape_cost_basis basis = tape_cost_basis::none;
    std::uint64_t frame_bytes = 0;
    std::uint64_t header_bytes = 0;
    bool is_standard = false; // The header is always the same.
    std::chrono::nanoseconds encode{0};
    std::chrono::nanoseconds decode{0};
  };
  using outcome = std::expected<trial, std::string>;
  /// The recorded payload in the forms that can be encoded.
  struct subject;

  [[nodiscard]] subject subject_of(const tape_element& of) const;
  [[nodiscard]] outcome try_one(const subject& of, const std::string& family, compression by) const;
  [[nodiscard]] outcome try_value(const type_entry& entry, const void* value, const std::string& family,
                                  compression by) const;
  [[nodiscard]] outcome try_payload(const subject& of, const std::string& family, compression by) const;

  const type_registry& types_;
  const family_set& families_;
  const std::vector<std::string> names_;
  const std::vector<compression> compressions_;
};

} // namespace troupe::internal

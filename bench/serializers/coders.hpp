// The coders of the subjects, which turn a sample into bytes and back.
#pragma once

#include "serializers/sample.hpp"

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace bench {

class coder {
public:
  coder() = default;
  coder(const coder&) = delete;
  coder& operator=(const coder&) = delete;
  virtual ~coder() = default;

  /// Encodes anew each time, and keeps the bytes.
  virtual bool encode(const sample& value) = 0;
  /// Decodes the bytes of the last encode().
  virtual bool decode(sample& value) = 0;
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
};

using coder_ptr = std::unique_ptr<coder>;

/// Coders that use the family with that name. The link coder works as a link does. The payload coder uses serialize()
/// and deserialize(), whose payloads are self-contained.
[[nodiscard]] coder_ptr make_link_coder(const std::string& family);
[[nodiscard]] coder_ptr make_payload_coder(const std::string& family);

// What users would write instead; see peers.cpp and protobuf.cpp.
[[nodiscard]] coder_ptr make_cereal_coder();   // Portable binary over a string stream.
[[nodiscard]] coder_ptr make_msgpack_coder();  // Packed by hand: a map with member names, like the family.
[[nodiscard]] coder_ptr make_caf_coder();      // binary_serializer over a buffer.
[[nodiscard]] coder_ptr make_protobuf_coder(); // Null if it is not built in.

/// In display order.
[[nodiscard]] const std::vector<std::string>& coder_names();
/// Null if it is not built in.
[[nodiscard]] coder_ptr make_coder(const std::string& name);

} // namespace bench

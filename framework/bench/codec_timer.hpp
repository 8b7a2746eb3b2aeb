// Measures encoding and decoding of samples by one family, without links.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/bench/sample_source.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::bench::detail {

/// Threads: one at a time. Lifetime: the samples, entry, registry and family must outlive it.
class codec_timer {
public:
  codec_timer(const sample_source& samples, const type_entry& entry, const type_registry& types, const family& by,
              compression how, const limits& bounds);

  /// Encodes and decodes each sample once. Fails with the reason why the family cannot carry one of them.
  [[nodiscard]] std::expected<void, std::string> prepare();

  /// The mean size of the encoded samples. Requires: prepare() has succeeded.
  [[nodiscard]] double bytes() const { return bytes_; }

  /// Nanoseconds per sample, measured for about that time. Requires: prepare() has succeeded.
  [[nodiscard]] double encode_ns(std::chrono::nanoseconds time);
  [[nodiscard]] double decode_ns(std::chrono::nanoseconds time);

private:
  [[nodiscard]] std::expected<void, serialize_error> encode(std::size_t number);
  [[nodiscard]] std::expected<void, serialize_error> decode(std::size_t number);
  template <class Step>
  [[nodiscard]] double time_of(std::chrono::nanoseconds time, std::size_t& next, const Step& step) const;

  const sample_source& samples_;
  const type_entry& entry_;
  const family* const by_;
  context context_; // Views by_.
  encode_output output_;
  std::vector<payload> encoded_;
  std::vector<header_fields> headers_;            // They view encoded_.
  std::unique_ptr<void, void (*)(void*)> target_; // Memory for a value; holds none between calls.
  double bytes_ = 0;
  std::size_t next_encoded_ = 0;
  std::size_t next_decoded_ = 0;
};

} // namespace troupe::bench::detail

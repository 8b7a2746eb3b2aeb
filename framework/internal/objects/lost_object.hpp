// Objects that no node has any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// An object that was lost before its handle came.
class lost_object final : public object_source {
public:
  explicit lost_object(std::uint64_t size_bytes) : size_bytes_(size_bytes) {}

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::lost; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  [[nodiscard]] std::optional<frame> here() const override { return std::nullopt; }
  [[nodiscard]] std::optional<node_error> why_lost() const override { return reason(); }
  fetch_id fetch(std::chrono::steady_clock::time_point, answer then) override {
    then(std::unexpected{reason()});
    return 0;
  }
  void cancel(fetch_id) override {}

private:
  [[nodiscard]] node_error reason() const {
    return {node_errc::object_lost,
            "the object's " + grouped(size_bytes_) + " bytes were lost before this handle to them arrived"};
  }

  const std::uint64_t size_bytes_;
};

} // namespace troupe::internal

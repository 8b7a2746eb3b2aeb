// References of this process to objects that are counted between nodes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <troupe/framework/internal/handles/reference.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/objects/shared_view.hpp>

namespace troupe::internal {

class object_exchange;

/// A counted reference of this process to one object, wherever it is.
class exchanged_object final : public object_source {
public:
  /// Takes over one reference.
  exchanged_object(std::shared_ptr<object_exchange> of, handles::reference what, std::uint64_t size_bytes)
      : of_(std::move(of)), what_(what), size_bytes_(size_bytes) {}
  ~exchanged_object() override;

  [[nodiscard]] handles::reference what() const noexcept { return what_; }
  [[nodiscard]] bool is_of(const object_exchange& which) const noexcept { return of_.get() == &which; }

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::exchanged; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  [[nodiscard]] std::optional<frame> here() const override { return mapped(std::nullopt); }
  [[nodiscard]] std::optional<frame> here_at_once() const override { return mapped(std::chrono::milliseconds{0}); }
  [[nodiscard]] std::optional<node_error> why_lost() const override;
  fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) override;
  void cancel(fetch_id which) override;
  [[nodiscard]] store::handle stored() const override;

private:
  [[nodiscard]] std::optional<frame> mapped(const std::optional<std::chrono::milliseconds>& within) const;

  const std::shared_ptr<object_exchange> of_;
  const handles::reference what_;
  const std::uint64_t size_bytes_;
  const shared_view view_;
};

/// The object by which the source is counted between nodes; null if the source is not counted.
[[nodiscard]] std::shared_ptr<exchanged_object> counted_object_of(const object_source_ptr& source);

} // namespace troupe::internal

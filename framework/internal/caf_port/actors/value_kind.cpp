#include <troupe/framework/internal/caf_port/actors/value_kind.hpp>

#include <string>

#include <caf/error.hpp>
#include <caf/sec.hpp>

namespace troupe::internal {

namespace {

class fetched_value final : public caf::type_erased_value {
public:
  fetched_value(const value_kind& kind, std::shared_ptr<void> value) : kind_(kind), value_(std::move(value)) {}

  void* get_mutable() override { return value_.get(); }
  caf::error load(caf::deserializer&) override { return value_of_object(); }
  caf::rtti_pair type() const override { return kind_.type; }
  const void* get() const override { return value_.get(); }
  caf::error save(caf::serializer&) const override { return value_of_object(); }
  std::string stringify() const override { return "<value of an object>"; }
  caf::type_erased_value_ptr copy() const override { return copy_of(kind_, value_.get()); }

private:
  const value_kind& kind_;
  const std::shared_ptr<void> value_;
};

} // namespace

caf::type_erased_value_ptr copy_of(const value_kind& kind, const void* value) {
  return caf::type_erased_value_ptr{new fetched_value(kind, kind.copy(value))};
}

caf::error value_of_object() {
  return make_error(caf::sec::invalid_argument, "the value of an object; CAF's own serialization does not know it");
}

} // namespace troupe::internal

#include <troupe/serializers/any_value.hpp>

#include <utility>

namespace troupe {

any_value::any_value(const type_entry& entry) {
  value_ = {::operator new (entry.size_bytes(), std::align_val_t{entry.alignment_bytes()}),
            release{entry.alignment_bytes()}};
  if (entry.life().construct == nullptr)
    return;
  entry.life().construct(value_.get());
  entry_ = &entry; // From here on there is a value to destroy.
}

any_value& any_value::operator=(any_value&& other) noexcept {
  std::swap(entry_, other.entry_);
  std::swap(alias_, other.alias_);
  std::swap(value_, other.value_);
  return *this;
}

any_value::~any_value() {
  if (entry_ != nullptr)
    entry_->life().destroy(value_.get());
}

} // namespace troupe

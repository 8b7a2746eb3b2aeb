// A value of a type that is known at run time.
#pragma once

#include <memory>
#include <new>
#include <string>

#include <troupe/base/export.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

/// Owns a value of any registered type, or nothing. Can be moved, but not copied.
///
/// Threads: as for any object; one at a time.
/// Lifetime: must not outlive the registry (or the holder) of its type's entry.
class TROUPE_EXPORT any_value {
public:
  any_value() = default;
  /// Holds a default-constructed value. If the type has no default constructor, holds only memory for a value, and
  /// complete() must follow once a value is constructed there.
  explicit any_value(const type_entry& entry);
  any_value(any_value&& other) noexcept
      : entry_(other.entry_), alias_(std::move(other.alias_)), value_(std::move(other.value_)) {
    other.entry_ = nullptr;
  }
  any_value& operator=(any_value&& other) noexcept;
  ~any_value();

  /// The entry of the value's type. Null if there is no value.
  [[nodiscard]] const type_entry* entry() const { return entry_; }
  /// Records that a value has been constructed at data(), and the alias under which the value arrived.
  void complete(const type_entry& entry, std::string alias = {}) {
    entry_ = &entry;
    alias_ = std::move(alias);
  }
  /// The alias under which the value arrived: the type's own or, for a record, the alias of a type that this process
  /// does not have. Empty if complete() got none.
  [[nodiscard]] const std::string& alias() const { return alias_; }
  /// The address of the value, or of the memory for it. Null in a default-constructed or moved-from object.
  [[nodiscard]] void* data() { return value_.get(); }
  [[nodiscard]] const void* data() const { return value_.get(); }
  /// The value if it is a T, else null.
  template <class T>
  [[nodiscard]] T* get() {
    return entry_ != nullptr && entry_->type() == typeid(T) ? static_cast<T*>(data()) : nullptr;
  }

private:
  struct release {
    std::size_t alignment_bytes;
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{alignment_bytes}); }
  };
  const type_entry* entry_ = nullptr;
  std::string alias_;
  std::unique_ptr<void, release> value_{nullptr, release{1}};
};

} // namespace troupe

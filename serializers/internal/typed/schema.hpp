// A type's layout as bytes: what the `typed` family puts into the payload's header, and whose hash opens its body.
// The form is described in typed/format.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/stand_in.hpp>
#include <troupe/serializers/internal/shape/shapes.hpp>
#include <troupe/serializers/internal/typed/schema_code.hpp>

namespace troupe::detail {

class TROUPE_EXPORT schema_builder {
public:
  /// Makes the layout of T.
  template <class T>
  void build();

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }
  /// Where and why the type cannot travel; empty when it can.
  [[nodiscard]] const std::string& unsupported() const { return unsupported_; }
  /// The types in it that travel only where the registry has a codec for them.
  [[nodiscard]] std::vector<foreign_type> take_foreign() { return std::move(foreign_); }

private:
  void put(schema_code code) { put(static_cast<std::uint8_t>(code)); }
  void put(number_kind kind) { put(static_cast<std::uint8_t>(kind)); }
  void put(std::uint8_t byte) { bytes_.push_back(std::byte{byte}); }
  void put_count(std::uint64_t count);
  void put_text(std::string_view text);
  void start_again();
  template <class T>
  void add();
  /// Numbers a structure or form; false when it stands further up already, in which case a reference is written.
  bool begin_numbered(schema_code code, std::type_index type);
  void refuse(const std::type_info& type, std::string_view why);
  void add_foreign(const std::type_info& type);
  template <class T>
  void add_pointee();

  template <class T>
  void add_within(std::string_view place) {
    const auto length = path_.size();
    path_ += place;
    add<T>();
    path_.resize(length);
  }
  template <class T>
  void add_structure();
  /// Adds `content`, where T may contain itself with no structure between.
  template <class T>
  void add_guarded(auto&& content);
  template <class T>
  void add_enumeration();
  template <class... Options>
  void add_options(const std::variant<Options...>* type);

  std::vector<std::byte> bytes_;
  std::unordered_map<std::type_index, std::size_t> numbered_;
  std::vector<std::type_index> forms_; // And containers, that are being added within the innermost structure.
  std::unordered_set<std::type_index> recursive_; // Those that contain themselves.
  std::string path_;
  std::string unsupported_;
  std::vector<foreign_type> foreign_;
};

template <class T>
void schema_builder::add_structure() {
  if (!begin_numbered(schema_code::structure, typeid(T)))
    return;
  using fields = fields_of<T>;
  put_count(fields::count);
  const auto around = std::exchange(forms_, {}); // What contains itself by way of a structure refers to that.
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    [[maybe_unused]] const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      put_text(fields::names[I]);
      add_within<typename fields::template type<I>>("." + std::string(fields::names[I]));
    };
    (one(std::integral_constant<std::size_t, Index>{}), ...);
  }
  (std::make_index_sequence<fields::count>{});
  forms_ = around;
}

template <class T>
void schema_builder::add_guarded(auto&& content) {
  const std::type_index type = typeid(T);
  if (recursive_.contains(type)) {
    if (!begin_numbered(schema_code::form, type))
      return;
  } else if (std::ranges::find(forms_, type) != forms_.end()) {
    recursive_.insert(type); // It needs a number: build() starts again.
    return;
  }
  forms_.push_back(type);
  content();
  forms_.pop_back();
}

template <class T>
void schema_builder::build() {
  for (std::size_t known = 0;; known = recursive_.size()) {
    add<T>();
    if (recursive_.size() == known)
      return;
    start_again();
  }
}

template <class T>
void schema_builder::add_enumeration() {
  using underlying = std::underlying_type_t<T>;
  if constexpr (std::is_same_v<underlying, bool>) {
    put(schema_code::boolean);
  } else if constexpr (described_enum<T>) {
    constexpr auto description = troupe_description(describe_tag<T>{});
    put(schema_code::enumeration);
    put(kind_of<underlying>);
    put_count(description.names.size());
    for (std::size_t i = 0; i < description.names.size(); ++i) {
      put_text(description.names[i]);
      put_count(static_cast<std::uint64_t>(static_cast<std::int64_t>(description.values[i])));
    }
  } else {
    put(kind_of<underlying>);
  }
}

template <class... Options>
void schema_builder::add_options(const std::variant<Options...>* type) {
  const auto& labels = variant_labels(type);
  std::size_t index = 0;
  const auto one = [&]<class Option>(const Option*) {
    put_text(labels[index]);
    add_within<Option>("<" + labels[index] + ">");
    ++index;
  };
  put(schema_code::variant);
  put_count(sizeof...(Options));
  (one(static_cast<const Options*>(nullptr)), ...);
}

template <class T>
void schema_builder::add_pointee() {
  if constexpr (!may_be_derived<T>) {
    add_within<T>("->");
  } else {
    put(schema_code::pointee);
    if constexpr (makeable<T>())
      add_within<T>("->");
    else
      put(schema_code::none);
  }
}

template <class T>
void schema_builder::add() {
  constexpr auto of = shape_of<T>;
  if constexpr (of != shape::hook && of != shape::unsupported
                && !std::is_default_constructible_v<T> && !std::is_array_v<T>)
    return refuse(typeid(T), "no default constructor: give it a codec<T>, or reduce() and rebuild()");
  else if constexpr (of == shape::hook)
    add_guarded<T>([&] { add<typename hook<T>::form>(); });
  else if constexpr (of == shape::structure)
    add_structure<T>();
  else if constexpr (of == shape::enumeration)
    add_enumeration<T>();
  else if constexpr (of == shape::boolean)
    put(schema_code::boolean);
  else if constexpr (of == shape::number)
    put(kind_of<T>);
  else if constexpr (of == shape::text || of == shape::path)
    put(schema_code::text);
  else if constexpr (of == shape::duration || of == shape::time_point)
    put(schema_code::unit), put_text(unit_of<T>()), add<typename T::rep>();
  else if constexpr (of == shape::unit)
    put(schema_code::none);
  else if constexpr (of == shape::optional)
    put(schema_code::optional), add<typename T::value_type>();
  else if constexpr (of == shape::unique)
    put(schema_code::optional), add_pointee<std::remove_const_t<typename T::element_type>>();
  else if constexpr (of == shape::shared || of == shape::weak)
    put(schema_code::shared), add_pointee<std::remove_const_t<typename T::element_type>>();
  else if constexpr (of == shape::variant)
    add_options(static_cast<const T*>(nullptr));
  else if constexpr (of == shape::tuple)
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      put(schema_code::tuple), put_count(sizeof...(Index));
      (add_within<std::tuple_element_t<Index, T>>("<" + std::to_string(Index) + ">"), ...);
    }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
  else if constexpr (of == shape::fixed) put(schema_code::fixed), put_count(fixed_extent<T>::count),
      add_within<typename fixed_extent<T>::element>("[]");
  else if constexpr (of == shape::frame) put(schema_code::frame);
  else if constexpr (of == shape::record) put(schema_code::record);
  else if constexpr (of == shape::array) put(schema_code::array), put(kind_of<typename T::value_type>);
  else if constexpr (of == shape::numbers) put(schema_code::numbers), put(kind_of<typename T::value_type>);
  else if constexpr (of == shape::sequence || of == shape::set) add_guarded<T>([&] {
    put(schema_code::list);
    add_within<typename T::value_type>("[]");
  });
  else if constexpr (of == shape::map) add_guarded<T>([&] {
    put(schema_code::map);
    add_within<typename T::key_type>("{key}");
    add_within<typename T::mapped_type>("{}");
  });
  else add_foreign(typeid(T));
}

} // namespace troupe::detail

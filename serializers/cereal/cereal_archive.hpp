// cereal_writer and cereal_reader: archives of the cereal library over this project's buffers and frames.
//
// The bytes are those of cereal's portable binary archive. These archives replace cereal's own archives, which work
// over a stream. They write directly to the buffer that is sent, charge sizes before anything is allocated, limit
// recursion, know the types of shared objects, and send handles and arrays inside a value as frames.
//
// Polymorphic types: include this header, or cereal_type.hpp, before CEREAL_REGISTER_TYPE, which binds a type to the
// archives that are known at that point.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <cereal/cereal.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/vector.hpp>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/internal/coding/common.hpp>
#include <troupe/serializers/internal/typed/body_arrays.hpp>

#if !CEREAL_THREAD_SAFE
#error "cereal would share a table of versions between threads: define CEREAL_THREAD_SAFE=1 for the whole program, \
as linking troupe::cereal does"
#endif

namespace troupe {

class cereal_reader;
class cereal_writer;

namespace detail {

/// Thrown to leave a user's functions after the archive has recorded the failure.
class TROUPE_EXPORT cereal_stop final : public ::cereal::Exception {
public:
  cereal_stop() : ::cereal::Exception("the value cannot go on") {}
};

/// Archives for which no function is written. They show which functions a type has for archives in general.
struct any_output : ::cereal::OutputArchive<any_output, ::cereal::AllowEmptyClassElision> {};
struct any_input : ::cereal::InputArchive<any_input, ::cereal::AllowEmptyClassElision> {};

template <class T>
inline constexpr bool brings_cereal = ::cereal::traits::is_output_serializable<T, any_output>::value
                                      || ::cereal::traits::is_input_serializable<T, any_input>::value;

/// Whether the archives carry the type by its shape in this project, because it has no cereal functions.
template <class T>
consteval bool carried_by_shape() {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure || of == shape::hook || of == shape::path || of == shape::frame
                || of == shape::array || of == shape::record)
    return !brings_cereal<T>;
  else
    return false;
}
template <class T>
concept by_shape = carried_by_shape<T>();

template <class T>
inline constexpr bool is_text = false;
template <class... Rest>
inline constexpr bool is_text<std::basic_string<Rest...>> = true;

/// Containers and pointers: types that add to the depth, and types whose size is written first.
template <class T>
concept holds_elements = requires {
  typename T::value_type;
}
&&!is_text<T>;
/// The memory of an element in bytes, including nodes and tables of containers that are not contiguous.
template <holds_elements T>
std::size_t element_bytes_of() {
  if constexpr (requires(T & of) { of.data(); })
    return new_value_bytes<typename T::value_type>();
  else
    return new_node_bytes<typename T::value_type>();
}
/// The sets and maps of the standard library that have no equal keys.
template <class T>
inline constexpr bool has_keys_once = false;
template <class... Rest>
inline constexpr bool has_keys_once<std::set<Rest...>> = true;
template <class... Rest>
inline constexpr bool has_keys_once<std::map<Rest...>> = true;
template <class... Rest>
inline constexpr bool has_keys_once<std::unordered_set<Rest...>> = true;
template <class... Rest>
inline constexpr bool has_keys_once<std::unordered_map<Rest...>> = true;

/// The pointers that cereal's functions support.
template <class T>
inline constexpr bool is_owner = false;
template <class T>
inline constexpr bool is_owner<std::shared_ptr<T>> = true;
template <class T, class Deleter>
inline constexpr bool is_owner<std::unique_ptr<T, Deleter>> = true;

template <class T>
inline constexpr bool is_weak = false;
template <class T>
inline constexpr bool is_weak<std::weak_ptr<T>> = true;

/// Types that count toward the depth, as in the other families: containers of a variable number of elements, and
/// pointers. The standard library's pointers count only if they are not null. A weak_ptr travels as a shared_ptr, which
/// counts.
template <class T>
concept nests = (holds_elements<T> && shape_of<T> != shape::optional && shape_of<T> != shape::fixed
                 && shape_of<T> != shape::path)
                || (!is_weak<T> && requires { typename T::element_type; });

/// The type of the object if T is cereal's wrapper of a shared pointer, else void.
template <class T>
struct shared_pointee {
  using type = void;
};
template <class T>
struct shared_pointee<::cereal::memory_detail::PtrWrapper<std::shared_ptr<T>&>> {
  using type = std::remove_const_t<T>;
};
template <class T>
struct shared_pointee<::cereal::memory_detail::PtrWrapper<const std::shared_ptr<T>&>> {
  using type = std::remove_const_t<T>;
};
template <class T>
inline constexpr bool wraps_shared = !std::is_void_v<typename shared_pointee<T>::type>;

/// The type of the object if T is cereal's wrapper of a unique pointer, else void.
template <class T>
struct unique_pointee {
  using type = void;
};
template <class T, class Deleter>
struct unique_pointee<::cereal::memory_detail::PtrWrapper<std::unique_ptr<T, Deleter>&>> {
  using type = std::remove_const_t<T>;
};
template <class T, class Deleter>
struct unique_pointee<::cereal::memory_detail::PtrWrapper<const std::unique_ptr<T, Deleter>&>> {
  using type = std::remove_const_t<T>;
};
template <class T>
inline constexpr bool wraps_unique = !std::is_void_v<typename unique_pointee<T>::type>;

/// The memory per element of the container whose size comes next, for writing and reading.
class cereal_container {
public:
  /// Called at the beginning of a container or string.
  template <class T>
  void begin() {
    if constexpr (holds_elements<T>)
      element_bytes_ = element_bytes_of<T>();
    else
      element_bytes_ = text_;
  }
  struct charge {
    bool is_text; // If set, the size is the number of bytes of one element.
    std::size_t element_bytes;
  };
  /// Called once the size is known. A size that a user's own function writes counts one byte per element.
  [[nodiscard]] charge take() {
    const auto element_bytes = std::exchange(element_bytes_, 1);
    return element_bytes == text_ ? charge{true, 1} : charge{false, element_bytes};
  }

private:
  static constexpr std::size_t text_ = 0;

  std::size_t element_bytes_ = 1;
};

/// The memory of an object behind shared pointers.
inline std::size_t shared_object_bytes(std::size_t size_bytes) {
  return size_bytes + shared_bytes;
}

/// The memory of an array's lengths and layouts, in bytes.
inline std::size_t array_layouts_bytes(std::size_t rank, std::size_t data_rank) {
  constexpr auto copies = 2; // Each is copied, and the new array has its own shape and strides.
  return copies * (rank + data_rank) * sizeof(std::size_t) + layouts_bytes(data_rank == 0 ? 1 : 2, rank);
}

/// The targets of the shared pointers that are being written or read, innermost last.
struct cereal_pointers {
  struct pointer {
    const std::type_info* pointee;
    bool owned;               // The pointer is not a weak_ptr.
    std::size_t size_bytes;   // Of the object.
    void (*reset)(void*);     // Empties the object.
    bool has_content = false; // The object's content is being read or written.
  };
  std::vector<pointer> open;
  bool next_is_weak = false;

  template <class T>
  void begin() {
    open.push_back({.pointee = &typeid(T),
                    .owned = !std::exchange(next_is_weak, false),
                    .size_bytes = new_value_bytes<T>(),
                    .reset = &reset<T>});
  }
  /// Whether the content of an object ends with this pointer.
  [[nodiscard]] bool end() {
    const bool had_content = open.back().has_content;
    open.pop_back();
    return had_content;
  }

private:
  // Does nothing if T's own function constructs the object, because there may be no object yet.
  template <class T>
  static void reset(void* object) {
    if constexpr (
        std::is_default_constructible_v<
            T> && std::is_move_assignable_v<T> && !::cereal::traits::has_load_and_construct<T, any_input>::value)
      *static_cast<T*>(object) = T();
  }
};

template <class T>
void write_shape(cereal_writer& to, const T& value);
template <class T>
void read_shape(cereal_reader& from, T& target);

} // namespace detail

/// The output archive. Appends to an output's body. After a failure, stops by throwing an exception.
///
/// Threads: one at a time. Lifetime: `output` and the context must outlive it.
class TROUPE_EXPORT cereal_writer final
    : public encoding,
      public ::cereal::OutputArchive<cereal_writer, ::cereal::AllowEmptyClassElision> {
  using archive = ::cereal::OutputArchive<cereal_writer, ::cereal::AllowEmptyClassElision>;

public:
  cereal_writer(const troupe::context& ctx, encode_output& output);

  void put(std::span<const std::byte> bytes) { output_.body().append(bytes); }
  /// Adds a frame that leaves behind the body. The reader takes frames in the same order.
  void attach(const frame& attached) { output_.attach(attached); }
  /// Whether the body already contains the array's elements. If it does, attach them instead of writing them again.
  [[nodiscard]] bool is_again(const frame& elements) {
    return arrays_.is_again(elements, context().limits.frames, output_);
  }
  /// Writes the elements of an array that may come again. Requires: the byte which says that the elements are in the
  /// body was written just before.
  void put_array(const frame& elements) {
    const auto at = output_.body().size();
    weigh(elements.size_bytes());
    put(elements.bytes());
    arrays_.wrote(elements, {at - 1, at}, output_);
  }
  /// Ends the output. Requires: everything has been written.
  void finish();
  /// Sets the failure and throws.
  [[noreturn, gnu::cold]] void refuse(serialize_errc code, std::string reason);

  /// Hides cereal's function, which would take an object and its first member for the same object.
  std::uint32_t registerSharedPointer(const std::shared_ptr<const void>& object);

private:
  template <class T>
  requires std::is_arithmetic_v<T>
  friend void save(cereal_writer& to, const T& value) { to.put(std::as_bytes(std::span(&value, 1))); }
  template <class T>
  friend void save(cereal_writer& to, const ::cereal::BinaryData<T>& data) {
    to.put({static_cast<const std::byte*>(data.data), static_cast<std::size_t>(data.size)});
  }
  template <class T>
  friend void serialize(cereal_writer& to, ::cereal::NameValuePair<T>& pair) {
    to(pair.value);
  }
  template <class T>
  friend void serialize(cereal_writer& to, ::cereal::SizeTag<T>& tag) {
    to.weigh(static_cast<std::size_t>(tag.size) * to.container_.take().element_bytes);
    to(tag.size);
  }
  template <detail::by_shape T>
  friend void save(cereal_writer& to, const T& value) {
    detail::write_shape(to, value);
  }

  // Cereal calls prologue() before each value, and epilogue() after it.
  template <class T>
  friend void prologue(cereal_writer& to, const T& written) {
    if constexpr (detail::nests<T>)
      if (counts(written) && !to.enter())
        throw detail::cereal_stop();
    if constexpr (detail::holds_elements<T> || detail::is_text<T>)
      to.container_.begin<T>();
    if constexpr (detail::is_weak<T>)
      to.pointers_.next_is_weak = true;
    if constexpr (detail::wraps_shared<T>)
      to.pointers_.begin<typename detail::shared_pointee<T>::type>();
    if constexpr (detail::wraps_unique<T>)
      if (written.ptr)
        to.weigh(detail::new_node_bytes<typename detail::unique_pointee<T>::type>());
  }
  template <class T>
  friend void epilogue(cereal_writer& to, const T& written) {
    if constexpr (detail::is_weak<T>)
      to.pointers_.next_is_weak = false; // The pointer was empty.
    if constexpr (detail::wraps_shared<T>)
      if (to.pointers_.end() && !to.end_shared_content())
        throw detail::cereal_stop();
    if constexpr (detail::nests<T>)
      if (counts(written))
        to.leave();
  }
  template <class T>
  static bool counts(const T& written) {
    if constexpr (detail::is_owner<T>)
      return written != nullptr;
    else
      return true;
  }

  /// Runs `step` at the depth of the pointer, which has already been entered. Returns its result.
  auto without_pointer(auto&& step) {
    leave();
    auto given = step();
    static_cast<void>(enter());
    return given;
  }

  struct shared_object {
    std::type_index type;
    std::size_t number;
  };
  encode_output& output_;
  detail::cereal_container container_;
  detail::body_arrays arrays_;
  detail::cereal_pointers pointers_;
  std::unordered_map<const void*, shared_object> shared_objects_;
};

/// The input archive. Reads a body. After a failure, stops by throwing an exception. The archive withstands any bytes;
/// the types' own functions may not.
///
/// Threads: one at a time. Lifetime: the frames and the context must outlive it.
class TROUPE_EXPORT cereal_reader final
    : public decoding,
      public ::cereal::InputArchive<cereal_reader, ::cereal::AllowEmptyClassElision> {
  using archive = ::cereal::InputArchive<cereal_reader, ::cereal::AllowEmptyClassElision>;

public:
  /// `frames` are the body and the frames behind it.
  cereal_reader(const troupe::context& ctx, std::span<const frame> frames);

  /// Reads the byte in front of the value.
  void begin();
  /// Checks that the input has been read to its end. Fails with `malformed` if bytes or frames are left over.
  void finish();

  [[nodiscard]] std::size_t left() const { return body_.size(); }
  void take(void* to, std::size_t size_bytes) {
    if (size_bytes > body_.size()) [[unlikely]]
      refuse_cut(size_bytes);
    if (size_bytes > 0)
      std::memcpy(to, body_.data(), size_bytes);
    body_ = body_.subspan(size_bytes);
  }
  [[nodiscard]] const frame& take_frame();
  [[noreturn, gnu::cold]] void refuse(serialize_errc code, std::string reason);
  /// Like decoding::charge(), but throws on failure.
  void spend(std::size_t count, std::size_t element_bytes) {
    if (!charge(count, element_bytes)) [[unlikely]]
      throw detail::cereal_stop();
  }

  /// These hide cereal's functions, which do not check that a reference leads to an object of the right type.
  void registerSharedPointer(std::uint32_t id, std::shared_ptr<void> object);
  [[nodiscard]] std::shared_ptr<void> getSharedPointer(std::uint32_t id);
  /// Hides cereal's function, which would accept names under any numbers, even numbers that all fall into one bucket.
  void registerPolymorphicName(std::uint32_t id, const std::string& name);

private:
  [[noreturn, gnu::cold]] void refuse_cut(std::size_t size_bytes);
  [[nodiscard]] bool take_boolean();
  /// Whether the unique pointer that is next has an object. Its first byte tells.
  [[nodiscard]] bool has_pointee() const { return !body_.empty() && body_.front() != std::byte{0}; }
  /// Whether the pointer of that type that is next has an object. Bytes of 0 in front mean that it has none.
  template <class T>
  [[nodiscard]] bool leads_somewhere() const {
    constexpr bool is_flag = !std::is_polymorphic_v<typename T::element_type> && requires(T & of) {
      of.release();
    };
    const auto ahead = body_.first(std::min(body_.size(), is_flag ? 1 : sizeof(std::uint32_t)));
    return std::ranges::any_of(ahead, [](std::byte each) { return each != std::byte{0}; });
  }

  template <class T>
  requires std::is_arithmetic_v<T>
  friend void load(cereal_reader& from, T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = from.take_boolean();
    else
      from.take(&value, sizeof(value));
  }
  template <class T>
  friend void load(cereal_reader& from, ::cereal::BinaryData<T>& data) {
    from.take(data.data, static_cast<std::size_t>(data.size));
  }
  template <class T>
  friend void serialize(cereal_reader& from, ::cereal::NameValuePair<T>& pair) {
    from(pair.value);
  }
  template <class T>
  friend void serialize(cereal_reader& from, ::cereal::SizeTag<T>& tag) {
    from(tag.size);
    from.charge_size(static_cast<std::uint64_t>(tag.size));
  }
  template <detail::by_shape T>
  friend void load(cereal_reader& from, T& target) {
    detail::read_shape(from, target);
  }
  // These replace cereal's functions, which would search a bucket however many keys a peer puts into it.
  template <class Key, class Hash, class Equal, class Memory>
  friend void load(cereal_reader& from, std::unordered_set<Key, Hash, Equal, Memory>& target) {
    from.load_hashed(target);
  }
  template <class Key, class Hash, class Equal, class Memory>
  friend void load(cereal_reader& from, std::unordered_multiset<Key, Hash, Equal, Memory>& target) {
    from.load_hashed(target);
  }
  template <class Key, class Value, class Hash, class Equal, class Memory>
  friend void load(cereal_reader& from, std::unordered_map<Key, Value, Hash, Equal, Memory>& target) {
    from.load_hashed(target);
  }
  template <class Key, class Value, class Hash, class Equal, class Memory>
  friend void load(cereal_reader& from, std::unordered_multimap<Key, Value, Hash, Equal, Memory>& target) {
    from.load_hashed(target);
  }
  // These replace cereal's functions, which keep each value that is being read on the stack, however large it is.
  template <class Key, class Compare, class Memory>
  friend void load(cereal_reader& from, std::set<Key, Compare, Memory>& target) {
    from.load_ordered(target);
  }
  template <class Key, class Compare, class Memory>
  friend void load(cereal_reader& from, std::multiset<Key, Compare, Memory>& target) {
    from.load_ordered(target);
  }
  template <class Key, class Value, class Compare, class Memory>
  friend void load(cereal_reader& from, std::map<Key, Value, Compare, Memory>& target) {
    from.load_ordered(target);
  }
  template <class Key, class Value, class Compare, class Memory>
  friend void load(cereal_reader& from, std::multimap<Key, Value, Compare, Memory>& target) {
    from.load_ordered(target);
  }

  template <class T>
  friend void prologue(cereal_reader& from, const T&) {
    if constexpr (detail::is_owner<T>)
      from.entered_.push_back(from.leads_somewhere<T>());
    if constexpr (detail::nests<T>)
      if ((!detail::is_owner<T> || from.entered_.back()) && !from.enter())
        throw detail::cereal_stop();
    if constexpr (detail::holds_elements<T> || detail::is_text<T>)
      from.container_.begin<T>();
    if constexpr (detail::has_keys_once<T>)
      from.sizes_.push_back(unknown_size_);
    if constexpr (detail::holds_elements<T> || detail::is_text<T>)
      from.awaits_size_ = detail::has_keys_once<T>;
    if constexpr (detail::is_weak<T>)
      from.pointers_.next_is_weak = true;
    if constexpr (detail::wraps_shared<T>)
      from.pointers_.begin<typename detail::shared_pointee<T>::type>();
    if constexpr (detail::wraps_unique<T>)
      if (from.has_pointee())
        from.spend(1, detail::new_node_bytes<typename detail::unique_pointee<T>::type>());
  }
  template <class T>
  friend void epilogue(cereal_reader& from, const T& read) {
    if constexpr (detail::is_weak<T>)
      from.pointers_.next_is_weak = false; // The pointer was empty.
    if constexpr (detail::wraps_shared<T>)
      if (from.pointers_.end() && !from.end_shared_content())
        throw detail::cereal_stop();
    bool was_entered = detail::nests<T>;
    if constexpr (detail::is_owner<T>) {
      was_entered = from.entered_.back();
      from.entered_.pop_back();
    }
    if (was_entered)
      from.leave();
    if constexpr (detail::has_keys_once<T>)
      from.check_size(read.size());
  }

  template <class T>
  void load_hashed(T& target) {
    ::cereal::size_type count = 0;
    (*this)(::cereal::make_size_tag(count));
    target.clear();
    target.reserve(count);
    const auto stop_unless = [](bool done) {
      if (!done)
        throw detail::cereal_stop();
    };
    for (::cereal::size_type i = 0; i < count; ++i) {
      detail::made<typename T::key_type> key(std::in_place);
      (*this)(*key);
      if constexpr (requires { typename T::mapped_type; }) {
        detail::made<typename T::mapped_type> value(std::in_place);
        (*this)(*value);
        stop_unless(detail::insert_once(*this, target, *std::move(key), *std::move(value)));
      } else {
        stop_unless(detail::insert_once(*this, target, *std::move(key)));
      }
    }
  }

  template <class T>
  void load_ordered(T& target) {
    ::cereal::size_type count = 0;
    (*this)(::cereal::make_size_tag(count));
    target.clear();
    for (::cereal::size_type i = 0; i < count; ++i) {
      detail::made<typename T::key_type> key(std::in_place);
      (*this)(*key);
      if constexpr (requires { typename T::mapped_type; }) {
        detail::made<typename T::mapped_type> value(std::in_place);
        (*this)(*value);
        target.emplace_hint(target.end(), *std::move(key), *std::move(value));
      } else {
        target.emplace_hint(target.end(), *std::move(key));
      }
    }
  }

  /// Charges the memory that a container is about to allocate. Called once the container's size has been read.
  void charge_size(std::uint64_t count);
  /// Checks for equal keys. Called once a container without equal keys has been read.
  void check_size(std::size_t size);

  static constexpr std::uint64_t unknown_size_ = UINT64_MAX;

  std::span<const std::byte> body_;
  std::span<const frame> frames_; // The frames behind the body that have not been taken yet.
  detail::cereal_container container_;
  bool awaits_size_ = false;         // The next size belongs to sizes_.back().
  std::vector<std::uint64_t> sizes_; // Of the open containers without equal keys.
  /// Runs `step` at the depth of the pointer, which has already been entered. Returns its result.
  auto without_pointer(auto&& step) {
    leave();
    auto given = step();
    static_cast<void>(enter());
    return given;
  }

  detail::cereal_pointers pointers_;
  std::vector<bool> entered_;                 // For each pointer being read: whether it counts for the depth.
  std::vector<std::type_index> shared_types_; // Of the objects, by cereal's numbers, which begin with 1.
  std::uint32_t polymorphic_names_ = 0;       // How many names have been numbered, from 1 on.
};

namespace detail {

/// Runs a step for that field. If the step throws, adds the field's name to the error's path.
template <class Step>
void within_field(coding& state, std::string_view field, Step step) {
  try {
    step();
  } catch (...) {
    state.within(field);
    throw;
  }
}

template <class T, class Step>
void for_each_field(coding& state, Step step) {
  using fields = fields_of<T>;
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (within_field(state, fields::names[Index], [&] { step(std::get<Index>(fields::members)); }), ...);
  }
  (std::make_index_sequence<fields::count>{});
}

/// Writes two shapes as cereal writes a list of numbers: the shape and the data shape, which is empty unless elements
/// are repeated. A byte of flags follows, and then the elements, unless they are a frame.
inline constexpr std::uint8_t array_in_body = 1; // The lowest bit, which body_arrays may change.
inline constexpr std::uint8_t array_in_fortran_order = 2;

template <class T>
void write_array(cereal_writer& to, const troupe::array<T>& value) {
  if (!check_dimensions(to, value.rank()))
    throw cereal_stop();
  const auto is_shared = may_come_again(value);
  const auto once = value.without_repeats();
  const bool is_repeated = once.shape() != value.shape();
  const bool is_fortran = !is_repeated && !once.is_contiguous() && once.is_contiguous(memory_order::fortran);
  const auto sent = is_fortran ? once : packed_once(to, once, is_shared);
  const std::vector<std::uint64_t> shape(value.shape().begin(), value.shape().end());
  std::vector<std::uint64_t> data_shape;
  if (is_repeated)
    data_shape.assign(sent.shape().begin(), sent.shape().end());
  const auto bytes = sent.bytes();
  const bool in_body = bytes.size_bytes() < out_of_band_bytes && !(is_shared && to.is_again(bytes));
  to.weigh(array_layouts_bytes(shape.size(), data_shape.size()));
  to(shape, data_shape,
     static_cast<std::uint8_t>((in_body ? array_in_body : 0) | (is_fortran ? array_in_fortran_order : 0)));
  if (!in_body)
    to.attach(bytes);
  else if (is_shared)
    to.put_array(bytes);
  else {
    to.weigh(bytes.size_bytes());
    to.put(bytes.bytes());
  }
}

[[nodiscard]] TROUPE_EXPORT frame read_array_bytes(cereal_reader& from, std::size_t count, std::size_t element_bytes,
                                                   bool in_body);

template <class T>
void read_array(cereal_reader& from, troupe::array<T>& target) {
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> data_lengths;
  std::uint8_t flags = 0;
  from(lengths, data_lengths, flags);
  if (!check_dimensions(from, std::max(lengths.size(), data_lengths.size())))
    throw cereal_stop();
  from.spend(2 * (lengths.size() + data_lengths.size()), 0);
  if (!from.charge_memory(array_layouts_bytes(lengths.size(), data_lengths.size())))
    throw cereal_stop();
  const std::vector<std::size_t> shape(lengths.begin(), lengths.end());
  const std::vector<std::size_t> data_shape(data_lengths.begin(), data_lengths.end());
  const bool is_repeated = !data_shape.empty();
  const auto count = count_of(is_repeated ? data_shape : shape);
  if (flags > (array_in_body | array_in_fortran_order) || !count || *count > SIZE_MAX / sizeof(T))
    from.refuse(serialize_errc::malformed, "the array's shape is not that of its data");
  auto bytes = read_array_bytes(from, *count, sizeof(T), (flags & array_in_body) != 0);
  auto view =
      troupe::array<T>::view_of(std::move(bytes), is_repeated ? data_shape : shape,
                                (flags & array_in_fortran_order) != 0 ? memory_order::fortran : memory_order::c);
  if (view && is_repeated)
    view = shape.size() == data_shape.size() ? view->broadcast_to(shape) : std::nullopt;
  if (!view)
    from.refuse(serialize_errc::malformed, "the array's shape is not that of its data");
  if (!check_repeated(from, view->size(), sizeof(T)))
    throw cereal_stop();
  target = *std::move(view);
}

template <class T>
void write_shape(cereal_writer& to, const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure) {
    for_each_field<T>(to, [&](auto member) { to(value.*member); });
  } else if constexpr (of == shape::hook) {
    auto form = hook<T>::reduce(value, to.context());
    if (!form)
      to.refuse(form.error().code(), form.error().message());
    to.weigh(rebuilding_bytes<T>(*form));
    to(*form);
  } else if constexpr (of == shape::path) {
    to(value.native());
  } else if constexpr (of == shape::record) {
    to(value.value());
  } else if constexpr (of == shape::frame) {
    to.attach(value);
  } else {
    write_array(to, value);
  }
}

template <class T>
void read_shape(cereal_reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure) {
    for_each_field<T>(from, [&](auto member) { from(target.*member); });
  } else if constexpr (of == shape::hook) {
    made<typename hook<T>::form> form(std::in_place);
    from(*form);
    auto value = rebuilt<T>(from, *std::move(form));
    if (!value)
      throw cereal_stop();
    target = *std::move(value);
  } else if constexpr (of == shape::path) {
    std::string text;
    from(text);
    target = std::move(text);
  } else if constexpr (of == shape::record) {
    from(target.value());
  } else if constexpr (of == shape::frame) {
    target = from.take_frame();
  } else {
    read_array(from, target);
  }
}

} // namespace detail
} // namespace troupe

CEREAL_SETUP_ARCHIVE_TRAITS(troupe::detail::any_input, troupe::detail::any_output)
CEREAL_SETUP_ARCHIVE_TRAITS(troupe::cereal_reader, troupe::cereal_writer)
CEREAL_REGISTER_ARCHIVE(troupe::cereal_writer)
CEREAL_REGISTER_ARCHIVE(troupe::cereal_reader)

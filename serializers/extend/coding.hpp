// The state of all encoders and decoders: the context, and the first failure with its place in the value.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

namespace detail {
class shared_nesting;
} // namespace detail

/// Contiguous arrays and strings of at least this size leave as frames of their own.
inline constexpr std::size_t out_of_band_bytes = 4096;

/// The error `codec_failed` for an exception of a user's codec. The text is cut to 500 bytes, because it may travel.
[[nodiscard]] TROUPE_EXPORT serialize_error thrown_by_codec(std::string_view what);
[[nodiscard]] TROUPE_EXPORT serialize_error thrown_by_codec(const std::exception& thrown);

/// The state of one encoding or decoding. After a failure, all steps return false. The first failure is kept. While the
/// calls return, each level adds its own name to the failure's path.
///
/// Threads: one at a time.
/// Lifetime: the context must outlive this object.
class TROUPE_EXPORT coding {
public:
  explicit coding(const context& ctx) : context_(&ctx) {}
  coding(const coding&) = delete;
  coding& operator=(const coding&) = delete;

  [[nodiscard]] const troupe::context& context() const { return *context_; }

  /// Records the first failure. Always returns false, so that a step can return it.
  [[gnu::cold]] bool fail(serialize_errc code, std::string reason);
  /// Records a failure whose text comes from a user's code. The text is cut to about 2,000 bytes, because it may
  /// travel. Always returns false.
  [[gnu::cold]] bool fail(const serialize_error& error);

  /// If the reason of the failure is that `vague` was expected, says `exact` instead. Always returns false.
  [[gnu::cold]] bool expected_exactly(std::string_view vague, std::string_view exact);

  /// Adds to the path the field or element in which the failure happened. Always returns false.
  [[gnu::cold]] bool within(std::string_view field);
  [[gnu::cold]] bool within(std::size_t element);

  [[nodiscard]] bool failed() const { return code_ != serialize_errc::none; }
  /// The reason of the failure, without the place.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// The failure with its place. Requires: failed().
  [[nodiscard]] serialize_error error(std::string_view alias, std::string_view family) const;

  /// Guards recursion: returns true if one more container or pointer may be entered (limits::depth, limits::height).
  /// Call leave() only after true.
  [[nodiscard]] bool enter() {
    if (++depth_ > std::min(context_->limits.depth, context_->limits.height))
      return too_deep();
    reached_ = std::max(reached_, depth_);
    return true;
  }
  void leave() { --depth_; }
  /// The number of parts that a reader may have open. For each container or pointer a reader may also open a structure,
  /// a variant or a wrapper of one value.
  [[nodiscard]] std::size_t open_max() const {
    constexpr std::size_t open_per_level = 8;
    return std::min(context_->limits.depth, SIZE_MAX / open_per_level) * open_per_level;
  }

  /// Begins the content of a shared object. Call this after enter(). `owned`: the pointer to the object is not a
  /// weak_ptr. Requires: numbers ascend.
  void begin_shared_content(std::size_t number, bool owned);
  /// Ends the content. False, with the failure set, if destroying the object would recurse too deep.
  [[nodiscard]] bool end_shared_content();

protected:
  ~coding() = default;

  /// Adds a further pointer that owns the shared object. False, with the failure set, if destroying the object would
  /// recurse too deep (limits::height), or if the pointer closes a cycle and cycles are not allowed.
  [[nodiscard]] bool refer_to_shared(std::size_t number, bool& closes_circle);

  /// Takes over the other's failure and path. Always returns false.
  [[gnu::cold]] bool fail_as(const coding& other);
  void exchange_depth(coding& other);

private:
  [[gnu::cold]] bool too_deep();
  [[gnu::cold]] bool too_high();

  const troupe::context* const context_;
  std::size_t depth_ = 0;
  std::size_t reached_ = 0; // The largest depth_ so far; shared objects count at each pointer that leads to them.
  std::shared_ptr<detail::shared_nesting> nesting_; // Null if nothing is shared.
  serialize_errc code_ = serialize_errc::none;
  std::string reason_;
  std::string path_; // ".samples[3]"
};

/// The memory, in bytes, that decoding may take for `received_bytes` received bytes: limits::memory_bytes, or less as
/// limits::memory_ratio and limits::memory_free_bytes say.
[[nodiscard]] TROUPE_EXPORT std::size_t decoding_bytes(const limits& bounds, std::size_t received_bytes);

/// Counts the memory and the elements that decoding takes, against the limits. Memory is charged before it is
/// allocated.
class TROUPE_EXPORT decoding : public coding {
public:
  decoding(const troupe::context& ctx, std::size_t received_bytes);

  /// Takes `count` elements of `element_bytes` each out of the budget. False, with the failure set, if the budget does
  /// not suffice.
  [[nodiscard]] bool charge(std::size_t count, std::size_t element_bytes) {
    std::size_t bytes = 0;
    if (count <= elements_left_ && !__builtin_mul_overflow(count, element_bytes, &bytes) && bytes <= memory_left_) {
      elements_left_ -= count;
      memory_left_ -= bytes;
      return true;
    }
    return over_budget(count, element_bytes);
  }
  /// Checks the size of a string, path or field name against its limit. False, with the failure set, if it is larger.
  [[nodiscard]] bool check_text(std::size_t size_bytes) {
    return size_bytes <= context().limits.text_bytes || over_text(size_bytes);
  }
  /// Charges memory that belongs to no element, such as a buffer. False, with the failure set, if the budget does not
  /// suffice.
  [[nodiscard]] bool charge_memory(std::size_t bytes) {
    if (bytes > memory_left_)
      return over_memory(bytes);
    memory_left_ -= bytes;
    return true;
  }

  /// Charges memory that is used only while decoding. It counts against the budget, but not as memory that the value
  /// keeps.
  [[nodiscard]] bool charge_scratch(std::size_t bytes) {
    if (!charge_memory(bytes))
      return false;
    scratch_bytes_ += bytes;
    return true;
  }
  /// Records that charged memory was freed again because a container moved to a larger place. It stays charged, but
  /// does not count as memory that the value keeps.
  void outgrow(std::size_t bytes) { scratch_bytes_ += bytes; }

  /// Charges `probes`: comparisons of one key of a container with the other keys of its bucket. Comparisons of long
  /// keys count several times. False, with the failure set, if the budget does not suffice.
  [[nodiscard]] bool charge_probes(std::size_t probes, const std::type_info& container) {
    if (probes > probes_left_)
      return over_probes(container);
    probes_left_ -= probes;
    return true;
  }
  /// The number of comparisons that are left.
  [[nodiscard]] std::size_t probes_left() const { return probes_left_; }

  /// Returns the number of the next shared object. Until keep_shared() the object is under construction and cannot be
  /// referred to.
  [[nodiscard]] std::size_t number_shared();
  /// Records a shared object for later references. If decoding fails, `reset` empties the object.
  void keep_shared(std::size_t number, std::type_index type, std::shared_ptr<void> object, void (*reset)(void*));
  /// The shared object of that number, for a pointer that owns it (`owned`) or does not. Null, with the failure set, if
  /// there is no object of that number and type. Also null if the pointer is refused, because destroying the object
  /// would recurse too deep or because the pointer closes a cycle that is not allowed.
  [[nodiscard]] std::shared_ptr<void> find_shared(std::size_t number, std::type_index type, bool owned);
  [[nodiscard]] std::size_t shared_count() const;

  /// Records an array that the input numbers, so that each later reference gets the same memory.
  void keep_array(std::size_t number, std::type_index type, std::shared_ptr<const void> made);
  /// The array of that number and type; null if there is none.
  [[nodiscard]] const void* find_array(std::size_t number, std::type_index type) const;

  /// The origin of an array that was made by copying or converting elements of a frame.
  struct array_from_frame {
    std::type_index made = typeid(void); // The type of the array.
    const std::byte* elements = nullptr; // Null: the elements did not come as a frame.
    std::size_t size_bytes = 0;
    std::string type; // Of the elements, as the input names it.
    std::vector<std::size_t> shape;
    std::vector<std::size_t> data_shape; // Set if elements are repeated.
    bool is_fortran = false;
    auto operator<=>(const array_from_frame&) const = default;
  };
  /// Records the made array, so that it is made only once. Keeps its elements alive, so that no other object can be
  /// allocated at their address.
  void keep_array(array_from_frame from, frame elements, std::shared_ptr<const void> made);
  /// The array that was made from this origin; null if it has not been made yet.
  [[nodiscard]] const void* find_array(const array_from_frame& from) const;

  /// A type that the input itself names, by alias and with the sender's layout of the type. Views into the input.
  struct named_type {
    std::string_view alias;
    std::span<const std::byte> layout;
  };
  /// Records a type. Later values refer to the type by the returned number.
  std::size_t name_type(named_type named);
  /// The type of that number; null if there is none.
  [[nodiscard]] const named_type* type_named(std::size_t number) const;

protected:
  ~decoding();

  /// For two decoders that read one input in turn: exchanges what was charged, the depth, and the shared objects.
  void exchange_state(decoding& other);

private:
  [[gnu::cold]] bool over_budget(std::size_t count, std::size_t element_bytes);
  [[gnu::cold]] bool over_memory(std::size_t bytes);
  [[gnu::cold]] bool over_text(std::size_t size_bytes);
  [[nodiscard]] std::string memory_left() const;

  [[gnu::cold]] bool over_probes(const std::type_info& container);
  /// Admits a cycle through that object. False, with the failure set, if the context's account has too little left.
  [[gnu::cold]] bool admit_circle(const std::shared_ptr<void>& object);

  /// The bound that determines the memory budget.
  enum class memory_bound : std::uint8_t {
    limit,  // limits::memory_bytes
    earned, // Depends on the received bytes; less than the limit.
    cycles, // The memory that cycles may keep; less than the other two.
  };
  struct shared_table;
  std::size_t elements_left_;
  std::size_t memory_left_;
  std::size_t memory_given_;      // The whole budget. It shrinks if cycles bound it.
  std::size_t received_bytes_;    // A cycle may keep them alive, in addition to the charged memory.
  std::size_t scratch_bytes_ = 0; // The part of the charged memory that the value does not keep.
  std::size_t probes_left_;
  memory_bound memory_bound_;
  std::unique_ptr<shared_table> shared_;
};

namespace detail {

/// Remembers context::taken_bytes, so that an encoding can start again.
class taken_mark {
public:
  explicit taken_mark(const context& ctx) : at_(ctx.taken_bytes), before_(at_ != nullptr ? *at_ : 0) {}
  /// Drops the bytes that were added since.
  void restore() const {
    if (at_ != nullptr)
      *at_ = before_;
  }

private:
  std::size_t* const at_;
  const std::size_t before_;
};

/// Adds memory that is charged outside of readers to context::taken_bytes.
inline void add_taken(const context& ctx, std::size_t bytes) {
  if (ctx.taken_bytes != nullptr)
    *ctx.taken_bytes += bytes;
}

} // namespace detail

/// Numbers shared objects in order of first appearance, and sums up the memory that decoding will charge.
class TROUPE_EXPORT encoding : public coding {
public:
  explicit encoding(const troupe::context& ctx);

  /// Whether one more pointer that owns the object may lead to it; see decoding::find_shared().
  [[nodiscard]] bool may_refer(std::size_t number) {
    bool closes_circle = false;
    return refer_to_shared(number, closes_circle);
  }

  /// Adds `bytes` that readers will charge for the value being written, counted as decoding::charge() does.
  void weigh(std::size_t bytes) { *taken_bytes_ += bytes; }
  /// Takes back bytes that readers will not charge after all.
  void unweigh(std::size_t bytes) { *taken_bytes_ -= bytes; }

  /// The object's number, and whether this is its first appearance.
  struct appearance {
    std::size_t number;
    bool first;
  };
  [[nodiscard]] appearance appear(const void* object, std::type_index type);
  /// Numbers a type that the output itself names. The type's own form and its codec's form (`as_form`) get different
  /// numbers.
  [[nodiscard]] appearance appear(std::type_index named, bool as_form);

  /// Elements of an array that do not lie one after the other.
  struct strided_block {
    const void* first;
    std::size_t element_bytes;
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides;
    auto operator<=>(const strided_block&) const = default;
  };
  /// The bytes that keep_packed() recorded for that block and owner; null if there are none.
  [[nodiscard]] const frame* find_packed(const strided_block& block,
                                         const std::shared_ptr<const frame_owner>& owner) const;
  /// Records the packed bytes. Keeps the block's owner alive, so that nothing else can take its address meanwhile.
  void keep_packed(const strided_block& block, std::shared_ptr<const frame_owner> owner, frame packed);
  /// Takes over the packed bytes that another encoding of the same value has recorded.
  void take_packed(encoding& from);

protected:
  ~encoding();

private:
  struct shared_table;
  std::size_t untold_bytes_ = 0;
  std::size_t* const taken_bytes_; // The context's counter, so that nested values add to it; else untold_bytes_.
  std::unique_ptr<shared_table> shared_;
};

} // namespace troupe

// What encoders and decoders of all families share: the context, and the first failure with its place in the value.
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

/// Contiguous arrays and strings of this size and more leave as frames of their own.
inline constexpr std::size_t out_of_band_bytes = 4096;

/// The error for what a user's codec threw; cut, since it may travel.
[[nodiscard]] TROUPE_EXPORT serialize_error thrown_by_codec(std::string_view what);
[[nodiscard]] TROUPE_EXPORT serialize_error thrown_by_codec(const std::exception& thrown);

/// State of one encoding or decoding. Steps return false once anything failed; the first failure is kept, and each
/// level adds its own name to the failure's path while the calls unwind.
class TROUPE_EXPORT coding {
public:
  explicit coding(const context& ctx) : context_(&ctx) {}
  coding(const coding&) = delete;
  coding& operator=(const coding&) = delete;

  [[nodiscard]] const troupe::context& context() const { return *context_; }

  /// Always false, so that a step can end with it.
  [[gnu::cold]] bool fail(serialize_errc code, std::string reason);
  /// With a text that a user's code made; cut, since it may travel.
  [[gnu::cold]] bool fail(const serialize_error& error);

  /// Names the field or element in which the failure happened; always false.
  [[gnu::cold]] bool within(std::string_view field);
  [[gnu::cold]] bool within(std::size_t element);

  [[nodiscard]] bool failed() const { return code_ != serialize_errc::none; }
  /// Why it failed, without the place.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Requires: failed().
  [[nodiscard]] serialize_error error(std::string_view alias, std::string_view family) const;

  /// Guards recursion: true when one more container or pointer may be entered. leave() follows only then.
  [[nodiscard]] bool enter() {
    if (++depth_ > std::min(context_->limits.depth, context_->limits.height))
      return too_deep();
    reached_ = std::max(reached_, depth_);
    return true;
  }
  void leave() { --depth_; }
  /// How much a reader may have open at once: a container or pointer opens a structure, a variant or a shell as well.
  [[nodiscard]] std::size_t open_max() const {
    constexpr std::size_t open_per_level = 8;
    return std::min(context_->limits.depth, SIZE_MAX / open_per_level) * open_per_level;
  }

  /// Around the content of a shared object, behind enter(); `owned`: the pointer that leads to it is no weak one.
  /// Requires: numbers ascend.
  void begin_shared_content(std::size_t number, bool owned);
  /// False, with the failure set, where dropping the object would recurse too deep.
  [[nodiscard]] bool end_shared_content();

protected:
  ~coding() = default;

  /// A further pointer that owns the shared object. False, with the failure set, where dropping it would recurse too
  /// deep (limits::height), or where it closes a circle and those are not allowed.
  [[nodiscard]] bool refer_to_shared(std::size_t number, bool& closes_circle);

  /// Fails as the other did, its path below this one's; always false.
  [[gnu::cold]] bool fail_as(const coding& other);
  void exchange_depth(coding& other);

private:
  [[gnu::cold]] bool too_deep();
  [[gnu::cold]] bool too_high();

  const troupe::context* const context_;
  std::size_t depth_ = 0;
  std::size_t reached_ = 0; // The most that depth_ was, shared objects counted wherever pointers lead to them.
  std::shared_ptr<detail::shared_nesting> nesting_; // Null where nothing is shared.
  serialize_errc code_ = serialize_errc::none;
  std::string reason_;
  std::string path_; // ".samples[3]"
};

/// The memory that decoding so many received bytes may take.
[[nodiscard]] TROUPE_EXPORT std::size_t decoding_bytes(const limits& bounds, std::size_t received_bytes);

/// Counts what decoding takes, against the limits; charged before anything is allocated.
class TROUPE_EXPORT decoding : public coding {
public:
  decoding(const troupe::context& ctx, std::size_t received_bytes);

  /// Takes `count` elements of `element_bytes` out of the budget. False, with the failure set, when it does not hold.
  [[nodiscard]] bool charge(std::size_t count, std::size_t element_bytes) {
    std::size_t bytes = 0;
    if (count <= elements_left_ && !__builtin_mul_overflow(count, element_bytes, &bytes) && bytes <= memory_left_) {
      elements_left_ -= count;
      memory_left_ -= bytes;
      return true;
    }
    return over_budget(count, element_bytes);
  }
  /// Holds a string, path or field name to its limit.
  [[nodiscard]] bool check_text(std::size_t size_bytes) {
    return size_bytes <= context().limits.text_bytes || over_text(size_bytes);
  }
  /// The same for memory that is no element's, such as a buffer.
  [[nodiscard]] bool charge_memory(std::size_t bytes) {
    if (bytes > memory_left_)
      return over_memory(bytes);
    memory_left_ -= bytes;
    return true;
  }

  /// The same for what is needed while decoding only: it counts in full, and is no part of what the value takes.
  [[nodiscard]] bool charge_scratch(std::size_t bytes) {
    if (!charge_memory(bytes))
      return false;
    scratch_bytes_ += bytes;
    return true;
  }
  /// Memory that was charged has been freed again, since a container has moved to a larger place.
  void outgrow(std::size_t bytes) { scratch_bytes_ += bytes; }

  /// Takes comparisons with other keys of a bucket, that a key of a container cost, out of the budget: those of long
  /// keys as several.
  [[nodiscard]] bool charge_probes(std::size_t probes, const std::type_info& container) {
    if (probes > probes_left_)
      return over_probes(container);
    probes_left_ -= probes;
    return true;
  }
  /// How many are left.
  [[nodiscard]] std::size_t probes_left() const { return probes_left_; }

  /// Gives the next shared object its number; until keep_shared() it is under construction and cannot be referred to.
  [[nodiscard]] std::size_t number_shared();
  /// Remembers a shared object, so that later references find it. `reset` empties it should decoding fail.
  void keep_shared(std::size_t number, std::type_index type, std::shared_ptr<void> object, void (*reset)(void*));
  /// The shared object of that number, for a pointer that owns it, or does not. Null, with the failure set, when there
  /// is none of that type, or when such a pointer to it is refused: dropping it would recurse too deep, or it closes a
  /// circle that is not allowed.
  [[nodiscard]] std::shared_ptr<void> find_shared(std::size_t number, std::type_index type, bool owned);
  [[nodiscard]] std::size_t shared_count() const;

  /// Remembers an array to which the input gives a number, so that it comes again as the same memory.
  void keep_array(std::size_t number, std::type_index type, std::shared_ptr<const void> made);
  /// Null where there is none of that number and type.
  [[nodiscard]] const void* find_array(std::size_t number, std::type_index type) const;

  /// An array that is made by copying or converting elements which came as a frame.
  struct array_from_frame {
    std::type_index made = typeid(void); // What the array is.
    const std::byte* elements = nullptr; // Null: they came otherwise.
    std::size_t size_bytes = 0;
    std::string type; // Of the elements, as the input names it.
    std::vector<std::size_t> shape;
    std::vector<std::size_t> data_shape; // Where elements are repeated.
    bool is_fortran = false;
    auto operator<=>(const array_from_frame&) const = default;
  };
  /// Remembers one, so that it is made once, and the elements, so that nothing else comes to lie there.
  void keep_array(array_from_frame from, frame elements, std::shared_ptr<const void> made);
  /// Null where it has not been made yet.
  [[nodiscard]] const void* find_array(const array_from_frame& from) const;

  /// A type that the input named itself: by alias, and with the sender's layout of it. Views into the input.
  struct named_type {
    std::string_view alias;
    std::span<const std::byte> layout;
  };
  /// Remembers one; later values refer to it by the number that this gives.
  std::size_t name_type(named_type named);
  /// Null when there is none of that number.
  [[nodiscard]] const named_type* type_named(std::size_t number) const;

protected:
  ~decoding();

  /// Two decoders of one input work in turn: exchanges what was charged, how deep it is, and what is shared.
  void exchange_state(decoding& other);

private:
  [[gnu::cold]] bool over_budget(std::size_t count, std::size_t element_bytes);
  [[gnu::cold]] bool over_memory(std::size_t bytes);
  [[gnu::cold]] bool over_text(std::size_t size_bytes);
  [[nodiscard]] std::string memory_left() const;

  [[gnu::cold]] bool over_probes(const std::type_info& container);
  /// A circle over that object: held to what the context's account has left for them.
  [[gnu::cold]] bool admit_circle(const std::shared_ptr<void>& object);

  /// What bounds the memory.
  enum class memory_bound : std::uint8_t {
    limit,  // limits::memory_bytes
    earned, // What was received, which is less.
    cycles, // What circles may keep, which is less still.
  };
  struct shared_table;
  std::size_t elements_left_;
  std::size_t memory_left_;
  std::size_t memory_given_;      // What was there to begin with, and
  std::size_t received_bytes_;    // what of that circles may keep beyond what is charged.
  std::size_t scratch_bytes_ = 0; // Of what was taken, what the value does not keep.
  std::size_t probes_left_;
  memory_bound memory_bound_;
  std::unique_ptr<shared_table> shared_;
};

namespace detail {

/// What encoding has added to context::taken_bytes so far, for when it begins again.
class taken_mark {
public:
  explicit taken_mark(const context& ctx) : at_(ctx.taken_bytes), before_(at_ != nullptr ? *at_ : 0) {}
  /// Forgets what was added since.
  void restore() const {
    if (at_ != nullptr)
      *at_ = before_;
  }

private:
  std::size_t* const at_;
  const std::size_t before_;
};

/// Adds to context::taken_bytes what is charged beside readers.
inline void add_taken(const context& ctx, std::size_t bytes) {
  if (ctx.taken_bytes != nullptr)
    *ctx.taken_bytes += bytes;
}

} // namespace detail

/// Gives shared objects their numbers, in order of first appearance, and adds up what decoding will take.
class TROUPE_EXPORT encoding : public coding {
public:
  explicit encoding(const troupe::context& ctx);

  /// Whether a pointer that owns the object may lead to it once more; see decoding::find_shared.
  [[nodiscard]] bool may_refer(std::size_t number) {
    bool closes_circle = false;
    return refer_to_shared(number, closes_circle);
  }

  /// Readers will charge so much for what is being written, as decoding::charge counts it.
  void weigh(std::size_t bytes) { *taken_bytes_ += bytes; }
  /// They will not, after all.
  void unweigh(std::size_t bytes) { *taken_bytes_ -= bytes; }

  /// The number of the object, and whether this is its first appearance.
  struct appearance {
    std::size_t number;
    bool first;
  };
  [[nodiscard]] appearance appear(const void* object, std::type_index type);
  /// The same for types that the output names itself, in their own form or in another.
  [[nodiscard]] appearance appear(std::type_index named, bool as_form);

  /// Elements of an array that do not lie one after the other.
  struct strided_block {
    const void* first;
    std::size_t element_bytes;
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides;
    auto operator<=>(const strided_block&) const = default;
  };
  /// The bytes that keep_packed() was given for that block of that owner; null where there are none.
  [[nodiscard]] const frame* find_packed(const strided_block& block,
                                         const std::shared_ptr<const frame_owner>& owner) const;
  /// Keeps the block's owner as well, so that nothing else can lie there meanwhile.
  void keep_packed(const strided_block& block, std::shared_ptr<const frame_owner> owner, frame packed);
  /// Those of another one of the same value, which has them no more.
  void take_packed(encoding& from);

protected:
  ~encoding();

private:
  struct shared_table;
  std::size_t untold_bytes_ = 0;
  std::size_t* const taken_bytes_; // The context's, so that values within values add to it; or where nobody asks.
  std::unique_ptr<shared_table> shared_;
};

} // namespace troupe

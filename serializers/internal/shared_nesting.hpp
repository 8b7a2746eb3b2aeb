// How shared objects hold each other, so that what owns itself is seen, and what would be dropped by deep recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace troupe::detail {

/// Follows the shared objects of one payload while they are read or written: which ones are open, which of them own
/// each other, and how high each stands.
///
/// The height of an object is how many containers and pointers lie within each other below it, with each shared object
/// counted wherever a pointer leads to it. Dropping its last pointer recurses as deep, however flat the payload was: a
/// list whose elements each point at the one before is as high as it is long.
///
/// A circle is a pointer to an object that is open, over pointers that own: nothing would ever free it. A weak pointer
/// owns nothing. An object that was first met behind one may point at an object outside that is still open, which makes
/// no circle yet; `reach` remembers that, since a pointer to it from inside of the other would close one. Reaches are
/// kept as intervals of numbers: two that lie between each other can be taken for a circle where there is none, never
/// the other way round.
class shared_nesting {
public:
  enum class verdict {
    fine,
    circle,  ///< The pointer closes one.
    too_high ///< Dropping would recurse too deep.
  };

  /// The content of an object begins, `depth` deep, of which `reached` has been the most so far. `owned`: the pointer
  /// that leads here is no weak one. Requires: numbers ascend.
  void begin(std::size_t number, bool owned, std::size_t depth, std::size_t& reached) {
    if (objects_.size() <= number)
      objects_.resize(number + 1);
    objects_[number].is_open = true;
    open_.push_back({number, owned, depth, reached, {}});
    reached = depth;
  }

  /// The content of the object that was begun last ends.
  void end(std::size_t& reached) {
    const auto ended = open_.back();
    open_.pop_back();
    auto& object = objects_[ended.number];
    object.is_open = false;
    object.height = narrowed(reached - ended.depth);
    object.reach = ended.reach.below(ended.number);
    if (ended.owned && !open_.empty())
      open_.back().reach.add(object.reach);
    reached = ended.owned && ended.outer_reached < reached ? reached : ended.outer_reached;
  }

  /// A further pointer that owns the object, at a place where its content would begin `depth` deep.
  [[nodiscard]] verdict refer(std::size_t number, std::size_t depth, std::size_t most, std::size_t& reached) {
    if (number >= objects_.size())
      return verdict::fine;
    const auto& object = objects_[number];
    const auto reach = object.is_open ? interval{narrowed(number), narrowed(number + 1)} : object.reach;
    const bool closes = leads_here(reach);
    if (!object.is_open) {
      const auto top = depth + object.height;
      if (top > most)
        return verdict::too_high;
      reached = top > reached ? top : reached;
    }
    if (!open_.empty())
      open_.back().reach.add(reach);
    return closes ? verdict::circle : verdict::fine;
  }

private:
  /// Numbers and heights lie in tables as large as the payload has objects: no limit lets it have 2^32 of them.
  static constexpr std::uint32_t narrowed(std::size_t value) {
    return static_cast<std::uint32_t>(value < UINT32_MAX ? value : UINT32_MAX);
  }
  /// Of objects' numbers, without `end`.
  struct interval {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    [[nodiscard]] bool empty() const { return begin == end; }
    void add(const interval& other) {
      if (other.empty())
        return;
      begin = empty() || other.begin < begin ? other.begin : begin;
      end = other.end > end ? other.end : end;
    }
    [[nodiscard]] interval below(std::size_t number) const {
      return begin < number ? interval{begin, end < number ? end : narrowed(number)} : interval{};
    }
  };
  struct object {
    std::uint32_t height = 0;
    interval reach; // Open objects outside that it owns, itself or through others.
    bool is_open = false;
  };
  struct open_object {
    std::size_t number;
    bool owned;
    std::size_t depth;
    std::size_t outer_reached;
    interval reach;
  };

  /// Whether an open object of the interval owns the place at which the payload is.
  [[nodiscard]] bool leads_here(const interval& of) const {
    if (of.empty())
      return false;
    for (auto at = open_.rbegin(); at != open_.rend() && at->number >= of.begin; ++at) {
      if (at->number < of.end)
        return true;
      if (!at->owned)
        return false;
    }
    return false;
  }

  // In blocks, so that growing takes no more than decoders charge for each.
  std::deque<object> objects_; // By number.
  std::deque<open_object> open_;
};

} // namespace troupe::detail

// Follows how shared objects hold each other. Finds objects that own themselves, and chains that are too deep to be
// destroyed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace troupe::detail {

/// Follows the shared objects of one payload while they are read or written: which are open, which of them own each
/// other, and the height of each.
///
/// The height of an object is the number of nested containers and pointers below it. Each shared object counts at each
/// pointer that leads to it. Destroying an object by its last pointer recurses as deep as its height, however flat the
/// payload was. For example, a list whose elements each point at the element before is as high as it is long.
///
/// A cycle is closed by a pointer that leads to an open object through owning pointers: nothing would ever free it. A
/// weak pointer owns nothing. An object first met behind a weak pointer may point at an outer object that is still
/// open. That is not a cycle yet, but a pointer from inside the outer object would close one. Therefore `reach`
/// remembers it. Reaches are kept as intervals of numbers. Interleaved intervals may be taken for a cycle that does not
/// exist, but no cycle is missed.
///
/// A program may break a cycle at any place. Then the rest is destroyed like any chain. Therefore all objects of cycles
/// that touch each other have one height: the longest way through them that meets no object twice. A bound of this
/// height is known once the outermost of these objects ends. Until then, `above` leads from each of them to an open
/// object.
class shared_nesting {
public:
  enum class verdict {
    fine,
    circle,  ///< The pointer closes a cycle.
    too_high ///< Destroying the object would recurse too deep.
  };

  /// Begins the content of an object, at `depth`. `reached` is the largest depth so far. `owned`: the pointer that
  /// leads here is not a weak_ptr. Requires: numbers ascend.
  void begin(std::size_t number, bool owned, std::size_t depth, std::size_t& reached) {
    if (objects_.size() <= number)
      objects_.resize(number + 1);
    objects_[number].is_open = true;
    std::size_t behind_weak = owned ? 0 : open_.size() + 1;
    if (!open_.empty()) {
      auto& outer = open_.back();
      outer.span = std::max(outer.span, depth - outer.depth);
      behind_weak = owned ? outer.behind_weak : behind_weak;
    }
    open_.push_back({.number = number,
                     .owned = owned,
                     .depth = depth,
                     .outer_reached = reached,
                     .reach = {},
                     .behind_weak = behind_weak,
                     .lowest = number});
    reached = depth;
  }

  /// Ends the content of the object that was begun last. False if destroying the object would recurse too deep.
  [[nodiscard]] bool end(std::size_t most, std::size_t& reached) {
    const auto ended = open_.back();
    open_.pop_back();
    auto& object = objects_[ended.number];
    object.is_open = false;
    object.reach = ended.reach.below(ended.number);
    const auto height = ended.height(reached);
    const bool is_final = ended.lowest == ended.number;
    object.height = narrowed(is_final      ? ended.circle_height(height)
                             : ended.owned ? height
                                           : ended.total + ended.span + height);
    object.is_loose = !ended.owned;
    if (!is_final)
      add_to_outer(ended, height);
    if (ended.owned && !open_.empty())
      open_.back().reach.add(object.reach);
    const auto top = ended.depth + object.height;
    reached = ended.owned && ended.outer_reached < top ? top : ended.outer_reached;
    return !is_final || top <= most;
  }

  /// Adds a further pointer that owns the object, at a place where the object's content would begin at `depth`.
  [[nodiscard]] verdict refer(std::size_t number, std::size_t depth, std::size_t most, std::size_t& reached) {
    if (number >= objects_.size())
      return verdict::fine;
    const auto way = way_up(number);
    const auto& object = objects_[number];
    const auto reach = object.is_open ? interval{narrowed(number), narrowed(number + 1)} : object.reach;
    const bool closes = leads_here(reach);
    if (objects_[way.end].is_open)
      add_way(number, depth, way);
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
  static constexpr std::uint32_t nothing = UINT32_MAX;

  /// Numbers and heights fit into 32 bits, because no limits allow a payload to have 2^32 objects.
  static constexpr std::uint32_t narrowed(std::size_t value) {
    return static_cast<std::uint32_t>(value < UINT32_MAX ? value : UINT32_MAX);
  }
  /// An interval of numbers of objects, without `end`.
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
  struct known_object {
    std::uint32_t height = 0;
    std::uint32_t above = nothing; // The object whose height, once known, determines this object's.
    interval reach;                // Open outer objects that this object owns, directly or through others.
    bool is_open = false;
    bool is_loose = false; // First met behind a weak pointer, so the height is added to that of `above`.
  };
  /// An object whose content is being read or written. It may be part of cycles, so it knows the lengths of the ways
  /// through the finished objects in it. A way goes down into objects that were read inside of another one, and up by a
  /// pointer to an open one.
  struct open_object {
    std::size_t number;
    bool owned;
    std::size_t depth;
    std::size_t outer_reached;
    interval reach;
    std::size_t behind_weak;   // The innermost open object behind a weak pointer, counted from 1; 0: none.
    std::size_t lowest;        // The outermost object to which a way leads up from here; the own number if none.
    std::size_t span = 0;      // The depth of the object's own pointers below it.
    std::size_t total = 0;     // The sum of the spans of all objects within the object.
    std::size_t inside = 0;    // The longest way within one of the object's parts, wherever the way starts.
    std::size_t up = 0;        // The longest way from one of the object's parts up to the object or beyond.
    std::size_t up_beyond = 0; // The longest such way that leads beyond the object.
    std::size_t through = 0;   // The longest way from the object down and then up beyond the object.
    std::size_t skip = 0;      // The depth of the object's pointers to finished objects within its parts.
    bool is_tangled = false;   // A pointer leads from part to part, so ways can go back and forth; `total` bounds them.

    [[nodiscard]] std::size_t height(std::size_t reached) const {
      return std::max(reached - depth, skip > 0 ? skip + inside : 0);
    }
    [[nodiscard]] std::size_t longest_through() const { return std::max(through, skip > 0 ? skip + up_beyond : 0); }
    [[nodiscard]] std::size_t circle_height(std::size_t height) const {
      const auto longest = total + span + height;
      return is_tangled ? longest : std::min(longest, std::max(inside, up + height));
    }
  };

  /// Called if an object has ended and a way leads up from it to an open one.
  void add_to_outer(const open_object& ended, std::size_t height) {
    auto& outer = open_.back();
    auto lowest = ended.lowest;
    if (outer.behind_weak > 0) {
      // The objects around a weak pointer do not own the object behind it. Therefore only that object accounts for its
      // way up.
      auto& loose = open_[outer.behind_weak - 1];
      loose.lowest = std::min(loose.lowest, ended.lowest);
      lowest = std::max(lowest, loose.number);
    }
    objects_[ended.number].above = narrowed(lowest);
    if (!ended.owned)
      return;
    const auto through = ended.longest_through();
    const auto up = std::max(ended.up_beyond, ended.up + through);
    outer.lowest = std::min(outer.lowest, ended.lowest);
    outer.total += ended.total + ended.span;
    outer.inside = std::max({outer.inside, ended.inside, ended.up + height});
    outer.up = std::max(outer.up, up);
    if (ended.lowest < outer.number) {
      outer.up_beyond = std::max(outer.up_beyond, up);
      outer.through = std::max(outer.through, ended.depth - outer.depth + through);
    }
    outer.is_tangled = outer.is_tangled || ended.is_tangled;
  }

  struct way_of_object {
    std::uint32_t end;     // An open object, or an object whose height is known.
    std::size_t loose = 0; // The heights of loose objects on the way.
  };
  /// Follows an object to the open one that determines its height. If that one has ended, the object's height is known
  /// from now on. Takes at most as many steps as objects were open at once, because each step leads to an object around
  /// the last one.
  way_of_object way_up(std::size_t number) {
    way_of_object way{narrowed(number)};
    while (!objects_[way.end].is_open && objects_[way.end].above != nothing) {
      const auto& at = objects_[way.end];
      way.loose += at.is_loose ? at.height : 0;
      way.end = at.above;
    }
    auto& object = objects_[number];
    if (!objects_[way.end].is_open && way.end != number) {
      object.height = narrowed(way.loose + objects_[way.end].height);
      object.above = nothing;
    }
    return way;
  }

  /// Called if the innermost object points at an open object, or at an object from which a way leads up to an open one.
  void add_way(std::size_t number, std::size_t depth, const way_of_object& way) {
    auto& from = open_.back();
    const auto pointer = depth - from.depth;
    from.span = std::max(from.span, pointer);
    from.lowest = std::min<std::size_t>(from.lowest, way.end);
    if (way.end == number) {
      if (number < from.number)
        from.through = std::max(from.through, pointer);
    } else if (way.loose == 0 && number > from.number) {
      from.skip = std::max(from.skip, pointer);
    } else {
      from.is_tangled = true;
      from.total += way.loose;
    }
  }

  /// Whether an open object of the interval owns the current place in the payload.
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

  // Deques grow in blocks, so that growing takes no more memory than decoders charge per object.
  std::deque<known_object> objects_; // By number.
  std::deque<open_object> open_;
};

} // namespace troupe::detail

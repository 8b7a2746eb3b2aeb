// Which child of a pool gets a message. Pure computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <troupe/framework/pool.hpp>

namespace troupe::internal {

/// Chooses one of the children that are available.
///
/// Rendezvous hashing (Thaler and Ravishankar, "A name-based mapping scheme for rendezvous", 1996): each pair of key
/// and child has a weight, and the available child with the highest weight gets the key. So if a child goes, only its
/// keys move, and if it returns, exactly these return.
class placement {
public:
  /// A child with `load_most` requests gets none; 0: there is no limit, as for spread::by_key.
  placement(spread how, std::size_t children, std::size_t load_most = 0)
      : how_(how), load_most_(how == spread::by_key ? 0 : load_most) {
    for (std::size_t i = 0; i < children; ++i)
      add();
  }

  /// For random choices.
  void seed(std::uint64_t with) noexcept { random_ = with; }

  /// One more child, which is not available yet. Returns its number.
  std::size_t add();
  /// What stands for the child when keys are spread: from now on this text, instead of its number. So several pools
  /// agree if their children have the same names.
  void set_name(std::size_t child, std::string_view name);

  void set_available(std::size_t child, bool is_available) { children_[child].is_available = is_available; }
  [[nodiscard]] bool is_available(std::size_t child) const { return children_[child].is_available; }
  [[nodiscard]] std::size_t available() const noexcept;

  /// `key` matters only for spread::by_key. Returns nullopt if none but `except` is available and has room.
  [[nodiscard]] std::optional<std::size_t> choose(std::uint64_t key, std::span<const std::size_t> except = {});

  /// The child has got a request; the child's request is settled.
  void add_load(std::size_t child) { ++children_[child].load; }
  void remove_load(std::size_t child) { --children_[child].load; }
  [[nodiscard]] std::size_t load(std::size_t child) const { return children_[child].load; }
  /// The requests that the child has from others, as far as is known. As long as something is known of a child,
  /// spread::least_loaded takes the better one of two children chosen at random.
  void set_load_of_others(std::size_t child, std::optional<std::size_t> load) {
    auto& known = children_[child].of_others;
    known_loads_ = known_loads_ - (known ? 1 : 0) + (load ? 1 : 0);
    known = load;
  }

private:
  struct candidate {
    bool is_available = false;
    std::size_t load = 0;
    std::optional<std::size_t> of_others = std::nullopt;
    std::uint64_t salt = 0;
  };

  [[nodiscard]] bool has_room(const candidate& one) const noexcept {
    return one.is_available && (load_most_ == 0 || one.load < load_most_);
  }
  /// Whether `one` is better than `other`, of the available children.
  [[nodiscard]] bool is_better(std::size_t one, std::size_t other, std::uint64_t key) const;

  [[nodiscard]] std::optional<std::size_t> better_of_two(std::span<const std::size_t> except);
  [[nodiscard]] std::uint64_t random();

  const spread how_;
  const std::size_t load_most_;
  std::vector<candidate> children_;
  std::size_t known_loads_ = 0; // Children whose load of others is known.
  std::uint64_t random_ = 0;
  std::size_t next_ = 0; // Where the next search begins, so that equal children take turns.
};

} // namespace troupe::internal

// The peer's questions for actors of this node by name.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

class name_book;

/// Answers the peer's questions for actors by name.
///
/// Threads: the I/O thread.
class name_answers {
public:
  /// `book` and `actors` must outlive this object.
  name_answers(const link_common& link, const name_book& book, actor_names& actors)
      : link_(link), book_(book), actors_(actors) {}

  /// From now on the peer's questions find no actors.
  void hide_all() noexcept { hides_all_ = true; }
  [[nodiscard]] bool hides_all() const noexcept { return hides_all_; }

  void on_find(const find_query& query);
  /// Tells the peer that the name was withdrawn or published anew, if the peer has found it.
  void tell_change(const std::string& name);

private:
  [[nodiscard]] std::string refusal() const;

  const link_common& link_;
  const name_book& book_;
  actor_names& actors_;
  bool hides_all_ = false;
  std::unordered_set<std::size_t> found_; // Hashes of the names that the peer has found.
};

} // namespace troupe::internal

// What peers have sent.
#pragma once

#include <optional>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Counts what peers have sent, until that is released.
class imports {
public:
  explicit imports(books& of) : entries_(of.entries), links_(of.links), actions_(of.actions) {}

  struct counted {
    reference what;
    bool is_new = false;
  };
  /// One more reference and one more receipt. Nothing when the name has another size, or is of what the peer has and
  /// has not.
  [[nodiscard]] std::optional<counted> count(link_record& from, const handle_descriptor& handle, entry_state if_new);
  /// What was counted is released while the link is up. The entry stays what it is.
  void release(reference what);
  /// It is nobody's import any more, and released.
  void forget(reference what);

private:
  entry_table& entries_;
  link_table& links_;
  action_list& actions_;
};

} // namespace troupe::internal::handles

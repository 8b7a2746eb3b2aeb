// Handles that peers have sent.
#pragma once

#include <optional>

#include <troupe/framework/internal/handles/books.hpp>

namespace troupe::internal::handles {

/// Counts the handles that peers have sent, until this node releases them.
class imports {
public:
  explicit imports(books& of) : entries_(of.entries), links_(of.links), actions_(of.actions) {}

  struct counted {
    reference what;
    bool is_new = false;
  };
  /// Counts one more reference and one more receipt. Returns nullopt if the size differs from the known one, or if the
  /// handle's mode is `behind` and the known one's is not, or vice versa.
  [[nodiscard]] std::optional<counted> count(link_record& from, const handle_descriptor& handle, entry_state if_new);
  /// Releases the counted receipts if the link is up. The entry's state does not change.
  void release(reference what);
  /// Releases the entry's receipts and removes it from its link's imports.
  void forget(reference what);

private:
  entry_table& entries_;
  link_table& links_;
  action_list& actions_;
};

} // namespace troupe::internal::handles

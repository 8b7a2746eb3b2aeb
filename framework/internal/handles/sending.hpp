// Sending handles.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/exports.hpp>
#include <troupe/framework/internal/handles/mark_book.hpp>
#include <troupe/framework/internal/handles/vouching.hpp>

namespace troupe::internal::handles {

/// Makes handles for peers and counts them, each under the name that the peer uses.
class sending final : public answer_exports {
public:
  sending(books& of, exports& sent, mark_book& marks)
      : options_(of.options),
        objects_(of.objects),
        actions_(of.actions),
        entries_(of.entries),
        links_(of.links),
        exports_(sent),
        marks_(marks) {}
  sending(const sending&) = delete;
  sending& operator=(const sending&) = delete;

  /// Counts one sending. Does not ask the store: an object in a store that the peer shares is sent as a handle that the
  /// peer has to fetch. Fails with `object_lost`.
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> export_in_message(link_record& to, reference what) {
    return export_one(to, what, goes::in_message);
  }
  /// Like export_in_message(), but hands over an object that lies in a shared store. Fails with `object_lost` or
  /// `busy`.
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> export_in_answer(link_record& to,
                                                                               reference what) override {
    return export_one(to, what, goes::in_answer);
  }

  /// The name under which peers know an entry that this node has `behind` another node. It is the entry's own number.
  [[nodiscard]] object_id proxy_name(reference what) const {
    return {options_.proxy_number, what.index, what.generation};
  }
  [[nodiscard]] bool is_proxy(const object_id& name) const { return name.store == options_.proxy_number; }

private:
  enum class goes : std::uint8_t { in_message, in_answer };
  [[nodiscard]] std::expected<handle_descriptor, handle_errc> export_one(link_record& to, reference what, goes how);
  /// Describes an object of this host's store. Returns false if the store could not be asked.
  [[nodiscard]] bool describe_here(const link_record& to, entry& which, handle_descriptor& handle);
  /// Describes an object that another node has, and vouches for the receiver there if that node's link is up.
  void describe_behind(const link_record& to, reference what, goes how, handle_descriptor& handle);
  [[nodiscard]] static bool is_at_home(const entry& which);

  const ledger_options& options_;
  local_objects& objects_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  exports& exports_;
  mark_book& marks_;
};

} // namespace troupe::internal::handles

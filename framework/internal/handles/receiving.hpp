// Receiving handles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <troupe/framework/internal/handles/adopting.hpp>
#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/imports.hpp>
#include <troupe/framework/internal/handles/mark_book.hpp>
#include <troupe/framework/internal/handles/shared_fetches.hpp>

namespace troupe::internal::handles {

/// Makes references from the handles that peers send.
class receiving {
public:
  receiving(books& of, imports& counted, shared_fetches& bytes, adopting& offers, const mark_book& marks,
            entry_changes& whole)
      : options_(of.options),
        objects_(of.objects),
        clock_(of.clock),
        actions_(of.actions),
        entries_(of.entries),
        links_(of.links),
        imports_(counted),
        fetches_(bytes),
        adopting_(offers),
        marks_(marks),
        whole_(whole) {}
  receiving(const receiving&) = delete;
  receiving& operator=(const receiving&) = delete;

  enum class came : std::uint8_t { in_message, in_answer };
  /// One reference. Returns nullopt if the peer was not allowed to send that handle.
  [[nodiscard]] std::optional<reference> import_one(link_record& from, const handle_descriptor& handle, came how);
  /// One reference to each, or nullopt if any is not allowed.
  [[nodiscard]] std::optional<std::vector<reference>> import_all(link_record& from,
                                                                 std::span<const handle_descriptor> handles, came how);
  /// Adopts and drops objects that came while the store was busy and to which nothing refers any more.
  void claim(link_record& from);

private:
  [[nodiscard]] bool come_round(reference what, std::uint64_t mark);
  [[nodiscard]] std::optional<reference> find_at_home(const link_record& from, const handle_descriptor& handle);
  [[nodiscard]] std::optional<reference> import_shared(link_record& from, const handle_descriptor& handle);
  [[nodiscard]] std::optional<reference> import_unclaimed(link_record& from, const handle_descriptor& handle);
  void give_back_one(const link_record& from, const object_id& name);
  [[nodiscard]] time_point end_of_pause() const { return clock_.now() + options_.busy_pause; }

  const ledger_options& options_;
  local_objects& objects_;
  const event_clock& clock_;
  action_list& actions_;
  entry_table& entries_;
  const link_table& links_;
  imports& imports_;
  shared_fetches& fetches_;
  adopting& adopting_;
  const mark_book& marks_;
  entry_changes& whole_;
};

} // namespace troupe::internal::handles

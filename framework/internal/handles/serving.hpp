// Serving bytes to peers that pull them.
#pragma once

#include <cstdint>
#include <string_view>

#include <troupe/framework/internal/handles/books.hpp>
#include <troupe/framework/internal/handles/shared_fetches.hpp>
#include <troupe/framework/internal/handles/vouching.hpp>

namespace troupe::internal::handles {

/// Answers the pulls of peers, with bytes that may have to be fetched first.
class serving final : public pull_server {
public:
  serving(books& of, shared_fetches& bytes, answer_exports& out);
  serving(const serving&) = delete;
  serving& operator=(const serving&) = delete;

  void on_pull(link_record& from, const pull& what, bool is_behind);
  /// Ends a pull that is no longer wanted. Does nothing if it has been answered.
  void end(link_record& to, request_number request);
  /// Ends all pulls of a name that is no longer exported.
  void end_all_of(link_record& to, const object_id& name);
  void end_all(link_record& to);
  /// Takes the next chunk; before the first chunk, wants the head sent. For an empty object the chunk is empty.
  /// Requires: a pull is ready.
  [[nodiscard]] served_chunk next_chunk(link_record& to);

  void serve(const peer_waiter& who, reference what) override;
  void refuse(const peer_waiter& who, const fetch_error& why) override;

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  void say_head(link_record& to, request_number request, served_pull& what);

  const ledger_options& options_;
  local_objects& objects_;
  action_list& actions_;
  entry_table& entries_;
  link_table& links_;
  shared_fetches& fetches_;
  answer_exports& out_;
};

} // namespace troupe::internal::handles

// The actor that turns a folder's files into blocks of text in the store.
#pragma once

#include "block_reader.hpp"

#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node.hpp>

#include <caf/event_based_actor.hpp>

#include <optional>

namespace wordcount {

/// Asks the reader for its next block. Stays within the process.
struct next_block {};

/// The reader's answer.
struct block_read {
  std::optional<troupe::object_ref<troupe::array<char>>> text; // Empty once everything was read.
  read_totals totals;
  read_problems problems;
};

/// Reads one block per request, so that it never gets ahead of the workers. Answers `node_errc::store_full` if the
/// store has no room at the moment. Nothing is lost then, and the request can be repeated.
///
/// Spawn it detached, because it blocks on files.
class text_reader : public caf::event_based_actor {
public:
  text_reader(caf::actor_config& config, troupe::node& node, block_reader files)
      : caf::event_based_actor(config), node_(node), files_(std::move(files)) {}

  caf::behavior make_behavior() override;

private:
  caf::result<block_read> read_block();

  troupe::node& node_;
  block_reader files_;
};

} // namespace wordcount

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::next_block)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::block_read)

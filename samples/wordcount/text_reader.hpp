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
  std::optional<troupe::object_ref<troupe::array<char>>> text; // Nothing when all was read.
  read_totals totals;
  read_problems problems;
};

/// Reads one block each time it is asked, so that it never runs ahead of those who count. Answers
/// `node_errc::store_full` when the store has no room just now; then nothing is lost and it may be asked again.
///
/// Spawn it detached: it waits for files.
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

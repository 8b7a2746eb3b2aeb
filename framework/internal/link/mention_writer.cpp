#include <troupe/framework/internal/link/mention_writer.hpp>

#include <cstddef>
#include <memory>

#include <troupe/framework/internal/link/link_in_exchange.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

namespace {

// A packet of descriptions is sent when its body exceeds this size; one more description always fits.
constexpr std::size_t mentions_bytes_max = packet_body_bytes_max - object_mention_bytes_max;

object_mention uncounted(const outgoing_mention& which) {
  object_mention result{.what = which.is_lost ? object_mention::kind::lost : object_mention::kind::stored,
                        .handle = {}};
  result.handle.name = which.stored;
  result.handle.size_bytes = which.size_bytes;
  return result;
}

} // namespace

void mention_writer::append_mentions(const link_held& held, std::span<const outgoing_mention> mentions, outbox& out) {
  std::vector<std::shared_ptr<exchanged_object>> objects;
  for (const auto& each : mentions)
    if (each.counted)
      objects.push_back(each.counted);
  std::vector<object_mention> counted;
  if (!objects.empty())
    counted = counted_.count_out(held, objects, out);
  auto next = counted.begin();
  byte_vector body;
  for (const auto& each : mentions) {
    auto described = each.counted ? *next++ : uncounted(each);
    described.is_repeated = each.is_repeated;
    append_object_mention(body, described);
    if (body.size() > mentions_bytes_max) {
      out.append_packet(packet_kind::handles, 0, body);
      body.clear();
    }
  }
  if (!body.empty())
    out.append_packet(packet_kind::handles, 0, body);
}

} // namespace troupe::internal

#include "story.hpp"

namespace troupe::simulation {

namespace {

using namespace handles;

[[nodiscard]] std::string number(std::uint64_t what) {
  return std::to_string(what);
}

/// Formats row 0, generation 1 of store 5 as "5:0.1". Proxies, which have large store numbers, get the suffix "p".
[[nodiscard]] std::string text(const object_id& what) {
  return number(what.store & 0xffff'ffff) + ":" + number(what.index) + "." + number(what.generation)
         + (what.store >> 32 != 0 ? "p" : "");
}

[[nodiscard]] std::string text(const node_name& what) {
  return "node " + number(what.node - 1) + " (" + number(what.incarnation) + ")";
}

[[nodiscard]] std::string text(const handle_descriptor& what) {
  constexpr const char* modes[] = {"?", "mine", "shared", "behind", "yours"};
  auto mode = static_cast<std::size_t>(what.mode);
  auto result = text(what.name) + " " + modes[mode < 5 ? mode : 0];
  if (what.offer)
    result += " (adopt " + text(what.offer->name) + " from " + text(what.offer->exporter) + ")";
  if (what.mark != 0)
    result += " (mark " + number(what.mark) + " after " + number(what.hops) + ")";
  return result;
}

[[nodiscard]] std::string text(const std::vector<handle_descriptor>& what) {
  std::string result = "[";
  for (const auto& each : what)
    result += (result.size() > 1 ? ", " : "") + text(each);
  return result + "]";
}

struct teller {
  std::string operator()(const release& what) const { return "release " + text(what.name) + " x" + number(what.count); }
  std::string operator()(const vouch& what) const {
    return "vouch " + text(what.name) + " for " + text(what.beneficiary);
  }
  std::string operator()(const adopt& what) const { return "adopt #" + number(what.request) + " " + text(what.name); }
  std::string operator()(const reclaim& what) const {
    return "reclaim #" + number(what.request) + " " + text(what.name) + " of link " + number(what.previous);
  }
  std::string operator()(const pull& what) const { return "pull #" + number(what.request) + " " + text(what.name); }
  std::string operator()(const cancel& what) const { return "cancel #" + number(what.request); }
  std::string operator()(const adopted& what) const {
    return "adopted #" + number(what.request) + " " + text(what.handle);
  }
  std::string operator()(const reclaimed& what) const { return "reclaimed #" + number(what.request); }
  std::string operator()(const pull_head& what) const {
    return "pull_head #" + number(what.request) + " " + number(what.size_bytes) + " bytes " + text(what.captured);
  }
  std::string operator()(const pull_here& what) const {
    return "pull_here #" + number(what.request) + " " + text(what.handle);
  }
  std::string operator()(const refused& what) const {
    return "refused #" + number(what.request) + " " + std::string(to_string(what.reason));
  }
  std::string operator()(const lost& what) const { return "lost " + text(what.name); }
};

} // namespace

std::string text_of(const handles::message& what) {
  return std::visit(teller{}, what);
}

std::string text_of(const parcel& what) {
  std::string stored;
  for (const auto& each : what.stored)
    stored += ", handed over " + text(each);
  return "a message with " + text(what.handles) + stored + (what.kept ? "" : " for nobody");
}

std::string text_of(const packet& what) {
  if (const auto* carried = std::get_if<parcel>(&what.what))
    return text_of(*carried);
  if (const auto* released = std::get_if<shared_release>(&what.what))
    return "release of what was handed over " + text(released->what) + " x" + number(released->count);
  if (const auto* chunk = std::get_if<pull_chunk>(&what.what))
    return "pull_chunk #" + number(chunk->request) + " at " + number(chunk->offset);
  return text_of(std::get<handles::message>(what.what));
}

} // namespace troupe::simulation

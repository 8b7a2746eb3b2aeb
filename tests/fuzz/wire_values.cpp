#include "wire_values.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <caf/all.hpp>

#include <troupe/framework/actor_codecs.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/framework/spawn_request.hpp>

#include "decoding.hpp"
#include "forged.hpp"

namespace fuzz {

using namespace troupe;

namespace {

using numbers_ref = object_ref<array<double>>;
using texts_ref = object_ref<std::vector<std::string>>;

struct wire_registry {
  wire_registry() {
    internal::add_builtin_types(types);
    types.add<numbers_ref>("numbers_ref");
    types.add<texts_ref>("texts_ref");
  }
  type_registry types;
};

const type_registry& wire_types() {
  static const wire_registry all;
  return all.types;
}

constexpr std::array<std::string_view, 3> families_of_inputs{"typed", "msgpack", "json"};

/// Stands for a link with an element that mentions three actors, none of which exists any more.
class no_link final : public internal::codec_mentions {
public:
  std::expected<std::uint32_t, serialize_error> mention(const internal::actor_handle& actor) override {
    expect(!actor, "an actor has come from nowhere");
    return 0;
  }
  std::expected<internal::actor_handle, serialize_error> mentioned(std::uint32_t place) override {
    constexpr std::uint32_t mentions = 3;
    if (place <= mentions)
      return internal::actor_handle{};
    return std::unexpected{serialize_error{serialize_errc::malformed, "not mentioned"}};
  }
  std::expected<std::uint32_t, serialize_error> mention(const internal::object_state&) override { return 0; }
  std::expected<internal::object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override {
    constexpr std::uint32_t mentions = 3;
    if (place <= mentions)
      return std::make_shared<internal::local_object>(frame{});
    return std::unexpected{serialize_error{serialize_errc::malformed, "not mentioned"}};
  }
  std::shared_ptr<const internal::object_environment> objects() const override {
    static const auto environment = std::make_shared<const internal::object_environment>(
        internal::object_environment{wire_types(), families(), {"typed", "msgpack", "json"}, bounds()});
    return environment;
  }
};

std::string sent_as_typed(const any_value& value, no_link& link) {
  context ctx;
  ctx.extension = &link;
  const auto sent = serialize_entry(*value.entry(), value.data(),
                                    {.serializers = {"typed"}, .on_error = on_error::raise, .context = ctx},
                                    wire_types(), families());
  expect(sent.has_value(), "what was decoded cannot be encoded", sent ? "" : sent.error().message());
  return bytes_of(*sent);
}

void expect_returns(const any_value& value, std::string_view family, no_link& link) {
  context ctx;
  ctx.extension = &link;
  const auto sent = serialize_entry(*value.entry(), value.data(),
                                    {.serializers = {std::string{family}}, .on_error = on_error::raise, .context = ctx},
                                    wire_types(), families());
  expect(sent.has_value(), "what was decoded cannot be encoded", sent ? "" : sent.error().message());
  const auto back =
      deserialize_any(*sent, {.deserializers = families().names(), .context = ctx}, wire_types(), families());
  expect(back.has_value(), "what was encoded cannot be decoded", back ? "" : back.error().message());
  expect(sent_as_typed(*back, link) == sent_as_typed(value, link), "another value comes back by", family);
}

/// Reads all that an object gives out.
void read_object(any_value& value) {
  if (auto* numbers = value.get<numbers_ref>()) {
    if (const auto read = numbers->get()) {
      std::size_t all = 0;
      for (const auto each : read->contiguous().span())
        all += each > 0 ? 1 : 0;
      expect(all <= numbers->size_bytes() / sizeof(double), "an array is larger than its object");
    }
  } else if (auto* texts = value.get<texts_ref>()) {
    static_cast<void>(texts->get());
  }
}

frame header_of(const type_entry& entry, std::string_view family) {
  if (family == "typed")
    return standard_header(*families().find(family), entry);
  return make_header({.family = family, .type = entry.alias(), .schema = {}, .extra = {}});
}

} // namespace

const std::vector<std::string>& wire_value_types() {
  static const std::vector<std::string> all{"caf.actor",     "caf.actor_addr", "caf.actor_ptr", "caf.atom",
                                            "caf.error",     "caf.exit",       "caf.unit",      "caf.timespan",
                                            "caf.timestamp", "caf.actors",     "map<str,str>",  "caf.str_set",
                                            "troupe.spawn",  "troupe.task",    "numbers_ref",   "texts_ref"};
  return all;
}

namespace {

/// The types of questions and orders. Inputs select them above the range of the types above, in one frame only.
constexpr std::array<std::string_view, 8> query_types{
    "troupe.memory_query",   "troupe.report_query", "troupe.activity_query", "troupe.node_order",
    "troupe.memory_summary", "troupe.node_report",  "troupe.node_activity",  "troupe.order_receipt"};
constexpr std::size_t first_query = 16 * 2 * families_of_inputs.size();

/// What the first byte of an input selects.
struct chosen_type {
  std::string_view family;
  std::string_view type;
  bool has_frame = false;
};

chosen_type wire_type_of_input(std::size_t chosen) {
  if (chosen >= first_query) {
    const auto query = chosen - first_query;
    return {families_of_inputs[query / query_types.size() % families_of_inputs.size()],
            query_types[query % query_types.size()]};
  }
  return {families_of_inputs[chosen / 16 % families_of_inputs.size()], wire_value_types()[chosen % 16],
          chosen / 16 >= families_of_inputs.size()};
}

} // namespace

void wire_value(std::span<const std::byte> input) {
  if (input.empty())
    return;
  const auto chosen = std::to_integer<std::size_t>(input[0]);
  const auto [family, type, has_frame] = wire_type_of_input(chosen);
  const auto& entry = *wire_types().find(type);
  // A link splits the rest into frames; here the second half of a marked input is the one frame behind the body.
  auto body = input.subspan(1);
  const auto behind = body.subspan(has_frame ? body.size() / 2 : body.size());
  body = body.first(body.size() - behind.size());
  const auto whole =
      family == "typed" ? typed_body(entry.fingerprint(), body) : std::vector<std::byte>(body.begin(), body.end());
  payload received{header_of(entry, family), {frame::copy_of(whole)}};
  if (has_frame)
    received.frames.push_back(frame::copy_of(behind));
  no_link link;
  deserialize_options options{.deserializers = families().names()};
  options.context.limits = bounds();
  options.context.extension = &link;
  const auto allowed = bounds().memory_free_bytes + bounds().memory_ratio * received.size_bytes() + 64_KiB;
  allocations during;
  auto value = deserialize_any(received, options, wire_types(), families());
  expect(during.stop() <= allowed, "a value takes more than its limits");
  if (!value)
    return;
  for (const auto each : families_of_inputs)
    expect_returns(*value, each, link);
  read_object(*value);
}

namespace {

template <class T>
void add_seeds(std::vector<std::pair<std::string, std::vector<std::byte>>>& all, const T& value,
               const std::string& name) {
  no_link link;
  context ctx;
  ctx.extension = &link;
  const auto& entry = *wire_types().find<T>();
  const auto type =
      static_cast<std::size_t>(std::ranges::find(wire_value_types(), entry.alias()) - wire_value_types().begin());
  const auto query = static_cast<std::size_t>(std::ranges::find(query_types, entry.alias()) - query_types.begin());
  for (std::size_t i = 0; i < families_of_inputs.size(); ++i) {
    const auto chosen = query < query_types.size() ? first_query + query_types.size() * i + query : 16 * i + type;
    const std::string family{families_of_inputs[i]};
    const auto sent =
        serialize_entry(entry, &value, {.serializers = {family}, .on_error = on_error::raise, .context = ctx},
                        wire_types(), families());
    expect(sent.has_value(), "no seed", sent ? "" : sent.error().message());
    std::vector<std::byte> input{static_cast<std::byte>(chosen)};
    const auto body = sent->frames[0].bytes().subspan(family == "typed" ? typed_prefix_bytes : 0);
    input.insert(input.end(), body.begin(), body.end());
    all.emplace_back(name + "." + family, std::move(input));
  }
}

internal::object_state_ptr object_of(internal::object_layout layout, std::string_view bytes) {
  return std::make_shared<internal::object_state>(internal::object_state{
      std::move(layout), std::make_shared<internal::local_object>(frame::copy_of(std::as_bytes(std::span{bytes}))),
      no_link{}.objects()});
}

} // namespace

std::vector<std::pair<std::string, std::vector<std::byte>>> wire_value_seeds() {
  std::vector<std::pair<std::string, std::vector<std::byte>>> all;
  add_seeds(all, caf::actor{}, "actor");
  add_seeds(all, std::vector<caf::actor>(2), "actors");
  add_seeds(all, caf::atom_value{caf::atom("stop")}, "atom");
  add_seeds(all, caf::make_error(caf::sec::unexpected_message), "error");
  add_seeds(all, caf::error{7, caf::atom("troupe"), caf::make_message("why", "and what else")}, "error_with_texts");
  add_seeds(all, caf::exit_msg{caf::actor_addr{}, caf::make_error(caf::exit_reason::kill)}, "exit");
  add_seeds(all, caf::timespan{-5}, "timespan");
  add_seeds(all, std::map<std::string, std::string>{{"k", "v"}}, "str_map");
  add_seeds(all, internal::spawn_call{.name = "counter", .interface = {"i32"}}, "spawn");
  add_seeds(all, internal::task_call{.name = "mean"}, "task");
  add_seeds(all, activity_query{.letters_after = 7}, "activity_query");
  add_seeds(
      all,
      node_order{.what = order_kind::reconfigure_link, .number = 3, .serializers = {"msgpack"}, .compression = "lz4"},
      "order");
  node_activity told{.name = "far"};
  told.actors.push_back({.name = "cup", .actor = 3, .links = {1, 2}});
  told.supervisors.push_back({.actor = 4, .children = {child_activity{.name = "leaf"}}});
  told.letters.push_back({.number = 1, .types = {"i32"}});
  told.spans.push_back({.number = 1});
  told.lost_links.push_back({.number = 9});
  add_seeds(all, told, "activity");
  add_seeds(all, numbers_ref{}, "empty_object");
  add_seeds(all,
            internal::ref_to<array<double>>(object_of({.element = "f64", .shape = {2}, .header = {}, .frames = {}},
                                                      std::string_view{"0123456789abcdef"})),
            "numbers_object");
  const auto texts =
      serialize(std::vector<std::string>{"a", "bc"}, {.serializers = {"typed"}}, wire_types(), families());
  const auto header = texts->header.bytes();
  add_seeds(all,
            internal::ref_to<std::vector<std::string>>(
                object_of({.element = {},
                           .shape = {},
                           .header = {header.begin(), header.end()},
                           .frames = {{0, texts->frames[0].size_bytes()}}},
                          std::string_view{reinterpret_cast<const char*>(texts->frames[0].bytes().data()),
                                           texts->frames[0].size_bytes()})),
            "texts_object");
  return all;
}

} // namespace fuzz

#include <troupe/framework/internal/wire/handle_wire.hpp>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

namespace wire {

struct name {
  std::uint64_t store = 0;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};
TROUPE_DESCRIBE(name, store, index, generation)

struct offer {
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;
  wire::name name;
  std::uint64_t token = 0;
};
TROUPE_DESCRIBE(offer, node, incarnation, name, token)

struct home {
  wire::name name;
  std::uint64_t proof = 0;
};
TROUPE_DESCRIBE(home, name, proof)

struct handle {
  std::uint8_t mode = 0;
  wire::name name;
  std::uint64_t size = 0;
  std::optional<wire::offer> offer;
  std::optional<wire::home> home;
};
TROUPE_DESCRIBE(handle, mode, name, size, offer, home)

struct release {
  wire::name name;
  std::uint64_t count = 0;
};
TROUPE_DESCRIBE(release, name, count)

struct vouch {
  wire::name name;
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t token = 0;
};
TROUPE_DESCRIBE(vouch, name, node, incarnation, token)

struct adopt {
  std::uint64_t request = 0;
  wire::name name;
  std::uint64_t token = 0;
};
TROUPE_DESCRIBE(adopt, request, name, token)

/// The body of adopted and pull_here.
struct answer_handle {
  std::uint64_t request = 0;
  wire::handle handle;
};
TROUPE_DESCRIBE(answer_handle, request, handle)

struct reclaim {
  std::uint64_t request = 0;
  wire::name name;
  std::uint64_t previous = 0;
};
TROUPE_DESCRIBE(reclaim, request, name, previous)

/// The body of reclaimed and pull.
struct about_name {
  std::uint64_t request = 0;
  wire::name name;
};
TROUPE_DESCRIBE(about_name, request, name)

struct cancel {
  std::uint64_t request = 0;
};
TROUPE_DESCRIBE(cancel, request)

struct pull_head {
  std::uint64_t request = 0;
  std::uint64_t size = 0;
  std::vector<wire::handle> captured;
};
TROUPE_DESCRIBE(pull_head, request, size, captured)

struct refused {
  std::uint64_t request = 0;
  std::uint8_t reason = 0;
  bool disk = false; // With `full`: the disk is full.
};
TROUPE_DESCRIBE(refused, request, reason, disk)

struct lost {
  wire::name name;
};
TROUPE_DESCRIBE(lost, name)

} // namespace wire

namespace {

wire::name form_of(const handles::object_id& name) {
  return {name.store, name.index, name.generation};
}

handles::object_id name_of(const wire::name& form) {
  return {form.store, form.index, form.generation};
}

wire::handle form_of(const handles::handle_descriptor& handle) {
  wire::handle form{.mode = static_cast<std::uint8_t>(handle.mode),
                    .name = form_of(handle.name),
                    .size = handle.size_bytes,
                    .offer = {},
                    .home = {}};
  if (handle.offer)
    form.offer = wire::offer{handle.offer->exporter.node, handle.offer->exporter.incarnation,
                             form_of(handle.offer->name), handle.offer->token};
  if (handle.home)
    form.home = wire::home{form_of(handle.home->name), handle.home->proof};
  return form;
}

/// Checks the form only; the ledger checks whether the handle fits its message.
std::optional<handles::handle_descriptor> handle_of(const wire::handle& form) {
  constexpr auto last = static_cast<std::uint8_t>(handles::handle_mode::yours);
  if (form.mode == 0 || form.mode > last)
    return std::nullopt;
  handles::handle_descriptor handle{.name = name_of(form.name),
                                    .mode = static_cast<handles::handle_mode>(form.mode),
                                    .size_bytes = form.size,
                                    .offer = {}};
  if (form.offer)
    handle.offer = handles::adoption_offer{
        {form.offer->node, form.offer->incarnation}, name_of(form.offer->name), form.offer->token};
  if (form.home)
    handle.home = handles::home_name{name_of(form.home->name), form.home->proof};
  return handle;
}

template <class Form>
handle_packet packet(admin_op op, const Form& form) {
  return {op, msgpack::encode_described(form)};
}

struct encoder {
  handle_packet operator()(const handles::release& what) const {
    return packet(admin_op::release_handle, wire::release{form_of(what.name), what.count});
  }
  handle_packet operator()(const handles::vouch& what) const {
    return packet(admin_op::vouch,
                  wire::vouch{form_of(what.name), what.beneficiary.node, what.beneficiary.incarnation, what.token});
  }
  handle_packet operator()(const handles::adopt& what) const {
    return packet(admin_op::adopt, wire::adopt{what.request, form_of(what.name), what.token});
  }
  handle_packet operator()(const handles::adopted& what) const {
    return packet(admin_op::adopted, wire::answer_handle{what.request, form_of(what.handle)});
  }
  handle_packet operator()(const handles::reclaim& what) const {
    return packet(admin_op::reclaim, wire::reclaim{what.request, form_of(what.name), what.previous});
  }
  handle_packet operator()(const handles::reclaimed& what) const {
    return packet(admin_op::reclaimed, wire::about_name{what.request, form_of(what.name)});
  }
  handle_packet operator()(const handles::pull& what) const {
    return packet(admin_op::pull, wire::about_name{what.request, form_of(what.name)});
  }
  handle_packet operator()(const handles::cancel& what) const {
    return packet(admin_op::cancel_question, wire::cancel{what.request});
  }
  handle_packet operator()(const handles::pull_head& what) const {
    wire::pull_head form{.request = what.request, .size = what.size_bytes, .captured = {}};
    for (const auto& each : what.captured)
      form.captured.push_back(form_of(each));
    return packet(admin_op::pull_head, form);
  }
  handle_packet operator()(const handles::pull_here& what) const {
    return packet(admin_op::pull_here, wire::answer_handle{what.request, form_of(what.handle)});
  }
  handle_packet operator()(const handles::refused& what) const {
    return packet(admin_op::question_refused,
                  wire::refused{what.request, static_cast<std::uint8_t>(what.reason), what.is_disk_full});
  }
  handle_packet operator()(const handles::lost& what) const {
    return packet(admin_op::handle_lost, wire::lost{form_of(what.name)});
  }
};

std::unexpected<node_error> unreadable(admin_op op, const std::string& why) {
  return std::unexpected{
      node_error{node_errc::protocol_violation,
                 "admin message " + std::to_string(static_cast<int>(op)) + " cannot be read: " + why}};
}

using message_or_error = std::expected<handles::message, node_error>;

template <class Form, class Make>
message_or_error read(admin_op op, bytes_view body, const limits& bounds, Make make) {
  auto form = msgpack::decode_described<Form>(body, bounds);
  if (!form)
    return unreadable(op, form.error().message());
  return make(*form);
}

template <class Answer>
message_or_error with_handle(admin_op op, const wire::answer_handle& form) {
  auto handle = handle_of(form.handle);
  if (!handle)
    return unreadable(op, "it has a handle of an unknown mode");
  return Answer{form.request, *std::move(handle)};
}

message_or_error head_of(admin_op op, const wire::pull_head& form) {
  handles::pull_head head{.request = form.request, .size_bytes = form.size, .captured = {}};
  for (const auto& each : form.captured) {
    auto handle = handle_of(each);
    if (!handle)
      return unreadable(op, "it has a handle of an unknown mode");
    head.captured.push_back(*std::move(handle));
  }
  return head;
}

} // namespace

handle_packet encode_handle_message(const handles::message& what) {
  return std::visit(encoder{}, what);
}

message_or_error decode_handle_message(admin_op op, bytes_view body, const limits& bounds) {
  using namespace handles;
  switch (op) {
  case admin_op::release_handle:
    return read<wire::release>(op, body, bounds, [](const auto& form) -> message_or_error {
      return release{name_of(form.name), form.count};
    });
  case admin_op::vouch:
    return read<wire::vouch>(op, body, bounds, [](const auto& form) -> message_or_error {
      return vouch{name_of(form.name), {form.node, form.incarnation}, form.token};
    });
  case admin_op::adopt:
    return read<wire::adopt>(op, body, bounds, [](const auto& form) -> message_or_error {
      return adopt{form.request, name_of(form.name), form.token};
    });
  case admin_op::adopted:
    return read<wire::answer_handle>(op, body, bounds,
                                     [op](const auto& form) { return with_handle<adopted>(op, form); });
  case admin_op::reclaim:
    return read<wire::reclaim>(op, body, bounds, [](const auto& form) -> message_or_error {
      return reclaim{form.request, name_of(form.name), form.previous};
    });
  case admin_op::reclaimed:
    return read<wire::about_name>(op, body, bounds, [](const auto& form) -> message_or_error {
      return reclaimed{form.request, name_of(form.name)};
    });
  case admin_op::pull:
    return read<wire::about_name>(op, body, bounds, [](const auto& form) -> message_or_error {
      return pull{form.request, name_of(form.name)};
    });
  case admin_op::cancel_question:
    return read<wire::cancel>(op, body, bounds,
                              [](const auto& form) -> message_or_error { return cancel{form.request}; });
  case admin_op::pull_head:
    return read<wire::pull_head>(op, body, bounds, [op](const auto& form) { return head_of(op, form); });
  case admin_op::pull_here:
    return read<wire::answer_handle>(op, body, bounds,
                                     [op](const auto& form) { return with_handle<pull_here>(op, form); });
  case admin_op::question_refused:
    return read<wire::refused>(op, body, bounds, [](const auto& form) -> message_or_error {
      return refused{form.request, static_cast<handle_errc>(form.reason), form.disk};
    });
  case admin_op::handle_lost:
    return read<wire::lost>(op, body, bounds,
                            [](const auto& form) -> message_or_error { return lost{name_of(form.name)}; });
  default:
    return unreadable(op, "it is not about handles");
  }
}

} // namespace troupe::internal

#include "protocol_1.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <stdexcept>

namespace troupe::tests::compat {

using rule = enum field::rule;
using sort = enum field::sort;

// -- reading fields

namespace {

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(why);
}

bytes as_bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span{text});
  return {all.begin(), all.end()};
}

std::string text_of(const bytes& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

constexpr std::size_t fixed_bytes = 8, hex_digits = 16;
constexpr std::string_view hex_alphabet = "0123456789abcdef";

} // namespace

/// Reads the fields of one body in order.
class field_reader {
public:
  field_reader(const bytes& body, std::vector<field>& to) : body_(body), to_(to) {}

  [[nodiscard]] bool is_finished() const { return at_ == body_.size(); }

  field& varint(const std::string& path) {
    const auto begin = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto each = take(1)[0];
      if (shift > 63)
        fail(path + ": a number of more than ten bytes");
      value |= (std::to_integer<std::uint64_t>(each) & 0x7f) << shift;
      if (std::to_integer<unsigned>(each) < 0x80) {
        if (each == std::byte{0} && shift > 0)
          fail(path + ": a number that is not in its shortest form");
        break;
      }
    }
    return add({.path = path, .number = value, .raw = since(begin), .form = field::form::varint});
  }

  field& binary(const std::string& path, std::uint64_t size) {
    auto value = take(size);
    return add({.path = path, .what = sort::binary, .value = value, .raw = value});
  }

  field& text(const std::string& path, std::uint64_t size) {
    auto& result = binary(path, size);
    result.what = sort::text;
    return result;
  }

  /// A number of 8 bytes, little-endian.
  field& fixed(const std::string& path) {
    auto raw = take(fixed_bytes);
    std::uint64_t value = 0;
    for (auto i = raw.size(); i > 0; --i)
      value = value << 8 | std::to_integer<std::uint64_t>(raw[i - 1]);
    return add({.path = path, .number = value, .raw = std::move(raw), .form = field::form::fixed});
  }

  /// A number of 16 hexadecimal digits in lower case.
  field& hex(const std::string& path) {
    auto raw = take(hex_digits);
    std::uint64_t value = 0;
    for (const auto each : text_of(raw)) {
      const auto digit = hex_alphabet.find(each);
      if (digit == std::string_view::npos)
        fail(path + ": not in hexadecimal digits");
      value = value << 4 | digit;
    }
    return add({.path = path, .number = value, .raw = std::move(raw), .form = field::form::hex});
  }

  /// Reads without a field.
  bytes take(std::uint64_t size) {
    if (size > body_.size() - at_)
      fail("a packet ends too early");
    const auto begin = body_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += static_cast<std::size_t>(size);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  }

  /// Reads one value of msgpack with all its parts.
  void msgpack(const std::string& path) {
    const auto begin = at_;
    const auto first = std::to_integer<unsigned>(take(1)[0]);
    const auto number = [&](std::uint64_t value) {
      add({.path = path, .number = value, .raw = since(begin), .form = field::form::msgpack});
    };
    const auto blob = [&](sort what, std::uint64_t size) {
      auto value = take(size);
      add({.path = path, .what = what, .value = std::move(value), .raw = since(begin), .form = field::form::msgpack});
    };
    if (first < 0x80)
      return number(first);
    if (first >= 0xe0)
      return number(static_cast<std::uint64_t>(static_cast<std::int64_t>(first) - 256));
    if (first >= 0xa0 && first < 0xc0)
      return blob(sort::text, first & 31);
    if (first < 0x90)
      return map(path, begin, first & 15);
    if (first < 0xa0)
      return list(path, begin, first & 15);
    switch (first) {
    case 0xc0:
      add({.path = path, .what = sort::nothing, .raw = since(begin)});
      return;
    case 0xc2:
    case 0xc3:
      add({.path = path, .what = sort::boolean, .number = first & 1, .raw = since(begin)});
      return;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return blob(sort::binary, big_endian(std::size_t{1} << (first - 0xc4)));
    case 0xca:
    case 0xcb:
      return blob(sort::real, first == 0xca ? 4 : 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return number(big_endian(std::size_t{1} << (first - 0xcc)));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return blob(sort::text, big_endian(std::size_t{1} << (first - 0xd9)));
    case 0xdc:
    case 0xdd:
      return list(path, begin, big_endian(first == 0xdc ? 2 : 4));
    case 0xde:
    case 0xdf:
      return map(path, begin, big_endian(first == 0xde ? 2 : 4));
    default:
      fail(path + ": a value of msgpack that no admin message has");
    }
  }

private:
  field& add(field&& what) { return to_.emplace_back(std::move(what)); }

  [[nodiscard]] bytes since(std::size_t begin) const {
    return {body_.begin() + static_cast<std::ptrdiff_t>(begin), body_.begin() + static_cast<std::ptrdiff_t>(at_)};
  }

  std::uint64_t big_endian(std::size_t size) {
    std::uint64_t value = 0;
    for (const auto each : take(size))
      value = value << 8 | std::to_integer<std::uint64_t>(each);
    return value;
  }

  void list(const std::string& path, std::size_t begin, std::uint64_t count) {
    add({.path = path, .what = sort::list, .number = count, .raw = since(begin)});
    for (std::uint64_t i = 0; i < count; ++i)
      msgpack(path + '[' + std::to_string(i) + ']');
  }

  void map(const std::string& path, std::size_t begin, std::uint64_t count) {
    add({.path = path, .what = sort::map, .number = count, .raw = since(begin)});
    for (std::uint64_t i = 0; i < count; ++i) {
      msgpack(path + "{key}");
      auto key = std::move(to_.back());
      to_.pop_back();
      if (key.what != sort::text)
        fail(path + ": a map has a key that is no text");
      const auto name = text_of(key.value);
      const auto first = to_.size();
      msgpack(path.empty() ? name : path + '.' + name);
      key.raw.insert(key.raw.end(), to_[first].raw.begin(), to_[first].raw.end());
      to_[first].raw = std::move(key.raw);
    }
  }

  const bytes& body_;
  std::vector<field>& to_;
  std::size_t at_ = 0;
};

// -- what admin messages mean

namespace {

/// The rule for the fields of an operation whose path is `path`, or begins with it if it ends in '*'.
struct admin_rule {
  std::uint8_t operation;
  std::string_view path;
  rule how;
  std::string_view domain = {};
  bool is_readers = false;
};

constexpr std::string_view actors = "actor", queries = "query", questions = "question", objects = "object";
constexpr std::string_view traces = "trace", spans = "span", callers = "caller"; // Ids.

// Fields without a row are equal.
constexpr auto admin_rules = std::to_array<admin_rule>({
    {op::hello, "token", rule::same_sort},
    {op::hello, "message_bytes", rule::same_sort},
    {op::hello, "window_bytes", rule::same_sort},
    {op::hello, "actor_window_bytes", rule::same_sort},
    {op::hello, "handle_window_bytes", rule::same_sort},
    {op::hello, "actor_handle_window_bytes", rule::same_sort},
    {op::hello, "store_number", rule::same_sort},
    {op::hello, "store_slot", rule::same_sort},
    {op::hello, "store_nonce", rule::same_sort},
    {op::hello, "store_proof", rule::same_sort},
    {op::hello, "channel", rule::same_sort},
    {op::hello, "tasks", rule::own_number, actors},
    {op::hello, "spawner", rule::own_number, actors},
    {op::hello, "inspector", rule::own_number, actors},
    {op::hello, "link", rule::same_sort},
    {op::hello, "introduction_key", rule::same_sort},
    {op::hello, "header_bytes", rule::same_sort},
    {op::hello, "frames", rule::same_sort},
    {op::hello, "incarnation", rule::same_sort},
    {op::hello, "features", rule::at_least},
    {op::hello, "features*", rule::at_least},
    {op::hello, "minor", rule::at_least},
    {op::hello, "troupe", rule::same_sort},
    {op::ready, "proof", rule::same_sort},
    {op::ready, "key_proof", rule::same_sort},
    {op::goodbye, "reason", rule::same_sort},
    {op::find, "query", rule::own_number, queries},
    {op::found, "query", rule::own_number, queries, true},
    {op::found, "actor", rule::own_number, actors},
    {7, "actor", rule::own_number, actors, true}, // monitor
    {8, "actor", rule::own_number, actors},       // down
    {8, "reason_text", rule::same_sort},
    {op::release_actor, "actor", rule::own_number, actors, true},
    {op::release_actor, "count", rule::same_sort},
    {op::credit, "actor", rule::own_number, actors},
    {op::credit, "bytes", rule::same_sort},
    {op::credit, "handle_bytes", rule::same_sort},
    {op::greet, "process", rule::same_sort},
    {op::greet, "host", rule::same_sort},
    {op::greet, "nonce", rule::same_sort},
    {op::greet, "connection", rule::same_sort},
    {op::prove, "proof", rule::same_sort},
    {op::opened, "proof", rule::same_sort},
    {op::opened, "key_proof", rule::same_sort},
    {17, "fingerprint", rule::same_sort}, // type_refused
    {17, "contract", rule::same_sort},
    {20, "actor", rule::own_number, actors, true}, // demonitor
    {op::release_handle, "name*", rule::own_number, objects, true},
    {op::release_handle, "count", rule::same_sort},
    {29, "request", rule::own_number, questions}, // pull
    {29, "name*", rule::own_number, objects, true},
    {30, "request", rule::own_number, questions},       // cancel_question
    {31, "request", rule::own_number, questions, true}, // pull_head
    {31, "captured*", rule::own_number, objects},
    {33, "request", rule::own_number, questions, true}, // question_refused
    {34, "name*", rule::own_number, objects},           // handle_lost
    {128, "node", rule::same_sort},                     // whereabouts
    {128, "incarnation", rule::same_sort},
    {128, "addresses*", rule::same_sort},
});

/// The last operations that protocol 1.4 knows: of those that a reader has to understand, and of those that it may
/// skip.
constexpr std::uint8_t last_operation = 34;
constexpr std::uint8_t last_skippable_operation = op::name_changed;

bool fits(const admin_rule& one, std::uint8_t operation, std::string_view path) {
  if (one.operation != operation)
    return false;
  return one.path.ends_with('*') ? path.starts_with(one.path.substr(0, one.path.size() - 1)) : path == one.path;
}

/// Makes the three parts of each object's name one number each, in a domain of that name.
void name_objects(std::vector<field>& fields) {
  for (auto& each : fields) {
    if (each.domain != objects)
      continue;
    const auto is_part = [&](std::string_view part) {
      return each.path.size() > part.size() && each.path.ends_with(part);
    };
    if (each.path.find(".home.") != std::string::npos) {
      each.rule = rule::same_sort;
    } else if (!is_part(".store") && !is_part(".index") && !is_part(".generation")) {
      each.rule = rule::equal; // The mode and size of a captured handle, and the maps themselves.
    } else {
      const auto dot = each.path.rfind('.');
      const auto whole = each.path.substr(0, dot + 1);
      std::string name{objects};
      for (const auto* part : {"store", "index", "generation"}) {
        const auto at = std::ranges::find(fields, whole + part, &field::path);
        name += at == fields.end() ? "/" : '/' + std::to_string(at->number);
      }
      each.domain = name + each.path.substr(dot);
      continue;
    }
    each.domain.clear();
  }
}

/// A hello's features have no order, so their paths get their names.
void name_features(std::vector<field>& fields) {
  for (std::size_t i = 0;; ++i) {
    const auto old = "features[" + std::to_string(i) + ']';
    const auto name = std::ranges::find(fields, old + ".name", &field::path);
    if (name == fields.end())
      return;
    const auto now = "features[" + text_of(name->value) + ']';
    for (auto& each : fields)
      if (each.path.starts_with(old))
        each.path.replace(0, old.size(), now);
  }
}

void apply_rules(statement& to) {
  if (to.detail == op::hello)
    name_features(to.fields);
  for (auto& each : to.fields)
    for (const auto& one : admin_rules)
      if (fits(one, to.detail, each.path)) {
        each.rule = one.how;
        each.domain = one.domain;
        each.is_readers = one.is_readers;
        break;
      }
  name_objects(to.fields);
  if (const auto* readers = to.find("readers"); to.detail == op::found && readers != nullptr && readers->number == 1)
    for (auto& each : to.fields)
      each.is_readers = each.is_readers || each.path == "actor";
}

/// Whether the packet's time, or its division into several packets, is left to the writer.
bool is_timed(std::uint8_t operation) {
  using namespace op;
  return operation == release_actor || operation == release_object || operation == credit || operation == ping
         || operation == pong || operation == release_handle;
}

} // namespace

const field* statement::find(std::string_view path) const {
  const auto at = std::ranges::find(fields, path, &field::path);
  return at == fields.end() ? nullptr : &*at;
}

// -- messages

namespace {

constexpr std::uint8_t request_flag = 2, response_flag = 4, returned_flag = 8, extended_flag = 16;
constexpr std::uint8_t required_flags = 0x3f;

// The keys of extension maps.
constexpr std::uint64_t value_bytes_key = 1, time_left_key = 2, traceparent_key = 3, tracestate_key = 4,
                        baggage_key = 5, sent_at_key = 6, request_identity_key = 7;
constexpr std::uint64_t extension_map_bytes_max = 16'384;
constexpr std::uint64_t traceparent_bytes = 55, request_identity_bytes = 40;

/// Descriptions of handles: framework/link-protocol.md, "Objects".
void read_description(field_reader& in, std::vector<field>& to, const std::string& path) {
  constexpr std::uint64_t has_offer = 8, has_mark = 16, has_home = 32, has_own_home = 64, counts_already = 128;
  constexpr std::uint64_t yours = 4, in_store = 5;
  auto& mode = in.varint(path + ".mode");
  const auto flags = mode.number;
  mode.number &= ~counts_already; // Depends on which earlier messages have been consumed.
  in.varint(path + ".size");
  const auto name = [&](const std::string& of, bool is_bound) {
    for (const auto* part : {".store", ".index", ".generation"}) {
      auto& each = in.varint(of + part);
      each.rule = is_bound ? rule::own_number : rule::same_sort;
      each.domain = is_bound ? objects : "";
      each.is_readers = (flags & 7) == yours;
    }
  };
  name(path + ".name", true);
  if ((flags & 7) == 0 || (flags & 7) == in_store)
    return;
  if ((flags & (has_offer | has_mark)) != 0)
    fail(path + ": conversations of two nodes have no offers and marks");
  if ((flags & has_home) != 0)
    name(path + ".home.name", false);
  if ((flags & (has_home | has_own_home)) != 0)
    in.varint(path + ".home.proof").rule = rule::same_sort;
  name_objects(to);
}

void read_id(field& to, std::string_view domain) {
  to.rule = rule::id;
  to.domain = domain;
}

/// Version 00 of W3C Trace Context.
void read_traceparent(field_reader& in, const std::string& path) {
  in.text(path + ".version", 3);
  read_id(in.hex(path + ".trace[0]"), traces);
  read_id(in.hex(path + ".trace[1]"), traces);
  in.text(path + ".trace_end", 1);
  read_id(in.hex(path + ".parent"), spans);
  in.text(path + ".flags", 3);
}

void read_request_identity(field_reader& in, const std::string& path) {
  read_id(in.fixed(path + ".caller[0]"), callers);
  read_id(in.fixed(path + ".caller[1]"), callers);
  in.fixed(path + ".number");
  in.fixed(path + ".settled_below");
  in.fixed(path + ".age").rule = rule::zero_or_not;
}

/// The value of an entry. One of an unknown key, or of another size than a reader accepts, is one field.
void read_extension(field_reader& in, std::uint64_t key, std::uint64_t size, const std::string& path) {
  if (key == time_left_key && size == fixed_bytes)
    in.fixed(path + ".value").rule = rule::magnitude;
  else if (key == traceparent_key && size == traceparent_bytes)
    read_traceparent(in, path);
  else if (key == tracestate_key || key == baggage_key)
    in.text(path + ".value", size);
  else if (key == sent_at_key && size == fixed_bytes)
    in.fixed(path + ".value").rule = rule::instant;
  else if (key == request_identity_key && size == request_identity_bytes)
    read_request_identity(in, path);
  else
    in.binary(path + ".value", size).rule = key == value_bytes_key ? rule::any : rule::same_sort;
}

/// A writer may add entries. It states value_bytes only if the values take more memory than the message.
void read_extensions(field_reader& in, std::vector<field>& to) {
  const auto size = in.varint("extensions").number;
  to.back().rule = rule::same_sort;
  if (size == 0 || size > extension_map_bytes_max)
    fail("an extension map of " + std::to_string(size) + " bytes");
  const auto map = in.take(size);
  to.push_back({.path = "extension_map", .what = sort::binary, .value = map, .rule = rule::same_sort});
  std::vector<field> entries;
  std::uint64_t before = 0;
  for (field_reader each{map, entries}; !each.is_finished();) {
    auto head = entries.size();
    const auto key = each.varint("").number;
    const auto path = "extension[" + std::to_string(key) + ']';
    if (key <= before)
      fail(path + " is not in order");
    before = key;
    const auto value_size = each.varint("").number;
    for (; head < entries.size(); ++head) {
      entries[head].path = path + ".head";
      entries[head].rule = rule::any;
    }
    if (key != value_bytes_key) { // The entry as a whole: that it is there, and for people.
      auto rest = each;
      const auto is_text = key >= traceparent_key && key <= baggage_key;
      entries.push_back({.path = path,
                         .what = is_text ? sort::text : sort::binary,
                         .value = rest.take(value_size),
                         .rule = rule::same_sort});
    }
    read_extension(each, key, value_size, path);
  }
  to.insert(to.end(), entries.begin(), entries.end());
}

/// Repeats fields of an earlier packet, for comparison only.
void repeat(std::vector<field>& to, const std::vector<field>& what, const std::string& prefix) {
  for (auto each : what) {
    each.path = prefix + each.path;
    each.raw.clear();
    to.push_back(std::move(each));
  }
}

} // namespace

void link_reader::read_element(field_reader& in, statement& to, const std::string& path, bool is_error) {
  const auto header = in.varint(path + ".header").number;
  to.fields.back().rule = rule::same_sort; // Compared below, by what it stands for.
  if (header == 0) {
    const auto size = in.varint(path + ".header_size").number;
    to.fields.back().rule = rule::same_sort;
    in.binary(path + ".header_bytes", size).rule = rule::same_sort;
    const auto whole = to.fields.back().value;
    std::vector<field> parts;
    field_reader{whole, parts}.msgpack("");
    repeat(to.fields, parts, path + ".header.");
  } else if (header > headers_.size()) {
    fail(path + ": header " + std::to_string(header) + " is not defined");
  } else {
    repeat(to.fields, headers_[header - 1], path + ".header.");
  }
  // The texts of errors and the results of compressors may change.
  auto loose = is_error;
  for (auto& each : to.fields)
    if (each.path == path + ".header.z") {
      each.rule = rule::same_sort;
      loose = true;
    }
  const auto content = loose ? rule::same_sort : rule::equal;
  const auto frames = in.varint(path + ".frames").number;
  std::vector<std::uint64_t> inline_sizes;
  for (std::uint64_t i = 0; i < frames; ++i) {
    const auto frame = path + ".frame[" + std::to_string(i) + ']';
    const auto size_and_place = in.varint(frame + ".size_and_place").number;
    to.fields.back().rule = content;
    if ((size_and_place & 3) == 1) {
      const auto transfer = in.varint(frame + ".transfer").number;
      to.fields.back().rule = rule::same_sort;
      auto whole = transfers_.extract(transfer);
      if (whole.empty() || whole.mapped().size() != size_and_place >> 2)
        fail(frame + ": transfer " + std::to_string(transfer) + " is not complete");
      to.fields.push_back({.path = frame + ".chunks", .what = sort::binary, .value = std::move(whole.mapped())});
    } else if ((size_and_place & 3) == 0) {
      inline_sizes.push_back(size_and_place >> 2);
    } else {
      fail(frame + ": conversations have no frames in a shared store");
    }
  }
  const auto count = in.varint(path + ".mentions").number;
  if ((count & 1) != 0)
    in.varint(path + ".objects");
  for (std::uint64_t i = 0; i < count >> 1; ++i) {
    const auto actor = path + ".actor[" + std::to_string(i) + ']';
    const auto is_readers = in.varint(actor + ".side").number == 1;
    auto& number = in.varint(actor + ".number");
    number.rule = rule::own_number;
    number.domain = actors;
    number.is_readers = is_readers;
  }
  for (std::size_t i = 0; i < inline_sizes.size(); ++i)
    in.binary(path + ".inline[" + std::to_string(i) + ']', inline_sizes[i]).rule = content;
}

void link_reader::read_message(field_reader& in, statement& to) {
  const auto flags = static_cast<std::uint8_t>(to.detail & required_flags);
  if ((flags & returned_flag) != 0)
    fail("conversations of two nodes have no returned messages");
  to.fields.push_back({.path = "flags", .number = static_cast<std::uint64_t>(flags & ~extended_flag)});
  const auto actor = [&](const std::string& path, bool is_readers) {
    auto& number = in.varint(path);
    number.rule = rule::own_number;
    number.domain = actors;
    number.is_readers = is_readers;
    return number.number;
  };
  const auto receiver = actor("receiver", true);
  const auto sender = actor("sender", false);
  if ((flags & (request_flag | response_flag)) != 0) {
    const auto is_answer = (flags & response_flag) != 0;
    auto& number = in.varint("request");
    number.rule = rule::own_number;
    number.domain = "request of " + std::to_string(is_answer ? receiver : sender);
    number.is_readers = is_answer;
  }
  const auto signature = in.varint("signature_number").number;
  to.fields.back().rule = rule::same_sort;
  if (signature >= signatures_.size())
    fail("signature " + std::to_string(signature) + " is not defined");
  const auto& aliases = signatures_[signature];
  to.fields.push_back({.path = "signature", .what = sort::text, .value = as_bytes(aliases)});
  if ((flags & extended_flag) != 0)
    read_extensions(in, to.fields);
  repeat(to.fields, descriptions_, "");
  to.fields.push_back({.path = "described", .number = described_});
  descriptions_.clear();
  described_ = 0;
  const auto elements = static_cast<std::size_t>(std::ranges::count(aliases, ' '));
  for (std::size_t i = 0; i < elements; ++i)
    read_element(in, to, "element[" + std::to_string(i) + ']', aliases == "caf.error ");
}

statement link_reader::read(const packet& what) {
  statement result{.kind = what.kind, .detail = what.detail};
  auto& fields = result.fields;
  field_reader in{what.body, fields};
  switch (what.kind) {
  case kind::admin:
    if (what.detail > last_operation
        && (what.detail < kind::first_skippable || what.detail > last_skippable_operation)) {
      result.what = statement::sort::unknown;
      return result;
    }
    in.msgpack("");
    apply_rules(result);
    if (is_timed(what.detail))
      result.what = statement::sort::timed;
    break;
  case kind::message:
    read_message(in, result);
    break;
  case kind::chunk: {
    result.what = statement::sort::definition;
    const auto transfer = in.varint("transfer").number;
    if ((what.detail & 1) != 0) {
      in.varint("total");
      transfers_[transfer].clear();
    }
    bytes rest;
    std::size_t before = 0;
    for (const auto& each : fields)
      before += each.raw.size();
    rest.assign(what.body.begin() + static_cast<std::ptrdiff_t>(before), what.body.end());
    auto& whole = transfers_[transfer];
    whole.insert(whole.end(), rest.begin(), rest.end());
    in.binary("bytes", rest.size());
    break;
  }
  case kind::signature: {
    result.what = statement::sort::definition;
    if (in.varint("number").number != signatures_.size())
      fail("a signature that is not the next one");
    std::string aliases;
    const auto count = in.varint("count").number;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto size = in.varint("length").number;
      aliases += text_of(in.text("alias", size).value) + ' ';
    }
    signatures_.push_back(aliases);
    break;
  }
  case kind::header: {
    result.what = statement::sort::definition;
    if (in.varint("number").number != headers_.size() + 1)
      fail("a header that is not the next one");
    std::vector<field> parts;
    in.msgpack("");
    parts.assign(fields.begin() + 1, fields.end());
    headers_.push_back(std::move(parts));
    break;
  }
  case kind::handles:
    result.what = statement::sort::definition;
    while (!in.is_finished())
      read_description(in, fields, "object[" + std::to_string(described_++) + ']');
    descriptions_.insert(descriptions_.end(), fields.begin(), fields.end());
    break;
  case kind::object_chunk: {
    auto& request = in.varint("request");
    request.rule = rule::own_number;
    request.domain = questions;
    request.is_readers = true;
    in.varint("offset");
    in.binary("checksum", 4);
    std::size_t before = 0;
    for (const auto& each : fields)
      before += each.raw.size();
    in.binary("bytes", what.body.size() - before);
    break;
  }
  default:
    result.what = statement::sort::unknown;
    return result;
  }
  if (!in.is_finished())
    fail("a packet has bytes after its end");
  return result;
}

// -- comparing and patching

bool bindings::bind(const std::string& domain, std::uint64_t recorded, std::uint64_t live) {
  const auto there = live_.try_emplace({domain, recorded}, live).first->second;
  const auto back = recorded_.try_emplace({domain, live}, recorded).first->second;
  return there == live && back == recorded;
}

std::optional<std::uint64_t> bindings::live(const std::string& domain, std::uint64_t recorded) const {
  const auto at = live_.find({domain, recorded});
  return at == live_.end() ? std::nullopt : std::optional{at->second};
}

void bindings::keep_ids(const statement& own) {
  for (const auto& each : own.fields)
    if (each.rule == rule::id && !live(each.domain, each.number))
      static_cast<void>(bind(each.domain, each.number, each.number)); // Fails if the live end has chosen it by chance.
}

void bindings::begin_link() {
  const auto is_of_link = [](const auto& each) {
    const auto& domain = each.first.first;
    return domain != traces && domain != spans && domain != callers;
  };
  std::erase_if(live_, is_of_link);
  std::erase_if(recorded_, is_of_link);
}

namespace {

std::string shown(const field& what) {
  switch (what.what) {
  case sort::number:
  case sort::list:
  case sort::map:
    return std::to_string(what.number);
  case sort::boolean:
    return what.number == 1 ? "true" : "false";
  case sort::text:
    return '"' + text_of(what.value) + '"';
  case sort::nothing:
    return "nothing";
  default:
    return std::to_string(what.value.size()) + " bytes";
  }
}

/// Whether the number says that there is no actor.
bool stands_for_none(const field& what) {
  return what.domain == actors && what.number == 0;
}

constexpr std::uint64_t magnitude_max = 100;
constexpr std::uint64_t earliest_instant = std::uint64_t{1} << 50, latest_instant = std::uint64_t{1} << 53;

bool is_same(const field& recorded, const field& live, bindings& known) {
  if (recorded.what != live.what)
    return false;
  switch (recorded.rule) {
  case rule::same_sort:
    return true;
  case rule::at_least:
    return recorded.what == sort::text ? recorded.value == live.value
                                       : recorded.what == sort::map || live.number >= recorded.number;
  case rule::own_number:
    if (recorded.is_readers || stands_for_none(recorded) || stands_for_none(live))
      return recorded.number == live.number; // The replaying end uses its recorded numbers.
    return known.bind(recorded.domain, recorded.number, live.number);
  case rule::id:
    return known.bind(recorded.domain, recorded.number, live.number);
  case rule::magnitude:
    return live.number / magnitude_max <= recorded.number && recorded.number / magnitude_max <= live.number;
  case rule::zero_or_not:
    return (recorded.number == 0) == (live.number == 0);
  case rule::instant:
    return live.number >= earliest_instant && live.number < latest_instant;
  case rule::equal:
    return recorded.what == sort::map || (recorded.number == live.number && recorded.value == live.value);
  case rule::any:
    return true;
  }
  return false;
}

void append_msgpack_number(bytes& to, std::uint64_t value) {
  const auto put = [&](unsigned first, unsigned size) {
    to.push_back(static_cast<std::byte>(first));
    for (auto shift = 8 * size; shift > 0; shift -= 8)
      to.push_back(static_cast<std::byte>(value >> (shift - 8) & 0xff));
  };
  if (value < 0x80)
    to.push_back(static_cast<std::byte>(value));
  else if (value <= 0xff)
    put(0xcc, 1);
  else if (value <= 0xffff)
    put(0xcd, 2);
  else if (value <= 0xffff'ffff)
    put(0xce, 4);
  else
    put(0xcf, 8);
}

void append_varint(bytes& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

/// The bytes of a number alone, without the key of a map before them.
bytes encoded(const field& what, std::uint64_t value) {
  bytes result;
  switch (what.form) {
  case field::form::msgpack:
    append_msgpack_number(result, value);
    break;
  case field::form::fixed:
    for (std::size_t i = 0; i < fixed_bytes; ++i)
      result.push_back(static_cast<std::byte>(value >> 8 * i & 0xff));
    break;
  case field::form::hex:
    for (auto i = hex_digits; i > 0; --i)
      result.push_back(static_cast<std::byte>(hex_alphabet[value >> 4 * (i - 1) & 15]));
    break;
  default:
    append_varint(result, value);
  }
  return result;
}

/// Puts another number in place of the one that `raw` ends with.
void replace_number(bytes& raw, const field& what, std::uint64_t value) {
  raw.resize(raw.size() - encoded(what, what.number).size());
  const auto now = encoded(what, value);
  raw.insert(raw.end(), now.begin(), now.end());
}

} // namespace

std::string difference(const statement& recorded, const statement& live, bindings& known) {
  for (const auto& each : recorded.fields) {
    if (each.rule == rule::any)
      continue;
    const auto* now = live.find(each.path);
    if (now == nullptr)
      return each.path + " is missing";
    if (!is_same(each, *now, known))
      return each.path + " is " + shown(*now) + ", recorded: " + shown(each);
  }
  return {};
}

bytes body_for(const statement& own, const bindings& known) {
  bytes body;
  for (const auto& each : own.fields) {
    auto raw = each.raw;
    if (each.rule == rule::own_number && each.is_readers && !stands_for_none(each) && !raw.empty()) {
      const auto live = known.live(each.domain, each.number);
      if (!live)
        fail(each.path + ": the live end has no " + each.domain + " that stands for " + std::to_string(each.number));
      replace_number(raw, each, *live);
    } else if (const auto live = each.rule == rule::id ? known.live(each.domain, each.number) : std::nullopt) {
      replace_number(raw, each, *live);
    }
    body.insert(body.end(), raw.begin(), raw.end());
  }
  return body;
}

void set_binary(statement& in, std::string_view path, const bytes& value) {
  for (auto& each : in.fields)
    if (each.path == path && each.what == sort::binary) {
      const auto head = each.value.size() < 256 ? 2u : 3u;
      each.raw.resize(each.raw.size() - each.value.size() - head);
      each.raw.push_back(std::byte{0xc4});
      each.raw.push_back(static_cast<std::byte>(value.size()));
      each.raw.insert(each.raw.end(), value.begin(), value.end());
      each.value = value;
    }
}

void set_number(statement& in, std::string_view path, std::uint64_t value) {
  for (auto& each : in.fields)
    if (each.path == path && each.what == sort::number) {
      replace_number(each.raw, each, value);
      each.number = value;
      each.rule = rule::equal;
    }
}

std::string summary_of(const statement& what) {
  static const std::map<std::uint8_t, std::string> names{{1, "hello"},
                                                         {2, "ready"},
                                                         {4, "goodbye"},
                                                         {5, "find"},
                                                         {6, "found"},
                                                         {7, "monitor"},
                                                         {8, "down"},
                                                         {9, "release_actor"},
                                                         {11, "credit"},
                                                         {12, "ping"},
                                                         {13, "pong"},
                                                         {14, "greet"},
                                                         {15, "prove"},
                                                         {16, "opened"},
                                                         {17, "type_refused"},
                                                         {18, "reconfigure"},
                                                         {19, "reconfigured"},
                                                         {20, "demonitor"},
                                                         {23, "release_handle"},
                                                         {29, "pull"},
                                                         {31, "pull_head"},
                                                         {33, "question_refused"},
                                                         {128, "whereabouts"},
                                                         {op::name_changed, "name_changed"}};
  std::string text;
  if (what.kind == kind::admin) {
    const auto name = names.find(what.detail);
    text = name == names.end() ? "operation " + std::to_string(what.detail) : name->second;
  }
  for (const auto& each : what.fields) {
    if (each.path.starts_with("extension[") && each.path.find("].") != std::string::npos)
      continue; // The entry as a whole was named.
    const auto is_short = each.what != sort::map && each.what != sort::list && each.what != sort::nothing;
    auto value = is_short && !each.path.empty() ? (text.empty() ? "" : " ") + each.path + '=' + shown(each) : "";
    std::ranges::replace_if(
        value, [](char c) { return c < ' ' || c > '~' || c == '#'; }, '?');
    if (value.size() > 60)
      value = value.substr(0, 57) + "...";
    if (text.size() + value.size() <= 200)
      text += value;
  }
  return text;
}

std::int64_t unreleased(const packets& link) {
  std::int64_t count = 0;
  std::array<link_reader, 2> readers;
  for (const auto& each : link) {
    const auto said = readers[each.from == end::dialer ? 0 : 1].read(each);
    const auto is_release = said.is_admin(op::release_actor) || said.is_admin(op::release_handle);
    if (is_release)
      count -= static_cast<std::int64_t>(said.find("count")->number);
    if (said.kind == kind::message || said.is_admin(op::found) || said.is_admin(31))
      for (const auto& one : said.fields)
        if (one.rule == rule::own_number && !one.is_readers && one.number != 0
            && (one.domain == actors || one.domain.ends_with(".generation")))
          ++count;
  }
  return count;
}

packets without_polling(const packets& link) {
  struct question {
    std::size_t at = 0;
    std::string name;
  };
  std::map<end, link_reader> readers;
  std::map<std::pair<end, std::uint64_t>, question> open; // By the asking end, and the question's number.
  std::map<std::pair<end, std::string>, bool> has_found;  // The last answer to each question.
  std::set<std::size_t> dropped;
  for (std::size_t i = 0; i < link.size(); ++i) {
    const auto by = link[i].from;
    const auto said = readers[by].read(link[i]);
    if (said.is_admin(op::find)) {
      open[{by, said.find("query")->number}] = {i, text_of(said.find("name")->value)};
    } else if (said.is_admin(op::found)) {
      const auto asked = open.extract({other(by), said.find("query")->number});
      if (asked.empty())
        throw std::runtime_error("an answer to a question that was not asked");
      const auto finds = said.find("actor")->number != 0;
      const auto before = has_found.emplace(std::pair{other(by), asked.mapped().name}, true);
      if (!finds && !before.first->second)
        dropped.insert({asked.mapped().at, i});
      before.first->second = finds;
    }
  }
  for (const auto& [key, asked] : open)
    dropped.insert(asked.at);
  packets result;
  for (std::size_t i = 0; i < link.size(); ++i)
    if (!dropped.contains(i))
      result.push_back(link[i]);
  return result;
}

} // namespace troupe::tests::compat

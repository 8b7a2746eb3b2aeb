#include "decoding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>

#include <sanitizer/allocator_interface.h>

#include <troupe/serializers/payload.hpp>

namespace fuzz {

using namespace troupe;

namespace {

bool counting = false;
std::size_t counted = 0;

void on_allocation(const volatile void*, std::size_t size) {
  if (counting)
    counted += size;
}

void on_release(const volatile void*) {}

// Parts of a payload have budgets of their own, and so have the list of parts, the collection, and all parts together.
std::size_t budgets(const header_fields& header) {
  const auto* entry = types().find(header.type);
  const auto in_parts = header.family == "elements" || (entry != nullptr && entry->own() != nullptr);
  return in_parts ? 6 : 1;
}

// What decoding may allocate: its budget, plus what errors and tables of fixed size take.
std::size_t allowance(const payload& received) {
  constexpr std::size_t besides = 24_KiB;
  const auto header = parse_header(received.header.bytes());
  if (!header)
    return besides;
  const auto limits = bounds();
  if (!header->frame_codecs.empty()) { // The decompressed size counts, and zstd itself allocates.
    constexpr std::size_t zstd_bytes = 256_KiB;
    return budgets(*header) * limits.memory_bytes + zstd_bytes + besides;
  }
  const auto bytes = received.size_bytes() - received.header.size_bytes() + header->extra.size();
  return budgets(*header) * std::min(limits.memory_bytes, limits.memory_free_bytes + bytes * limits.memory_ratio)
         + besides;
}

void cut_circle(ring& whole) {
  for (auto at = std::exchange(whole.next, nullptr); at;)
    at = std::exchange(at->next, nullptr);
}

// Cuts the circles that a decoded value may contain, since nothing else does.
void cut_circles(any_value& value) {
  cut_late_circles(*value.entry(), value.data());
  if (auto* whole = value.get<ring>())
    cut_circle(*whole);
  if (auto* whole = value.get<odd>())
    for (const auto& each : whole->rings)
      if (each)
        cut_circle(*each);
}

// How many objects would be destroyed recursively. A circle may contain as many again.
std::size_t height_of(const ring& whole) {
  std::set<const ring*> seen;
  for (const auto* at = &whole; at != nullptr && seen.insert(at).second;)
    at = at->next.get();
  return seen.size();
}

// What a program does with a stranger's value: looks at it and drops it.
void expect_harmless(any_value& value) {
  constexpr std::size_t text_bytes_max = 1 << 20;
  if (const auto* whole = value.get<ring>())
    expect(height_of(*whole) <= 2 * bounds().height + 2, "a chain of shared objects is too long to be dropped");
  const auto* whole = value.get<odd>();
  if (whole == nullptr)
    return;
  for (const auto& each : whole->rings)
    expect(!each || height_of(*each) <= 2 * bounds().height + 2, "a chain of shared objects is too long to be dropped");
  for (const auto& each : whole->grids) {
    expect(each.rank() <= array_dimensions_max, "an array has more dimensions than travel");
    expect(to_text(each).size() < text_bytes_max, "an array is printed without end");
  }
}

// Decodes without allowing circles. Then nothing may outlive the value, which the leak checker verifies.
void decode_without_circles(const payload& received, deserialize_options options) {
  options.context.allow_cycles = false;
  static_cast<void>(deserialize_any(received, options, types(), families()));
}

// Families count levels differently. With this context, none runs out of levels that another family had.
context roomy() {
  context ctx;
  ctx.limits.depth *= 8;
  return ctx;
}

// A NaN in one family need not be the same NaN in another: families that write it as a text (json for numbers, json and
// msgpack for times) keep only that it is a NaN.
bool holds_nan(const type_entry& entry, const void* value) {
  const auto text =
      serialize_as(entry, value, {.serializers = {"json"}, .on_error = on_error::raise, .context = roomy()});
  if (!text)
    return false;
  const auto written = bytes_of(*text);
  const auto holds = [&](const char* beginning) { return written.find(beginning) != std::string::npos; };
  return holds("\"NaN\"") || holds("\"nan") || holds("\"-nan"); // The last two are times, whose unit follows.
}

// Bytes and arrays in records change when they pass through a family that has neither.
bool may_hold_records(const type_entry& entry) {
  const auto type = entry.type();
  return type == typeid(record) || type == typeid(late) || type == typeid(model) || type == typeid(models)
         || type == typeid(choice);
}

// Empty if the family cannot carry the value.
any_value there_and_back(const type_entry& entry, const void* value, const std::string& by, bool exactly) {
  const auto ctx = exactly ? context() : roomy();
  const auto sent = serialize_as(entry, value, {.serializers = {by}, .on_error = on_error::raise, .context = ctx});
  if (!sent && sent.error().code() == serialize_errc::not_supported && !exactly)
    return {};
  expect(sent.has_value(), "what was decoded cannot be encoded", sent ? "" : sent.error().message());
  // Accepts all families, since payloads within this one may be of others.
  auto back = deserialize_any(*sent, {.deserializers = families().names(), .context = ctx}, types(), families());
  expect(back.has_value(), "what was encoded cannot be decoded", back ? "" : back.error().message());
  return std::move(*back);
}

void expect_travels(const type_entry& entry, void* value, const std::string& by, bool exactly) {
  auto back = there_and_back(entry, value, by, exactly);
  if (back.entry() == nullptr)
    return;
  const auto as_it_came = bytes_of(entry, back.data());
  if (bytes_of(entry, value) != as_it_came && (exactly || !holds_nan(entry, value))) {
    expect(!exactly && may_hold_records(entry), "another value comes back by", by);
    auto again = there_and_back(entry, back.data(), by, exactly);
    expect(bytes_of(entry, again.data()) == as_it_came || holds_nan(entry, value), "each time another value comes by",
           by);
    cut_circles(again);
  }
  cut_circles(back);
}

// Decodes the payloads within the value, to a small depth.
void decode_within(const any_value& value, std::size_t depth) {
  constexpr std::size_t depth_max = 3;
  constexpr std::size_t at_most = 4;
  auto within = payloads_within(*value.entry(), value.data());
  within.resize(std::min(within.size(), depth < depth_max ? at_most : 0));
  for (const auto& each : within) {
    static_cast<void>(each.get<record>({.context = {.limits = bounds()}}, types(), families()));
    if (each.is_encoded())
      decode(each.encoded(), families().names(), nullptr, depth + 1);
  }
}

} // namespace

void expect(bool holds, std::string_view what, std::string_view details) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(details.size()), details.data());
  std::abort();
}

limits bounds() {
  limits small;
  small.header_bytes = 8_KiB;
  small.frames = 12;
  small.text_bytes = 4_KiB;
  small.elements = 5'000;
  small.height = 512;
  small.hash_probes = 10'000;
  small.memory_free_bytes = 16_KiB;
  small.memory_ratio = 16;
  small.memory_bytes = 256_KiB;
  small.decompressed_bytes = 64_KiB;
  return small;
}

allocations::allocations() {
  static const auto installed = __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);
  expect(installed != 0, "allocations cannot be counted");
  counted = 0;
  counting = true;
}

allocations::~allocations() {
  counting = false;
}

std::size_t allocations::stop() {
  counting = false;
  return counted;
}

const family_set& families() {
  static const family_set all;
  return all;
}

std::string bytes_of(const payload& of) {
  auto all = rich::text_of(of.header);
  for (const auto& each : of.frames)
    all += std::to_string(each.size_bytes()) + ":" + rich::text_of(each);
  return all;
}

std::string bytes_of(const type_entry& entry, void* value) {
  // The order of unordered containers depends on how they were filled, so the comparison ignores it.
  std::string sorted;
  auto* const whole = entry.type() == typeid(rich::everything) ? static_cast<rich::everything*>(value) : nullptr;
  auto* const with_weak = entry.type() == typeid(odd) ? static_cast<odd*>(value) : nullptr;
  weak_set weak;
  decltype(with_weak->weak_twice) weak_twice;
  if (with_weak != nullptr) {
    weak.swap(with_weak->weak);
    weak_twice.swap(with_weak->weak_twice);
    for (const auto each : std::set<int>(weak.begin(), weak.end()))
      sorted += std::to_string(each) + ",";
    for (const auto& [number, yes] : std::multiset<std::pair<int, bool>>(weak_twice.begin(), weak_twice.end()))
      sorted += std::to_string(number) + (yes ? "+" : "-");
  }
  decltype(whole->seen) seen;
  decltype(whole->prices) prices;
  if (whole != nullptr) {
    seen.swap(whole->seen);
    prices.swap(whole->prices);
    for (const auto each : std::set<int>(seen.begin(), seen.end()))
      sorted += std::to_string(each) + ",";
    for (const auto& [name, price] : std::map<std::string, double>(prices.begin(), prices.end()))
      sorted += name + "=" + std::to_string(std::bit_cast<std::uint64_t>(price)) + ",";
  }
  const auto sent = serialize_as(entry, value, {.serializers = {"typed"}, .on_error = on_error::raise});
  expect(sent.has_value(), "what was decoded cannot be encoded as typed", sent ? "" : sent.error().message());
  if (whole != nullptr) {
    seen.swap(whole->seen);
    prices.swap(whole->prices);
  }
  if (with_weak != nullptr) {
    weak.swap(with_weak->weak);
    weak_twice.swap(with_weak->weak_twice);
  }
  return bytes_of(*sent) + sorted;
}

std::expected<payload, serialize_error> serialize_as(const type_entry& entry, const void* value,
                                                     const serialize_options& options) {
  return serialize_entry(entry, value, options, types(), families());
}

namespace {

constexpr std::array<std::string_view, 4> input_types = {"everything", "late", "odd", "record"};

} // namespace

const type_entry& type_of_input(std::size_t number) {
  return *types().find(input_types[number % input_types.size()]);
}

std::size_t number_of(const type_entry& entry) {
  const auto found = std::ranges::find(input_types, entry.alias());
  expect(found != input_types.end(), "no type of inputs", entry.alias());
  return static_cast<std::size_t>(found - input_types.begin());
}

void decode(const payload& received, const std::vector<std::string>& deserializers,
            const std::function<void(any_value&)>& check, std::size_t depth) {
  deserialize_options options{.deserializers = deserializers};
  options.context.limits = bounds();
  const auto& known_types = types(); // Created by the first call, which must not be counted.
  const auto& known_families = families();
  const auto begun = std::clock();
  counted_equal::count = 0;
  allocations during;
  auto value = deserialize_any(received, options, known_types, known_families);
  const auto taken = during.stop();
  // Processor time, since a busy machine is no failure. Even with sanitizers, a millisecond is usual.
  expect(std::clock() - begun < CLOCKS_PER_SEC, "took longer than a second");
  // The value's own memory, which is allocated before decoding begins.
  const auto itself = value ? value->entry()->value_bytes() : sizeof(rich::everything);
  expect(taken <= allowance(received) + itself, "allocated more than the limits grant",
         std::to_string(taken) + " bytes, granted are " + std::to_string(allowance(received)));
  // Twice, for the container and the check that counts; 66 comparisons for each element are free.
  expect(counted_equal::count <= 2 * (bounds().hash_probes + 66 * bounds().elements), "keys were compared without end");
  decode_without_circles(received, options);
  if (!value)
    return;
  expect_harmless(*value);
  const auto header = parse_header(received.header.bytes());
  for (const auto& each : families().names())
    expect_travels(*value->entry(), value->data(), each, header->family == each);
  if (check)
    check(*value);
  decode_within(*value, depth);
  cut_circles(*value);
}

} // namespace fuzz

#include "decoding.hpp"

#include <algorithm>
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

// The sender's layout, where it differs from the reader's own and has to be read.
std::size_t foreign_layout_bytes(const payload& received) {
  const auto header = parse_header(received.header.bytes());
  const auto* entry = header ? types().find(header->type) : nullptr;
  return entry == nullptr || std::ranges::equal(header->schema, entry->schema()) ? 0 : header->schema.size();
}

// What decoding may allocate: its budget, the layout's tree, and what errors and tables of fixed size take.
std::size_t allowance(const payload& received) {
  constexpr std::size_t besides = 24_KiB;
  constexpr std::size_t per_layout_byte = 512;
  const auto limits = bounds();
  const auto body_and_frames = received.size_bytes() - received.header.size_bytes();
  return std::min(limits.memory_bytes, limits.memory_free_bytes + body_and_frames * limits.memory_ratio)
         + foreign_layout_bytes(received) * per_layout_byte + besides;
}

// Nobody else cuts the circles that a value may have been decoded with.
void cut_circles(const type_entry& entry, void* value) {
  if (entry.type() != typeid(ring))
    return;
  auto at = std::exchange(static_cast<ring*>(value)->next, nullptr);
  while (at)
    at = std::exchange(at->next, nullptr);
}

// Not a number in one family need not be the same not a number in another.
bool holds_nan(const type_entry& entry, const void* value) {
  const auto text = serialize_entry(entry, value, {.serializers = {"json"}}, families());
  return text && bytes_of(*text).find("\"NaN\"") != std::string::npos;
}

void expect_travels(const type_entry& entry, void* value, const std::string& by, bool exactly) {
  context ctx;
  if (!exactly)
    ctx.limits.depth *= 8; // Families count levels differently.
  const auto sent =
      serialize_entry(entry, value, {.serializers = {by}, .on_error = on_error::raise, .context = ctx}, families());
  if (!sent && sent.error().code() == serialize_errc::not_supported && !exactly)
    return;
  expect(sent.has_value(), "what was decoded cannot be encoded", sent ? "" : sent.error().message());
  any_value back(entry);
  const auto done = deserialize_entry(entry, back.data(), *sent, {.deserializers = {by}, .context = ctx}, families());
  expect(done.has_value(), "what was encoded cannot be decoded", done ? "" : done.error().message());
  expect(bytes_of(entry, value) == bytes_of(entry, back.data()) || (!exactly && holds_nan(entry, value)),
         "another value comes back by", by);
  cut_circles(entry, back.data());
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
  small.memory_free_bytes = 16_KiB;
  small.memory_ratio = 16;
  small.memory_bytes = 256_KiB;
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

std::size_t allocations::bytes() const {
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
  // The order within unordered containers depends on how they were filled: it is left out of the comparison.
  std::string sorted;
  auto* const whole = entry.type() == typeid(rich::everything) ? static_cast<rich::everything*>(value) : nullptr;
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
  const auto sent = serialize_entry(entry, value, {.serializers = {"typed"}, .on_error = on_error::raise}, families());
  expect(sent.has_value(), "what was decoded cannot be encoded as typed", sent ? "" : sent.error().message());
  if (whole != nullptr) {
    seen.swap(whole->seen);
    prices.swap(whole->prices);
  }
  return bytes_of(*sent) + sorted;
}

void decode(const payload& received, const std::vector<std::string>& deserializers) {
  deserialize_options options{.deserializers = deserializers};
  options.context.limits = bounds();
  const auto& known_types = types(); // Made at the first call, which is not to be counted.
  const auto& known_families = families();
  const auto begun = std::clock();
  const allocations during;
  auto value = deserialize_any(received, options, known_types, known_families);
  const auto taken = during.bytes();
  // Of the processor's time: that machines are busy is no failure. Sanitizers and all, it is rather a millisecond.
  expect(std::clock() - begun < CLOCKS_PER_SEC, "took longer than a second");
  // The value itself, before decoding begins.
  const auto itself = value ? value->entry()->size_bytes() : sizeof(rich::everything);
  expect(taken <= allowance(received) + itself, "allocated more than the limits grant",
         std::to_string(taken) + " bytes, granted are " + std::to_string(allowance(received)));
  if (!value)
    return;
  const auto header = parse_header(received.header.bytes());
  for (const auto& each : families().names())
    expect_travels(*value->entry(), value->data(), each, header->family == each);
  cut_circles(*value->entry(), value->data());
}

} // namespace fuzz

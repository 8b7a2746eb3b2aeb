#include <troupe/framework/caf_family/caf_archive.hpp>

#include <bit>
#include <charconv>
#include <iomanip>
#include <limits>
#include <sstream>

#include <troupe/base/varint.hpp>

namespace troupe {

namespace {

template <class Number>
using bits_of =
    std::conditional_t<sizeof(Number) == 1, std::uint8_t,
                       std::conditional_t<sizeof(Number) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>>>;

// Converts to and from network byte order.
template <class Bits>
Bits swapped(Bits bits) {
  static_assert(std::endian::native == std::endian::little);
  if constexpr (sizeof(Bits) == 1)
    return bits;
  else
    return std::byteswap(bits);
}

/// Writes floating-point numbers as their bits. CAF computes the same bits, but loses the sign of zero, and does not
/// finish for infinities.
template <class Number>
void put(byte_buffer& to, Number value) {
  const auto bits = swapped(std::bit_cast<bits_of<Number>>(value));
  to.append(std::as_bytes(std::span(&bits, 1)));
}

} // namespace

caf::error caf_writer::refuse(serialize_errc code, std::string reason) {
  fail(code, std::move(reason));
  return caf::sec::invalid_argument;
}

caf::error caf_writer::write_count(std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    return refuse(serialize_errc::limit_exceeded, grouped(count) + " elements; CAF counts them in 32 bits");
  weigh(count * element_bytes);
  write_varint(count, [this](std::byte each) { output_.body().append(each); });
  return {};
}

caf::error caf_writer::begin_object(std::uint16_t& number, std::string& name) {
  auto stopped = apply_impl(number);
  return stopped || number != 0 ? stopped : apply_impl(name);
}

caf::error caf_writer::end_object() {
  return {};
}

caf::error caf_writer::begin_sequence(std::size_t& count) {
  return write_count(count, 1);
}

caf::error caf_writer::end_sequence() {
  return {};
}

caf::error caf_writer::apply_raw(std::size_t size_bytes, void* data) {
  output_.body().append({static_cast<const std::byte*>(data), size_bytes});
  return {};
}

caf::error caf_writer::apply_impl(std::int8_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::uint8_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::int16_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::uint16_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::int32_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::uint32_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::int64_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(std::uint64_t& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(float& value) {
  return put(output_.body(), value), caf::error();
}
caf::error caf_writer::apply_impl(double& value) {
  return put(output_.body(), value), caf::error();
}

caf::error caf_writer::apply_impl(long double& value) {
  std::ostringstream stream;
  stream << std::setprecision(std::numeric_limits<long double>::digits) << value;
  auto text = std::move(stream).str();
  return apply_impl(text);
}

caf::error caf_writer::apply_impl(std::string& value) {
  auto stopped = write_count(value.size(), 1);
  return stopped ? stopped : apply_raw(value.size(), value.data());
}

caf::error caf_writer::apply_impl(std::u16string& value) {
  auto stopped = write_count(value.size(), sizeof(value[0]));
  if (!stopped)
    for (const auto each : value)
      put(output_.body(), each);
  return stopped;
}

caf::error caf_writer::apply_impl(std::u32string& value) {
  auto stopped = write_count(value.size(), sizeof(value[0]));
  if (!stopped)
    for (const auto each : value)
      put(output_.body(), each);
  return stopped;
}

namespace {

std::size_t total_bytes(std::span<const frame> frames) {
  std::size_t total = 0;
  for (const auto& each : frames)
    total += each.size_bytes();
  return total;
}

} // namespace

caf_reader::caf_reader(const troupe::context& ctx, std::span<const frame> frames)
    : decoding(ctx, total_bytes(frames)), body_(frames[0].bytes()), frames_(frames.subspan(1)) {}

caf::error caf_reader::refuse(serialize_errc code, std::string reason) {
  fail(code, std::move(reason));
  return stop();
}

caf::error caf_reader::read_count(std::size_t& count, std::size_t element_bytes) {
  std::uint64_t read = 0;
  for (unsigned shift = 0;; shift += 7) {
    std::uint8_t byte = 0;
    if (auto stopped = take(byte))
      return stopped;
    read |= std::uint64_t{byte & 0x7fU} << shift;
    if (read > std::numeric_limits<std::uint32_t>::max() || (byte > 0x7f && shift == 28))
      return refuse(serialize_errc::malformed, "a count of more than 32 bits");
    if (byte <= 0x7f)
      break;
  }
  count = read;
  return charge(count, element_bytes) ? caf::error() : stop();
}

caf::error caf_reader::take_frame(frame& to) {
  if (frames_.empty())
    return refuse(serialize_errc::malformed, "a frame of the value is missing");
  to = frames_.front();
  frames_ = frames_.subspan(1);
  return {};
}

caf::error caf_reader::finish() {
  if (!body_.empty())
    return refuse(serialize_errc::malformed, grouped(body_.size()) + " bytes are left over after the value");
  if (!frames_.empty())
    return refuse(serialize_errc::malformed, grouped(frames_.size()) + " frames are left over");
  return {};
}

caf::error caf_reader::begin_object(std::uint16_t& number, std::string& name) {
  auto stopped = apply_impl(number);
  return stopped || number != 0 ? stopped : apply_impl(name);
}

caf::error caf_reader::end_object() {
  return {};
}

// Called by functions that know only caf::deserializer. The element type is unknown here, and not every begin has an
// end.
caf::error caf_reader::begin_sequence(std::size_t& count) {
  return read_count(count, 1);
}

caf::error caf_reader::end_sequence() {
  return {};
}

caf::error caf_reader::apply_raw(std::size_t size_bytes, void* data) {
  if (size_bytes > body_.size())
    return refuse(serialize_errc::malformed,
                  grouped(size_bytes) + " bytes wanted, " + grouped(body_.size()) + " are left");
  if (size_bytes > 0)
    std::memcpy(data, body_.data(), size_bytes);
  body_ = body_.subspan(size_bytes);
  return {};
}

template <class Number>
caf::error caf_reader::take(Number& value) {
  bits_of<Number> bits{};
  auto stopped = apply_raw(sizeof(bits), &bits);
  if (!stopped)
    value = std::bit_cast<Number>(swapped(bits));
  return stopped;
}

template <class Text>
caf::error caf_reader::take_wide(Text& value) {
  using character = typename Text::value_type;
  std::size_t count = 0;
  if (auto stopped = read_count(count, sizeof(character)))
    return stopped;
  if (!check_text(count * sizeof(character)))
    return stop();
  if (count > body_.size() / sizeof(character))
    return refuse(serialize_errc::malformed,
                  grouped(count) + " characters wanted, " + grouped(body_.size()) + " bytes are left");
  value.resize(count);
  for (auto& each : value)
    if (auto stopped = take(each))
      return stopped;
  return {};
}

caf::error caf_reader::apply_impl(std::int8_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::uint8_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::int16_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::uint16_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::int32_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::uint32_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::int64_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(std::uint64_t& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(float& value) {
  return take(value);
}
caf::error caf_reader::apply_impl(double& value) {
  return take(value);
}

caf::error caf_reader::apply_impl(long double& value) {
  std::string text;
  if (auto stopped = apply_impl(text))
    return stopped;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size())
    return refuse(serialize_errc::malformed, "not a number: " + text.substr(0, 40));
  return {};
}

caf::error caf_reader::apply_impl(std::string& value) {
  std::size_t size = 0;
  if (auto stopped = read_count(size, 0))
    return stopped;
  if (!check_text(size) || !charge_memory(size))
    return stop();
  if (size > body_.size())
    return refuse(serialize_errc::malformed, grouped(size) + " bytes wanted, " + grouped(body_.size()) + " are left");
  value.assign(reinterpret_cast<const char*>(body_.data()), size);
  body_ = body_.subspan(size);
  return {};
}

caf::error caf_reader::apply_impl(std::u16string& value) {
  return take_wide(value);
}
caf::error caf_reader::apply_impl(std::u32string& value) {
  return take_wide(value);
}

} // namespace troupe

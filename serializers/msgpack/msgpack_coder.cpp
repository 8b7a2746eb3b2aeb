#include <troupe/serializers/msgpack/msgpack_coder.hpp>

#include <algorithm>
#include <bit>

namespace troupe {

namespace {

// Writes a code and its big-endian value at once.
template <class T>
void put(byte_buffer& to, std::uint8_t code, T value) {
  to.reserve(1 + sizeof(T));
  auto* at = to.end();
  *at = std::byte{code};
  const auto big_endian = __builtin_bswap64(std::uint64_t{value}) >> (64 - 8 * sizeof(T));
  std::memcpy(at + 1, &big_endian, sizeof(T));
  to.advance_to(at + 1 + sizeof(T));
}

constexpr std::uint8_t ext_of_4_bytes = 0xd6;
// Written in front of a value that could itself be null: a list of two, whose first element is an extension of one
// byte.
constexpr std::byte some_head[] = {std::byte{0x92}, std::byte{0xd4}, static_cast<std::byte>(msgpack_extension::some),
                                   std::byte{0}};

} // namespace

bool msgpack_writer::null() {
  return output_.body().append(std::byte{0xc0}), true;
}

bool msgpack_writer::boolean(bool value) {
  return output_.body().append(std::byte{value ? std::uint8_t{0xc3} : std::uint8_t{0xc2}}), true;
}

bool msgpack_writer::integer(std::int64_t value) {
  auto& body = output_.body();
  if (value >= 0)
    return natural(static_cast<std::uint64_t>(value));
  if (value >= -32)
    body.append(static_cast<std::byte>(value));
  else if (value >= INT8_MIN)
    put(body, 0xd0, static_cast<std::uint8_t>(value));
  else if (value >= INT16_MIN)
    put(body, 0xd1, static_cast<std::uint16_t>(value));
  else if (value >= INT32_MIN)
    put(body, 0xd2, static_cast<std::uint32_t>(value));
  else
    put(body, 0xd3, static_cast<std::uint64_t>(value));
  return true;
}

bool msgpack_writer::natural(std::uint64_t value) {
  auto& body = output_.body();
  if (value < 0x80)
    body.append(static_cast<std::byte>(value));
  else if (value <= UINT8_MAX)
    put(body, 0xcc, static_cast<std::uint8_t>(value));
  else if (value <= UINT16_MAX)
    put(body, 0xcd, static_cast<std::uint16_t>(value));
  else if (value <= UINT32_MAX)
    put(body, 0xce, static_cast<std::uint32_t>(value));
  else
    put(body, 0xcf, value);
  return true;
}

bool msgpack_writer::real32(float value) {
  return put(output_.body(), 0xca, std::bit_cast<std::uint32_t>(value)), true;
}

bool msgpack_writer::real64(double value) {
  return put(output_.body(), 0xcb, std::bit_cast<std::uint64_t>(value)), true;
}

bool msgpack_writer::text(std::string_view value) {
  auto& body = output_.body();
  body.reserve(value.size() + 5);
  if (value.size() < 32)
    body.append(static_cast<std::byte>(0xa0 | value.size()));
  else if (value.size() <= UINT8_MAX)
    put(body, 0xd9, static_cast<std::uint8_t>(value.size()));
  else if (value.size() <= UINT16_MAX)
    put(body, 0xda, static_cast<std::uint16_t>(value.size()));
  else if (value.size() <= UINT32_MAX)
    put(body, 0xdb, static_cast<std::uint32_t>(value.size()));
  else
    return fail(serialize_errc::not_supported, "a text of " + grouped(value.size()) + " bytes; msgpack holds 4 GiB");
  body.append(std::as_bytes(std::span(value)));
  return true;
}

bool msgpack_writer::bytes(std::span<const std::byte> value) {
  auto& body = output_.body();
  if (value.size() <= UINT8_MAX)
    put(body, 0xc4, static_cast<std::uint8_t>(value.size()));
  else if (value.size() <= UINT16_MAX)
    put(body, 0xc5, static_cast<std::uint16_t>(value.size()));
  else if (value.size() <= UINT32_MAX)
    put(body, 0xc6, static_cast<std::uint32_t>(value.size()));
  else
    return fail(serialize_errc::not_supported, grouped(value.size()) + " bytes; msgpack holds 4 GiB");
  body.append(value);
  return true;
}

bool msgpack_writer::head(std::size_t count, std::uint8_t small_code, std::size_t small_max, std::uint8_t code16) {
  auto& body = output_.body();
  if (count <= small_max)
    body.append(static_cast<std::byte>(small_code | count));
  else if (count <= UINT16_MAX)
    put(body, code16, static_cast<std::uint16_t>(count));
  else if (count <= UINT32_MAX)
    put(body, static_cast<std::uint8_t>(code16 + 1), static_cast<std::uint32_t>(count));
  else
    return fail(serialize_errc::not_supported, grouped(count) + " elements; msgpack holds 4,294,967,295");
  return true;
}

bool msgpack_writer::begin_list(std::size_t count) {
  return head(count, 0x90, 15, 0xdc);
}

bool msgpack_writer::begin_map(std::size_t count) {
  return head(count, 0x80, 15, 0xde);
}

bool msgpack_writer::numbers(const number_block& block) {
  if (block.kind != number_kind::f64)
    return value_writer::numbers(block);
  // The common case, without a call per element.
  if (!begin_list(block.count))
    return false;
  auto& body = output_.body();
  constexpr std::size_t element_bytes = 9;
  body.reserve(block.count * element_bytes);
  auto* at = body.end();
  for (std::size_t i = 0; i < block.count; ++i, at += element_bytes) {
    std::uint64_t bits;
    std::memcpy(&bits, block.bytes.data() + i * sizeof(bits), sizeof(bits));
    bits = __builtin_bswap64(bits);
    *at = std::byte{0xcb};
    std::memcpy(at + 1, &bits, sizeof(bits));
  }
  body.advance_to(at);
  return true;
}

bool msgpack_writer::extension(msgpack_extension type, std::size_t number) {
  if (number > UINT32_MAX)
    return fail(serialize_errc::not_supported, "more than 4,294,967,295 shared objects or frames");
  output_.body().append(std::byte{ext_of_4_bytes});
  put(output_.body(), static_cast<std::uint8_t>(type), static_cast<std::uint32_t>(number));
  return true;
}

bool msgpack_writer::begin_shared(std::size_t number) {
  return begin_list(2) && extension(msgpack_extension::shared_first, number);
}

bool msgpack_writer::shared_again(std::size_t number) {
  return extension(msgpack_extension::shared_again, number);
}

bool msgpack_writer::begin_some() {
  return output_.body().append(some_head), true;
}

bool msgpack_writer::attach(const frame& attached) {
  return extension(msgpack_extension::frame, output_.attach(attached));
}

bool msgpack_writer::attaches_array(const frame& elements) {
  const auto is_of_size = [&](const noted_array& other) {
    return other.elements.size_bytes() == elements.size_bytes();
  };
  attaches_ = false;
  if (elements.size_bytes() == 0 || !elements.owner())
    return false;
  if (noted_ != nullptr) {
    const auto known = noted_->written_.find(elements.bytes().data());
    attaches_ = elements.size_bytes() >= out_of_band_bytes
                || (known != noted_->written_.end() && known->second.comes_again && is_of_size(known->second));
  } else if (notes_) {
    const auto [at, is_new] = written_.try_emplace(elements.bytes().data(), noted_array{elements});
    if (!is_new && is_of_size(at->second))
      found_repeat_ = at->second.comes_again = true;
  }
  return attaches_;
}

bool msgpack_writer::add_array_fields(const array_form& form) {
  return !std::exchange(attaches_, false) || (text("type") && text(name_of(form.of)));
}

msgpack_reader::msgpack_reader(const troupe::context& ctx, std::span<const std::byte> body,
                               std::span<const frame> frames, std::size_t received_bytes)
    : value_reader(ctx, received_bytes),
      begin_(body.data()),
      at_(body.data()),
      end_(body.data() + body.size()),
      frames_(frames),
      taken_(frames.size()) {}

std::uint64_t msgpack_reader::load(std::size_t offset, std::size_t width) const {
  std::uint64_t value = 0; // Big-endian in the upper bytes, then shifted down.
  std::memcpy(&value, at_ + offset, width);
  return __builtin_bswap64(value) >> (64 - 8 * width);
}

bool msgpack_reader::cut() {
  return fail(serialize_errc::malformed, "the input ends too early: " + grouped(left()) + " bytes are left");
}

bool msgpack_reader::at_extension(msgpack_extension type, std::size_t offset) const {
  return left() >= offset + 6 && std::to_integer<std::uint8_t>(at_[offset]) == ext_of_4_bytes
         && std::to_integer<std::uint8_t>(at_[offset + 1]) == static_cast<std::uint8_t>(type);
}

value_kind msgpack_reader::kind() {
  if (left() == 0)
    return value_kind::invalid;
  const auto code = peek();
  if (code < 0x80 || code >= 0xe0 || (code >= 0xca && code <= 0xd3))
    return value_kind::number;
  if (code < 0x90 || code == 0xde || code == 0xdf)
    return value_kind::map;
  if (code == 0x92 && at_extension(msgpack_extension::shared_first, 1))
    return value_kind::shared;
  if (code == 0x92 && left() >= std::size(some_head)
      && std::ranges::equal(some_head, std::span(at_, std::size(some_head))))
    return value_kind::some;
  if (code < 0xa0 || code == 0xdc || code == 0xdd)
    return value_kind::list;
  if (code < 0xc0 || (code >= 0xd9 && code <= 0xdb))
    return value_kind::text;
  if (code == 0xc0)
    return value_kind::null;
  if (code == 0xc2 || code == 0xc3)
    return value_kind::boolean;
  if (code >= 0xc4 && code <= 0xc6)
    return value_kind::bytes;
  if (at_extension(msgpack_extension::shared_again, 0))
    return value_kind::shared;
  if (at_extension(msgpack_extension::frame, 0))
    return value_kind::frame;
  return value_kind::invalid;
}

bool msgpack_reader::null() {
  if (kind() != value_kind::null)
    return unexpected("nothing");
  ++at_;
  return true;
}

bool msgpack_reader::boolean(bool& value) {
  if (left() == 0 || (peek() & 0xfe) != 0xc2)
    return unexpected("a boolean");
  value = peek() == 0xc3;
  ++at_;
  return true;
}

bool msgpack_reader::number(troupe::number& value) {
  if (left() == 0)
    return cut();
  const auto code = peek();
  if (code < 0x80 || code >= 0xe0) {
    value = code < 0x80 ? troupe::number::of(std::uint64_t{code})
                        : troupe::number::of(std::int64_t{static_cast<std::int8_t>(code)});
    ++at_;
    return true;
  }
  if (code < 0xca || code > 0xd3)
    return unexpected("a number");
  // f32, f64, then unsigned and signed of 1, 2, 4 and 8 bytes.
  const std::size_t width = code == 0xca ? 4 : code == 0xcb ? 8 : std::size_t{1} << ((code - 0xcc) & 3);
  if (left() < 1 + width)
    return cut();
  const auto bits = load(1, width);
  at_ += 1 + width;
  if (code == 0xca) {
    value = troupe::number::of(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  } else if (code == 0xcb) {
    value = troupe::number::of(std::bit_cast<double>(bits));
  } else if (code < 0xd0) {
    value = troupe::number::of(bits);
  } else {
    const auto unused = 64 - 8 * width; // If the value is shifted up and down again, its sign fills the upper bits.
    value = troupe::number::of(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return true;
}

bool msgpack_reader::raw(std::span<const std::byte>& value, std::size_t head_bytes, std::uint64_t size) {
  if (left() - head_bytes < size)
    return cut();
  value = {at_ + head_bytes, static_cast<std::size_t>(size)};
  at_ += head_bytes + size;
  return true;
}

bool msgpack_reader::blob(std::span<const std::byte>& value) {
  const auto code = peek();
  if (code >= 0xa0 && code < 0xc0)
    return raw(value, 1, code & 0x1f);
  const auto width = std::size_t{1} << (code - (code >= 0xd9 ? 0xd9 : 0xc4));
  return left() < 1 + width ? cut() : raw(value, 1 + width, load(1, width));
}

bool msgpack_reader::text(std::string_view& value) {
  if (left() > 0 && (peek() & 0xe0) == 0xa0 && left() > (peek() & 0x1fU)) { // Most texts, and most field names.
    value = {reinterpret_cast<const char*>(at_) + 1, peek() & 0x1fU};
    at_ += 1 + value.size();
    return check_text(value.size());
  }
  const auto of = kind();
  if (of != value_kind::text && of != value_kind::bytes)
    return unexpected("a text");
  std::span<const std::byte> view;
  if (!blob(view))
    return false;
  value = {reinterpret_cast<const char*>(view.data()), view.size()};
  return check_text(value.size());
}

bool msgpack_reader::bytes(std::span<const std::byte>& value) {
  return kind() == value_kind::bytes ? blob(value) : unexpected("bytes");
}

bool msgpack_reader::begin(std::size_t& expected, std::uint8_t code16, std::size_t parts) {
  const auto code = peek();
  std::size_t head_bytes = 1;
  std::uint64_t count = code & 0x0f;
  if (code >= 0xc0) {
    const std::size_t width = code == code16 ? 2 : 4;
    head_bytes += width;
    if (left() < head_bytes)
      return cut();
    count = load(1, width);
  }
  at_ += head_bytes;
  if (count * parts > left()) // Each part takes at least one byte.
    return fail(serialize_errc::malformed,
                grouped(count) + " entries announced, and " + grouped(left()) + " bytes are left");
  expected = static_cast<std::size_t>(count);
  if (remaining_.size() >= open_max())
    return fail(serialize_errc::limit_exceeded,
                "nested deeper than " + grouped(context().limits.depth) + " (limits::depth)");
  if (remaining_.size() == remaining_.capacity()
      && !charge_scratch((2 * remaining_.size() + 1) * sizeof(remaining_.front())))
    return false;
  remaining_.push_back(expected);
  return true;
}

bool msgpack_reader::begin_list(std::size_t& expected) {
  const auto of = kind();
  if (of != value_kind::list && !(of == value_kind::shared && peek() == 0x92))
    return unexpected("a list");
  return begin(expected, 0xdc, 1);
}

bool msgpack_reader::begin_map(std::size_t& expected) {
  return kind() == value_kind::map ? begin(expected, 0xde, 2) : unexpected("a map");
}

bool msgpack_reader::next(bool& more) {
  more = remaining_.back() > 0;
  if (more)
    --remaining_.back();
  else
    remaining_.pop_back();
  return true;
}

bool msgpack_reader::skip() {
  // Without recursion: counts the values that are still to be skipped.
  for (std::uint64_t pending = 1; pending > 0; --pending)
    if (!skip_one(pending))
      return false;
  return true;
}

bool msgpack_reader::skip_one(std::uint64_t& pending) {
  std::size_t expected = 0;
  troupe::number ignored;
  std::span<const std::byte> view;
  switch (kind()) {
  case value_kind::null:
  case value_kind::boolean:
    ++at_;
    return true;
  case value_kind::number:
    return number(ignored);
  case value_kind::text:
    return blob(view) && check_text(view.size());
  case value_kind::bytes:
    return blob(view);
  case value_kind::list:
  case value_kind::map: {
    const auto is_map = kind() == value_kind::map;
    if (is_map ? !begin_map(expected) : !begin_list(expected))
      return false;
    remaining_.pop_back();
    pending += expected * (is_map ? 2U : 1U);
    return true;
  }
  case value_kind::shared:
    if (peek() == 0x92) { // The object uses up a number, although it is skipped.
      static_cast<void>(number_shared());
      at_ += 1 + 6;
      pending += 1;
      return charge(1, 64);
    }
    at_ += 6;
    return true;
  case value_kind::some:
    pending += 1;
    return begin_some();
  case value_kind::frame: {
    const auto number = load(2, 4);
    at_ += 6;
    return take_frame(number);
  }
  case value_kind::invalid:
    break;
  }
  return left() == 0 ? cut()
                     : fail(serialize_errc::malformed, "no value begins with the byte " + std::to_string(peek()));
}

bool msgpack_reader::shared(bool& first, std::size_t& number) {
  if (kind() != value_kind::shared)
    return unexpected("a shared object");
  first = peek() == 0x92;
  at_ += first ? 1 : 0;
  number = static_cast<std::size_t>(load(2, 4));
  at_ += 6;
  return true;
}

bool msgpack_reader::begin_some() {
  if (kind() != value_kind::some)
    return unexpected("a value that could be nothing itself");
  at_ += std::size(some_head);
  return true;
}

bool msgpack_reader::take_frame(std::uint64_t number) {
  if (number >= frames_.size())
    return fail(serialize_errc::malformed, "refers to frame " + grouped(number) + " of " + grouped(frames_.size()));
  if (taken_[number])
    return fail(serialize_errc::malformed, "refers to frame " + grouped(number) + " twice");
  taken_[number] = true;
  return true;
}

bool msgpack_reader::attached(frame& target) {
  if (kind() == value_kind::bytes) // Written by hand or in another language.
    return value_reader::attached(target);
  if (kind() != value_kind::frame)
    return unexpected("a frame");
  const auto number = load(2, 4);
  at_ += 6;
  if (!take_frame(number))
    return false;
  target = frames_[number];
  return true;
}

bool msgpack_reader::finish() {
  if (left() > 0)
    return fail(serialize_errc::malformed, grouped(left()) + " bytes are left over");
  const auto unused = std::count(taken_.begin(), taken_.end(), false);
  return unused == 0
         || fail(serialize_errc::malformed, grouped(static_cast<std::size_t>(unused)) + " frames are left over");
}

} // namespace troupe

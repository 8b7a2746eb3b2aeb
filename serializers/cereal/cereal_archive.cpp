#include <troupe/serializers/cereal/cereal_archive.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe {

namespace {

// The byte in front of every value: the byte order.
constexpr std::uint8_t little_endian = 1;

std::size_t total_bytes(std::span<const frame> frames) {
  std::size_t total = 0;
  for (const auto& each : frames)
    total += each.size_bytes();
  return total;
}

} // namespace

// -- cereal_writer

cereal_writer::cereal_writer(const troupe::context& ctx, encode_output& output)
    : encoding(ctx), archive(this), output_(output) {
  output_.body().append(std::byte{little_endian});
}

void cereal_writer::refuse(serialize_errc code, std::string reason) {
  fail(code, std::move(reason));
  throw detail::cereal_stop();
}

std::uint32_t cereal_writer::registerSharedPointer(const std::shared_ptr<const void>& object) {
  if (object) {
    auto& pointer = pointers_.open.back();
    const auto [known, is_new] =
        shared_objects_.try_emplace(object.get(), shared_object{*pointer.pointee, shared_objects_.size()});
    if (known->second.type != *pointer.pointee)
      refuse(serialize_errc::not_supported, "shared pointers to " + detail::type_text(known->second.type) + " and to "
                                                + detail::type_text(*pointer.pointee)
                                                + " at one address, which cereal would take for one object");
    bool closes_circle = false;
    if (is_new) {
      weigh(detail::shared_object_bytes(pointer.size_bytes));
      pointer.has_content = true, begin_shared_content(known->second.number, pointer.owned);
    } else if (pointer.owned && !without_pointer([&] { return refer_to_shared(known->second.number, closes_circle); }))
      throw detail::cereal_stop();
  }
  return archive::registerSharedPointer(object);
}

void cereal_writer::finish() {
  unweigh(arrays_.sum_of_repeats([](std::size_t size_bytes) { return size_bytes; }));
  arrays_.settle(output_);
}

// -- cereal_reader

cereal_reader::cereal_reader(const troupe::context& ctx, std::span<const frame> frames)
    : decoding(ctx, total_bytes(frames)), archive(this) {
  if (!frames.empty()) {
    body_ = frames[0].bytes();
    frames_ = frames.subspan(1);
  }
}

void cereal_reader::begin() {
  std::uint8_t order = 0;
  take(&order, sizeof(order));
  if (order != little_endian)
    refuse(serialize_errc::malformed, "the first byte is " + std::to_string(order) + ", not 1 for little-endian");
}

void cereal_reader::finish() {
  if (!body_.empty())
    refuse(serialize_errc::malformed, grouped(body_.size()) + " bytes are left over after the value");
  if (!frames_.empty())
    refuse(serialize_errc::malformed, grouped(frames_.size()) + " frames are left over");
}

const frame& cereal_reader::take_frame() {
  if (frames_.empty())
    refuse(serialize_errc::malformed, "a frame of the value is missing");
  const auto& taken = frames_.front();
  frames_ = frames_.subspan(1);
  return taken;
}

void cereal_reader::refuse(serialize_errc code, std::string reason) {
  fail(code, std::move(reason));
  throw detail::cereal_stop();
}

void cereal_reader::refuse_cut(std::size_t size_bytes) {
  refuse(serialize_errc::malformed, grouped(size_bytes) + " bytes wanted, " + grouped(body_.size()) + " are left");
}

bool cereal_reader::take_boolean() {
  std::uint8_t byte = 0;
  take(&byte, sizeof(byte));
  if (byte > 1)
    refuse(serialize_errc::malformed, "a boolean of " + std::to_string(byte));
  return byte == 1;
}

// Cereal's functions silently drop a key that is already there. Therefore equal keys are found by the size.
void cereal_reader::check_size(std::size_t size) {
  const auto expected = sizes_.back();
  sizes_.pop_back();
  if (expected != unknown_size_ && expected != size)
    refuse(serialize_errc::malformed, "the same key twice");
}

void cereal_reader::charge_size(std::uint64_t count) {
  if (std::exchange(awaits_size_, false))
    sizes_.back() = count;
  const auto [is_text, element_bytes] = container_.take();
  if (!is_text)
    return spend(count, element_bytes);
  if (!check_text(count))
    throw detail::cereal_stop();
  spend(1, count);
}

// Accepts only the numbers that cereal's writers assign, in their order. Other numbers could all fall into one bucket.
void cereal_reader::registerSharedPointer(std::uint32_t id, std::shared_ptr<void> object) {
  const auto given = id & ~::cereal::detail::msb_32bit;
  const auto number = number_shared();
  if (given != number + 1 || pointers_.open.empty())
    refuse(serialize_errc::malformed,
           "shared object " + grouped(given) + " where number " + grouped(number + 1) + " is next");
  auto& pointer = pointers_.open.back();
  spend(1, detail::shared_object_bytes(pointer.size_bytes));
  shared_types_.emplace_back(*pointer.pointee);
  keep_shared(number, *pointer.pointee, object, pointer.reset);
  pointer.has_content = true;
  begin_shared_content(number, pointer.owned);
  archive::registerSharedPointer(id, std::move(object));
}

std::shared_ptr<void> cereal_reader::getSharedPointer(std::uint32_t id) {
  if (id == 0)
    return nullptr;
  if (id > shared_types_.size() || pointers_.open.empty() || shared_types_[id - 1] != *pointers_.open.back().pointee)
    refuse(serialize_errc::malformed, "refers to shared object " + grouped(id) + ", which is "
                                          + (id > shared_types_.size() ? "not there" : "of another type"));
  const bool owned = pointers_.open.back().owned;
  auto found = without_pointer([&] { return find_shared(id - 1, shared_types_[id - 1], owned); });
  if (!found)
    throw detail::cereal_stop();
  return found;
}

void cereal_reader::registerPolymorphicName(std::uint32_t id, const std::string& name) {
  if ((id & ~::cereal::detail::msb_32bit) != ++polymorphic_names_)
    refuse(serialize_errc::malformed, "polymorphic type " + grouped(id & ~::cereal::detail::msb_32bit)
                                          + " where number " + grouped(polymorphic_names_) + " is next");
  archive::registerPolymorphicName(id, name);
}

namespace detail {

// The bytes of an array, aligned for elements of any type.
frame read_array_bytes(cereal_reader& from, std::size_t count, std::size_t element_bytes, bool in_body) {
  const auto size = count * element_bytes;
  if (in_body) {
    if (size > from.left())
      from.refuse(serialize_errc::malformed, "the array's shape is not that of its data");
    from.spend(1, size);
    std::vector<std::byte> values(size);
    from.take(values.data(), size);
    return frame::copy_of(values);
  }
  const auto& bytes = from.take_frame();
  if (reinterpret_cast<std::uintptr_t>(bytes.bytes().data()) % element_bytes == 0)
    return bytes;
  from.spend(1, bytes.size_bytes());
  return frame::copy_of(bytes.bytes());
}

} // namespace detail
} // namespace troupe

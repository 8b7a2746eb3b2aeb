// User-defined codecs for single types instead of a whole family. Shows two ways, each with every family. Values are
// encoded and decoded without a node. README.md shows the output.
#include <iostream>
#include <stdexcept>

#include <troupe/base/value_or_throw.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/serialize.hpp>

/// A class from a library, which cannot be described.
class temperature {
public:
  static temperature of_kelvin(double kelvin) { return temperature(kelvin); }
  double kelvin() const { return kelvin_; }

private:
  explicit temperature(double kelvin) : kelvin_(kelvin) {}
  double kelvin_;
};

/// Encodes every temperature as a number, in every registry.
template <>
struct troupe::codec<temperature> {
  using form = double;
  static std::expected<form, serialize_error> reduce(const temperature& value, const context&) {
    return value.kelvin();
  }
  static std::expected<temperature, serialize_error> rebuild(form&& kelvin, const context&) {
    if (kelvin < 0) // A codec checks its input, because any peer may have sent it.
      return std::unexpected(serialize_error(serialize_errc::codec_failed, "colder than possible"));
    return temperature::of_kelvin(kelvin);
  }
};

/// Has its own layout: one byte in the header, and the pixels as a frame that is sent without a copy.
struct thumbnail {
  unsigned char side = 0;
  troupe::frame pixels;
};

std::expected<troupe::own_form, troupe::serialize_error> to_frames(const thumbnail& from, const troupe::context&) {
  return troupe::own_form{{std::byte{from.side}}, {from.pixels}};
}

std::expected<thumbnail, troupe::serialize_error>
from_frames(std::span<const std::byte> header, std::span<const troupe::frame> frames, const troupe::context&) {
  if (header.size() != 1 || frames.size() != 1
      || frames[0].size_bytes() != std::to_integer<std::size_t>(header[0]) * std::to_integer<std::size_t>(header[0]))
    return std::unexpected(troupe::serialize_error(troupe::serialize_errc::malformed, "no thumbnail"));
  return thumbnail{std::to_integer<unsigned char>(header[0]), frames[0]};
}

/// Contains values of both types.
struct observation {
  std::string place;
  std::vector<temperature> measured;
  thumbnail picture;
};
TROUPE_DESCRIBE(observation, place, measured, picture)

int main() try {
  troupe::type_registry types;
  types.add<thumbnail>("own_codecs.thumbnail", to_frames, from_frames); // A codec of this registry only.
  types.add<observation>("own_codecs.observation").add<temperature>("own_codecs.temperature");
  const troupe::family_set families;

  const thumbnail picture{100, troupe::frame::copy_of(std::vector<std::byte>(10'000))};
  const observation sent{"roof", {temperature::of_kelvin(290), temperature::of_kelvin(294.5)}, picture};
  for (const std::string family : {"typed", "msgpack", "json"}) {
    const auto payload = troupe::value_or_throw(
        troupe::serialize(sent, {.serializers = {family}, .on_error = troupe::on_error::raise}, types, families));
    const auto back =
        troupe::value_or_throw(troupe::deserialize<observation>(payload, {.deserializers = {family}}, types, families));
    std::cout << family << ": " << back.place << ", " << back.measured.at(1).kelvin() << " K, a picture of "
              << back.picture.pixels.size_bytes() << " bytes; body of " << payload.frames.at(0).size_bytes()
              << " bytes, " << payload.frames.size() - 1 << " frames beside it\n";
  }
  const auto alone = troupe::value_or_throw(troupe::serialize(picture, {}, types, families));
  std::cout << "alone, by its own codec: " << alone.frames.size() << " frames, the same memory: " << std::boolalpha
            << (alone.frames.back().bytes().data() == picture.pixels.bytes().data()) << '\n';
  const auto cold = troupe::value_or_throw(troupe::serialize(temperature::of_kelvin(-1), {}, types, families));
  if (const auto back = troupe::deserialize<temperature>(cold, {}, types, families); !back)
    std::cout << "refused: " << back.error().message() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

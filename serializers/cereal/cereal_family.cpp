#include <troupe/serializers/cereal/cereal_family.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/internal/typed/schema_code.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

namespace troupe {

namespace {

using function_table = std::unordered_map<std::type_index, cereal_functions>;

template <class... Types>
void add_all(function_table& table) {
  (table.emplace(typeid(Types), detail::cereal_functions_of<Types>()), ...);
}

template <class... Numbers>
void add_numbers(function_table& table) {
  add_all<Numbers..., std::vector<Numbers>..., array<Numbers>...>(table);
}

/// The types that every new type_registry contains.
const function_table& plain_types() {
  static const auto table = [] {
    function_table made;
    add_numbers<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t, float, double, std::byte>(made);
    add_all<bool, char, std::string, std::vector<std::string>, std::map<std::string, std::string>,
            std::filesystem::path, frame, record, serialized>(made);
    return made;
  }();
  return table;
}

/// The functions for the type. Null if the family cannot carry the type.
const cereal_functions* functions_of(const type_entry& entry) {
  if (const auto* attached = entry.attachment<cereal_functions>())
    return attached;
  const auto found = plain_types().find(entry.type());
  return found == plain_types().end() ? nullptr : &found->second;
}

using detail::failure;

// The text of a user's exception. It is cut, because it may travel.
std::string cut(std::string_view what) {
  constexpr std::size_t longest = 500;
  return std::string(what.substr(0, longest));
}

std::string thrown_text(std::string_view what) {
  return "a cereal function threw: " + cut(what);
}

// In reading, cereal's own exceptions name the symptom and not the cause.
std::string refused_text(std::string_view what) {
  return "cereal cannot read the bytes: " + cut(what)
         + " (they are damaged, or the sender's cereal functions or registered classes differ from those here)";
}

/// Runs a step that may throw, and records its failure in `state`. Cereal's own exceptions become `cereals_code`.
template <class Step>
std::expected<void, serialize_error> run(coding& state, const type_entry& entry, serialize_errc cereals_code,
                                         Step step) {
  try {
    step();
  } catch (const detail::cereal_stop&) { // The state has the reason.
  } catch (const ::cereal::Exception& thrown) {
    const auto text = exception_text(thrown);
    state.fail(cereals_code, cereals_code == serialize_errc::malformed ? refused_text(text) : thrown_text(text));
  } catch (const std::bad_alloc&) {
    state.fail(serialize_errc::limit_exceeded, "out of memory");
  } catch (const std::length_error& thrown) {
    state.fail(serialize_errc::limit_exceeded, thrown_text(exception_text(thrown)));
  } catch (const std::exception& thrown) {
    state.fail(serialize_errc::codec_failed, thrown_text(exception_text(thrown)));
  } catch (...) {
    state.fail(serialize_errc::codec_failed, thrown_text("an object that is not a std::exception"));
  }
  if (state.failed()) // Also if a function caught the exception and continued.
    return std::unexpected(state.error(entry.alias(), "cereal"));
  return {};
}

/// Requires: the layouts differ. A type that travels by cereal functions has an empty one.
std::string why_different(std::span<const std::byte> there, std::span<const std::byte> here) {
  if (there.empty())
    return "the sender uses cereal functions for the type, this process its description; use the same at both ends";
  if (here.empty())
    return "the sender uses the type's description, this process cereal functions; use the same at both ends";
  return "the sender has another version of the type ("
         + detail::fingerprints_text(detail::fingerprint_of(there), detail::fingerprint_of(here))
         + "), which this family cannot read; build both ends from one version of it, or send it by typed or msgpack";
}

} // namespace

std::string cereal_family::unsupported(const type_entry& entry) const {
  return functions_of(entry) != nullptr ? "" : "it was not registered with add_cereal<T>(types, alias)";
}

std::span<const std::byte> cereal_family::schema(const type_entry& entry) const {
  const auto* functions = functions_of(entry);
  return functions != nullptr && functions->by_description ? entry.schema() : std::span<const std::byte>();
}

std::expected<void, serialize_error> cereal_family::encode(const type_entry& entry, const void* value,
                                                           const context& ctx, encode_output& output) const {
  const auto* functions = functions_of(entry);
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  cereal_writer writer(ctx, output);
  return run(writer, entry, serialize_errc::codec_failed, [&] {
    functions->write(writer, value);
    writer.finish();
  });
}

std::expected<void, serialize_error> cereal_family::decode(const type_entry& entry, void* target,
                                                           const header_fields& header, std::span<const frame> frames,
                                                           const context& ctx) const {
  const auto* functions = functions_of(entry);
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  if (const auto own = schema(entry); !std::ranges::equal(header.schema, own))
    return failure(serialize_errc::layout_mismatch, name(), entry.alias(), why_different(header.schema, own));
  cereal_reader reader(ctx, frames);
  return run(reader, entry, serialize_errc::malformed, [&] {
    reader.begin();
    functions->read(reader, target);
    reader.finish();
  });
}

} // namespace troupe

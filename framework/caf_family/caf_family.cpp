#include <troupe/framework/caf_family/caf_family.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include <troupe/framework/caf_family/caf_type.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe {

namespace {

using function_table = std::unordered_map<std::type_index, caf_functions>;

template <class... Types>
void add_all(function_table& table) {
  (table.emplace(typeid(Types), detail::caf_functions_of<Types>()), ...);
}

template <class... Numbers>
void add_numbers(function_table& table) {
  add_all<Numbers..., std::vector<Numbers>...>(table);
}

/// The types known to CAF among those that every type_registry starts with.
const function_table& plain_types() {
  static const auto table = [] {
    function_table made;
    add_numbers<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t, float, double, std::byte>(made);
    add_all<bool, char, std::string, std::vector<std::string>, std::map<std::string, std::string>, frame>(made);
    return made;
  }();
  return table;
}

/// Null if the family cannot carry the type.
const caf_functions* functions_of(const type_entry& entry) {
  if (const auto* attached = entry.attachment<caf_functions>())
    return attached;
  const auto found = plain_types().find(entry.type());
  return found == plain_types().end() ? nullptr : &found->second;
}

using detail::failure;

// Shortens the text of a user's function, because the text may travel.
std::string cut(std::string_view text) {
  constexpr std::size_t longest = 500;
  return std::string(text.substr(0, longest));
}

std::string thrown_text(std::string_view what) {
  return "an inspect function threw: " + cut(what);
}

/// Records the error that an inspect function has returned as the failure, unless a failure is already set.
void take_error(coding& state, const caf::error& given, bool is_encoding) {
  if (!given || state.failed())
    return;
  if (given == caf::sec::no_context)
    state.fail(is_encoding ? serialize_errc::not_supported : serialize_errc::malformed, std::string(network_only));
  else
    state.fail(serialize_errc::codec_failed, "an inspect function gave: " + cut(text_of(given)));
}

/// Runs a step that may return an error, throw, or set a failure in `state`.
template <class Step>
std::expected<void, serialize_error> run(coding& state, const type_entry& entry, bool is_encoding, Step step) {
  try {
    take_error(state, step(), is_encoding);
  } catch (const std::bad_alloc&) {
    state.fail(serialize_errc::limit_exceeded, "out of memory");
  } catch (const std::length_error& thrown) {
    state.fail(serialize_errc::limit_exceeded, thrown_text(exception_text(thrown)));
  } catch (const std::exception& thrown) {
    state.fail(serialize_errc::codec_failed, thrown_text(exception_text(thrown)));
  } catch (...) {
    state.fail(serialize_errc::codec_failed, thrown_text("an object that is not a std::exception"));
  }
  if (state.failed()) // Even if a function has ignored an error.
    return std::unexpected(state.error(entry.alias(), "caf"));
  return {};
}

} // namespace

std::string caf_family::unsupported(const type_entry& entry) const {
  return functions_of(entry) != nullptr ? "" : "it was not registered with add_caf<T>(types, alias)";
}

std::span<const std::byte> caf_family::schema(const type_entry& entry) const {
  const auto* functions = functions_of(entry);
  return functions != nullptr && functions->by_description ? entry.schema() : std::span<const std::byte>();
}

std::expected<void, serialize_error> caf_family::encode(const type_entry& entry, const void* value, const context& ctx,
                                                        encode_output& output) const {
  const auto* functions = functions_of(entry);
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  caf_writer writer(ctx, output);
  return run(writer, entry, true, [&] { return functions->write(writer, value); });
}

std::expected<void, serialize_error> caf_family::decode(const type_entry& entry, void* target,
                                                        const header_fields& header, std::span<const frame> frames,
                                                        const context& ctx) const {
  const auto* functions = functions_of(entry);
  if (functions == nullptr)
    return failure(serialize_errc::not_supported, name(), entry.alias(), unsupported(entry));
  if (!std::ranges::equal(header.schema, schema(entry)))
    return failure(serialize_errc::layout_mismatch, name(), entry.alias(),
                   "the sender has another version of the type, or uses an inspect function where this process uses "
                   "the type's description; build both ends from one version of it, or send it by typed or msgpack");
  if (frames.empty())
    return failure(serialize_errc::malformed, name(), entry.alias(), "no body");
  caf_reader reader(ctx, frames);
  return run(reader, entry, false, [&] {
    auto stopped = functions->read(reader, target);
    return stopped || reader.failed() ? stopped : reader.finish();
  });
}

} // namespace troupe

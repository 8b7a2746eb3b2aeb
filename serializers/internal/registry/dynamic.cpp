#include <troupe/serializers/internal/coding/dynamic.hpp>

#include <algorithm>
#include <utility>

#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/internal/coding/taking.hpp>
#include <troupe/serializers/internal/typed/schema_reader.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::detail {

namespace {

constexpr std::string_view own_class_label;

/// A value of a registered type, made as `new` makes it. Destroyed unless it is taken.
class new_object {
public:
  explicit new_object(const type_entry& entry) : entry_(&entry), memory_(entry.life().allocate()) {
    try {
      if (entry.life().construct != nullptr)
        entry.life().construct(memory_), lives_ = true;
    } catch (...) {
      entry.life().release(memory_);
      throw;
    }
  }
  new_object(const new_object&) = delete;
  new_object& operator=(const new_object&) = delete;
  ~new_object() {
    if (memory_ == nullptr)
      return;
    if (lives_)
      entry_->life().destroy(memory_);
    entry_->life().release(memory_);
  }

  /// The memory into which type_entry's codecs read.
  [[nodiscard]] void* data() const { return memory_; }
  /// Called once the value has been read.
  void complete() { lives_ = true; }
  [[nodiscard]] void* take() { return std::exchange(memory_, nullptr); }

private:
  const type_entry* entry_;
  void* memory_;
  bool lives_ = false;
};

/// The memory of an object whose class the input names.
std::size_t pointee_bytes(const type_entry& entry) {
  return entry.value_bytes() + shared_bytes;
}

// The memory that readers keep for each type that the input names, in two growing tables.
constexpr std::size_t named_type_bytes = 5 * sizeof(decoding::named_type);

bool write_by(typed_writer& to, const type_entry& entry, const void* value) {
  return entry.codecs().typed_write(to, value);
}

bool write_by(value_writer& to, const type_entry& entry, const void* value) {
  return entry.codecs().visit_write(to, value);
}

bool read_by(typed_reader& from, const type_entry& entry, void* target, std::size_t number) {
  if (std::ranges::equal(from.type_named(number)->layout, entry.schema()))
    return entry.codecs().typed_read(from, target);
  auto& other = from.other_versions();
  other.begin_named(from, number);
  const bool read = entry.codecs().visit_read(other, target);
  other.hand_back(from);
  return read && !from.failed();
}

bool read_by(value_reader& from, const type_entry& entry, void* target, std::size_t) {
  return entry.codecs().visit_read(from, target);
}

void name_type(typed_writer& to, std::type_index type, bool as_form, std::string_view alias,
               std::span<const std::byte> layout) {
  const auto [number, first] = to.appear(type, as_form);
  to.varint(first ? 1 : number + 2);
  if (first) {
    to.weigh(named_type_bytes);
    const typed_writer::passing not_the_values(to); // The memory is the registry's, which may be destroyed first.
    to.contiguous(alias.data(), alias.size(), 1);
    to.contiguous(layout.data(), layout.size(), 1);
  }
}

/// The entry that writes the object of a pointer, and the address at which that entry's value begins.
struct class_found {
  const type_entry* entry = nullptr;
  const void* at = nullptr;
};

bool find_class(coding& state, const pointed_object& of, class_found& found) {
  const auto refuse = [&](const std::string& why) {
    return state.fail(serialize_errc::not_supported, "the pointer points to " + type_text(of.is) + ", " + why);
  };
  const auto* types = state.context().types;
  if (types == nullptr)
    return refuse("but this call has no type registry to find its alias in");
  const auto* entry = types->find(of.is);
  if (entry != nullptr && types->as_base(of.is, const_cast<void*>(of.whole), of.as) != nullptr)
    return found = {entry, of.whole}, true;
  if (const auto* base = types->find(of.as); base != nullptr && types->rebuilds_pointers(of.as))
    return found = {base, of.part}, true;
  if (entry == nullptr)
    return refuse("which is not registered; add it with types.add<" + type_text(of.is) + ">(\"alias\")");
  return refuse("which is not known to derive from " + type_text(of.as)
                + ": describe it with TROUPE_DESCRIBE_DERIVED, or say types.add_base<Derived, Base>()");
}

bool begin_class(typed_writer& to, const type_entry& entry) {
  return name_type(to, entry.type(), false, entry.alias(), entry.schema()), true;
}

bool begin_class(value_writer& to, const type_entry& entry) {
  return to.begin_variant(entry.alias());
}

/// Finds the entry for that alias. Fails if the pointer cannot point to such an object.
bool resolve(decoding& state, std::string_view alias, named_class& found) {
  const auto* types = state.context().types;
  const auto* entry = types == nullptr ? nullptr : types->find(alias);
  const auto name = "'" + std::string(alias.substr(0, 100)) + "'";
  if (entry == nullptr)
    return state.fail(serialize_errc::unknown_type, "the pointer's object has the type " + name
                                                        + ", which is not registered here; add it with types.add<T>(\""
                                                        + std::string(alias.substr(0, 100)) + "\")");
  if (entry->type() != *found.as && !types->derives(entry->type(), *found.as))
    return state.fail(serialize_errc::malformed, "the pointer's object has the type " + name
                                                     + ", which does not derive from " + type_text(*found.as));
  found.entry = entry;
  return true;
}

void* up(decoding& state, const named_class& of, void* object) {
  return of.entry->type() == *of.as ? object : state.context().types->as_base(of.entry->type(), object, *of.as);
}

bool fail_unmakeable(decoding& state, const type_entry& entry) {
  return state.fail(serialize_errc::not_supported,
                    "'" + entry.alias() + "' has no default constructor here, so no object of it can be made");
}

template <class Reader>
void* read_whole(Reader& from, const named_class& of) {
  const auto& entry = *of.entry;
  if (!from.charge(1, pointee_bytes(entry)))
    return nullptr;
  if (from.context().types->rebuilds_pointers(entry.type())) {
    void* made = nullptr;
    return read_foreign(from, entry.info(), placing::make, &made) ? made : nullptr;
  }
  if (entry.life().move == nullptr && entry.life().construct == nullptr)
    return fail_unmakeable(from, entry), nullptr;
  new_object object(entry);
  if (!read_by(from, entry, object.data(), of.number))
    return nullptr;
  object.complete();
  return object.take();
}

template <class Reader>
std::shared_ptr<void> read_shared_whole(Reader& from, const named_class& of, const shared_place& place) {
  const auto& entry = *of.entry;
  const auto& life = entry.life();
  const bool is_numbered = place.is_numbered;
  const auto number = is_numbered ? from.number_shared() : 0;
  if (life.share == nullptr)
    return fail_unmakeable(from, entry), nullptr;
  shared_content content(from, place, number);
  std::shared_ptr<void> object;
  if (life.construct == nullptr || from.context().types->rebuilds_pointers(entry.type())) {
    auto* made = read_whole(from, of);
    if (made == nullptr)
      return nullptr;
    object = life.share(made);
    if (is_numbered)
      from.keep_shared(number, entry.type(), object, [](void*) {});
  } else {
    if (!from.charge(1, pointee_bytes(entry)))
      return nullptr;
    object = life.share(new_object(entry).take());
    if (is_numbered) // Recorded first, because the content may point back at the object.
      from.keep_shared(number, entry.type(), object, life.reset);
    if (!read_by(from, entry, object.get(), of.number))
      return nullptr;
  }
  if (!content.complete())
    return nullptr;
  return {object, up(from, of, object.get())};
}

stand_in_table::pointer stand_in_for(coding& state, const std::type_info& type) {
  const auto* types = state.context().types;
  auto found = types == nullptr ? nullptr : types->stand_ins().find(type);
  if (!found)
    state.fail(serialize_errc::not_supported, type_text(type) + " has " + std::string(no_codec));
  return found;
}

bool name_form(typed_writer& to, const type_entry& form) {
  return name_type(to, form.type(), true, {}, form.schema()), true;
}

bool name_form(value_writer&, const type_entry&) {
  return true;
}

typed_writer::passing as_passing(typed_writer& to) {
  return typed_writer::passing(to);
}

int as_passing(value_writer&) {
  return 0; // Visitors borrow nothing.
}

template <class Writer>
bool write_form(Writer& to, const std::type_info& type, const void* value, bool is_pointee) {
  const auto by = stand_in_for(to, type);
  if (!by)
    return false;
  if (by->makes_pointers && !is_pointee)
    return to.fail(serialize_errc::not_supported, type_text(type) + " has " + std::string(codec_for_pointers));
  if (!to.enter())
    return false;
  const auto form = called_codec([&] { return by->reduce(value, to.context()); });
  if (!form)
    return to.fail(form.error());
  to.weigh(by->form->value_bytes());
  [[maybe_unused]] const auto form_passes = as_passing(to);
  if (!name_form(to, *by->form) || !write_by(to, *by->form, form->get()))
    return false;
  to.leave();
  return true;
}

template <class Writer>
bool write_class(Writer& to, const pointed_object& of) {
  class_found found;
  if (!find_class(to, of, found) || !begin_class(to, *found.entry))
    return false;
  const auto& entry = *found.entry;
  to.weigh(pointee_bytes(entry));
  const bool by_codec = to.context().types->rebuilds_pointers(entry.type());
  return (by_codec ? write_form(to, entry.info(), found.at, true) : write_by(to, entry, found.at)) && end_own_class(to);
}

bool number_of_form(typed_reader& from, std::size_t& number) {
  decoding::named_type named;
  bool is_named = false;
  if (!read_named_type(from, from, named, number, is_named))
    return false;
  return is_named || from.fail(serialize_errc::malformed, "a value that does not state its form");
}

bool number_of_form(value_reader&, std::size_t&) {
  return true;
}

template <class Reader>
bool read_form(Reader& from, const std::type_info& type, placing how, void* place) {
  const auto by = stand_in_for(from, type);
  std::size_t number = 0;
  if (!by || !from.enter() || !number_of_form(from, number) || !from.charge(1, by->form->value_bytes()))
    return false;
  new_object form(*by->form);
  if (!read_by(from, *by->form, form.data(), number))
    return false;
  form.complete();
  from.leave();
  const auto rebuilt = called_codec([&] { return by->rebuild(how, place, form.data(), from.context()); });
  return rebuilt || from.fail(rebuilt.error());
}

} // namespace

bool begin_own_class(typed_writer& to) {
  return to.varint(0), true;
}

bool begin_own_class(value_writer& to) {
  return to.begin_variant(own_class_label);
}

bool end_own_class(typed_writer&) {
  return true;
}

bool end_own_class(value_writer& to) {
  return to.end_variant();
}

bool check_class(coding& state, const pointed_object& of) {
  class_found found;
  return find_class(state, of, found);
}

bool write_pointee(typed_writer& to, const pointed_object& of) {
  return write_class(to, of);
}

bool write_pointee(value_writer& to, const pointed_object& of) {
  return write_class(to, of);
}

bool read_named_type(typed_reader& wire, decoding& state, decoding::named_type& found, std::size_t& number,
                     bool& is_named) {
  std::uint64_t code = 0;
  if (!wire.varint(code))
    return false;
  is_named = code > 0;
  if (code == 0)
    return true;
  if (code > 1) {
    const auto* known = state.type_named(code - 2);
    if (known == nullptr)
      return wire.fail(serialize_errc::malformed, "refers to a type that was not named before");
    found = *known;
    number = code - 2;
    return true;
  }
  typed_reader::block alias;
  typed_reader::block layout;
  if (!wire.contiguous(alias, 1) || !wire.contiguous(layout, 1))
    return false;
  if (!state.charge(1, named_type_bytes))
    return false;
  found = {{reinterpret_cast<const char*>(alias.bytes.data()), alias.bytes.size()}, layout.bytes};
  number = state.name_type(found);
  return true;
}

bool begin_pointee(typed_reader& from, const std::type_info& as, named_class& found) {
  decoding::named_type named;
  bool is_named = false;
  found = {.entry = nullptr, .as = &as};
  if (!read_named_type(from, from, named, found.number, is_named))
    return false;
  return !is_named || resolve(from, named.alias, found);
}

bool begin_pointee(value_reader& from, const std::type_info& as, named_class& found) {
  std::size_t expected = 0;
  bool more = false;
  std::string_view label;
  found = {.entry = nullptr, .as = &as};
  if (!from.begin_map(expected) || !from.next(more))
    return false;
  if (!more)
    return from.fail(serialize_errc::malformed, "a pointer to nothing of any class");
  return from.text(label) && (label == own_class_label || resolve(from, label, found));
}

std::string_view alias_of(const named_class& of) {
  return of.entry->alias();
}

bool end_pointee(typed_reader&) {
  return true;
}

bool end_pointee(value_reader& from) {
  bool more = false;
  return from.next(more) && (!more || from.fail(serialize_errc::malformed, "a pointer to two objects"));
}

void* read_pointee(typed_reader& from, const named_class& of) {
  auto* whole = read_whole(from, of);
  return whole == nullptr ? nullptr : up(from, of, whole);
}

void* read_pointee(value_reader& from, const named_class& of) {
  auto* whole = read_whole(from, of);
  return whole == nullptr ? nullptr : up(from, of, whole);
}

std::shared_ptr<void> read_shared_pointee(typed_reader& from, const named_class& of, const shared_place& place) {
  return read_shared_whole(from, of, place);
}

std::shared_ptr<void> read_shared_pointee(value_reader& from, const named_class& of, const shared_place& place) {
  return read_shared_whole(from, of, place);
}

std::shared_ptr<void> as_base(const context& ctx, const std::shared_ptr<void>& object, std::type_index is,
                              std::type_index base) {
  auto* part = ctx.types == nullptr ? nullptr : ctx.types->as_base(is, object.get(), base);
  return part == nullptr ? nullptr : std::shared_ptr<void>(object, part);
}

bool write_foreign(typed_writer& to, const std::type_info& type, const void* value) {
  return write_form(to, type, value, false);
}

bool write_foreign(value_writer& to, const std::type_info& type, const void* value) {
  return write_form(to, type, value, false);
}

bool read_foreign(typed_reader& from, const std::type_info& type, placing how, void* place) {
  return read_form(from, type, how, place);
}

bool read_foreign(value_reader& from, const std::type_info& type, placing how, void* place) {
  return read_form(from, type, how, place);
}

} // namespace troupe::detail

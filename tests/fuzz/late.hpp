// Values whose types are known only at run time: objects behind pointers to base classes, types whose codec is in the
// registry, records, payloads within payloads, types sent attribute by attribute.
#pragma once

#include <deque>

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

#include "../serializers/rich.hpp"

namespace fuzz {

/// May be part of a circle.
struct figure {
  virtual ~figure() = default;
  std::string name;
  std::shared_ptr<figure> next;
};
TROUPE_DESCRIBE(figure, name, next)

struct painted {
  virtual ~painted() = default;
  rich::color paint = rich::color::red;
  std::weak_ptr<painted> twin;
};
TROUPE_DESCRIBE(painted, paint, twin)

/// older.cpp has another version.
struct disc : figure {
  double radius = 0;
};
TROUPE_DESCRIBE_DERIVED(disc, (figure), radius)

/// `figure` does not lie at its beginning.
struct plate : painted, figure {
  int width = 0;
  std::unique_ptr<figure> on_top;
  std::deque<std::string> words;
};
TROUPE_DESCRIBE_DERIVED(plate, (painted, figure), width, on_top, words)

/// Has no default constructor.
class nail final : public figure {
public:
  nail(int length, std::shared_ptr<figure> follower) : length_(length) { next = std::move(follower); }
  [[nodiscard]] std::tuple<int, std::shared_ptr<figure>> reduce() const { return {length_, next}; }
  static nail rebuild(int length, std::shared_ptr<figure> follower) { return {length, std::move(follower)}; }

private:
  int length_;
};

/// Abstract, without a description; the registry's codec creates objects behind pointers to it.
struct animal {
  virtual ~animal() = default;
  [[nodiscard]] virtual std::string says() const = 0;
};

/// Without a description; the registry has a serializer for it, whose form may be empty.
class lockbox {
public:
  lockbox() = default;
  explicit lockbox(std::optional<std::string> content) : content_(std::move(content)) {}
  [[nodiscard]] const std::optional<std::string>& content() const { return content_; }

private:
  std::optional<std::string> content_;
};

/// Without a description or a default constructor; added with a codec of its own.
class ticket {
public:
  explicit ticket(std::vector<troupe::frame> stamps) : stamps_(std::move(stamps)) {}
  [[nodiscard]] const std::vector<troupe::frame>& stamps() const { return stamps_; }

private:
  std::vector<troupe::frame> stamps_;
};

struct late {
  std::unique_ptr<figure> single;
  std::vector<std::shared_ptr<figure>> figures;
  std::shared_ptr<painted> panel;
  std::weak_ptr<figure> seen;
  std::shared_ptr<disc> sun;
  std::vector<std::unique_ptr<animal>> animals;
  std::shared_ptr<animal> star;
  std::vector<lockbox> boxes;
  std::map<std::string, lockbox> boxes_by_name;
  std::optional<lockbox> top;
  std::shared_ptr<lockbox> best;
  std::vector<ticket> tickets;
  std::unique_ptr<ticket> spare;
  troupe::record anything;
  std::vector<troupe::record> records;
  std::optional<troupe::record> maybe;
  std::shared_ptr<troupe::record> note;
  std::shared_ptr<troupe::record> same_note;
  std::vector<troupe::serialized> payloads;
  std::vector<std::deque<int>> rows;
  std::variant<std::monostate, std::unique_ptr<figure>, troupe::record, lockbox> any_of;
};
TROUPE_DESCRIBE(late, single, figures, panel, seen, sun, animals, star, boxes, boxes_by_name, top, best, tickets, spare,
                anything, records, maybe, note, same_note, payloads, rows, any_of)

/// A value with something in every member.
late full_late();

/// Registered so that it is sent attribute by attribute.
struct model {
  std::string name;
  int epoch = 0;
  std::vector<double> weights;
  std::map<std::string, lockbox> boxes;
  troupe::record notes;
  std::shared_ptr<figure> emblem;
};
TROUPE_DESCRIBE(model, name, epoch, weights, boxes, notes, emblem)

model full_model();

// Collections and variants that are sent element by element.
using models = std::map<std::string, model>;
using choices = std::vector<std::variant<int, std::string, disc>>;
using choice = std::variant<int, std::string, model>;
using rows = std::vector<std::deque<int>>;

/// add_late() registers all types above. add_late_codecs() registers only those that need codecs: older.cpp has other
/// versions of the rest.
void add_late_codecs(troupe::type_registry& types);
void add_late(troupe::type_registry& types);

/// Cuts the circles of figures that a decoded value may contain. Does nothing to values of other types.
void cut_late_circles(const troupe::type_entry& entry, void* value);

/// The payloads within a value.
std::vector<troupe::serialized> payloads_within(const troupe::type_entry& entry, const void* value);

} // namespace fuzz

#include <troupe/framework/gateway/internal/view/order_text.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>

#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/framework/gateway/view.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/json/json_reader.hpp>

namespace troupe::web {

namespace {

constexpr std::string_view kinds = "close_link, reconfigure_link or release_out_of_band";

/// The names of a described struct's fields.
template <class T>
constexpr auto fields_of = troupe_description(describe_tag<T>{}).names;

/// One pass over the text.
class order_check {
public:
  explicit order_check(std::string_view json)
      : json_(json), reader_(ctx_, std::as_bytes(std::span(json_)), json_.size()) {}

  std::expected<void, std::string> run() {
    const auto is_read = object("an order of the page", fields_of<view_order>,
                                [&](std::string_view name) { return name == "node" ? text("node", node_) : order(); });
    if (!is_read || !problem_.empty() || !reader_.finish())
      return std::unexpected{problem_.empty() ? reader_.error("order", "json").message() : problem_};
    if (node_.empty())
      return std::unexpected{std::string("the order lacks \"node\": the key of a node on the page")};
    if (what_.empty())
      return std::unexpected{"the order lacks \"what\": " + std::string(kinds)};
    const auto is_about_object = what_ == "release_out_of_band";
    if (!is_about_object && what_ != "close_link" && what_ != "reconfigure_link")
      return std::unexpected{"\"what\" is " + excerpt(what_) + "; it must be " + std::string(kinds)};
    if (const auto* const needed = is_about_object ? "object" : "number"; !seen_.contains(needed))
      return std::unexpected{"the order " + what_ + " lacks \"" + needed + '"'};
    return {};
  }

private:
  bool order() {
    return object("\"order\"", fields_of<node_order>, [&](std::string_view name) {
      seen_.emplace(name);
      return name == "what" ? text("what", what_) : reader_.skip();
    });
  }

  bool text(const std::string& field, std::string& to) {
    if (reader_.kind() != value_kind::text)
      return fail('"' + field + "\" must be a text" + (field == "what" ? ": " + std::string(kinds) : ""));
    std::string_view value;
    if (!reader_.text(value))
      return false;
    to = value;
    return true;
  }

  template <class Names, class Take>
  bool object(const std::string& where, const Names& known, Take take) {
    if (reader_.kind() != value_kind::map)
      return fail(where + " must be an object");
    if (!reader_.begin_structure())
      return false;
    std::set<std::string> before;
    std::string_view name;
    for (bool more = false; reader_.field(name, more);) {
      if (!more)
        return true;
      if (std::ranges::find(known, name) == known.end())
        return fail(where + " has the unknown field " + excerpt(name));
      if (!before.emplace(name).second)
        return fail(where + " has the field " + excerpt(name) + " twice");
      if (!take(name))
        return false;
    }
    return false;
  }

  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  const std::string_view json_;
  const context ctx_;
  json_reader reader_;
  std::string problem_;
  std::string node_;
  std::string what_;
  std::set<std::string> seen_;
};

} // namespace

std::expected<void, std::string> check_order(std::string_view json) {
  return order_check{json}.run();
}

} // namespace troupe::web

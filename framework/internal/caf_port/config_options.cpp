#include <troupe/framework/internal/caf_port/config_options.hpp>

#include <string_view>
#include <utility>

#include <caf/config_value.hpp>
#include <caf/message.hpp>
#include <caf/pec.hpp>
#include <caf/settings.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

caf::string_view view(std::string_view text) {
  return {text.data(), text.size()};
}

} // namespace

void add_to_help(caf::config_option_set& options, const std::string& group, std::span<const help_row> rows) {
  for (const auto& row : rows) {
    auto category = group;
    std::string_view name = row.key;
    if (auto dot = name.rfind('.'); dot != std::string_view::npos) {
      category += '.' + std::string{name.substr(0, dot)};
      name.remove_prefix(dot + 1);
    }
    // CAF never reads these options, because troupe::system_config takes them first. Their types matter only for the
    // list.
    options.add<std::string>(view(category), view(name), view(row.meaning));
  }
}

std::string for_caf(const std::string& text) {
  return ' ' + text; // CAF overlooks a line end at the very beginning, and counts the columns of later lines from 2.
}

caf::error with_place(caf::error from, const std::string& file) {
  if (!from || from.category() != caf::make_error(caf::pec::unexpected_eof).category()
      || !from.context().match_elements<caf::settings>())
    return from;
  const auto& context = from.context().get_as<caf::settings>(0);
  if (const auto argument = caf::get_if<std::string>(&context, "argument")) {
    const auto why = static_cast<caf::pec>(from.code());
    return to_caf_error(
        {node_errc::bad_option, why == caf::pec::not_an_option
                                    ? "there is no option \"" + *argument + "\"; --help and --long-help list all"
                                    : "the argument \"" + *argument + "\" cannot be read: " + to_string(why)});
  }
  const auto line = caf::get_if<std::int64_t>(&context, "line");
  const auto column = caf::get_if<std::int64_t>(&context, "column");
  if (!line || !column)
    return from;
  return to_caf_error({node_errc::bad_option, file + ':' + std::to_string(*line) + ": CAF cannot read this, at column "
                                                  + std::to_string(*column - 1) + ": "
                                                  + to_string(static_cast<caf::pec>(from.code()))});
}

} // namespace troupe::internal

#include <troupe/framework/system_config.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/caf_port/config_options.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/config/configuration.hpp>
#include <troupe/framework/internal/config/near_name.hpp>
#include <troupe/framework/internal/config/option_table.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

namespace {

constexpr std::string_view own_prefix = "--troupe.";
constexpr std::string_view file_prefix = "--config-file=";

constexpr std::string_view default_file = "caf-application.ini"; // CAF's.

/// "\"a.ini\" cannot be read: No such file or directory (looked for /home/me/a.ini)".
std::string why_unread(const std::string& name, int error) {
  std::error_code unknown; // The working directory may be gone.
  const auto place = std::filesystem::absolute(name, unknown);
  return '"' + internal::one_line(internal::cut(name)) + "\" cannot be read: " + std::strerror(error)
         + (unknown ? "" : " (looked for " + internal::one_line(internal::cut(place.string())) + ')');
}

std::vector<std::string> to_list(int argument_count, char** arguments) {
  if (argument_count < 2)
    return {};
  return {arguments + 1, arguments + argument_count};
}

/// Moves Troupe's options from the arguments into the result.
std::expected<std::vector<internal::config_item>, node_error> take_own(std::vector<std::string>& arguments) {
  std::vector<internal::config_item> items;
  auto end = std::ranges::find(arguments, "--");
  for (auto at = arguments.begin(); at != end; ++at)
    if (at->starts_with(own_prefix)) {
      auto item = internal::read_config_argument(std::string_view{*at}.substr(2));
      if (!item)
        return std::unexpected{std::move(item).error()};
      items.push_back(*std::move(item));
    }
  arguments.erase(std::remove_if(arguments.begin(), end, [](const auto& each) { return each.starts_with(own_prefix); }),
                  end);
  return items;
}

template <class Entry>
std::vector<internal::help_row> help_of(std::span<const internal::option_row<Entry>> options) {
  std::vector<internal::help_row> rows;
  for (const auto& each : options)
    rows.push_back({std::string{each.key}, std::string{each.meaning} + " (default: " + each.show(Entry{}) + ')'});
  return rows;
}

} // namespace

system_config::system_config() {
  set("scheduler.policy", caf::atom("sharing"));
  internal::add_system_module(*this);
  internal::mark_threads(*this);
  internal::add_to_help(custom_options_, "troupe.node", help_of(internal::node_rows()));
  internal::add_to_help(custom_options_, "troupe.links.default", help_of(internal::link_rows()));
  add_error_category(error_category, [](std::uint8_t code, caf::atom_value, const caf::message& context) {
    auto text = to_string(static_cast<node_errc>(code));
    if (context.match_elements<std::string>())
      text += ": " + context.get_as<std::string>(0);
    return text;
  });
}

caf::error system_config::parse(string_list arguments, std::istream& file) {
  return parse_from(std::move(arguments), file, "configuration");
}

caf::error system_config::parse(string_list arguments, const char* file) {
  std::string name = file != nullptr ? file : config_file_path;
  auto end = std::ranges::find(arguments, "--");
  auto named = std::find_if(arguments.begin(), end, [](const auto& each) { return each.starts_with(file_prefix); });
  if (named != end) {
    name = named->substr(file_prefix.size());
    // Like CAF's own option, the value may be quoted.
    if (name.size() > 1 && name.starts_with('"') && name.ends_with('"'))
      name = name.substr(1, name.size() - 2);
  }
  errno = 0;
  std::ifstream opened{name};
  if (!opened) {
    const auto why = why_unread(name, errno);
    if (named != end)
      return to_caf_error({node_errc::bad_option, "the configuration file of --config-file " + why});
    if (name == default_file)
      internal::log(log_level::info, "the configuration file " + why + "; its options keep their defaults");
    else
      internal::log(log_level::warning,
                    "the configuration file that the program names " + why + "; its options keep their defaults");
  }
  config_file_path = name;
  return parse_from(std::move(arguments), opened, name);
}

caf::error system_config::parse(int argument_count, char** arguments, std::istream& file) {
  return parse(to_list(argument_count, arguments), file);
}

caf::error system_config::parse(int argument_count, char** arguments, const char* file) {
  return parse(to_list(argument_count, arguments), file);
}

caf::error system_config::parse_from(string_list arguments, std::istream& file, const std::string& file_name) {
  std::string text;
  try {
    if (file) {
      text.resize(internal::config_text_bytes_max + 1); // One byte more than is accepted.
      const auto count = file.rdbuf()->sgetn(text.data(), static_cast<std::streamsize>(text.size()));
      text.resize(static_cast<std::size_t>(count));
    }
  } catch (const std::ios_base::failure& failure) { // A directory, for example.
    return to_caf_error({node_errc::bad_option, file_name + " cannot be read: " + failure.what()});
  }
  auto read = internal::read_config_text(text, file_name);
  if (!read)
    return to_caf_error(read.error());
  auto overrides = take_own(arguments);
  if (!overrides)
    return to_caf_error(overrides.error());
  std::ranges::move(*overrides, std::back_inserter(read->items));
  auto checked = internal::configuration::make(std::move(read->items));
  if (!checked)
    return to_caf_error(checked.error());
  configuration_ = std::make_shared<const internal::configuration>(*std::move(checked));
  std::istringstream rest{internal::for_caf(read->rest)};
  auto error = internal::with_place(caf::actor_system_config::parse(std::move(arguments), rest), file_name);
  if (!error)
    warn_of_near_groups(file_name);
  return error;
}

/// Warns of groups that are probably misspelled. CAF accepts unknown groups silently.
void system_config::warn_of_near_groups(const std::string& file_name) const {
  constexpr std::array<std::string_view, 1> known{"troupe"};
  const auto is_known = [this](const std::string& group) {
    return std::any_of(custom_options_.begin(), custom_options_.end(), [&](const caf::config_option& each) {
      const auto category = std::string{each.category().data(), each.category().size()};
      return category == group || category.starts_with(group + '.');
    });
  };
  for (const auto& [name, value] : content)
    if (caf::holds_alternative<caf::config_value::dictionary>(value) && !is_known(name)
        && !internal::nearest(name, known).empty())
      internal::log(log_level::warning, "the configuration of " + file_name + " has an unknown group \""
                                            + internal::one_line(internal::cut(name)) + "\"; did you mean \"troupe\"?");
}

std::expected<struct node_options, node_error> system_config::node_options_with(const family_set& families,
                                                                                struct node_options given) const {
  if (content.find("troupe") != content.end())
    return std::unexpected{node_error{
        node_errc::bad_option, "the configuration has \"troupe\" among CAF's own options, where it has no effect: call "
                               "parse of troupe::system_config, not of its base; in code, give options to "
                               "node::open and node::connect"}};
  if (!configuration_)
    return given;
  if (auto known = configuration_->check_families(families); !known)
    return std::unexpected{std::move(known).error()};
  return configuration_->node(std::move(given));
}

std::expected<struct link_options, node_error>
system_config::link_options_for(std::string_view address, const family_set& families, struct link_options given) const {
  if (!configuration_)
    return given;
  if (auto known = configuration_->check_families(families, address); !known)
    return std::unexpected{std::move(known).error()};
  return configuration_->link(address, {.options = std::move(given)}).options;
}

reconnect_policy system_config::reconnect_policy_for(std::string_view address, reconnect_policy given) const {
  return configuration_ ? configuration_->link(address, {.policy = std::move(given)}).policy : given;
}

} // namespace troupe

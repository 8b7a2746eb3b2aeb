// A typed actor over TLS. Run `calculator FOLDER serve` in one terminal and `calculator FOLDER` in another, where
// FOLDER holds the certificates made by make-certificates.
#include <iostream>
#include <stdexcept>
#include <utility>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;
using plus_atom = caf::atom_constant<caf::atom("plus")>;
using divide_atom = caf::atom_constant<caf::atom("divide")>;
using root_atom = caf::atom_constant<caf::atom("root")>;

using calculator = caf::typed_actor<caf::replies_to<plus_atom, double, double>::with<double>,
                                    caf::replies_to<divide_atom, double, double>::with<double>>;
using scientific_calculator = calculator::extend<caf::replies_to<root_atom, double>::with<double>>;

calculator::behavior_type calculating() {
  return {[](plus_atom, double left, double right) { return left + right; },
          [](divide_atom, double left, double right) -> caf::result<double> {
            if (right == 0)
              return caf::make_error(caf::sec::invalid_argument, "division by zero");
            return left / right;
          }};
}

int main(int argument_count, char** arguments) try { // calculator FOLDER [serve] [ADDRESS]
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.empty())
    throw std::runtime_error("calculator FOLDER [serve] [ADDRESS]");
  const auto serves = words.size() > 1 && words[1] == "serve";
  const auto address = words.size() > (serves ? 2 : 1) ? words.back() : "tls://127.0.0.1:4400";
  const auto file = [&](const std::string& name) { return words[0] + '/' + name; };
  troupe::type_registry types; // Numbers and CAF's atoms need no registration.
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  if (serves) {
    troupe::node_options options{.name = "server", .listen = {address}, .store = {}};
    options.accepted_links.credentials.tls = {.certificate_file = file("server.pem"),
                                              .key_file = file("server.key"),
                                              .authority_file = file("authority.pem"),
                                              .require_client_certificate = true};
    options.publish = {{"calculator", system.spawn(calculating)}};
    auto node = troupe::value_or_throw(troupe::node::open(system, types, families, std::move(options)));
    std::cout << "serving at " << node.addresses()[0] << " until Enter is pressed" << std::endl;
    std::cin.get();
    return 0;
  }
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {.name = "client", .store = {}}));
  troupe::link_options options;
  options.credentials.tls = {.authority_file = file("authority.pem")}; // Trust certificates of this authority.
  if (auto link = node.connect(address, options); !link)
    std::cout << "without a certificate: " << link.error().message() << '\n';
  options.credentials.tls.certificate_file = file("client.pem");
  options.credentials.tls.key_file = file("client.key");
  auto link = troupe::value_or_throw(node.connect(address, options));

  const auto remote = troupe::value_or_throw(link.find<calculator>("calculator")); // An ordinary typed handle.
  caf::scoped_actor self{system};
  const auto ask = [&](const std::string& what, auto operation, double left, double right) {
    self->request(remote, 5s, operation, left, right)
        .receive([&](double result) { std::cout << what << " = " << result << '\n'; },
                 [&](const caf::error& error) { std::cout << what << ": " << troupe::text_of(error) << '\n'; });
  };
  ask("1 + 2", plus_atom::value, 1, 2);
  ask("7 / 2", divide_atom::value, 7, 2);
  ask("1 / 0", divide_atom::value, 1, 0);
  if (auto scientific = link.find<scientific_calculator>("calculator"); !scientific)
    std::cout << "as a scientific one: " << scientific.error().message() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

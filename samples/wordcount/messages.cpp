#include "messages.hpp"

#include <troupe/serializers/cereal/cereal_type.hpp>

namespace wordcount {

void add_message_types(troupe::type_registry& types) {
  troupe::add_cereal<registration>(types, "wordcount.registration");
  troupe::add_cereal<text_block>(types, "wordcount.text_block");
  troupe::add_cereal<block_counts>(types, "wordcount.block_counts");
}

} // namespace wordcount

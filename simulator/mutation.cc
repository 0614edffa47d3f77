#include "simulator/mutation.h"

namespace lastout::simulator {

std::string_view toString(Mutation::Operation operation) {
  switch (operation) {
    case Mutation::Operation::Create:
      return "CREATE";
    case Mutation::Operation::Update:
      return "UPDATE";
    case Mutation::Operation::Delete:
      break;
  }
  return "DELETE";
}

}  // namespace lastout::simulator

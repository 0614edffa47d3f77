#include "protection/message.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/messages.h"

namespace lastout::protection {
namespace {

using PieceKind = MessagePiece::Kind;

struct Placeholder {
  std::string_view word;
  PieceKind kind;
};

constexpr std::array<Placeholder, 10> kPlaceholders{{{"kind", PieceKind::ObjectKind},
                                                     {"resource", PieceKind::Resource},
                                                     {"name", PieceKind::Name},
                                                     {"namespace", PieceKind::Namespace},
                                                     {"inNamespace", PieceKind::InNamespace},
                                                     {"reason", PieceKind::Reason},
                                                     {"count", PieceKind::ListerCount},
                                                     {"listerName", PieceKind::ListerName},
                                                     {"listerNamespace", PieceKind::ListerNamespace},
                                                     {"because", PieceKind::Because}}};

std::string textOf(const MessagePiece& piece, const Request& request, const std::string& reason,
                   const Listers& listers) {
  const kube::ObjectKey& object = request.object;
  switch (piece.kind) {
    case PieceKind::Text:
      return piece.text;
    case PieceKind::ObjectKind:
      return request.kind;
    case PieceKind::Resource:
      return kube::toString(object.type);
    case PieceKind::Name:
      return object.name;
    case PieceKind::Namespace:
      return object.namespaceName;
    case PieceKind::InNamespace:
      return object.namespaceName.empty() ? "" : " in namespace \"" + object.namespaceName + "\"";
    case PieceKind::Reason:
      return reason;
    case PieceKind::ListerCount:
      return std::to_string(listers.count);
    case PieceKind::ListerName:
      return listers.name;
    case PieceKind::ListerNamespace:
      return listers.namespaceName;
    case PieceKind::Because:
      return listers.because.empty() ? "" : " " + listers.because;
  }
  return "";
}

// What lifts the protection, as the end of a sentence; empty: nothing but a change of the policy.
std::string wayOut(const DeletionPolicy& policy, Block block) {
  const std::vector<KeyTest>& lifting = block == Block::Unprotect ? policy.exemptions : policy.overrides;
  if (lifting.empty()) return "";
  return "; " + toString(lifting.front()) + (block == Block::Unprotect ? " permits that" : " overrides that");
}

}  // namespace

std::string reasonOfKey(const KeyTest& test, std::string_view value) {
  return nameOf(test) + (value.empty() ? " is set" : " is " + std::string(value));
}

std::string reasonOfField(const FieldTest& test) {
  const std::string text = toString(test);
  const size_t colon = text.rfind(": ");
  return text.substr(0, colon) + " is " + text.substr(colon + 2);
}

tl::expected<std::vector<MessagePiece>, std::string> parseMessage(std::string_view message) {
  std::vector<MessagePiece> pieces;
  while (!message.empty()) {
    const size_t open = message.find('{');
    if (open != 0) {
      pieces.push_back({PieceKind::Text, std::string(message.substr(0, open))});
      if (open == std::string_view::npos) break;
    }
    const size_t close = message.find('}', open);
    const std::string_view word =
        close == std::string_view::npos ? message.substr(open) : message.substr(open + 1, close - open - 1);
    bool found = false;
    for (const Placeholder& placeholder : kPlaceholders) {
      if (word != placeholder.word || close == std::string_view::npos) continue;
      pieces.push_back({placeholder.kind, {}});
      found = true;
    }
    if (!found) return tl::unexpected(std::string(word));
    message.remove_prefix(close + 1);
  }
  return pieces;
}

bool namesListers(std::string_view message) {
  const auto pieces = parseMessage(message);
  return pieces && std::any_of(pieces->begin(), pieces->end(), [](const MessagePiece& piece) {
           return piece.kind >= PieceKind::ListerCount;
         });
}

namespace {

std::string sentenceFor(const DeletionPolicy& policy, Block block) {
  const std::string_view verb = block == Block::Unprotect ? " must keep what protects it"
                                : block == Block::Orphan  ? " must not be deleted with Orphan"
                                                          : " must not be deleted";
  return "{resource} {name}{inNamespace}" + std::string(verb) + ": {reason}, says deletion policy " +
         policy.meta.name + wayOut(policy, block);
}

}  // namespace

std::string templateOf(const DeletionPolicy& policy, Block block) {
  const std::string& own = block == Block::Unprotect ? policy.unprotectMessage : policy.message;
  return own.empty() ? sentenceFor(policy, block) : own;
}

std::string filledIn(std::string_view message, const Request& request, const std::string& reason,
                     const Listers& listers) {
  const auto pieces = parseMessage(message);
  std::string text;
  for (const MessagePiece& piece : *pieces) text += textOf(piece, request, reason, listers);
  return text;
}

std::string messageOf(const DeletionPolicy& policy, const Request& request, const Denial& denial,
                      const Listers& listers) {
  std::string text = templateOf(policy, denial.block);
  if (listers.unknown && namesListers(text)) text = sentenceFor(policy, denial.block);
  return filledIn(text, request, denial.reason, listers);
}

void addMessages(std::string& text, const std::vector<std::string>& messages, size_t most) {
  if (messages.empty()) return;
  text += (text.empty() ? "" : "; ") + kube::joinedClauses(messages, most);
  if (messages.size() > most) text += " DeletionPolicies";
}

std::string notHeldYet(const Hold& hold) {
  return "; it has no finalizer " + hold.finalizer +
         " yet, so it cannot be held: try again, or run lastout serve with --hold-policies";
}

std::string onOneLine(std::string_view text) {
  std::string line;
  for (const char character : text) {
    const bool isBreak = character == '\n';
    if (isBreak && (line.empty() || line.back() == ' ')) continue;
    line += isBreak ? ' ' : character;
  }
  return line;
}

}  // namespace lastout::protection

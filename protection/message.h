// message: the words of a policy's denials, the same in the webhook, in CEL and for people who ask why.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

std::string reasonOfKey(const KeyTest& test, std::string_view value);  // "label a/b is Always"
std::string reasonOfField(const FieldTest& test);                      // "spec.deletionProtection is true"

inline constexpr std::string_view kReplicasReason = "spec.replicas is above 0";
inline constexpr std::string_view kAlwaysReason =
    "it is protected at all times";  // of a policy without cases

// A piece of a message: text as it stands, or what a placeholder stands for.
struct MessagePiece {
  enum class Kind : uint8_t {
    Text,
    ObjectKind,
    Resource,
    Name,
    Namespace,
    InNamespace,
    Reason,
    // Of a policy with listedBy alone:
    ListerCount,
    ListerName,
    ListerNamespace,
    Because,  // with a space before it, where there is a sentence
  };
  Kind kind = Kind::Text;
  std::string text;  // of a Text
};

// Splits a message at its placeholders. Fails with the first word in braces that is none of them.
tl::expected<std::vector<MessagePiece>, std::string> parseMessage(std::string_view message);

// True if a placeholder of the message stands for something of the objects that list what is protected.
bool namesListers(std::string_view message);

// The message of the policy for that block: its own, or lastout's sentence.
std::string templateOf(const DeletionPolicy& policy, Block block);

// The message, which parseMessage() must understand, with what its placeholders stand for.
std::string filledIn(std::string_view message, const Request& request, const std::string& reason,
                     const Listers& listers = {});

// The sentence for the user: `denial` has policy, block and reason already. Where nobody can say who lists
// the object, a message that names listers gives way to lastout's sentence.
std::string messageOf(const DeletionPolicy& policy, const Request& request, const Denial& denial,
                      const Listers& listers);

// Adds the messages of policies to what is said already: "…; a; b; and 2 more DeletionPolicies", where `most`
// is 2.
void addMessages(std::string& text, const std::vector<std::string>& messages, size_t most);

// The end of a denial for an object that has no finalizer of the policy: "; it has no finalizer a/b yet, …".
std::string notHeldYet(const Hold& hold);

// The text with a space instead of each line break, or of several.
std::string onOneLine(std::string_view text);

}  // namespace lastout::protection

// Why, as text for people and for programs, and back.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/why.h"
#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::admission {
namespace {

using kube::OrderedJson;

std::string standingOf(const Why& why) {
  if (!why.present)
    return why.reason == kNotFound ? std::string() : "it is not there, or its type is not followed";
  if (!why.terminating) return {};
  if (why.finalizers.empty()) return "it is being deleted already";
  return "it is being deleted already, and keeps finalizer" +
         std::string(why.finalizers.size() > 1 ? "s " : " ") + kube::listed(why.finalizers);
}

// The next line names the object whose existence this one is about.
bool isSaidByNext(const std::vector<std::string>& path, size_t i) {
  return i + 1 < path.size() && path[i] == "existence of " + path[i + 1];
}

void writeUnserved(const Why& why, std::string& text) {
  if (!why.unservedFinalizers.empty()) text += "\nFinalizers that nobody takes off:\n";
  for (const UnservedFinalizer& one : why.unservedFinalizers) {
    text += "- " + one.message + "\n";
    if (!one.command.empty()) text += "    " + one.command + "\n";
    text += "    says " + one.field + "\n";
  }
}

void writeRoots(const Why& why, std::string& text) {
  if (why.roots.empty() && why.complete) return;
  text += "\nRoot blockers:\n";
  for (const WhyRoot& root : why.roots) {
    text += "- " + root.message + "\n";
    for (size_t i = 0; i < root.path.size(); ++i) {
      const bool isLast = i + 1 == root.path.size();
      const std::string_view step = root.isNotWorking && isLast ? "      is kept by " : "      goes after ";
      if (!isSaidByNext(root.path, i)) text.append(i == 0 ? "    " : step).append(root.path[i]) += "\n";
    }
  }
  if (why.rootsLeftOut > 0) text += "- and " + std::to_string(why.rootsLeftOut) + " more\n";
  if (!why.complete) text += "- and maybe others: the search met its bound\n";
}

// Of ASCII, or those from U+0080 to U+009F, which are terminals' commands, too. The text is UTF-8.
bool hasControls(std::string_view text) {
  bool followsC2 = false;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code == 0x7f || (followsC2 && code < 0xa0)) return true;
    followsC2 = code == 0xc2;
  }
  return false;
}

// Takes an object apart; the first thing that is not as it should be is remembered.
class WhyReader {
 public:
  explicit WhyReader(const OrderedJson& json) : json_(json) {}

  std::string text(const char* key) { return textOf(at(key, OrderedJson::value_t::string)); }
  // Of what an older lastout does not say.
  std::string textIfThere(const char* key) {
    return json_.is_object() && json_.contains(key) ? text(key) : std::string();
  }
  bool flagIfThere(const char* key) { return json_.is_object() && json_.contains(key) && flag(key); }
  bool flag(const char* key) {
    const OrderedJson* value = at(key, OrderedJson::value_t::boolean);
    return value != nullptr && value->get<bool>();
  }
  uint64_t number(const char* key) {
    const OrderedJson* value = at(key, OrderedJson::value_t::number_unsigned);
    return value == nullptr ? 0 : value->get<uint64_t>();
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> all;
    const OrderedJson* value = at(key, OrderedJson::value_t::array);
    if (value == nullptr) return all;
    for (const OrderedJson& item : *value) all.push_back(textOf(item.is_string() ? &item : nullptr));
    return all;
  }
  WhyReader part(const char* key) {
    static const OrderedJson kNothing;
    const OrderedJson* value = at(key, OrderedJson::value_t::object);
    return WhyReader(value == nullptr ? kNothing : *value);
  }
  template <class Read>
  void each(const char* key, Read read) {
    const OrderedJson* value = at(key, OrderedJson::value_t::array);
    if (value == nullptr) return;
    for (const OrderedJson& item : *value) {
      WhyReader reader(item);
      read(reader);
      good_ = good_ && reader.good();
    }
  }
  bool good() const { return good_; }

 private:
  const OrderedJson* at(const char* key, OrderedJson::value_t type) {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    const bool fits = json_.is_object() && found != json_.end() && found->type() == type;
    good_ = good_ && fits;
    return fits ? &*found : nullptr;
  }
  std::string textOf(const OrderedJson* value) {
    std::string text = value == nullptr ? std::string() : value->get<std::string>();
    good_ = good_ && value != nullptr && !hasControls(text);
    return text;
  }

  const OrderedJson& json_;
  bool good_ = true;
};

}  // namespace

std::string toText(const Why& why) {
  std::string text = why.object + ": " + (why.terminating ? "TERMINATING; a new DELETE: " : "") +
                     (why.allowed ? "ALLOW" : "DENY") + " (" + why.reason + ")\n";
  text += why.message + "\n";
  if (const std::string standing = standingOf(why); !standing.empty()) text += standing + "\n";
  if (!why.deferredDeletion.empty()) text += why.deferredDeletion + "\n";
  if (!why.blockers.empty()) text += "\nBlockers:\n";
  for (const WhyBlocker& blocker : why.blockers) {
    text += "- " + blocker.message + "\n";
    if (!blocker.field.empty()) text += "    says " + blocker.field + "\n";
  }
  writeUnserved(why, text);
  writeRoots(why, text);
  return text;
}

std::string toJson(const Why& why) {
  OrderedJson blockers = OrderedJson::array();
  for (const WhyBlocker& blocker : why.blockers)
    blockers.push_back({{"reason", blocker.reason}, {"message", blocker.message}, {"field", blocker.field}});
  OrderedJson roots = OrderedJson::array();
  for (const WhyRoot& root : why.roots)
    roots.push_back({{"kind", root.kind},
                     {"message", root.message},
                     {"path", root.path},
                     {"isNotWorking", root.isNotWorking}});
  OrderedJson unserved = OrderedJson::array();
  for (const UnservedFinalizer& one : why.unservedFinalizers) {
    unserved.push_back({{"finalizer", one.finalizer},
                        {"message", one.message},
                        {"command", one.command},
                        {"field", one.field}});
  }
  const OrderedJson json = {{"object", why.object},
                            {"present", why.present},
                            {"terminating", why.terminating},
                            {"finalizers", why.finalizers},
                            {"unservedFinalizers", std::move(unserved)},
                            {"deferredDeletion", why.deferredDeletion},
                            {"blocked", why.isBlocked()},
                            {"verdict",
                             {{"allowed", why.allowed},
                              {"guarded", why.guarded},
                              {"reason", why.reason},
                              {"message", why.message},
                              {"revision", why.revision}}},
                            {"blockers", std::move(blockers)},
                            {"roots", std::move(roots)},
                            {"rootsLeftOut", why.rootsLeftOut},
                            {"complete", why.complete}};
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

kube::Result<Why> parseWhy(std::string_view text) {
  const OrderedJson json = OrderedJson::parse(text, nullptr, false);
  WhyReader reader(json);
  Why why;
  why.object = reader.text("object");
  why.present = reader.flag("present");
  why.terminating = reader.flag("terminating");
  why.finalizers = reader.texts("finalizers");
  if (json.is_object() && json.contains("unservedFinalizers")) {  // of what an older lastout does not say
    reader.each("unservedFinalizers", [&](WhyReader& each) {
      why.unservedFinalizers.push_back(
          {each.text("finalizer"), each.text("message"), each.text("command"), each.text("field")});
    });
  }
  why.deferredDeletion = reader.textIfThere("deferredDeletion");
  WhyReader verdict = reader.part("verdict");
  why.allowed = verdict.flag("allowed");
  why.guarded = verdict.flag("guarded");
  why.reason = verdict.text("reason");
  why.message = verdict.text("message");
  why.revision = verdict.number("revision");
  reader.each("blockers", [&](WhyReader& each) {
    why.blockers.push_back({each.text("reason"), each.text("message"), each.text("field")});
  });
  reader.each("roots", [&](WhyReader& each) {
    why.roots.push_back(
        {each.text("kind"), each.text("message"), each.texts("path"), each.flagIfThere("isNotWorking")});
  });
  why.rootsLeftOut = static_cast<uint32_t>(reader.number("rootsLeftOut"));
  why.complete = reader.flag("complete");
  if (!reader.good() || !verdict.good())
    return tl::unexpected(kube::Error{"this is no answer to \"why\"", {}, {}});
  return why;
}

}  // namespace lastout::admission

#include "admission/review.h"

#include <algorithm>
#include <array>
#include <utility>

#include "admission/json_cursor.h"
#include "kube/fields.h"
#include "kube/parse.h"
#include "kube/quoting.h"
#include "kube/text_at.h"

namespace lastout::admission {
namespace {

using Refused = tl::unexpected<ReviewError>;

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::array<std::pair<std::string_view, Operation>, 4> kOperations{
    {{"CREATE", Operation::Create},
     {"UPDATE", Operation::Update},
     {"DELETE", Operation::Delete},
     {"CONNECT", Operation::Connect}}};
Refused notThat(std::string message) { return Refused(ReviewError{400, std::move(message)}); }

// What is taken of the objects of a review without building them.
struct NamedObject {
  std::string_view text;  // "": none
  std::string name;
  std::string uid;
};

// The parts of a body: the small ones as values, the objects as text.
struct ReviewParts {
  kube::Value frame{kube::Value::Map(), {}};    // apiVersion and kind
  kube::Value request{kube::Value::Map(), {}};  // its members that are read here, without the objects
  bool isMap = false;
  bool hasRequest = false;
  NamedObject newObject;
  NamedObject oldObject;
};

// Of a request; others are passed over.
constexpr std::array<std::string_view, 13> kReadMembers{
    "uid",  "kind",      "resource",  "subResource", "requestKind", "requestResource", "requestSubResource",
    "name", "namespace", "operation", "userInfo",    "dryRun",      "options"};
// Of small parts: users may be in many groups.
constexpr size_t kMostValues = 20'000;
constexpr size_t kMostMembers = 100;  // few enough to look at each
constexpr size_t kUsualMembers = 4;

class ReviewReader {
 public:
  explicit ReviewReader(std::string_view body) : cursor_(body) {}
  tl::expected<ReviewParts, ReviewError> read();

 private:
  void readRequest();
  void readObject(std::string_view name, NamedObject& object);
  void readMetadata(NamedObject& object);
  void add(kube::Value& map, std::string_view key);
  kube::Value value();
  kube::Value scalar();
  std::string text(std::string_view path);
  void problem(std::string message) {
    if (problem_.empty()) problem_ = std::move(message);
  }

  JsonCursor cursor_;
  ReviewParts parts_;
  size_t values_ = 0;
  std::string problem_;  // the first that is no mistake in the JSON itself
};

std::string twice(std::string_view key) { return "the key " + kube::inQuotes(key) + " is there twice"; }

// One key of a map that may stand there once.
class Once {
 public:
  bool again() { return std::exchange(seen_, true); }

 private:
  bool seen_ = false;
};

void ReviewReader::add(kube::Value& map, std::string_view key) {
  auto& members = std::get<kube::Value::Map>(map.data);
  if (members.size() == kMostMembers) problem("a map has more than 100 members");
  if (members.size() < kMostMembers && map.find(key) != nullptr) problem(twice(key));
  kube::Value added = value();
  if (members.size() < kMostMembers) members.push_back({std::string(key), {}, std::move(added)});
}

// What stands here. Calls itself for each level, of which the cursor has bounded the number.
kube::Value ReviewReader::value() {
  if (++values_ > kMostValues) problem("there are more than " + std::to_string(kMostValues) + " values");
  if (!problem_.empty()) {
    cursor_.skip();
    return {};
  }
  if (cursor_.atMap()) {
    kube::Value map{kube::Value::Map(), {}};
    std::get<kube::Value::Map>(map.data).reserve(kUsualMembers);
    cursor_.eachMember([&](std::string_view key) { add(map, key); });
    return map;
  }
  if (!cursor_.atList()) return scalar();
  kube::Value::List list;
  cursor_.eachItem([&] { list.push_back(value()); });
  return {std::move(list), {}};
}

kube::Value ReviewReader::scalar() {
  const std::string_view text = cursor_.skip();
  if (cursor_.failed() || text == "null") return {};
  if (text == "true" || text == "false") return {text == "true", {}};
  const bool isPlain = text.front() == '"' && text.find('\\') == std::string_view::npos;
  if (isPlain) return {std::string(text.substr(1, text.size() - 2)), {}};
  auto parsed = kube::parseJson(text, "");
  if (parsed) return std::move(*parsed);
  problem(parsed.error().message);
  return {};
}

std::string ReviewReader::text(std::string_view path) {
  kube::Value here = value();
  if (auto* text = std::get_if<std::string>(&here.data)) return std::move(*text);
  if (!here.isNull()) problem(std::string(path) + " must be a string");
  return {};
}

void ReviewReader::readMetadata(NamedObject& object) {
  Once name;
  Once uid;
  if (!cursor_.atMap()) {
    if (cursor_.skip() != "null") problem("metadata of an object must be a map");
    return;
  }
  cursor_.eachMember([&](std::string_view key) {
    if (key == "name") {
      if (name.again()) problem(twice(key));
      object.name = text("metadata.name of an object");
    } else if (key == "uid") {
      if (uid.again()) problem(twice(key));
      object.uid = text("metadata.uid of an object");
    } else {
      cursor_.skip();
    }
  });
}

void ReviewReader::readObject(std::string_view name, NamedObject& object) {
  if (!cursor_.atMap()) {
    if (cursor_.skip() != "null") problem("request." + std::string(name) + " must be a map");
    return;
  }
  const size_t begin = cursor_.begin();
  Once metadata;
  cursor_.eachMember([&](std::string_view key) {
    if (key != "metadata") {
      cursor_.skip();
      return;
    }
    if (metadata.again()) problem(twice(key));
    readMetadata(object);
  });
  object.text = cursor_.since(begin);
}

void ReviewReader::readRequest() {
  if (!cursor_.atMap()) {
    if (cursor_.skip() != "null") problem("request must be a map");
    return;
  }
  parts_.hasRequest = true;
  Once newObject;
  Once oldObject;
  cursor_.eachMember([&](std::string_view key) {
    if (key == "object") {
      if (newObject.again()) problem(twice(key));
      readObject(key, parts_.newObject);
    } else if (key == "oldObject") {
      if (oldObject.again()) problem(twice(key));
      readObject(key, parts_.oldObject);
    } else if (std::ranges::find(kReadMembers, key) != kReadMembers.end()) {
      add(parts_.request, key);
    } else {
      cursor_.skip();
    }
  });
}

tl::expected<ReviewParts, ReviewError> ReviewReader::read() {
  parts_.isMap = cursor_.atMap();
  if (parts_.isMap) {
    Once request;
    cursor_.eachMember([&](std::string_view key) {
      if (key == "request") {
        if (request.again()) problem(twice(key));
        readRequest();
      } else if (key == "apiVersion" || key == "kind") {
        add(parts_.frame, key);
      } else {
        cursor_.skip();
      }
    });
  } else {
    cursor_.skip();
  }
  cursor_.finish();
  if (cursor_.failed()) return notThat("the body is no JSON that is read here: " + cursor_.problem());
  if (!parts_.isMap) return notThat("the body is no AdmissionReview: it is no map");
  if (!problem_.empty()) return notThat("the AdmissionReview is not understood: " + problem_);
  return std::move(parts_);
}

// What is wrong with the frame; "": nothing.
std::string reviewFrameProblem(const ReviewParts& parts) {
  const std::string kind = kube::textAt(parts.frame, {"kind"});
  const std::string version = kube::textAt(parts.frame, {"apiVersion"});
  if (kind != "AdmissionReview")
    return "the body is no AdmissionReview: its kind is " + (kind.empty() ? "missing" : kube::inQuotes(kind));
  if (version != kVersion)
    return "the AdmissionReview has the version " + kube::inQuotes(version) + "; only " +
           std::string(kVersion) +
           " is known: set admissionReviewVersions: [v1] in the webhook configuration";
  if (!parts.hasRequest) return "the AdmissionReview has no request";
  if (kube::textAt(parts.request, {"uid"}).empty())
    return "the AdmissionReview has no request.uid to answer to";
  return "";
}

ReviewKind readKind(kube::Fields map) {
  ReviewKind kind;
  kind.group = map.string("group").value_or("");
  kind.version = map.requiredString("version");
  kind.kind = map.requiredString("kind");
  return kind;
}

ReviewType readType(kube::Fields map, std::optional<std::string> subresource) {
  ReviewType type;
  type.type.group = map.string("group").value_or("");
  type.type.resource = map.requiredString("resource");
  type.version = map.requiredString("version");
  type.subresource = std::move(subresource).value_or("");
  return type;
}

ReviewUser readUser(kube::Fields map) {
  ReviewUser user;
  user.name = map.string("username").value_or("");
  user.uid = map.string("uid").value_or("");
  user.groups = map.strings("groups");
  auto extra = map.fields("extra");
  if (!extra) return user;
  for (const kube::Member& member : *extra->value().asMap())
    user.extra.emplace(member.key, extra->strings(member.key));
  return user;
}

Operation readOperation(kube::Fields& request) {
  const std::string word = request.requiredString("operation");
  const auto* known = std::ranges::find(kOperations, word, &std::pair<std::string_view, Operation>::first);
  if (known != kOperations.end()) return known->second;
  if (!word.empty()) request.fail("operation", "request.operation " + kube::inQuotes(word) + " is not known");
  return Operation::Connect;
}

// Where the object lies, and its name.
kube::ObjectKey readKey(kube::Fields& request, const ReviewParts& parts, const kube::GroupResource& type) {
  kube::ObjectKey key;
  key.type = type;
  key.name = request.string("name").value_or("");
  if (key.name.empty()) key.name = parts.oldObject.name;
  if (key.name.empty()) key.name = parts.newObject.name;
  key.namespaceName = request.string("namespace").value_or("");
  if (type == kube::GroupResource{"", "namespaces"}) key.namespaceName.clear();
  return key;
}

Review readReview(kube::Fields& request, const ReviewParts& parts) {
  Review review;
  review.uid = request.requiredString("uid");
  review.operation = readOperation(request);
  if (auto map = request.requiredFields("kind")) review.kind = readKind(*map);
  if (auto map = request.requiredFields("resource"))
    review.resource = readType(*map, request.string("subResource"));
  review.asked = review.resource;
  review.askedKind = review.kind;
  if (auto map = request.fields("requestKind")) review.askedKind = readKind(*map);
  if (auto map = request.fields("requestResource"))
    review.asked = readType(*map, request.string("requestSubResource"));
  review.object = readKey(request, parts, review.resource.type);
  review.objectUid = parts.oldObject.uid.empty() ? parts.newObject.uid : parts.oldObject.uid;
  if (auto map = request.requiredFields("userInfo")) review.user = readUser(*map);
  review.dryRun = request.boolean("dryRun").value_or(false);
  if (const kube::Value* options = request.map("options")) review.options = *options;
  review.newObject = parts.newObject.text;
  review.oldObject = parts.oldObject.text;
  const bool named = review.operation == Operation::Create || !review.object.name.empty();
  if (!named) request.fail("name", "neither request.name nor metadata.name of request.oldObject is there");
  return review;
}

}  // namespace

tl::expected<Review, ReviewError> parseReview(std::string_view body) {
  if (body.size() > kMostReviewBytes) {
    return Refused(
        ReviewError{413, "the body is longer than " + std::to_string(kMostReviewBytes) + " bytes"});
  }
  const auto parts = ReviewReader(body).read();
  if (!parts) return Refused(parts.error());
  if (std::string problem = reviewFrameProblem(*parts); !problem.empty()) return notThat(std::move(problem));
  kube::Errors errors;
  kube::Fields request(parts->request, "", "request", errors);
  Review review = readReview(request, *parts);
  if (!errors.empty()) return notThat("the AdmissionReview is not understood: " + errors.front().message);
  return review;
}

std::string_view toString(Operation operation) { return kOperations[static_cast<size_t>(operation)].first; }

}  // namespace lastout::admission

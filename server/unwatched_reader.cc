#include "server/unwatched_reader.h"

#include <utility>

namespace lastout::server {

const UnwatchedReader::Listed& UnwatchedReader::list(const kube::ResourceType& type, const std::string& space,
                                                     client::Content content, const std::string& selector) {
  const auto question = std::tuple(type.type, space, content, selector);
  const auto known = listed_.find(question);
  if (known != listed_.end()) return known->second;
  return listed_.emplace(question, read(type, space, content, selector)).first->second;
}

UnwatchedReader::Listed UnwatchedReader::read(const kube::ResourceType& type, const std::string& space,
                                              client::Content content, const std::string& selector) {
  auto page = client_.page({client::collectionPath(type, space), content, kMostUnwatched, selector});
  if (!page && (page.error().code == 404 || page.error().code == 405)) return {};
  if (!page) {
    note(type.type, page.error().why);
    return {{}, false};
  }
  Listed listed;
  for (client::StreamedObject& streamed : page->objects)
    listed.objects.push_back(client::toObject(std::move(streamed), type));
  listed.isComplete = page->continueToken.empty() && page->unread.empty();
  if (!page->unread.empty()) note(type.type, std::move(page->unread));
  if (!page->continueToken.empty()) note(type.type, "there are more than " + std::to_string(kMostUnwatched));
  return listed;
}

void UnwatchedReader::note(const kube::GroupResource& type, std::string why) {
  if (!unread_.insert(type).second) return;
  types_ += (types_.empty() ? "" : ", ") + toString(type);
  if (why_.empty()) why_ = std::move(why);
}

std::string UnwatchedReader::unread() const {
  return unread_.empty() ? std::string() : types_ + " (" + why_ + ")";
}

}  // namespace lastout::server

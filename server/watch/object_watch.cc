#include "server/watch/object_watch.h"

#include <utility>

#include "kube/encoding.h"

namespace lastout::server {

client::Watcher watchOf(client::Access& access, ObjectWatchOptions object, client::WatcherOptions options) {
  auto know = [problems = ProblemLog(std::move(object.log), object.calledAs + ": ",
                                     object.calledAs + ": followed again"),
               tell = std::move(object.know)](const client::SyncStatus& knowledge) mutable {
    problems.note(knowledge.problem());
    tell(knowledge);
  };
  return {access.newServer(),
          {std::move(object.collection),
           "fieldSelector=" + kube::percentEncoded("metadata.name=" + object.name), client::Content::Whole},
          std::move(options),
          {[told = object.told](client::StreamedObject seen) { told(std::move(seen.content)); },
           [told = object.told](const client::Removed&) { told(std::nullopt); }, std::move(know)}};
}

client::WatcherOptions forOneMore(client::WatcherOptions options,
                                  const std::function<client::RandomFraction()>& random) {
  options.random = random();
  return options;
}

}  // namespace lastout::server

#!/usr/bin/env python3
"""bench/table.py RESULT.json...: Google Benchmark's results as the table of docs/performance.md, on standard output.

scripts/bench --table calls it. Each row has the bar that the project holds itself to and what this run measured, the
median of its repetitions; all figures of one table come from one run on one machine, so that their ratios mean
something.
"""
import json
import sys

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def nanoseconds(benchmark, clock="cpu_time"):
    return benchmark[clock] * NANOSECONDS[benchmark["time_unit"]]


def duration(benchmark, clock="cpu_time"):
    value = nanoseconds(benchmark, clock)
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= scale:
            return f"{value / scale:,.2f} {unit}"
    return f"{value:,.1f} ns"


def wall(benchmark):
    return duration(benchmark, "real_time")


def rate(benchmark):
    return f"{benchmark['items_per_second'] / 1e6:,.2f} M/s"


def per_second(benchmark):
    return f"{1e9 / nanoseconds(benchmark):,.0f} /s"


def items_per_second(benchmark):
    return f"{benchmark['items_per_second']:,.0f} /s"


def counter(name, form="{:,.2f}"):
    return lambda benchmark: form.format(benchmark[name])


def unmatched(name):
    return [("", name, counter("ratio", "{:,.2f}x")), ("with", name, counter("with µs", "{:,.0f} µs")),
            ("without", name, counter("without µs", "{:,.0f} µs")), ("reviews", name, counter("reviews", "{:,.0f}"))]


DENY = "serve_load:serve_load/deny/iterations:1/real_time"
DENY_IDLE = "serve_load:serve_load/idle/iterations:1/real_time"
ALLOW = "serve_load:serve_load/allow/connections:16/iterations:1/real_time"
ALLOW_MANY = "serve_load:serve_load/allow/connections:64/iterations:1/real_time"
GROUP = "serve_load:serve_load/group/iterations:1/real_time"

POLICIES = "policies:unmatchedDelete/kind:{}/iterations:1/real_time"


# What is measured | the bar | [(label, name of the benchmark, how to show it)]
ROWS = [
    ("decide, its guard entries given", "at most 100 ns, flat within 1.5x",
     [("1k", "admission:decideAlone/1000", duration), ("100k", "admission:decideAlone/100000", duration),
      ("1M objects", "admission:decideAlone/1000000", duration)]),
    ("the same with a criterion more, about as many objects that name providers", "flat within 1.5x",
     [("1k", "admission:decideWithReferences/1000", duration),
      ("100k", "admission:decideWithReferences/100000", duration),
      ("1M objects", "admission:decideWithReferences/1000000", duration)]),
    ("decide, with the look-up of the object's guard entries", "at most 100 ns, flat within 1.5x",
     [("1k", "admission:findGuardEntriesAndDecide/1000", duration),
      ("100k", "admission:findGuardEntriesAndDecide/100000", duration),
      ("1M objects", "admission:findGuardEntriesAndDecide/1000000", duration)]),
    ("the same verdict by the design document's scan of everything", "for comparison",
     [("1k", "admission:bruteForceScan/1000", duration), ("100k", "admission:bruteForceScan/100000", duration),
      ("1M objects", "admission:bruteForceScan/1000000", duration)]),
    ("explain ten blockers", "at most 2 µs",
     [("1k", "admission:explainTenBlockers/1000", duration), ("100k", "admission:explainTenBlockers/100000", duration),
      ("1M objects", "admission:explainTenBlockers/1000000", duration)]),
    ("apply a first list, in batches, from parsed metadata", "at least 1 M objects/s",
     [("100k", "graph_bench:applyList/100000", rate), ("1M objects", "graph_bench:applyList/1000000", rate)]),
    ("apply the same objects again", "at least 1 M objects/s",
     [("100k", "graph_bench:applyAgain/100000", rate), ("1M objects", "graph_bench:applyAgain/1000000", rate)]),
    ("snapshot of 1M objects", "at most 50 ms", [("", "graph_bench:snapshot/1000000", duration)]),
    ("strong components on a snapshot of 1M objects", "at most 400 ms",
     [("", "graph_bench:strongComponents/1000000", duration)]),
    ("resident memory an object, at 1M", "at most 160 bytes",
     [("", "graph_bench:memoryOfObjects/1000000/iterations:1", counter("bytes/object", "{:,.0f} bytes"))]),
    ("resident memory after 10M upserts and removes at 100k live objects", "within 1.2x of the start",
     [("", "graph_bench:churn/iterations:1", counter("resident after/before", "{:,.2f}x"))]),
    ("replay the story", "at least 2,000 /s", [("", "scenarios:replayStory", per_second)]),
    ("prove: distinct states", "at least 500k /s",
     [("story", "prove:proveFile/storyThreeWorks", rate), ("chain of three", "prove:proveFile/chain", rate)]),
    ("`lastout up`: 50,000 instances created through HTTPS by 16 connections", "at least 2,000 /s",
     [("", "up_load:createInstances/iterations:1/real_time", items_per_second)]),
    ("metadata of these 50,000, in one list", "under 2 s",
     [("", "up_load:listMetadata/iterations:5/real_time", wall)]),
    ("50 watches of all of them, while 500 a second change", "none missed",
     [("changes", "up_load:watchAllChanges/iterations:1/real_time", counter("changes/s", "{:,.0f} /s")),
      ("missed", "up_load:watchAllChanges/iterations:1/real_time", counter("missed", "{:,.0f}")),
      ("until the last watch knew the last", "up_load:watchAllChanges/iterations:1/real_time",
       counter("behind", "{:,.2f} s"))]),
    ("`lastout serve`: sync of 100,000 instances from `up`", "under 5 s",
     [("", "serve_load:serve_load/sync/iterations:1/manual_time", wall)]),
    ("`lastout serve`: sync of a group of 200 types, each with 50 instances, for one criterion", "for comparison",
     [("", GROUP, counter("sync s", "{:,.2f} s")), ("in memory", GROUP, counter("MB", "{:,.0f} MB")),
      ("requests", GROUP, counter("requests of the sync", "{:,.0f}"))]),
    ("ALLOW, with its confirming read of such a group", "for comparison",
     [("", GROUP, counter("allow ms", "{:,.0f} ms")),
      ("requests", GROUP, counter("requests of an allow", "{:,.0f}"))]),
    ("the webhook configuration that names 2,000 providers and their namespaces", "at most 1 MB",
     [("", "webhook_scope:makeConfiguration/providersAlone/2000", counter("kB", "{:,.0f} kB")),
      ("webhooks", "webhook_scope:makeConfiguration/providersAlone/2000", counter("webhooks", "{:,.0f}"))]),
    ("the same with six objects that each of them needs", "at most 1 MB",
     [("", "webhook_scope:makeConfiguration/withWhatTheyNeed/2000", counter("kB", "{:,.0f} kB")),
      ("webhooks", "webhook_scope:makeConfiguration/withWhatTheyNeed/2000", counter("webhooks", "{:,.0f}"))]),
    ("recorded DELETE of a provider with 100,000 blockers, TLS, 16 connections",
     "at least 0.8 of a listener that answers a constant; p99 at most 2 ms",
     [("", DENY, counter("reviews/s", "{:,.0f} /s")), ("of the constant", DENY, counter("ratio")),
      ("p50", DENY, counter("p50ms", "{:,.2f} ms")), ("p99", DENY, counter("p99ms", "{:,.2f} ms")),
      ("p99 of the constant", DENY, counter("other p99ms", "{:,.2f} ms"))]),
    ("the same with 1,000 idle connections", "within 10 %; they cost at most 2 % of a core",
     [("", DENY_IDLE, counter("reviews/s", "{:,.0f} /s")), ("of that without", DENY_IDLE, counter("ratio")),
      ("p99", DENY_IDLE, counter("p99ms", "{:,.2f} ms")),
      ("idle", DENY_IDLE, counter("idle%core", "{:,.1f} % of a core"))]),
    ("resident memory after 1M reviews, of that after 10,000", "within 1.1x",
     [("", "serve_load:serve_load/memory/iterations:1/real_time", counter("after/before", "{:,.2f}x"))]),
    ("ALLOW, with its confirming read of 10,000 instances, 64 connections", "at least 1,000 /s; p99 at most 50 ms",
     [("", ALLOW_MANY, counter("reviews/s", "{:,.0f} /s")), ("p50", ALLOW_MANY, counter("p50ms", "{:,.0f} ms")),
      ("p99", ALLOW_MANY, counter("p99ms", "{:,.0f} ms"))]),
    ("the same, 16 connections", "p99 at most 50 ms",
     [("", ALLOW, counter("reviews/s", "{:,.0f} /s")), ("p50", ALLOW, counter("p50ms", "{:,.0f} ms")),
      ("p99", ALLOW, counter("p99ms", "{:,.0f} ms"))]),
    ("what deletion policies ask of other objects: children by a label", "at most 2 µs",
     [("1k", "facts:childrenByLabel/1000", duration), ("1M objects", "facts:childrenByLabel/1000000", duration)]),
    ("the same: active Pods of a namespace", "at most 2 µs",
     [("1k", "facts:activePods/1000", duration), ("1M objects", "facts:activePods/1000000", duration)]),
    ("the same: the ancestor that labels name", "at most 2 µs",
     [("1k", "facts:ancestor/1000", duration), ("1M objects", "facts:ancestor/1000000", duration)]),
    ("DELETE that 1,000 policies on other types do not match, at `up`", "at most 1.2x without them; no review",
     unmatched(POLICIES.format(0))),
    ("the same with 1,000 policies on labels, of the same type", "at most 1.2x without them; no review",
     unmatched(POLICIES.format(1))),
    ("the same with 1,000 policies on children, of the same type", "at most 1.2x without them; no review",
     unmatched(POLICIES.format(2))),
]


def main(paths):
    found = {}
    context = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        context = result["context"]
        program = context["executable"].rsplit("/", 1)[-1]
        for benchmark in result["benchmarks"]:
            if benchmark.get("aggregate_name") == "median":
                found[f"{program}:{benchmark['run_name']}"] = benchmark
    missing = [name for _, _, cells in ROWS for _, name, _ in cells if name not in found]
    if missing:
        sys.exit("bench/table.py: no result of " + ", ".join(missing))
    print("| what | bar | measured |")
    print("|---|---|---|")
    for what, bar, cells in ROWS:
        shown = [f"{label}: {show(found[name])}" if label else show(found[name]) for label, name, show in cells]
        print(f"| {what} | {bar} | {'; '.join(shown)} |")
    print(f"\n{context['num_cpus']} CPUs of {context['mhz_per_cpu']} MHz, {context['date'][:10]}, one thread, but for `lastout up` and `lastout serve`, whose clients share the processors.")


if __name__ == "__main__":
    main(sys.argv[1:])

"""The dynamic client of python3-kubernetes against `lastout up`: dynamic_client.py KUBECONFIG.

Ends with 0 when everything is as on a real cluster, else with an exception that tells what is not.
"""

import sys

from kubernetes import client, config, dynamic, watch
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def must_raise(error, call):
    try:
        call()
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")


def reads_and_writes(maps):
    created = maps.create(body=config_map("settings", colour="blue"), namespace="default")
    assert created.metadata.uid and created.data.colour == "blue", created
    must_raise(ConflictError, lambda: maps.create(body=config_map("settings"), namespace="default"))
    assert maps.get(name="settings", namespace="default").metadata.uid == created.metadata.uid
    listed = [item.metadata.name for item in maps.get(namespace="default").items]
    assert listed == ["kube-root-ca.crt", "settings"], listed
    patched = maps.patch(
        body={"data": {"size": "9"}},
        name="settings",
        namespace="default",
        content_type="application/merge-patch+json",
    )
    assert patched.to_dict()["data"] == {"colour": "blue", "size": "9"}, patched
    stale = config_map("settings", colour="red")
    stale["metadata"]["resourceVersion"] = created.metadata.resourceVersion
    must_raise(ConflictError, lambda: maps.replace(body=stale, namespace="default"))


def deletes_with_options(maps):
    def delete(**options):
        return maps.delete(name="settings", namespace="default", body={"kind": "DeleteOptions", "apiVersion": "v1", **options})

    must_raise(ConflictError, lambda: delete(preconditions={"uid": "another"}))
    delete(dryRun=["All"])
    maps.get(name="settings", namespace="default")
    delete(propagationPolicy="Background", gracePeriodSeconds=0)
    must_raise(NotFoundError, lambda: maps.get(name="settings", namespace="default"))


def events(core, version, count):
    follower = watch.Watch()
    told = []
    for event in follower.stream(core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=30):
        told.append((event["type"], event["object"].metadata.name))
        version = event["object"].metadata.resource_version
        if len(told) == count:
            follower.stop()
    return told, version


def resumes_a_watch(maps, core):
    version = maps.get(namespace="default").metadata.resourceVersion
    for name in "abc":
        maps.create(body=config_map(name), namespace="default")
    told, version = events(core, version, 3)
    assert told == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")], told
    maps.delete(name="a", namespace="default")
    told, version = events(core, version, 1)
    assert told == [("DELETED", "a")], told


def is_told_that_history_is_gone(core):
    follower = watch.Watch()
    try:
        for event in follower.stream(core.list_namespaced_config_map, "default", resource_version="1", timeout_seconds=30):
            raise AssertionError(f"410 was expected, and not {event['type']}")
    except client.exceptions.ApiException as gone:
        assert gone.status == 410, gone
        return
    raise AssertionError("410 was expected, and not the end of the watch")


def main():
    api = config.new_client_from_config(sys.argv[1])
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    reads_and_writes(maps)
    deletes_with_options(maps)
    core = client.CoreV1Api(api)
    resumes_a_watch(maps, core)
    is_told_that_history_is_gone(core)


main()

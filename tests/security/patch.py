"""One PATCH and no other request, as somebody sends it who may patch and not read: patch.py KUBECONFIG PATH FILE.

The file is a merge patch. Prints the API server's answer; ends with 0 when it accepts the patch, else with 1.
"""

import json
import sys

from kubernetes import config
from kubernetes.client.exceptions import ApiException

kubeconfig, path, file = sys.argv[1:]
with open(file, encoding="utf-8") as text:
    patch = json.load(text)
try:
    response = config.new_client_from_config(kubeconfig).call_api(
        path,
        "PATCH",
        header_params={"Content-Type": "application/merge-patch+json", "Accept": "application/json"},
        body=patch,
        auth_settings=["BearerToken"],
        _preload_content=False,
        _return_http_data_only=True,
    )
    print(response.data.decode())
except ApiException as refused:
    print(refused.body.decode())
    sys.exit(1)

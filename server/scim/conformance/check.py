"""Runs scim2-tester against a SCIM server and prints one line of JSON per check.

Usage: check.py BASE_URL DOMAIN SCOPE, with the token in SCIM_TOKEN.
"""

import http.client
import json
import os
import random
import sys
import uuid
from urllib.parse import urlencode, urljoin, urlsplit

from scim2_client.client import BaseSyncSCIMClient
from scim2_client.engines.inprocess import InProcessResponse
from scim2_tester import check_server, filling
from scim2_tester.checkers import patch_add, patch_replace
from wsgiref.headers import Headers

BASE_URL, DOMAIN, SCOPE = sys.argv[1:4]


class Client(BaseSyncSCIMClient):
    """Sends requests by one connection of the standard library."""

    def __init__(self):
        super().__init__()
        base = urlsplit(BASE_URL)
        self.connection = http.client.HTTPConnection(base.hostname, base.port)

    def _parse_json(self, response):
        return response.json()

    def _stays_under_base_url(self, endpoint):
        return urljoin(f"{BASE_URL}/", endpoint.lstrip("/") if "://" not in endpoint else endpoint).startswith(BASE_URL)

    def request(self, method, url, params=None, json=None, content=None, headers=None, **_):
        target = urlsplit(url if "://" in url else f"{BASE_URL}/{url.lstrip('/')}")
        query = "&".join(filter(None, [target.query, urlencode(params, doseq=True) if params else ""]))
        body = dumped(json) if json is not None else content
        sent = {"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}", **dict(headers or {})}
        if json is not None:
            sent.setdefault("Content-Type", "application/scim+json")
        self.connection.request(method, f"{target.path}?{query}" if query else target.path, body, sent)
        answer = self.connection.getresponse()
        return InProcessResponse(answer.status, Headers(answer.getheaders()), answer.read())


def dumped(value):
    return json.dumps(value).encode()


# The values of some attributes have a meaning that no schema can tell: addresses are of a verified domain, scopes are of the catalogue.
random_value = filling.generate_random_value


def is_of_client(path):
    return any(model.__name__ == "OAuthClient" for model in type(path).__scim_models__)


def meaningful_value(context, path, mutability=None, required=None):
    value = random_value(context, path, mutability, required)
    name = str(path).split(":")[-1]
    # A common attribute that a resource may lack (RFC 7643 section 3.1); the tester sends it with every resource. No path into a model is None.
    if value is None or name == "externalId" and is_of_client(path):
        return None
    if name.endswith("emails.value") or isinstance(value, str) and "@" in value:
        return f"{uuid.uuid4()}@{DOMAIN}"
    if name in ("allowedScopes", "stepUpScopes"):
        return [SCOPE]
    if name == "requirePkce":
        return True
    if name == "redirectUris":
        return [f"https://{uuid.uuid4()}.example/callback"]
    if name == "userName":
        return f"{uuid.uuid4()}@{DOMAIN}"
    return value


for module in (filling, patch_add, patch_replace):
    module.generate_random_value = meaningful_value

random.seed(7)
for result in check_server(Client()):
    print(json.dumps({"status": result.status.name, "title": result.title, "resource": result.resource_type, "reason": result.reason}))

"""The fixture `dormouse`: a real server for tests, which each test gets as new."""

import json
import subprocess
import urllib.error
import urllib.request

import pytest


class Dormouse:
    """The control of `dormouse test-server`. `addresses` has what an application is told of the server."""

    def __init__(self, process):
        self.addresses = json.loads(process.stdout.readline())

    def call(self, name, **fields):
        request = urllib.request.Request(
            f"{self.addresses['control']}/{name}",
            data=json.dumps(fields).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)["result"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["error"]) from None


@pytest.fixture(scope="session")
def server():
    command = ["npx", "dormouse", "test-server", "--config", "config.json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes)
    yield Dormouse(process)
    process.stdin.close()  # The server ends with it, also when the tests are killed.
    process.wait()


@pytest.fixture
def dormouse(server):
    server.call("reset")
    return server

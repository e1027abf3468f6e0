"""Tests of an application that publishes orders."""

import json
import urllib.request

import pytest


def publish_order(addresses, user, number):
    """Stands for the application: it publishes by the HTTP API."""
    request = urllib.request.Request(
        f"{addresses['api']}/publish",
        data=json.dumps({"channel": f"orders:{user}", "data": number}).encode(),
        headers={"X-API-Key": addresses["api_key"]},
    )
    with urllib.request.urlopen(request) as response:
        assert "result" in json.load(response)


def test_the_customer_misses_nothing_while_we_deploy(dormouse):
    ann = dormouse.call("client", user="ann", subscribe="orders:ann")["client"]
    publish_order(dormouse.addresses, "ann", 1)
    dormouse.call("cut", client=ann)
    publish_order(dormouse.addresses, "ann", 2)
    dormouse.call("deploy")
    publish_order(dormouse.addresses, "ann", 3)
    received = dormouse.call("received", client=ann, channel="orders:ann", count=3)
    assert received["data"] == [1, 2, 3]


def test_an_order_is_forgotten_after_five_minutes(dormouse):
    publish_order(dormouse.addresses, "ann", 1)
    dormouse.call("advance", duration="6m")
    history = dormouse.call("api", method="history", params={"channel": "orders:ann", "limit": 10})
    assert history["publications"] == []


def test_what_is_wrong_is_named(dormouse):
    with pytest.raises(AssertionError, match='received: there is no client "bob"'):
        dormouse.call("received", client="bob", channel="orders:ann")

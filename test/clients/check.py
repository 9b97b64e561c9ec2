"""Tests clients/python with the vectors, and with the services that the environment names. Run by others.test.ts."""

import json
import os
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

sys.path.insert(0, os.environ["CLIENT_FOLDER"])
import catalejo as client  # noqa: E402

vectors = json.loads(Path(os.environ["VECTORS"]).read_text("utf-8"))


def same(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


same(client.MODIFIERS, vectors["modifiers"])
for one in vectors["aliases"]:
    same(client.alias(one["account"], one["name"]), one["alias"])
for one in vectors["urls"]:
    same(client.url(one["base"], one["image"], one["modifiers"]), one["url"])
for one in vectors["srcsets"]:
    same(client.srcset(one["base"], one["image"], one["widths"], one["modifiers"]), one["srcset"])
    same(client.sign_srcset(one["srcset"], vectors["secret"], one["expires"]), one["signed"])
for one in vectors["signatures"]:
    same(client.sign(one["link"], vectors["secret"], one.get("expires"), one.get("presets")), one["signed"])
for link in vectors["refused"]:
    raises(ValueError, lambda: client.sign(link, vectors["secret"]))
for one in vectors["webhooks"]:
    check = lambda: client.verify_webhook(one["body"], one["headers"], vectors["webhookSecret"], now=one["now"])
    if one["valid"]:
        same(check(), json.loads(one["body"]))
    else:
        raises(client.WebhookError, check)

base, secret = os.environ["BASE_URL"], os.environ["LINK_SECRET"]
shop = client.Catalejo(base, os.environ["API_KEY"])
pictures = [path.read_bytes() for path in sorted(Path(os.environ["PICTURES"]).iterdir())]
hashes = [shop.upload(each, "ñandú.png", "200.1.2.3", tags=["verano"])["hash"] for each in pictures]
same(shop.get(hashes[0])["name"], "ñandú.png")
same(shop.get(hashes[0])["tags"], ["verano"])
same(sorted(image["hash"] for image in shop.list(limit=1)), sorted(hashes))

shop.call("POST /api/v1/imagestore/alias", {"name": "portada", "hash": hashes[0]})
for image in (hashes[0], client.alias("tienda", "portada")):
    link = client.url(base, image, {"f": "webp", "c": "fill", "w": 90, "h": 90})
    same(raises(HTTPError, lambda: urlopen(link)).code, 403)
    with urlopen(client.sign(link, secret, 4_000_000_000)) as response:
        same(response.headers["content-type"], "image/webp")

ticket = shop.create_ticket(types="image/png")
shop.delete(hashes[0])
error = raises(client.CatalejoError, lambda: shop.get(hashes[0]))
same((error.status, error.code), (404, "image_not_found"))
same(client.upload_with_ticket(ticket["url"], pictures[0], 'visita "1".png')["hash"], hashes[0])
error = raises(client.CatalejoError, lambda: client.upload_with_ticket(ticket["url"], pictures[0]))
same((error.status, error.code), (403, "ticket_spent"))

busy = client.Catalejo(os.environ["BUSY_URL"], "x")
same(list(busy.list()), [])
error = raises(client.CatalejoError, lambda: busy.call("GET /api/v1/imagestore/stats"))
same((error.status, error.code), (503, "overloaded"))

"""Client of Catalejo: images, links and their signatures, tickets, webhooks, and calls of any operation.

One file for Python 3.9 and newer, without dependencies.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from typing import Any, Iterator, Mapping, Optional, Union
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlencode
from urllib.request import Request, urlopen

# Keys in canonical order, which is that of the text that a signature covers.
MODIFIERS = (
    "w h ar dpr up c g trim r flip flop pad bg f q blur sharpen gray pixelate rad frame meta wm "
    "rect rel bright contrast sat dl wmg wms wmo"
).split()

# The text of `m=`, or its tokens by key: {"w": 300, "c": "fill", "gray": True}. `p` is a preset.
Modifiers = Union[str, Mapping[str, Union[str, int, float, bool, None]]]

_PRESETS = {
    "s": "s_90x90,c_fill",
    "b": "s_160x160,c_fill",
    "t": "s_160x160",
    "thumb": "s_160x160",
    "m": "s_320x320",
    "l": "s_640x640",
    "h": "s_1024x1024",
}
# What the canonical text leaves out.
_DEFAULTS = {"c_fit", "g_center", "dpr_1", "bright_0", "contrast_0", "sat_0"}
_SIGNATURE_BYTES = 16
# Prefix, account and name of an alias or hash, extension, modifiers.
_LINK = re.compile(
    r"(|.*/)(?:(?:@|%40)([^/?&]+)/([a-z0-9_-]+)|([a-z2-7]{32}))(?:\.([A-Za-z]+))?(?:[?&](?:amp;)*m=([^?&]*))?",
)


class CatalejoError(Exception):
    """An error response of the service, or of a proxy in front of it."""

    def __init__(self, status: int, answer: Mapping[str, Any]) -> None:
        super().__init__(answer.get("msg", f"status {status}"))
        self.status = status
        # None if the response is not of the service.
        self.code: Optional[str] = answer.get("code")
        # All fields of the response, such as `reason` or `errors`.
        self.answer = answer


class WebhookError(Exception):
    """A webhook that is not signed with the secret, or too old."""


class Catalejo:
    """Calls operations of the service with a key."""

    def __init__(
        self,
        url: str,
        key: str,
        retries: int = 4,
        max_wait_seconds: float = 60,
        timeout_seconds: float = 60,
    ) -> None:
        """`retries` and `max_wait_seconds` bound the repetitions after 429 and 503."""
        self._url = url.rstrip("/")
        self._key = key
        self._patience = (retries, max_wait_seconds, timeout_seconds)

    def upload(self, image: bytes, name: str, ip: str, mime: str = "image/*", **info: Any) -> dict:
        """Uploads an image. `ip` is the address of the user; `info` has tags, meta, expires, focus, public."""
        fields = {"info": {"name": name, "mime": mime, "ip": ip, **info}, "image": image}
        return self.call("POST /api/v1/imagestore/upload", fields)

    def get(self, image: str) -> dict:
        """Returns the record of an image, by its hash."""
        return self.call("GET /api/v1/imagestore/get", {"hash": image})

    def list(self, **filters: Any) -> Iterator[dict]:
        """Returns the records of images, reading page after page."""
        for page in self.pages("GET /api/v1/imagestore/list", filters):
            yield from page["data"]

    def delete(self, image: str) -> None:
        """Deletes an image, by its hash."""
        self.call("DELETE /api/v1/imagestore/delete", {"hash": image})

    def create_ticket(self, **options: Any) -> dict:
        """Creates a ticket, with whose `url` a visitor uploads."""
        return self.call("POST /api/v1/imagestore/tickets", options)

    def call(self, operation: str, parameters: Optional[Mapping[str, Any]] = None) -> dict:
        """Calls an operation by its method and path, such as "GET /api/v1/domainwatch/list". Bytes are sent as files."""
        return self._request(operation, parameters)[0]

    def pages(self, operation: str, parameters: Optional[Mapping[str, Any]] = None) -> Iterator[dict]:
        """Returns the answers of a list, page by page."""
        answer, link = self._request(operation, parameters)
        while True:
            yield answer
            following = re.search(r'<([^>]+)>; rel="next"', link)
            if following is None:
                return
            answer, link = _send("GET", following[1], None, {}, self._patience)

    def _request(self, operation: str, parameters: Optional[Mapping[str, Any]]) -> tuple[dict, str]:
        method, path = operation.split(" ")
        query = {"api": self._key}
        body, headers = None, {}
        fields = {name: value for name, value in (parameters or {}).items() if value is not None}
        if method == "POST":
            body, headers = _encode(fields)
        else:
            # A flag is on if it is present.
            query.update((name, _to_text(value)) for name, value in fields.items() if value is not False)
        return _send(method, f"{self._url}{path}?{urlencode(query)}", body, headers, self._patience)


def upload_with_ticket(url: str, image: bytes, name: str = "imagen") -> dict:
    """Uploads an image with the address of a ticket, which needs no key."""
    body, headers = _encode({"image": image}, name)
    return _send("POST", url, body, headers, (4, 60, 60))[0]


def alias(account: str, name: str) -> str:
    """Returns what names an image by its alias in links."""
    return f"@{quote(account, safe=_UNESCAPED)}/{name}"


# What encodeURIComponent of JavaScript leaves as it is.
_UNESCAPED = "!'()*~"


def url(base: str, image: str, modifiers: Modifiers = "") -> str:
    """Returns the link of an image: a hash, an `alias()`, or a whole link, whose modifiers are replaced."""
    prefix, name, extension, _ = _parse_link(image)
    path = (base.rstrip("/") + "/i/" if prefix in ("", "/") else prefix) + name
    text = _to_tokens(modifiers)
    return path + (f".{extension}" if extension else "") + (f"&m={text}" if text else "")


def srcset(base: str, image: str, widths: list[int], modifiers: Modifiers = "") -> str:
    """Returns links of an image in several widths, as the attribute `srcset` takes them."""

    def in_width(width: int) -> Modifiers:
        if isinstance(modifiers, str):
            return f"{modifiers},w_{width}" if modifiers else f"w_{width}"
        return {**modifiers, "w": width}

    return ", ".join(f"{url(base, image, in_width(width))} {width}w" for width in widths)


def sign(
    link: str,
    secret: str,
    expires: Optional[int] = None,
    presets: Optional[Mapping[str, str]] = None,
) -> str:
    """Returns a link with its signature, whatever the order and spelling of its modifiers.

    `secret` is that of the account, as `catalejo account secret` prints it; `expires` is in seconds since 1970; `presets` are those
    of the operator with their modifiers, which a signature covers in place of the name.
    """
    prefix, image, extension, modifiers = _parse_link(link)
    tokens = _canonical(modifiers, extension, expires, {**_PRESETS, **(presets or {})})
    text = f"{image}&m={','.join(tokens)}"
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()[:_SIGNATURE_BYTES]
    signature = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return f"{prefix}{text}{',' if tokens else ''}sig_{signature}"


def sign_srcset(
    text: str,
    secret: str,
    expires: Optional[int] = None,
    presets: Optional[Mapping[str, str]] = None,
) -> str:
    """Signs each link of a `srcset`."""
    candidates = (candidate.split(" ") for candidate in text.split(", "))
    return ", ".join(f"{sign(link, secret, expires, presets)} {width}" for link, width in candidates)


def verify_webhook(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secret: str,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> dict:
    """Returns the content of a webhook after checking its signature (Standard Webhooks 1.0.0).

    Raises a WebhookError if it is not of the service. `body` is as it was received: not parsed and written again.
    """
    raw = body.encode() if isinstance(body, str) else body
    values = {name.lower(): value for name, value in headers.items()}
    identifier, timestamp, signatures = (
        values.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
    )
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookError("webhook-timestamp is not a time")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise WebhookError("the webhook is too old, or from the future")
    key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret)
    digest = hmac.new(key, f"{identifier}.{timestamp}.".encode() + raw, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # After a rotation of the secret there are two.
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise WebhookError("the signature does not match")
    return json.loads(raw)


def _send(
    method: str,
    address: str,
    body: Optional[bytes],
    headers: Mapping[str, str],
    patience: tuple[int, float, float],
) -> tuple[dict, str]:
    """Returns the answer and its header `Link`. Waits and repeats after 429 and 503."""
    retries, max_wait_seconds, timeout_seconds = patience
    attempt = 0
    while True:
        try:
            request = Request(address, data=body, headers=dict(headers), method=method)
            with urlopen(request, timeout=timeout_seconds) as response:
                return json.loads(response.read()), response.headers.get("Link", "")
        except HTTPError as error:
            after = error.headers.get("Retry-After", "")
            seconds = float(after) if after.isdecimal() else 2.0**attempt
            if error.code not in (429, 503) or attempt >= retries or seconds > max_wait_seconds:
                raise CatalejoError(error.code, _to_object(error.read())) from None
        time.sleep(seconds)
        attempt += 1


def _to_object(body: bytes) -> Mapping[str, Any]:
    """A proxy may answer with something other than JSON."""
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _encode(fields: Mapping[str, Any], filename: str = "imagen") -> tuple[bytes, dict[str, str]]:
    """Encodes a body as JSON, or as multipart/form-data if there are bytes."""
    if not any(isinstance(value, bytes) for value in fields.values()):
        return json.dumps(fields).encode(), {"content-type": "application/json"}
    boundary = secrets.token_hex(16)
    quoted = filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    body = b""
    for field, value in fields.items():
        is_file = isinstance(value, bytes)
        head = f'content-disposition: form-data; name="{field}"'
        head += f'; filename="{quoted}"\r\ncontent-type: application/octet-stream' if is_file else ""
        body += f"--{boundary}\r\n{head}\r\n\r\n".encode()
        body += (value if is_file else _to_text(value).encode()) + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    return body, {"content-type": f"multipart/form-data; boundary={boundary}"}


def _to_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "1" if value is True else json.dumps(value)


def _parse_link(link: str) -> tuple[str, str, Optional[str], str]:
    """Returns what precedes the image, the image, the extension and the modifiers."""
    match = _LINK.fullmatch(link)
    if match is None:
        raise ValueError(f"not a link to an image: {link}")
    prefix, account, name, image, extension, modifiers = match.groups()
    return prefix, image or alias(unquote(account), name), extension, unquote(modifiers or "")


def _to_tokens(modifiers: Modifiers) -> str:
    if isinstance(modifiers, str):
        return modifiers
    values = ((key, modifiers.get(key)) for key in ["p", *MODIFIERS])
    given = ((key, value) for key, value in values if value is not None and value is not False)
    tokens = (key if value is True else f"{key}_{value}" for key, value in given)
    return ",".join(tokens)


def _canonical(
    text: str, extension: Optional[str], expires: Optional[int], presets: Mapping[str, str]
) -> list[str]:
    """Returns the tokens that a signature covers. Those of a link override those of its preset, and these its extension."""
    values: dict[str, str] = {}
    tokens = _split_tokens(text)

    def preset_of(token: str) -> Optional[str]:
        return presets.get(token[2:] if token.startswith("p_") else token)

    if extension is not None:
        _put(values, f"f_{extension.lower()}")
    for token in tokens:
        for one in _split_tokens(preset_of(token) or ""):
            _put(values, one)
    for token in tokens:
        if preset_of(token) is None:
            _put(values, token)
    if expires is not None:
        _put(values, f"exp_{expires}")
    ordered = (values.get(key) for key in [*MODIFIERS, "exp"])
    return [token for token in ordered if token is not None and token not in _DEFAULTS]


def _split_tokens(text: str) -> list[str]:
    """An extension at the end is one more token."""
    match = re.fullmatch(r"(.*)\.(webp|avif|jpe?g|png|gif)", text, re.IGNORECASE)
    rest, last = (text, "") if match is None else (match[1], f"f_{match[2].lower()}")
    return [token for token in [*rest.split(","), last] if token]


def _put(values: dict[str, str], token: str) -> None:
    """Stores the canonical spelling of a token by its key."""
    size = re.fullmatch(r"(?:s_)?([0-9]+)x([0-9]+)", token)
    if size is not None:
        values.update(w=f"w_{size[1]}", h=f"h_{size[2]}")
        return
    key, _, value = token.partition("_")
    if key not in (*MODIFIERS, "exp", "sig"):
        raise ValueError(f"unknown modifier or preset: {token}")
    if key == "bg":
        digits = value.lower()
        full = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
        values[key] = f"bg_{full.ljust(8, 'f')}"
    elif token == "f_jpeg":
        values[key] = "f_jpg"
    else:
        # Decimals have no trailing zeros.
        values[key] = re.sub(r"\.(?=_|$)", "", re.sub(r"\.([0-9]*?)0+(?=_|$)", r".\1", token))

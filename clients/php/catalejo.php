<?php

/**
 * Client of Catalejo: images, links and their signatures, tickets, webhooks, and calls of any operation.
 * One file for PHP 8.1 and newer, without dependencies.
 */

declare(strict_types=1);

namespace Catalejo;

/** Keys of modifiers in canonical order, which is that of the text that a signature covers. */
const MODIFIERS = [
    'w', 'h', 'ar', 'dpr', 'up', 'c', 'g', 'trim', 'r', 'flip', 'flop', 'pad', 'bg', 'f', 'q', 'blur', 'sharpen', 'gray',
    'pixelate', 'rad', 'frame', 'meta', 'wm', 'rect', 'rel', 'bright', 'contrast', 'sat', 'dl', 'wmg', 'wms', 'wmo',
];

const PRESETS = [
    's' => 's_90x90,c_fill',
    'b' => 's_160x160,c_fill',
    't' => 's_160x160',
    'thumb' => 's_160x160',
    'm' => 's_320x320',
    'l' => 's_640x640',
    'h' => 's_1024x1024',
];

/** What the canonical text leaves out. */
const DEFAULTS = ['c_fit', 'g_center', 'dpr_1', 'bright_0', 'contrast_0', 'sat_0'];
const SIGNATURE_BYTES = 16;

/** Prefix, account and name of an alias or hash, extension, modifiers. */
const LINK = '~^(|.*/)(?:(?:@|%40)([^/?&]+)/([a-z0-9_-]+)|([a-z2-7]{32}))(?:\.([A-Za-z]+))?(?:[?&](?:amp;)*m=([^?&]*))?$~D';

/** An error response of the service, or of a proxy in front of it. */
final class CatalejoError extends \RuntimeException
{
    /**
     * @param string|null $error code of the error; null if the response is not of the service
     * @param array<string, mixed> $answer all fields of the response, such as `reason` or `errors`
     */
    public function __construct(public readonly int $status, public readonly ?string $error, public readonly array $answer)
    {
        parent::__construct($answer['msg'] ?? "status $status", $status);
    }
}

/** A webhook that is not signed with the secret, or too old. */
final class WebhookError extends \RuntimeException {}

/** Bytes that are sent as a file. */
final class File
{
    public function __construct(public readonly string $bytes, public readonly string $name = 'imagen')
    {
    }
}

/** Calls operations of the service with a key. */
final class Client
{
    private readonly string $url;

    /** `$retries` and `$maxWaitSeconds` bound the repetitions after 429 and 503. */
    public function __construct(
        string $url,
        private readonly string $key,
        private readonly int $retries = 4,
        private readonly float $maxWaitSeconds = 60,
        private readonly float $timeoutSeconds = 60,
    ) {
        $this->url = rtrim($url, '/');
    }

    /** Uploads an image. `$ip` is the address of the user; `$info` has tags, meta, expires, focus, public. */
    public function upload(string $image, string $name, string $ip, string $mime = 'image/*', array $info = []): array
    {
        $fields = ['info' => ['name' => $name, 'mime' => $mime, 'ip' => $ip] + $info, 'image' => new File($image)];
        return $this->call('POST /api/v1/imagestore/upload', $fields);
    }

    /** Returns the record of an image, by its hash. @return array<string, mixed> */
    public function get(string $hash): array
    {
        return $this->call('GET /api/v1/imagestore/get', ['hash' => $hash]);
    }

    /** Returns the records of images, reading page after page. @return \Generator<array<string, mixed>> */
    public function list(array $filters = []): \Generator
    {
        foreach ($this->pages('GET /api/v1/imagestore/list', $filters) as $page) {
            foreach ($page['data'] as $image) {
                yield $image;
            }
        }
    }

    /** Deletes an image, by its hash. */
    public function delete(string $hash): void
    {
        $this->call('DELETE /api/v1/imagestore/delete', ['hash' => $hash]);
    }

    /** Creates a ticket, with whose `url` a visitor uploads. @return array<string, mixed> */
    public function createTicket(array $options = []): array
    {
        return $this->call('POST /api/v1/imagestore/tickets', $options);
    }

    /** Calls an operation by its method and path, such as `GET /api/v1/domainwatch/list`. @return array<string, mixed> */
    public function call(string $operation, array $parameters = []): array
    {
        return $this->request($operation, $parameters)[0];
    }

    /** Returns the answers of a list, page by page. @return \Generator<array<string, mixed>> */
    public function pages(string $operation, array $parameters = []): \Generator
    {
        [$answer, $link] = $this->request($operation, $parameters);
        for (;;) {
            yield $answer;
            if (!preg_match('/<([^>]+)>; rel="next"/', $link, $next)) {
                return;
            }
            [$answer, $link] = $this->send('GET', $next[1], null, []);
        }
    }

    /** Uploads an image with the address of a ticket, which needs no key. @return array<string, mixed> */
    public static function uploadWithTicket(string $url, File $image): array
    {
        [$body, $headers] = encode(['image' => $image]);
        return (new self($url, ''))->send('POST', $url, $body, $headers)[0];
    }

    /** @return array{array<string, mixed>, string} the answer, and its header `Link` */
    private function request(string $operation, array $parameters): array
    {
        [$method, $path] = explode(' ', $operation);
        $query = ['api' => $this->key];
        [$body, $headers] = [null, []];
        $fields = array_filter($parameters, fn ($value) => $value !== null);
        if ($method === 'POST') {
            [$body, $headers] = encode($fields);
        } else {
            // A flag is on if it is present.
            $query += array_map(toText(...), array_filter($fields, fn ($value) => $value !== false));
        }
        return $this->send($method, "$this->url$path?" . http_build_query($query), $body, $headers);
    }

    /** Waits and repeats after 429 and 503. @return array{array<string, mixed>, string} the answer, and its header `Link` */
    private function send(string $method, string $address, ?string $body, array $headers): array
    {
        $http = [
            'method' => $method,
            'header' => $headers,
            'content' => $body ?? '',
            'ignore_errors' => true,
            'follow_location' => 0,
            'timeout' => $this->timeoutSeconds,
        ];
        for ($attempt = 0;; $attempt++) {
            $stream = @fopen($address, 'r', false, stream_context_create(['http' => $http]));
            $text = $stream === false ? false : stream_get_contents($stream);
            if ($stream === false || $text === false || stream_get_meta_data($stream)['timed_out']) {
                throw new \RuntimeException('no response from ' . preg_replace('/\?.*/s', '', $address));
            }
            $received = stream_get_meta_data($stream)['wrapper_data'];
            $status = (int) explode(' ', $received[0])[1];
            $answer = json_decode($text, true);
            if ($status < 300 && is_array($answer)) {
                return [$answer, header($received, 'link')];
            }
            $after = header($received, 'retry-after');
            $seconds = ctype_digit($after) ? (int) $after : 2 ** $attempt;
            $isBusy = $status === 429 || $status === 503;
            if (!$isBusy || $attempt >= $this->retries || $seconds > $this->maxWaitSeconds) {
                $answer = is_array($answer) ? $answer : [];
                throw new CatalejoError($status, $answer['code'] ?? null, $answer);
            }
            sleep($seconds);
        }
    }
}

/** Returns what names an image by its alias in links. */
function alias(string $account, string $name): string
{
    // What encodeURIComponent of JavaScript leaves as it is.
    $unescaped = ['%21' => '!', '%27' => "'", '%28' => '(', '%29' => ')', '%2A' => '*'];
    return '@' . strtr(rawurlencode($account), $unescaped) . "/$name";
}

/**
 * Returns the link of an image.
 *
 * @param string $image a hash, an `alias()`, or a whole link, whose modifiers are replaced
 * @param string|array<string, string|int|float|bool|null> $modifiers the text of `m=`, or its tokens by key:
 *   `['w' => 300, 'c' => 'fill', 'gray' => true]`. `p` is a preset
 */
function url(string $base, string $image, string|array $modifiers = ''): string
{
    [$prefix, $name, $extension] = parseLink($image);
    $path = ($prefix === '' || $prefix === '/' ? rtrim($base, '/') . '/i/' : $prefix) . $name;
    $text = toTokens($modifiers);
    return $path . ($extension === '' ? '' : ".$extension") . ($text === '' ? '' : "&m=$text");
}

/**
 * Returns links of an image in several widths, as the attribute `srcset` takes them.
 *
 * @param list<int> $widths
 * @param string|array<string, string|int|float|bool|null> $modifiers
 */
function srcset(string $base, string $image, array $widths, string|array $modifiers = ''): string
{
    $candidates = array_map(function (int $width) use ($base, $image, $modifiers): string {
        $inWidth = is_array($modifiers)
            ? ['w' => $width] + $modifiers
            : ($modifiers === '' ? "w_$width" : "$modifiers,w_$width");
        return url($base, $image, $inWidth) . " {$width}w";
    }, $widths);
    return implode(', ', $candidates);
}

/**
 * Returns a link with its signature, whatever the order and spelling of its modifiers.
 *
 * @param string $secret of the account, as `catalejo account secret` prints it
 * @param int|null $expires seconds since 1970
 * @param array<string, string> $presets of the operator with their modifiers, which a signature covers in place of the name
 */
function sign(string $link, string $secret, ?int $expires = null, array $presets = []): string
{
    [$prefix, $image, $extension, $modifiers] = parseLink($link);
    $tokens = canonical($modifiers, $extension, $expires, $presets + PRESETS);
    $text = "$image&m=" . implode(',', $tokens);
    $digest = substr(hash_hmac('sha256', $text, $secret, true), 0, SIGNATURE_BYTES);
    $signature = rtrim(strtr(base64_encode($digest), '+/', '-_'), '=');
    return $prefix . $text . ($tokens === [] ? '' : ',') . "sig_$signature";
}

/** Signs each link of a `srcset`. @param array<string, string> $presets */
function signSrcset(string $text, string $secret, ?int $expires = null, array $presets = []): string
{
    $candidates = array_map(function (string $candidate) use ($secret, $expires, $presets): string {
        [$link, $width] = explode(' ', $candidate);
        return sign($link, $secret, $expires, $presets) . " $width";
    }, explode(', ', $text));
    return implode(', ', $candidates);
}

/**
 * Returns the content of a webhook after checking its signature (Standard Webhooks 1.0.0). Throws a `WebhookError` if it is not of
 * the service.
 *
 * @param string $body as it was received: not parsed and written again
 * @param array<string, mixed> $headers by name; or `$_SERVER`, which has them too
 * @param int|null $now seconds since 1970
 * @return array<string, mixed>
 */
function verifyWebhook(string $body, array $headers, string $secret, int $toleranceSeconds = 300, ?int $now = null): array
{
    $values = array_change_key_case($headers);
    [$id, $timestamp, $signatures] = array_map(
        fn (string $name): string => $values["webhook-$name"] ?? $values["http_webhook_$name"] ?? '',
        ['id', 'timestamp', 'signature'],
    );
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp)) {
        throw new WebhookError('webhook-timestamp is not a time');
    }
    if (abs(($now ?? time()) - (int) $timestamp) > $toleranceSeconds) {
        throw new WebhookError('the webhook is too old, or from the future');
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // After a rotation of the secret there are two.
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
        }
    }
    throw new WebhookError('the signature does not match');
}

/** Encodes as JSON, or as `multipart/form-data` if there is a file. @internal @return array{string, list<string>} body, headers */
function encode(array $fields): array
{
    if (array_filter($fields, fn ($value) => $value instanceof File) === []) {
        return [json_encode((object) $fields, JSON_THROW_ON_ERROR), ['content-type: application/json']];
    }
    $boundary = bin2hex(random_bytes(16));
    $body = '';
    foreach ($fields as $field => $value) {
        $head = "content-disposition: form-data; name=\"$field\"";
        if ($value instanceof File) {
            $name = strtr($value->name, ['"' => '%22', "\r" => '%0D', "\n" => '%0A']);
            $head .= "; filename=\"$name\"\r\ncontent-type: application/octet-stream";
        }
        $content = $value instanceof File ? $value->bytes : toText($value);
        $body .= "--$boundary\r\n$head\r\n\r\n$content\r\n";
    }
    return ["$body--$boundary--\r\n", ["content-type: multipart/form-data; boundary=$boundary"]];
}

/** @internal */
function toText(mixed $value): string
{
    return is_string($value) ? $value : ($value === true ? '1' : json_encode($value, JSON_THROW_ON_ERROR));
}

/** @internal @param list<string> $headers */
function header(array $headers, string $name): string
{
    foreach ($headers as $line) {
        if (stripos($line, "$name:") === 0) {
            return trim(substr($line, strlen($name) + 1));
        }
    }
    return '';
}

/** @internal @return array{string, string, string, string} what precedes the image, the image, the extension and the modifiers */
function parseLink(string $link): array
{
    if (!preg_match(LINK, $link, $match)) {
        throw new \InvalidArgumentException("not a link to an image: $link");
    }
    [, $prefix, $account, $name, $hash, $extension, $modifiers] = array_pad($match, 7, '');
    return [$prefix, $hash === '' ? alias(rawurldecode($account), $name) : $hash, $extension, rawurldecode($modifiers)];
}

/** @internal */
function toTokens(string|array $modifiers): string
{
    if (is_string($modifiers)) {
        return $modifiers;
    }
    $tokens = [];
    foreach (['p', ...MODIFIERS] as $key) {
        $value = $modifiers[$key] ?? false;
        if ($value !== false) {
            $tokens[] = $value === true ? $key : "{$key}_$value";
        }
    }
    return implode(',', $tokens);
}

/** Returns what a signature covers. Tokens override those of their preset, and these the extension. @internal @return list<string> */
function canonical(string $text, string $extension, ?int $expires, array $presets): array
{
    $tokens = splitTokens($text);
    $presetOf = fn (string $token): ?string => $presets[preg_replace('/^p_/', '', $token)] ?? null;
    $all = [
        $extension === '' ? '' : 'f_' . strtolower($extension),
        ...array_merge(...array_map(fn (string $token) => splitTokens($presetOf($token) ?? ''), $tokens)),
        ...array_filter($tokens, fn (string $token) => $presetOf($token) === null),
        $expires === null ? '' : "exp_$expires",
    ];
    $values = [];
    foreach (array_filter($all) as $token) {
        put($values, $token);
    }
    $ordered = array_map(fn (string $key): ?string => $values[$key] ?? null, [...MODIFIERS, 'exp']);
    return array_values(array_diff(array_filter($ordered, is_string(...)), DEFAULTS));
}

/** An extension at the end is one more token. @internal @return list<string> */
function splitTokens(string $text): array
{
    $hasExtension = preg_match('/^(.*)\.(webp|avif|jpe?g|png|gif)$/iD', $text, $match) === 1;
    $rest = explode(',', $hasExtension ? $match[1] : $text);
    $tokens = $hasExtension ? [...$rest, 'f_' . strtolower($match[2])] : $rest;
    return array_values(array_filter($tokens, fn (string $token) => $token !== ''));
}

/** Stores the canonical spelling of a token by its key. @internal @param array<string, string> $values */
function put(array &$values, string $token): void
{
    if (preg_match('/^(?:s_)?(\d+)x(\d+)$/D', $token, $size)) {
        $values = ['w' => "w_$size[1]", 'h' => "h_$size[2]"] + $values;
        return;
    }
    [$key, $value] = array_pad(explode('_', $token, 2), 2, '');
    if (!in_array($key, [...MODIFIERS, 'exp', 'sig'], true)) {
        throw new \InvalidArgumentException("unknown modifier or preset: $token");
    }
    if ($key === 'bg') {
        $digits = strtolower($value);
        $full = strlen($digits) === 3 ? preg_replace('/./', '$0$0', $digits) : $digits;
        $values[$key] = 'bg_' . str_pad($full, 8, 'f');
    } elseif ($token === 'f_jpeg') {
        $values[$key] = 'f_jpg';
    } else {
        // Decimals have no trailing zeros.
        $values[$key] = preg_replace(['/\.(\d*?)0+(?=_|$)/D', '/\.(?=_|$)/D'], ['.$1', ''], $token);
    }
}

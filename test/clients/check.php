<?php

/** Tests clients/php with the vectors, and with the services that the environment names. Run by others.test.ts. */

declare(strict_types=1);

use Catalejo\CatalejoError;
use Catalejo\Client;
use Catalejo\File;
use Catalejo\WebhookError;

use function Catalejo\alias;
use function Catalejo\sign;
use function Catalejo\signSrcset;
use function Catalejo\srcset;
use function Catalejo\url;
use function Catalejo\verifyWebhook;

error_reporting(E_ALL);
ini_set('display_errors', 'stderr');
require getenv('CLIENT_FOLDER') . 'catalejo.php';

function same(mixed $actual, mixed $expected): void
{
    if ($actual !== $expected) {
        throw new Exception(var_export($actual, true) . ' is not ' . var_export($expected, true));
    }
}

function raises(string $kind, callable $call): Throwable
{
    try {
        $call();
    } catch (Throwable $error) {
        same($error::class, $kind);
        return $error;
    }
    throw new Exception("no $kind");
}

$vectors = json_decode(file_get_contents(getenv('VECTORS')), true);
same(Catalejo\MODIFIERS, $vectors['modifiers']);
foreach ($vectors['aliases'] as $one) {
    same(alias($one['account'], $one['name']), $one['alias']);
}
foreach ($vectors['urls'] as $one) {
    same(url($one['base'], $one['image'], $one['modifiers']), $one['url']);
}
foreach ($vectors['srcsets'] as $one) {
    same(srcset($one['base'], $one['image'], $one['widths'], $one['modifiers']), $one['srcset']);
    same(signSrcset($one['srcset'], $vectors['secret'], $one['expires']), $one['signed']);
}
foreach ($vectors['signatures'] as $one) {
    same(sign($one['link'], $vectors['secret'], $one['expires'] ?? null, $one['presets'] ?? []), $one['signed']);
}
foreach ($vectors['refused'] as $link) {
    raises(InvalidArgumentException::class, fn () => sign($link, $vectors['secret']));
}
foreach ($vectors['webhooks'] as $one) {
    $server = [];
    foreach ($one['headers'] as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    foreach ([$one['headers'], $server] as $headers) {
        $check = fn () => verifyWebhook($one['body'], $headers, $vectors['webhookSecret'], now: $one['now']);
        if ($one['valid']) {
            same($check(), json_decode($one['body'], true));
        } else {
            raises(WebhookError::class, $check);
        }
    }
}

$base = getenv('BASE_URL');
$shop = new Client($base, getenv('API_KEY'));
$pictures = array_map(file_get_contents(...), glob(getenv('PICTURES') . '/*'));
$hashes = array_map(
    fn (string $each) => $shop->upload($each, 'ñandú.png', '200.1.2.3', info: ['tags' => ['verano']])['hash'],
    $pictures,
);
same($shop->get($hashes[0])['name'], 'ñandú.png');
same($shop->get($hashes[0])['tags'], ['verano']);
$listed = array_column(iterator_to_array($shop->list(['limit' => 1]), false), 'hash');
sort($listed);
$expected = $hashes;
sort($expected);
same($listed, $expected);

$shop->call('POST /api/v1/imagestore/alias', ['name' => 'portada', 'hash' => $hashes[0]]);
foreach ([$hashes[0], alias('tienda', 'portada')] as $image) {
    $link = url($base, $image, ['f' => 'webp', 'c' => 'fill', 'w' => 90, 'h' => 90]);
    same(str_contains(get_headers($link)[0], ' 403 '), true);
    same(get_headers(sign($link, getenv('LINK_SECRET'), 4_000_000_000), true)['content-type'], 'image/webp');
}

$ticket = $shop->createTicket(['types' => 'image/png']);
$shop->delete($hashes[0]);
$error = raises(CatalejoError::class, fn () => $shop->get($hashes[0]));
same([$error->status, $error->error], [404, 'image_not_found']);
$visit = new File($pictures[0], 'visita "1".png');
same(Client::uploadWithTicket($ticket['url'], $visit)['hash'], $hashes[0]);
$error = raises(CatalejoError::class, fn () => Client::uploadWithTicket($ticket['url'], $visit));
same([$error->status, $error->error], [403, 'ticket_spent']);

$busy = new Client(getenv('BUSY_URL'), 'x');
same(iterator_to_array($busy->list(), false), []);
$error = raises(CatalejoError::class, fn () => $busy->call('GET /api/v1/imagestore/stats'));
same([$error->status, $error->error], [503, 'overloaded']);

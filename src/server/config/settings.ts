import type { Feed } from '../../domainwatch/feeds/settings.ts'
import { defaultImageSettings } from '../../imagestore/image-settings.ts'
import * as parse from './setting-values.ts'
import { integer, listOf, oneOf, text, type Parser } from './setting-values.ts'

/** One setting. `CATALEJO_<NAME>`, `CATALEJO_<NAME>_FILE` and the flag are derived from `name`. */
export interface Setting<T> {
  /** Lower-case words joined by hyphens, as in the flag. */
  readonly name: string
  /** The description in `--help`. */
  readonly summary: string
  readonly default: T
  readonly parse: Parser<T>
  /** The name of the setting without which this one has no effect. */
  readonly needs?: string
  /** Removes secrets from a value before it is shown. */
  readonly show?: (text: string) => string
}

export const environmentName = (name: string): string => `CATALEJO_${name.toUpperCase().replaceAll('-', '_')}`

/** The default as a text. One that is not a string, a number or a list of them means that the setting is empty. */
export function defaultText({ default: fallback }: Setting<unknown>): string {
  return ['string', 'number'].includes(typeof fallback) || Array.isArray(fallback) ? String(fallback) : ''
}

const MIB = 1024 * 1024
const TELEGRAM_TAKES = 'an http:// or https:// address, such as https://api.telegram.org'
const NO_FEEDS: readonly Feed[] = []

/** Every setting of the service. The type of `Config` follows from this list. */
export const settings = {
  host: setting('host', 'address to listen on', '127.0.0.1', text('an address or host name')),
  port: setting('port', 'port to listen on; 0 takes a free one', 8080, integer(0, 65_535)),
  data: setting('data', 'folder of the database and the images', './data', text('a folder')),
  databaseUrl: setting(
    'database-url',
    'database, postgres://…; empty for SQLite in the data folder',
    '',
    parse.databaseUrl,
    { show: parse.withoutSecrets },
  ),
  databaseListenUrl: setting(
    'database-listen-url',
    'address of the server itself if database-url is a pooler in transaction mode',
    '',
    parse.databaseUrl,
    { show: parse.withoutSecrets, needs: 'database-url' },
  ),
  databaseConnections: setting(
    'database-connections',
    'connections to PostgreSQL, in addition to one for LISTEN',
    12,
    integer(3, 1_000),
    { needs: 'database-url' },
  ),
  blobsUrl: setting(
    'blobs-url',
    'image store, s3://bucket/prefix?endpoint=…; empty for files in the data folder',
    undefined,
    parse.blobsUrl,
  ),
  blobsRedirect: setting(
    'blobs-redirect',
    'minimum size in bytes of originals that clients are redirected to S3 for; 0 disables redirects',
    0,
    integer(0, 1_000_000_000),
    { needs: 'blobs-url' },
  ),
  baseUrl: setting('base-url', 'public URL; its path is the prefix of all routes', '', parse.baseUrl),
  timeZone: setting('time-zone', 'IANA time zone of date_mod', 'America/Santiago', parse.timeZone),
  dnsServers: setting(
    'dns-servers',
    'DNS servers, address:port,…: resolvers, or servers of cl if dns-mode is parent; empty for the resolvers of the system, or the servers found through them',
    undefined,
    parse.dnsServers,
  ),
  dnsMode: setting(
    'dns-mode',
    'resolver queries resolvers; parent queries the servers of cl and reads the delegation',
    'resolver',
    oneOf('resolver', 'parent'),
  ),
  dnsResolvers: setting(
    'dns-resolvers',
    'resolvers, address:port,…, for record types other than ns if dns-mode is parent; empty for those of the system',
    undefined,
    parse.dnsServers,
    { needs: 'dns-mode' },
  ),
  dnsInFlight: setting(
    'dns-in-flight',
    'maximum number of concurrent DNS queries',
    1_024,
    integer(1, 65_536),
  ),
  recheckEvery: setting(
    'recheck-every',
    'hours after which the DNS of names in review, and of watches with dns=1, is looked up again; 0 disables rechecks',
    24,
    integer(0, 720),
  ),
  recheckRate: setting(
    'recheck-rate',
    'maximum number of DNS queries per minute for names that are looked up again',
    600,
    integer(2, 60_000),
  ),
  recheckTags: setting(
    'recheck-tags',
    'tags of records whose DNS is looked up again too',
    [],
    listOf(parse.tag),
  ),
  workers: setting('workers', 'number of worker processes, or auto for one per core', 1, parse.workers),
  stopDelay: setting(
    'stop-delay',
    'seconds to keep accepting connections after the signal to stop, while /readyz already fails',
    0,
    integer(0, 60),
  ),
  logLevel: setting(
    'log-level',
    'minimum level of log messages',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
  trustedProxies: setting(
    'trusted-proxies',
    'addresses or networks whose X-Forwarded-For header is trusted',
    [],
    listOf(parse.network),
  ),
  corsOrigins: setting(
    'cors-origins',
    'origins that browsers may send requests from; * for all, empty for none',
    ['*'],
    listOf(parse.origin),
  ),
  maxImageBytes: setting(
    'max-image-bytes',
    'maximum size of an image, in bytes',
    20 * MIB,
    integer(1_024, 512 * MIB),
  ),
  maxImagePixels: setting(
    'max-image-pixels',
    'maximum number of pixels of an image, in all frames',
    64_000_000,
    integer(1, 1_000_000_000),
  ),
  imageWorkers: setting(
    'image-workers',
    'number of processes that decode images; 0 for one per core',
    0,
    integer(0, 64),
  ),
  imageMemory: setting(
    'image-memory',
    'maximum memory of all image decoding, in MiB',
    1_280,
    integer(128, 65_536),
  ),
  imageTimeout: setting(
    'image-timeout',
    'maximum processing time of an image, in seconds',
    15,
    integer(1, 300),
  ),
  imageQueue: setting(
    'image-queue',
    'maximum number of images waiting to be decoded',
    1_000,
    integer(1, 10_000),
  ),
  imageWait: setting(
    'image-wait',
    'maximum time an image waits to be decoded, in seconds',
    30,
    integer(1, 300),
  ),
  imageSettings: setting(
    'image-settings',
    'JSON file with presets and watermarks for links',
    defaultImageSettings,
    parse.imageSettings,
  ),
  autoFormatCache: setting(
    'auto-format-cache',
    'caches that may store responses to f_auto: private (browsers only), or shared if all shared caches respect Vary',
    'private',
    oneOf('private', 'shared'),
  ),
  strip: setting('strip', '1 removes metadata from uploaded images', 0, integer(0, 1)),
  memoryCache: setting('memory-cache', 'memory for frequently served images, in MiB', 64, integer(0, 65_536)),
  similarMemory: setting(
    'similar-memory',
    'memory for the hashes of similar images, in MiB',
    512,
    integer(1, 65_536),
  ),
  ipDays: setting('ip-days', "days after which an uploader's IP address is erased", 90, integer(1, 3_650)),
  changesDays: setting('changes-days', 'days that changes are kept', 30, integer(1, 3_650)),
  changesMax: setting(
    'changes-max',
    'maximum number of changes kept',
    2_000_000,
    integer(1_000, 1_000_000_000),
  ),
  historyDays: setting(
    'history-days',
    'days that the history of deleted records is kept',
    365,
    integer(1, 36_500),
  ),
  derivativeCache: setting(
    'derivative-cache',
    'disk space for transformed images, in MiB; 0 disables the cache',
    1_024,
    integer(0, 16 * MIB),
  ),
  eventStreams: setting('event-streams', 'maximum number of open event streams', 1_000, integer(1, 100_000)),
  webhookNetworks: setting(
    'webhook-networks',
    'private networks that webhooks may be sent to and feeds fetched from, such as 10.0.0.0/8',
    [],
    listOf(parse.network),
  ),
  telegramToken: setting(
    'telegram-token',
    'token of the Telegram bot that sends messages of watches',
    '',
    parse.secret('a token'),
    { show: parse.hidden },
  ),
  telegramUrl: setting(
    'telegram-url',
    'address of the Telegram Bot API',
    'https://api.telegram.org',
    (value) => (value === '' ? { takes: TELEGRAM_TAKES } : parse.serverUrl(TELEGRAM_TAKES)(value)),
    { needs: 'telegram-token' },
  ),
  ntfyUrl: setting(
    'ntfy-url',
    'ntfy server that topics of watches are on; empty for none',
    '',
    parse.serverUrl('an http:// or https:// address, such as https://ntfy.sh'),
  ),
  ntfyToken: setting('ntfy-token', 'access token of that ntfy server', '', parse.secret('a token'), {
    show: parse.hidden,
    needs: 'ntfy-url',
  }),
  smtpUrl: setting(
    'smtp-url',
    'mail server, smtp://user:password@host:587 (STARTTLS), or smtps://…:465; empty for none',
    undefined,
    parse.smtpUrl,
    { show: parse.withoutSecrets, needs: 'smtp-from' },
  ),
  smtpFrom: setting('smtp-from', 'sender of mails', '', parse.mailAddress, { needs: 'smtp-url' }),
  smtpTls: setting(
    'smtp-tls',
    'required encrypts connections to the mail server; off sends mails and password in plain text',
    'required',
    oneOf('required', 'off'),
    { needs: 'smtp-url' },
  ),
  feeds: setting('feeds', 'JSON file with lists to fetch and import regularly', NO_FEEDS, parse.feeds),
  phishingKeywords: setting(
    'phishing-keywords',
    'words that phishing names put next to a brand, in addition to the built-in ones; -word removes one',
    [],
    listOf(parse.phishingKeyword),
  ),
  words: setting(
    'words',
    'words that names are split into, such as places and brands, in addition to the built-in ones; -word removes one',
    [],
    listOf(parse.word),
  ),
  failedKeys: setting(
    'failed-keys',
    'wrong keys accepted from one address per minute',
    300,
    integer(1, 1_000_000),
  ),
  clientConnections: setting(
    'client-connections',
    'maximum number of open connections per address, except trusted proxies',
    1_000,
    integer(1, 1_000_000),
  ),
  bodyMinRate: setting(
    'body-min-rate',
    'minimum average rate of a request body, in bytes per second; 0 for no limit',
    500,
    integer(0, 1_000_000_000),
  ),
  bodyRateWindow: setting(
    'body-rate-window',
    'seconds over which body-min-rate is averaged',
    30,
    integer(1, 120),
  ),
  clientLogLines: setting(
    'client-log-lines',
    'log lines about requests of one address per minute, the others are only counted; 0 for all',
    6_000,
    integer(0, 1_000_000_000),
  ),
  backupTo: setting(
    'backup-to',
    'place of a daily backup, a folder or s3://bucket/prefix?endpoint=…; empty for none',
    undefined,
    parse.backupPlace,
  ),
  backupKeep: setting('backup-keep', 'number of daily backups kept', 14, integer(1, 100_000), {
    needs: 'backup-to',
  }),
  metricsAddress: setting(
    'metrics-address',
    'address:port that serves /metrics exclusively; empty for the main port',
    undefined,
    parse.listenAddress,
  ),
} satisfies Record<string, Setting<unknown>>

function setting<T>(
  name: string,
  summary: string,
  fallback: T,
  parse: Parser<T>,
  more: Pick<Setting<T>, 'needs' | 'show'> = {},
): Setting<T> {
  return { name, summary, default: fallback, parse, ...more }
}

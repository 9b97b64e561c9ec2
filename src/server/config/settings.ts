import * as parse from './setting-values.ts'
import { duration, integer, listOf, oneOf, size, text, type Parser } from './setting-values.ts'

/** One setting. `CATALEJO_<NAME>`, `CATALEJO_<NAME>_FILE` and the flag are derived from `name`. */
export interface Setting<T> {
  /** The heading under which `serve --help` lists it. */
  readonly topic: string
  /** Lower-case words joined by hyphens, as in the flag. */
  readonly name: string
  /** What its value is, for `--help`: `PORT`. */
  readonly placeholder: string
  /** The description in `--help`. */
  readonly summary: string
  readonly default: T
  /** The default as it could be set. */
  readonly defaultText: string
  readonly parse: Parser<T>
  /** The name of the setting without which this one has no effect. */
  readonly needs?: string
  /** Removes secrets from a value before it is shown. */
  readonly show?: (text: string) => string
}

export const environmentName = (name: string): string => `CATALEJO_${name.toUpperCase().replaceAll('-', '_')}`

const DAY = 86_400_000
const MIB = 2 ** 20
const TIB = 2 ** 40

const network = topic('Network:')
const storage = topic('Storage:')
const domains = topic('Domains:')
const images = topic('Images:')
const messages = topic('Messages and feeds:')
const operation = topic('Operation:')

/** Every setting of the service. The type of `Config` follows from this list. */
export const settings = {
  host: network('--host <ADDRESS>', 'address to listen on', '127.0.0.1', text('an address or host name')),
  port: network('--port <PORT>', 'port to listen on; 0 takes a free one', '8080', integer(0, 65_535)),
  baseUrl: network('--base-url <URL>', 'public URL; its path is the prefix of all routes', '', parse.baseUrl),
  trustedProxies: network(
    '--trusted-proxies <NETWORKS>',
    'addresses or networks whose X-Forwarded-For header is trusted',
    '',
    listOf(parse.network),
  ),
  authHeader: network(
    '--auth-header <NAME>',
    'header in which a proxy names the account that it signs in to the console; empty for none',
    '',
    parse.headerName,
  ),
  authAdmins: network(
    '--auth-admins <ACCOUNTS>',
    'administrators that the proxy may sign in, separated by commas',
    '',
    listOf(text('the name of an account')),
    { needs: 'auth-header' },
  ),
  corsOrigins: network(
    '--cors-origins <ORIGINS>',
    'origins that browsers may send requests from; * for all, empty for none',
    '*',
    listOf(parse.origin),
  ),
  failedKeys: network(
    '--failed-keys <N>',
    'maximum number of wrong keys per minute from one address',
    '300',
    integer(1, 1_000_000),
  ),
  metricsAddress: network(
    '--metrics-address <ADDRESS:PORT>',
    'address that only serves /metrics; empty to serve it on the main port',
    '',
    parse.listenAddress,
  ),
  data: storage('--data <DIR>', 'folder of the database and the images', './data', text('a folder')),
  databaseUrl: storage(
    '--database-url <URL>',
    'database, postgres://…; empty for SQLite in the data folder',
    '',
    parse.databaseUrl,
    { show: parse.withoutSecrets },
  ),
  databaseListenUrl: storage(
    '--database-listen-url <URL>',
    'address of the PostgreSQL server if database-url is a pooler in transaction mode',
    '',
    parse.databaseUrl,
    { show: parse.withoutSecrets, needs: 'database-url' },
  ),
  databaseConnections: storage(
    '--database-connections <N>',
    'connections to PostgreSQL, in addition to one for LISTEN',
    '12',
    integer(3, 1_000),
    { needs: 'database-url' },
  ),
  blobsUrl: storage(
    '--blobs-url <URL>',
    'image store, s3://bucket/prefix?endpoint=…; empty for files in the data folder',
    '',
    parse.blobsUrl,
  ),
  backupTo: storage(
    '--backup-to <PLACE>',
    'place of a daily backup, a folder or s3://bucket/prefix?endpoint=…; empty for none',
    '',
    parse.backupPlace,
  ),
  backupKeep: storage('--backup-keep <N>', 'number of daily backups kept', '14', integer(1, 100_000), {
    needs: 'backup-to',
  }),
  historyMs: storage(
    '--history-days <TIME>',
    'time for which the history of deleted records is kept',
    '365d',
    duration(DAY, 36_500 * DAY, 'd'),
  ),
  timeZone: domains(
    '--time-zone <ZONE>',
    'IANA time zone of the service',
    'America/Santiago',
    parse.timeZone,
  ),
  dnsServers: domains(
    '--dns-servers <SERVERS>',
    'resolvers, address:port,…; empty for those of the system',
    '',
    parse.dnsServers,
  ),
  dnsParent: domains(
    '--dns-parent <SERVERS>',
    'servers of cl, address:port,…, whose delegations are the name servers of domains; auto finds them through dns-servers; empty to ask resolvers',
    '',
    parse.dnsParent,
  ),
  recheckEveryMs: domains(
    '--recheck-every <TIME>',
    'time after which the DNS of names in review, and of watches with dns=1, is looked up again; 0 disables rechecks',
    '24h',
    duration(0, 30 * DAY, 'h'),
  ),
  recheckTags: domains(
    '--recheck-tags <TAGS>',
    'tags of records whose DNS is looked up again too',
    '',
    listOf(parse.tag),
  ),
  phishingKeywords: domains(
    '--phishing-keywords <WORDS>',
    'words that phishing names put next to a brand, in addition to the built-in ones; -word removes one',
    '',
    listOf(parse.phishingKeyword),
  ),
  words: domains(
    '--words <WORDS>',
    'words that names are split into, such as places and brands, in addition to the built-in ones; -word removes one',
    '',
    listOf(parse.word),
  ),
  maxImageBytes: images(
    '--max-image-bytes <SIZE>',
    'maximum size of an image',
    '20MiB',
    size(1_024, 512 * MIB, 'B'),
  ),
  maxImagePixels: images(
    '--max-image-pixels <N>',
    'maximum number of pixels of an image, in all frames',
    '64000000',
    integer(1, 1_000_000_000),
  ),
  imageWorkers: images(
    '--image-workers <N>',
    'number of processes that decode images; 0 for one per core',
    '0',
    integer(0, 64),
  ),
  imageMemoryBytes: images(
    '--image-memory <SIZE>',
    'maximum memory of all image decoding',
    '1280MiB',
    size(128 * MIB, 65_536 * MIB, 'MiB'),
  ),
  imageWaitMs: images(
    '--image-wait <TIME>',
    'maximum time an image waits to be decoded',
    '30s',
    duration(1_000, 300_000, 's'),
  ),
  imageSettings: images(
    '--image-settings <FILE>',
    'JSON file with presets and watermarks for links, and the caches of f_auto',
    '',
    parse.imageSettings,
  ),
  strip: images('--strip <0|1>', '1 removes metadata from uploaded images', '0', integer(0, 1)),
  memoryCacheBytes: images(
    '--memory-cache <SIZE>',
    'memory for frequently served images',
    '64MiB',
    size(0, 65_536 * MIB, 'MiB'),
  ),
  derivativeCacheBytes: images(
    '--derivative-cache <SIZE>',
    'disk space for transformed images; 0 disables the cache',
    '1GiB',
    size(0, 16 * TIB, 'MiB'),
  ),
  ipMs: images(
    '--ip-days <TIME>',
    "time after which an uploader's IP address is erased",
    '90d',
    duration(DAY, 3_650 * DAY, 'd'),
  ),
  feeds: messages('--feeds <FILE>', 'JSON file with lists to fetch and import regularly', '', parse.feeds),
  webhookNetworks: messages(
    '--webhook-networks <NETWORKS>',
    'private networks that webhooks may be sent to, and feeds and lists of images fetched from, such as 10.0.0.0/8',
    '',
    listOf(parse.network),
  ),
  telegram: messages(
    '--telegram-token <TOKEN>',
    'token of the Telegram bot that sends messages of watches, or https://host/bot<token> of your own Bot API server',
    '',
    parse.telegram,
    { show: parse.hidden },
  ),
  ntfy: messages(
    '--ntfy-url <URL>',
    'ntfy server of the topics of watches, https://host, or https://<access token>@host; empty for none',
    '',
    parse.ntfyServer,
    { show: parse.withoutSecrets },
  ),
  smtpServer: messages(
    '--smtp-url <URL>',
    'mail server and sender, smtp://user:password@host:587?from=address (STARTTLS) or smtps://…; empty for none',
    '',
    parse.smtpUrl,
    { show: parse.withoutSecrets },
  ),
  workers: operation(
    '--workers <N>',
    'number of worker processes, or auto for one per core',
    '1',
    parse.workers,
  ),
  stopDelayMs: operation(
    '--stop-delay <TIME>',
    'time to keep accepting connections after the signal to stop, while /readyz already fails',
    '0s',
    duration(0, 60_000, 's'),
  ),
  logLevel: operation(
    '--log-level <LEVEL>',
    'minimum level of log messages: trace, debug, info, warn, error, fatal or silent',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
} satisfies Record<string, Setting<unknown>>

/** Returns a function that defines settings under a heading. */
function topic(heading: string) {
  return <T>(
    flag: string,
    summary: string,
    defaultText: string,
    parse: Parser<T>,
    more: Pick<Setting<T>, 'needs' | 'show'> = {},
  ): Setting<T> => {
    const [, name = '', placeholder = ''] = /^--([a-z-]+) <(.+)>$/.exec(flag) ?? []
    const parsed = parse(defaultText)
    if (!('value' in parsed)) throw new Error(`the default of ${flag} is not valid`)
    return { topic: heading, name, placeholder, summary, default: parsed.value, defaultText, parse, ...more }
  }
}

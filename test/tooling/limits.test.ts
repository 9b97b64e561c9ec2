/** Defaults, limits and messages that documents state, against their only definition. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  DISCARDED_RETENTION_DAYS,
  MAX_BATCH_RECORDS,
  MAX_LABEL_CHARACTERS,
} from '../../src/domainwatch/limits.ts'
import {
  POOLS,
  CONNECTION_CUT_MS,
  IDLE_GRACE_MS,
  PROCESS_EXIT_MS,
  WORKER_KILL_MS,
} from '../../src/lib/limits.ts'
import { settings } from '../../src/server/config/settings.ts'
import { openapiText, resolved } from '../support/openapi.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('decisions'))
  .map((path) => read(`docs/${path}`))
  .join('\n')

test('OpenAPI states the limits of a batch and of a name', () => {
  const document = Object(resolved(JSON.parse(openapiText)))
  const parameters: readonly { name: string; schema: { maximum?: number } }[] =
    document.paths['/api/v1/domainwatch/list'].get.parameters
  for (const name of ['length', 'min_length', 'max_length'])
    assert.equal(parameters.find((one) => one.name === name)?.schema.maximum, MAX_LABEL_CHARACTERS, name)
  const batches = [
    ...JSON.stringify(document).matchAll(
      /"maxItems":(\d+),"description":"(?:Records to store|Marks to set)"/g,
    ),
  ]
  assert.ok(batches.length > 0 && batches.every(([, max]) => Number(max) === MAX_BATCH_RECORDS))
})

test('the documents state the limits', () => {
  assert.match(pages, new RegExp(`\\b${DISCARDED_RETENTION_DAYS} days\\b`))
  assert.ok(pages.includes(MAX_BATCH_RECORDS.toLocaleString('en')))
  assert.match(pages, new RegExp(`\\b${MAX_LABEL_CHARACTERS}\\b`))
})

test('the steps of a shutdown are in their order, before supervisors kill', () => {
  const steps = [0, IDLE_GRACE_MS, CONNECTION_CUT_MS, PROCESS_EXIT_MS, WORKER_KILL_MS]
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  const [, seconds] = /TimeoutStopSec=(\d+)s/.exec(read('deploy/systemd/catalejo.service')) ?? []
  assert.ok(WORKER_KILL_MS < Number(seconds) * 1_000)
})

/** The rows of the tables under a heading, without those of headings. */
function rowsUnder(path: string, heading: string): string[] {
  const [section = ''] = (read(path).split(`\n${heading}\n`)[1] ?? '').split(/\n## /)
  return section
    .split('\n')
    .filter((line, i, lines) => /^\| [^-]/.test(line) && lines[i + 1]?.startsWith('| -') !== true)
}

test('the configuration page states defaults and ranges', () => {
  const rows = rowsUnder('docs/operations/configuration.md', '## Settings')
  for (const { defaultText, name, parse } of Object.values(settings)) {
    const [, stated = '', takes = ''] =
      rows
        .find((line) => line.startsWith(`| \`--${name}\` `))
        ?.split(/ +\| +/)
        .slice(1) ?? []
    assert.equal(/^`(.*)`$/.exec(stated)?.[1] ?? '', defaultText, name)
    const refused = parse('\0')
    const [, from, to] = ('takes' in refused ? / from (\S+) to ([^\s,]+)/.exec(refused.takes) : null) ?? []
    if (from !== undefined && name !== 'strip')
      assert.match(takes, new RegExp(`\\b(${from}|up) to ${to}\\b`), name)
  }
})

type Unit = 's' | 'bytes' | 'KiB' | 'MiB' | ''

/** A number as the documents write it. */
function written(value: number, unit: Unit): string {
  const divisor = { s: 1_000, bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, '': 1 }[unit]
  return `${(value / divisor).toLocaleString('en')} ${unit}`.trim()
}

/** Returns a number that a source file gives a name, such as `MAX = 2 * 1_024` or `timeout: 15_000`. */
function numberIn(file: string, name: string): number {
  const [, factors = ''] = new RegExp(`\\b${name}(?: = |: )([\\d_ *]+)`).exec(read(`src/${file}`)) ?? []
  const value = factors
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1)
  assert.ok(value > 0, `${file} has no ${name}`)
  return value
}

type Stated = readonly [file: string, name: string, unit: Unit]

/** The constants behind each row of the tables of limits, by how the row begins. Rows without constants state settings. */
const STATED: Readonly<Record<string, Readonly<Record<string, readonly Stated[]>>>> = {
  'docs/operations/limits.md ## Other limits': {
    'request line and headers': [['http/server.ts', 'headersTimeout', 's']],
    'idle connection;': [
      ['http/server.ts', 'keepAliveTimeout', 's'],
      ['http/server.ts', 'IDLE_SOCKET_TIMEOUT_MS', 's'],
    ],
    'open connections': [
      ['server/routes.ts', 'MAX_CONNECTIONS', ''],
      ['lib/limits.ts', 'clientConnections', ''],
    ],
    'requests on one connection': [['http/server.ts', 'MAX_PIPELINED', '']],
    'speed of a body;': [
      ['lib/limits.ts', 'bodyMinBytesPerSecond', 'bytes'],
      ['lib/limits.ts', 'bodyRateWindowMs', 's'],
      ['http/body/receive.ts', 'MAX_TINY_CHUNKS', ''],
    ],
    'wrong keys;': [['lib/limits.ts', 'clientLogLines', '']],
    'SQLite:': [
      ['storage/database/sqlite/connection-thread.ts', 'STATEMENT_TIMEOUT_MS', 's'],
      ['storage/database/sqlite/connection.ts', 'WAIT_MS', 's'],
    ],
    'PostgreSQL:': [
      ['storage/database/postgres/pool.ts', 'READ_TIMEOUT_MS', 's'],
      ['storage/database/postgres/pool.ts', 'SCAN_TIMEOUT_MS', 's'],
      ['storage/database/postgres/pool.ts', 'WRITE_TIMEOUT_MS', 's'],
    ],
    'DNS look-up;': [
      ['lib/dns/resolver.ts', 'deadlineMs', 's'],
      ['lib/dns/resolver.ts', 'retryMs', 's'],
      ['lib/limits.ts', 'rechecksPerMinute', ''],
    ],
    'lists while': [['domainwatch/list/name-index.ts', 'MAX_WAIT_MS', 's']],
    'event streams': [['lib/limits.ts', 'eventStreams', '']],
    'requests of watches': [['deliveries/delivery-attempt.ts', 'burst', '']],
    'mails of watches': [
      ['domainwatch/watches/mail-recipients.ts', 'MAX_MAILS_OF_ADDRESS', ''],
      ['domainwatch/watches/mail-recipients.ts', 'MAX_MAILS_OF_ACCOUNT', ''],
    ],
    feeds: [
      ['domainwatch/feeds/settings.ts', 'MAX_FEEDS', ''],
      ['domainwatch/feeds/index.ts', 'MAX_PER_HOST', ''],
    ],
    'jobs of an account': [['domainwatch/jobs/job.ts', 'MAX_FILE_BYTES', 'MiB']],
    'in memory:': [
      ['imagestore/delivery.ts', 'MAX_CACHED_IMAGES', ''],
      ['imagestore/routes/link-cache.ts', 'MAX_LINKS', ''],
      ['server/context.ts', 'DNS_CACHE_BYTES', 'MiB'],
    ],
    'Atom feeds': [
      ['domainwatch/events/index.ts', 'MAX_CACHED_ATOM_FEEDS', ''],
      ['domainwatch/campaigns.ts', 'MAX_CACHED', ''],
    ],
    'derived images on disk;': [['lib/limits.ts', 'similarBytes', 'MiB']],
    'images and bytes of an application': [],
  },
  'docs/api/README.md ## Limits': {
    address: [['http/malformed-requests.ts', 'MAX_URL_BYTES', 'bytes']],
    'request line and headers': [['http/server.ts', 'maxHeaderSize', 'KiB']],
    'body of `add` and `update`': [
      ['domainwatch/routes/batches.ts', 'BATCH_BODY_BYTES', 'MiB'],
      ['domainwatch/limits.ts', 'MAX_BATCH_RECORDS', ''],
    ],
    'body of `upload`': [['http/upload-endpoint.ts', 'MAX_OTHER_BYTES', 'MiB']],
    'file of `import`': [['domainwatch/jobs/job.ts', 'MAX_FILE_BYTES', 'MiB']],
    'body of `POST dns`': [
      ['domainwatch/routes/dns.ts', 'BULK_BYTES', 'MiB'],
      ['domainwatch/limits.ts', 'MAX_DNS_NAMES', ''],
    ],
    'other bodies': [['http/endpoint.ts', 'SMALL_BODY_BYTES', 'KiB']],
    image: [],
    'page of a list': [['domainwatch/limits.ts', 'MAX_PAGE_RECORDS', '']],
  },
}

for (const [table, stated] of Object.entries(STATED)) {
  const [path = '', heading = ''] = table.split(/ (?=##)/)
  test(`${path} states the limits of the code`, () => {
    for (const row of rowsUnder(path, heading)) {
      const [, constants] =
        Object.entries(stated).find(([start]) => row.startsWith(`| ${start}`)) ??
        assert.fail(`name the constants of this row: ${row}`)
      for (const [file, name, unit] of constants) {
        const text = written(numberIn(file, name), unit)
        assert.match(row, new RegExp(`(?<![\\d.,])${text}(?![\\d,]*\\d)`), `${file} ${name}: ${text}`)
      }
    }
  })
}

for (const [pool, limits] of Object.entries(POOLS)) {
  test(`the limits of the pool ${pool} are those of its row`, () => {
    const row = rowsUnder('docs/operations/limits.md', '## Pools').find((line) =>
      line.includes(`(\`${pool}\``),
    )
    assert.ok(row, `no row names \`${pool}\``)
    for (const [name, value] of Object.entries(limits)) {
      if (value === 0 || name === 'bulkWaitMs' || name === 'turnMs') continue
      const isBytes = name.toLowerCase().endsWith('bytes')
      const unit = name.endsWith('Ms') ? 's' : !isBytes ? '' : value < 2 ** 20 ? 'KiB' : 'MiB'
      assert.ok(row.includes(written(value, unit)), `${name}: ${written(value, unit)} is not in ${row}`)
    }
  })
}

/** The texts in quotes of all sources, in parts between their placeholders. */
function textsOfCode(): string[][] {
  const sources = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => read(`src/${path}`).replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/ .*$/gm, ''))
  const quotes = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g
  return sources.flatMap((source) =>
    [...source.matchAll(quotes)].map(
      ([, ...found]) => found.find((text) => text !== undefined)?.split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/) ?? [],
    ),
  )
}

/** Texts that others write: receivers of messages, the balancer and lists of the registry. */
const OF_OTHERS = [
  /^Telegram respondió \d+: /,
  /^El servicio no está disponible$/,
  /^Nombre Dominio,Fecha Inscripción$/,
]

test('each message that a page quotes is one of the code', () => {
  const texts = textsOfCode()
  const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const patterns = texts
    .filter((parts) => parts.join('').replaceAll(/\P{L}/gu, '').length >= 7)
    .map((parts) => new RegExp(`^${parts.map(escaped).join('.*')}$`))
  const prose = pages.replaceAll(/^```[^]*?^```/gm, '')
  const quoted = [...prose.matchAll(/`(\p{Lu}\p{Ll}*(?: [^`\n={}|$]+){2,})`/gu)].map(
    ([, message = '']) => message,
  )
  assert.ok(quoted.length > 150, String(quoted.length))
  const unknown = quoted.filter((message) => {
    const text = message.replaceAll(/<[^>]+>|…/g, 'x')
    return (
      !OF_OTHERS.some((pattern) => pattern.test(message)) &&
      !patterns.some((pattern) => pattern.test(text)) &&
      !texts.some((parts) => parts.some((part) => part.includes(message.replace(/ \([A-Z]+\)$/, ''))))
    )
  })
  assert.deepEqual(unknown, [])
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ns, RCODE, startScriptedDns, type Answer } from '../dns/scripted.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService, type TestService } from '../support/service.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** In the order in which a reader follows them. Each page assumes what the pages before it have stored. */
const PAGES = [
  'README.md',
  ...[
    'README.md',
    'domainwatch.md',
    'domainwatch-lists.md',
    'domainwatch-decisions.md',
    'domainwatch-analysis.md',
    'domainwatch-dns.md',
    'events.md',
    'watches.md',
    'imagestore-tickets.md',
    'imagestore-links.md',
    'imagestore.md',
    'admin.md',
  ].map((name) => `docs/api/${name}`),
]
/** A stream of events does not end: curl gives up. */
const CURL_TIMED_OUT = 28

interface Example {
  readonly command: string
  /** The JSON block right after the command. */
  readonly documented: unknown
}

function toExamples(page: string): Example[] {
  const blocks = page.matchAll(/^```sh\n([^]*?)^```\n(?:\n```json\n([^]*?)^```)?/gm)
  return [...blocks]
    .map(([, command = '', json]) => ({
      command,
      documented: json === undefined ? undefined : JSON.parse(json),
    }))
    .filter(({ command }) => /(^|\| )curl /m.test(command))
}

interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function run(command: string, cwd: string, environment: Record<string, string>): Promise<Finished> {
  // The environment sets the variables.
  const script = `set -eo pipefail\n${command.replaceAll(/^[A-Z]=.*$/gm, '')}`
  const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...environment }, timeout: 180_000 }
  return new Promise((resolve) => {
    const child = execFile('bash', ['--norc', '-c', script], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of all objects, by their paths: those of the first element of an array, and nothing below `null`. */
function missingFields(documented: unknown, actual: unknown, path = ''): string[] {
  if (Array.isArray(documented) && Array.isArray(actual))
    return documented.length === 0 || actual.length === 0
      ? []
      : missingFields(documented[0], actual[0], `${path}[]`)
  if (!isObject(documented) || !isObject(actual)) return []
  return Object.entries(documented).flatMap(([name, value]) =>
    name in actual ? missingFields(value, actual[name], `${path}.${name}`) : [`${path}.${name}`],
  )
}

/** `nic.cl` has name servers; no other name exists. */
function startDns() {
  return startScriptedDns(({ name }): Answer => {
    if (name.toLowerCase() !== 'nic.cl') return { rcode: RCODE.NXDOMAIN }
    return { answers: [ns('nic.cl', 'a.nic.cl'), ns('nic.cl', 'b.nic.cl')] }
  })
}

async function addLookalikes({ url, domainKey }: TestService): Promise<void> {
  const record = { reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' }
  const data = [
    { ...record, domain: 'mibancó', length: 7 },
    { ...record, domain: 'mi-banco', length: 8 },
  ]
  const answer = await fetch(`${url}/api/v1/domainwatch/add?api=${domainKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  })
  assert.equal(answer.status, 200)
}

/** The delivery of the examples: nothing matched the watch of the page meanwhile. */
async function addDelivery(service: TestService, watch: string): Promise<void> {
  await service.sql(`INSERT INTO watch_deliveries (watch_id, number, id, destination_id, channel, created_at, events, state,
      attempts, code, duration_ms, body)
    SELECT watch_id, 1, 'msg_NkS9BzIM6vFRXZ5orBeP', id, channel, ${Date.now()}, 1, 'delivered', 1, 204, 38, '{}'
    FROM watch_destinations WHERE watch_id = '${watch}' ORDER BY position LIMIT 1`)
}

test(
  'every curl example of the README and the API pages works, and its answer has the documented fields',
  { timeout: 300_000 },
  async () => {
    const dns = await startDns()
    try {
      await using service = await startService({ flags: { 'dns-servers': dns.address } })
      await addLookalikes(service)
      await using folder = await temporaryFolder()
      await symlink(join(ROOT, 'assets'), join(folder.path, 'assets'))
      await writeFile(join(folder.path, '.curlrc'), 'silent\nshow-error\nfail-with-body\nmax-time = 50\n')
      const environment = {
        CURL_HOME: folder.path,
        B: service.url,
        D: service.domainKey,
        I: service.imageKey,
        A: (await service.newKey('dueña', 'admin')).key,
      }
      /** Ids in the pages, and those that the service gave instead. */
      const ids = new Map<string, string>()
      let count = 0
      for (const page of PAGES) {
        for (const { command, documented } of toExamples(await readFile(join(ROOT, page), 'utf8'))) {
          const isStream = command.includes('curl -N')
          let line = isStream ? command.replace('curl -N', 'curl -N --max-time 1') : command
          for (const [shown, actual] of ids) line = line.replaceAll(shown, actual)
          const [, watch] = /\/watches\/deliveries\?.*&id=([\w-]+)/.exec(line) ?? []
          if (watch !== undefined) await addDelivery(service, watch)
          const { code, stdout, stderr } = await run(line, folder.path, environment)
          const context = `${page}: ${command}\n${stdout}\n${stderr}`
          assert.equal(code, isStream ? CURL_TIMED_OUT : 0, context)
          count++
          if (documented === undefined) continue
          const actual: unknown = JSON.parse(stdout)
          assert.deepEqual(missingFields(documented, actual), [], context)
          if (isObject(documented) && isObject(actual))
            ids.set(String(documented['id']), String(actual['id']))
        }
      }
      assert.ok(count > 25, `${count} examples`)
    } finally {
      await dns.stop()
    }
  },
)

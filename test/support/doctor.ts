import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { isObject } from '../../src/lib/json.ts'
import { catalejo, catalejoHere } from './cli.ts'
import { listen } from './listen.ts'
import type { TestService } from './test-service.ts'

/** The doctor tries bodies of the largest size that the settings allow: those of the default setting take most of its time. */
const SMALL_BODIES = ['--max-image-bytes', '1MiB']

export interface Diagnosis {
  readonly code: number | null
  /** Warnings and failures: level, check, text and mend. */
  readonly problems: readonly string[]
  readonly checks: readonly string[]
}

/** What `catalejo doctor` finds in an instance whose service may run. */
export async function diagnose(
  { data, url }: Pick<TestService, 'data' | 'url'>,
  flags: readonly string[] = [],
  environment?: Readonly<Record<string, string>>,
): Promise<Diagnosis> {
  const { port } = new URL(url)
  const words = ['doctor', '--json', '--data', data, '--port', port, ...SMALL_BODIES, ...flags]
  const ended = environment === undefined ? catalejoHere(words) : catalejo(words, environment)
  const { code, stderr, stdout } = await ended
  assert.equal(stderr, '')
  const findings: unknown = JSON.parse(stdout)
  assert.ok(Array.isArray(findings))
  const lines = findings.map((one: unknown) => {
    assert.ok(isObject(one))
    return {
      level: one['level'],
      check: String(one['check']),
      line: `${one['level']} ${one['check']}: ${one['text']} → ${one['mend']}`,
    }
  })
  return {
    code,
    problems: lines.filter(({ level }) => level !== 'ok').map(({ line }) => line),
    checks: lines.map(({ check }) => check),
  }
}

/** A regular backup that ended well so long ago, a check, a drill and a verification. */
export function ranWell(service: Pick<TestService, 'sql'>, backupMs = 60_000, now = Date.now()) {
  const rows = ['backup', 'check', 'drill', 'verify'].map((kind) => {
    const at = now - (kind === 'backup' ? backupMs : 60_000)
    return `('${kind}', ${at}, ${at}, 1)`
  })
  return service.sql(
    `INSERT INTO backup_runs (kind, attempted_at, succeeded_at, duration_ms) VALUES ${rows.join()}`,
  )
}

/** A server of the test, on a free port. */
export async function listening(server: Server) {
  const port = await listen(server)
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

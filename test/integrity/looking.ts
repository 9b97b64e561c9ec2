import assert from 'node:assert/strict'
import { isKind, KINDS, type VerifyOptions } from '../../src/operations/check-database.ts'
import { verify } from '../../src/operations/verify.ts'
import { expectedHash, gradient } from '../support/images.ts'
import type { TestService } from '../support/service.ts'

export const HOUR = 3_600_000
export const png = await gradient(20, 10).png().toBuffer()

const KINDS_IN_ORDER = Object.keys(KINDS).filter(isKind)
const SILENT = { begin() {}, add() {}, end() {} }

/** Looks at a running service as the command does, an hour later: what it wrote is old by then. */
export async function look({ app: { context } }: TestService, options: Partial<VerifyOptions> = {}) {
  const { database, blobs } = context
  const { findings, repaired, checked } = await verify({
    database,
    blobs,
    clock: { now: () => Date.now() + 2 * HOUR },
    repair: false,
    claim: false,
    minAgeMs: HOUR,
    examples: 10,
    progress: SILENT,
    ...options,
  })
  const found: Record<string, readonly string[]> = {}
  for (const kind of KINDS_IN_ORDER) {
    const { count, first } = findings.of(kind)
    if (count > 0) found[kind] = first.toSorted()
  }
  return { found, repaired, checked, total: findings.total }
}

export const NO_REPAIRS = { markedLost: 0, quarantined: 0, recovered: 0, removed: 0 }

export async function listed({ app: { context } }: TestService): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of context.blobs.keys()) found.push(key)
  return found.toSorted()
}

/** Puts other bytes under a key. */
export async function put({ app: { context } }: TestService, key: string, bytes: Uint8Array): Promise<void> {
  await context.blobs.remove(key)
  await using staged = await context.staging.write(bytes)
  await context.blobs.put(key, staged)
}

export async function keyOf(service: TestService, bytes: Uint8Array): Promise<string> {
  const key = (await listed(service)).find((one) => one.startsWith(expectedHash(bytes)))
  assert.ok(key !== undefined)
  return key
}

export function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[30] = (copy[30] ?? 0) ^ 1
  return copy
}

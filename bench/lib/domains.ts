import { post } from './post.ts'
import type { Service } from './service.ts'

export interface DomainRecord {
  readonly domain: string
  readonly length: number
  readonly reserve: 0 | 1
  readonly status: 0 | 1
  readonly date_reg: string
}

const SYLLABLES =
  'ca sa ma ri to lo pe na vi ta so le mo ra di no cho lla gu che ve ra fe li ña bro tra pla con ser mar sol luz'.split(
    ' ',
  )
const FIRST_DATE = Date.parse('2020-01-01T00:00:00Z')

/** Generates unique, realistic names, the same in every run. */
export function generateDomains(count: number, seed = 1): DomainRecord[] {
  const records: DomainRecord[] = []
  if (count > 0) {
    for (const record of domainStream(count, seed)) if (records.push(record) === count) break
  }
  return records
}

/**
 * Generates an endless stream of the same names. `count` is the expected number: four bytes are stored per name.
 * Names whose hashes collide count as duplicates.
 */
export function* domainStream(count: number, seed = 1): Generator<DomainRecord> {
  const random = randomFrom(seed)
  const seen = new HashSet(count)
  for (;;) {
    let domain = ''
    for (let left = 2 + (random() % 5); left > 0; left--)
      domain += SYLLABLES[random() % SYLLABLES.length] ?? ''
    if (random() % 4 === 0) domain += `-${random() % 1000}`
    const date_reg = new Date(FIRST_DATE + (random() % 180_000_000) * 1000).toISOString()
    const reserve = random() % 50 === 0 ? 1 : 0
    const status = random() % 5 === 0 ? 0 : 1
    if (!seen.add(hashOf(domain))) continue
    const date = date_reg.slice(0, 19).replace('T', ' ')
    yield { domain, length: domain.length, reserve, status, date_reg: date }
  }
}

/** FNV-1a with a final mix, as the low bits select the slot. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** A set of non-zero numbers, at most half full. */
class HashSet {
  readonly #table: Uint32Array
  #size = 0

  constructor(expected: number) {
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(expected * 2 + 16)))
  }

  /** @returns whether the value is new */
  add(value: number): boolean {
    const table = this.#table
    let at = value & (table.length - 1)
    for (; table[at] !== 0; at = (at + 1) & (table.length - 1)) if (table[at] === value) return false
    if (++this.#size * 2 > table.length) throw new Error('more names than were expected')
    table[at] = value
    return true
  }
}

/** xorshift32: reproducible, and uniform enough. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

/** Formats records as a list of the registry. */
export function* toLines(records: Iterable<DomainRecord>): Generator<string> {
  yield 'Nombre Dominio,Fecha Inscripción\n'
  let lines: string[] = []
  for (const { domain, date_reg } of records) {
    lines.push(`${domain}.cl,${date_reg}\n`)
    if (lines.length < 10_000) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

const MAX_BATCH = 50_000

export async function addAll(service: Service, records: readonly DomainRecord[]): Promise<void> {
  for (let i = 0; i < records.length; i += MAX_BATCH) {
    const body = JSON.stringify({ data: records.slice(i, i + MAX_BATCH) })
    await post(service.endpoint('domainwatch/add'), 'application/json', Buffer.from(body))
  }
}

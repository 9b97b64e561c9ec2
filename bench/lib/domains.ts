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

/** Names that look like those people register, each once, the same in every run. */
export function generateDomains(count: number, seed = 1): DomainRecord[] {
  const random = randomFrom(seed)
  const records = new Map<string, DomainRecord>()
  while (records.size < count) {
    let domain = ''
    for (let left = 2 + (random() % 5); left > 0; left--)
      domain += SYLLABLES[random() % SYLLABLES.length] ?? ''
    if (random() % 4 === 0) domain += `-${random() % 1000}`
    const date_reg = new Date(FIRST_DATE + (random() % 180_000_000) * 1000).toISOString()
    records.set(domain, {
      domain,
      length: domain.length,
      reserve: random() % 50 === 0 ? 1 : 0,
      status: random() % 5 === 0 ? 0 : 1,
      date_reg: date_reg.slice(0, 19).replace('T', ' '),
    })
  }
  return [...records.values()]
}

/** xorshift32: even enough, and the same numbers everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

const MAX_BATCH = 50_000

export async function addAll(service: Service, records: readonly DomainRecord[]): Promise<void> {
  for (let i = 0; i < records.length; i += MAX_BATCH) {
    const body = JSON.stringify({ data: records.slice(i, i + MAX_BATCH) })
    await post(service.endpoint('domainwatch/add'), 'application/json', Buffer.from(body))
  }
}

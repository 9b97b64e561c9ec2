import { field, type Asking } from './asking.ts'
import { History } from './history.ts'

/** What all records of a group are like. */
interface Marks {
  readonly status: number
  readonly reserved: number
  readonly revision: number
  readonly discarded: number
  readonly date_reg: string
}

const ABSENT = 'absent'

export interface Group {
  readonly mark: string
  /** `Marks` as text. */
  readonly history: History<string>
}

/** Groups of domains, each always written together, and how to ask for them and judge the answers. */
export class Domains {
  readonly #asking: Asking
  readonly #key: string
  readonly #lagMs: number
  readonly #groupSize: number
  readonly all: Group[] = []
  #writes = 0

  /** @param groupSize the more domains, the likelier a fault falls into the middle of a batch */
  constructor(asking: Asking, key: string, lagMs: number, groupSize = 5) {
    this.#asking = asking
    this.#key = key
    this.#lagMs = lagMs
    this.#groupSize = groupSize
  }

  fresh(mark: string): Group {
    const group = { mark, history: new History(ABSENT) }
    this.all.push(group)
    return group
  }

  async add(url: string, group: Group, random: () => number): Promise<void> {
    const seconds = this.#writes++
    const date_reg = new Date(Date.UTC(2020, 0, 1) + seconds * 1000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ')
    const [status, reserved] = [bit(random), bit(random)]
    await this.#write(
      'add',
      url,
      group,
      (domain) => ({ domain, length: domain.length, reserve: reserved, status, date_reg }),
      (before) => ({ revision: 0, discarded: 0, ...before, status, reserved, date_reg }),
    )
  }

  async update(url: string, group: Group, random: () => number): Promise<void> {
    // A record that may not be there is a fault of the request, whose answer would say nothing of the service.
    if (group.history.may.has(ABSENT)) return this.add(url, group, random)
    const [status, reserve, revision, discarded] = [bit(random), bit(random), bit(random), bit(random)]
    await this.#write(
      'update',
      url,
      group,
      (domain) => ({ domain, status, reserve, revision, discarded }),
      (before) => ({ date_reg: '', ...before, status, reserved: reserve, revision, discarded }),
    )
  }

  /** @returns what was found */
  async list(url: string, { mark, history }: Group): Promise<string | undefined> {
    const query = new URLSearchParams({ api: this.#key, search: mark, limit: '1024' })
    const answer = await this.#asking.ask('list', `${url}/api/v1/domainwatch/list?${query}`)
    if (answer.kind === 'unknown') return undefined
    const data = field(answer.body, 'data')
    const records: unknown[] = Array.isArray(data) && Array.isArray(data[0]) ? data[0] : []
    const found = new Set(records.map((record) => textOf(record)))
    const [only] = found
    const state = records.length === 0 ? ABSENT : only
    const isWhole = records.length === 0 || (records.length === this.#groupSize && found.size === 1)
    const may = history.mayBeRead(answer.since, this.#lagMs)
    if (answer.status !== 200 || !isWhole || state === undefined || !may.has(state)) {
      const expected = [...may].join(' or ')
      this.#asking.violation(
        `list of ${mark}: ${answer.status}, ${records.length} records ${[...found].join(' and ')}, may be ${expected}`,
      )
    }
    return state
  }

  async #write(
    endpoint: 'add' | 'update',
    url: string,
    { mark, history }: Group,
    record: (domain: string) => object,
    change: (before: Marks | undefined) => Marks,
  ): Promise<void> {
    const ended = history.attempt((before) =>
      textOf(change(before === ABSENT ? undefined : JSON.parse(before))),
    )
    const data = Array.from({ length: this.#groupSize }, (_, index) => record(`${mark}${index}`))
    const answer = await this.#asking.ask(
      endpoint,
      `${url}/api/v1/domainwatch/${endpoint}?api=${this.#key}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data }),
      },
    )
    if (answer.kind === 'unknown') return ended('unknown')
    if (answer.status === 200 && field(answer.body, 'count') === this.#groupSize) return ended('done')
    this.#asking.violation(`${endpoint} of ${mark}: wrong answer ${answer.status} ${String(answer.bytes)}`)
  }
}

/** A state as text, its fields in one order. */
function textOf(record: unknown): string {
  const names = ['status', 'reserved', 'revision', 'discarded', 'date_reg']
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, field(record, name)])))
}

const bit = (random: () => number) => (random() < 0.5 ? 0 : 1)

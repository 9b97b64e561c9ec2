/** Many concurrent members: no member gets a record that another holds, and none is lost. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { record, stored, update, updateNames } from '../support/domains.ts'
import { claim, release } from '../support/queue.ts'
import { ManualClock, startService } from '../support/service.ts'

const MINUTE = 60_000
const CLAIM_MS = 10 * MINUTE
const MEMBERS = 40
/** Fewer than all members together may ask for. */
const RECORDS = 160

const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const keys = await Promise.all(
  Array.from({ length: MEMBERS }, async (_, i) => (await service.newKey(`miembro${i}`, 'domainwatch')).key),
)

interface Hold {
  readonly member: number
  /** Milliseconds since 1970. */
  readonly until: number
}

/** What a member does in a round, while the others do the same or something else. */
type Action =
  | { readonly kind: 'claim'; readonly limit: number }
  /** Claims, and decides on this number of the claimed records. */
  | { readonly kind: 'decide'; readonly limit: number; readonly count: number }
  | { readonly kind: 'release' }
  /** Asks for records and goes away without reading the answer. */
  | { readonly kind: 'crash'; readonly limit: number }

interface Round {
  readonly actions: readonly (readonly [member: number, action: Action])[]
  readonly minutes: number
}

const limit = fc.integer({ min: 1, max: 6 })
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('claim'), limit }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('decide'), limit, count: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash'), limit }) },
)
const round: fc.Arbitrary<Round> = fc.record({
  actions: fc.uniqueArray(fc.tuple(fc.nat(MEMBERS - 1), action), {
    selector: ([member]) => member,
    maxLength: MEMBERS,
    size: 'max',
  }),
  minutes: fc.nat(11),
})

let run = 0

/** One group's work, from the first claim until everything is decided. */
class Morning {
  readonly #suffix = `x${++run}`
  /** Held for certain: by the last answer that the holder got. */
  readonly #holds = new Map<string, Hold>()
  /** Until when each crashed member may hold records whose response it did not receive. Each claim renews them. */
  readonly #crashedUntil = new Map<number, number>()
  readonly #decided = new Set<string>()

  async begin(): Promise<void> {
    const data = Array.from({ length: RECORDS }, (_, i) =>
      record(`n${i}${this.#suffix}`, {
        status: 0,
        date_reg: `2026-01-10 10:00:${String(i % 60).padStart(2, '0')}`,
      }),
    )
    await stored(service, data)
  }

  get #view() {
    return { ends: this.#suffix, status: 0 }
  }

  async play({ actions, minutes }: Round): Promise<void> {
    const now = clock.now()
    const released = new Set<string>()
    const before = new Map([...this.#holds].filter(([, { until }]) => until > now))
    const got = new Map<string, number[]>()
    await Promise.all(
      actions.map(async ([member, what]) => {
        const key = keys[member] ?? ''
        if (what.kind === 'release') {
          for (const [name, hold] of before) if (hold.member === member) released.add(name)
          return void (await release(service, key))
        }
        if (what.kind === 'crash') {
          this.#crashedUntil.set(member, now + CLAIM_MS)
          const query = new URLSearchParams({
            api: key,
            limit: String(what.limit),
            ends: this.#suffix,
            status: '0',
          })
          const url = `${service.url}/api/v1/domainwatch/queue?${query}`
          // Not before the answer begins: a call that a node gets to only in the next round would claim by the clock of that round.
          const { body } = await fetch(url, { method: 'POST' })
          return body?.cancel()
        }
        const { names } = await claim(service, key, { ...this.#view, limit: what.limit })
        const own = [...before].flatMap(([name, hold]) => (hold.member === member ? [name] : []))
        assert.ok(names.length <= what.limit)
        // What it holds comes first, as far as there is room.
        const kept = names.filter((name) => own.includes(name))
        if (now < (this.#crashedUntil.get(member) ?? 0)) this.#crashedUntil.set(member, now + CLAIM_MS)
        else
          assert.ok(kept.length >= Math.min(own.length, what.limit), `${names.join()} without ${own.join()}`)
        for (const name of names) got.set(name, [...(got.get(name) ?? []), member])
        for (const name of new Set([...own, ...names]))
          this.#holds.set(name, { member, until: now + CLAIM_MS })
        if (what.kind !== 'decide') return
        const decided = names.slice(0, what.count)
        for (const name of decided) this.#decided.add(name)
        const marks = decided.map((domain) => ({ domain, status: 1 }))
        assert.equal((await update(service, marks, { key })).status, 200)
        for (const name of decided) this.#holds.delete(name)
      }),
    )
    for (const [name, members] of got) {
      // What is released in this round may change hands in it, once.
      const holder = released.has(name) ? undefined : before.get(name)
      const all = new Set(holder === undefined ? members : [holder.member, ...members])
      assert.equal(all.size, 1, `${name} was given to ${[...all].join(', ')}`)
    }
    for (const [member, { kind }] of actions) {
      if (kind !== 'release') continue
      for (const [name, hold] of before) {
        // Unless another member has it now.
        if (hold.member === member && this.#holds.get(name) === hold) this.#holds.delete(name)
      }
    }
    await this.#check()
    clock.advance(minutes * MINUTE)
  }

  /** Between rounds, answers are exact, unless a crashed member may hold something. */
  async #check(): Promise<void> {
    const now = clock.now()
    const held = [...this.#holds].filter(([, { until }]) => until > now)
    const own = held.filter(([, { member }]) => member === 0).length
    if (now < (this.#crashedUntil.get(0) ?? 0)) this.#crashedUntil.set(0, now + CLAIM_MS)
    const { remaining, names } = await claim(service, keys[0] ?? '', { ...this.#view, limit: 1 })
    const free = RECORDS - this.#decided.size - (held.length - own)
    if (now >= Math.max(0, ...this.#crashedUntil.values())) assert.equal(remaining, free)
    else assert.ok(remaining <= free)
    for (const name of new Set([...names, ...held.flatMap(([n, { member }]) => (member === 0 ? [n] : []))])) {
      this.#holds.set(name, { member: 0, until: now + CLAIM_MS })
    }
  }

  /** When all claims are over, a single member gets exactly what was not decided. */
  async end(): Promise<void> {
    clock.advance(CLAIM_MS)
    const key = keys[1] ?? ''
    for (;;) {
      const { names, remaining } = await claim(service, key, { ...this.#view, limit: 100 })
      assert.equal(remaining, RECORDS - this.#decided.size)
      if (names.length === 0) return
      for (const name of names) {
        assert.ok(!this.#decided.has(name), `${name} comes again`)
        this.#decided.add(name)
      }
      await updateNames(service, names, { status: 1 }, { key })
    }
  }
}

test('no record is claimed twice, and every record is claimed', async () => {
  const rounds = fc.array(round, { minLength: 2, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(rounds, async (played) => {
      const morning = new Morning()
      await morning.begin()
      for (const one of played) await morning.play(one)
      await morning.end()
    }),
    // What a failed run left may reach into the next one.
    { numRuns: 2, endOnFailure: true },
  )
})

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Wait, Waits } from './waits.ts'

const STEP_MS = 5

class Told extends Wait {
  readonly #tell: () => void
  constructor(tell: () => void) {
    super()
    this.#tell = tell
  }
  waited(): void {
    this.#tell()
  }
}

function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let now = 1_000
  const ended: string[] = []
  const waits = new Waits(() => now)
  return {
    ended,
    waits,
    named: (name: string) => new Told(() => ended.push(`${name} ${now - 1_000}`)),
    pass: (milliseconds: number) => {
      for (const end = now + milliseconds; now < end;) {
        now += STEP_MS
        t.mock.timers.tick(STEP_MS)
      }
    },
    /** Blocks the event loop for this long. */
    stand: (milliseconds: number) => {
      now += milliseconds
      t.mock.timers.tick(STEP_MS)
    },
  }
}

test('no wait ends early, even if it is longer than the wheel', (t) => {
  const { ended, waits, named, pass } = setUp(t)
  waits.set(named('long'), 3_000)
  waits.set(named('none'), 0)
  waits.set(named('odd'), 401)
  waits.set(named('round'), 400)
  pass(5_000)
  assert.deepEqual(ended, ['none 5', 'round 400', 'odd 405', 'long 3000'])
})

test('a wait that was cleared or reset does not end at its old time', (t) => {
  const { ended, waits, named, pass } = setUp(t)
  const [cleared, again] = [named('cleared'), named('again')]
  waits.set(cleared, 100)
  waits.set(again, 100)
  waits.set(named('other'), 100)
  pass(50)
  waits.clear(cleared)
  waits.set(again, 100)
  pass(500)
  assert.deepEqual(ended, ['other 100', 'again 150'])
})

test('a wait that ends may clear and set others that are due', (t) => {
  const { ended, waits, named, pass } = setUp(t)
  const others = ['a', 'b'].map(named)
  const first = (name: string, other: Wait | undefined) =>
    new Told(() => {
      ended.push(name)
      if (other !== undefined) waits.clear(other)
      if (name === 'before') waits.set(named('later'), 10)
    })
  // Waits due at the same time end in reverse order, so one of the two comes before the others and one after.
  waits.set(first('behind', undefined), 100)
  for (const other of others) waits.set(other, 100)
  waits.set(first('before', others[0]), 100)
  pass(200)
  assert.deepEqual(ended, ['before', 'b 100', 'behind', 'later 110'])
})

test('after the event loop was blocked, all due waits end together', (t) => {
  const { ended, waits, named, stand } = setUp(t)
  for (const ms of [10, 700, 1_900, 5_000]) waits.set(named(String(ms)), ms)
  stand(2_000)
  assert.deepEqual(ended.toSorted(), ['10 2000', '1900 2000', '700 2000'])
})

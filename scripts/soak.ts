/**
 * Mixed traffic on two nodes behind a balancer over PostgreSQL and an S3 gateway, while all of them break in turn; at the
 * end every acknowledged write is looked for. `node scripts/soak.ts --minutes 20 [--seed N] [--only PATTERN]`: only the faults
 * whose names match, such as `45 s|30 s`.
 */
import { parseArgs } from 'node:util'
import { LONG_FAULTS, SHORT_FAULTS } from '../test/soak/faults.ts'
import { soak } from '../test/soak/soak.ts'
import { startTwoNodes } from '../test/support/two-nodes.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
})
const minutes = Number(values.minutes ?? 20)
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
if (!Number.isFinite(minutes) || !Number.isInteger(seed)) throw new Error('--minutes and --seed take numbers')
const { only } = values
const all = minutes < 5 && only === undefined ? SHORT_FAULTS : LONG_FAULTS
const faults = only === undefined ? all : all.filter(({ name }) => new RegExp(only).test(name))
if (faults.length === 0)
  throw new Error(`--only takes what matches one of these: ${all.map(({ name }) => name).join('; ')}`)
console.log(`seed ${seed}, ${minutes} minutes`)
await using place = await startTwoNodes()
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)
const wrong = await soak(place, {
  seed,
  faults,
  forMs: minutes * 60_000,
  say,
})
console.log(wrong.length === 0 ? 'Every promise was kept' : `${wrong.length} promises broken`)
process.exitCode = wrong.length === 0 ? 0 : 1

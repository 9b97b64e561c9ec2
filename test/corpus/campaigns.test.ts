import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { builtInWords, readDictionary } from '../../src/domainwatch/words.ts'
import { campaigns, seenWith, storeSeen, type Group } from '../support/campaigns.ts'
import { corpus, inCorpus } from '../support/corpus.ts'
import { record, stored } from '../support/domains.ts'
import { startService } from '../support/service.ts'

/** Groups of each kind. */
const PLANTED = 10
const HOSTING_COMPANIES = 20
const BATCH = 10_000
const DAY_MS = 24 * 60 * 60 * 1000
const SEED = 31

interface Registration {
  readonly name: string
  readonly date: string
}

const folder = new URL('registrations/', corpus)
const all: readonly Registration[] = readdirSync(folder).flatMap((file) => {
  const [, ...lines] = gunzipSync(readFileSync(new URL(file, folder)))
    .toString()
    .trimEnd()
    .split('\n')
  return lines.map((line) => ({ name: line.slice(0, line.indexOf('.cl,')), date: line.slice(-19) }))
})

let state = SEED
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

function pick<T>(from: readonly T[]): T {
  const picked = from[random(from.length)]
  assert.ok(picked !== undefined)
  return picked
}

const toMonth = (date: string): string => date.slice(0, 7)

/** The moments of a group of 4 to 9 names, within a day of one month. */
function moments(): readonly string[] {
  const start = Date.parse(`${pick(all).date}Z`)
  const dates = Array.from({ length: 4 + random(6) }, () =>
    new Date(start + random(DAY_MS)).toISOString().slice(0, 19).replace('T', ' '),
  )
  return new Set(dates.map(toMonth)).size === 1 ? dates : moments()
}

const known = new Set(all.map(({ name }) => name))

function freshName(toName: () => string): string {
  const name = toName()
  if (known.has(name)) return freshName(toName)
  known.add(name)
  return name
}

const group = (toName: () => string): readonly Registration[] =>
  moments().map((date) => ({ name: freshName(toName), date }))

const words = builtInWords().filter((word) => /^[a-z]{5,9}$/.test(word))
const { split } = readDictionary([])
const used = new Set(all.flatMap(({ name }) => split(name)))
const unused = words.slice(0, 20_000).filter((word) => !used.has(word))
const frequent = () => pick(words.slice(0, 2_000))

/** Names with one invented brand, which is next to words or numbers. */
function brandGroup(): readonly Registration[] {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const brand = Array.from({ length: 4 + random(4) }, () => pick(letters)).join('')
  const number = () => random(1_000)
  return group(
    pick([
      () => `${brand}${number()}`,
      () => `${frequent()}-${brand}`,
      () => `${brand}${frequent()}`,
      () => `${frequent()}-${brand}${number()}`,
    ]),
  )
}

/** Names with one word that no registration has. */
function wordGroup(): readonly Registration[] {
  const word = pick(unused)
  const names = [
    () => `${word}-${frequent()}`,
    () => `${frequent()}-${word}`,
    () => `${frequent()}-${word}-${frequent()}`,
  ]
  return group(pick(names))
}

/** Registrations of one calendar day. */
function serverGroup(): readonly string[] {
  const day = pick(all).date.slice(0, 10)
  const ofDay = all.filter(({ date }) => date.startsWith(day))
  const names = [...new Set(Array.from({ length: 4 + random(6) }, () => pick(ofDay).name))]
  return names.length < 4 ? serverGroup() : names
}

test('groups planted among registrations are found', async (t) => {
  await using service = await startService()
  const named = Array.from({ length: PLANTED }, () => [brandGroup(), wordGroup()]).flat()
  const records = [...all, ...named.flat()].map(({ name, date }) => record(name, { date_reg: date }))
  for (let start = 0; start < records.length; start += BATCH)
    await stored(service, records.slice(start, start + BATCH))
  const served = Array.from({ length: PLANTED }, serverGroup)
  for (const [i, names] of served.entries()) await seenWith(service, `ns${i}.own.example`, names)
  for (let start = 0; start < all.length; start += BATCH) {
    const batch = all.slice(start, start + BATCH)
    await storeSeen(
      service,
      batch.map(({ name }) => [`ns${random(HOSTING_COMPANIES)}.hosting.example`, name]),
    )
  }

  const found: Group[] = []
  for (const month of new Set(all.map(({ date }) => toMonth(date)))) {
    const [year, number] = month.split('-').map(Number)
    const last = new Date(Date.UTC(year ?? 0, number ?? 0, 0)).getUTCDate()
    const { data } = await campaigns(service, { from: `${month}-01`, to: `${month}-${last}`, limit: 200 })
    found.push(...data)
  }
  const planted = [...named.map((rows) => rows.map(({ name }) => name)), ...served]
  const missed = planted.filter(
    (names) => !found.some((one) => names.every((name) => one.names.includes(name))),
  )
  const others = found.filter(
    (one) => !planted.some((names) => names.filter((name) => one.names.includes(name)).length > 1),
  )
  t.diagnostic(`found: ${planted.length - missed.length} of ${planted.length}, and ${others.length} others`)
  for (const { kind, key, names } of others) t.diagnostic(`${kind} ${key}: ${names.join(' ')}`)
  assert.deepEqual(missed, [])
  assert.ok(others.length <= inCorpus(80, 5))
})

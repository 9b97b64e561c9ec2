import { test } from 'node:test'
import { getSegment } from '../../../test/support/segments.ts'
import type { Hit } from '../../lib/name-index/index.ts'
import { hitsToJson } from './hits.ts'
import assert from 'node:assert/strict'

const NOTHING = Buffer.alloc(0)

/** Every seventh is free, every fifth reserved, every third in review, every second discarded. */
const toRecord = (number: number) => ({
  name: number % 4 === 0 ? `ñandú${number}` : `casa-${number}`,
  length: `casa-${number}`.length,
  agent: number % 2 === 0 ? 'uno "y" ñ' : 'dos',
  status: Number(number % 7 !== 0),
  reserved: Number(number % 5 === 0),
  revision: Number(number % 3 === 0),
  discarded: Number(number % 2 === 0),
  date_reg: `20${10 + (number % 80)}-03-04 05:06:07`,
  date_mod: `2025-11-${10 + (number % 20)} 23:59:58`,
})

function toHits(first: number, count: number): Hit[] {
  const records = Array.from({ length: count }, (_, i) => {
    const { discarded, ...fields } = toRecord(first + i)
    return { ...fields, discarded_at: discarded === 1 ? 1_700_000_000_000 : null }
  })
  const segment = getSegment(records)
  return Array.from({ length: count }, (_, position) => ({ segment, position }))
}

const toNumber = ({ segment, position }: Hit) =>
  Number(/\d+$/.exec(Buffer.from(segment.nameOf(position)).toString('latin1'))?.[0])

test('pages of records from several segments equal their fields', () => {
  const [one, other] = [toHits(1_000, 40), toHits(9_000, 3_000)]
  for (const hits of [other, [], one, [...one.slice(5, 9), ...other.slice(7, 40)]]) {
    assert.deepEqual(
      JSON.parse(hitsToJson(hits, NOTHING, NOTHING).toString()),
      hits.map((hit) => toRecord(toNumber(hit))),
    )
  }
})

test('a page is written inside its frame', () => {
  const page = hitsToJson(toHits(4, 1), Buffer.from('<'), Buffer.from('>'))
  assert.equal(page.toString(), `<${JSON.stringify([toRecord(4)])}>`)
})

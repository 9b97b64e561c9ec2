import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { corpus, inCorpus } from '../support/corpus.ts'
import { list, names, record, records, stored, walk } from '../support/domains.ts'
import { ENCODINGS } from '../support/http.ts'
import { startService } from '../support/service.ts'

const folder = new URL('registrations/', corpus)

interface Registration {
  readonly name: string
  readonly date: string
}

/** A month as the registry lays it out: a head line, then the newest first. */
function month(file: string): Registration[] {
  const lines = gunzipSync(readFileSync(new URL(file, folder)))
    .toString()
    .trimEnd()
    .split('\n')
  assert.equal(lines.shift(), 'Nombre Dominio,Fecha Inscripción')
  return lines.map((line) => {
    const [name = '', date = ''] = line.split(',')
    assert.ok(name.endsWith('.cl'), line)
    return { name: name.slice(0, -3), date }
  })
}

test('months of registrations load, and list in their order', async () => {
  await using service = await startService()
  const all: Registration[] = []
  for (const [i, file] of readdirSync(folder).toSorted().entries()) {
    const rows = month(file)
    all.push(...rows)
    const data = rows.map(({ name, date }) => record(name, { date_reg: date }))
    await stored(service, data, { encoding: ENCODINGS[i % 3] ?? 'urlencoded' })
    const newest = await records(service, { last_register: 1_024 })
    assert.deepEqual(
      newest.map(({ name, date_reg }) => ({ name, date: date_reg })),
      rows.slice(0, 1_024),
    )
  }
  assert.ok(all.length > inCorpus(109_000, 2_000))

  const byDate = (a: Registration, b: Registration) =>
    compare(b.date, a.date) || Buffer.compare(Buffer.from(b.name), Buffer.from(a.name))
  const walked = await walk(service, { limit: 1_024 })
  assert.deepEqual(
    walked.map(({ name, date_reg }) => ({ name, date: date_reg })),
    all.toSorted(byDate),
  )

  // All of it again in batches of the largest size: counted, and nothing changes.
  const before = await list(service)
  for (let start = 0; start < all.length; start += 50_000) {
    const batch = all.slice(start, start + 50_000)
    await stored(
      service,
      batch.map(({ name, date }) => record(name, { date_reg: date })),
    )
  }
  assert.deepEqual(await list(service), before)

  const wanted = all.filter(({ name }) => name.includes('ñ')).toSorted(byDate)
  assert.deepEqual(
    await names(service, { search: 'Ñ' }),
    wanted.slice(0, 1_024).map(({ name }) => name),
  )
})

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

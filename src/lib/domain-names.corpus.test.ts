import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { corpus, inCorpus } from '../../test/support/corpus.ts'
import { parseDomain, parseLabel } from './domain-names.ts'

type IdnaCase = { input: string; output: string | null }

function isIdnaCase(row: unknown): row is IdnaCase {
  return typeof row === 'object' && row !== null && 'input' in row && 'output' in row
}

for (const file of ['idna-toascii.json', 'idna-test-v2.json']) {
  test(`${file}: invalid names are rejected, and valid ones have the listed A-label`, () => {
    const rows: unknown = JSON.parse(readFileSync(new URL(file, corpus), 'utf8'))
    assert.ok(Array.isArray(rows))
    let mustFail = 0
    let converted = 0
    for (const { input, output } of rows.filter(isIdnaCase)) {
      // These cases keep spaces; the service trims them.
      if (input !== input.trim()) continue
      const domain = parseDomain(`${input}.cl`)
      if (output === null) {
        mustFail++
        assert.equal(domain.ok, false, JSON.stringify(input))
        continue
      }
      if (domain.ok) assert.equal(domain.ascii, `${output.replace(/\.$/, '')}.cl`, JSON.stringify(input))
      const labels = input.split('.')
      const outputs = output.split('.')
      if (labels.length !== outputs.length) continue
      for (const [at, text] of labels.entries()) {
        const label = parseLabel(text)
        if (label.ok) assert.equal(label.ascii, outputs[at], JSON.stringify(text))
        if (label.ok) converted++
        // Conversely, every name of permitted letters with valid hyphens and length is accepted.
        const folded = text.toLowerCase().normalize('NFC')
        const followsRules =
          /^(?!-)(?!..--)[a-z0-9áéíóúüñ-]+(?<!-)$/.test(folded) && (outputs[at] ?? '').length <= 63
        if (followsRules) assert.ok(label.ok, JSON.stringify(text))
      }
    }
    assert.ok(mustFail >= 18 && converted >= 15, `${mustFail} must fail, ${converted} labels converted`)
  })
}

test('every real registration is a valid name', () => {
  const folder = new URL('registrations/', corpus)
  let names = 0
  for (const file of readdirSync(folder)) {
    const csv = gunzipSync(readFileSync(new URL(file, folder))).toString('utf8')
    for (const line of csv.trim().split('\n').slice(1)) {
      const name = line.slice(0, line.indexOf(','))
      const domain = parseDomain(name)
      assert.ok(domain.ok, name)
      assert.equal(parseLabel(name.replace(/\.cl$/, '')).ok, true, name)
      names++
    }
  }
  assert.ok(names > inCorpus(100_000, 2_000), `${names} names`)
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, beforeEach, test } from 'node:test'
import { corpus, inCorpus } from '../support/corpus.ts'
import { add, DNS, LIST, record, records, removeRecords, stored } from '../support/domains.ts'
import { call, ENCODINGS } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService({ flags: { 'dns-servers': '127.0.0.1:9' } })
after(() => service[Symbol.asyncDispose]())
beforeEach(() => removeRecords(service))

const file = new URL('naughty-strings.json', corpus)

function strings(): string[] {
  const all: unknown = JSON.parse(readFileSync(file, 'utf8'))
  assert.ok(Array.isArray(all) && all.length > inCorpus(400, 60))
  return all.filter((each) => typeof each === 'string')
}

test('as search and as agent: never a 5xx, and echoed in lower case', async () => {
  await stored(service, [record('casa')])
  for (const search of strings()) {
    for (const flag of [{}, { agent: '' }]) {
      const { body, status } = await call(service, LIST, {
        query: { api: service.domainKey, search, ...flag },
      })
      const isRefused = [...search].length > 255 || ('agent' in flag && search === '')
      assert.equal(status, isRefused ? 400 : 200, search)
      if (!isRefused) assert.partialDeepStrictEqual(body, { query: search.toLowerCase() })
    }
  }
})

test('as the agent of a record: returned unchanged in any encoding, and found', async () => {
  const fitting = strings().filter(
    (text) => text.trim() !== '' && [...text].length <= 100 && text.isWellFormed(),
  )
  const agents: string[] = []
  for (const [i, agent] of fitting.entries()) {
    const encoding = ENCODINGS[i % ENCODINGS.length] ?? 'json'
    const { status, body } = await add(service, [record('prueba', { agent })], { encoding })
    if (status === 200) agents.push(agent)
    else {
      assert.match(agent, /[\p{Cc}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb]/u)
      assert.partialDeepStrictEqual(body, { status: 500, count: 0, errors: [{ index: 0, field: 'agent' }] })
    }
  }
  assert.ok(agents.length > inCorpus(300, 50))
  for (const encoding of ENCODINGS) {
    await removeRecords(service)
    await stored(
      service,
      agents.map((agent, i) => record(`n${i}`, { agent })),
      { encoding },
    )
    const found = new Map((await records(service)).map(({ name, agent }) => [name, agent]))
    for (const [i, agent] of agents.entries()) assert.equal(found.get(`n${i}`), agent)
  }
  for (const [i, agent] of agents.entries()) {
    const matching = await records(service, { search: agent, agent: '' })
    assert.ok(
      matching.some(({ name }) => name === `n${i}`),
      agent,
    )
  }
})

test('as a domain: stored in canonical form, or rejected by name', async () => {
  for (const domain of strings()) {
    const { status, text } = await add(service, [record(domain)])
    if (status !== 200) assert.match(text, /"errors":\[\{"index":0,"field":"(domain|length)"/, domain)
    const reply = await call(service, DNS, { query: { api: service.domainKey, domain } })
    assert.equal(reply.status, 400, domain)
    const under = await call(service, DNS, { query: { api: service.domainKey, domain: `${domain}.cl` } })
    // Nobody answers at that address: what is a name is asked for, and that is all the 5xx there is.
    assert.ok([400, 502].includes(under.status), domain)
  }
  for (const { name, length } of await records(service)) {
    assert.match(name, /^[-a-z0-9áéíóúüñ]+$/)
    assert.equal(length, name.length)
  }
})

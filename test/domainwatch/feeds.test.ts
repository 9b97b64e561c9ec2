import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../../src/server/config/config.ts'
import { eventually } from '../support/eventually.ts'
import { allAttempted, FEEDS, feedsFile, feedStates, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { listen } from '../support/listen.ts'
import { ManualClock } from '../support/service.ts'

let isBroken = false
const lists = createServer((_request, response) => {
  response.writeHead(isBroken ? 500 : 200, { 'content-type': 'text/plain' }).end('libre.cl\nmalo malo.cl\n')
})
after(() => lists.close())
const host = `127.0.0.1:${await listen(lists)}`

const feed = (fields: Readonly<Record<string, unknown>> = {}) => ({
  name: 'eliminados',
  url: `http://${host}/lista?secreto=abc`,
  format: 'deletions',
  every: '5m',
  account: 'grupo',
  ...fields,
})

test('the state of each feed shows imports, failures and staleness', async () => {
  await using folder = await temporaryFolder()
  const clock = new ManualClock('2026-03-01T12:00:00Z')
  const path = await feedsFile(folder.path, [feed(), feed({ name: 'ajena', account: 'nadie', every: '1d' })])
  await using service = await startWithFeeds({
    clock,
    flags: { feeds: path, 'webhook-networks': '127.0.0.0/8' },
  })
  await allAttempted(service)
  const good = {
    name: 'eliminados',
    host,
    format: 'deletions',
    every: '5m',
    account: 'grupo',
    last_attempt: '2026-03-01 09:00:00',
    last_success: '2026-03-01 09:00:00',
    last_change: '2026-03-01 09:00:00',
    read: 1,
    changed: 1,
    refused: 1,
    window: 'month',
    complete: 0,
    last_complete: null,
    gaps: 0,
    last_gap: null,
    error: null,
    stale: 0,
  }
  const { body } = await call(service, FEEDS, { query: { api: service.domainKey } })
  assert.deepEqual(body, {
    status: 200,
    count: 2,
    data: [
      good,
      {
        ...good,
        name: 'ajena',
        account: 'nadie',
        every: '1d',
        last_success: null,
        last_change: null,
        read: null,
        changed: null,
        refused: null,
        complete: null,
        error: 'La cuenta nadie no existe',
      },
    ],
  })

  isBroken = true
  clock.advance(16 * 60_000)
  await eventually(async () => (await feedStates(service))[0]?.error !== null, 'a failure')
  assert.deepEqual((await feedStates(service))[0], {
    ...good,
    last_attempt: '2026-03-01 09:16:00',
    error: 'El servidor respondió con el código 500',
    stale: 1,
  })
  const { text } = await call(service, '/metrics')
  const metric = (name: string) =>
    [...text.matchAll(new RegExp(`^catalejo_feed_${name}{feed="(\\w+)"} (\\d+)$`, 'gm'))].map(
      ([, of, value]) => [of, Number(value)],
    )
  assert.deepEqual(metric('last_success_timestamp_seconds'), [
    ['eliminados', Date.parse('2026-03-01T12:00:00Z') / 1_000],
  ])
  assert.deepEqual(metric('stale'), [
    ['eliminados', 1],
    ['ajena', 0],
  ])
  assert.deepEqual(metric('failures')[0], ['eliminados', 1])

  // A feed is fetched as soon as its account exists.
  isBroken = false
  await service.newKey('nadie', 'domainwatch')
  await eventually(async () => (await feedStates(service))[1]?.read === 1, 'the list is read')
  assert.equal((await feedStates(service))[1]?.error, null)
})

test('invalid entries prevent the start, with a line for each fault', async () => {
  await using folder = await temporaryFolder()
  const getFaults = async (content: string) => {
    const path = join(folder.path, 'feeds.json')
    await writeFile(path, content)
    const result = readConfig({ feeds: path }, {})
    const from = `CATALEJO_FEEDS: «${path}» (flag --feeds): `
    return result.ok ? [] : result.faults.map((line) => line.replace(from, ''))
  }
  const faultsIn = (feeds: unknown) => getFaults(JSON.stringify(feeds))
  assert.deepEqual(await faultsIn([feed(), feed({ name: 'otra', format: 'auto', every: '31d' })]), [])
  assert.deepEqual(await faultsIn({}), ['must be an array of feeds'])
  assert.deepEqual(await faultsIn(Array.from({ length: 51 }, () => feed())), ['must have at most 50 feeds'])
  assert.match((await getFaults('[{')).join('\n'), /^it is not JSON: /)
  assert.deepEqual(
    await faultsIn([
      feed(),
      7,
      feed(),
      feed({ name: 'ñ'.repeat(51), account: '', mas: 1 }),
      feed({ name: 'b', url: 'http://ana:clave@example.cl/' }),
      feed({ name: 'c', url: 'ftp://example.cl/', format: 'xml', every: '4m' }),
      feed({ name: 'd', every: '32d' }),
      feed({ name: 'e', window: 'year', zone: 'Chile' }),
    ]),
    [
      'feed 2: takes an object with "name", "url", "format", "every", "account"',
      'feed 3: "name" is used by another feed: "eliminados"',
      'feed 4: "mas" is not known',
      'feed 4: "name" takes 1 to 50 characters',
      'feed 4: "account" takes the name of an account',
      'feed 5: "url" takes an http:// or https:// address without user and password',
      'feed 6: "url" takes an http:// or https:// address without user and password',
      'feed 6: "format" must be one of registrations, deletions, csv, ndjson, auto',
      'feed 6: "every" takes an interval of 5m to 31d, such as 15m, 6h or 1d',
      'feed 7: "every" takes an interval of 5m to 31d, such as 15m, 6h or 1d',
      'feed 8: "window" must be one of hour, day, week, month',
      'feed 8: "zone" takes an IANA time zone, such as America/Santiago',
    ],
  )
  const missing = readConfig({ feeds: join(folder.path, 'none') }, {})
  assert.equal(!missing.ok && missing.faults.length, 1)
})

import assert from 'node:assert/strict'
import { readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { allowAddresses } from '../../src/deliveries/http-client.ts'
import { download } from '../../src/deliveries/download.ts'
import { Staging } from '../../src/storage/blobs/staging.ts'
import { allAttempted, feedStates, feedsFile, startWithFeeds } from '../support/feeds.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { LIST } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { noNginx, startNginx, type Nginx } from '../support/nginx.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const EVERY_MS = 15 * 60_000
const NETWORKS = { 'webhook-networks': '127.0.0.0/8' }

suite('feeds of a web server', { skip: noNginx }, () => {
  let nginx: Nginx

  before(async () => {
    nginx = await startNginx(`
    location = /lenta.txt { limit_rate_after 2k; limit_rate 1; }
    location = /movida.txt { return 301 /lista.txt; }
    location = /comprimida.txt { gzip on; gzip_types text/plain; gzip_min_length 1; }
  `)
  })
  after(() => nginx[Symbol.asyncDispose]())

  const serve = (name: string, content: string | Buffer) => writeFile(join(nginx.root, name), content)

  /** A service whose feeds are files of the web server, each under the name of its file. */
  async function startWith(files: readonly string[], clock: ManualClock, folder: string, format = 'auto') {
    const feeds = files.map((name) => ({
      name,
      url: `${nginx.url}/${name}`,
      format,
      every: '15m',
      account: 'grupo',
    }))
    return startWithFeeds({ clock, flags: { ...NETWORKS, feeds: await feedsFile(folder, feeds) } })
  }

  async function names(service: TestService): Promise<string[]> {
    const { body } = await call(service, LIST, { query: { api: service.domainKey } })
    return Object(body)
      .data[0].map(({ name }: { name: string }) => name)
      .toSorted()
  }

  test('plain and compressed lists are imported, and those that a server redirects to', async () => {
    await serve('lista.txt', 'uno.cl\ndos.cl\n')
    await serve('comprimida.txt', 'seis.cl\nsiete.cl\n')
    await serve('empacada.gz', gzipSync('tres.cl\ncuatro.cl\n'))
    await serve('inscritos.csv', 'Nombre Dominio,Fecha Inscripción\ncinco.cl,2025-12-31 10:00:00\n¿?,no\n')
    await using folder = await temporaryFolder()
    const clock = new ManualClock('2026-03-01T12:00:00Z')
    const files = ['movida.txt', 'empacada.gz', 'inscritos.csv', 'comprimida.txt']
    await using service = await startWith(files, clock, folder.path)
    await allAttempted(service)
    assert.deepEqual(await names(service), ['cinco', 'cuatro', 'dos', 'seis', 'siete', 'tres', 'uno'])
    assert.deepEqual(
      (await feedStates(service)).map(({ name, read, changed, refused, error }) => [
        name,
        read,
        changed,
        refused,
        error,
      ]),
      [
        ['movida.txt', 2, 2, 0, null],
        ['empacada.gz', 2, 2, 0, null],
        ['inscritos.csv', 1, 1, 1, null],
        ['comprimida.txt', 2, 2, 0, null],
      ],
    )
  })

  test('an unchanged list is not imported again, a changed one is, also after a restart', async () => {
    await serve('cambia.txt', 'primero.cl\n')
    await using folder = await temporaryFolder()
    const clock = new ManualClock('2026-03-01T12:00:00Z')
    const first = await startWith(['cambia.txt'], clock, folder.path)
    await allAttempted(first)
    const [imported] = await feedStates(first)
    assert.equal(imported?.last_change, '2026-03-01 09:00:00')
    clock.advance(EVERY_MS)
    const since = (service: TestService, time: string) =>
      eventually(async () => (await feedStates(service))[0]?.last_success === time, `a success at ${time}`)
    await since(first, '2026-03-01 09:15:00')
    assert.deepEqual(await feedStates(first), [
      { ...imported, last_attempt: '2026-03-01 09:15:00', last_success: '2026-03-01 09:15:00' },
    ])
    await first.stop()

    await serve('cambia.txt', 'primero.cl\nsegundo.cl\n')
    const flags = { ...NETWORKS, feeds: join(folder.path, 'feeds.json') }
    await using again = await startService({ clock, data: first.data, flags })
    clock.advance(EVERY_MS)
    await since(again, '2026-03-01 09:30:00')
    assert.deepEqual(await names(again), ['primero', 'segundo'])
    const [state] = await feedStates(again)
    assert.deepEqual([state?.read, state?.changed, state?.last_change], [2, 1, '2026-03-01 09:30:00'])
  })

  test('a download that is not a list stores nothing, reports why, and delays no other feed', async () => {
    await serve('pagina.html', '<!doctype html><html><body>Error\nfalso.cl\n</body></html>')
    await serve('pagina.txt', '\n  <html><body>\nfalso\nfalso.cl\n</body></html>')
    await serve('otra.csv', 'uno,dos,tres\n1,2,3\n')
    await serve('partida.gz', gzipSync('partida.cl\n'.repeat(1_000)).subarray(0, 30))
    await serve('bomba.gz', gzipSync(Buffer.alloc(257 * 1024 * 1024, 'bomba.cl\n')))
    await serve('grande.txt', '')
    await truncate(join(nginx.root, 'grande.txt'), 257 * 1024 * 1024)
    await serve('buena.txt', 'buena.cl\n')
    const faults = {
      'falta.txt': 'El servidor respondió con el código 404',
      'pagina.html': 'Es una página web',
      'pagina.txt': 'Es una página web',
      'otra.csv': 'La lista tiene un formato desconocido',
      'partida.gz': 'El archivo comprimido está dañado',
      'grande.txt': 'Tiene más de 256 MiB',
      'bomba.gz': 'Tiene más de 256 MiB',
    }
    await using folder = await temporaryFolder()
    const clock = new ManualClock('2026-03-01T12:00:00Z')
    await using service = await startWith([...Object.keys(faults), 'buena.txt'], clock, folder.path)
    await allAttempted(service)
    const states = await feedStates(service)
    assert.deepEqual(Object.fromEntries(states.map(({ name, error }) => [name, error])), {
      ...faults,
      'buena.txt': null,
    })
    assert.deepEqual(await names(service), ['buena'])
    assert.deepEqual(await readdir(join(service.data, 'staging')), [])
  })

  test('a failed feed is retried after a minute, then with growing delays', async () => {
    await using folder = await temporaryFolder()
    const clock = new ManualClock('2026-03-01T12:00:00Z')
    await using service = await startWith(['tarde.txt'], clock, folder.path)
    await allAttempted(service)
    const at = (time: string) =>
      eventually(async () => (await feedStates(service))[0]?.last_attempt === time, `an attempt at ${time}`)
    clock.advance(60_000)
    await at('2026-03-01 09:01:00')
    clock.advance(120_000)
    await at('2026-03-01 09:03:00')
    await serve('tarde.txt', 'tarde.cl\n')
    clock.advance(240_000)
    await at('2026-03-01 09:07:00')
    assert.deepEqual(await names(service), ['tarde'])
    assert.equal((await feedStates(service))[0]?.error, null)
  })

  test('a download is aborted when the server is silent or takes too long', async () => {
    await serve('lenta.txt', 'lenta.cl\n'.repeat(10_000))
    await using folder = await temporaryFolder()
    const staging = await Staging.open(folder.path)
    const options = { staging, isAllowedAddress: allowAddresses(['127.0.0.0/8']), userAgent: 'test' }
    const slow = (silenceMs: number, totalMs: number) =>
      download(
        `${nginx.url}/lenta.txt`,
        { etag: null, lastModified: null },
        { ...options, limits: { maxBytes: 1_000_000, silenceMs, totalMs } },
        new AbortController().signal,
      )
    await assert.rejects(slow(100, 60_000), { message: 'El servidor dejó de responder' })
    await assert.rejects(slow(60_000, 100), { message: 'La descarga no terminó a tiempo' })
    assert.deepEqual(await readdir(folder.path), [])
  })

  test('a shutdown aborts a slow download immediately', async () => {
    await serve('lenta.txt', 'lenta.cl\n'.repeat(10_000))
    await using folder = await temporaryFolder()
    const clock = new ManualClock('2026-03-01T12:00:00Z')
    await using service = await startWith(['lenta.txt'], clock, folder.path)
    await eventually(
      async () => (await readdir(join(service.data, 'staging'))).length > 0,
      'a download began',
    )
    const begun = performance.now()
    await service.stop()
    // A download may be silent for 30 s, and take five minutes.
    assert.ok(performance.now() - begun < 30_000)
    assert.deepEqual(await readdir(join(service.data, 'staging')), [])
  })
})

/** What `catalejo verify` finds, and what is as it should be after it repaired it. On every database and store. */
import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { suite, test } from 'node:test'
import { getSweeps } from '../durability/sweeps.ts'
import { catalejoHere } from '../support/cli.ts'
import { record, stored } from '../support/domains.ts'
import { bytesOf, expectedHash, ImageClient, stamped } from '../support/images.ts'
import { listen } from '../support/listen.ts'
import { startService } from '../support/service.ts'
import { flipped, HOUR, keyOf, listed, look, NO_REPAIRS, png, put } from './looking.ts'

/** Rejects connections immediately. A missing server would be waited for. */
async function refusingServer(): Promise<{ readonly port: number } & AsyncDisposable> {
  const fields = Buffer.from('SFATAL\0C28P01\0Mpassword authentication failed\0\0')
  const head = Buffer.from('E____')
  head.writeInt32BE(4 + fields.length, 1)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([head, fields])))
  })
  return { port: await listen(server), [Symbol.asyncDispose]: async () => void server.close() }
}

suite('verify', { timeout: 400_000 }, () => {
  test('reports nothing for a sound instance with deleted images and all kinds of records', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    const diario = new ImageClient(service.url, (await service.newKey('diario', 'imagestore')).key)
    const pictures = ['a', 'b', 'c'].map((text) => stamped(png, text))
    for (const picture of pictures) await fotos.upload(picture)
    for (const picture of pictures.slice(1)) await diario.upload(picture, { name: 'ÁRBOL Ñandú.png' })
    await fotos.remove(expectedHash(pictures[0] ?? png))
    await stored(service, [record('ñandú'), record('abc'), record('viejo', { status: 0 })])
    const { found, repaired, checked } = await look(service, { repair: true })
    assert.deepEqual(found, {})
    assert.deepEqual(repaired, NO_REPAIRS)
    const bytes = pictures.slice(1).reduce((sum, { length }) => sum + length, 0)
    assert.equal(checked.domains, 3)
    assert.equal(checked.images, 4)
    assert.equal(checked.blobs, 2)
    assert.equal(checked.bytes, bytes)
  })

  test('reports missing, corrupt, orphaned and trashed bytes, and changes nothing without --repair', async () => {
    await using service = await startService()
    const { blobs } = service.app.context
    const fotos = new ImageClient(service.url, service.imageKey)
    const pictures = ['missing', 'corrupt', 'short', 'well', 'deleted'].map((text) => stamped(png, text))
    const keys: string[] = []
    for (const picture of pictures) {
      await fotos.upload(picture)
      keys.push(await keyOf(service, picture))
    }
    const [missing = '', corrupt = '', short = '', , deleted = ''] = keys
    await blobs.remove(missing)
    await put(service, corrupt, flipped(pictures[1] ?? png))
    await put(service, short, png.subarray(0, 50))
    await put(service, 'zz-orphan', png)
    const remove = blobs.remove.bind(blobs)
    Object.assign(blobs, { remove: () => Promise.reject(new Error('refused')) })
    await fotos.remove(deleted.slice(0, 32))
    const before = await listed(service)

    const first = await look(service)
    assert.deepEqual(first.found, {
      missing: [missing],
      corrupt: [corrupt, short].toSorted(),
      orphaned: ['zz-orphan'],
    })
    assert.equal(first.total, 4)
    assert.equal(first.checked.trashed, 1)
    assert.deepEqual(first.repaired, NO_REPAIRS)
    assert.deepEqual(await listed(service), before)
    // What was written just now may belong to an upload that is under way.
    const atOnce = await look(service, { clock: { now: Date.now } })
    assert.equal(atOnce.found['orphaned'], undefined)
    assert.equal(atOnce.checked.young, 1)
    Object.assign(blobs, { remove })
  })

  test('marks lost images, which are then reported, and can be deleted or restored by an upload', async () => {
    await using service = await startService()
    const { blobs } = service.app.context
    const fotos = new ImageClient(service.url, service.imageKey)
    const [missing, corrupt, given] = [stamped(png, 'm'), stamped(png, 'r'), stamped(png, 'g')]
    for (const picture of [missing, corrupt, given]) await fotos.upload(picture)
    for (const picture of [missing, given]) await blobs.remove(await keyOf(service, picture))
    await put(service, await keyOf(service, corrupt), flipped(corrupt))
    await put(service, 'zz-orphan', png)
    // Before the repair it is a fault of ours, not an image that does not exist.
    assert.equal((await fotos.link(expectedHash(missing))).status, 500)

    const { repaired } = await look(service, { repair: true })
    assert.deepEqual(repaired, { markedLost: 3, quarantined: 1, recovered: 0, removed: 1 })
    assert.deepEqual(await listed(service), [])
    for (const path of [missing, corrupt].map(expectedHash).flatMap((hash) => [hash, `${hash}&m=w_5`])) {
      const link = await fotos.link(path)
      assert.equal(link.status, 410)
      assert.equal(link.headers.get('cache-control'), 'no-store')
      assert.deepEqual(parseError(await link.text()), {
        status: 410,
        msg: 'Los datos de la imagen se perdieron, hay que subirla de nuevo',
      })
    }
    const known = await fotos.get(expectedHash(missing))
    assert.deepEqual(
      [known.status, known.body['name'], known.body['size']],
      [200, 'foto.png', missing.length],
    )
    assert.equal(Object.keys((await look(service)).found).join(), 'lost')

    assert.equal((await fotos.remove(expectedHash(given))).status, 200)
    assert.equal((await fotos.link(expectedHash(given))).status, 404)
    const heal = (bytes: Buffer) => Promise.all([fotos.upload(bytes), fotos.upload(bytes)])
    for (const picture of [missing, corrupt]) {
      for (const answer of await heal(picture)) assert.equal(answer.status, 200)
      assert.ok((await bytesOf(await fotos.link(expectedHash(picture)))).equals(picture))
    }
    await getSweeps(service).trash()
    await getSweeps(service).orphans(0)
    assert.deepEqual((await look(service)).found, {})
  })

  test('recovers bytes that are back in the store, and no sweep removes them before', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    await fotos.upload(stamped(png, 'other'))
    const key = await keyOf(service, png)
    await service.app.context.blobs.remove(key)
    await look(service, { repair: true })
    await put(service, key, png)
    assert.deepEqual(await getSweeps(service).orphans(-HOUR), { kind: 'swept', removed: 0 })
    assert.deepEqual((await look(service)).found, { found: [key] })
    assert.deepEqual((await look(service, { repair: true })).repaired, { ...NO_REPAIRS, recovered: 1 })
    assert.ok((await bytesOf(await fotos.link(expectedHash(png)))).equals(png))
    assert.deepEqual((await look(service)).found, {})
  })

  test('the command reports findings and repairs, also in its exit code', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    for (const text of ['a', 'b', 'c']) await fotos.upload(stamped(png, text))
    const { config } = service.app.context
    const words = ['--data', service.data]
    if (config.databaseUrl !== '') words.push('--database-url', config.databaseUrl)
    if (config.blobsUrl !== undefined) {
      const { bucket, prefix, endpoint } = config.blobsUrl
      words.push('--blobs-url', `s3://${bucket}/${prefix}?endpoint=${endpoint}`)
    }
    const run = (...rest: string[]) => catalejoHere(['verify', ...words, ...rest])

    const clean = await run()
    assert.equal(clean.code, 0, clean.stderr)
    assert.match(clean.stdout, /^checked 0 domains, 3 images, 3 blobs of \d+ bytes\n.*\nno faults\n$/)
    assert.match(clean.stderr, /^bytes: 3 of 3, 100 %/m)

    for (const key of await listed(service)) await service.app.context.blobs.remove(key)
    const faulty = await run('--examples', '1')
    assert.equal(faulty.code, 1)
    assert.match(
      faulty.stdout,
      /^missing: 3 recorded images .*\n {2}\w{32}\.\w{12}\n {2}and 2 more\n3 faults\n$/m,
    )
    const repaired = await run('--repair')
    assert.equal(repaired.code, 1)
    assert.match(
      repaired.stdout,
      /^repaired: 3 marked as lost \(0 put in quarantine\), 0 recovered, 0 removed$/m,
    )
    assert.match((await run()).stdout, /^lost: 3 /m)

    await using refusing = await refusingServer()
    const wrong = [
      ['more'],
      ['--examples', 'x'],
      ['--port', 'x'],
      ['--database-url', `postgres://a@127.0.0.1:${refusing.port}/x`],
    ]
    for (const rest of wrong) assert.equal((await run(...rest)).code, 2)
  })
})

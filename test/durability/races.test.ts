import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { bytesOf, expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'
import { filesUnder } from './folders.ts'
import { getSweeps } from './sweeps.ts'

const ROUNDS = 15

suite('the same bytes uploaded and deleted concurrently', () => {
  let service: TestService
  let png: Buffer

  before(async () => {
    service = await startService()
    png = await gradient(20, 10).png().toBuffer()
  })
  after(() => service[Symbol.asyncDispose]())

  async function newClient(account: string): Promise<ImageClient> {
    return new ImageClient(service.url, (await service.newKey(account, 'imagestore')).key)
  }

  async function assertServes(client: ImageClient, bytes: Buffer, path: string): Promise<void> {
    const link = await client.link(path)
    assert.equal(link.status, 200)
    assert.ok((await bytesOf(link)).equals(bytes))
  }

  async function assertEmpty(): Promise<void> {
    await getSweeps(service).trash()
    assert.deepEqual(await filesUnder(join(service.data, 'blobs')), [])
    assert.deepEqual(await readdir(join(service.data, 'staging')), [])
  }

  test('an image of an application is served whatever others do', async () => {
    const bytes = stamped(png, 'de todas')
    const hash = expectedHash(bytes)
    const clients = await Promise.all(['uno', 'dos', 'tres', 'cuatro'].map(newClient))
    await Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < ROUNDS; round++) {
          assert.equal((await client.upload(bytes)).status, 200)
          assert.equal((await client.get(hash)).status, 200)
          await assertServes(client, bytes, hash)
          assert.equal((await client.remove(hash)).status, 200)
          assert.equal((await client.get(hash)).status, 404)
        }
      }),
    )
    assert.equal((await fetch(`${service.url}/i/${hash}`)).status, 404)
    await assertEmpty()
  })

  test('of a concurrent upload and deletion either may win, and the link agrees with the record', async () => {
    const client = await newClient('carrera')
    const bytes = stamped(png, 'carrera')
    const hash = expectedHash(bytes)
    for (let round = 0; round < ROUNDS; round++) {
      const [uploaded, removed] = await Promise.all([
        client.upload(bytes),
        client.remove(hash),
        client.link(hash).then(bytesOf),
      ])
      assert.equal(uploaded.status, 200)
      assert.ok(removed.status === 200 || removed.status === 404)
      const isStored = (await client.get(hash)).status === 200
      if (isStored) await assertServes(client, bytes, hash)
      else assert.equal((await client.link(hash)).status, 404)
    }
    await client.remove(hash)
    await assertEmpty()
  })
})

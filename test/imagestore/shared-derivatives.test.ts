/** Derivatives that nodes share through the object store: on a real one where there is one. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import type { Flags } from '../../src/server/config/config.ts'
import { call } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'
import { ScriptedGateway } from '../s3/scripted-gateway.ts'
import { eventually } from '../support/eventually.ts'

const photo = await gradient(600, 400).jpeg().toBuffer()
const hash = expectedHash(photo)
const FLAGS = { 'memory-cache': '0', 'shared-derivatives': '1' }
const isReal = process.env[BLOBS_VARIABLE] !== undefined

async function open(gateway: ScriptedGateway, data?: string, flags: Flags = {}) {
  const scripted = isReal ? {} : { 'blobs-url': `s3://bucket/images?endpoint=${gateway.endpoint}` }
  const service = await startService({
    ...(data === undefined ? {} : { data }),
    flags: { ...FLAGS, ...scripted, ...flags },
  })
  return { service, client: new ImageClient(service.url, service.imageKey) }
}

async function counts(service: TestService) {
  const { text } = await call(service, '/metrics')
  const count = (name: string) =>
    Number(new RegExp(`^catalejo_derivatives_${name}_total (\\S+)$`, 'm').exec(text)?.[1])
  return { made: count('made'), disk: count('disk_hits'), shared: count('shared_hits') }
}

async function keysOf({ app }: TestService): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of app.context.blobs.keys()) keys.push(key)
  return keys
}

async function derivativesOf({ app }: TestService): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of app.context.derivativeStore?.list('') ?? []) names.push(name)
  return names
}

suite('derivatives in the object store', { timeout: 300_000 }, () => {
  before(() => {
    process.env['AWS_ACCESS_KEY_ID'] ??= 'id'
    process.env['AWS_SECRET_ACCESS_KEY'] ??= 'secret'
  })

  test('another machine finds stored derivatives; deleting the image deletes them', async () => {
    await using gateway = await ScriptedGateway.start()
    const one = await open(gateway)
    await using service = one.service
    await one.client.upload(photo)
    const made = await bytesOf(await one.client.link(`${hash}&m=w_50`))
    assert.deepEqual(await counts(service), { made: 1, disk: 0, shared: 0 })
    // Stopping waits for what is being kept.
    await service.stop()

    await rm(join(service.data, 'derivatives'), { recursive: true })
    const two = await open(gateway, service.data)
    await using _ = two.service
    assert.ok((await bytesOf(await two.client.link(`${hash}&m=w_50`))).equals(made))
    assert.deepEqual(await counts(two.service), { made: 0, disk: 0, shared: 1 })
    assert.equal((await derivativesOf(two.service)).length, 1)
    // They are not blobs, so they are not mistaken for uploads without a record.
    assert.deepEqual(
      (await keysOf(two.service)).map((key) => key.split('.')[0]),
      [hash],
    )
    assert.equal((await two.client.remove(hash)).status, 200)
    await eventually(async () => (await keysOf(two.service)).length === 0)
    await eventually(async () => (await derivativesOf(two.service)).length === 0)
  })

  // Without PostgreSQL nodes have no database in common; a real store's part is one service's own.
  const nodes = process.env['TEST_DATABASE'] === 'postgres' && !isReal ? test : undefined
  void nodes?.('nodes with one database and a disk each', async () => {
    await using gateway = await ScriptedGateway.start()
    const one = await open(gateway)
    await using service = one.service
    const { databaseUrl } = service
    await one.client.upload(photo)
    const two = await open(gateway, undefined, { 'database-url': databaseUrl })
    await using second = two.service
    const made = await bytesOf(await one.client.link(`${hash}&m=w_50`))
    await eventually(async () => (await derivativesOf(service)).length === 1)
    assert.ok((await bytesOf(await two.client.link(`${hash}&m=w_50`))).equals(made))
    assert.deepEqual(await counts(second), { made: 0, disk: 0, shared: 1 })
    assert.equal((await one.client.remove(hash)).status, 200)
    await eventually(async () => (await keysOf(service)).length === 0)
    await eventually(async () => (await derivativesOf(service)).length === 0)
  })

  test('a store that hangs, rejects or breaks off delays a moment at most and fails no response', async () => {
    for (const trouble of [
      { kind: 'hang' },
      { kind: 'status', status: 403, code: 'AccessDenied' },
      { kind: 'break', done: false },
    ] as const) {
      await using gateway = await ScriptedGateway.start()
      const scripted = `s3://bucket/images?endpoint=${gateway.endpoint}`
      const { service, client } = await open(gateway, undefined, { 'blobs-url': scripted })
      await using _ = service
      await client.upload(photo)
      gateway.always = trouble
      gateway.where = /\/derivatives\//
      for (let width = 1; width <= 12; width++) {
        assert.equal((await client.link(`${hash}&m=w_${width}`)).status, 200)
      }
      // Each of them delays one response by its timeout.
      const asked = gateway.requests.filter(
        (line) => line.startsWith('GET') && line.includes('/derivatives/'),
      )
      assert.ok(asked.length <= 3, `${trouble.kind}: asked ${asked.length} times`)
      assert.equal((await counts(service)).made, 12)
      gateway.always = undefined
    }
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { startService } from '../support/service.ts'

const png = await gradient(30, 20).png().toBuffer()
const pictures = ['una', 'otra', 'tercera'].map((name) => stamped(png, name))

test('images without a ThumbHash get one later, and those that cannot be decoded do not block others', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  const expected = new Map<string, unknown>()
  for (const bytes of pictures) {
    const { body } = await client.upload(bytes)
    expected.set(expectedHash(bytes), body['thumbhash'])
  }
  assert.ok([...expected.values()].every((thumbhash) => typeof thumbhash === 'string'))
  const [lost = ''] = [...expected.keys()].toSorted()
  await service.sql(`UPDATE blobs SET thumbhash = NULL`)
  // As if its bytes were not there.
  await service.sql(`UPDATE blobs SET key = 'no.hay' WHERE hash = '${lost}'`)
  await service.sql(`DELETE FROM leases WHERE name = 'ThumbHashes of earlier images'`)
  await service.stop()

  await using again = await startService({ data: service.data })
  const later = new ImageClient(again.url, again.imageKey)
  const found = async (hash: string) => (await later.get(hash)).body['thumbhash']
  for (const [hash, thumbhash] of expected) {
    if (hash === lost) continue
    await eventually(async () => (await found(hash)) === thumbhash, `a ThumbHash of ${hash}`)
  }
  assert.equal(await found(lost), null)
})

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { noBalancer } from '../support/balancer.ts'
import { noCeph } from '../support/ceph.ts'
import {
  answerOf,
  bytesOf,
  expectedHash,
  gradient,
  ImageClient,
  plain,
  problem,
  stamped,
} from '../support/images.ts'
import { fill, smallDisk } from '../support/small-disk.ts'
import { startTwoNodes } from '../support/two-nodes.ts'
import { SHORT_FAULTS } from '../soak/faults.ts'
import { soak } from '../soak/soak.ts'

suite('two nodes behind a balancer over PostgreSQL and S3', { skip: noCeph || noBalancer }, () => {
  test('all of it', { timeout: 1_800_000 }, async (context) => {
    await using place = await startTwoNodes()

    await context.test('fail one after the other without violating a guarantee', async (own) => {
      const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000))
      own.diagnostic(`seed ${seed}: node scripts/soak.ts --minutes 0 --seed ${seed}`)
      const say = (line: string) => own.diagnostic(line)
      assert.deepEqual(await soak(place, { seed, faults: SHORT_FAULTS, forMs: 0, say }), [])
    })

    await context.test(
      'a full disk prevents uploads and new derivatives on a node, and nothing else',
      async (own) => {
        await using disk = await smallDisk()
        if (disk === undefined) return own.skip('no disk may be mounted here')
        const node = await place.another(disk.path)
        try {
          await staysWithoutDisk(
            node.url,
            await place.newKey('disco', 'imagestore'),
            join(disk.path, 'filler'),
          )
        } finally {
          await node.kill()
        }
      },
    )
  })
})

async function staysWithoutDisk(url: string, key: string, filler: string): Promise<void> {
  const images = new ImageClient(url, key)
  const png = await gradient(20, 10).png().toBuffer()
  const [first, second] = [stamped(png, 'uno'), stamped(png, 'dos')]
  const link = `${expectedHash(first)}?m=w_7`
  assert.equal((await images.upload(first)).status, 200)
  await fill(filler)
  assert.deepEqual(plain(await images.upload(second)), problem(500, 'No se han podido guardar los datos'))
  assert.ok((await bytesOf(await images.link(expectedHash(first)))).equals(first))
  assert.equal((await images.get(expectedHash(first))).status, 200)
  // It is copied to the disk to be worked on.
  assert.deepEqual(plain(await answerOf(await images.link(link))), problem(500, 'Error interno del servicio'))
  await rm(filler)
  assert.equal((await images.upload(second)).status, 200)
  assert.equal((await images.link(link)).status, 200)
  assert.equal((await images.remove(expectedHash(first))).status, 200)
}

/** Modified images that would take too much of the service: a refusal, never a fault of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerOf, expectedHash, ImageClient, plain, problem } from '../support/images.ts'
import { startService } from '../support/service.ts'

/** An animation whose frames each hold one pixel. */
function animation(side: number, frames: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16LE(side, 0)
  size.writeUInt16LE(side, 2)
  const frame = Buffer.from('21f90400010000002c0000000001000100000202440100', 'hex')
  const head = Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from('800000000000ffffff', 'hex')])
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

/** Takes some seconds to draw. */
const SLOW = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="2000">
   <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="20"/></filter>
   <rect width="2000" height="2000" filter="url(#f)"/></svg>`,
)

test('an animation of thousands of frames is rejected before decoding, one frame of it is not', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  const bytes = animation(100, 5_000)
  const hash = expectedHash(bytes)
  assert.equal((await client.upload(bytes)).status, 200)
  for (const link of [`${hash}.webp`, `${hash}&m=w_90`, `${hash}&m=w_90,f_webp`]) {
    const response = await client.link(link)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(
      plain(await answerOf(response)),
      problem(
        400,
        'La imagen es demasiado pesada para este modificador: pida un solo cuadro (frame_0) o menos tamaño',
      ),
    )
  }
  assert.equal((await client.link(`${hash}.webp&m=frame_7`)).status, 200)
  assert.equal((await client.link(`${hash}.jpg`)).status, 200)
  // Of moderate length: is made.
  const few = animation(100, 50)
  await client.upload(few)
  assert.equal((await client.link(`${expectedHash(few)}.webp`)).status, 200)
})

test('a rendering that timed out is not retried for a while', async () => {
  const hash = expectedHash(SLOW)
  await using service = await startService({ limits: { imageTimeoutMs: 60_000 } })
  assert.equal((await new ImageClient(service.url, service.imageKey).upload(SLOW)).status, 200)
  await service.stop()
  await using hasty = await startService({ data: service.data, limits: { imageTimeoutMs: 1_000 } })
  const client = new ImageClient(hasty.url, hasty.imageKey)
  const made = async () => /^catalejo_derivatives_made_total (\d+)/m.exec(await metrics())?.[1]
  const metrics = async () => (await fetch(`${hasty.url}/metrics`)).text()
  for (const _ of [1, 2]) {
    const response = await client.link(`${hash}.webp`)
    assert.equal(response.headers.get('retry-after'), '600')
    assert.deepEqual(
      plain(await answerOf(response)),
      problem(503, 'El servicio está saturado, inténtelo de nuevo'),
    )
  }
  assert.equal(await made(), '1')
})

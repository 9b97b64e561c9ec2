/** How an application lets its images be asked for. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import sharp from 'sharp'
import type { DeliveryMode } from '../../src/imagestore/links/link.ts'
import { updateDelivery } from '../../src/imagestore/account-policy.ts'
import type { ImageClient } from '../support/images.ts'
import { answerOf, bytesOf, expectedHash, gradient, plain, problem } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'

const NOW = Date.UTC(2026, 5, 1)
const UNSIGNED = problem(403, 'La imagen solo se entrega por enlaces firmados')
/** The error names the text that a signature of the link covers. */
const forged = (signed: string) => ({
  status: 403,
  body: { status: 403, signed, msg: 'La firma del enlace no es válida' },
})
const PRESETS_ONLY = problem(403, 'La imagen solo se entrega sin modificar o en un tamaño con nombre')
const EXPIRED = problem(410, 'El enlace expiró')

const clock = new ManualClock(new Date(NOW).toISOString())
let pictures = 0

const { service, client: fotos, newClient } = await startImages({ clock })
const others = await newClient('otras')

async function settle(mode: DeliveryMode, account = 'fotos'): Promise<string> {
  const outcome = await updateDelivery(service.app.context.database, account, { mode, secret: 'kept' })
  assert.ok(outcome.kind === 'updated' && outcome.secret !== null)
  return outcome.secret
}

/** An image of 600 × 400 that no other test has. */
async function stored(...clients: ImageClient[]): Promise<string> {
  const bytes = await gradient(600, 400)
    .jpeg({ quality: 90 })
    .withExif({ IFD0: { Copyright: String(++pictures) } })
    .toBuffer()
  for (const client of clients) assert.equal((await client.upload(bytes)).status, 200)
  return expectedHash(bytes)
}

async function sizeOf(link: string) {
  const response = await fotos.link(link)
  assert.equal(response.status, 200, link)
  const { width, height } = await sharp(await bytesOf(response)).metadata()
  return [width, height]
}

const refusal = async (link: string) => plain(await answerOf(await fotos.link(link)))

/** Worked out apart from the service's own code, as the documents tell applications to. */
const signed = (secret: string, hash: string, canonical: string) =>
  createHmac('sha256', secret).update(`${hash}&m=${canonical}`).digest().subarray(0, 16).toString('base64url')

test('open: any size, to the pixel', async () => {
  await settle('open')
  const hash = await stored(fotos)
  for (const width of [1, 17, 299, 301]) assert.equal((await sizeOf(`${hash}&m=w_${width}`))[0], width)
})

test('ladder: sizes are rounded to steps, however they are requested', async () => {
  await settle('ladder')
  const hash = await stored(fotos)
  assert.deepEqual(await sizeOf(`${hash}&m=w_300`), [320, 213])
  assert.deepEqual(await sizeOf(`${hash}&m=w_320`), [320, 213])
  assert.deepEqual(await sizeOf(`${hash}&m=w_100,dpr_2.1`), [256, 171])
  assert.deepEqual(await sizeOf(`${hash}&m=w_50,h_40,c_fill`), [64, 48])
  assert.deepEqual(await sizeOf(`${hash}&m=b`), [160, 160])
  assert.deepEqual(await sizeOf(hash), [600, 400])
  // One image, not many.
  const tag = async (modifier: string) => (await fotos.link(`${hash}&m=${modifier}`)).headers.get('etag')
  assert.equal(await tag('w_257,q_71'), await tag('w_150,dpr_2,q_71'))
})

test('presets: presets, the original and its other formats', async () => {
  await settle('presets')
  const hash = await stored(fotos)
  for (const link of [hash, `${hash}.webp`, `${hash}&m=thumb`, `${hash}&m=p_s,f_webp`, `${hash}.webp&m=m`]) {
    assert.equal((await fotos.link(link)).status, 200, link)
  }
  for (const modifier of ['w_160,h_160', 'thumb,w_80', 'gray', 'thumb,q_5', 'blur_1', 's,dpr_2']) {
    assert.deepEqual(await refusal(`${hash}&m=${modifier}`), PRESETS_ONLY, modifier)
  }
})

test('signed: only what is signed', async () => {
  const secret = await settle('signed')
  const hash = await stored(fotos)
  for (const link of [hash, `${hash}.jpg`, `${hash}&m=thumb`, `${hash}?m=w_3`]) {
    assert.deepEqual(await refusal(link), UNSIGNED, link)
  }
  assert.deepEqual(await sizeOf(`${hash}&m=sig_${signed(secret, hash, '')}`), [600, 400])
  const small = signed(secret, hash, 'w_300,f_webp')
  assert.deepEqual(await sizeOf(`${hash}&m=w_300,f_webp,sig_${small}`), [300, 200])
  // The same in other words.
  assert.deepEqual(await sizeOf(`${hash}&m=f_webp,w_300,sig_${small}`), [300, 200])
  assert.deepEqual(await sizeOf(`${hash}.webp&m=w_300,sig_${small}`), [300, 200])
  assert.deepEqual(await sizeOf(`${hash}.webp?m=w_300,sig_${small}`), [300, 200])
  assert.equal((await fotos.link(`${hash}&m=w_300,f_webp,sig_${small}`, { method: 'HEAD' })).status, 200)
  for (const link of [
    `${hash}&m=w_301,f_webp,sig_${small}`,
    `${hash}&m=w_300,sig_${small}`,
    `${hash}&m=w_300,f_webp,sig_${'A'.repeat(22)}`,
    `${await stored(fotos)}&m=w_300,f_webp,sig_${small}`,
  ]) {
    assert.deepEqual(await refusal(link), forged(link.replace(/,sig_.*/, '')), link)
  }
  const refused = await fotos.link(`${hash}&m=w_9`)
  assert.equal(refused.headers.get('cache-control'), 'no-store')
  // The last character has four unused bits: 15 other ones decode to the same bytes.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const spelt = [...letters].map((last) => small.slice(0, -1) + last)
  const taken = []
  for (const other of spelt) {
    const { status } = await fotos.link(`${hash}&m=w_300,f_webp,sig_${other}`)
    if (status === 200) taken.push(other)
  }
  assert.deepEqual(taken, [small])
  const auto = signed(secret, hash, 'w_60,f_auto')
  assert.deepEqual(await sizeOf(`${hash}&m=w_60,f_auto,sig_${auto}`), [60, 40])
})

test('exp_: valid exactly until that second, also for caches', async () => {
  const secret = await settle('signed')
  const hash = await stored(fotos)
  const until = NOW / 1_000 + 100
  const link = `${hash}&m=w_60,exp_${until},sig_${signed(secret, hash, `w_60,exp_${until}`)}`
  const first = await fotos.link(link)
  assert.equal(first.headers.get('cache-control'), 'public, max-age=100')
  const tag = first.headers.get('etag') ?? ''
  clock.advance(99_999)
  assert.deepEqual(await sizeOf(link), [60, 40])
  clock.advance(1)
  assert.deepEqual(await refusal(link), EXPIRED)
  assert.equal((await fotos.link(link, { headers: { 'if-none-match': tag } })).status, 410)
  // Another time is another signature.
  const later = link.replace(String(until), String(until + 1_000))
  assert.deepEqual(await refusal(later), forged(later.replace(/,sig_.*/, '')))
  await settle('open')
  assert.deepEqual(await refusal(`${hash}&m=exp_${until}`), EXPIRED)
})

test('malformed exp_ and sig_ are errors of the modifier', async () => {
  await settle('open')
  const hash = await stored(fotos)
  const sig = `sig_${'A'.repeat(22)}`
  for (const [modifier, msg] of [
    ['exp_x', 'El modificador exp_x no es válido: segundos desde 1970'],
    ['exp_01', 'El modificador exp_01 no es válido: segundos desde 1970'],
    ['exp_99999999999,exp_9', 'El modificador exp_9 está repetido'],
    ['sig_short', 'El modificador sig_short no es válido: los 22 caracteres de una firma'],
    [`${sig},w_3`, `El modificador ${sig} no es válido: va al final`],
    ['exp', 'El modificador exp no existe'],
  ] as const) {
    assert.deepEqual(await refusal(`${hash}&m=${modifier}`), problem(400, msg))
  }
  assert.deepEqual(await refusal(`${hash}&m=${sig}`), forged(`${hash}&m=`))
  // Whatever the order and spelling of the link, the signature covers the canonical one.
  const spelled = await refusal(`${hash}.webp&m=q_90,300x200,${sig}`)
  assert.deepEqual(spelled, forged(`${hash}&m=w_300,h_200,f_webp,q_90`))
})

test('a valid signature is accepted in any mode', async () => {
  const hash = await stored(fotos)
  for (const mode of ['open', 'ladder', 'presets'] as const) {
    const secret = await settle(mode)
    assert.deepEqual(await sizeOf(`${hash}&m=w_301,sig_${signed(secret, hash, 'w_301')}`), [301, 201])
  }
})

test('of several applications with an image the most permissive one counts', async () => {
  await settle('signed')
  const theirs = await settle('signed', 'otras')
  const hash = await stored(fotos, others)
  assert.deepEqual(await refusal(`${hash}&m=thumb`), UNSIGNED)
  assert.deepEqual(await sizeOf(`${hash}&m=w_60,sig_${signed(theirs, hash, 'w_60')}`), [60, 40])
  await settle('presets', 'otras')
  assert.deepEqual(await sizeOf(`${hash}&m=thumb`), [160, 107])
  assert.deepEqual(await refusal(`${hash}&m=w_60`), PRESETS_ONLY)
  assert.equal((await others.remove(hash)).status, 200)
  assert.deepEqual(await refusal(`${hash}&m=thumb`), UNSIGNED)
})

test('a cached link is rejected as soon as its mode forbids it', async () => {
  await settle('open')
  const hash = await stored(fotos)
  const link = `${hash}&m=w_60`
  const tag = (await fotos.link(link)).headers.get('etag') ?? ''
  for (let times = 0; times < 3; times++) assert.deepEqual(await sizeOf(link), [60, 40])
  const secret = await settle('signed')
  // Makes the image known again, in its new state.
  await sizeOf(`${hash}&m=w_61,sig_${signed(secret, hash, 'w_61')}`)
  assert.deepEqual(await refusal(link), UNSIGNED)
  assert.equal((await fotos.link(link, { headers: { 'if-none-match': tag } })).status, 403)
  const outcome = await updateDelivery(service.app.context.database, 'fotos', { secret: 'new' })
  assert.ok(outcome.kind === 'updated' && outcome.secret !== secret)
  assert.deepEqual(
    await refusal(`${hash}&m=w_61,sig_${signed(secret, hash, 'w_61')}`),
    forged(`${hash}&m=w_61`),
  )
})

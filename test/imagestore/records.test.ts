import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { corpus, inCorpus } from '../support/corpus.ts'
import { answerOf, expectedHash, gradient, NO_IMAGE, plain, problem, stamped } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const NAUGHTY = new URL('naughty-strings.json', corpus)
const png = await gradient(20, 10).png().toBuffer()

const malformedHashes: Readonly<Record<string, string>> = {
  unknown: 'a'.repeat(32),
  'a word': 'hola',
  'upper case': expectedHash(png).toUpperCase(),
  'one letter short': expectedHash(png).slice(1),
  'one letter more': `${expectedHash(png)}a`,
  'a space behind': `${expectedHash(png)} `,
  'with an extension': `${expectedHash(png)}.png`,
  'letters that are not base32': '0189'.repeat(8),
  'a path': '../../catalejo.db',
  'a NUL': `${expectedHash(png)}\0`,
  quotes: "' OR 1=1 --",
  'other letters': 'ñ'.repeat(32),
  'very long': 'a'.repeat(6_000),
}

const { client: fotos } = await startImages()
assert.equal((await fotos.upload(png)).status, 200)

for (const [name, hash] of Object.entries(malformedHashes)) {
  test(`a hash that names no image: ${name}`, async () => {
    assert.deepEqual(plain(await fotos.get(hash)), NO_IMAGE)
    assert.deepEqual(plain(await fotos.remove(hash)), NO_IMAGE)
  })
}

test('get without hash, or with an empty one', async () => {
  const refused = problem(401, 'Ha fallado la solicitud')
  assert.deepEqual(plain(await fotos.call('GET', 'get')), refused)
  assert.deepEqual(plain(await fotos.get('')), refused)
  assert.deepEqual(plain(await answerOf(await fetch(`${fotos.endpoint('get')}&hash`))), refused)
})

const hash = expectedHash(png)
for (const method of ['DELETE', 'POST']) {
  test(`an image that ${method} deletes is gone`, async () => {
    assert.equal((await fotos.upload(png)).status, 200)
    assert.equal((await fotos.link(hash)).status, 200)
    const answer = await fotos.call(method, 'delete', { hash })
    assert.deepEqual(plain(answer), { status: 200, body: { status: 200, hash } })
    assert.deepEqual(plain(await fotos.get(hash)), NO_IMAGE)
    assert.deepEqual(plain(await answerOf(await fotos.link(hash))), NO_IMAGE)
    assert.deepEqual(plain(await fotos.remove(hash)), NO_IMAGE)
  })
}

async function assertNamesReturn(names: readonly string[]): Promise<void> {
  // Few images under name after name: what is known already need not be decoded again.
  const images = Array.from({ length: 8 }, (_, index) => stamped(png, `nombre ${index}`))
  for (let start = 0; start < names.length; start += images.length) {
    await Promise.all(
      images.map(async (image, offset) => {
        const name = names[start + offset]
        if (name === undefined) return
        assert.deepEqual((await fotos.upload(image, { name })).status, 200, name)
        assert.deepEqual((await fotos.get(expectedHash(image))).body['name'], name)
        await fotos.get(name)
        const found = await fotos.list({ search: name })
        assert.equal(found.status, 200, name)
        assert.ok(JSON.stringify(found.body).includes(expectedHash(image)), `found by its name: ${name}`)
      }),
    )
  }
}

test('a name is returned unchanged', async () => {
  await assertNamesReturn([
    ' con espacios ',
    'línea\nsaltada\r\n',
    "'; DROP TABLE images; --",
    '"comillas" y \\ barras /',
    'ÑANDÚ Ünïcode ﷽ 🦤',
    'ñ',
    '\ufeffmarca',
    '100%_*?',
    'x'.repeat(1_024),
    // More than 1,024 units of UTF-16, and an address of less than 8,192 bytes.
    '🔭'.repeat(600),
    'İstanbul ẞ ΑΣ',
  ])
})

test('naughty strings as names are returned unchanged', async () => {
  const strings: unknown = JSON.parse(await readFile(NAUGHTY, 'utf8'))
  assert.ok(Array.isArray(strings) && strings.length > inCorpus(400, 60))
  // Empty names and names beyond the limit have their own tests.
  await assertNamesReturn(strings.map(String).filter((name) => name !== '' && name.length <= 1_024))
})

test('naughty strings as a hash name no image', async () => {
  const strings: unknown = JSON.parse(await readFile(NAUGHTY, 'utf8'))
  assert.ok(Array.isArray(strings))
  for (const hash of strings.map(String).filter((string) => string !== '')) {
    assert.deepEqual(plain(await fotos.get(hash)), NO_IMAGE, hash)
  }
})

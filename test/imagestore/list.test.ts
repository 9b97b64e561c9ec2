import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  type Answer,
  expectedHash,
  gradient,
  ImageClient,
  plain,
  problem,
  stamped,
  answerOf,
  UNEDITED,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'

const png = await gradient(20, 10).png().toBuffer()
const image = (name: string) => stamped(png, Buffer.from(name).toString('hex'))
const hashOf = (name: string) => expectedHash(image(name))

function getImages({ body }: Answer): Readonly<Record<string, unknown>>[] {
  assert.ok(Array.isArray(body['data']))
  assert.equal(body['count'], body['data'].length)
  return body['data']
}

const toNames = (answer: Answer) => getImages(answer).map(({ name }) => String(name))

const findNext = ({ headers }: Answer) => /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

const clock = new ManualClock('2026-03-01T00:00:00Z')
let fotos: ImageClient
let accounts = 0

const { service, newClient } = await startImages({ clock })
beforeEach(async () => {
  const { key } = await service.newKey(`lista ${accounts++}`, 'imagestore')
  fotos = new ImageClient(service.url, key)
})

async function uploadAll(names: readonly string[], secondsBetween = 1): Promise<void> {
  for (const name of names) {
    assert.equal((await fotos.upload(image(name), { name })).status, 200)
    clock.advance(1_000 * secondsBetween)
  }
}

/** Follows `Link` from the first page to the last. */
async function walk(
  query: Readonly<Record<string, string>>,
  between: (page: number) => Promise<void> = async () => {},
): Promise<string[]> {
  const names: string[] = []
  let answer = await fotos.list(query)
  for (let page = 0; ; page++) {
    names.push(...toNames(answer))
    const next = findNext(answer)
    if (next === undefined) return names
    await between(page)
    answer = await answerOf(await fetch(next))
    assert.equal(answer.status, 200)
  }
}

test('an application without images', async () => {
  const answer = await fotos.list()
  assert.deepEqual(plain(answer), { status: 200, body: { status: 200, count: 0, total: 0, data: [] } })
  assert.equal(answer.headers.get('link'), null)
})

test('own images only, with all their fields', async () => {
  const date = clock.now() / 1000
  const { body } = await fotos.upload(image('una'), { name: 'una.png' })
  assert.deepEqual((await fotos.list()).body, {
    status: 200,
    count: 1,
    total: 1,
    data: [
      {
        name: 'una.png',
        hash: hashOf('una'),
        dhash: body['dhash'],
        mime: 'image/png',
        width: 20,
        height: 10,
        size: image('una').length,
        date,
        thumbhash: body['thumbhash'],
        expires: null,
        color: body['color'],
        dark: body['dark'],
        ...UNEDITED,
        link: `${service.url}/i/${hashOf('una')}`,
      },
    ],
  })
  const other = await newClient('otra')
  assert.deepEqual((await other.list()).body, { status: 200, count: 0, total: 0, data: [] })
})

test('newest first, and a new upload of the same bytes is newest', async () => {
  await uploadAll(['a', 'b', 'c'])
  assert.deepEqual(toNames(await fotos.list()), ['c', 'b', 'a'])
  await uploadAll(['a'])
  assert.deepEqual(toNames(await fotos.list()), ['a', 'c', 'b'])
})

for (const together of [true, false]) {
  test(`pages of any size contain each image once, uploaded ${together ? 'in one second' : 'one a second'}`, async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    await uploadAll(names, together ? 0 : 1)
    const whole = toNames(await fotos.list())
    assert.deepEqual(whole.toSorted(), names)
    for (const limit of ['1', '2', '3', '6', '7', '8', '1024']) {
      assert.deepEqual(await walk({ limit }), whole)
    }
  })
}

test('the next page keeps the other parameters', async () => {
  await uploadAll(['x1', 'y1', 'x2', 'y2', 'x3'])
  assert.deepEqual(await walk({ limit: '1', search: 'x' }), ['x3', 'x2', 'x1'])
})

test('pages during uploads and deletions contain each remaining image once', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `foto ${String.fromCharCode(97 + index)}`)
  await uploadAll(names, 0)
  const inOrder = toNames(await fotos.list())
  const doomed = [inOrder[1], inOrder[2], inOrder[7]].map(String)
  const met = await walk({ limit: '3' }, async (page) => {
    clock.advance(1_000)
    await fotos.upload(image(`nueva ${page}`), { name: `nueva ${page}` })
    const name = doomed[page]
    if (name !== undefined) await fotos.remove(hashOf(name))
  })
  assert.equal(new Set(met).size, met.length)
  assert.deepEqual(
    met.filter((name) => !doomed.includes(name)),
    inOrder.filter((name) => !doomed.includes(name)),
  )
})

for (const [search, expected] of [
  ['ñandú', ['ÑANDÚ.png', 'ñandú chico.jpg']],
  ['ÑAN', ['ÑANDÚ.png', 'ñandú chico.jpg']],
  ['.PNG', ['ÑANDÚ.png', 'casa_1.png', 'casa%1.PNG']],
  ['_1', ['casa_1.png']],
  ['%1', ['casa%1.PNG']],
  ['CHICO', ['ñandú chico.jpg']],
  ['nandu', []],
  ['', ['ñandú chico.jpg', 'ÑANDÚ.png', 'casa%1.PNG', 'casa_1.png']],
] as const) {
  test(`search «${search}»`, async () => {
    await uploadAll(['ñandú chico.jpg', 'ÑANDÚ.png', 'casa_1.png', 'casa%1.PNG'])
    assert.deepEqual(toNames(await fotos.list({ search })).toSorted(), expected.toSorted())
  })
}

for (const [name, value] of [
  ['limit', '0'],
  ['limit', '1025'],
  ['limit', '-1'],
  ['limit', 'diez'],
  ['limit', '1.5'],
  ['limit', ''],
] as const) {
  test(`${name}=${value} is out of range`, async () => {
    assert.deepEqual(
      plain(await fotos.list({ [name]: value })),
      problem(400, 'El parámetro limit debe ser un entero entre 1 y 1024'),
    )
  })
}

test('tag, type and time of upload, and how many there are on all pages', async () => {
  const start = clock.now() / 1_000
  const jpeg = await gradient(20, 10).jpeg().toBuffer()
  await fotos.upload(jpeg, { name: 'a.jpg', tags: ['ñandú "uno"', 'b'] })
  clock.advance(10_000)
  await fotos.upload(image('b'), { name: 'b.png', tags: ['b', 'c'] })
  clock.advance(10_000)
  await fotos.upload(image('c'), { name: 'c.png', expires: start + 25 })
  await fotos.upload(image('d'), { name: 'd.png' })
  clock.advance(10_000)
  for (const [query, names] of [
    [{}, ['d.png', 'b.png', 'a.jpg']],
    [{ tag: 'b' }, ['b.png', 'a.jpg']],
    [{ tag: 'ñandú "uno"' }, ['a.jpg']],
    [{ tag: 'ñandú' }, []],
    [{ tag: 'b', search: 'B' }, ['b.png']],
    [{ mime: 'image/png' }, ['d.png', 'b.png']],
    [{ mime: 'image/gif' }, []],
    [{ from: String(start + 10) }, ['d.png', 'b.png']],
    [{ from: String(start + 1), to: String(start + 10) }, ['b.png']],
    [{ to: String(start + 19) }, ['b.png', 'a.jpg']],
  ] as const) {
    const answer = await fotos.list(query)
    assert.deepEqual([toNames(answer), answer.body['total']], [names, names.length], JSON.stringify(query))
    assert.deepEqual(await walk({ ...query, limit: '1' }), names)
    const { body } = await fotos.list({ ...query, limit: '1' })
    assert.equal(body['total'], names.length)
  }
  await fotos.upload(image('e'))
  assert.equal((await fotos.list({ group: '', mime: 'image/png' })).body['total'], 1)
})

test('every order in both directions, page by page', async () => {
  const long = 'x'.repeat(1_020)
  const sized = async (name: string, width: number) =>
    assert.equal((await fotos.upload(await gradient(width, 9).png().toBuffer(), { name })).status, 200)
  await sized('Zorro', 300)
  clock.advance(1_000)
  await sized('árbol', 20)
  await sized('𝒶ve', 100)
  clock.advance(1_000)
  await sized('casa', 200)
  await sized('Casa', 40)
  for (const end of ['a', 'b']) await sized(`${long}${end}`, end === 'a' ? 60 : 80)
  const rows = getImages(await fotos.list())
  const keys = {
    date: (row: (typeof rows)[number]) => [Number(row['date']), String(row['hash'])],
    size: (row: (typeof rows)[number]) => [Number(row['size']), String(row['hash'])],
    name: (row: (typeof rows)[number]) => [
      Buffer.from([...String(row['name']).toLowerCase()].slice(0, 100).join('')).toString('latin1'),
      String(row['hash']),
    ],
  } as const
  for (const [order, keyOf] of Object.entries(keys)) {
    const sorted = rows.toSorted((a, b) => {
      const [one, other] = [keyOf(a), keyOf(b)]
      const at = one[0] === other[0] ? 1 : 0
      return (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
    })
    const names = sorted.map((row) => String(row['name']))
    for (const limit of ['1', '2', '3', '100']) {
      assert.deepEqual(await walk({ order, sort: 'asc', limit }), names)
      assert.deepEqual(await walk({ order, sort: 'desc', limit }), names.toReversed())
      assert.deepEqual(await walk({ order, limit }), order === 'name' ? names : names.toReversed())
    }
  }
})

for (const [name, value, takes] of [
  ['tag', 'a,b', 'debe ser una etiqueta de 1 a 60 caracteres, sin comas'],
  ['tag', '', 'debe ser una etiqueta de 1 a 60 caracteres, sin comas'],
  ['order', 'width', 'debe ser uno de: date, name, size'],
  ['sort', 'up', 'debe ser asc o desc'],
  ['from', 'ayer', 'debe ser un entero entre 0 y 253402300799'],
  ['cursor', `YQ.${'a'.repeat(32)}`, 'debe ser el de la cabecera Link de la página anterior'],
] as const) {
  test(`${name}=${value} is refused`, async () => {
    assert.deepEqual(
      plain(await fotos.list({ [name]: value })),
      problem(400, `El parámetro ${name} ${takes}`),
    )
  })
}

for (const cursor of [
  '',
  'x',
  '1.x',
  `-1.${'a'.repeat(32)}`,
  `1.${'A'.repeat(32)}`,
  `1.${'a'.repeat(32)}.2`,
  '9'.repeat(90),
]) {
  test(`cursor ${cursor} is malformed`, async () => {
    assert.deepEqual(
      plain(await fotos.list({ cursor })),
      problem(400, 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'),
    )
  })
}

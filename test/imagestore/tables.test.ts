/** What follows from the tables of image fields and modifiers but cannot be derived from them: schema, rendering, documents, console. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ANSWER_FIELDS, BLOB_FIELDS, columnOf } from '../../src/imagestore/image-fields.ts'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { getTables } from '../../src/storage/database/tables.ts'
import { ImageEngine } from '../../src/imagestore/decoder/index.ts'
import { SIZE_STEPS } from '../../src/imagestore/links/link.ts'
import { FIELDS, MAX_SIDE_PIXELS, modifiers, parseModifiers } from '../../src/imagestore/modifiers/index.ts'
import { animation, gradient } from '../support/images.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const flat = (text: string) => text.replaceAll(/\s+/g, ' ')
/** The pages of the documents, without the records of decisions. */
const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('decisions'))
  .map((path) => flat(read(`docs/${path}`)))
const toColumns = (name: string) =>
  Object.keys(getTables(SCHEMA).find((table) => table.name === name)?.columns ?? {}).toSorted()

test('each field is a column, and each column a field', () => {
  assert.deepEqual(toColumns('blobs'), BLOB_FIELDS.toSorted())
  // What the table's answers lack: whose it is, its name for searches, its size for sorting, where it came from, and its place in the trash.
  const ownColumns = ['account_id', 'bytes', 'hash', 'ip', 'name_folded', 'trashed_at']
  const answered = [...new Set(Object.values(ANSWER_FIELDS).flat())]
  const fields = answered.filter((name) => columnOf(name).startsWith('images.'))
  assert.deepEqual(toColumns('images'), [...ownColumns, ...fields].toSorted())
})

test('the documents name each field of an answer', () => {
  const text = pages.join(' ')
  for (const field of Object.values(ANSWER_FIELDS).flat())
    assert.match(text, new RegExp(`["\`]${field}["\`]`), `${field} is not documented`)
})

test('each modifier changes some output', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-modifiers-'))
  const engine = new ImageEngine({ workers: 1 })
  t.after(async () => {
    await engine.close()
    await rm(folder, { recursive: true })
  })
  const photo = gradient(60, 40).extend({ top: 9, bottom: 2, left: 5, right: 2, background: '#0f0' })
  const sources = [
    await photo
      .clone()
      .jpeg()
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .toBuffer(),
    await photo.clone().ensureAlpha(0.5).png().toBuffer(),
    await (await animation(60, 40, ['#f00', '#0f0', '#00f'])).gif().toBuffer(),
  ]
  const paths = sources.map((_, i) => join(folder, String(i)))
  for (const [i, path] of paths.entries()) await writeFile(path, sources[i] ?? '')

  async function derive(path: string, text: string): Promise<Buffer> {
    const parsed = parseModifiers(text)
    assert.ok(parsed.ok && parsed.transformation.format !== 'auto', text)
    const { format } = parsed.transformation
    const made = await engine.derive(path, { ...parsed.transformation, format })
    assert.ok(made.kind === 'image', text)
    return Buffer.from(made.bytes)
  }

  async function isRendered(examples: readonly string[]): Promise<boolean> {
    for (const base of ['f_png', 'w_30,f_jpg', 's_200x200', 's_20x30,c_crop']) {
      for (const path of paths) {
        const before = await derive(path, base)
        for (const example of examples) {
          const parsed = parseModifiers(`${base},${example}`)
          if (parsed.ok && !before.equals(await derive(path, `${base},${example}`))) return true
        }
      }
    }
    return false
  }

  for (const field of FIELDS) {
    // A watermark needs a second image, and is tested with settings. A file name changes no pixel.
    if (field.startsWith('watermark') || field === 'download') continue
    const { key, examples } = modifiers[field]
    // Fields that the bases set themselves, and what is up to the client.
    const own = examples.filter((example) => example !== 'f_auto')
    if (field === 'width' || field === 'format')
      assert.notDeepEqual(await derive(paths[0] ?? '', own[0] ?? ''), sources[0])
    else assert.ok(await isRendered(own), `${key} changes nothing: is it missing in the decoder?`)
  }
})

test('the documents name each modifier in canonical order, and the size steps', () => {
  assert.equal(SIZE_STEPS.at(-1), MAX_SIDE_PIXELS)
  const page = flat(read('docs/modifiers.md'))
  const rows = FIELDS.map((field) => {
    const { key, values, description } = modifiers[field]
    return `| \`${values === '' ? key : `${key}_…`}\` | ${values}${values === '' ? '' : ' '}| ${description} |`
  })
  const places = rows.map((row) => page.indexOf(row))
  assert.ok(!places.includes(-1), 'run scripts/modifier-pictures.ts')
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  assert.ok(
    pages.some((text) => text.includes(SIZE_STEPS.join(', '))),
    SIZE_STEPS.join(', '),
  )
})

test('the console offers modifiers that exist', () => {
  // Its lists of tokens come first.
  const [lists = ''] = read('console/features/images/transform-playground.tsx').split('function modifierOf')
  const tokens = [...lists.matchAll(/'([a-z]+_[a-z0-9]+)'|\['([a-z]+)', 'images\./g)].map(
    ([, option, effect]) => option ?? effect ?? '',
  )
  assert.ok(tokens.length > 10, tokens.join())
  for (const token of tokens) assert.ok(parseModifiers(token).ok, token)
})

import assert from 'node:assert/strict'
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { catalejo, catalejoHere } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { bytesOf, expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { ManualClock, startService } from '../support/service.ts'

const png = await gradient(20, 10).png().toBuffer()
const clock = new ManualClock('2090-01-01T00:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const instance = ['--data', service.data, '--database-url', service.databaseUrl]

/** Runs a command on the instance, in this process. */
const run = (...args: string[]) => catalejoHere([...args, ...instance])
const runImages = (...args: string[]) => run('images', ...args)

/** A client of an account, which each test has for itself. */
const newClient = async (account: string) =>
  new ImageClient(service.url, (await service.newKey(account, 'imagestore')).key)

test('a folder is imported, and its export imports to the same state', async () => {
  const [old, fresh] = [await newClient('vieja'), await newClient('nueva')]
  await using folder = await temporaryFolder()

  const source = join(folder.path, 'fotos')
  await mkdir(join(source, 'viaje'), { recursive: true })
  for (let i = 0; i < 7; i++) await writeFile(join(source, `foto ${i}.png`), stamped(png, `foto ${i}`))
  await writeFile(join(source, 'viaje', 'árbol.png'), stamped(png, 'árbol'))
  await writeFile(join(source, 'nota.txt'), 'no es una imagen')
  await writeFile(join(source, 'rota.png'), png.subarray(0, png.length - 20))
  const imported = await runImages('import', source, '--account', 'vieja')
  assert.equal(imported.code, 1)
  assert.equal(imported.stdout, `${source}: 8 images stored, 2 refused\n`)
  assert.match(imported.stderr, /nota\.txt: damaged: not an accepted format\n.*rota\.png: damaged: /)
  const { body } = await old.get(expectedHash(stamped(png, 'árbol')))
  assert.equal(body['name'], 'árbol.png')

  // One more, with an end, and names and dates of its own.
  const list = join(source, 'lista.ndjson')
  const expires = 4_000_000_000
  const lines = [
    { file: 'foto 0.png', name: 'otro nombre.png', date: 1_500_000_000, expires },
    { file: '../fuera.png' },
    { file: 'foto 1.png', hash: 'a'.repeat(32) },
    { file: 'foto 1.png', expires: 5 },
    { file: 'falta.png' },
  ]
  await writeFile(list, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"file":\n`)
  const listed = await runImages('import', list, '--account', 'vieja')
  assert.equal(listed.stdout, `${list}: 1 image stored, 5 refused\n`)
  assert.deepEqual(
    listed.stderr.split('\n').filter((line) => line.startsWith(`${list}: line`)),
    [
      "line 2: ../fuera.png is not below the list's folder",
      'line 3: not the bytes of its hash',
      'line 4: El parámetro expires debe ser un momento futuro, en segundos desde 1970',
      'line 5: no such file',
      'line 6: no JSON object and no address',
    ].map((text) => `${list}: ${text}`),
  )

  const out = join(folder.path, 'salida')
  const exported = await runImages('export', out, '--account', 'vieja')
  assert.equal(exported.code, 0, exported.stderr)
  assert.match(exported.stdout, /8 images written, 0 there before, 0 lost/)
  assert.match(
    (await runImages('export', out, '--account', 'vieja')).stdout,
    /0 images written, 8 there before, 0 lost/,
  )
  const moved = join(folder.path, 'en otra parte')
  await cp(out, moved, { recursive: true })
  await rm(out, { recursive: true })
  const back = await runImages('import', join(moved, 'images.ndjson'), '--account', 'nueva')
  assert.equal(back.stdout, `${join(moved, 'images.ndjson')}: 8 images stored, 0 refused\n`)
  assert.equal(back.code, 0)
  const [ours, theirs] = [await old.list(), await fresh.list()]
  assert.deepEqual(theirs.body, ours.body)
  assert.match(JSON.stringify(theirs.body), /otro nombre\.png.*1500000000.*4000000000/)
  assert.doesNotMatch(await readFile(join(moved, 'images.ndjson'), 'utf8'), /"ip"/)
})

test("unreadable files are rejected individually, and nothing outside a list's folder is read", async () => {
  const client = await newClient('discos')
  await using folder = await temporaryFolder()
  const source = join(folder.path, 'fotos')
  await mkdir(source)
  await writeFile(join(folder.path, 'ajena.png'), stamped(png, 'ajena'))
  await writeFile(join(source, 'propia.png'), stamped(png, 'propia'))
  // A name in Latin-1, as old disks have them.
  const old = Buffer.concat([Buffer.from(join(source, 'a')), Buffer.from([0xf1]), Buffer.from('o.png')])
  await writeFile(old, stamped(png, 'año'))
  await symlink('../ajena.png', join(source, 'enlace.png'))
  await symlink('propia.png', join(source, 'otra.png'))
  await symlink('vueltas.png', join(source, 'vueltas.png'))

  const imported = await runImages('import', source, '--account', 'discos')
  assert.deepEqual([imported.code, imported.stdout], [0, `${source}: 2 images stored, 0 refused\n`])
  assert.equal((await client.get(expectedHash(stamped(png, 'año')))).body['name'], 'a\ufffdo.png')

  const list = join(source, 'lista.ndjson')
  const files = [
    'enlace.png',
    'vueltas.png',
    'propia.png/x.png',
    'a\0b.png',
    'x'.repeat(300),
    '.',
    'otra.png',
  ]
  await writeFile(list, files.map((file) => `${JSON.stringify({ file, name: 'x' })}\n`).join(''))
  const listed = await runImages('import', list, '--account', 'discos')
  assert.equal(listed.stdout, `${list}: 1 image stored, 6 refused\n`)
  assert.deepEqual(
    listed.stderr.split('\n').filter((line) => line.startsWith(`${list}: line`)),
    [
      "line 1: a link out of the list's folder",
      'line 2: cannot be read: ELOOP',
      'line 3: no such file',
      'line 4: cannot be read: ERR_INVALID_ARG_VALUE',
      'line 5: cannot be read: ENAMETOOLONG',
      "line 6: . is not below the list's folder",
    ].map((text) => `${list}: ${text}`),
  )
  assert.equal((await client.get(expectedHash(stamped(png, 'ajena')))).status, 404)
})

test('limits set by the command apply to uploads and imports', async () => {
  const client = await newClient('limitada')
  await using folder = await temporaryFolder()
  const set = (...args: string[]) => run('account', 'set', ...args)
  const limited = await set('limitada', '--max-images', '2', '--max-bytes', '1000000')
  assert.deepEqual(limited, {
    code: 0,
    stdout: 'limitada: at most 2 images, at most 1000000 bytes\n',
    stderr: '',
  })
  await client.upload(stamped(png, 'una'))
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder.path, `${name}.png`), stamped(png, name))
  const imported = await runImages('import', folder.path, '--account', 'limitada')
  assert.equal(imported.stdout, `${folder.path}: 1 image stored, 2 refused\n`)
  assert.match(imported.stderr, /La aplicación ya tiene el máximo de 2 imágenes/)
  const lifted = await set('limitada', '--max-images', 'none')
  assert.equal(lifted.stdout, 'limitada: any number of images, at most 1000000 bytes\n')
  assert.equal((await client.upload(stamped(png, 'otra'))).status, 200)

  assert.equal((await set('nadie', '--max-images', '2')).code, 1)
  assert.equal((await set('grupo', '--max-images', '2')).code, 1)
  for (const wrong of [[], ['--max-images', '-1'], ['--max-bytes', '1.5'], ['--max-bytes', 'mucho']]) {
    assert.equal((await set('limitada', ...wrong)).code, 2)
  }
})

test('imports strip metadata if uploads do', async () => {
  const client = await newClient('discreta')
  await using folder = await temporaryFolder()
  await writeFile(join(folder.path, 'foto.png'), stamped(png, 'Calle Falsa 742'))
  const where = {
    CATALEJO_DATA: service.data,
    CATALEJO_DATABASE_URL: service.databaseUrl,
    CATALEJO_STRIP: '1',
  }
  const imported = await catalejo(['images', 'import', folder.path, '--account', 'discreta'], where)
  assert.equal(imported.stdout, `${folder.path}: 1 image stored, 0 refused\n`)
  const kept = await bytesOf(await client.link(expectedHash(png)))
  assert.equal(kept.includes('Calle Falsa 742'), false)
})

test('a missing folder is reported in a line, and file names are escaped for the terminal', async () => {
  await using folder = await temporaryFolder()
  await writeFile(join(folder.path, 'a\n\x1b[2Jb.png'), 'no es una imagen')
  const imported = await runImages('import', folder.path, '--account', 'fotos')
  assert.equal(imported.code, 1)
  assert.match(imported.stderr, /: a\\x0a\\x1b\[2Jb\.png: damaged: not an accepted format\n/)
  const file = join(folder.path, 'archivo')
  await writeFile(file, '')
  const exported = await runImages('export', file, '--account', 'fotos')
  assert.equal(exported.code, 1)
  assert.match(exported.stderr, /^catalejo: export of .*archivo: ENOTDIR: [^\n]*\n$/)
})

test('an import over an uploaded image shows its name and expiry immediately', async () => {
  const client = await newClient('cambiada')
  const seen = async (hash: string) => {
    const { status, body } = await client.get(hash)
    const link = await client.link(hash)
    await link.arrayBuffer()
    return [status, body['name'], link.status]
  }
  const photo = stamped(png, 'cambiada')
  assert.equal((await client.upload(photo, { name: 'antes.png' })).status, 200)
  const hash = expectedHash(photo)
  assert.deepEqual(await seen(hash), [200, 'antes.png', 200])

  await using folder = await temporaryFolder()
  const list = join(folder.path, 'lista.ndjson')
  const expires = Math.floor(clock.now() / 1000) + 60
  await writeFile(join(folder.path, 'foto.png'), photo)
  await writeFile(list, JSON.stringify({ file: 'foto.png', name: 'después.png', expires }))
  const { code, stderr } = await runImages('import', list, '--account', 'cambiada')
  assert.equal(code, 0, stderr)
  await eventually(
    async () => (await client.get(hash)).body['name'] === 'después.png',
    'another process wrote it',
  )
  const listed = (await client.list()).body['data']
  assert.partialDeepStrictEqual(listed, [{ hash, name: 'después.png', expires }])
  clock.advance(59_000)
  assert.deepEqual(await seen(hash), [200, 'después.png', 200])
  clock.advance(1_000)
  assert.deepEqual(await seen(hash), [404, undefined, 404])
})

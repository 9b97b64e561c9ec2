import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { catalejo, start } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { answerOf, bytesOf, expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { startService } from '../support/service.ts'

const png = await gradient(20, 10).png().toBuffer()
/** Images after which an import writes down how far it has come. */
const STEP = 50
/** Before the first such step, and past it; far from the end, as the import continues until it is killed. */
const KILLED_AT = [10, 70]
const COUNT = 5 * STEP

test('a killed import resumes without losing or repeating anything', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  await using folder = await temporaryFolder()
  const pictures = new Map<string, Buffer>()
  for (let i = 0; i < COUNT; i++) {
    const bytes = stamped(png, `foto ${i}`)
    pictures.set(expectedHash(bytes), bytes)
    await writeFile(join(folder.path, `foto ${i}.png`), bytes)
  }
  const where = { CATALEJO_DATA: service.data, CATALEJO_DATABASE_URL: service.databaseUrl }
  const line = ['images', 'import', folder.path, '--account', 'fotos']
  const stored = async () =>
    Number((await answerOf(await fetch(client.endpoint('stats')))).body['images'] ?? 0)

  const progress = async () => {
    const names = await readdir(join(service.data, 'imports')).catch(() => [])
    return names.filter((name) => name.endsWith('.json')).length
  }
  for (const [step, least] of KILLED_AT.entries()) {
    const { child, stderr } = start(line, where)
    const ended = once(child, 'close')
    // What is stored is written down a moment later.
    const isReached = async () => (await stored()) >= least && (await progress()) >= step
    while (!(await isReached()) && child.exitCode === null) await pause(5)
    child.kill('SIGKILL')
    await ended
    assert.equal(child.signalCode, 'SIGKILL', stderr())
  }
  const before = await stored()
  assert.ok(before >= 70 && before < COUNT, `${before} were there`)
  assert.equal(await progress(), 1)

  const last = await catalejo(line, where)
  assert.equal(last.code, 0, last.stderr)
  const [, resumed] = new RegExp(`resuming after (\\d+) of ${COUNT}`).exec(last.stderr) ?? []
  assert.ok(Number(resumed) >= STEP && Number(resumed) < COUNT, last.stderr)
  assert.equal(last.stdout, `${folder.path}: ${COUNT} images stored, 0 refused\n`)
  assert.deepEqual(await readdir(join(service.data, 'imports')), [])

  assert.equal(await stored(), COUNT)
  const { data } = { data: [], ...(await client.list({ limit: '1000' })).body }
  const hashes = data.map(({ hash }) => String(hash))
  assert.deepEqual(hashes.toSorted(), [...pictures.keys()].toSorted())
  for (const [hash, bytes] of pictures) assert.deepEqual(await bytesOf(await client.link(hash)), bytes)
  // Neither the records nor the store hold more than that.
  const verified = await catalejo(['verify'], where)
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
})

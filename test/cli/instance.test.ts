import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { bytesOf, expectedHash, gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

test('account set and sign work while the service runs', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  const photo = await gradient(60, 40).jpeg().toBuffer()
  const hash = expectedHash(photo)
  await client.upload(photo)
  const { databaseUrl } = service.app.context.config
  const place = ['--data', service.data, '--database-url', databaseUrl]
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await catalejoHere([...args, ...place])
    return { code, stdout, stderr }
  }
  const said = (stdout: string) => ({ code: 0, stdout, stderr: '' })
  const failed = (stderr: string) => ({ code: 1, stdout: '', stderr: `catalejo: ${stderr}\n` })
  const sign = async (...args: string[]) => {
    const { stdout, stderr } = await run('sign', ...args, '--account', 'fotos', '--base-url', service.url)
    assert.equal(stderr, '')
    return stdout.trim()
  }

  assert.deepEqual(await run('account', 'list'), said('fotos\topen\tno signing secret\n'))
  assert.deepEqual(await run('account', 'set', 'fotos', '--delivery', 'signed'), said('fotos\tsigned\n'))
  assert.deepEqual(await run('account', 'list'), said('fotos\tsigned\thas a signing secret\n'))
  assert.equal((await client.link(hash)).status, 403)

  const plain = await sign(hash)
  assert.match(plain, new RegExp(`^${service.url}/i/${hash}&m=sig_[\\w-]{22}$`))
  assert.ok((await bytesOf(await fetch(plain))).equals(photo))
  const small = await sign(`${hash}.webp&m=h_20,w_30,c_fit`, '--expires', '3600')
  assert.match(small, new RegExp(`^${service.url}/i/${hash}&m=w_30,h_20,f_webp,exp_\\d{10},sig_[\\w-]{22}$`))
  assert.equal((await fetch(small)).status, 200)
  assert.equal(
    (await fetch(await sign(`${service.url}/i/${hash}&m=thumb`, '--expires', '2090-01-01'))).status,
    200,
  )

  const local = await run('sign', hash, '--account', 'fotos', '--host', '::1', '--port', '8080')
  assert.match(local.stdout, new RegExp(`^http://\\[::1\\]:8080/i/${hash}&m=sig_[\\w-]{22}\n$`))

  const secret = await run('account', 'secret', 'fotos')
  assert.match(secret.stdout, /^[\w-]{43}\n$/)
  assert.deepEqual(await run('account', 'secret', 'fotos'), secret)
  assert.notDeepEqual(await run('account', 'secret', 'fotos', '--new'), secret)
  assert.equal((await fetch(plain)).status, 403)
  assert.equal((await fetch(await sign(hash))).status, 200)

  assert.deepEqual(
    await run('account', 'set', 'nadie', '--delivery', 'open'),
    failed('there is no account «nadie»'),
  )
  const other = failed('the account «grupo» is of domainwatch')
  assert.deepEqual(await run('account', 'set', 'grupo', '--delivery', 'open'), other)
  assert.deepEqual(await run('sign', hash, '--account', 'grupo'), other)
  const signs = (...args: string[]) => run('sign', ...args, '--account', 'fotos')
  const takes = 'is not an image link: give the part after /i/'
  assert.deepEqual(await signs('nothing'), failed(`«nothing» ${takes}`))
  assert.deepEqual(await signs('a'.repeat(32)), failed(`there is no image ${'a'.repeat(32)}`))
  assert.deepEqual(await signs(`${hash}.bmp`), failed('images cannot be converted to .bmp'))
  assert.deepEqual(
    await signs(`${hash}&m=w_0`),
    failed('«w_0» in the modifier is not valid: it must be un entero de 1 a 8192'),
  )
  assert.deepEqual(
    await signs(hash, '--expires', '2020-01-01'),
    failed('--expires «2020-01-01» must be seconds from now or a future date'),
  )
  const usage = await run('account', 'set', 'fotos', '--delivery', 'closed')
  assert.deepEqual([usage.code, usage.stdout], [2, ''])
})

test('commands are recorded under the user who runs them', async () => {
  await using service = await startService()
  const data = ['--data', service.data]
  await catalejoHere(['key', 'create', '--account', 'luis', '--service', 'imagestore', ...data])
  await catalejoHere(['account', 'set', 'luis', '--max-images', '3', ...data])
  await catalejoHere(['account', 'secret', 'luis', ...data])
  await catalejoHere(['account', 'secret', 'luis', '--new', ...data])
  await catalejoHere(['dismissed', 'forget', 'una.cl', ...data])
  await catalejoHere(['key', 'revoke', 'none', ...data])
  const user = `cli:${userInfo().username}`
  const { stdout } = await catalejoHere(['audit', '--account', user, ...data])
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.equal(head, 'time\taccount\tkey\taction\tsubject')
  const fields = lines.map((line) => line.split('\t'))
  for (const [time = ''] of fields) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(fields.map((line) => line.slice(1)).toReversed(), [
    [user, '-', 'key.create', fields[3]?.[4]],
    [user, '-', 'limits.set', 'luis {"max_images":3,"max_bytes":null,"delivery":"open"}'],
    [user, '-', 'secret.renew', 'luis'],
    [user, '-', 'dismissed.forget', 'una'],
  ])
  assert.match(fields[3]?.[4] ?? '', /^luis \(imagestore\), key [a-z2-9]{10}$/)
  const others = await catalejoHere(['audit', '--account', 'nadie', ...data])
  assert.equal(others.stdout, `${head}\n`)
})

test('changes prints a line for each, resumes after a cursor, and reports a gap', async () => {
  await using folder = await temporaryFolder()
  const data = ['--data', folder.path]
  await catalejoHere(['key', 'create', '--account', 'grupo', '--service', 'domainwatch', ...data])
  const all = await catalejoHere(['changes', ...data])
  const lines: Record<string, unknown>[] = all.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ topic, kind, accountId }) => [topic, kind, accountId]),
    [
      ['account', 'made', 1],
      ['key', 'made', 1],
    ],
  )
  const { key, cursor } = lines[1] ?? {}
  await catalejoHere(['key', 'revoke', String(key), ...data])
  const rest = await catalejoHere(['changes', '--since', String(cursor), ...data])
  const { at: _at, cursor: _cursor, ...revoked } = JSON.parse(rest.stdout)
  assert.deepEqual(revoked, {
    topic: 'key',
    kind: 'revoked',
    key,
    accountId: 1,
    before: null,
    after: null,
  })
  const gap = await catalejoHere(['changes', '--since', '000000000000-1', ...data])
  assert.deepEqual([gap.code, gap.stdout], [3, ''])
  assert.match(gap.stderr, /were deleted/)
  assert.equal((await catalejoHere(['changes', '--follow', 'quizás', ...data])).code, 2)
})

import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { catalejoHere } from '../support/cli.ts'
import { startService } from '../support/service.ts'

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

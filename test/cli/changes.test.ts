import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

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
  const rest = await catalejoHere(['changes', '--since', String(lines[0]?.['cursor']), ...data])
  assert.equal(rest.stdout.trim(), all.stdout.trim().split('\n')[1])
  const gap = await catalejoHere(['changes', '--since', '000000000000-1', ...data])
  assert.deepEqual([gap.code, gap.stdout], [3, ''])
  assert.match(gap.stderr, /were deleted/)
  assert.equal((await catalejoHere(['changes', '--follow', 'quizás', ...data])).code, 2)
})

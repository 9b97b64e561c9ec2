import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Field {
  readonly type: string
  readonly id?: string
  readonly attributes: {
    readonly label?: string
    readonly value?: string
    readonly options?: readonly unknown[]
  }
}

interface Form {
  readonly name?: string
  readonly description?: string
  readonly body: readonly Field[]
}

test('AGENTS.md fits on one screen', () => {
  assert.ok(read('AGENTS.md').trimEnd().split('\n').length <= 60)
})

test('container bases are pinned by digest', () => {
  const dockerfile = read('deploy/Dockerfile')
  const [, base = ''] = /^ARG BASE=(.*)$/m.exec(dockerfile) ?? []
  assert.match(base, /^node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/)
  assert.deepEqual(new Set(dockerfile.match(/^FROM \S+/gm)), new Set(['FROM ${BASE}']))
})

test('.nvmrc has the Node version of the container', () => {
  const [, major] = /^ARG BASE=node:(\d+)\./m.exec(read('deploy/Dockerfile')) ?? []
  assert.equal(read('.nvmrc').trim(), major)
})

for (const path of globSync('.github/ISSUE_TEMPLATE/{bug,feature}.yml', { cwd: root })) {
  test(`${path} is a valid issue form of GitHub`, () => {
    const { name = '', description = '', body }: Form = parse(read(path))
    assert.ok(name !== '' && description !== '')
    const ids = body.flatMap(({ id }) => id ?? [])
    assert.equal(new Set(ids).size, ids.length)
    const labels = body.flatMap(({ attributes }) => attributes.label ?? [])
    assert.equal(new Set(labels).size, labels.length)
    for (const { type, id, attributes } of body) {
      assert.ok(['markdown', 'input', 'textarea', 'dropdown', 'checkboxes'].includes(type), type)
      if (type === 'markdown') assert.ok(attributes.value)
      else assert.ok(id !== undefined && /^[\w-]+$/.test(id) && attributes.label, type)
      if (type === 'dropdown' || type === 'checkboxes') assert.ok(attributes.options?.length, id)
    }
  })
}

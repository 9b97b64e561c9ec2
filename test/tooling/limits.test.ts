/** Limits that documents and filters state, against their only definition. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  DISCARDED_RETENTION_DAYS,
  MAX_BATCH_RECORDS,
  MAX_LABEL_CHARACTERS,
} from '../../src/domainwatch/limits.ts'
import { CONNECTION_CUT_MS, IDLE_GRACE_MS, PROCESS_EXIT_MS, WORKER_KILL_MS } from '../../src/server/limits.ts'
import { openapiText, resolved } from '../support/openapi.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('decisions'))
  .map((path) => read(`docs/${path}`))
  .join('\n')

test('OpenAPI states the limits of a batch and of a name', () => {
  const document = Object(resolved(JSON.parse(openapiText)))
  const parameters: readonly { name: string; schema: { maximum?: number } }[] =
    document.paths['/api/v1/domainwatch/list'].get.parameters
  for (const name of ['length', 'min_length', 'max_length'])
    assert.equal(parameters.find((one) => one.name === name)?.schema.maximum, MAX_LABEL_CHARACTERS, name)
  const batches = [
    ...JSON.stringify(document).matchAll(/"maxItems":(\d+),"description":"(?:Records to store|Marks to set)"/g),
  ]
  assert.ok(batches.length > 0 && batches.every(([, max]) => Number(max) === MAX_BATCH_RECORDS))
})

test('the documents state the limits', () => {
  assert.match(pages, new RegExp(`\\b${DISCARDED_RETENTION_DAYS} days\\b`))
  assert.ok(pages.includes(MAX_BATCH_RECORDS.toLocaleString('en')))
  assert.match(pages, new RegExp(`\\b${MAX_LABEL_CHARACTERS}\\b`))
})

test('the steps of a shutdown are in their order, before supervisors kill', () => {
  const steps = [0, IDLE_GRACE_MS, CONNECTION_CUT_MS, PROCESS_EXIT_MS, WORKER_KILL_MS]
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  const [, seconds] = /TimeoutStopSec=(\d+)s/.exec(read('deploy/systemd/catalejo.service')) ?? []
  assert.ok(WORKER_KILL_MS < Number(seconds) * 1_000)
})

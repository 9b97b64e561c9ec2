/**
 * Preloaded (`node --import`) into a process under test: appends every SQL text that it runs, once per thread, to the file
 * that RECORDED_STATEMENTS names.
 */
import { appendFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const file = process.env['RECORDED_STATEMENTS']
const seen = new Set<string>()

function note(text: unknown, values: unknown): void {
  if (file === undefined || typeof text !== 'string' || seen.has(text)) return
  seen.add(text)
  const plain = Array.isArray(values)
    ? values.map((value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value))
    : []
  appendFileSync(file, `${JSON.stringify({ text, values: plain })}\n`)
}

const prepare = Reflect.get(DatabaseSync.prototype, 'prepare')
Reflect.set(DatabaseSync.prototype, 'prepare', function (this: unknown, ...given: unknown[]) {
  note(given[0], undefined)
  return Reflect.apply(prepare, this, given)
})

const query = Reflect.get(pg.Client.prototype, 'query')
Reflect.set(pg.Client.prototype, 'query', function (this: unknown, ...given: unknown[]) {
  const [config, values] = given
  if (typeof config === 'object' && config !== null && 'text' in config)
    note(config.text, 'values' in config ? config.values : undefined)
  else note(config, values)
  return Reflect.apply(query, this, given)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cursor } from '../../storage/database/changes/change.ts'
import { ConsoleLinks } from '../texts.ts'
import { plainContext } from '../../../test/support/plain-signals.ts'
import type { ChangedRecord } from '../filtered-record.ts'
import type { DomainEvent } from '../events/event.ts'
import { characters, layOut, plainText, telegramHtml, toMessage } from './message.ts'

const links = new ConsoleLinks(() => 'https://example.cl')
// Nothing here reads it.
const cursor = '0123456789ab-1' as Cursor
const base: ChangedRecord = {
  name: 'casa',
  agent: 'Ana',
  status: 0,
  reserved: 0,
  revision: 0,
  discarded_at: null,
  deleted_at: null,
  date_reg: '2026-01-01 00:00:00',
  date_mod: '2026-01-01 00:00:00',
  past_drops: 0,
  status_at: null,
  seen_at: null,
  date_reg_known: 1,
  note: null,
  numbers: null,
  tags: null,
  words: null,
  hidden: 0,
}
const changed = (before: Partial<ChangedRecord>, after: Partial<ChangedRecord>): DomainEvent => ({
  cursor,
  kind: 'changed',
  at: 0,
  account: 'grupo',
  before: { ...base, ...before },
  after: { ...base, ...after },
  context: plainContext(0),
})

test('a line says which brand the name resembles', () => {
  const watch = { id: 'a', name: 'Marcas', filters: {}, language: 'es', findBrand: () => 'caza' } as const
  const notice = { kind: 'changes', events: [changed({}, { status: 1 })], omitted: 0 } as const
  assert.equal(
    toMessage(watch, notice, links).items[0]?.detail,
    'inscrito de nuevo · parecido a caza.cl · agente: Ana',
  )
})

const textOf = (events: readonly DomainEvent[], max = 4_096, language: 'es' | 'en' = 'es') => {
  const watch = { id: 'a', name: 'Mía', filters: {}, language }
  const message = toMessage(watch, { kind: 'changes', events, omitted: 0 }, links)
  return layOut(message, plainText, { sizeOf: characters, max }).split('\n')
}

test('notes and tags are on the line of their name, whatever a note contains', () => {
  const note = 'uno\r\nBcc: a@b.cl\u202e\u0000 <b>'
  const [, line] = textOf([changed({}, { note, tags: ' marca urgente ' })])
  assert.equal(
    line,
    '• casa.cl: cambió (nota, etiquetas) · agente: Ana · nota: uno Bcc: a@b.cl <b> · etiquetas: marca, urgente',
  )
  const [, long] = textOf([changed({}, { note: 'ñ'.repeat(1_000) })], 4_096, 'en')
  assert.equal(long, `• casa.cl: changed (note) · agent: Ana · note: ${'ñ'.repeat(199)}…`)
})

test('the largest line fits every service, and of many names the rest is counted', () => {
  const worst = changed(
    {},
    { name: 'x'.repeat(63), agent: '&'.repeat(100), note: '<'.repeat(1_000), tags: ` ${'"'.repeat(300)} ` },
  )
  const watch = { id: 'a', name: '&'.repeat(100), filters: {}, language: 'es' } as const
  const message = toMessage(watch, { kind: 'changes', events: [worst], omitted: 7 }, links)
  const text = layOut(message, telegramHtml, { sizeOf: characters, max: 4_096 })
  assert.ok(text.length <= 4_096 && text.includes('x'.repeat(63)))
  assert.match(text, /^y 7 más$/m)
  const many = Array.from({ length: 100 }, (_, i) => changed({}, { name: `casa${i}`, note: 'x' }))
  const lines = textOf(many, 1_000)
  const shown = lines.filter((line) => line.startsWith('•')).length
  assert.equal(lines.at(-2), `y ${100 - shown} más`)
  assert.ok(shown > 5 && lines.join('\n').length <= 1_000)
})

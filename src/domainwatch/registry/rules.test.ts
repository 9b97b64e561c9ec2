import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deleted,
  endsDismissal,
  lastComplete,
  newsIn,
  registered,
  repaired,
  skipReason,
  type Facts,
  type SourceState,
} from './rules.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.parse('2026-03-01T12:00:00Z')

const at = (day: number, time = '12:00:00') => `2026-01-${String(day).padStart(2, '0')} ${time}`
const on = (day: number) => ({ from: at(day), to: at(day) })

const bought = (day: number, more: Partial<Facts> = {}): Facts => ({
  status: 1,
  date_reg: at(day),
  date_reg_known: 1,
  released_at: null,
  deleted_after: null,
  past_drops: 0,
  ...more,
})
const free = (registeredOn: number, after: number, deletedOn: number, more: Partial<Facts> = {}): Facts =>
  bought(registeredOn, { status: 0, deleted_after: at(after), released_at: at(deletedOn), ...more })

const source = (more: Partial<SourceState> = {}): SourceState => ({
  listed_at: NOW - HOUR,
  digest: 'a',
  complete_at: NOW - HOUR,
  names: 100,
  ...more,
})
const list = (more: object = {}) => ({ at: NOW, digest: 'b', isForced: false, ...more })

test('a list that is not later, or the same, changes nothing; a time in the future does not count', () => {
  assert.equal(skipReason(source(), list(), NOW), undefined)
  assert.equal(skipReason(source(), list({ at: NOW - HOUR }), NOW), 'older')
  assert.equal(skipReason(source(), list({ digest: 'a' }), NOW), 'identical')
  assert.equal(skipReason(source({ listed_at: null, digest: null }), list(), NOW), undefined)
  assert.equal(skipReason(source({ listed_at: NOW + 1 }), list({ digest: 'a' }), NOW), undefined)
  assert.equal(lastComplete(source({ complete_at: NOW + 1 }), NOW), null)
  assert.equal(lastComplete(source(), NOW), NOW - HOUR)
})

test('the same list is taken again if it was incomplete and is forced', () => {
  const incomplete = source({ complete_at: NOW - DAY })
  assert.equal(skipReason(incomplete, list({ digest: 'a' }), NOW), 'identical')
  assert.equal(skipReason(incomplete, list({ digest: 'a', isForced: true }), NOW), undefined)
  assert.equal(skipReason(source(), list({ digest: 'a', isForced: true }), NOW), 'identical')
})

test('a bought name was deleted if its registration is before the deletion', () => {
  const facts = deleted(bought(1), at(3), at(10))
  assert.deepEqual(facts, free(1, 3, 10))
  assert.equal(facts && newsIn(bought(1), facts), 'freed')
})

test('a name registered at the earliest time of a deletion or later stays bought, and its history gains the deletion once', () => {
  for (const day of [3, 5]) {
    const facts = deleted(bought(day), at(3), at(10))
    assert.deepEqual(facts, bought(day, { released_at: at(10), deleted_after: at(3) }))
    assert.equal(newsIn(bought(day), facts), 'earlier')
    assert.equal(deleted(facts, at(3), at(11)), undefined)
    assert.equal(deleted(facts, at(2), at(11)), undefined)
  }
})

test('a free name was deleted again if that was at the last deletion or later', () => {
  assert.equal(deleted(free(1, 3, 10), at(10, '11:59:59'), at(12)), undefined)
  const facts = deleted(free(1, 3, 10), at(10), at(12))
  assert.deepEqual(facts, free(1, 10, 12, { past_drops: 1 }))
  assert.equal(newsIn(free(1, 3, 10), facts), 'freed')
  assert.deepEqual(
    deleted(free(10, 3, 10, { date_reg_known: 0 }), at(10), at(12)),
    free(12, 10, 12, { date_reg_known: 0, past_drops: 1 }),
  )
})

test('a registration at the earliest time of the deletion or later makes a free name bought, also with the date it has', () => {
  const again = { past_drops: 1, released_at: at(10), deleted_after: at(3) }
  assert.deepEqual(registered(free(1, 3, 10), on(3), undefined), bought(3, again))
  assert.deepEqual(registered(free(3, 3, 10), on(3), undefined), bought(3, again))
  assert.equal(registered(free(1, 3, 10), on(2), undefined), undefined)
  // A later list has shown that it was deleted even later.
  assert.equal(registered(free(1, 3, 10), on(4), at(5)), undefined)
  assert.deepEqual(registered(free(1, 3, 10), on(5), at(5)), bought(5, again))
})

test('an earlier registration fills in an unknown one', () => {
  const unknown = free(10, 3, 10, { date_reg_known: 0 })
  const facts = registered(unknown, on(2), undefined)
  assert.deepEqual(facts, free(2, 3, 10))
  assert.equal(facts && newsIn(unknown, facts), 'dated')
  assert.deepEqual(registered(bought(10, { date_reg_known: 0 }), on(2), undefined), bought(2))
})

test('a bought name takes a newer registration; a date without a time is the same as any of its day', () => {
  assert.deepEqual(registered(undefined, on(2), undefined), bought(2))
  assert.deepEqual(registered(bought(1), on(2), undefined), bought(2))
  assert.equal(registered(bought(2), on(2), undefined), undefined)
  assert.equal(registered(bought(3), on(2), undefined), undefined)
  const day = (number: number) => ({ from: at(number, '00:00:00'), to: at(number, '23:59:59') })
  assert.equal(registered(bought(2), day(2), undefined), undefined)
  assert.deepEqual(registered(bought(2), day(3), undefined), { ...bought(3), date_reg: at(3, '23:59:59') })
  assert.equal(registered(free(2, 2, 2), day(2), undefined)?.status, 1)
})

test('if the time of a deletion is unknown, only a newer registration decides, or any that repairs', () => {
  const undated = free(2, 3, 10, { deleted_after: null })
  assert.equal(registered(undated, on(2), undefined), undefined)
  assert.equal(registered(undated, on(3), undefined)?.status, 1)
  const again = { released_at: at(10), past_drops: 1 }
  assert.deepEqual(repaired(undated, on(2), undefined), bought(2, again))
  assert.deepEqual(repaired(undated, on(1), undefined), bought(1, again))
  assert.equal(repaired(undated, on(2), at(3)), undefined)
  assert.equal(repaired(free(2, 3, 10), on(4), undefined), undefined)
  assert.equal(repaired(bought(2), on(4), undefined), undefined)
})

test('a status that a member states stands until the name is deleted again', () => {
  const stated = bought(1, { released_at: at(10), deleted_after: at(10), past_drops: 1 })
  assert.equal(deleted(stated, at(9), at(15)), undefined)
  assert.deepEqual(deleted(stated, at(10), at(15)), free(1, 10, 15, { past_drops: 1 }))
  // Its registration is unknown: any later deletion ends it.
  const unknown = { ...stated, date_reg: at(10), date_reg_known: 0 } as const
  assert.equal(deleted(unknown, at(10), at(15))?.status, 0)
})

test('a dismissed name returns with a newer fact only', () => {
  const dismissed = bought(5)
  const news = (facts: Facts | undefined, known: Facts = dismissed) =>
    facts && endsDismissal(newsIn(known, facts))
  assert.equal(news(registered(dismissed, on(5), undefined)), undefined)
  assert.equal(news(registered(dismissed, on(6), undefined)), true)
  assert.equal(news(deleted(dismissed, at(4), at(10))), false)
  assert.equal(news(deleted(dismissed, at(6), at(10))), true)
  const gone = free(10, 3, 10, { date_reg_known: 0 })
  assert.equal(news(deleted(gone, at(9), at(12)), gone), undefined)
  assert.equal(news(deleted(gone, at(10), at(12)), gone), true)
  assert.equal(news(registered(gone, on(2), undefined), gone), false)
  assert.equal(news(registered(gone, on(4), undefined), gone), true)
})

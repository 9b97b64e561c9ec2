import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import {
  toEpoch,
  isCalendarDateTime,
  isTimeZone,
  localDateTime,
  localLowerBound,
  nextLocalTime,
} from './dates.ts'

const two = (value: number) => String(value).padStart(2, '0')

test('agrees with Date on any day and second, valid or not', () => {
  const near = fc.tuple(
    fc.integer({ min: 0, max: 9999 }),
    fc.nat(14),
    fc.nat(33),
    fc.nat(25),
    fc.nat(61),
    fc.nat(61),
  )
  fc.assert(
    fc.property(near, ([year, month, day, hour, minute, second]) => {
      const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
      const time = `${two(hour)}:${two(minute)}:${two(second)}`
      const parsed = new Date(`${date}T${time}Z`)
      const real = !Number.isNaN(parsed.getTime()) && parsed.toISOString() === `${date}T${time}.000Z`
      assert.equal(isCalendarDateTime(`${date} ${time}`), real && year > 0)
    }),
    { numRuns: 5000 },
  )
})

test('any other text is rejected, without an exception', () => {
  const almost = fc.string({ unit: fc.constantFrom(...'0123456789-: T'), minLength: 19, maxLength: 19 })
  fc.assert(
    fc.property(fc.oneof(almost, fc.string({ unit: anyCharacter })), (text) => {
      if (isCalendarDateTime(text)) assert.match(text, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    }),
  )
})

test('local time in Santiago across both clock changes', () => {
  const at = (iso: string) => localDateTime(Date.parse(iso), 'America/Santiago')
  assert.equal(at('2024-04-07T02:59:59Z'), '2024-04-06 23:59:59')
  assert.equal(at('2024-04-07T03:00:00Z'), '2024-04-06 23:00:00', 'back to winter time: an hour twice')
  assert.equal(at('2024-09-08T03:59:59Z'), '2024-09-07 23:59:59')
  assert.equal(
    at('2024-09-08T04:00:00Z'),
    '2024-09-08 01:00:00',
    'on to summer time: midnight does not exist',
  )
  assert.equal(at('2025-01-01T03:00:00.999Z'), '2025-01-01 00:00:00', 'midnight is 00, not 24')
})

const instant = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('2400-01-01T00:00:00Z'),
  noInvalidDate: true,
})

test('a local time and its offset give the same instant, in any zone', () => {
  const zones = ['America/Santiago', 'Pacific/Easter', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'UTC']
  fc.assert(
    fc.property(instant, fc.constantFrom(...zones), (date, timeZone) => {
      const local = localDateTime(date.getTime(), timeZone)
      assert.equal(isCalendarDateTime(local), true, local)
      const named = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(
        date,
      )
      const offset = named.find((part) => part.type === 'timeZoneName')?.value.slice(3) ?? ''
      // None of these zones has had an offset with odd seconds since 1970.
      const back = Date.parse(`${local.replace(' ', 'T')}${offset === '' ? 'Z' : offset}`)
      assert.equal(back, Math.floor(date.getTime() / 1000) * 1000)
    }),
  )
})

test('time zone names are recognised', () => {
  for (const zone of ['America/Santiago', 'UTC', 'Etc/GMT+3', 'Pacific/Easter'])
    assert.ok(isTimeZone(zone), zone)
  for (const zone of ['', 'America/Nowhere', 'Santiago', '-03:00', '+3', ' UTC', 'UTC ', 'C:/x']) {
    assert.equal(isTimeZone(zone), false, zone)
  }
})

test('toEpoch reverses localDateTime, also near clock changes', () => {
  const moment = fc.integer({ min: Date.parse('1975-01-01') / 1000, max: Date.parse('2040-01-01') / 1000 })
  const zone = fc.constantFrom('America/Santiago', 'Pacific/Easter', 'Europe/Madrid', 'UTC', 'Asia/Kolkata')
  fc.assert(
    fc.property(moment, zone, (second, timeZone) => {
      const text = localDateTime(second * 1000, timeZone)
      const epoch = toEpoch(text, timeZone)
      assert.equal(localDateTime(epoch, timeZone), text)
      // An hour that occurs twice, when clocks go back, is read as the first one.
      assert.ok(epoch === second * 1000 || epoch === (second - 3_600) * 1000)
    }),
  )
  // Chile set its clocks back at midnight on 5 April 2026, and forward on 6 September.
  assert.equal(toEpoch('2026-04-04 23:30:00', 'America/Santiago'), Date.parse('2026-04-05T02:30:00Z'))
  assert.equal(toEpoch('2026-04-05 00:00:00', 'America/Santiago'), Date.parse('2026-04-05T04:00:00Z'))
  assert.equal(toEpoch('2026-09-06 00:30:00', 'America/Santiago'), Date.parse('2026-09-06T04:30:00Z'))
  assert.equal(toEpoch('2026-09-06 01:00:00', 'America/Santiago'), Date.parse('2026-09-06T04:00:00Z'))
})

test('the next time of day, also when clocks in Chile change', () => {
  const next = (after: string, time: string) =>
    new Date(nextLocalTime(Date.parse(after), time, 'America/Santiago')).toISOString()
  assert.equal(next('2026-01-10T11:59:59Z', '09:00'), '2026-01-10T12:00:00.000Z')
  assert.equal(next('2026-01-10T12:00:00Z', '09:00'), '2026-01-11T12:00:00.000Z')
  // 23:00 to 24:00 comes twice on 4 April 2026.
  assert.equal(next('2026-04-04T12:00:00Z', '23:30'), '2026-04-05T02:30:00.000Z')
  assert.equal(next('2026-04-05T02:30:00Z', '23:30'), '2026-04-06T03:30:00.000Z')
  assert.equal(next('2026-04-05T03:10:00Z', '23:30'), '2026-04-06T03:30:00.000Z')
  // 00:00 to 01:00 is skipped on 6 September 2026.
  assert.equal(next('2026-09-05T12:00:00Z', '00:30'), '2026-09-06T04:30:00.000Z')
  assert.equal(next('2026-09-06T04:30:00Z', '00:30'), '2026-09-07T03:30:00.000Z')
})

test('the next time of day is right in the zone, and at most a day and an hour later', () => {
  const zones = ['America/Santiago', 'Pacific/Easter', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC']
  const instant = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) })
  fc.assert(
    fc.property(instant, fc.nat(1_439), fc.constantFrom(...zones), (after, minute, zone) => {
      const time = `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
      const found = nextLocalTime(after, time, zone)
      assert.ok(found > after && found <= after + 25 * 60 * 60 * 1000 + 3_600_000)
      const shown = localDateTime(found, zone).slice(11, 16)
      const isSkipped = localDateTime(found - 3_600_000, zone).slice(11, 16) !== shown && shown !== time
      assert.ok(shown === time || isSkipped)
    }),
  )
})

test('of a repeated time either can be meant', () => {
  const [first, last] = [Date.parse('2026-04-05T02:30:00Z'), Date.parse('2026-04-05T03:30:00Z')]
  assert.equal(toEpoch('2026-04-04 23:30:00', 'America/Santiago', 'last'), last)
  assert.equal(toEpoch('2026-04-04 22:30:00', 'America/Santiago', 'last'), first - 3_600_000)
  assert.equal(toEpoch('2026-04-05 00:30:00', 'America/Santiago', 'last'), last + 3_600_000)
})

test('no clock shows a time before the lower bound of an earlier moment', () => {
  const zone = 'America/Santiago'
  const bound = (time: string) => localLowerBound(Date.parse(time), zone)
  assert.equal(bound('2026-01-15T12:00:00.999Z'), '2026-01-15 09:00:00')
  // From 24:00 the clocks are set back to 23:00.
  assert.equal(bound('2026-04-05T02:30:00Z'), '2026-04-04 22:30:00')
  assert.equal(bound('2026-04-05T03:30:00Z'), '2026-04-04 23:30:00')
  const change = Date.parse('2026-04-05T03:00:00Z')
  const moment = fc.integer({ min: change - 7_200_000, max: change + 7_200_000 })
  fc.assert(
    fc.property(moment, moment, (a, b) => {
      const [earlier, later] = [Math.min(a, b), Math.max(a, b)]
      assert.ok(localLowerBound(earlier, zone) <= localDateTime(later, zone))
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts'

test('sizes and durations are read in their units, and plain numbers in the given one', () => {
  const sizes = ['0', '20MiB', '1GiB', '512', '7B', '3TiB'].map((text) => parseSize(text, 'KiB'))
  assert.deepEqual(sizes, [0, 20_971_520, 2 ** 30, 524_288, 7, 3 * 2 ** 40])
  const durations = ['0', '90d', '30m', '12h', '45s', '2'].map((text) => parseDuration(text, 'd'))
  assert.deepEqual(durations, [0, 7_776_000_000, 1_800_000, 43_200_000, 45_000, 172_800_000])
  for (const text of ['', '-1', '1.5h', '20mib', '20 MiB', 'MiB', '1w', 'toString', '1toString'])
    assert.deepEqual([parseSize(text, 'B'), parseDuration(text, 's')], [undefined, undefined], text)
})

test('they are written in the largest unit that makes a whole number', () => {
  assert.deepEqual([0, 1, 1_536, 2 ** 20, 5 * 2 ** 30].map(formatSize), ['0B', '1B', '1536B', '1MiB', '5GiB'])
  const hour = 3_600_000
  assert.deepEqual([0, 1_000, 90_000, hour, 36 * hour, 48 * hour].map(formatDuration), [
    '0s',
    '1s',
    '90s',
    '1h',
    '36h',
    '2d',
  ])
})

/** Loaded into a service before its own modules: its clock shows what a test wrote into a file. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/lib/clock.ts'

const path = process.env['TEST_CLOCK_FILE'] ?? ''
let last = 0

function now(): number {
  const text = readFileSync(path, 'utf8')
  // Writing begins with an empty file, which would be a clock set back to 1970.
  if (text !== '') last = Number(text)
  return last
}

Object.assign(systemClock, { now })

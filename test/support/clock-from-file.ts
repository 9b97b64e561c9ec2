/** Loaded into a service before its own modules: its clock shows what a test wrote into a file. */
import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/lib/clock.ts'

const path = process.env['TEST_CLOCK_FILE'] ?? ''
Object.assign(systemClock, { now: () => Number(readFileSync(path, 'utf8')) })

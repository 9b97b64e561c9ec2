import type { Plan } from './plan.ts'

/** Named sets of modifiers; a token beside one takes precedence over what it sets. */
export type Presets = ReadonlyMap<string, Partial<Plan>>

const square = (side: number): Partial<Plan> => ({ width: side, height: side, fit: 'fill' })
const within = (side: number): Partial<Plan> => ({ width: side, height: side })

export const usualPresets: Presets = new Map<string, Partial<Plan>>([
  ['s', square(90)],
  ['b', square(160)],
  ['t', within(160)],
  ['thumb', within(160)],
  ['m', within(320)],
  ['l', within(640)],
  ['h', within(1024)],
])

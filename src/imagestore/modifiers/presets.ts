import type { Plan } from './plan.ts'

const square = (side: number): Partial<Plan> => ({ width: side, height: side, fit: 'fill' })
const within = (side: number): Partial<Plan> => ({ width: side, height: side })

/** Named sets of modifiers; a token beside one takes precedence over what it sets. */
const presets = new Map<string, Partial<Plan>>([
  ['s', square(90)],
  ['b', square(160)],
  ['t', within(160)],
  ['thumb', within(160)],
  ['m', within(320)],
  ['l', within(640)],
  ['h', within(1024)],
])

export const preset = (name: string): Partial<Plan> | undefined => presets.get(name)

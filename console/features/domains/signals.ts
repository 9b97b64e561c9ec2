import { count } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { objectionDays } from './tags.tsx'

export const SIGNAL_IDS = [
  'shape',
  'syllables',
  'demand',
  'twins',
  'drops',
  'age',
  'objection',
  'numbers',
] as const
export type SignalId = (typeof SIGNAL_IDS)[number]

const figure = (n: number | null | undefined): string => (typeof n === 'number' ? count(n) : '')

/** The signals of a record as text; empty if it has none. */
export const SIGNALS: Readonly<Record<SignalId, (record: DomainRecord) => string>> = {
  shape: ({ shape = '' }) => shape,
  syllables: ({ syllables }) => figure(syllables),
  demand: ({ demand }) => figure(demand),
  twins: ({ twins = [] }) => twins.map((name) => `${name}.cl`).join(', '),
  drops: ({ drops }) => figure(drops),
  age: ({ age }) => figure(age),
  objection: (record) => figure(objectionDays(record)),
  numbers: ({ numbers = {} }) =>
    Object.entries(numbers)
      .map(([key, n]) => `${key} ${count(n)}`)
      .join(' · '),
}

import {
  deletionBounds,
  numberBounds,
  registrationBounds,
  parseTimestamp,
  wholeYears,
  type Candidates,
  type Segment,
} from '../lib/name-index/index.ts'
import { hasShape } from '../lib/domain-names.ts'
import { integer } from '../http/parameters.ts'
import { filter, lengthIs, traitIs, type Condition, type Filter } from './filter-kinds.ts'
import { BOUGHT, DATED, getAge, canObject, objectionsSince, splitTags } from './filtered-record.ts'
import { MAX_AGE, MAX_DEMAND, MAX_LABEL_CHARACTERS } from './limits.ts'
import {
  isWithin,
  NUMBER_BOUNDS,
  parseDecimal,
  parseNumbers,
  TAKES_DECIMAL,
  toBound,
  type NumberBound,
} from './numbers.ts'

const TAKES_SHAPE = `debe ser un texto de 1 a ${MAX_LABEL_CHARACTERS} letras C, V, L, N o H`

/** Filters names of a shape, which has a letter per character. */
export function shapeFilter(description: string): Filter<string, string> {
  return {
    parameter: {
      required: false,
      description,
      schema: { type: 'string', minLength: 1, maxLength: MAX_LABEL_CHARACTERS, examples: ['CVCV'] },
      parse: (given) => {
        const value = given.toUpperCase()
        const isShape = value.length <= MAX_LABEL_CHARACTERS && /^[CVLNH]+$/.test(value)
        return isShape ? { value } : { takes: TAKES_SHAPE }
      },
    },
    read: (given) => given,
    conditions: (shape) => [
      lengthIs(shape.length, shape.length),
      { matches: ({ name }) => hasShape(name, shape) },
    ],
  }
}

/** Filters by the whole years between registration and deletion, or now. */
export function ageAtLeastFilter(description: string): Filter<number, number> {
  const isAtLeast = (years: number): Condition => ({
    matches: (record, { localNow }) => (getAge(record, localNow) ?? 0) >= years,
    index({ localNow }) {
      const now = parseTimestamp(localNow)
      const test = (segment: Segment, position: number) => {
        const deleted = segment.deletedAt(position)
        const end = Number.isNaN(deleted) ? now : deleted
        return wholeYears(segment.columns.registered[position] ?? NaN, end) >= years
      }
      // The age of the oldest registration of a block, at the last deletion, is at least that of any of its records.
      const candidates: Candidates = ({ columns }) => {
        const [registered, deleted] = [registrationBounds(columns), deletionBounds(columns)]
        return (block) =>
          wholeYears(registered.smallest(block), Math.max(now, deleted.largest(block))) >= years ? -1 : 0
      }
      return { kind: 'record', test, candidates }
    },
  })
  return {
    ...filter(integer(description, 1, MAX_AGE), isAtLeast),
    conditions: (years) => [traitIs(DATED, 1), isAtLeast(years)],
  }
}

/** Filters names by the smallest number of bought records with one of their words. */
export function demandFilter(description: string): Filter<number, number> {
  return filter(integer(description, 1, MAX_DEMAND), (wanted) => ({
    matches: ({ words }, context) => (context.getDemand(splitTags(words)) ?? 0) >= wanted,
    index: (context) => ({
      kind: 'record',
      test: (segment, position) => (context.getDemand(segment.toWords(position)) ?? 0) >= wanted,
      candidates: context.inDemand(wanted),
    }),
  }))
}

export function twinFilter(description: string): Filter<number, number> {
  return filter(integer(description, 0, 1), (wanted) => ({
    matches: ({ name }, context) => context.hasBoughtTwin(Buffer.from(name, 'latin1')) === (wanted === 1),
    index: (context) => ({
      kind: 'record',
      test: (segment, position) => context.hasBoughtTwin(segment.nameOf(position)) === (wanted === 1),
    }),
  }))
}

/** Filters names by their imported numbers. Its parameters are named after the keys of these. */
export function numbersFilter(
  description: string,
): Filter<Readonly<Record<string, number>>, readonly NumberBound[]> {
  return {
    parameter: {
      required: false,
      description,
      names: NUMBER_BOUNDS,
      schema: {
        type: 'object',
        patternProperties: { [NUMBER_BOUNDS.source]: { type: 'number' } },
        additionalProperties: false,
      },
      parse: (given, name = '') => {
        const bound = parseDecimal(given)
        return bound === undefined ? { takes: TAKES_DECIMAL } : { value: { [name]: bound } }
      },
    },
    read: (given) => Object.entries(given).map(([name, bound]) => toBound(name, bound)),
    conditions: (bounds) =>
      bounds.map((bound) => ({
        matches: ({ numbers }) => isWithin(bound, parseNumbers(numbers).get(bound.key)),
        index: {
          kind: 'record',
          test: (segment, position) => isWithin(bound, segment.importedNumber(bound.key, position)),
          candidates: ({ columns }) => {
            const bounds = numberBounds(columns, bound.key)
            return (block) =>
              isWithin(bound, bound.isMin ? bounds.largest(block) : bounds.smallest(block)) ? -1 : 0
          },
        },
      })),
  }
}

/** Filters names to whose registration one can object, or not. */
export function objectionFilter(description: string): Filter<number, number> {
  const isRecent: Condition = {
    matches: ({ date_reg }, { localNow }) => date_reg >= objectionsSince(localNow),
    index: ({ localNow }) => ({ kind: 'date', of: 'registered', from: objectionsSince(localNow) }),
  }
  const cannot: Condition = {
    matches: (record, { localNow }) => !canObject(record, objectionsSince(localNow)),
  }
  return {
    parameter: integer(description, 0, 1),
    read: (given) => given,
    conditions: (wanted) => (wanted === 1 ? [traitIs(BOUGHT, 1), traitIs(DATED, 1), isRecent] : [cannot]),
  }
}

import { isCalendarDateTime } from '../lib/dates.ts'
import { jsonTypeOf } from '../lib/json-type.ts'
import { DISPLAY_NAME_TAKES, isDisplayName } from '../lib/free-text.ts'
import { parseLabel } from '../lib/domain-names.ts'
import { hasAtMostCharacters, isStorable } from '../lib/text.ts'

/** A bad record of a batch: its index, its first bad field, and what is wrong with it. */
export interface RecordFault {
  readonly index: number
  readonly field: string
  readonly msg: string
}

/** A record's columns in the order of the statement that stores it. */
export type Row = readonly (string | number | null)[]

export type ReadRecord =
  | { readonly ok: true; readonly name: string; readonly row: Row }
  | { readonly ok: false; readonly field: string; readonly msg: string }

const MAX_AGENT_LENGTH = 100

/** Bad records of a batch that an answer lists. */
export const MAX_FAULTS = 100

export const countOfFaults = (count: number) =>
  count === 1 ? 'Hay 1 registro con errores' : `Hay ${count} registros con errores`

/**
 * Checks a record of `add`.
 * The row: name, A-label form (null if it is the name), length, agent, folded agent (null if none is given), status,
 * reserved, date_reg.
 */
export function readNewRecord(record: unknown): ReadRecord {
  const read = readRecord(record)
  const agent = read.ok ? read.row[AGENT_COLUMN] : null
  return typeof agent === 'string' && !isDisplayName(agent) ? bad('agent', agent, TAKES_DISPLAY_NAME) : read
}

const AGENT_COLUMN = 3

/** Does not check that the agent is a display name: agents were stored before they had to be. */
function readRecord(record: unknown): ReadRecord {
  if (!isObject(record)) return notAnObject(record)
  const { domain, length, reserve, status, date_reg, agent } = record
  const label = typeof domain === 'string' ? parseLabel(domain) : undefined
  if (label?.ok !== true) return bad('domain', domain, TAKES_NAME, 'text')
  if (length !== label.name.length) return bad('length', length, takesLength(label.name), 'number')
  if (!isBit(reserve)) return bad('reserve', reserve, TAKES_BIT, 'bit')
  if (!isBit(status)) return bad('status', status, TAKES_BIT, 'bit')
  if (typeof date_reg !== 'string' || !isCalendarDateTime(date_reg))
    return bad('date_reg', date_reg, TAKES_DATE, 'text')
  if (agent !== undefined && !isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  const ascii = label.ascii === label.name ? null : label.ascii
  return {
    ok: true,
    name: label.name,
    row: [label.name, ascii, length, agent ?? null, agent?.toLowerCase() ?? null, status, reserve, date_reg],
  }
}

/**
 * Checks a record of `update`.
 * The row: name, revision, discarded, reserved, status, agent, folded agent; null if absent.
 */
export function readMarks(record: unknown): ReadRecord {
  if (!isObject(record)) return notAnObject(record)
  const { domain, revision, discarded, reserve, status, agent } = record
  const label = typeof domain === 'string' ? parseLabel(domain) : undefined
  if (label?.ok !== true) return bad('domain', domain, TAKES_NAME, 'text')
  if (!isOptionalBit(revision)) return bad('revision', revision, TAKES_BIT, 'bit')
  if (!isOptionalBit(discarded)) return bad('discarded', discarded, TAKES_BIT, 'bit')
  if (!isOptionalBit(reserve)) return bad('reserve', reserve, TAKES_BIT, 'bit')
  if (!isOptionalBit(status)) return bad('status', status, TAKES_BIT, 'bit')
  if (agent !== undefined && !isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  if (agent !== undefined && !isDisplayName(agent)) return bad('agent', agent, TAKES_DISPLAY_NAME)
  const marks = [revision ?? null, discarded ?? null, reserve ?? null, status ?? null]
  return {
    ok: true,
    name: label.name,
    row: [label.name, ...marks, agent ?? null, agent?.toLowerCase() ?? null],
  }
}

/**
 * Checks a record of an export: the fields that `list` shows, and what is needed to import it in the same state.
 * The row: name, A-label form, length, agent, folded agent, status, reserved, revision, time of discarding, date_reg,
 * date_mod, time of deletion if that is not date_reg.
 */
export function readExportedRecord(record: unknown): ReadRecord {
  if (!isObject(record)) return notAnObject(record)
  const { name, agent, revision, discarded, discarded_at, date_mod, deleted_at } = record
  const read = readRecord({ ...record, domain: name, reserve: record['reserved'] })
  if (!read.ok) return { ...read, field: EXPORTED_NAMES[read.field] ?? read.field }
  const [bare = '', ascii = null, length = 0, , , status = 0, reserved = 0, dateReg = ''] = read.row
  if (!isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  if (!isBit(revision)) return bad('revision', revision, TAKES_BIT, 'bit')
  if (!isBit(discarded)) return bad('discarded', discarded, TAKES_BIT, 'bit')
  const discardedAt = typeof discarded_at === 'string' ? parseInstant(discarded_at) : null
  if (discardedAt === undefined || (discardedAt === null) !== (discarded === 0)) {
    return bad('discarded_at', discarded_at ?? null, TAKES_INSTANT)
  }
  if (typeof date_mod !== 'string' || !isCalendarDateTime(date_mod))
    return bad('date_mod', date_mod, TAKES_DATE, 'text')
  const isDeleted = typeof deleted_at === 'string' && isCalendarDateTime(deleted_at)
  if (isDeleted !== (status === 0)) return bad('deleted_at', deleted_at ?? null, TAKES_DELETION)
  const releasedAt = isDeleted && deleted_at !== dateReg ? deleted_at : null
  const marks = [status, reserved, revision, discardedAt]
  return {
    ok: true,
    name: read.name,
    row: [bare, ascii, length, agent, agent.toLowerCase(), ...marks, dateReg, date_mod, releasedAt],
  }
}

/** The names that exports have for fields of `add`. */
const EXPORTED_NAMES: Readonly<Record<string, string>> = { domain: 'name', reserve: 'reserved' }

/** Milliseconds since 1970. */
function parseInstant(text: string): number | undefined {
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(instant) ? undefined : instant
}

const TAKES_INSTANT =
  'debe ser el momento de descartarlo (2025-12-31T17:30:34.000Z) si discarded es 1, y si no, nada'
const TAKES_DELETION = 'debe ser una fecha y hora (YYYY-MM-DD HH:MM:SS) si status es 0, y si no, nada'
const TAKES_NAME = 'debe ser un nombre de dominio .cl válido, sin el sufijo'
const TAKES_BIT = 'debe ser 0 o 1'
const TAKES_DATE = 'debe ser una fecha y hora real con el formato YYYY-MM-DD HH:MM:SS'
const TAKES_AGENT = `debe ser un texto de 1 a ${MAX_AGENT_LENGTH} caracteres`
const TAKES_DISPLAY_NAME = `${TAKES_AGENT}, ${DISPLAY_NAME_TAKES}`
const takesLength = (name: string) => `debe ser el número de caracteres de «${name}», ${name.length}`

const notAnObject = (value: unknown): ReadRecord => ({
  ok: false,
  field: '',
  msg:
    value === undefined
      ? 'El registro debe ser un objeto'
      : `El registro debe ser un objeto, no ${jsonTypeOf(value)}`,
})

const TYPES = {
  text: { type: 'string', name: 'un texto' },
  number: { type: 'number', name: 'un número' },
  bit: { type: 'number', name: 'un número (0 o 1)' },
} as const

/**
 * @param takes which values the field accepts
 * @param expected their type, which the message names if the value has another one
 */
function bad(field: string, value: unknown, takes: string, expected?: keyof typeof TYPES): ReadRecord {
  if (value === undefined) return { ok: false, field, msg: `Falta el campo ${field}` }
  const wrong =
    expected !== undefined && typeof value !== TYPES[expected].type ? TYPES[expected].name : undefined
  const fault = wrong === undefined ? takes : `debe ser ${wrong}, no ${jsonTypeOf(value)}`
  return { ok: false, field, msg: `El campo ${field} ${fault}` }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isBit(value: unknown): value is 0 | 1 {
  return value === 0 || value === 1
}

function isOptionalBit(value: unknown): value is 0 | 1 | undefined {
  return value === undefined || isBit(value)
}

function isAgent(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    hasAtMostCharacters(value, MAX_AGENT_LENGTH) &&
    isStorable(value)
  )
}

import { isCalendarDateTime } from '../lib/dates.ts'
import { jsonTypeOf } from '../lib/json-type.ts'
import { DISPLAY_NAME_TAKES, isDisplayName } from '../lib/free-text.ts'
import { parseLabel } from '../lib/domain-names.ts'
import { hasAtMostCharacters, isStorable } from '../lib/text.ts'
import type { RowOf } from '../storage/database/batch.ts'
import type { markDomains, recordDomains, restoreDomains } from './queries-batches.ts'

/** A bad record of a batch: its position, its first bad field, and what is wrong with it. */
export interface RecordFault {
  readonly index: number
  readonly field: string
  readonly msg: string
}

/** A record to store: a name that is valid, its A-label form (null if it is the name itself), and so on. */
export type NewDomain = RowOf<typeof recordDomains> & { readonly name: string }
/** Marks to set; null leaves a mark as it is. */
export type DomainMarks = RowOf<typeof markDomains> & { readonly name: string }
export type ExportedDomain = RowOf<typeof restoreDomains> & { readonly name: string }

interface BadRecord {
  readonly ok: false
  readonly field: string
  readonly msg: string
}
export type ReadRecord<Row> = { readonly ok: true; readonly row: Row } | BadRecord

const MAX_AGENT_LENGTH = 100

/** Bad records of a batch that an answer lists; all are counted. */
export const MAX_FAULTS = 100

export const countOfFaults = (count: number) =>
  count === 1 ? 'Hay 1 registro con errores' : `Hay ${count} registros con errores`

/** Checks one record of `add`. */
export function readNewRecord(record: unknown): ReadRecord<NewDomain> {
  const read = readRecord(record)
  if (!read.ok || read.row.agent === null || isDisplayName(read.row.agent)) return read
  return bad('agent', read.row.agent, TAKES_DISPLAY_NAME)
}

/** Any agent is valid here: agents stored before they had to be display names are restored as they were. */
function readRecord(record: unknown): ReadRecord<NewDomain> {
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
  return {
    ok: true,
    row: {
      name: label.name,
      ascii: label.ascii === label.name ? null : label.ascii,
      length,
      agent: agent ?? null,
      agent_folded: agent?.toLowerCase() ?? null,
      status,
      reserved: reserve,
      date_reg,
    },
  }
}

/** Checks one record of `update`. */
export function readMarks(record: unknown): ReadRecord<DomainMarks> {
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
  return {
    ok: true,
    row: {
      name: label.name,
      revision: revision ?? null,
      discarded: discarded ?? null,
      reserved: reserve ?? null,
      status: status ?? null,
      agent: agent ?? null,
      agent_folded: agent?.toLowerCase() ?? null,
    },
  }
}

/** Checks one record of an export: the fields of `list`, and those needed to restore its state. */
export function readExportedRecord(record: unknown): ReadRecord<ExportedDomain> {
  if (!isObject(record)) return notAnObject(record)
  const { name, agent, revision, discarded, discarded_at, date_mod, deleted_at } = record
  const read = readRecord({ ...record, domain: name, reserve: record['reserved'] })
  if (!read.ok) return { ...read, field: OWN_NAMES[read.field] ?? read.field }
  const { status, date_reg } = read.row
  if (!isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  if (!isBit(revision)) return bad('revision', revision, TAKES_BIT, 'bit')
  if (!isBit(discarded)) return bad('discarded', discarded, TAKES_BIT, 'bit')
  const discardedAt = typeof discarded_at === 'string' ? momentOf(discarded_at) : null
  if (discardedAt === undefined || (discardedAt === null) !== (discarded === 0)) {
    return bad('discarded_at', discarded_at ?? null, TAKES_MOMENT)
  }
  if (typeof date_mod !== 'string' || !isCalendarDateTime(date_mod))
    return bad('date_mod', date_mod, TAKES_DATE, 'text')
  const isDeleted = typeof deleted_at === 'string' && isCalendarDateTime(deleted_at)
  if (isDeleted !== (status === 0)) return bad('deleted_at', deleted_at ?? null, TAKES_DELETION)
  return {
    ok: true,
    row: {
      ...read.row,
      agent,
      agent_folded: agent.toLowerCase(),
      revision,
      discarded_at: discardedAt,
      date_mod,
      released_at: isDeleted && deleted_at !== date_reg ? deleted_at : null,
      seen_at: null,
      seen_by: null,
      note: null,
      tags: null,
    },
  }
}

/** Names of `add`'s fields in `list`. */
const OWN_NAMES: Readonly<Record<string, string>> = { domain: 'name', reserve: 'reserved' }

/** Returns milliseconds since 1970. */
function momentOf(text: string): number | undefined {
  const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(moment) ? undefined : moment
}

const TAKES_MOMENT =
  'debe ser el momento de descartarlo (2025-12-31T17:30:34.000Z) si discarded es 1, y si no, nada'
const TAKES_DELETION = 'debe ser una fecha y hora (YYYY-MM-DD HH:MM:SS) si status es 0, y si no, nada'
const TAKES_NAME = 'debe ser un nombre de dominio .cl válido, sin el sufijo'
const TAKES_BIT = 'debe ser 0 o 1'
const TAKES_DATE = 'debe ser una fecha y hora real con el formato YYYY-MM-DD HH:MM:SS'
const TAKES_AGENT = `debe ser un texto de 1 a ${MAX_AGENT_LENGTH} caracteres`
const TAKES_DISPLAY_NAME = `${TAKES_AGENT}, ${DISPLAY_NAME_TAKES}`
const takesLength = (name: string) => `debe ser el número de caracteres de «${name}», ${name.length}`

const notAnObject = (value: unknown): BadRecord => ({
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
 * @param takes which values the field takes
 * @param expected their type, which the message names if the value is of another one
 */
function bad(field: string, value: unknown, takes: string, expected?: keyof typeof TYPES): BadRecord {
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

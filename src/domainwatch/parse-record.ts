import { toEpoch, isCalendarDateTime } from '../lib/dates.ts'
import { jsonTypeOf } from '../http/body/parse.ts'
import { isObject } from '../lib/json.ts'
import { parseLabel } from '../lib/domain-names.ts'
import {
  hasAtMostCharacters,
  isStorable,
  DISPLAY_NAME_TAKES,
  isDisplayName,
  isDisplayText,
} from '../lib/text.ts'
import type { RowOf } from '../storage/database/batch.ts'
import { EXPECTABLE_FIELDS, type ExpectableField, type Expected } from './queries-records.ts'
import type { markDomains, recordDomains, restoreDomains } from './queries-batches.ts'
import { foldTag, toColumn, MAX_TAG_CHARACTERS, MAX_TAGS } from './filtered-record.ts'
import type { SplitName } from './words.ts'

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
export type ParsedRecord<Row> = { readonly ok: true; readonly row: Row } | BadRecord

/** A record of `update`: what to store, and what the stored record must be like for that. */
export type ParsedMarks =
  { readonly ok: true; readonly row: DomainMarks; readonly expected: Expected | undefined } | BadRecord

export const MAX_AGENT_LENGTH = 100
export const MAX_NOTE_CHARACTERS = 1_000

/** Bad records of a batch that an answer lists; all are counted. */
export const MAX_FAULTS = 100

/** Checks one record of `add`. */
export function parseNewRecord(record: unknown, split: SplitName): ParsedRecord<NewDomain> {
  const read = readRecord(record, split)
  if (!read.ok || read.row.agent === null || isDisplayName(read.row.agent)) return read
  return bad('agent', read.row.agent, TAKES_DISPLAY_NAME)
}

/** Any agent is valid here: agents and notes stored before they had to be visible are restored as they were. */
function readRecord(record: unknown, split: SplitName): ParsedRecord<NewDomain> {
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
      words: toColumn(split(label.name)),
    },
  }
}

/** A note, tags and the like are not about whether anybody wants the name. */
export const isDecision = ({ seen, revision, discarded, status }: DomainMarks): boolean =>
  [seen, revision, discarded, status].some((mark) => mark !== null)

/** Checks one record of `update`. */
export function parseMarks(record: unknown): ParsedMarks {
  if (!isObject(record)) return notAnObject(record)
  const { domain, revision, discarded, reserve, status, agent, seen, note, tags, expect } = record
  const label = typeof domain === 'string' ? parseLabel(domain) : undefined
  if (label?.ok !== true) return bad('domain', domain, TAKES_NAME, 'text')
  if (!isOptionalBit(revision)) return bad('revision', revision, TAKES_BIT, 'bit')
  if (!isOptionalBit(discarded)) return bad('discarded', discarded, TAKES_BIT, 'bit')
  if (!isOptionalBit(reserve)) return bad('reserve', reserve, TAKES_BIT, 'bit')
  if (!isOptionalBit(status)) return bad('status', status, TAKES_BIT, 'bit')
  if (agent !== undefined && !isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  if (agent !== undefined && !isDisplayName(agent)) return bad('agent', agent, TAKES_DISPLAY_NAME)
  if (!isOptionalBit(seen)) return bad('seen', seen, TAKES_BIT, 'bit')
  if (note !== undefined && !isNote(note)) return bad('note', note, TAKES_NOTE, 'text')
  if (note !== undefined && !isDisplayText(note)) return bad('note', note, TAKES_DISPLAY_TEXT)
  const readTags = tags === undefined ? [] : toTags(tags)
  if (readTags === undefined) return bad('tags', tags, TAKES_TAGS, 'array')
  const expected = expect === undefined ? undefined : readExpected(expect)
  if (expected?.ok === false) return expected
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
      seen: seen ?? null,
      note: note ?? null,
      tags: tags === undefined ? null : (toColumn(readTags) ?? ''),
    },
    expected: expected?.row,
  }
}

/** Rejects unknown fields: a client with a misspelt one would believe that it is protected. */
function readExpected(expect: unknown): ParsedRecord<Expected> {
  if (!isObject(expect)) return bad('expect', expect, TAKES_EXPECTED, 'object')
  const row: Partial<Record<ExpectableField, string | number>> = {}
  for (const [name, value] of Object.entries(expect)) {
    const field = EXPECTABLE_FIELDS.find((one) => one === name)
    if (field === undefined) return bad('expect', expect, TAKES_EXPECTED)
    if (field === 'date_mod') {
      if (typeof value !== 'string' || !isCalendarDateTime(value))
        return bad(`expect.${field}`, value, TAKES_DATE, 'text')
      row[field] = value
    } else {
      if (!isBit(value)) return bad(`expect.${field}`, value, TAKES_BIT, 'bit')
      row[field] = value
    }
  }
  return { ok: true, row }
}

/**
 * Fields that every record of an export has. Others may be missing: versions differ in them, and `discarded_at` and
 * `deleted_at` are only needed where they have a value.
 */
export const REQUIRED_FIELDS_OF_EXPORT = [
  'name',
  'length',
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded',
  'date_reg',
  'date_mod',
] as const

/** Checks one record of an export: the fields of `list`, and those needed to restore its state. */
export function parseExportedRecord(
  record: unknown,
  timeZone: string,
  split: SplitName,
): ParsedRecord<ExportedDomain> {
  if (!isObject(record)) return notAnObject(record)
  const { name, agent, revision, discarded, discarded_at, date_mod, deleted_at, note, tags } = record
  const { date_reg_known: isKnown, deleted_after = null } = record
  const read = readRecord({ ...record, domain: name, reserve: record['reserved'] }, split)
  if (!read.ok) return { ...read, field: OWN_NAMES[read.field] ?? read.field }
  const { status, date_reg } = read.row
  if (!isAgent(agent)) return bad('agent', agent, TAKES_AGENT, 'text')
  if (!isBit(revision)) return bad('revision', revision, TAKES_BIT, 'bit')
  if (!isBit(discarded)) return bad('discarded', discarded, TAKES_BIT, 'bit')
  // Versions before 0.2 wrote it in UTC.
  const discardedAt =
    typeof discarded_at !== 'string'
      ? null
      : isLocalTime(discarded_at)
        ? toEpoch(discarded_at, timeZone)
        : toMoment(discarded_at)
  if (discardedAt === undefined || (discardedAt === null) !== (discarded === 0)) {
    return bad('discarded_at', discarded_at ?? null, TAKES_MOMENT)
  }
  if (typeof date_mod !== 'string' || !isCalendarDateTime(date_mod))
    return bad('date_mod', date_mod, TAKES_DATE, 'text')
  const isDeleted = typeof deleted_at === 'string' && isCalendarDateTime(deleted_at)
  if (isDeleted !== (status === 0)) return bad('deleted_at', deleted_at ?? null, TAKES_DELETION)
  if (!isOptionalBit(isKnown)) return bad('date_reg_known', isKnown, TAKES_BIT, 'bit')
  if (deleted_after !== null && !isLocalTime(deleted_after))
    return bad('deleted_after', deleted_after, TAKES_DATE, 'text')
  const decision = readDecision(record, timeZone)
  if (!decision.ok) return decision
  const dismissal = readDismissal(record, timeZone)
  if (!dismissal.ok) return dismissal
  if (note !== undefined && !isNote(note)) return bad('note', note, TAKES_NOTE, 'text')
  const readTags = tags === undefined ? [] : toTags(tags)
  if (readTags === undefined) return bad('tags', tags, TAKES_TAGS, 'array')
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
      date_reg_known: isKnown ?? null,
      deleted_after: status === 0 ? deleted_after : null,
      ...decision.row,
      ...dismissal.row,
      note: note === undefined || note === '' ? null : note,
      tags: toColumn(readTags),
      has_note: note === undefined ? 0 : 1,
      has_tags: tags === undefined ? 0 : 1,
    },
  }
}

type Decision = Pick<ExportedDomain, 'seen_at' | 'seen_by' | 'has_seen'>

/** Checks who decided on a record of an export, and when. An export may lack all of it. */
function readDecision(
  { seen, seen_at = null, seen_by = null }: Readonly<Record<string, unknown>>,
  timeZone: string,
): ParsedRecord<Decision> {
  if (!isOptionalBit(seen)) return bad('seen', seen, TAKES_BIT, 'bit')
  const seenAt =
    typeof seen_at === 'string' && isCalendarDateTime(seen_at) ? toEpoch(seen_at, timeZone) : null
  if (seen === undefined) return { ok: true, row: { seen_at: null, seen_by: null, has_seen: 0 } }
  if ((seenAt === null) !== (seen === 0) || (seen === 0 && seen_at !== null))
    return bad('seen_at', seen_at, TAKES_SEEN_AT)
  if (seen === 0 ? seen_by !== null : !isAgent(seen_by)) return bad('seen_by', seen_by, TAKES_SEEN_BY)
  return { ok: true, row: { seen_at: seenAt, seen_by: isAgent(seen_by) ? seen_by : null, has_seen: 1 } }
}

type Dismissal = Pick<ExportedDomain, 'dismissed_by' | 'dismissed_at'>

/** Checks who discarded an earlier record of the name, and when. An export may lack it. */
function readDismissal(
  { dismissed_by = null, dismissed_at = null }: Readonly<Record<string, unknown>>,
  timeZone: string,
): ParsedRecord<Dismissal> {
  if (dismissed_by !== null && !isAgent(dismissed_by))
    return bad('dismissed_by', dismissed_by, TAKES_AGENT, 'text')
  if (dismissed_at !== null && !isLocalTime(dismissed_at))
    return bad('dismissed_at', dismissed_at, TAKES_DATE, 'text')
  return {
    ok: true,
    row: { dismissed_by, dismissed_at: dismissed_at === null ? null : toEpoch(dismissed_at, timeZone) },
  }
}

/** A dismissed name as an import reads it: the columns of the table. */
export type DismissedValues = readonly [
  name: string,
  dismissedBy: string | null,
  dismissedAt: number,
  ...(string | number | null)[],
]

/** Checks one line of `catalejo dismissed list`. */
export function parseDismissed(
  record: Readonly<Record<string, unknown>>,
): { readonly ok: true; readonly row: DismissedValues } | BadRecord {
  const { name, dismissed_by = null, dismissed_at, status, date_reg, date_reg_known } = record
  const { deleted_at = null, deleted_after = null, past_drops } = record
  const label = typeof name === 'string' ? parseLabel(name) : undefined
  if (label?.ok !== true) return bad('name', name, TAKES_NAME, 'text')
  if (dismissed_by !== null && !isAgent(dismissed_by))
    return bad('dismissed_by', dismissed_by, TAKES_AGENT, 'text')
  const dismissedAt = typeof dismissed_at === 'string' ? toMoment(dismissed_at) : undefined
  if (dismissedAt === undefined) return bad('dismissed_at', dismissed_at, TAKES_DISMISSAL)
  if (!isBit(status)) return bad('status', status, TAKES_BIT)
  if (!isLocalTime(date_reg)) return bad('date_reg', date_reg, TAKES_DATE)
  if (!isBit(date_reg_known)) return bad('date_reg_known', date_reg_known, TAKES_BIT)
  if (deleted_at !== null && !isLocalTime(deleted_at)) return bad('deleted_at', deleted_at, TAKES_DATE)
  if (deleted_after !== null && !isLocalTime(deleted_after))
    return bad('deleted_after', deleted_after, TAKES_DATE)
  if (typeof past_drops !== 'number') return bad('past_drops', past_drops, TAKES_COUNT)
  const facts = [status, date_reg, date_reg_known, deleted_at, deleted_after, past_drops]
  return { ok: true, row: [label.name, dismissed_by, dismissedAt, ...facts] }
}

const isLocalTime = (value: unknown): value is string =>
  typeof value === 'string' && isCalendarDateTime(value)

/** Names of `add`'s fields in `list`. */
const OWN_NAMES: Readonly<Record<string, string>> = { domain: 'name', reserve: 'reserved' }

/** Returns milliseconds since 1970. */
function toMoment(text: string): number | undefined {
  const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(moment) ? undefined : moment
}

const TAKES_MOMENT =
  'debe ser el momento de descartarlo (2025-12-31 14:30:34) si discarded es 1, y si no, nada'
const TAKES_DISMISSAL = 'debe ser el momento de descartarlo (2025-12-31T17:30:34.000Z)'
const TAKES_COUNT = 'debe ser un número entero'
const TAKES_DELETION = 'debe ser una fecha y hora (YYYY-MM-DD HH:MM:SS) si status es 0, y si no, nada'
const TAKES_SEEN_AT = 'debe ser una fecha y hora (YYYY-MM-DD HH:MM:SS) si seen es 1, y si no, nada'
const TAKES_SEEN_BY = `debe ser un texto de 1 a ${MAX_AGENT_LENGTH} caracteres si seen es 1, y si no, nada`
const TAKES_NAME = 'debe ser un nombre de dominio .cl válido, sin el sufijo'
const TAKES_BIT = 'debe ser 0 o 1'
const TAKES_DATE = 'debe ser una fecha y hora real con el formato YYYY-MM-DD HH:MM:SS'
const TAKES_AGENT = `debe ser un texto de 1 a ${MAX_AGENT_LENGTH} caracteres`
const TAKES_DISPLAY_NAME = `${TAKES_AGENT}, ${DISPLAY_NAME_TAKES}`
const TAKES_NOTE = `debe ser un texto de ${MAX_NOTE_CHARACTERS} caracteres como máximo, sin caracteres de control salvo saltos de línea`
const TAKES_DISPLAY_TEXT = `${TAKES_NOTE} ni caracteres invisibles`
const TAKES_TAGS = `debe ser un arreglo de ${MAX_TAGS} textos como máximo, de 1 a ${MAX_TAG_CHARACTERS} letras, dígitos o guiones`
const TAKES_EXPECTED = `debe ser un objeto con alguno de los campos ${EXPECTABLE_FIELDS.join(', ')}`
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
  text: { is: (value: unknown) => typeof value === 'string', name: 'un texto' },
  number: { is: (value: unknown) => typeof value === 'number', name: 'un número' },
  bit: { is: (value: unknown) => typeof value === 'number', name: 'un número (0 o 1)' },
  array: { is: Array.isArray, name: 'un arreglo' },
  object: { is: isObject, name: 'un objeto' },
} as const

/**
 * @param takes which values the field takes
 * @param expected their type, which the message names if the value is of another one
 */
function bad(field: string, value: unknown, takes: string, expected?: keyof typeof TYPES): BadRecord {
  if (value === undefined) return { ok: false, field, msg: `Falta el campo ${field}` }
  const wrong = expected !== undefined && !TYPES[expected].is(value) ? TYPES[expected].name : undefined
  const fault = wrong === undefined ? takes : `debe ser ${wrong}, no ${jsonTypeOf(value)}`
  return { ok: false, field, msg: `El campo ${field} ${fault}` }
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

function isNote(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    hasAtMostCharacters(value, MAX_NOTE_CHARACTERS) &&
    value.isWellFormed() &&
    !/[^\P{Cc}\r\n]/u.test(value)
  )
}

/** Returns the tags folded, each once, in the order given; undefined if they are not tags. */
function toTags(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_TAGS) return undefined
  const tags = new Set<string>()
  for (const item of value) {
    const tag = typeof item === 'string' ? foldTag(item) : undefined
    if (tag === undefined) return undefined
    tags.add(tag)
  }
  return [...tags]
}

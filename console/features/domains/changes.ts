import { ApiError, callApi, ConnectionError } from '../../api/client.ts'
import type { UpdateDomainsBody } from '../../../clients/js/schema.ts'
import { recordErrorMessage } from '../../api/error-message.ts'
import { t } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { fetchCode } from '../../design/chunk.tsx'
import { createStore } from '../../base/store.ts'

type Sent = UpdateDomainsBody['data'][number]

/** Values of a record that people decide on. */
export type Values = Readonly<Omit<Sent, 'domain' | 'agent' | 'expect'>>

/** The expected state of a record, without which a change is not stored. */
export type Expected = Readonly<NonNullable<Sent['expect']>>

export interface Change {
  readonly domain: string
  readonly set: Values
  readonly expect: Expected
}

export interface Rejection {
  readonly reason: string
  /** The current record, if someone has changed it. */
  readonly record: DomainRecord | undefined
}

/** Maximum repetitions: an answer lists only the first rejected records, and the rest is sent again without them. */
const MAX_ATTEMPTS = 12

/**
 * Stores changes, each only if its record is still as expected. Rejected ones do not affect the others.
 * @returns the rejected names with their reasons
 * @throws the failure, if nothing was stored for a reason that is not in the records
 */
export async function storeChanges(changes: readonly Change[]): Promise<ReadonlyMap<string, Rejection>> {
  const refused = new Map<string, Rejection>()
  let rest = changes
  for (let attempt = 1; rest.length > 0; attempt++) {
    try {
      const data = rest.map(({ domain, set, expect }) => ({ domain, ...set, expect }))
      await callApi('POST /api/v1/domainwatch/update', { body: { data } })
      return refused
    } catch (error) {
      const faults = error instanceof ApiError ? error.errors : []
      for (const fault of faults) {
        const { index, record } = fault
        const present = isRecord(record) ? record : undefined
        const reason =
          present === undefined
            ? recordErrorMessage(fault)
            : t('domains.isNow', { state: stateText(present) })
        refused.set(rest[index]?.domain ?? '', { reason, record: present })
      }
      const left = rest.filter(({ domain }) => !refused.has(domain))
      if (left.length === rest.length || attempt === MAX_ATTEMPTS) throw error
      rest = left
    }
  }
  return refused
}

/**
 * Stores changes in spite of breaks of the connection. After a lost response they are sent again: records that it
 * had stored have the wanted values then, not the expected ones.
 * @param repeat runs the work until it is answered
 */
export async function storeWithRetries(
  changes: readonly Change[],
  repeat: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<ReadonlyMap<string, Rejection>> {
  let isAgain = false
  const refused = await repeat(async () => {
    try {
      return await storeChanges(changes)
    } catch (error) {
      isAgain ||= error instanceof ConnectionError
      throw error
    }
  })
  if (!isAgain) return refused
  const wanted = new Map(changes.map(({ domain, set }) => [domain, set]))
  return new Map(
    [...refused].filter(
      ([name, { record }]) => record === undefined || !hasValues(record, wanted.get(name) ?? {}),
    ),
  )
}

/** Whether a record has these values, in the fields that it has. */
export function hasValues(record: DomainRecord, values: Values): boolean {
  const now = new Map<string, unknown>(Object.entries(record))
  return Object.entries(values).every(
    ([field, value]) => !now.has(field) || JSON.stringify(now.get(field)) === JSON.stringify(value),
  )
}

/** `Libre · Revisión`: the state of a record as text. */
export function stateText({ status, revision, discarded, seen }: DomainRecord): string {
  return [
    t(status === 1 ? 'domains.registered' : 'domains.free'),
    ...(revision === 1 ? [t('domains.review')] : []),
    ...(discarded === 1 ? [t('domains.discarded')] : []),
    ...(revision === 0 && discarded === 0 ? [t(seen === 1 ? 'domains.isSeen' : 'domains.noMark')] : []),
  ].join(' · ')
}

function isRecord(value: unknown): value is DomainRecord {
  return typeof value === 'object' && value !== null && 'name' in value && 'revision' in value
}

/** Changes of many records, fetched when they are needed, and ahead of that by the screen. */
export const fetchBulk = () => fetchCode(() => import('./bulk.ts'))

/** A change of a view that was refused, because other records match by now than the user saw. */
export interface Recount {
  readonly count: number
  /** Changes those. */
  readonly again: () => void
}

export const recount = createStore<Recount | undefined>(undefined)

import { parseDuration } from '../../lib/units.ts'

export const SERVICES = ['domainwatch', 'imagestore', 'admin'] as const
export type Service = (typeof SERVICES)[number]

/** Scopes of keys, by service. `full` allows everything in the service. */
export const SCOPES = {
  domainwatch: ['read', 'write', 'full'],
  imagestore: ['read', 'upload', 'tickets', 'full'],
  admin: ['full'],
} as const satisfies Record<Service, readonly string[]>

export type Scope = (typeof SCOPES)[Service][number]
/** A scope that allows some endpoints only; each endpoint lists the scopes that allow it. */
export type LimitedScope = Exclude<Scope, 'full'>

export const ALL_SCOPES = [...new Set(Object.values(SCOPES).flat())]

/** At most `count` requests in a window of `periodMs` milliseconds, which starts with the first request. */
export interface Rate {
  readonly count: number
  readonly periodMs: number
}

/** Characters of the name of an account. */
export const MAX_ACCOUNT_CHARACTERS = 100

/** Limits of a key, set when it is created. They never change. */
export interface KeyLimits {
  readonly scope: Scope
  /** When the key expires, in milliseconds since 1970; null if it never does. */
  readonly expiresAt: number | null
  readonly rate: Rate | null
}

/** A key as administrators see it. */
export interface KeyRecord extends KeyLimits {
  readonly id: string
  readonly account: string
  readonly service: Service
  /** Milliseconds since 1970. */
  readonly created_at: number
  readonly revoked_at: number | null
  /** Accurate to a few minutes; null if it was never used. */
  readonly used_at: number | null
}

export interface AccountRecord {
  readonly id: number
  readonly name: string
  readonly service: Service
  /** Milliseconds since 1970. */
  readonly created_at: number
}

/** What clients authenticate with. Shown once, when it is created. */
export type ApiKey = string & { readonly __brand: 'ApiKey' }

export type CreateKeyOutcome =
  | { readonly kind: 'created'; readonly account: string; readonly key: ApiKey; readonly id: string }
  | { readonly kind: 'other-service'; readonly service: Service }
  | { readonly kind: 'bad-name'; readonly takes: string }

export const UNLIMITED: KeyLimits = { scope: 'full', expiresAt: null, rate: null }

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const MAX_LIFETIME_DAYS = 3_650
const MAX_LIFETIME_MS = MAX_LIFETIME_DAYS * DAY

/** Milliseconds by the name that rates have. */
export const PERIODS = { s: 1_000, min: MINUTE, h: HOUR, day: DAY } as const
export const MAX_RATE = 1_000_000

/** Returns the service's scope of that name; undefined if there is none. */
export function parseScope(text: string, service: Service): Scope | undefined {
  return SCOPES[service].find((scope) => scope === text)
}

/** Parses a lifetime such as `30m`, `12h` or `90d`, from 1 minute to 3,650 days, to milliseconds. Undefined for anything else. */
export function parseLifetime(text: string): number | undefined {
  const lifetime = /^[1-9]\d{0,7}[mhd]$/.test(text) ? parseDuration(text, 'm') : undefined
  return lifetime !== undefined && lifetime <= MAX_LIFETIME_MS ? lifetime : undefined
}

/** Parses a rate such as `5/s`, `60/min`, `1000/h` or `10000/day`. Undefined for anything else. */
export function parseRate(text: string): Rate | undefined {
  const [, digits, unit] = /^([1-9]\d{0,6})\/(\w+)$/.exec(text) ?? []
  const period = Object.entries(PERIODS).find(([name]) => name === unit)
  const count = Number(digits)
  return period === undefined || count > MAX_RATE ? undefined : { count, periodMs: period[1] }
}

export function formatRate({ count, periodMs }: Rate): string {
  const unit = Object.entries(PERIODS).find(([, ms]) => ms === periodMs)?.[0] ?? `${periodMs} ms`
  return `${count}/${unit}`
}

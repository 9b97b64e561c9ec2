import { browserStorage } from '../base/browser-storage.ts'
import { createStore } from '../base/store.ts'
import { localNow, localTime } from '../base/server.ts'
import type { CountedKey, TextKey } from './texts.ts'
import { allTexts } from './dictionary.ts'
import './texts.ts'

export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

export const languageName = (language: Language): string => (language === 'es' ? 'Español' : 'English')

/**
 * Returns the first language of the console in a list of language tags, most wanted first (`en-GB`, `es-419`, …).
 * Spanish by default.
 */
function preferredLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const [primary] = tag.toLowerCase().split('-')
    if (primary === 'es' || primary === 'en') return primary
  }
  return 'es'
}

export type { TextKey }

const PLACE = 'catalejo.language'
const LOCALES: Readonly<Record<Language, string>> = { es: 'es-CL', en: 'en-GB' }

/** The language chosen by the user, or the browser's. The page is rendered again when it changes. */
export const language = createStore<Language>(
  preferredLanguage([browserStorage.read(PLACE) ?? '', ...navigator.languages]),
)

export function chooseLanguage(next: Language): void {
  browserStorage.write(PLACE, next)
  document.documentElement.lang = next
  language.set(next)
}

type Values = Readonly<Record<string, string | number>>

/** A text of the console, with its `{places}` filled. */
export const t = (key: TextKey, values: Values = {}): string => fill(getText(key), values)

/** A text that depends on a number, in `{n}`. */
export function tn(key: CountedKey, n: number): string {
  const [one = '', other = ''] = getText(key).split(' | ')
  return fill(n === 1 ? one : other, { n })
}

const getText = (key: string): string => allTexts()[key]?.[language.get() === 'es' ? 0 : 1] ?? key

const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === 'number' ? count(value) : (value ?? '')
  })

const locale = (): string => LOCALES[language.get()]

export function count(n: number): string {
  return new Intl.NumberFormat(locale()).format(n)
}

/** `1,4 MB`: powers of 1,000, like current file managers. */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, n < 1_000 ? 0 : Math.floor(Math.log10(n) / 3))
  const digits = power === 0 || n / 1_000 ** power >= 100 ? 0 : 1
  const value = new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(n / 1_000 ** power)
  return `${value} ${units[power]}`
}

/** `5 segundos`, `3 minutos`, `2 horas`. */
export function duration(seconds: number): string {
  const unit = seconds < 120 ? 'second' : seconds < 7_200 ? 'minute' : 'hour'
  const n = Math.ceil(seconds / { second: 1, minute: 60, hour: 3_600 }[unit])
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' }).format(n)
}

/** `22 nov 2026, 14:05` in the time zone of the service. */
export const moment = (seconds: number): string => dateTime(localTime(seconds * 1_000))

/** `22 nov 2026, 14:05` from `2026-11-22 14:05:00`, whatever zone it is in. */
export const dateTime = (time: string): string =>
  written(time, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** `22 nov 2026` from `2026-11-22`, independent of the time zone. */
export const day = (date: string): string => written(date, {})

/** The one style of dates. The present year is left out. */
function written(time: string, options: Intl.DateTimeFormatOptions): string {
  const year = localNow().slice(0, 4) === time.slice(0, 4) ? {} : ({ year: 'numeric' } as const)
  const at = Date.parse(`${time.slice(0, 10)}T${time.slice(11) || '00:00'}Z`)
  if (Number.isNaN(at)) return time
  const key = [locale(), ...Object.keys(year), ...Object.keys(options)].join()
  // Making one takes far longer than using it, and charts have thousands of days.
  let format = dateFormats.get(key)
  if (format === undefined) {
    const all = { day: 'numeric', month: 'short', ...year, ...options, timeZone: 'UTC' } as const
    format = new Intl.DateTimeFormat(locale(), all)
    dateFormats.set(key, format)
  }
  return format.format(at)
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

import { browserStorage } from '../base/browser-storage.ts'
import { createStore } from '../base/store.ts'
import { TIME_ZONE } from '../base/server.ts'
import { preferredLanguage, type Language } from './preferred.ts'
import type { TextKey } from './texts.ts'
import { allTexts } from './dictionary.ts'
import './texts.ts'

export type { Language, TextKey }

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
export function t(key: TextKey, values: Values = {}): string {
  const [es, en] = allTexts()[key] ?? [key, key]
  return (language.get() === 'es' ? es : en).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === 'number' ? count(value) : (value ?? '')
  })
}

type CountedKey = TextKey extends infer K ? (K extends `${infer Stem}.one` ? Stem : never) : never

/** A text that depends on a number, in `{n}`. */
export function tn(stem: CountedKey, n: number): string {
  return t(`${stem}.${n === 1 ? 'one' : 'other'}`, { n })
}

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

/** A date and time, in the time zone of the service. */
export function moment(seconds: number): string {
  return new Intl.DateTimeFormat(locale(), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: TIME_ZONE,
  }).format(seconds * 1_000)
}

/** `12 de enero de 2026` from `2026-01-12`, independent of the time zone. */
export function bareDay(day: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long', timeZone: 'UTC' }).format(Date.parse(day))
}

/** `12 ene, 09:05` from `2026-01-12 09:05:00`, whatever zone it is in. */
export function shortMoment(time: string): string {
  const format = new Intl.DateTimeFormat(locale(), {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
  })
  return format.format(Date.parse(`${time.replace(' ', 'T')}Z`))
}

/** `12 ene`. */
export function shortDay(day: string): string {
  const format = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return format.format(Date.parse(day))
}

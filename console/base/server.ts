import { browserStorage } from './browser-storage.ts'

/** The base URL of the page, with a trailing slash: `…/console/`. */
export const CONSOLE_URL = new URL(document.baseURI)
/** The base URL of the API. */
export const SERVICE_URL = new URL('..', CONSOLE_URL)
/** The path of the page, for links within it. */
export const CONSOLE_PATH = CONSOLE_URL.pathname

/** The service's time zone. Its rules come from the browser. */
const TIME_ZONE =
  document.querySelector<HTMLMetaElement>('meta[name="catalejo-time-zone"]')?.content ?? 'America/Santiago'

/** Channels to which watches can send messages, by their names in `to`: those that the operator has configured. */
export const CHANNELS: readonly string[] = (
  document.querySelector<HTMLMetaElement>('meta[name="catalejo-channels"]')?.content ?? ''
)
  .split(' ')
  .filter((name) => name !== '')

/** Whether a proxy in front of the service knows the user, and signs them in. */
export const HAS_PROXY_SIGN_IN =
  document.querySelector<HTMLMetaElement>('meta[name="catalejo-sign-in"]')?.content === 'proxy'

const STORAGE_KEY = 'catalejo.clock-skew'
/** Kept for the next page, which needs the time before its first response. */
let skewMs = Number(browserStorage.read(STORAGE_KEY) ?? 0) || 0

/** Updates the offset between the clocks of this machine and the service from a response. */
export function updateClockSkew(date: string | null): void {
  const time = Date.parse(date ?? '')
  // The header has whole seconds.
  if (Number.isNaN(time) || Math.abs(time - Date.now() - skewMs) <= 1_500) return
  skewMs = time - Date.now()
  browserStorage.write(STORAGE_KEY, String(skewMs))
}

/** Milliseconds since 1970 by the service's clock. */
export const serverNow = (): number => Date.now() + skewMs

/** `YYYY-MM-DD HH:MM:SS` in the time zone of the service. */
export const localNow = (): string => localTime(serverNow())

/** A time in the form of records, in the time zone of the service. */
export const localTime = (ms: number): string => localFormat.format(ms)

const localFormat = new Intl.DateTimeFormat('sv-SE', {
  dateStyle: 'short',
  timeStyle: 'medium',
  timeZone: TIME_ZONE,
})

/** Milliseconds since 1970 of such a time. */
export function toEpoch(time: string): number {
  const asUtc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
  const zoneMs = asUtc(localTime(asUtc(time))) - asUtc(time)
  return asUtc(time) - zoneMs
}

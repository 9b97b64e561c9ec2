/** Media ranges that a client takes, each with its weight (RFC 9110, section 12.5.1). */
export type Accepted = ReadonlyMap<string, number>

/** More entries than browsers send by far. */
const MAX_ENTRIES = 50

/** Of a header that cannot be read, what can be. */
export function readAccept(header: string | undefined): Accepted {
  const accepted = new Map<string, number>()
  for (const entry of (header ?? '').split(',', MAX_ENTRIES)) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    if (range === '') continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    accepted.set(range, weight === undefined ? 1 : weightOf(weight))
  }
  return accepted
}

function weightOf(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0
}

/** The weight of a type, by the most specific range that names it. Without any header everything is as welcome. */
export function weightFor(accepted: Accepted, mime: string): number {
  if (accepted.size === 0) return 1
  return accepted.get(mime) ?? accepted.get('image/*') ?? accepted.get('*/*') ?? 0
}

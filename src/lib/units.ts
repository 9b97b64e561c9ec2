/** Sizes and durations as people write them, such as `20MiB` and `90d`. */

const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const
const DURATIONS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export type SizeUnit = keyof typeof SIZES
export type DurationUnit = keyof typeof DURATIONS

/** Returns bytes; undefined if the text is not a size. @param unit of a number without one */
export const parseSize = (text: string, unit: SizeUnit): number | undefined => parse(text, SIZES, unit)

/** Returns milliseconds; undefined if the text is not a duration. @param unit of a number without one */
export const parseDuration = (text: string, unit: DurationUnit): number | undefined =>
  parse(text, DURATIONS, unit)

export const formatSize = (bytes: number): string => format(bytes, SIZES, 'B')
export const formatDuration = (ms: number): string => format(ms, DURATIONS, 's')

function parse<Unit extends string>(
  text: string,
  units: Readonly<Record<Unit, number>>,
  fallback: Unit,
): number | undefined {
  const [, digits, name = fallback] = /^(\d{1,15})([A-Za-z]*)$/.exec(text) ?? []
  const factor: unknown = Object.entries(units).find(([unit]) => unit === (name || fallback))?.[1]
  return digits === undefined || typeof factor !== 'number' ? undefined : Number(digits) * factor
}

/** In the largest unit that makes a whole number. */
function format<Unit extends string>(
  value: number,
  units: Readonly<Record<Unit, number>>,
  smallest: Unit,
): string {
  const entries: (readonly [string, number])[] = Object.entries(units)
  const [unit, factor] = entries.findLast(([, one]) => value > 0 && value % one === 0) ?? [
    smallest,
    units[smallest],
  ]
  return `${value / factor}${unit}`
}

/** What a line of a list says about a domain. */
export interface Row {
  /** From 1, in the file. */
  readonly line: number
  readonly domain: string
  readonly status: 0 | 1
  /** `YYYY-MM-DD HH:MM:SS`; undefined where the list has none. */
  readonly date: string | undefined
}

export interface BadLine {
  readonly line: number
  readonly text: string
  /** The service's words, or none where the line could not be read at all. */
  readonly message: string | undefined
}

export interface ReadList {
  readonly kind: 'registrations' | 'deletions'
  readonly rows: readonly Row[]
  readonly bad: readonly BadLine[]
}

const DATED = /^"?([^",;\t]+)"?[,;\t]\s*"?(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?/
const NAME = /^"?([^\s",;]+)"?[,;]?$/

/** Reads a list of the registry: registrations as CSV with a date, or deletions, one name a line. */
export function readList(text: string): ReadList {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const rows: Row[] = []
  const bad: BadLine[] = []
  const isDated = lines.some((line) => DATED.test(line.trim()))
  for (const [i, raw] of lines.entries()) {
    const line = raw.trim()
    if (line === '') continue
    const row = isDated ? dated(line, i + 1) : named(line, i + 1)
    if (row !== undefined) rows.push(row)
    // A head line names columns, and no domain.
    else if (rows.length > 0 || bad.length > 0 || !/[,;\t]/.test(line))
      bad.push({ line: i + 1, text: line, message: undefined })
  }
  return { kind: isDated ? 'registrations' : 'deletions', rows, bad }
}

function dated(text: string, line: number): Row | undefined {
  const [, name, day, time = '00:00:00'] = DATED.exec(text) ?? []
  if (name === undefined || day === undefined) return undefined
  const date = `${day} ${time.length === 5 ? `${time}:00` : time}`
  return { line, domain: withoutSuffix(name), status: 1, date }
}

function named(text: string, line: number): Row | undefined {
  const [, name] = NAME.exec(text) ?? []
  return name === undefined ? undefined : { line, domain: withoutSuffix(name), status: 0, date: undefined }
}

const withoutSuffix = (name: string) =>
  name
    .trim()
    .normalize('NFC')
    .toLowerCase()
    .replace(/\.cl\.?$/, '')

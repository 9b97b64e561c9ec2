/**
 * The fields of one line of CSV (RFC 4180); `open` when a quoted field does not end on it, undefined when the line is no
 * CSV at all. By hand, because a parser of whole files takes all that follows an unbalanced quote for one field, and
 * here a broken line must lose no other.
 */
export function splitCsv(line: string, separator: string): string[] | 'open' | undefined {
  const fields: string[] = []
  let at = 0
  for (;;) {
    if (line[at] === '"') {
      let text = ''
      let end = line.indexOf('"', at + 1)
      while (end !== -1 && line[end + 1] === '"') {
        text += line.slice(at + 1, end + 1)
        at = end + 1
        end = line.indexOf('"', at + 1)
      }
      if (end === -1) return 'open'
      fields.push(text + line.slice(at + 1, end))
      at = end + 1
      if (at < line.length && line[at] !== separator) return undefined
    } else {
      const end = line.indexOf(separator, at)
      const field = line.slice(at, end === -1 ? undefined : end)
      if (field.includes('"')) return undefined
      fields.push(field)
      at = end === -1 ? line.length : end
    }
    if (at >= line.length) return fields
    at++
    if (at === line.length) {
      fields.push('')
      return fields
    }
  }
}

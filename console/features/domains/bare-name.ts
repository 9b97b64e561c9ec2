/** Returns the name in a pasted text: without scheme, `www.`, path and `.cl`. */
export function bareName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[/?#].*$/, '')
    .replace(/\.cl\.?$/, '')
}

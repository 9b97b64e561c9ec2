import { readFileSync } from 'node:fs'

/** The version in package.json, which is two folders up in a checkout (src/) and in a packed release (dist/). */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version

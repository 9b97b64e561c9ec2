import { readFileSync } from 'node:fs'

/** The package's version. The file is one folder up in a checkout (src/) and in the packed release (dist/) alike. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version

import { randomBytes } from 'node:crypto'

/** Returns an id of 12 characters (72 bits) that nobody can guess: letters, digits, `-` and `_`. */
export const randomId = (): string => randomBytes(9).toString('base64url')

import { plain, type Structure } from './structure.ts'

/** What is drawn again and again, through a filter, or from elsewhere: all that makes much of few bytes. Any prefix is a name's. */
const MULTIPLIES = /<(?:[^\s<>/:]*:)?(?:use|pattern|filter|fe\w{1,32}|mask|image|marker)[\s>/]|<!ENTITY/i
/** Larger ones draw a lot even without. */
const SIMPLE_BYTES = 256 * 1024

export function svgStructure(bytes: Buffer): Structure {
  return { ...plain, complex: bytes.length > SIMPLE_BYTES || MULTIPLIES.test(bytes.toString('latin1')) }
}

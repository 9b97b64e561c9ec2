import { incomplete, plain, type Structure } from './structure.ts'

const CLASSIC = 42
const ENTRY_BYTES = 12
/** Directories looked at: a loop of them must end. The decoder counts pages by itself. */
const MAX_DIRECTORIES = 4096
/** Bytes of one value of each field type; a type that does not exist counts as one byte. */
const VALUE_BYTES = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]

/**
 * Directories, and the values that they point to, inside the file. libtiff itself reports pixels that are not there. BigTIFF is left to
 * it whole.
 */
export function tiffStructure(bytes: Buffer): Structure {
  const little = bytes[0] === 0x49
  const short = (at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))
  const long = (at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  if (bytes.length < 8) return incomplete
  if (short(2) !== CLASSIC) return plain
  let directory = long(4)
  for (let i = 0; directory !== 0 && i < MAX_DIRECTORIES; i++) {
    if (directory + 2 > bytes.length) return incomplete
    const end = directory + 2 + short(directory) * ENTRY_BYTES
    if (end + 4 > bytes.length) return incomplete
    for (let entry = directory + 2; entry < end; entry += ENTRY_BYTES) {
      const length = (VALUE_BYTES[short(entry + 2)] ?? 1) * long(entry + 4)
      if (length > 4 && long(entry + 8) + length > bytes.length) return incomplete
    }
    directory = long(end)
  }
  return plain
}

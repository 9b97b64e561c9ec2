import { incomplete, plain, type Structure } from './structure.ts'

/** The RIFF header says how long the file is. */
export function webpStructure(bytes: Buffer): Structure {
  return bytes.length >= 20 && bytes.readUInt32LE(4) + 8 <= bytes.length ? plain : incomplete
}

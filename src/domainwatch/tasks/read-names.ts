/** Task for another thread: the body of a bulk `dns` call to its names. Senders without a key must not hold the event loop. */
import { readData, type DataBody } from '../data-field.ts'

/** Names in one call. */
const MAX_NAMES = 1_000

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
}

export default function readNames(input: Input): DataBody {
  return readData(input, { max: MAX_NAMES, of: 'nombres' })
}

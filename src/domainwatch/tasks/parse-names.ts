/** Worker-thread task: parses the body of a bulk `dns` request, so that clients without a key cannot block the event loop. */
import { readData, type DataBody } from '../data-field.ts'
import { MAX_DNS_NAMES } from '../limits.ts'

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
}

export default function parseNames(input: Input): DataBody {
  return readData(input, { max: MAX_DNS_NAMES, of: 'nombres' })
}

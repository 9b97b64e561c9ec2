/** Task for another thread: a million names take half a second. */
import { shared } from '../../lib/name-index/index.ts'
import { digestOf, SORTED_AT_ONCE, type Digest } from '../lookalikes/digest.ts'

export interface Input {
  readonly names: Uint8Array
  readonly starts: Uint32Array
  readonly count: number
}

export default function work({ names, starts, count }: Input): Digest {
  return digestOf(names, starts, count, SORTED_AT_ONCE, shared.u32)
}

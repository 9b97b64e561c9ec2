/** Where in lent memory a body begins: what is in front of it is for the head of the answer. */
export const BODY_AT = 4_096

/** Bodies up to these sizes, and how many of each may be lent at once: 8 and 16 MiB. */
const KINDS: readonly { readonly bodyBytes: number; readonly count: number }[] = [
  { bodyBytes: 28 * 1024, count: 256 },
  { bodyBytes: 256 * 1024, count: 60 },
]
/** Bodies up to this size are better copied behind their head, to leave in one piece, than sent beside it. */
export const COPIED_BYTES = 28 * 1024

/**
 * Memory that one answer has until it has left, and then the next one. Were it allocated for each, the engine would go through
 * all of its memory every so many megabytes to find out which are free: three quarters of the time of reading 20 KB.
 */
export class AnswerMemory {
  readonly #kinds = KINDS.map(({ bodyBytes, count }) => ({
    bodyBytes,
    left: count,
    free: new Array<LentMemory>(),
  }))

  /** Undefined where there is too much of it, or too much is lent: clients that read slowly hold theirs. */
  lend(bodyBytes: number): LentMemory | undefined {
    for (const kind of this.#kinds) {
      if (bodyBytes > kind.bodyBytes) continue
      const known = kind.free.pop()
      if (known !== undefined) return known
      if (kind.left === 0) return undefined
      kind.left--
      // The one lent last is lent next: it is still in the processor's caches.
      const lent: LentMemory = new LentMemory(kind.bodyBytes, () => kind.free.push(lent))
      return lent
    }
    return undefined
  }
}

export class LentMemory {
  readonly buffer: Buffer
  /** To be called once, when nothing reads or writes it any more. */
  readonly giveBack: () => void

  constructor(bodyBytes: number, giveBack: () => void) {
    this.buffer = Buffer.allocUnsafeSlow(BODY_AT + bodyBytes)
    this.giveBack = giveBack
  }

  /** @param before so many bytes in front of it too, until the head comes there */
  body(bytes: number, before = 0): Buffer {
    return this.buffer.subarray(BODY_AT - before, BODY_AT + bytes)
  }

  /**
   * The answer in one piece; undefined for a head that has no room.
   * @param head in parts: to join them first would take longer than to write each
   */
  withHead(head: readonly string[], bodyBytes: number): Buffer | undefined {
    let at = BODY_AT
    // One byte a character: Node has checked that there are no others.
    for (const { length } of head) at -= length
    if (at < 0) return undefined
    const start = at
    for (const part of head) at += this.buffer.write(part, at, 'latin1')
    return this.buffer.subarray(start, BODY_AT + bodyBytes)
  }
}

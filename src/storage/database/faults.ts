/**
 * What is wrong with the storage of a database. `damaged`: data read differs from what was written. `full`: no space is
 * left. `read-only`: writes are not allowed. `failing`: the disk reports errors or does not answer.
 */
export type StorageFaultKind = 'damaged' | 'full' | 'read-only' | 'failing'

const EXPLANATIONS: Readonly<Record<StorageFaultKind, (place: string) => string>> = {
  damaged: (place) => `${place} is damaged`,
  full: (place) => `the disk of ${place} is full`,
  'read-only': (place) => `${place} cannot be written`,
  failing: (place) => `the disk of ${place} fails`,
}

/** A failure of the storage of a database. `message` is the engine's own. */
export class StorageFault extends Error {
  readonly kind: StorageFaultKind
  /** What is wrong and where, in one line for a person. */
  readonly explanation: string
  /** The same with advice. */
  readonly advice: string

  /** @param place names the database: a path, or the engine */
  constructor(kind: StorageFaultKind, place: string, message: string) {
    super(message)
    this.kind = kind
    this.explanation = `${EXPLANATIONS[kind](place)} (${message})`
    const isFound = kind === 'damaged' || kind === 'failing'
    this.advice = isFound ? `${this.explanation}: catalejo verify finds what is damaged` : this.explanation
  }
}

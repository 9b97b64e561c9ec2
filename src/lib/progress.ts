/** What the count of a progress is in. */
export type ProgressUnit = 'items' | 'bytes'

/** Reports progress of a long-running task. */
export interface Progress {
  /**
   * Begins a new part of the work, which ends the one before.
   * @param total of what `add` counts; undefined if it is unknown
   * @param done of it already, by an earlier run: does not count towards the speed
   */
  begin(name: string, total?: number, done?: number, unit?: ProgressUnit): void
  /** Adds to the count, and to the bytes that moved with it where the count is of items. */
  add(count: number, bytes?: number): void
  /** Ends the last part. */
  end(): void
}

/** The unit of the count. */
export type ProgressUnit = 'items' | 'bytes'

/** Reports progress of a long-running task. */
export interface Progress {
  /**
   * Starts a step, which ends the previous one.
   * @param total expected count; undefined if unknown
   * @param done count of an earlier run, which does not affect the speed
   */
  begin(name: string, total?: number, done?: number, unit?: ProgressUnit): void
  add(count: number): void
  /** Ends the last step. */
  end(): void
}

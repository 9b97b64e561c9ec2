/** Told how far a long piece of work has come. */
export interface Progress {
  /**
   * Begins a new part of the work; the one before is over.
   * @param total of what `add` counts; undefined where nobody knows
   * @param done of them already, by an earlier run: they count as no speed
   */
  begin(name: string, total?: number, done?: number): void
  /** So many more are done, and so many bytes moved with them. */
  add(count: number, bytes?: number): void
  /** The last part is over. */
  end(): void
}

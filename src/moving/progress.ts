/** Told how far the work has come. */
export interface Progress {
  /** @param total of what `add` counts; undefined where nobody knows */
  begin(name: string, total?: number): void
  add(count: number, bytes?: number): void
  end(): void
}

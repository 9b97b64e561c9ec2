/**
 * Repeats a transaction that changes at most `size` rows, so that other writers get their turn in between. Ends when one changes
 * fewer, or `signal` aborts.
 * @returns the total number of rows
 */
export async function inBatches(
  size: number,
  signal: AbortSignal | undefined,
  batch: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const changed = await batch()
    total += changed
    if (changed < size || signal?.aborted === true) return total
  }
}

/**
 * Does something with each item, so many at a time, taking the next when one is done: however many there are, no more
 * than `count` are in memory. Rejects with the first fault, after which no further item is taken.
 */
export async function atOnce<T>(
  items: AsyncIterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  let failed = false
  async function take(): Promise<void> {
    try {
      for (let next = await iterator.next(); next.done !== true && !failed; next = await iterator.next()) {
        await work(next.value)
      }
    } catch (error) {
      failed = true
      throw error
    }
  }
  await Promise.all(Array.from({ length: count }, take))
}

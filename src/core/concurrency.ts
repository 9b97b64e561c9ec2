/** Works on the items, so many at a time, and yields the results in the order in which they come. */
export async function* asTheyCome<T, R>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running = new Map<number, Promise<readonly [number, R]>>()
  let next = 0
  for (const item of items) {
    const id = next++
    running.set(
      id,
      work(item).then((result) => [id, result] as const),
    )
    if (running.size >= limit) yield await first()
  }
  while (running.size > 0) yield await first()

  async function first(): Promise<R> {
    const [id, result] = await Promise.race(running.values())
    running.delete(id)
    return result
  }
}

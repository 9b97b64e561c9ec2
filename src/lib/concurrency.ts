/**
 * Works on the items, so many at a time, and yields the results as they come: each time those of a turn of the event
 * loop, at least one. However slow the taker, no more than `limit` are being worked on or wait to be taken. Whoever stops taking
 * stops the work. Ends with the first fault.
 */
export async function* asTheyCome<T, R>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<readonly R[]> {
  const left = items[Symbol.iterator]()
  let results: R[] = []
  let running = 0
  let fault: { readonly error: unknown } | undefined
  let wake = () => {}

  function start(item: T): void {
    running++
    work(item).then(
      (result) => {
        results.push(result)
        ended()
      },
      (error: unknown) => {
        fault ??= { error }
        ended()
      },
    )
  }

  function ended(): void {
    running--
    wake()
  }

  for (;;) {
    while (running + results.length < limit) {
      const next = left.next()
      if (next.done === true) break
      start(next.value)
    }
    if (fault !== undefined) throw fault.error
    if (results.length > 0) {
      const come = results
      results = []
      yield come
    } else if (running === 0) return
    else await new Promise<void>((resolve) => (wake = () => setImmediate(resolve)))
  }
}

/** Up to so long a count is made anew for whoever asks. */
const CHEAP_MS = 500
/** A dearer one serves for so many times as long as it took: counting stays below a hundredth of the work. */
const REST = 100

/**
 * A count of everything there is, for those who look again and again. While it is quick, it is made at each call; of what
 * has grown large the last one serves for a while. Calls while one is made share it.
 * @param now milliseconds by a clock that nobody sets
 */
export function thriftyCount<T>(count: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let kept: { readonly value: T; readonly until: number } | undefined
  let running: Promise<T> | undefined

  async function run(): Promise<T> {
    const from = now()
    try {
      const value = await count()
      const end = now()
      kept = end - from > CHEAP_MS ? { value, until: end + (end - from) * REST } : undefined
      return value
    } finally {
      running = undefined
    }
  }

  return async () => {
    if (kept !== undefined && now() < kept.until) return kept.value
    running ??= run()
    return running
  }
}

/**
 * Resolves to true if `work` settles within `ms`, else to false. Does not cancel the work. Rejects if it rejects in time.
 * @param ms with 0 or less, only work that has already settled counts
 */
export async function withTimeout(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms))
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

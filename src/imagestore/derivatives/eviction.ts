import { rm, rmdir } from 'node:fs/promises'
import { FOLDER_BYTES, walk } from './walk.ts'

/** Claims and half-written files older than this are nobody's. */
const LEFTOVER_MS = 10 * 60_000

/** Files by age: to the second for an hour, to the minute for a day, to the hour for a year. */
const HOUR = 3_600
const DAY = 24 * HOUR
const SECONDS = HOUR
const MINUTES = (DAY - HOUR) / 60
const HOURS = 364 * 24
const CLASSES = SECONDS + MINUTES + HOURS + 1

export interface Evicted {
  /** What is left, in bytes of the disk. */
  readonly bytes: number
  readonly removed: number
}

/**
 * Brings what is under `root` down to `target` bytes, what was unused for longest first, when it is more than `limit`.
 * Walks twice, counting by age and then removing, instead of keeping a list: memory is some 100 KB whatever the number of
 * files. Two processes that do this at once do no harm.
 */
export async function evict(
  root: string,
  limit: number,
  target: number,
  now: number,
  signal: AbortSignal,
): Promise<Evicted> {
  const bytesByAge = new Float64Array(CLASSES)
  let total = 0
  let removed = 0
  for await (const folder of walk(root, signal)) {
    let files = 0
    for await (const { path, name, bytes, usedAt } of folder.files()) {
      files++
      if (name.includes('.') && now - usedAt > LEFTOVER_MS) {
        await rm(path, { force: true }).catch(() => {})
        continue
      }
      const age = ageClass(now - usedAt)
      bytesByAge[age] = (bytesByAge[age] ?? 0) + bytes
      total += bytes
    }
    // Fails, as it should, when somebody put something there meanwhile.
    if (files === 0) await rmdir(folder.path).catch(() => {})
    else total += FOLDER_BYTES
  }
  if (total <= limit || signal.aborted) return { bytes: total, removed }

  const excess = total - target
  let older = 0
  let cut = CLASSES - 1
  while (cut > 0 && older + (bytesByAge[cut] ?? 0) < excess) older += bytesByAge[cut--] ?? 0
  // Of the class in which the line falls, only as much as is needed.
  let rest = excess - older
  for await (const folder of walk(root, signal)) {
    for await (const { path, bytes, usedAt } of folder.files()) {
      const age = ageClass(now - usedAt)
      if (age < cut || (age === cut && rest <= 0)) continue
      if (!(await succeeds(rm(path)))) continue
      removed++
      total -= bytes
      if (age === cut) rest -= bytes
    }
    if (await succeeds(rmdir(folder.path))) total -= FOLDER_BYTES
  }
  return { bytes: total, removed }
}

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** Grows with the age; ages of a future clock are the youngest. */
function ageClass(ageMs: number): number {
  const seconds = Math.max(0, Math.floor(ageMs / 1_000))
  if (seconds < HOUR) return seconds
  if (seconds < DAY) return SECONDS + Math.floor((seconds - HOUR) / 60)
  return Math.min(CLASSES - 1, SECONDS + MINUTES + Math.floor((seconds - DAY) / HOUR))
}

import { readFileSync } from 'node:fs'
import { processTree } from './machine.ts'

const MIB = 1024 * 1024
/** Reading PSS takes a millisecond per process. */
const SAMPLE_MS = 100

export interface Peak {
  /** Sum of the resident set sizes, in bytes: shared pages count once per process. */
  readonly rss: number
  /** Sum of the proportional set sizes, in bytes: shared pages are divided among the processes. */
  readonly pss: number
  readonly processes: number
}

/** Samples a process and its descendants. Call the result to stop and get the peak. Linux only. */
export function watchMemory(pid: number): () => Peak {
  let [rss, pss, processes] = [0, 0, 0]
  const look = () => {
    const sizes = processTree(pid).flatMap((id) => sizeOf(id) ?? [])
    rss = Math.max(rss, sum(sizes.map((size) => size.rss)))
    pss = Math.max(pss, sum(sizes.map((size) => size.pss)))
    processes = Math.max(processes, sizes.length)
  }
  look()
  const timer = setInterval(look, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    look()
    return { rss, pss, processes }
  }
}

function sizeOf(pid: number): { rss: number; pss: number } | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    const bytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(rollup)?.[1]) * 1024
    return { rss: bytes('Rss'), pss: bytes('Pss') }
  } catch {
    // It has exited.
    return undefined
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

export const formatPeak = ({ rss, pss, processes }: Peak): string =>
  `${Math.round(rss / MIB)} MiB resident (${Math.round(pss / MIB)} with shared pages counted once), ${processes} processes`

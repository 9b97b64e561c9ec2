import { ROUNDS } from './options.ts'

/** Turns before the measurement: Node optimizes hot code in tiers, only after some ten thousand runs. */
const WARM_UPS = 2
/** For work of microseconds, which reaches the last tier only after some hundred thousand runs. */
export const SMALL_WARM_UPS = 4

/** The result of one turn of a contender. */
export interface Sample {
  readonly perSecond: number
  /** CPU microseconds of the measured process per operation. */
  readonly cpuMicros: number | undefined
}

export interface Contender {
  readonly name: string
  /** Name of the contender to compare with; undefined for a floor. */
  readonly floor?: string
  /** Target: the minimum ratio to the floor or, with `inTime`, the maximum. */
  readonly target?: number
  /** Compares time per operation instead of operations per second. */
  readonly inTime?: boolean
  /** An error is printed in the row of this contender, and the others continue. */
  readonly mayFail?: boolean
  readonly run: () => Promise<Sample>
}

/**
 * Runs all contenders in turn, round by round, so that other load on the machine affects them equally. Prints the
 * ratio of each to its floor in the same round.
 * @returns median operations per second by name, without failed contenders
 */
export async function compare(
  title: string,
  contenders: readonly Contender[],
  rounds = ROUNDS,
  warmUps = WARM_UPS,
): Promise<ReadonlyMap<string, number>> {
  const samples = new Map<string, Sample[]>(contenders.map(({ name }) => [name, []]))
  const failures = new Map<string, string>()
  async function takeTurn({ name, mayFail = false, run }: Contender): Promise<Sample | undefined> {
    if (failures.has(name)) return undefined
    try {
      return await run()
    } catch (error) {
      if (!mayFail) throw error
      failures.set(name, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  for (let turn = 0; turn < warmUps; turn++) for (const contender of contenders) await takeTurn(contender)
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const sample = await takeTurn(contender)
      if (sample !== undefined) samples.get(contender.name)?.push(sample)
    }
    process.stderr.write(`${title}: round ${round + 1} of ${rounds}\n`)
  }

  console.log(`\n### ${title}\n`)
  console.log(
    '| | per second | CPU per operation | ratio to the floor: median (range) | ratio by CPU | target |',
  )
  console.log('|---|---|---|---|---|---|')
  for (const { name, floor, target, inTime = false } of contenders) {
    const own = samples.get(name) ?? []
    const failure = failures.get(name)
    if (failure !== undefined) {
      console.log(`| ${[name, `failed: ${failure}`, '', '', '', ''].join(' | ')} |`)
      continue
    }
    const rate = rounded(median(own.map(({ perSecond }) => perSecond)))
    const cells = [name, rate, micros(median(known(own))), '', '', '']
    const base = floor === undefined ? undefined : samples.get(floor)
    if (base === undefined) cells[3] = 'floor'
    else {
      const ratios = own.map(({ perSecond }, i) => {
        const faster = perSecond / (base[i]?.perSecond ?? NaN)
        return inTime ? 1 / faster : faster
      })
      cells[3] = `**${median(ratios).toFixed(2)}** (${range(ratios)})`
      const byCpu = median(known(base)) / median(known(own))
      cells[4] = Number.isNaN(byCpu) ? '' : (inTime ? 1 / byCpu : byCpu).toFixed(2)
      if (target !== undefined) cells[5] = verdict(median(ratios), target, inTime)
    }
    console.log(`| ${cells.join(' | ')} |`)
  }
  return new Map(
    [...samples]
      .filter(([name]) => !failures.has(name))
      .map(([name, own]) => [name, median(own.map(({ perSecond }) => perSecond))]),
  )
}

function verdict(ratio: number, target: number, inTime: boolean): string {
  const met = inTime ? ratio <= target : ratio >= target
  return `${inTime ? 'at most' : 'at least'} ${target}: ${met ? 'met' : 'missed'}`
}

const known = (samples: readonly Sample[]) => samples.flatMap(({ cpuMicros }) => cpuMicros ?? [])

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

const range = (values: readonly number[]) =>
  `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

function micros(value: number): string {
  if (Number.isNaN(value)) return ''
  return value < 1000 ? `${rounded(value)} µs` : `${rounded(value / 1000)} ms`
}

/** Repeats `work` in this process for `seconds`. */
export async function repeat(seconds: number, work: () => void | Promise<void>): Promise<Sample> {
  const start = performance.now()
  const cpu = process.cpuUsage()
  let done = 0
  do {
    await work()
    done++
  } while (performance.now() - start < seconds * 1000)
  return sampleOf(done, start, cpu)
}

/** Returns the sample of `done` operations of this process since `start`. */
export function sampleOf(done: number, start: number, since: NodeJS.CpuUsage): Sample {
  const { user, system } = process.cpuUsage(since)
  return { perSecond: (done * 1000) / (performance.now() - start), cpuMicros: (user + system) / done }
}

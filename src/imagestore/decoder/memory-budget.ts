/** Light jobs are quick and small, heavy ones may take long or much memory. */
export type JobClass = 'light' | 'heavy'

interface Waiter {
  readonly bytes: number
  readonly admit: () => void
}

/** Memory that a job has taken. */
export interface MemoryGrant {
  release(): void
  /** Charges it to the heavy jobs, because its job has become one. */
  makeHeavy(): void
}

/** Share of the memory that heavy jobs cannot take from light ones. */
const LIGHT_SHARE = 1 / 4

/**
 * Divides memory between jobs. Heavy jobs leave a quarter to light ones, which therefore never wait for a heavy one to end;
 * light jobs may borrow the rest while no heavy job uses it or waits for it. Within a class jobs are admitted in order, so
 * that small ones cannot starve a large one. A single heavy job may need more than three quarters: then all jobs together
 * may take a quarter more than `total`.
 */
export class MemoryBudget {
  readonly #total: number
  readonly #lightReserve: number
  readonly #used = { light: 0, heavy: 0 }
  readonly #waiting: Readonly<Record<JobClass, Waiter[]>> = { light: [], heavy: [] }

  constructor(total: number) {
    this.#total = total
    this.#lightReserve = total * LIGHT_SHARE
  }

  get used(): number {
    return this.#used.light + this.#used.heavy
  }

  /** Jobs of a class that wait for memory. */
  waiting(jobClass: JobClass): number {
    return this.#waiting[jobClass].length
  }

  /** Takes memory for a light job if it is free and nobody waits. */
  tryTake(bytes: number): MemoryGrant | undefined {
    const isFree = this.#waiting.light.length === 0 && this.#hasRoom('light', bytes)
    return isFree ? this.#grant('light', bytes) : undefined
  }

  /** Takes memory when it is free, or when the job is the only one of its class. Undefined if `signal` aborts first. */
  take(jobClass: JobClass, bytes: number, signal: AbortSignal): Promise<MemoryGrant | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting[jobClass]
      const leave = () => {
        waiting.splice(waiting.indexOf(waiter), 1)
        resolve(undefined)
        this.#admitNext()
      }
      const waiter = {
        bytes,
        admit: () => {
          signal.removeEventListener('abort', leave)
          resolve(this.#grant(jobClass, bytes))
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.push(waiter)
      this.#admitNext()
    })
  }

  #grant(jobClass: JobClass, bytes: number): MemoryGrant {
    let charged = jobClass
    this.#used[charged] += bytes
    const release = () => {
      this.#used[charged] -= bytes
      this.#admitNext()
    }
    return {
      release,
      makeHeavy: () => {
        this.#used.heavy += bytes
        release()
        charged = 'heavy'
      },
    }
  }

  #hasRoom(jobClass: JobClass, bytes: number): boolean {
    const { light, heavy } = this.#used
    if (jobClass === 'heavy') return heavy + bytes + Math.max(light, this.#lightReserve) <= this.#total
    const canBorrow = this.#waiting.heavy.length === 0 && light + heavy + bytes <= this.#total
    return canBorrow || light + bytes <= this.#lightReserve
  }

  /** The only job of its class is admitted whatever it takes, once light jobs have returned what they borrowed. */
  #fits(jobClass: JobClass, bytes: number): boolean {
    const isOnlyOne =
      this.#used[jobClass] === 0 && (jobClass === 'light' || this.#used.light <= this.#lightReserve)
    return isOnlyOne || this.#hasRoom(jobClass, bytes)
  }

  #admitNext(): void {
    for (const jobClass of ['heavy', 'light'] as const) {
      const waiting = this.#waiting[jobClass]
      for (let next = waiting[0]; next !== undefined && this.#fits(jobClass, next.bytes); next = waiting[0]) {
        waiting.shift()
        next.admit()
      }
    }
  }
}

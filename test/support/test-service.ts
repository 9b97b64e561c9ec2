import { writeFileSync } from 'node:fs'
import type { App } from '../../src/server/app.ts'
import type { Limits } from '../../src/lib/limits.ts'
import type { Flags } from '../../src/server/config/config.ts'
import { InterruptibleSleep, type Clock } from '../../src/lib/clock.ts'
import type { KeyLimits, Service } from '../../src/http/auth/key-limits.ts'

/** A clock that only moves when a test moves it. */
export class ManualClock implements Clock {
  readonly moved = new InterruptibleSleep()
  #now: number
  readonly #mirrors = new Set<string>()

  constructor(start: string) {
    this.#now = Date.parse(start)
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
    for (const path of this.#mirrors) writeFileSync(path, String(this.#now))
    this.moved.wakeAll()
  }

  /**
   * Shows its time in a file too, for processes that read it there.
   * @returns a function that ends it
   */
  mirrorIn(path: string): () => void {
    this.#mirrors.add(path)
    return () => void this.#mirrors.delete(path)
  }
}

export interface TestService {
  /** Its parts, where it runs in the test's own process; what reads this cannot be run on two nodes. */
  readonly app: App
  /** Where it listens, without a slash at the end. */
  readonly url: string
  readonly data: string
  /** A key of the account `grupo` (domainwatch). */
  readonly domainKey: string
  /** A key of the account `fotos` (imagestore). */
  readonly imageKey: string
  /** What reaches its database from another process; empty for SQLite in the data folder. */
  readonly databaseUrl: string
  /** Waits until each of its processes has seen what others have written until now. */
  caughtUp(): Promise<void>
  /** The id of the newest change, where a stream that begins now may begin before it; otherwise 0. */
  newestChange(): Promise<number>
  /** Everything that was logged until now. */
  log(): Promise<string>
  /** Runs a statement on its database, behind its back. */
  sql(statement: string): Promise<void>
  /** Removes its database permanently. */
  loseDatabase(): Promise<void>
  /** All that its database holds, where that is not in the data folder. */
  dump(): Promise<Buffer>
  newKey(account: string, service: Service, limits?: KeyLimits): Promise<{ key: string; id: string }>
  revokeKey(id: string): Promise<void>
  /** Stops it; the data folder stays. */
  stop(): Promise<void>
  /** Stops it and removes its data. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestServiceOptions {
  readonly flags?: Flags
  readonly clock?: Clock
  /** In place of those of the service, in the test's own process only. */
  readonly limits?: Partial<Limits>
  /** An existing data folder, to start on what another run left. */
  readonly data?: string
}

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { OverloadError, asError } from '../../../lib/errors.ts'
import { StorageFault, UnansweredFault, type StorageFaultKind } from '../faults.ts'
import type { Migration } from '../migrations/index.ts'
import { readerOn, sqlValues, type Query, type Reader, type SqlValue } from '../sql.ts'
import type { SqliteBatch } from '../batch.ts'
import type { ConnectionMode } from './connection.ts'

/** What a thread starts with. */
export interface Start {
  readonly path: string
  readonly mode: ConnectionMode
  /** How a writer migrates the schema; undefined if it must be current. */
  readonly migration?: MigrationOptions | undefined
}

export interface MigrationOptions {
  /** No step goes past this version. */
  readonly schema: number
  readonly migrations: readonly Migration[]
}

export type Work =
  | { readonly kind: 'all' | 'values' | 'run'; readonly text: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'runMany'
      readonly batch: SqliteBatch
      readonly values: readonly SqlValue[]
      /** A JSON array of arrays. */
      readonly rows: Uint8Array
    }
  /** `author`: the account that the changes of the transaction are attributed to. */
  | { readonly kind: 'begin'; readonly author: number | undefined }
  | { readonly kind: 'commit' | 'rollback' }
  | { readonly kind: 'close' }

export type Task = Work & { readonly id: number }

/**
 * The answer to the task with the same id. Id 0 means that the thread is ready; its value is the version that the
 * schema had.
 */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  /** `busy`: another process held the lock for too long. `storage`: set if the storage is at fault. */
  | {
      readonly id: number
      readonly fault: string
      readonly busy: boolean
      readonly storage: StorageFaultKind | undefined
    }

/** A statement that takes longer is abandoned: the disk hangs. */
const STATEMENT_TIMEOUT_MS = 60_000

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** A connection in a worker thread. */
export class ConnectionThread {
  readonly #worker: Worker
  readonly #path: string
  readonly #timeoutMs: number
  readonly #pending = new Map<number, Pending>()
  #nextId = 0
  #ended: Error | undefined
  /** The version of the schema when it was opened. */
  version = 0

  private constructor({ path, mode, migration }: Start, timeoutMs: number) {
    this.#path = path
    this.#timeoutMs = timeoutMs
    // A .ts file in a checkout, a .js file in a packed release.
    const file = new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
    this.#worker = new Worker(file, {
      workerData: { path, mode, migration } satisfies Start,
      name: `sqlite-${mode}`,
    })
    this.#worker.on('message', (answer: Answer) => this.#settle(answer))
    this.#worker.on('error', (error) => this.#end(asError(error)))
    this.#worker.on('exit', () => this.#end(new Error('the database thread ended')))
  }

  /**
   * Resolves when the connection is open and, for a writer, the schema is migrated.
   * @param timeoutMs statements that take longer are abandoned
   */
  static async open(start: Start, timeoutMs = STATEMENT_TIMEOUT_MS): Promise<ConnectionThread> {
    const thread = new ConnectionThread(start, timeoutMs)
    thread.version = Number(await thread.#expect(thread.#nextId++))
    return thread
  }

  get alive(): boolean {
    return this.#ended === undefined
  }

  send(work: Work, transfer: ArrayBuffer[] = [], timeoutMs = this.#timeoutMs): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const id = this.#nextId++
    const answer = this.#expect(id, timeoutMs)
    this.#worker.postMessage({ ...work, id }, transfer)
    return answer
  }

  read(form: 'all' | 'values', query: Query): Promise<unknown> {
    return this.send({ kind: form, text: query.sql, values: sqlValues(query) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended === undefined) await this.send({ kind: 'close' }).catch(() => undefined)
    await this.terminate()
  }

  /** Ends it after the current statement. What waits for an answer is rejected. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #expect(id: number, timeoutMs = this.#timeoutMs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id)
        reject(new UnansweredFault(this.#path, timeoutMs))
      }, timeoutMs)
      this.#pending.set(id, { resolve, reject, timer })
    })
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id)
    if (pending === undefined) return
    this.#pending.delete(answer.id)
    clearTimeout(pending.timer)
    if (!('fault' in answer)) pending.resolve(answer.value)
    else if (answer.busy) pending.reject(new OverloadError())
    else if (answer.storage === undefined) pending.reject(new Error(answer.fault))
    else pending.reject(new StorageFault(answer.storage, this.#path, answer.fault))
  }

  #end(error: Error): void {
    this.#ended ??= error
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer)
      pending.reject(error)
    }
    this.#pending.clear()
  }
}

/** Opens a connection in a new thread for each long read. */
export function separateThreads(path: string) {
  const threads = new Set<Promise<ConnectionThread>>()
  return {
    /** @param timeoutMs statements that take longer are abandoned */
    async run<T>(work: (reader: Reader) => Promise<T>, timeoutMs?: number): Promise<T> {
      const opening = ConnectionThread.open({ path, mode: 'scan' }, timeoutMs)
      threads.add(opening)
      try {
        await using thread = await opening
        return await work(readerOn((form, query) => thread.read(form, query)))
      } finally {
        threads.delete(opening)
      }
    },

    /** Abandons what is running. */
    async close(): Promise<void> {
      for (const opening of threads) {
        const thread = await opening.catch(() => undefined)
        await thread?.terminate()
      }
    },
  }
}

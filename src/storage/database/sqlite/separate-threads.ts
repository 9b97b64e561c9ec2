import { ConnectionThread, type ThreadOptions } from './connection-thread.ts'

/** Opens a connection in a new thread for each long read. */
export class SeparateThreads {
  readonly #path: string
  readonly #opening = new Set<Promise<ConnectionThread>>()

  constructor(path: string) {
    this.#path = path
  }

  async run<T>(options: ThreadOptions, work: (thread: ConnectionThread) => Promise<T>): Promise<T> {
    const opening = ConnectionThread.open(this.#path, 'read', options)
    this.#opening.add(opening)
    try {
      await using thread = await opening
      return await work(thread)
    } finally {
      this.#opening.delete(opening)
    }
  }

  /**
   * Runs `work` on the database as it is now. The log of later writes cannot be moved into the file before it ends.
   */
  snapshot<T>(work: (thread: ConnectionThread) => Promise<T>): Promise<T> {
    return this.run({}, async (thread) => {
      await thread.send({ kind: 'run', text: 'BEGIN', values: [] })
      // The snapshot is taken by the first read.
      await thread.send({ kind: 'values', text: 'SELECT count(*) FROM sqlite_schema', values: [] })
      return work(thread)
    })
  }

  /** Abandons what is running. */
  async close(): Promise<void> {
    for (const opening of this.#opening) {
      const thread = await opening.catch(() => undefined)
      await thread?.terminate()
    }
  }
}

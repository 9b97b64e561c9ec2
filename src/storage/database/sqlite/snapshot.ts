import { ConnectionThread } from './thread-client.ts'

/**
 * Runs `work` with a connection that sees the database as it is now. It is one of its own: the log of what others write
 * meanwhile cannot be folded into the file before this ends.
 */
export async function readSnapshot<T>(
  path: string,
  work: (thread: ConnectionThread) => Promise<T>,
): Promise<T> {
  const thread = await ConnectionThread.open(path, 'read')
  try {
    await thread.send({ kind: 'run', text: 'BEGIN', values: [] })
    // The view is taken by the first read.
    await thread.send({ kind: 'values', text: 'SELECT count(*) FROM sqlite_schema', values: [] })
    return await work(thread)
  } finally {
    await thread.close()
  }
}

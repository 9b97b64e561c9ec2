import { ConnectionThread } from './thread-client.ts'

/** Reading a database of some hundred gigabytes. */
const CHECK_TIMEOUT_MS = 24 * 60 * 60 * 1000
/** Faults listed at the most: a page that is damaged shows in many. */
const MAX_FAULTS = 100

/** Looks through the whole file, on a connection of its own: others go on meanwhile. */
export async function checkSqlite(path: string): Promise<string[]> {
  const thread = await ConnectionThread.open(path, 'read', { timeoutMs: CHECK_TIMEOUT_MS })
  const lines = async (text: string) => {
    const rows = await thread.send({ kind: 'values', text, values: [] })
    return Array.isArray(rows) ? rows.map((row) => (Array.isArray(row) ? row.map(String) : [])) : []
  }
  try {
    const integrity = await lines(`PRAGMA integrity_check(${MAX_FAULTS})`)
    const foreign = await lines('PRAGMA foreign_key_check')
    return [
      ...integrity.map((row) => row.join(' ')).filter((fault) => fault !== 'ok'),
      ...foreign
        .slice(0, MAX_FAULTS)
        .map(
          ([table = '', , parent = '']) => `a row of ${table} refers to a row of ${parent} that is not there`,
        ),
    ]
  } catch (error) {
    // What is damaged badly enough cannot even be checked.
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    await thread.close()
  }
}

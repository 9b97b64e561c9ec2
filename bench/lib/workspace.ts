import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Workspace {
  readonly folder: string
  /** Registers a server to stop at the end of the benchmark, in reverse order. Returns it. */
  keep<T extends { stop(): Promise<void> }>(server: T): T
}

/** Runs a benchmark in a temporary folder, then removes its files and stops its processes. */
export async function withWorkspace(work: (workspace: Workspace) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-bench-'))
  const servers: { stop(): Promise<void> }[] = []
  const interrupt = () => {
    void clear().then(() => process.exit(130))
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    await work({
      folder,
      keep(server) {
        servers.unshift(server)
        return server
      },
    })
  } finally {
    await clear()
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }

  async function clear() {
    for (const server of servers.splice(0)) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

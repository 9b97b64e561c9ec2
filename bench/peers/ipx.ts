import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startServerAt, type Server } from '../lib/server.ts'
import type { Workspace } from '../lib/workspace.ts'

const CLI = fileURLToPath(new URL('../node_modules/ipx/bin/ipx.mjs', import.meta.url))

/** Installed by `npm --prefix bench ci`. */
export const hasIpx = existsSync(CLI)

/** Starts ipx with its defaults, on all cores, for the pictures of a folder. */
export async function startIpx(workspace: Workspace, pictures: string): Promise<Server> {
  const port = await freePort()
  const args = [CLI, 'serve', '--dir', pictures, '--port', String(port), '--host', '127.0.0.1']
  const output = join(workspace.folder, `ipx-${port}.log`)
  return workspace.keep(
    await startServerAt({ command: process.execPath, args, core: undefined, output }, port),
  )
}

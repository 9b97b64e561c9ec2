import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { SERVER_CORE } from './machine.ts'
import { startServer, type Server } from './server.ts'
import type { Workspace } from './workspace.ts'

/** Starts a bare `node:http` server with a constant response of `size` bytes. */
export async function startBare(workspace: Workspace, size: number): Promise<Server> {
  return startConstant(workspace, fileURLToPath(import.meta.url), size)
}

/** Starts the same on all cores, with `count` processes on one port (`node:cluster`). */
export async function startBareProcesses(workspace: Workspace, size: number, count: number): Promise<Server> {
  return startConstant(workspace, fileURLToPath(import.meta.url), size, count)
}

/** Starts a bare `node:http` server that responds with 304. */
export async function startBareKnown(workspace: Workspace): Promise<Server> {
  return startConstant(workspace, fileURLToPath(import.meta.url), 0)
}

/** Starts Fastify with a constant response of `size` bytes, serialised by a response schema. */
export async function startFastify(workspace: Workspace, size: number): Promise<Server> {
  return startConstant(
    workspace,
    fileURLToPath(new URL('../peers/fastify-constant.js', import.meta.url)),
    size,
  )
}

async function startConstant(workspace: Workspace, file: string, size: number, processes?: number) {
  const output = join(workspace.folder, `constant-${size}-${Math.random()}.log`)
  const args = [file, String(size), String(processes ?? 1)]
  const core = processes === undefined ? SERVER_CORE : undefined
  const launch = { command: process.execPath, args, core, output }
  return workspace.keep(await startServer(launch, /listening on (\S+)/))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const processes = Number(process.argv[3])
  if (cluster.isPrimary && processes > 1) {
    for (let i = 0; i < processes; i++) cluster.fork()
    let ready = 0
    cluster.on('listening', (_worker, { port }) => {
      if (++ready === processes) console.log(`listening on http://127.0.0.1:${port}`)
    })
  } else answerConstant(Number(process.argv[2]))
}

function answerConstant(size: number): void {
  const body = Buffer.from(JSON.stringify({ status: 200, text: '' }).padEnd(size))
  const server = createServer((_request, response) => {
    if (size === 0) {
      response.writeHead(304, { etag: `"${'a'.repeat(32)}"` })
      response.end()
      return
    }
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.byteLength,
    })
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (cluster.isPrimary && typeof address === 'object' && address !== null)
      console.log(`listening on http://127.0.0.1:${address.port}`)
  })
}

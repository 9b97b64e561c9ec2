import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import { freePort } from './free-port.ts'
import { skipWithout, startProgram } from './program.ts'

export const noNginx = skipWithout('nginx')

export interface Nginx extends AsyncDisposable {
  readonly url: string
  /** Its files. */
  readonly root: string
}

/**
 * Starts a web server on loopback.
 * @param locations the `location` blocks of its configuration
 */
export async function startNginx(locations: string): Promise<Nginx> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const root = join(folder.path, 'files')
  await mkdir(root)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const path = join(folder.path, 'nginx.conf')
  await writeFile(path, configuration(folder.path, root, port, locations))
  const isReady = async () => (await fetch(url)).status > 0
  stack.use(await startProgram(['nginx', '-p', folder.path, '-e', 'stderr', '-c', path], { isReady }))
  const parts = stack.move()
  return { url, root, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** One process, so that it is ours to end. */
function configuration(folder: string, root: string, port: number, locations: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  types { text/plain txt; text/csv csv; text/html html; application/gzip gz; }
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    root ${root};
    ${locations}
  }
}
`
}

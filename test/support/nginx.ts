import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { KILL_WITH_PARENT } from './node-process.ts'

export const noNginx =
  spawnSync('nginx', ['-v'], { stdio: 'ignore' }).error !== undefined && 'not installed: nginx'

export interface Nginx {
  readonly url: string
  /** Its files. */
  readonly root: string
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A web server on loopback.
 * @param locations the `location` blocks of its configuration
 */
export async function startNginx(locations: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-nginx-'))
  const root = join(folder, 'files')
  await mkdir(root)
  const port = await freePort()
  const path = join(folder, 'nginx.conf')
  await writeFile(path, configuration(folder, root, port, locations))
  const [program, ...words] = [...KILL_WITH_PARENT, 'nginx', '-p', folder, '-e', 'stderr', '-c', path]
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const reap = () => void child.kill('SIGKILL')
  process.once('exit', reap)
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${said}`)
    return fetch(url).then(
      () => true,
      () => false,
    )
  }, 'nginx answers')
  return {
    url,
    root,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      process.removeListener('exit', reap)
      await rm(folder, { recursive: true, force: true })
    },
  }
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

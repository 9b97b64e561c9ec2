import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SERVER_CORE } from './machine.ts'
import { freePort, startServerAt, type Server } from './server.ts'

/** nginx as it serves files best: one worker, sendfile, open files kept, no log. */
export async function startNginx(folder: string, files: string): Promise<Server> {
  const port = await freePort()
  const own = join(folder, 'nginx')
  await mkdir(own)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${own};`,
  )
  // Started by root, its worker would be somebody who cannot read the bench's folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  await writeFile(
    join(own, 'nginx.conf'),
    `${user}daemon off;
pid ${join(own, 'pid')};
error_log ${join(own, 'error.log')};
worker_processes 1;
events { worker_connections 1024; }
http {
  ${paths.join('\n  ')}
  access_log off;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=10000 inactive=60s;
  keepalive_requests 1000000;
  default_type image/jpeg;
  server { listen 127.0.0.1:${port}; root ${files}; }
}
`,
  )
  const args = ['-p', own, '-c', join(own, 'nginx.conf')]
  return startServerAt({ command: 'nginx', args, core: SERVER_CORE, output: join(own, 'output.log') }, port)
}

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SERVER_CORE } from './machine.ts'
import { freePort, startServerAt, type Server } from './server.ts'

/** Starts nginx with its fastest settings for files: one worker, sendfile, cached file descriptors, no log. */
export function startNginx(folder: string, files: string): Promise<Server> {
  return start(join(folder, 'nginx'), `root ${files};`)
}

/** Starts nginx as a caching reverse proxy. */
export function startNginxCache(folder: string, behind: string): Promise<Server> {
  const own = join(folder, 'nginx-cache')
  const serves = `location / {
    proxy_pass ${behind};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_cache cache;
  }`
  return start(
    own,
    serves,
    `proxy_cache_path ${own}/cache keys_zone=cache:10m max_size=1g use_temp_path=off;`,
  )
}

async function start(own: string, serves: string, outside = ''): Promise<Server> {
  const port = await freePort()
  await mkdir(own, { recursive: true })
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${own};`,
  )
  // If started by root, its worker would run as a user that cannot read the workspace.
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
  ${outside}
  server { listen 127.0.0.1:${port}; ${serves} }
}
`,
  )
  const args = ['-p', own, '-c', join(own, 'nginx.conf')]
  return startServerAt({ command: 'nginx', args, core: SERVER_CORE, output: join(own, 'output.log') }, port)
}

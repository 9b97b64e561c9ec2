// The image filter of nginx (Debian's packages `nginx` and `libnginx-mod-http-image-filter`).
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { availableParallelism } from 'node:os'
import { has } from '../lib/machine.ts'
import { freePort, startServerAt, type Server } from '../lib/server.ts'
import type { Workspace } from '../lib/workspace.ts'

const MODULE = '/usr/lib/nginx/modules/ngx_http_image_filter_module.so'

export const hasImageFilter = existsSync(MODULE) && has('nginx', '-v')

/**
 * Resizes the pictures of a folder to fit a box, with one worker per core. It does not convert formats.
 * @param box side in pixels
 */
export async function startImageFilter(workspace: Workspace, pictures: string, box: number): Promise<Server> {
  const port = await freePort()
  const own = join(workspace.folder, `image-filter-${port}`)
  await mkdir(own)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${own};`,
  )
  // If started by root, its workers would run as a user that cannot read the workspace.
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  await writeFile(
    join(own, 'nginx.conf'),
    `${user}load_module ${MODULE};
daemon off;
pid ${join(own, 'pid')};
error_log ${join(own, 'error.log')};
worker_processes ${availableParallelism()};
events { worker_connections 1024; }
http {
  ${paths.join('\n  ')}
  access_log off;
  keepalive_requests 1000000;
  types { image/jpeg jpg; image/png png; image/webp webp; }
  server {
    # Each worker has its own listening socket, so a worker busy with a picture accepts no connections.
    listen 127.0.0.1:${port} reuseport;
    root ${pictures};
    location / {
      image_filter resize ${box} ${box};
      image_filter_buffer 64M;
      image_filter_jpeg_quality 80;
      image_filter_webp_quality 80;
    }
  }
}
`,
  )
  const args = ['-p', own, '-c', join(own, 'nginx.conf')]
  const output = join(own, 'output.log')
  return workspace.keep(await startServerAt({ command: 'nginx', args, core: undefined, output }, port))
}

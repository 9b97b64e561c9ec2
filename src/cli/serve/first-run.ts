import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { hashOf } from '../../imagestore/hash.ts'
import type { App } from '../../server/app.ts'

/** An image of the package; the path is the same from src/ and dist/. */
const PICTURE = new URL('../../../assets/catalejo.png', import.meta.url)

const EXAMPLES = JSON.stringify([
  { domain: 'catalejo', length: 8, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' },
  { domain: 'ñandú', length: 5, reserve: 0, status: 0, date_reg: '2025-12-30 09:15:00' },
])

/** In an empty database, creates an account and a key for each service, and prints them with examples. */
export async function firstRun({ baseUrl, context }: App): Promise<void> {
  const keys = await context.accounts.createFirst([
    { name: 'grupo', service: 'domainwatch' },
    { name: 'aplicacion', service: 'imagestore' },
  ])
  if (keys === undefined) return
  const [group = '', application = ''] = keys
  process.stdout.write(await welcome(baseUrl, group, application))
}

/** The keys, and commands that work when pasted. */
async function welcome(baseUrl: string, domainwatchKey: string, imagestoreKey: string): Promise<string> {
  const picture = fileURLToPath(PICTURE)
  const hash = hashOf(await readFile(PICTURE))
  const api = `${baseUrl}/api/v1`
  return `
Catalejo escucha en ${baseUrl}

Se creó una cuenta con su clave para cada servicio. Se muestran solo esta vez:
  domainwatch  grupo       ${domainwatchKey}
  imagestore   aplicacion  ${imagestoreKey}

Registrar dos dominios, listarlos y pedir los servidores de nombres de uno:
  curl '${api}/domainwatch/add?api=${domainwatchKey}' --data-urlencode 'data=${EXAMPLES}'
  curl '${api}/domainwatch/list?api=${domainwatchKey}'
  curl '${api}/domainwatch/dns?api=${domainwatchKey}&domain=nic.cl'

Subir una imagen y abrir su enlace, tal cual y transformada:
  curl '${api}/imagestore/upload' -F 'api=${imagestoreKey}' -F 'info={"name":"catalejo.png","mime":"image/png","ip":"127.0.0.1"}' -F 'image=@${picture}'
  curl -o original.png '${baseUrl}/i/${hash}'
  curl -o pequena.webp '${baseUrl}/i/${hash}.webp&m=w_300'

`
}

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { listen } from '../support/listen.ts'
import { startService } from '../support/service.ts'
import { ScriptedGateway } from '../s3/scripted-gateway.ts'

const png = await gradient(20, 10).png().toBuffer()
const AWS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

test('a bucket is imported whatever its keys, and continued where it stopped', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  await using gateway = await ScriptedGateway.start()
  const put = (key: string, bytes: Buffer) =>
    gateway.objects.set(`/bucket/${key.split('/').map(encodeURIComponent).join('/')}`, {
      bytes,
      sha256: 'none',
    })
  const numbers = Array.from({ length: 70 }, (_, i) => String(i).padStart(2, '0'))
  for (const number of numbers) put(`viaje/${number}.png`, stamped(png, `foto ${number}`))
  put('viaje/carpeta/', Buffer.alloc(0))
  put('viaje/carpeta/niño y perro.png', stamped(png, 'niño'))
  put('viaje/nota.txt', Buffer.from('no es una imagen'))
  put('viaje/z.png', Buffer.alloc(30_000_000))
  put('otra/no.png', stamped(png, 'otra'))
  const place = `s3://bucket/viaje?endpoint=${gateway.endpoint}`
  const run = () =>
    catalejo(['images', 'import', place, '--account', 'fotos'], {
      ...AWS,
      CATALEJO_DATA: service.data,
      CATALEJO_DATABASE_URL: service.databaseUrl,
    })

  gateway.where = /66\.png$/
  gateway.always = { kind: 'status', status: 403, code: 'AccessDenied' }
  const broken = await run()
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /import of s3:.*the access key has not the rights/)

  gateway.always = undefined
  gateway.requests.length = 0
  const resumed = await run()
  assert.equal(resumed.stdout, `${place}: 71 images stored, 2 refused\n`, resumed.stderr)
  assert.match(resumed.stderr, /resuming after 50 of 73/)
  assert.match(resumed.stderr, /nota\.txt: damaged: not an accepted format/)
  assert.match(resumed.stderr, /z\.png: larger than 20971520 bytes/)
  const read = gateway.requests.filter((line) => line.startsWith('GET /bucket/viaje/'))
  assert.equal(read.length, 22)
  assert.equal((await client.list({ limit: '100' })).body['total'], 71)
  assert.equal((await client.get(expectedHash(stamped(png, 'niño')))).body['name'], 'niño y perro.png')
})

test('a list of addresses is fetched within limits, and only from where it may', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  await using folder = await temporaryFolder()
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (url === '/ni%C3%B1o.png') response.end(stamped(png, 'niño'))
    else if (url === '/otra?id=7') response.end(stamped(png, 'otra'))
    else if (url === '/aqui') response.writeHead(302, { location: '/final.png' }).end()
    else if (url === '/final.png') response.end(stamped(png, 'final'))
    else if (url === '/fuera') response.writeHead(302, { location: 'http://10.9.8.7/secreto' }).end()
    else if (url === '/pagina') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    else if (url === '/grande') response.end(Buffer.alloc(3_000_000))
    else response.writeHead(404).end()
  })
  const base = `http://127.0.0.1:${await listen(server)}`
  try {
    const list = join(folder.path, 'direcciones.txt')
    const named = { url: `${base}/otra?id=7`, name: 'con nombre.png', date: 1_500_000_000 }
    const paths = ['aqui', 'fuera', 'pagina', 'grande', 'falta']
    await writeFile(
      list,
      [
        `${base}/ni%C3%B1o.png`,
        '',
        JSON.stringify(named),
        ...paths.map((path) => `${base}/${path}`),
        'texto',
      ].join('\n'),
    )
    const run = (networks: string) =>
      catalejo(['images', 'import', list, '--account', 'fotos', '--max-image-bytes', '2MiB'], {
        CATALEJO_DATA: service.data,
        CATALEJO_DATABASE_URL: service.databaseUrl,
        CATALEJO_WEBHOOK_NETWORKS: networks,
      })

    const refused = await run('')
    assert.equal(refused.stdout, `${list}: 0 images stored, 8 refused\n`, refused.stderr)
    assert.match(refused.stderr, /line 1: La dirección no está permitida/)
    assert.deepEqual(asked, [])

    const imported = await run('127.0.0.0/8')
    assert.equal(imported.stdout, `${list}: 3 images stored, 5 refused\n`, imported.stderr)
    assert.deepEqual(
      imported.stderr.split('\n').filter((line) => line.startsWith(`${list}: line`)),
      [
        'line 5: La dirección no está permitida',
        'line 6: Es una página web',
        'line 7: Tiene más de 2 MiB',
        'line 8: El servidor respondió con el código 404',
        'line 9: no JSON object and no address',
      ].map((text) => `${list}: ${text}`),
    )
    const nameOf = async (text: string) => (await client.get(expectedHash(stamped(png, text)))).body['name']
    assert.deepEqual(await Promise.all(['niño', 'otra', 'final'].map(nameOf)), [
      'niño.png',
      'con nombre.png',
      'aqui',
    ])
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

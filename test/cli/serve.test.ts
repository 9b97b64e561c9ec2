import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { WORKER_KILL_MS } from '../../src/lib/limits.ts'
import { catalejo, COMMAND, firstKeys, serve, takenBy } from '../support/cli.ts'
import { ADD, LIST } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { oldSqlite } from '../upgrades/released.ts'
import { call } from '../support/http.ts'
import { listen } from '../support/listen.ts'
import { RawConnection } from '../support/raw.ts'

/** The contract gives the whole stop ten seconds, which the steps of a shutdown keep by their own timers. */
const CONTRACT_MS = 10_000
assert.ok(WORKER_KILL_MS < CONTRACT_MS)
/** For the machine to do the rest. A stop without those steps waits for its clients without limit. */
const STOP_MS = 3 * CONTRACT_MS

// Most of it is waiting for starts, and for clients that do nothing.
suite('catalejo serve', { concurrency: 3 }, () => {
  test('the first start creates an account and a key for each service, and prints the keys once', async () => {
    await using folder = await temporaryFolder()
    await using first = await serve(['--data', folder.path])
    const keys = await firstKeys(first)
    while (!first.stdout().includes('pequena.webp')) await once(first.child.stdout ?? first.child, 'data')
    assert.equal((await call(first, LIST, { query: { api: keys.domainwatch } })).status, 200)
    assert.equal(
      (await call(first, '/api/v1/imagestore/list', { query: { api: keys.imagestore } })).status,
      200,
    )
    assert.match(
      first.stdout(),
      new RegExp(`curl '${first.url}/api/v1/domainwatch/add\\?api=${keys.domainwatch}'`),
    )
    const { code, ms } = await first.stop()
    assert.equal(code, 0)
    assert.ok(ms < STOP_MS)

    await using second = await serve(['--data', folder.path])
    // Started again as the same process, with settings that make the allocator give memory back.
    if (process.platform === 'linux') {
      const environment = await readFile(`/proc/${second.child.pid}/environ`, 'utf8')
      assert.match(environment, /(^|\0)MALLOC_MMAP_THRESHOLD_=307200(\0|$)/)
    }
    assert.equal((await call(second, LIST, { query: { api: keys.domainwatch } })).status, 200)
    assert.equal((await second.stop()).code, 0)
    assert.equal(second.stdout().includes('curl'), false)
    for (const line of second.stdout().trimEnd().split('\n')) JSON.parse(line)
  })

  test('a start whose port another instance has says where that one is', async () => {
    await using folder = await temporaryFolder()
    await using first = await serve(['--data', folder.path])
    const { port } = new URL(first.url)
    const { code, stderr, stdout } = await catalejo(['serve', '--data', folder.path, '--port', port])
    assert.deepEqual([code, stderr], [1, `catalejo: could not start: ${takenBy(first.url)}\n`])
    const { msg, address, console: page } = JSON.parse(stdout)
    assert.deepEqual([msg, address, page], ['port taken', first.url, `${first.url}/console/`])
  })

  test('a start that fails changes nothing', async () => {
    await using folder = await temporaryFolder()
    const taken = createServer((socket) => socket.end('SSH-2.0-x\r\n'))
    await using _closing = { [Symbol.asyncDispose]: async () => void taken.close() }
    const port = String(await listen(taken))
    const data = join(folder.path, 'data')
    const reason = `another program listens on port ${port} of 127.0.0.1 (EADDRINUSE); choose another one with --port, or 0 for a free one`
    const attempts: readonly (readonly string[])[] = [
      ['--port', port],
      ['--port', port, '--workers', '2'],
      ['--port', '0', '--metrics-address', `127.0.0.1:${port}`],
    ]
    const fail = async (words: readonly string[]) => {
      const { code, stderr } = await catalejo(['serve', '--data', data, ...words])
      assert.deepEqual([code, stderr], [1, `catalejo: could not start: ${reason}\n`])
    }
    for (const words of attempts) await fail(words)
    assert.equal((await catalejo(['serve', '--data', data, '--strip', 'x'])).code, 78)
    assert.deepEqual(await readdir(folder.path), [])

    // A database of an older version, which a start upgrades.
    await mkdir(data)
    await oldSqlite('022', data)
    const before = await readFile(join(data, 'catalejo.db'))
    await fail(['--port', port])
    assert.deepEqual(await readdir(data), ['catalejo.db'])
    assert.ok(before.equals(await readFile(join(data, 'catalejo.db'))))
  })

  test('on a terminal, every start says in words where the service and its console are', async (t) => {
    if (spawnSync('script', ['--version']).status !== 0) return t.skip('there is no script(1)')
    await using folder = await temporaryFolder()
    const line = `exec '${process.execPath}' '${COMMAND}' --port 0 --data '${folder.path}'`
    for (const isFirst of [true, false]) {
      const terminal = spawn('script', ['-qefc', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
      const closed = once(terminal, 'close')
      let output = ''
      terminal.stdout.on('data', (piece) => (output += String(piece)))
      const place = () => /Catalejo escucha en (\S+)\r\nLa consola está en (\S+)\r\n/.exec(output)
      const isWhole = () => place() !== null && output.includes('pequena.webp') === isFirst
      while (!isWhole())
        await Promise.race([once(terminal.stdout, 'data'), closed.then(() => assert.fail(output))])
      const [, url = '', page = ''] = place() ?? []
      assert.equal(page, `${url}/console/`)
      assert.equal((await fetch(page)).headers.get('content-type'), 'text/html; charset=utf-8')
      // Control-C.
      terminal.stdin.write('\u0003')
      assert.deepEqual(await closed, [0, null])
    }
  })

  test('SIGTERM: requests in flight and in transit are answered, connections close, new ones are refused', async () => {
    await using folder = await temporaryFolder()
    await using service = await serve(['--data', folder.path])
    const { domainwatch: api } = await firstKeys(service)
    const open = await Promise.all(Array.from({ length: 4 }, () => RawConnection.open(service)))
    const [flying, used, , idle] = open
    const reply = async (connection: RawConnection | undefined, request: string) => {
      connection?.send(request)
      return connection?.reply()
    }
    const read = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
    const type = 'content-type: application/x-www-form-urlencoded'
    const write = `POST ${ADD}?api=${api} HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: 7\r\n\r\ndata`
    flying?.send(write)
    assert.equal((await reply(used, read))?.headers['connection'], 'keep-alive')
    const stopped = service.stop()
    // Nobody listens any more.
    while (await isOpen(service));
    // Concurrently, because idle connections are soon closed.
    const writers = open.slice(1, 3).map(async (connection) => {
      const answer = await reply(connection, `${write}=[]`)
      assert.equal(answer?.body, '{"status":200,"count":0}')
      assert.equal(answer.headers['connection'], 'close')
      await connection.closed()
    })
    await Promise.all(writers)
    await idle?.closed()
    // The rest of the body, and another request behind it as pipelining clients send it.
    assert.equal((await reply(flying, `=[]${read}`))?.body, '{"status":200,"count":0}')
    assert.equal((await flying?.reply())?.body, '{"status":200}')
    await flying?.closed()
    assert.equal((await stopped).code, 0)
  })

  test('SIGTERM with a drain delay: serves and reports not ready until it ends', async () => {
    await using folder = await temporaryFolder()
    await using service = await serve(['--data', folder.path, '--stop-delay', '1'])
    const stopped = service.stop()
    while ((await call(service, '/readyz')).status === 200);
    const { status, body, headers } = await call(service, '/readyz')
    assert.deepEqual([status, body], [503, { status: 503, msg: 'El servicio no está listo' }])
    assert.equal(headers.get('connection'), 'close')
    assert.equal((await call(service, '/healthz')).status, 200)
    const { code, ms } = await stopped
    assert.equal(code, 0)
    assert.ok(ms >= 1_000)
  })

  test('SIGTERM with stuck clients: exits with 0 within ten seconds', async () => {
    await using folder = await temporaryFolder()
    await using service = await serve(['--data', folder.path])
    const { domainwatch: api } = await firstKeys(service)
    const stuck = await Promise.all(Array.from({ length: 4 }, () => RawConnection.open(service)))
    const [silent, head, body, greedy] = stuck
    head?.send('GET /healthz HTTP/1.1\r\nhost: x\r\na:')
    body?.send(`POST ${ADD}?api=${api} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`)
    body?.send('content-length: 100\r\n\r\n{')
    // Asks for much and reads nothing.
    greedy?.socket.pause()
    greedy?.send('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000))
    silent?.send('')
    await call(service, '/healthz')
    const { code, ms } = await service.stop()
    assert.equal(code, 0)
    assert.ok(ms < STOP_MS)
    for (const connection of stuck) connection.close()
  })
})

async function isOpen(service: { readonly url: string }): Promise<boolean> {
  const connection = await RawConnection.open(service).catch(() => undefined)
  connection?.close()
  return connection !== undefined
}

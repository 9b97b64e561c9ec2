import assert from 'node:assert/strict'
import { chmod, open, stat, writeFile } from 'node:fs/promises'
import { createServer, request, type OutgoingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { stored, record, add } from '../support/domains.ts'
import { diagnose, listening, ranWell } from '../support/doctor.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ManualClock, startService } from '../support/service.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

const DAY = 86_400_000
const PLACE = 's3://copies/catalejo?endpoint=http://127.0.0.1:9'
const CLOCK_FROM_FILE = new URL('../support/clock-from-file.ts', import.meta.url).href
const NO_DISK = process.getuid?.() !== 0 && 'only root may mount a small disk'

suite('one command names the cause of a breakage', { timeout: 240_000 }, () => {
  test('a full disk', { skip: NO_DISK }, async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    const data = join(disk.path, 'data')
    await using service = await startService({ data })
    await ranWell(service)
    await fill(join(disk.path, 'filler'))
    // The log of the database may have room left from before.
    for (let index = 0; (await add(service, [record(`lleno${index}`)])).status === 200; index++)
      assert.ok(index < 2_000, 'the disk never got full')
    const { code, problems } = await diagnose(service)
    assert.deepEqual(problems, [
      `fail disk: 0.0 MiB of 16.0 MiB free for ${data}: writes fail when it is full → free space, or move the folder to a larger disk`,
      'fail public URL: nothing can be stored: database or disk is full → free space on the disk, or mend the database',
    ])
    assert.equal(code, 2)
  })

  test('a proxy whose header is not trusted', async () => {
    await using service = await startService()
    await ranWell(service)
    const { port } = new URL(service.url)
    await using proxy = await forwardingProxy(Number(port))
    const flags = ['--base-url', proxy.url]
    const { code, problems } = await diagnose(service, flags)
    assert.deepEqual(problems, [
      'warn proxy: X-Forwarded-For is ignored: all clients of the proxy count as one address, and uploads get the ' +
        "proxy's → name the address of the proxy in --trusted-proxies; the log says which it is",
    ])
    assert.equal(code, 1)
    assert.match(await service.log(), /"address":"127\.0\.0\.1".*X-Forwarded-For is ignored/)
  })

  test('a proxy that sends no header', async () => {
    await using service = await startService({ flags: { 'trusted-proxies': '127.0.0.1' } })
    await ranWell(service)
    await using proxy = await forwardingProxy(Number(new URL(service.url).port), {})
    // Requests without a proxy are none of its own.
    assert.equal((await diagnose(service)).code, 0)
    assert.deepEqual((await diagnose(service, ['--base-url', proxy.url])).problems, [
      "warn proxy: the proxy sends no X-Forwarded-For: all its clients count as one address, and uploads get the proxy's → " +
        'let the proxy set X-Forwarded-For to the address of the client, as the files in deploy/ do',
    ])
    await using correct = await forwardingProxy(Number(new URL(service.url).port))
    assert.equal((await diagnose(service, ['--base-url', correct.url])).code, 0)
  })

  test('a service that is not ready', async () => {
    await using service = await startService()
    await ranWell(service)
    service.app.context.health.imagesFailed(new Error('EIO'))
    assert.deepEqual((await diagnose(service)).problems, [
      `fail public URL: ${service.url}/readyz answers 503 → search the log for "not ready": it says which part does not work`,
    ])
  })

  test('a damaged page', async () => {
    await using service = await startService()
    await ranWell(service)
    await stored(
      service,
      Array.from({ length: 5_000 }, (_, index) => record(`d${index}`)),
    )
    await service.stop()
    const path = join(service.data, 'catalejo.db')
    const { size } = await stat(path)
    await using file = await open(path, 'r+')
    const damage = (page: number) => file.write(Buffer.alloc(4_096, 0x5a), 0, null, page * 4_096)
    await damage(Math.floor(size / 8_192))
    await using again = await startService({ data: service.data })
    const mend = `catalejo restore '${PLACE}' --data DIR, into an empty folder`
    const { code, problems } = await diagnose(again, ['--backup-to', PLACE])
    // Whether it is still ready depends on how long the check of the service takes.
    const pages = problems.filter((line) => !line.includes('/readyz answers 503'))
    assert.ok(pages.length > 0)
    for (const line of pages) {
      assert.ok(line.startsWith('fail pages of the database: the database is damaged: '), line)
      assert.ok(line.endsWith(` → ${mend}`), line)
    }
    assert.equal(code, 2)
    await again.stop()
    await damage(0)
    assert.deepEqual((await diagnose(again, ['--backup-to', PLACE])).problems, [
      `fail database: ${path} is damaged (file is not a database): catalejo verify finds what is damaged → ${mend}`,
    ])
  })

  test('a clock that is, or was, 8 days ahead', async () => {
    await using folder = await temporaryFolder()
    const clock = new ManualClock(new Date().toISOString())
    await using service = await startService({ clock })
    const file = join(folder.path, 'clock')
    clock.mirrorIn(file)
    clock.advance(8 * DAY)
    await ranWell(service, 60_000, clock.now())
    const mend = 'synchronise it: timedatectl set-ntp true'
    // The command has the same wrong clock, so that nothing else differs.
    const wrong = { NODE_OPTIONS: `--import=${CLOCK_FROM_FILE}`, TEST_CLOCK_FILE: file }
    const moved = `fail clock: the clock was set 8.0 days ahead while the service ran: times stored since are wrong → ${mend}`
    // The service answers with the time of the system, which the command does not have either.
    const { host } = new URL(service.url)
    const differs = `fail clock: the clock is 8.0 days ahead of the clock of ${host} → ${mend}`
    assert.deepEqual((await diagnose(service, [], wrong)).problems, [moved, differs])
    // A command with the right one still finds this instance at the port.
    assert.deepEqual((await diagnose(service)).problems, [moved])
    await stored(service, [record('casa')])
    await service.stop()
    // The database stamps changes itself, by the clock of the system.
    await service.sql(`UPDATE changes SET at = at + ${8 * DAY}`)
    await service.sql('DELETE FROM backup_runs')
    await ranWell(service)
    const ahead = `fail clock: the newest change is 8.0 days ahead of this clock: the clock was ahead then, or is behind now → ${mend}`
    await using restarted = await startService({ data: service.data })
    // The key that the command makes is a newer change.
    for (let round = 0; round < 2; round++) assert.deepEqual((await diagnose(restarted)).problems, [ahead])

    await using other = await startService()
    await ranWell(other)
    const program = join(folder.path, 'timedatectl')
    await writeFile(program, '#!/bin/sh\necho no\n')
    await chmod(program, 0o700)
    assert.deepEqual((await diagnose(other, [], { PATH: folder.path })).problems, [
      `warn clock: this system does not synchronise its clock, which may be wrong → ${mend}`,
    ])
  })
})

/** A proxy that says in X-Forwarded-For for whom it asks. */
const forwardingProxy = (port: number, added: OutgoingHttpHeaders = { 'x-forwarded-for': '192.0.2.1' }) =>
  listening(
    createServer((incoming, outgoing) => {
      const { method, url } = incoming
      const headers = { ...incoming.headers, ...added }
      const onward = request({ port, path: url, method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      onward.on('error', () => outgoing.destroy())
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    }),
  )

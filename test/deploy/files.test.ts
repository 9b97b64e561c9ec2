import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { environmentName, settings } from '../../src/server/config/settings.ts'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { skipWithout } from '../support/program.ts'

const folder = fileURLToPath(new URL('../../deploy', import.meta.url))
const text = (name: string) => readFile(join(folder, name), 'utf8')
/** Read by the balancer's settings alone. */
const BALANCERS_OWN = ['CATALEJO_NODE_1', 'CATALEJO_NODE_2']

test('every setting named in deploy/ exists', async () => {
  const known = Object.values(settings).flatMap(({ name }) => [
    environmentName(name),
    `${environmentName(name)}_FILE`,
  ])
  const unknown: string[] = []
  let count = 0
  for (const name of await readdir(folder, { recursive: true })) {
    if (!(await stat(join(folder, name))).isFile()) continue
    for (const [setting] of (await text(name)).matchAll(/\bCATALEJO_[A-Z0-9_]+/g)) {
      count++
      if (![...known, ...BALANCERS_OWN].includes(setting)) unknown.push(`${name}: ${setting}`)
    }
  }
  assert.deepEqual(unknown, [])
  assert.ok(count > 3)
})

test('the systemd unit is valid and hardened', { skip: skipWithout('systemd-analyze') }, async () => {
  await using work = await temporaryFolder()
  const unit = join(work.path, 'catalejo.service')
  // What it starts must exist, which it does not here.
  const installed = await text('systemd/catalejo.service')
  await writeFile(unit, installed.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.deepEqual({ code: verified.status, said: verified.stderr }, { code: 0, said: '' })
  // Of 10, in tenths.
  execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=16', unit], { stdio: 'pipe' })
})

test('systemd does not restart the service after usage or configuration errors', async () => {
  const never = /^RestartPreventExitStatus=(.*)$/m.exec(await text('systemd/catalejo.service'))?.[1]
  const codes = await Promise.all(
    [
      ['serve', '--port', 'x'],
      ['serve', '--no-such-flag', 'x'],
    ].map(async (args) => (await catalejo(args)).code),
  )
  assert.deepEqual(
    never?.split(' ').map(Number),
    codes.toSorted((one, other) => Number(one) - Number(other)),
  )
})

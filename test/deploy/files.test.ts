import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { environmentName, settings } from '../../src/server/config/settings.ts'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

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
    if (name.startsWith('secrets/') || !(await stat(join(folder, name))).isFile()) continue
    for (const [setting] of (await text(name)).matchAll(/\bCATALEJO_[A-Z0-9_]+/g)) {
      count++
      if (![...known, ...BALANCERS_OWN].includes(setting)) unknown.push(`${name}: ${setting}`)
    }
  }
  assert.deepEqual(unknown, [])
  assert.ok(count > 10)
})

const noSystemd =
  spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).error !== undefined &&
  'systemd-analyze is not installed'

test('the systemd unit is valid and hardened', { skip: noSystemd }, async () => {
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

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly networks: object
  readonly volumes: object
}
interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly env_file?: readonly string[]
  readonly networks?: readonly string[] | object
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[] | object
}

test('compose.yaml names only existing files', async () => {
  // Its shape is what the assertions below are about.
  const compose = parse(await text('compose.yaml'), { merge: true }) as Compose
  const { services } = compose
  const listed = (names: readonly string[] | object = []) =>
    Array.isArray(names) ? names.map(String) : Object.keys(names)
  const made = await text('secrets.sh')
  for (const [name, service] of Object.entries(services)) {
    for (const other of listed(service.depends_on)) assert.ok(other in services, `${name}: ${other}`)
    for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets, `${name}: ${secret}`)
    for (const network of listed(service.networks))
      assert.ok(network in compose.networks, `${name}: ${network}`)
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('./')) await stat(join(folder, source))
      else if (!source.startsWith('/')) assert.ok(source in compose.volumes, `${name}: ${source}`)
    }
    for (const file of service.env_file ?? []) assert.ok(made.includes(`>${file}`), file)
    for (const path of Object.values(service.environment ?? {})) {
      const secret = /^\/run\/secrets\/(.+)$/.exec(path)?.[1]
      if (secret !== undefined) assert.ok(service.secrets?.includes(secret), `${name}: ${path}`)
    }
    for (const [address] of JSON.stringify(service.environment ?? {}).matchAll(/(?<=\/\/)\w+(?=:\d)/g))
      assert.ok(address in services || address === 'localhost', `${name}: ${address}`)
  }
  for (const { file } of Object.values(compose.secrets)) assert.ok(made.includes(`>${file}`), file)
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { LIST } from '../support/domains.ts'
import { catalejoHere, type CliResult } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'

const KEY = /^[a-km-np-z2-9]{32}\n$/
const service = await startService()
after(() => service[Symbol.asyncDispose]())
const data = ['--data', service.data]

function assertPrints({ code, stdout, stderr }: CliResult, wanted: Partial<CliResult>): void {
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '', ...wanted })
}

test('a key created while the service runs works immediately, until it is revoked', async () => {
  const status = async (api: string) => (await call(service, LIST, { query: { api } })).status

  const made = await catalejoHere([
    'key',
    'create',
    '--account',
    'Ana Ñ',
    '--service',
    'domainwatch',
    ...data,
  ])
  assert.match(made.stdout, KEY)
  assertPrints(made, { stdout: made.stdout })
  const key = made.stdout.trim()
  assert.equal(await status(key), 200)

  const listed = await catalejoHere(['key', 'list', ...data])
  const lines = listed.stdout.trimEnd().split('\n')
  assert.equal(lines.shift(), 'id\tservice\taccount\tcreated\tstate\tscope\texpires\trate\tlast used')
  assert.equal(lines.length, 3)
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
  assert.match(
    lines[0] ?? '',
    new RegExp(`^[a-z2-9]{10}\tdomainwatch\tAna Ñ\t${time}\tactive\tfull\t-\t-\t-$`),
  )
  assert.match(
    lines[1] ?? '',
    new RegExp(`^[a-z2-9]{10}\timagestore\tfotos\t${time}\tactive\tfull\t-\t-\t-$`),
  )
  assert.match(
    lines[2] ?? '',
    new RegExp(`^[a-z2-9]{10}\tdomainwatch\tgrupo\t${time}\tactive\tfull\t-\t-\t-$`),
  )
  assert.equal(listed.stdout.includes(key), false)

  const [id = ''] = lines[0]?.split('\t') ?? []
  assertPrints(await catalejoHere(['key', 'revoke', id, ...data]), { stdout: `revoked ${id}\n` })
  assert.equal(await status(key), 401)
  assert.equal(await status(service.domainKey), 200)
  assertPrints(await catalejoHere(['key', 'revoke', id, ...data]), { stdout: `${id} was revoked before\n` })
  const after = await catalejoHere(['key', 'list', ...data])
  assert.match(
    after.stdout,
    new RegExp(`^${id}\tdomainwatch\tAna Ñ\t${time}\trevoked ${time}\tfull\t-\t-\t-$`, 'm'),
  )
})

test('a limited key is listed with its limits', async () => {
  // The day changes if the test runs at midnight.
  const day = () => new Date().toISOString().slice(0, 10)
  const began = day()
  const create = async (...limits: string[]) => {
    const words = ['key', 'create', '--account', 'lectora', '--service', 'domainwatch', ...limits, ...data]
    return (await catalejoHere(words)).stdout.trim()
  }
  const api = await create('--scope', 'read', '--expires', '90d', '--rate', '2/day')
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await call(service, LIST, { query: { api } })).status)
  assert.deepEqual(statuses, [200, 200, 429])
  await service.app.context.accounts.writeUses()
  await create('--rate', '60/min')
  const expired = { scope: 'write', expiresAt: Date.now() - 60_000, rate: null } as const
  await service.newKey('lectora', 'domainwatch', expired)

  const { stdout } = await catalejoHere(['key', 'list', ...data])
  const listed = stdout.split('\n').filter((line) => line.includes('\tlectora\t'))
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
  const line = (rest: string) => new RegExp(`^[a-z2-9]{10}\tdomainwatch\tlectora\t${time}\t${rest}$`)
  assert.match(listed[0] ?? '', line(`active\tread\t${time}\t2/day\t(${began}|${day()})`))
  assert.match(listed[1] ?? '', line(String.raw`active\tfull\t-\t60/min\t-`))
  assert.match(listed[2] ?? '', line(`expired ${time}\twrite\t${time}\t-\t-`))
  const [, , , made = '', , , expires = ''] = listed[0]?.split('\t') ?? []
  // Two readings of the clock.
  assert.ok(Math.abs(Date.parse(expires) - Date.parse(made) - 90 * 86_400_000) < 60_000)
})

test('the key command rejects invalid arguments', async () => {
  await using folder = await temporaryFolder()
  const run = (...args: string[]) => catalejoHere(['key', ...args, '--data', folder.path])
  const usage = (message: string, command: string) => ({
    code: 2,
    stderr: `catalejo: ${message}; see catalejo ${command} --help\n`,
  })
  const service =
    "option '--service <SERVICE>' argument 'otro' is invalid. Allowed choices are domainwatch, imagestore, admin"
  const name =
    'catalejo: an account name must have 1 to 100 characters, none of them a control or invisible character\n'

  const lifetime = 'minutes, hours or days, such as 30m, 12h or 90d, at most 3650d'
  const rate = 'a number of requests, at most 1000000, per s, min, h or day, such as 5/s or 60/min'
  const limits = [
    ['scope', 'write', 'one of read, upload, tickets, full for the service imagestore'],
    ['expires', '90', lifetime],
    ['expires', '', lifetime],
    ['rate', '60', rate],
    ['rate', '0/s', rate],
  ] as const

  const made = await run('create', '--account', 'a', '--service', 'imagestore')
  assert.match(made.stdout, KEY)
  const cases: readonly [readonly string[], Partial<CliResult>][] = [
    [[], usage('a command is missing', 'key')],
    [['revoke', 'nada'], { code: 1, stderr: 'catalejo: there is no key nada\n' }],
    [['create', '--account', 'b', '--service', 'otro'], usage(service, 'key create')],
    ...limits.map(([flag, value, wanted]): [readonly string[], Partial<CliResult>] => [
      ['create', '--account', 'b', '--service', 'imagestore', `--${flag}=${value}`],
      { code: 2, stderr: `catalejo: --${flag} must be ${wanted}\n` },
    ]),
    [['create', '--account', '', '--service', 'imagestore'], { code: 1, stderr: name }],
    [
      ['create', '--account', ' a ', '--service', 'domainwatch'],
      { code: 1, stderr: 'catalejo: the account «a» is of the service imagestore\n' },
    ],
  ]
  for (const [args, wanted] of cases) assertPrints(await run(...args), wanted)
  assert.equal((await run('list')).stdout.trimEnd().split('\n').length, 2)
})

test('account names are validated and normalized', async () => {
  const { accounts } = service.app.context
  const outcome = async (name: string) => (await accounts.createKey(name, 'domainwatch')).kind
  for (const bad of ['', '  ', 'a'.repeat(101), 'a\nb', 'a\tb', '\0']) {
    assert.equal(await outcome(bad), 'bad-name', JSON.stringify(bad))
  }
  for (const good of ['a', 'a'.repeat(100), 'Ñandú & Cía. «3»']) assert.equal(await outcome(good), 'created')
  // One account, however it is written.
  await accounts.createKey('n\u0303u', 'domainwatch')
  await accounts.createKey(' ñu ', 'domainwatch')
  assert.equal((await accounts.keys()).filter(({ account }) => account === 'ñu').length, 2)
})

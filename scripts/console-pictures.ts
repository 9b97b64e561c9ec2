/**
 * Pictures of the console for the documents: with real registrations and photographs if they are next to the
 * checkout.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { startBrowser, type Visit } from '../test/support/browser.ts'
import { ns, startScriptedDns } from '../test/dns/scripted.ts'
import { add, DNS, record, update } from '../test/support/domains.ts'
import { call } from '../test/support/http.ts'
import { ImageClient } from '../test/support/images.ts'
import { ManualClock, startService, type TestService } from '../test/support/service.ts'
import { onWatch, watch } from '../test/support/watches.ts'

const corpus = new URL('../../shared/corpus/', import.meta.url)
const target = new URL('../docs/images/', import.meta.url)
/** As they came, for a look at them: a folder that is given. */
const raw = process.argv[2]
/** The names of those that are wanted; all unless given. */
const wanted = process.argv.slice(3)

const DAY = 24 * 60 * 60_000
// It comes to the present: the browser counts the days that are left of what was discarded.
const clock = new ManualClock(new Date(Date.now() - 40 * DAY).toISOString())
let servers = ['ns1.proveedor.cl', 'ns2.proveedor.cl']
const dns = await startScriptedDns(({ name }) => ({ answers: servers.map((server) => ns(name, server, 0)) }))
await using service = await startService({ clock, flags: { 'dns-servers': dns.address } })
const first = await fillImages(service)
await fillDomains(service)
await fillWatches(service)
await fillHistory(service)
await using browser = await startBrowser()
const admin = (await service.newKey('dueña', 'admin')).key
await fillAccounts(service, admin)
const keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
await mkdir(target, { recursive: true })

for (const [name, path, sign, act] of SHOTS()) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for (const [size, visit] of [
    ['1440', { width: 1_440, height: 900 }],
    ['390', { width: 390, height: 844, theme: 'dark' }],
  ] as const satisfies readonly (readonly [string, Visit])[]) {
    const { page, context } = await browser.open(service, path, name === 'entrar' ? {} : keys, visit)
    await page.locator(sign).first().waitFor()
    await act?.(page)
    // A stream of events never ends, so the network is never idle.
    await page.evaluate(
      'document.fonts.ready.then(() => Promise.all([...document.images].map((image) => image.decode().catch(() => 0)))).then(() => 0)',
    )
    await page.waitForTimeout(300)
    const picture = await page.screenshot()
    if (raw !== undefined) await writeFile(`${raw}/${name}-${size}.png`, picture)
    await writeFile(
      new URL(`consola-${name}-${size}.webp`, target),
      await sharp(picture).webp({ quality: 76, effort: 6 }).toBuffer(),
    )
    await context.close()
  }
}
await dns.stop()

type Shot = readonly [name: string, path: string, sign: string, act?: (page: Page) => Promise<void>]

function SHOTS(): readonly Shot[] {
  return [
    ['entrar', '', 'h1'],
    ['dominios', 'dominios?search=casa', '.table-row:not(:has(.bone))', marks],
    ['ficha', 'dominios?search=casa&ficha=casapan', '.sheet .time-line .servers'],
    ['inicio', '', '.home-names li'],
    ['cifras', 'cifras', '.plot canvas'],
    ['vigilancias', 'vigilancias', '.watch'],
    ['claves', 'claves', '.plain tbody tr'],
    ['triaje', 'triaje?status=0&search=casa', '.triage-facts'],
    ['importar', 'importar', '.drop-place', dropList],
    ['imagenes', 'imagenes', '.tile img.loaded'],
    ['imagen', `imagenes?imagen=${first.one}`, '.bench-result img'],
    ['parecidas', `imagenes?imagen=${first.one}&con=${first.other}`, '.compare img'],
    ['espacio', 'espacio', '.plot canvas'],
    ['limites', 'claves', '.plain tbody tr', editLimits],
    ['sistema', 'sistema', '.admin-pair'],
  ]
}

async function editLimits(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Editar límites fotos' }).click()
  await page.getByRole('dialog').waitFor()
}

async function dropList(page: Page): Promise<void> {
  const lines = [
    'casapan.cl',
    'casaatenas.cl',
    'casah.cl',
    'nunca-vista.cl',
    'dos palabras',
    'faro-del-sur.cl',
  ]
  const file = { name: 'eliminados.txt', mimeType: 'text/plain', buffer: Buffer.from(lines.join('\n')) }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Ver los cambios' }).click()
  await page.getByText('1 línea con problemas').waitFor()
}

async function marks(page: Page): Promise<void> {
  await page.getByRole('grid').focus()
  for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowDown')
}

/** Four months of registrations, moved to end today: the figures are of the last days. */
async function fillDomains(to: TestService): Promise<void> {
  const files = ['2025-12', '2025-11', '2025-10', '2025-09'].map(
    (month) => new URL(`registrations/${month}.csv.gz`, corpus),
  )
  const lines = files.flatMap((file) =>
    existsSync(file)
      ? gunzipSync(readFileSync(file)).toString().trim().split('\n').slice(1)
      : ['casa.cl,2025-12-31 10:00:00'],
  )
  const shift = Math.floor((clock.now() - Date.parse('2025-12-31T23:59:59Z')) / DAY) * DAY
  const data = lines.map((line, i) => {
    const [name = '', date = ''] = line.split(',')
    const date_reg = new Date(Date.parse(`${date.replace(' ', 'T')}Z`) + shift)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ')
    const agent = i % 11 === 0 ? { agent: 'Mirones' } : i % 29 === 0 ? { agent: 'Equipo Sur' } : {}
    return record(name.slice(0, -3), {
      date_reg,
      status: i % 7 === 3 ? 0 : 1,
      reserve: i % 53 === 0 ? 1 : 0,
      ...agent,
    })
  })
  for (let start = 0; start < data.length; start += 50_000) await add(to, data.slice(start, start + 50_000))
  const found = data.filter(({ domain }) => domain.includes('casa')).map(({ domain }) => domain)
  const marked = (every: number, at: number) => found.filter((_, i) => i % every === at)
  await update(
    to,
    marked(9, 2).map((domain) => ({ domain, revision: 1 })),
  )
  await update(
    to,
    marked(13, 5).map((domain) => ({ domain, discarded: 1 })),
  )
  await dateChanges(to)
  clock.advance(31 * 60 * 60_000)
  await update(
    to,
    marked(17, 3).map((domain) => ({ domain, discarded: 1 })),
  )
  await dateChanges(to)
}

/** The database dates changes by its own clock, which is ahead of the service's: here all happened by the service's. */
async function dateChanges(to: TestService): Promise<void> {
  await to.sql(`UPDATE changes SET at = ${clock.now()} WHERE at > ${clock.now()}`)
}

/** What happened to one of them, name servers included. */
async function fillHistory(to: TestService): Promise<void> {
  const { key } = await to.newKey('Mirones', 'domainwatch')
  const lookUp = () => call(to, DNS, { query: { api: to.domainKey, domain: 'casapan.cl' } })
  await lookUp()
  await update(to, [{ domain: 'casapan', status: 0 }], { key })
  await dateChanges(to)
  clock.advance(50 * 60_000)
  servers = ['ns1.hostname.cl', 'ns2.hostname.cl', 'ns2.proveedor.cl']
  await lookUp()
  clock.advance(6 * 60_000)
  await update(to, [{ domain: 'casapan', status: 1, revision: 1 }])
  await dateChanges(to)
  clock.advance(2 * 60_000)
}

async function fillWatches(to: TestService): Promise<void> {
  await watch(to, {
    name: 'Cortos que quedan libres',
    max_length: '4',
    status: '0',
    url: 'https://example.cl/avisos',
  })
  await watch(to, { name: 'Parecidos a mi banco', similar: 'mibanco', changes: 'all', atom: '' })
  const { id } = await watch(to, {
    name: 'Casas',
    search: 'casa',
    hyphen: '0',
    url: 'https://example.cl/casas',
  })
  await onWatch(to, 'update', { id, paused: '1' })
  const { key } = await to.newKey('Mirones', 'domainwatch')
  const chat = 'discord:https://discord.com/api/webhooks/123/abc'
  await watch(
    to,
    { name: 'Resumen del grupo', words: '1', status: '0', to: chat, digest: '09:00', shared: '1' },
    key,
  )
}

/** Cut from a few photographs, so that there are many of all proportions. */
async function fillImages(to: TestService): Promise<{ one: string; other: string }> {
  const client = new ImageClient(to.url, to.imageKey)
  const photographs = ['Landscape_1.jpg', 'Portrait_1.jpg']
    .map((name) => new URL(`orientation/${name}`, corpus))
    .filter((file) => existsSync(file))
  let last = ''
  let lastBytes: Buffer = Buffer.alloc(0)
  for (let i = 0; i < 24; i++) {
    const file = photographs[i % photographs.length]
    if (file === undefined) return { one: last, other: last }
    const source = sharp(readFileSync(file))
    const { width, height } = await source.metadata()
    // They carry words in the middle and at the edges, and none in between.
    const quarter = Math.floor(i / 2) % 4
    const [w, h] = [width * (0.26 + (i % 5) * 0.03), height * (0.25 + ((i * 3) % 5) * 0.03)]
    const [x, y] = [quarter % 2 === 0 ? 0.07 : 0.55, quarter < 2 ? 0.08 : 0.53]
    const cut = {
      left: Math.round(width * x),
      top: Math.round(height * y),
      width: Math.round(w),
      height: Math.round(h),
    }
    const bytes = await source.extract(cut).jpeg({ quality: 90 }).toBuffer()
    const { body } = await client.upload(bytes, { name: `Puerto ${i + 1}.jpg`, mime: 'image/jpeg' })
    last = String(body['hash'])
    lastBytes = bytes
    // Some days bring several, others none.
    clock.advance((i % 3 === 2 ? 4.5 : 0.1) * DAY)
  }
  clock.advance(Date.now() - 32 * 60 * 60_000 - clock.now())
  const smaller = await sharp(lastBytes).resize({ width: 320 }).webp({ quality: 60 }).toBuffer()
  const { body } = await client.upload(smaller, { name: 'Puerto 24 (copia).webp', mime: 'image/webp' })
  return { one: last, other: String(body['hash']) }
}

/** Applications with quotas and images. */
async function fillAccounts(to: TestService, admin: string): Promise<void> {
  const blog = new ImageClient(to.url, (await to.newKey('blog', 'imagestore')).key)
  const icon = readFileSync(new URL('../assets/catalejo.png', import.meta.url))
  await blog.upload(icon, { name: 'catalejo.png' })
  for (const query of [
    { account: 'fotos', max_images: '1000', max_bytes: '2000000', delivery: 'ladder' },
    { account: 'blog', max_bytes: '12000', delivery: 'presets' },
  ]) {
    await call(to, '/api/v1/admin/limits', { method: 'POST', query: { api: admin, ...query } })
  }
  await to.app.context.accounts.writeUses()
}

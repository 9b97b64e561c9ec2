import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ChatReceiver, checkDiscord, checkNtfy, checkSlack, checkTelegram } from '../support/chat-receiver.ts'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'
import {
  createWatch,
  onWatch,
  removeWatch,
  watch,
  WATCHES,
  getWatches,
  watchUntil,
} from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const TOKEN = '123:secreto-del-bot'
const NTFY_TOKEN = 'tk_secreto'

/** Names that a message lists. */
const shownIn = (text: string) => text.match(/^•/gm)?.length ?? 0

const clock = new ManualClock(new Date().toISOString())
const telegram = await ChatReceiver.start(checkTelegram(TOKEN))
const ntfy = await ChatReceiver.start(checkNtfy)
const discord = await ChatReceiver.start(checkDiscord)
const slack = await ChatReceiver.start(checkSlack)
const discordUrl = `${discord.url}/api/webhooks/123/secreto-de-discord`
const slackUrl = `${slack.url}/services/T1/B2/secretoDeSlack`
const service = await startService({
  clock,
  flags: {
    'webhook-networks': '127.0.0.0/8',
    'telegram-token': `${telegram.url}/bot${TOKEN}`,
    'ntfy-url': ntfy.url.replace('://', `://${NTFY_TOKEN}@`),
  },
})
after(async () => {
  for (const one of [telegram, ntfy, discord, slack]) one[Symbol.dispose]()
  await service[Symbol.asyncDispose]()
})

const all = () => `telegram:-100123, ntfy:avisos,discord:${discordUrl},slack:${slackUrl}`
const bodies = () => [telegram, ntfy, discord, slack].map(({ received }) => received.at(-1)?.body ?? {})
/** Waits until every destination has got what there was. */
const idle = (id: string) =>
  watchUntil(service, id, ({ destinations }) =>
    Object(destinations).every(
      ({ pending, last_delivery }: Record<string, unknown>) => pending === 0 && last_delivery !== null,
    ),
  )

test('each service gets the changes of each name in its own markup, with hostile texts escaped', async () => {
  const counts = [telegram, ntfy, discord, slack].map(({ received }) => received.length)
  const { id } = await watch(service, { name: 'Mis <b>*avisos*', starts: 'hostil', to: all() })
  await stored(service, [{ ...record('hostil-1'), agent: 'O"<i> & @everyone `x`' }])
  await idle(id)
  await eventually(() =>
    [telegram, ntfy, discord, slack].every(({ received }, i) => received.length > (counts[i] ?? 0)),
  )
  const [first, second, third, fourth] = bodies()
  const link = `${service.url}/console/dominios?starts=hostil`
  assert.deepEqual(first, {
    chat_id: '-100123',
    text:
      '<b>Mis &lt;b&gt;*avisos*: 1 nombre</b>\n' +
      '• <code>hostil-1.cl</code>: nuevo · agente: O&quot;&lt;i&gt; &amp; @everyone `x`\n' +
      `<a href="${link}">Abrir en Catalejo</a>`,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  assert.deepEqual(second, {
    topic: 'avisos',
    title: 'Mis <b>*avisos*: 1 nombre',
    message: `• hostil-1.cl: nuevo · agente: O"<i> & @everyone \`x\`\nAbrir en Catalejo: ${link}`,
    click: link,
  })
  assert.equal(ntfy.received.at(-1)?.headers.authorization, `Bearer ${NTFY_TOKEN}`)
  assert.equal(
    third?.['content'],
    '**Mis \\<b\\>\\*avisos\\*\\: 1 nombre**\n' +
      '• `hostil-1.cl`: nuevo · agente\\: O\\"\\<i\\> \\& \\@everyone \\`x\\`\n' +
      `[Abrir en Catalejo](<${link}>)`,
  )
  assert.equal(
    fourth?.['text'],
    'Mis &lt;b&gt;*avisos*: 1 nombre\n' +
      '• hostil-1.cl: nuevo · agente: O"&lt;i&gt; &amp; @everyone `x`\n' +
      `<${link}|Abrir en Catalejo>`,
  )
  assert.deepEqual(
    [telegram, ntfy, discord, slack].map(({ received }) => received.length),
    counts.map((count) => count + 1),
  )
  await removeWatch(service, id)
})

test('a message keeps to the limits of its service and counts the rest', async () => {
  const before = [telegram, ntfy, discord, slack].map(({ received }) => received.length)
  const { id } = await watch(service, { starts: 'lote', to: all() })
  await stored(
    service,
    Array.from({ length: 1_300 }, (_, i) => record(`lote-${i}-${'x'.repeat(30)}`)),
  )
  for (const [i, { received }] of [telegram, ntfy, discord, slack].entries()) {
    const texts = () =>
      received.slice(before[i]).map(({ body }) => String(body['text'] ?? body['message'] ?? body['content']))
    const counts = () => texts().map((text) => shownIn(text) + Number(/^y (\d+) más$/m.exec(text)?.[1] ?? 0))
    await eventually(async () => counts().reduce((sum, count) => sum + count, 0) === 1_300)
    assert.ok(texts().every((text) => shownIn(text) > 0))
    assert.ok(Math.max(...texts().map(shownIn)) > 10)
    assert.ok(texts().length < 10)
  }
  await idle(id)
  await removeWatch(service, id)
})

test('each destination is delivered and retried on its own, and rate limits are obeyed', async () => {
  telegram.answer = () => ({
    code: 429,
    headers: { 'retry-after': '900' },
    body: '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 900","parameters":{"retry_after":900}}',
  })
  discord.answer = () => ({
    code: 429,
    headers: { 'retry-after': '65' },
    body: '{"message":"You are being rate limited.","retry_after":64.57,"global":false}',
  })
  slack.answer = () => ({ code: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' })
  const arrived = ntfy.received.length
  const { id } = await watch(service, { starts: 'limite', to: all() })
  await stored(service, [record('limite')])
  const shown = await watchUntil(service, id, ({ destinations }) => {
    const of: { last_error: string | null; last_delivery: string | null }[] = Object(destinations)
    return of.every((one) => one.last_error !== null || one.last_delivery !== null)
  })
  const states: Record<string, unknown>[] = Object(shown['destinations'])
  const waits = states.map(({ next_attempt }) =>
    typeof next_attempt === 'string' ? Date.parse(next_attempt) - clock.now() : null,
  )
  assert.deepEqual(waits, [900_000, null, 65_000, 30_000])
  assert.deepEqual(
    states.map(({ last_error }) => last_error),
    [
      'Telegram respondió 429: Too Many Requests: retry after 900',
      null,
      'Discord respondió 429: You are being rate limited.',
      'Slack respondió 429: rate_limited',
    ],
  )
  assert.equal(ntfy.received.length, arrived + 1)
  telegram.answer = discord.answer = slack.answer = undefined
  clock.advance(900_000)
  const healed = await watchUntil(
    service,
    id,
    ({ pending, last_error }) => pending === 0 && last_error === null,
  )
  assert.equal(healed['state'], 'active')
  assert.equal(ntfy.received.length, arrived + 1, 'what arrived is not sent again')
  await removeWatch(service, id)
})

test('a destination that no longer exists is given up, and no other', async () => {
  // It is the operator's own settings that lead nowhere.
  telegram.answer = () => ({
    code: 404,
    body: '{"ok":false,"error_code":404,"description":"Not Found"}',
  })
  discord.answer = () => ({ code: 404, body: '{"message":"Unknown Webhook","code":10015}' })
  slack.answer = () => ({ code: 404, body: 'no_service' })
  const { id } = await watch(service, { starts: 'ausente', to: all() })
  await stored(service, [record('ausente')])
  const isSettled = ({ last_error, last_delivery }: Record<string, unknown>) =>
    last_error !== null || last_delivery !== null
  const shown = await watchUntil(service, id, ({ destinations }) => Object(destinations).every(isSettled))
  const states: Record<string, unknown>[] = Object(shown['destinations'])
  assert.deepEqual(
    states.map(({ state, last_error }) => [state, last_error]),
    [
      ['active', 'Telegram respondió 404: Not Found'],
      ['active', null],
      ['dead', 'Discord respondió 404: Unknown Webhook'],
      ['dead', 'Slack respondió 404: no_service'],
    ],
  )
  assert.equal(shown['state'], 'dead')
  telegram.answer = discord.answer = slack.answer = undefined
  // A test that arrives brings each back to life, with what it still has to tell.
  const { body } = await send(service, `${WATCHES}/test`, { id }, { query: { api: service.domainKey } })
  assert.partialDeepStrictEqual(body, { status: 200, id, delivered: 1, code: 200, error: null })
  assert.deepEqual(
    Object(body).data.map(({ channel, delivered }: Record<string, unknown>) => [channel, delivered]),
    [
      ['telegram', 1],
      ['ntfy', 1],
      ['discord', 1],
      ['slack', 1],
    ],
  )
  clock.advance(6_000)
  await watchUntil(service, id, ({ state, pending }) => state === 'active' && pending === 0)
  await removeWatch(service, id)
})

test('secrets are not in lists, errors, logs or metrics', async () => {
  using webhook = await WebhookReceiver.start()
  const { id } = await watch(service, { to: all(), url: webhook.url, name: 'x' })
  const shown = (await getWatches(service)).find((one) => one['id'] === id)
  assert.equal(shown?.['to'], `telegram:-100123,ntfy:avisos,discord:${discord.url}/…,slack:${slack.url}/…`)
  assert.equal(shown['url'], webhook.url)
  const { text: page } = await (await fetch(`${service.url}/metrics`)).text().then((text) => ({ text }))
  const everything = JSON.stringify(shown) + page + (await service.log())
  for (const secret of [TOKEN, NTFY_TOKEN, 'secreto-de-discord', 'secretoDeSlack'])
    assert.ok(!everything.includes(secret), secret)
  await removeWatch(service, id)
})

test('the console page lists the configured channels', async () => {
  const page = await (await fetch(`${service.url}/console/`)).text()
  assert.match(page, /<meta name="catalejo-channels" content="webhook telegram ntfy discord slack"/)
})

test('a destination that cannot be used is refused and stores nothing', async () => {
  const known = (await getWatches(service)).length
  const list =
    'El parámetro to debe ser una lista separada por comas de telegram:…, ntfy:…, discord:…, slack:… o mailto:…'
  for (const [to, msg] of [
    ['mailto:ana@example.cl', 'El servicio no tiene configurado mailto'],
    ['telegram:', list],
    [
      'telegram:hola',
      'El parámetro to debe tener después de telegram: el número de un chat (-1001234567890) o el nombre de un canal (@canal)',
    ],
    [
      'ntfy:con espacio',
      'El parámetro to debe ser una dirección http:// o https:// sin usuario ni contraseña',
    ],
    ['discord:http://10.0.0.1/api/webhooks/1/x', 'El parámetro to debe llevar a una dirección pública'],
    ['webhook:https://example.cl', list],
    ['fax:123', list],
    ['telegram:1,,telegram:2', list],
    [
      '2025-02-30',
      'El parámetro to debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan',
    ],
    [
      Array.from({ length: 11 }, (_, i) => `telegram:${i}`).join(','),
      'La alerta puede tener como máximo 10 destinos',
    ],
  ] as const)
    assert.deepEqual((await createWatch(service, { name: 'x', to })).body, { status: 400, msg })
  assert.deepEqual((await createWatch(service, { name: 'x', to: 'telegram:1', digest: '9:00' })).body, {
    status: 400,
    msg: 'El parámetro digest debe ser una hora (HH:MM)',
  })
  assert.equal((await getWatches(service)).length, known)
})

test('filters longer than a message leave room for its text', async () => {
  // Each character takes twelve in an address.
  const search = '🌵'.repeat(200)
  const { id } = await watch(service, { to: all(), agent: '', search })
  const { body } = await onWatch(service, 'test', { id })
  assert.equal(Object(body).delivered, 1, JSON.stringify(body))
  for (const sent of bodies()) {
    const text = String(sent['text'] ?? sent['message'] ?? sent['content'])
    assert.ok(text.includes(`${service.url}/console/dominios`), text)
  }
  await removeWatch(service, id)
})

test('the query of a topic is sent, which may hold a token', async () => {
  const { id } = await watch(service, { to: `ntfy:${ntfy.url}/tema?auth=dG9rZW4` })
  ntfy.answer = () => ({ code: 200, body: '{}' })
  await onWatch(service, 'test', { id })
  ntfy.answer = undefined
  const { path, body } = Object(ntfy.received.at(-1))
  assert.deepEqual([path, body.topic], ['/?auth=dG9rZW4', 'tema'])
  await removeWatch(service, id)
})

test('an account may have 100 destinations', async () => {
  const ten = Array.from({ length: 10 }, (_, i) => `telegram:${i + 1}`).join(',')
  const ids: string[] = []
  for (let i = 0; i < 10; i++) ids.push((await watch(service, { to: ten })).id)
  assert.deepEqual((await createWatch(service, { name: 'x', to: 'telegram:1' })).body, {
    status: 409,
    msg: 'La cuenta puede tener como máximo 100 destinos',
  })
  for (const id of ids) await removeWatch(service, id)
})

test('an edit keeps destinations that are given in their masked form', async () => {
  const { id } = await watch(service, { to: all(), starts: 'editado' })
  const edited = await send(
    service,
    `${WATCHES}/update`,
    { id, to: `discord:${discord.url}/…,telegram:7`, language: 'en' },
    { query: { api: service.domainKey } },
  )
  assert.equal(edited.status, 200, edited.text)
  const shown = (await getWatches(service)).find((one) => one['id'] === id)
  assert.deepEqual([shown?.['to'], shown?.['language']], [`discord:${discord.url}/…,telegram:7`, 'en'])
  const received = discord.received.length
  await stored(service, [record('editado')])
  await eventually(async () => discord.received.length === received + 1)
  await removeWatch(service, id)
})

test('destinations are listed in the order of the last edit', async () => {
  const { id } = await watch(service, { to: 'telegram:1,telegram:2,telegram:3', starts: 'ordenado' })
  const to = 'telegram:3,telegram:4,telegram:1'
  const edited = await send(service, `${WATCHES}/update`, { id, to }, { query: { api: service.domainKey } })
  assert.equal(edited.status, 200, edited.text)
  assert.equal((await getWatches(service)).find((one) => one['id'] === id)?.['to'], to)
  await removeWatch(service, id)
})

import type { Transporter } from 'nodemailer'
import { cleaned, type Language, textsIn } from '../../texts.ts'
import { failure, type Outcome, type ChannelName } from '../../../deliveries/transport.ts'
import {
  FOR_PEOPLE,
  type Channel,
  type HttpChannelOptions,
  mailHtml,
  plainText,
  characters,
  layOut,
  confirmationOf,
  toMessage,
  type Message,
  type Channels,
  type DomainNotice,
  type NotifiedWatch,
} from '../message.ts'
import { escapeHtml } from '../../../lib/text.ts'
import {
  discordChannel,
  slackChannel,
  ntfyChannel,
  type NtfySettings,
  telegramChannel,
  type TelegramSettings,
} from './chat.ts'
import type { PostOptions } from '../../../deliveries/http-client.ts'
import { webhookTransport } from '../../../deliveries/webhook.ts'
import type { Clock } from '../../../lib/clock.ts'
import { recordIn, toJson, type DomainEvent } from '../../events/event.ts'

/**
 * Connections to the mail server. Further deliveries, limited by the slots per host, wait for one of them. Twice as many as the
 * slots of one account, so that mails of one account that the server examines slowly leave some to the others.
 */
const MAX_CONNECTIONS = 8
const CONNECT_MS = 10_000
/** Silence between two commands, or while the server examines a message. */
const SILENCE_MS = 30_000
/** From the first command to the answer. The library closes the connection then. */
const TIMEOUT_MS = 60_000
const MAX_TEXT = 50_000
const MAX_SUBJECT = 120
/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254
const ADDRESS =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i
const TAKES = 'debe tener después de mailto: una dirección de correo'

interface EmailSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  /** `tls`: from the first byte. `starttls`: required before anything is sent. `none`: never encrypted. */
  readonly encryption: 'tls' | 'starttls' | 'none'
  /** The sender. */
  readonly from: string
}

/** What is stored of a mail before it is sent. */
interface Mail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Sends mails by the operator's SMTP server. */
function emailChannel(settings: EmailSettings, { links }: Pick<HttpChannelOptions, 'links'>): Channel {
  let opening: Promise<Transporter> | undefined
  const domain = settings.from.slice(settings.from.lastIndexOf('@') + 1)
  return {
    batching: FOR_PEOPLE,
    parseAddress: (text) =>
      text.length <= MAX_ADDRESS && ADDRESS.test(text)
        ? { ok: true, address: text }
        : { ok: false, takes: TAKES },
    showAddress: (address) => address,
    hostOf: () => `${settings.host}:${settings.port}`,
    render(watch, notice) {
      const message = toMessage(watch, notice, links)
      const footer = message.texts.footer(cleaned(watch.name, MAX_SUBJECT))
      return JSON.stringify(mailOf(watch.language, message, footer))
    },
    // No text of a member: the reader has not asked for it.
    renderConfirmation: (language, token) =>
      JSON.stringify(mailOf(language, confirmationOf(language, links.confirmation(token)), undefined)),
    async send({ id, address, body }, signal) {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const mail: Mail = JSON.parse(body)
      const transport = await (opening ??= openTransport(settings))
      try {
        await transport.sendMail({
          ...mail,
          from: { name: 'Catalejo', address: settings.from },
          to: { name: '', address },
          // The same in all attempts, so that mail programs show only one of several copies.
          messageId: `<${id}@${domain}>`,
          headers: { 'auto-submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.any([signal, timeout]),
        })
        return { kind: 'delivered', code: 250 }
      } catch (error) {
        if (timeout.aborted) return failure('El servidor de correo no respondió a tiempo')
        return outcomeOf(error)
      }
    },
    close: () => void opening?.then((transport) => transport.close()),
  }
}

async function openTransport(settings: EmailSettings): Promise<Transporter> {
  const { host, port, user, password, encryption } = settings
  // Loaded with the first mail: without a mail server it is never needed.
  const { createTransport } = await import('nodemailer')
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    // The queue of the destinations retries.
    maxRequeues: 0,
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    ...(user !== '' && { auth: { user, pass: password } }),
    tls: { minVersion: 'TLSv1.2' },
    dnsTimeout: CONNECT_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  })
}

/** @param footer says why the mail was sent */
function mailOf(language: Language, message: Message, footer: string | undefined): Mail {
  const limits = { sizeOf: characters, max: MAX_TEXT }
  const text = layOut(message, plainText, limits)
  const [title = '', ...lines] = layOut(message, mailHtml, limits).split('\n')
  const html =
    `<!doctype html><html lang="${language}"><body>${title}\n<p>${lines.join('<br>\n')}</p>\n` +
    (footer === undefined ? '' : `<p style="color:#666">${escapeHtml(footer)}</p>`) +
    '</body></html>'
  return {
    subject: message.title,
    text: footer === undefined ? `${text}\n` : `${text}\n\n-- \n${footer}\n`,
    html,
  }
}

/** Server answers to a recipient that does not exist (RFC 3463, class 5.1) or was moved away. */
const NO_SUCH_RECIPIENT = /^55[013]\b(?![ -]5\.7)/

function outcomeOf(error: unknown): Outcome {
  const { code, command, responseCode, response } = Object(error)
  const status = typeof responseCode === 'number' ? responseCode : undefined
  if (status !== undefined) {
    // Only the status: a server may repeat credentials or the message.
    const text = `El servidor de correo respondió ${status}`
    if (command === 'RCPT TO' && NO_SUCH_RECIPIENT.test(String(response))) {
      return { kind: 'gone', code: status, error: `${text}: la dirección no existe` }
    }
    return failure(text, status)
  }
  return failure(`No se pudo enviar el correo${typeof code === 'string' ? ` (${code})` : ''}`)
}

/** What the operator has configured. What is undefined cannot be used. */
export interface ChannelSettings {
  readonly telegram: TelegramSettings | undefined
  readonly ntfy: NtfySettings
  readonly email: EmailSettings | undefined
}

/** Opens every channel that can be used. */
export function openChannels(settings: ChannelSettings, options: HttpChannelOptions): Channels {
  const { email, ntfy, telegram } = settings
  return new Map<ChannelName, Channel>([
    ['webhook', webhookChannel(options)],
    ...(telegram === undefined ? [] : [['telegram', telegramChannel(telegram, options)] as const]),
    ['ntfy', ntfyChannel(ntfy, options)],
    ['discord', discordChannel(options)],
    ['slack', slackChannel(options)],
    ...(email === undefined ? [] : [['mailto', emailChannel(email, options)] as const]),
  ])
}

/** Sends the changes of a watch as they are in event streams. */
function webhookChannel(options: PostOptions & { readonly clock: Clock }): Channel {
  return { ...webhookTransport(options), render: payload }
}

function payload(watch: NotifiedWatch, notice: DomainNotice): string {
  switch (notice.kind) {
    case 'changes':
      return changesPayload(watch, notice.events)
    case 'gap':
      return messagePayload('domains.gap', watch, textsIn(watch.language).webhookGap, notice.at)
    case 'test':
      return messagePayload('watch.test', watch, textsIn(watch.language).webhookTest, notice.at)
  }
}

/** Serialises events as in event streams. The timestamp is that of the newest one. */
function changesPayload({ id, name, findBrand }: NotifiedWatch, events: readonly DomainEvent[]): string {
  const timestamp = new Date(Math.max(...events.map(({ at }) => at))).toISOString()
  const watch = JSON.stringify({ id, name })
  const changes = events.map((event) => toJson(event, findBrand?.(recordIn(event)?.name ?? ''))).join(',')
  return (
    `{"type":"domains.changed","timestamp":"${timestamp}",` +
    `"data":{"watch":${watch},"count":${events.length},"changes":[${changes}]}}`
  )
}

function messagePayload(type: string, { id, name }: NotifiedWatch, msg: string, at: number): string {
  const timestamp = new Date(at).toISOString()
  return JSON.stringify({ type, timestamp, data: { watch: { id, name }, msg } })
}

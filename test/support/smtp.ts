import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { callbackify } from 'node:util'
import { simpleParser, type ParsedMail } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export const USER = 'catalejo'
export const PASSWORD = 'clave@con:signos'
export const pathOfPem = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))

/** The flags of a service that sends mails by it, without encryption. */
export const mailFlags = ({ port }: MailServer) => ({
  'smtp-url': `smtp://127.0.0.1:${port}?from=avisos@example.cl&tls=off`,
})

/** The link in a mail that asks its reader to confirm the address. */
export function confirmationLink(mail: ParsedMail | undefined): string {
  const [link] = /http:\/\/\S+\/w\/confirmar\/[\w-]{20,}$/m.exec(mail?.text ?? '') ?? []
  assert.ok(link !== undefined, `no link in ${mail?.text}`)
  return link
}

/** Confirms an address as its reader does. */
export async function confirmMail(mail: ParsedMail | undefined): Promise<void> {
  assert.equal((await fetch(confirmationLink(mail), { method: 'POST' })).status, 200)
}

export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly mails: ParsedMail[]
  /** Recipients that do not exist. */
  readonly unknown: Set<string>
  /** The answers about recipients of this domain are held back. */
  slowDomain: string
  readonly held: (() => void)[]
}

/**
 * A mail server on loopback that offers STARTTLS and requires a password.
 * @param isOpen whether it takes mails without a password
 */
export async function startMailServer(certificate: string, isOpen = false): Promise<MailServer> {
  const pem = await readFile(pathOfPem(certificate))
  const mails: ParsedMail[] = []
  const unknown = new Set<string>()
  const held: (() => void)[] = []
  const receive = callbackify(async (stream: Readable) => void mails.push(await simpleParser(stream)))
  const server = new SMTPServer({
    key: pem,
    cert: pem,
    authMethods: ['PLAIN'],
    authOptional: isOpen,
    onAuth({ username, password }, _session, done) {
      if (username === USER && password === PASSWORD) done(null, { user: username })
      else done(Object.assign(new Error('5.7.8 no'), { responseCode: 535 }))
    },
    onRcptTo({ address }, _session, done) {
      if (unknown.has(address)) done(Object.assign(new Error('5.1.1 unknown'), { responseCode: 550 }))
      else if (address.endsWith(`@${mailServer.slowDomain}`)) held.push(() => done())
      else done()
    },
    onData: (stream, _session, done) => receive(stream, done),
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const address = listening.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const mailServer: MailServer = {
    port: address.port,
    mails,
    unknown,
    held,
    slowDomain: '',
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mailServer
}

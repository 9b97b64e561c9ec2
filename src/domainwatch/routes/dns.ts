import { Readable } from 'node:stream'
import type { HttpServer } from '../../http/server.ts'
import { streamConcurrent } from '../../lib/concurrency.ts'
import { OverloadError, HttpError } from '../../lib/errors.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { parseDomain } from '../../lib/domain-names.ts'
import { taskModule, type Tasks } from '../../lib/tasks.ts'
import { clientAbort } from '../../http/client.ts'
import { bulkEndpoint, simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { text } from '../../http/parameters.ts'
import type { DataBody } from '../data-field.ts'
import { bulkDnsAnswer, bulkDnsBody, dnsAnswer, dnsProblem } from '../schemas.ts'
import type { Input } from '../tasks/read-names.ts'

/** What asking for a name's servers can come to. */
export type NameServerAnswer =
  | { readonly kind: 'found'; readonly servers: readonly string[] }
  | { readonly kind: 'empty' | 'no-such-name' | 'refused' | 'failed' | 'timeout' | 'overloaded' }

/** Asks the DNS for the name servers of a name in A-label form. */
export type NameServers = (name: string) => Promise<NameServerAnswer>

const PATH = '/api/v1/domainwatch/dns'
const READ_NAMES = taskModule('../tasks/read-names', import.meta)
/** Names of one call that are asked, or wait for their turn, at a time. */
const CONCURRENCY = 100
/** Bulk calls that run at the same time, of all accounts and of one. None waits: its client is asked to come again. */
const CALLS = { slots: 64, slotsPerClient: 4, maxWaiting: 0, maxWaitingPerClient: 0, timeoutMs: 1 }
/** All names of all calls, one look-up after the other, with silent servers only. */
const BULK_WAIT_MS = 600_000
/** Single look-ups that wait for a slot. */
const MAX_WAITING = 4_096
const MAX_WAITING_PER_ACCOUNT = 256
const WAIT_MS = 2_000
const BULK_BYTES = 1024 * 1024

/** @param inFlight single look-ups that run at the same time; one account may have half of them */
export function dnsRoute(
  app: HttpServer,
  shared: EndpointShared,
  nameServers: NameServers,
  inFlight: number,
) {
  const slots = new FairSlots({
    slots: inFlight,
    slotsPerClient: Math.ceil(inFlight / 2),
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_ACCOUNT,
    timeoutMs: WAIT_MS,
  })
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: PATH,
    parameters: { domain: { ...text('Full name under .cl', 1_000), required: true, example: 'nic.cl' } },
    document: {
      tag: 'domainwatch',
      summary: 'Name servers of a domain',
      answers: {
        200: dnsAnswer,
        404: dnsProblem('The name does not exist', 404, MESSAGES['no-such-name']),
        502: dnsProblem('The resolvers refused or failed', 502, MESSAGES.refused),
        504: dnsProblem('No resolver answered in time', 504, MESSAGES.timeout),
      },
    },

    async handle({ values: { domain }, identity }) {
      const parsed = domain === undefined ? undefined : parseDomain(domain)
      if (domain === undefined || parsed?.ok !== true)
        throw new HttpError(400, `El parámetro domain ${TAKES_DOMAIN}`)
      const answer = await slots.run(String(identity.accountId), () => nameServers(parsed.ascii))
      if (answer.kind === 'overloaded') throw new OverloadError()
      const { status, dns, msg } = outcomeOf(answer)
      if (msg !== undefined) throw new HttpError(status, msg, { fields: { domain, dns } })
      return { status, domain, dns }
    },
  })
}

export interface BulkDnsOptions {
  readonly tasks: Tasks
  readonly nameServers: NameServers
  /** Look-ups of all bulk calls that run at the same time; one account may have three quarters of them. */
  readonly inFlight: number
}

export function bulkDnsRoute(
  app: HttpServer,
  shared: EndpointShared,
  { tasks, nameServers, inFlight }: BulkDnsOptions,
) {
  const calls = new FairSlots(CALLS)
  const lookups = new FairSlots({
    slots: inFlight,
    slotsPerClient: Math.ceil(inFlight * 0.75),
    maxWaiting: CALLS.slots * CONCURRENCY,
    maxWaitingPerClient: CALLS.slotsPerClient * CONCURRENCY,
    timeoutMs: BULK_WAIT_MS,
  })

  bulkEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['POST'],
    path: PATH,
    bodyLimit: BULK_BYTES,
    parameters: {},
    document: {
      tag: 'domainwatch',
      summary: 'Name servers of many domains',
      description:
        'One JSON object a line, in the order in which the answers come: what `GET` would answer for each name, its ' +
        'status included. A name that is there twice is asked once.',
      body: bulkDnsBody,
      answers: { 200: bulkDnsAnswer },
    },

    async handle({ body, identify, reply }) {
      const { contentType, bytes, client } = body
      const { api, data } = await tasks.run<Input, DataBody>(
        READ_NAMES,
        { contentType, bytes },
        { transfer: [bytes.buffer], client },
      )
      const account = String((await identify(api)).accountId)
      if (data.kind === 'unreadable') throw new HttpError(400, data.msg)
      const release = await calls.take(account)
      reply.type('application/x-ndjson')
      // The stream itself closes only after the look-ups that run.
      if (reply.raw.closed) release()
      else reply.raw.once('close', release)
      const left = clientAbort(reply.raw)
      const inTurn: NameServers = (name) => lookups.run(account, () => nameServers(name), left)
      return Readable.from(answerLines(data.items, inTurn))
    },
  })
}

/** One line a name, as the answers come, those of one moment together. Whoever stops taking them stops the asking. */
async function* answerLines(names: readonly unknown[], nameServers: NameServers): AsyncGenerator<string> {
  const asked = new Map<string, Promise<Outcome>>()
  const line = async (domain: unknown): Promise<string> => {
    const parsed = typeof domain === 'string' ? parseDomain(domain) : undefined
    if (parsed?.ok !== true) return toLine(domain, { status: 400, dns: [], msg: `El nombre ${TAKES_DOMAIN}` })
    let outcome = asked.get(parsed.ascii)
    if (outcome === undefined) {
      outcome = nameServers(parsed.ascii).then(outcomeOf)
      asked.set(parsed.ascii, outcome)
    }
    return toLine(domain, await outcome)
  }
  for await (const lines of streamConcurrent(names, CONCURRENCY, line)) yield lines.join('')
}

function toLine(domain: unknown, { status, dns, msg }: Outcome): string {
  return `${JSON.stringify({ status, domain, dns, msg })}\n`
}

interface Outcome {
  readonly status: number
  readonly dns: readonly string[]
  readonly msg?: string
}

const TAKES_DOMAIN = 'debe ser un nombre de dominio completo, con el sufijo .cl'

const MESSAGES = {
  'no-such-name': 'El dominio no existe',
  refused: 'Los servidores DNS rechazaron la consulta',
  failed: 'Los servidores DNS no pudieron responder',
  timeout: 'Los servidores DNS no respondieron a tiempo',
  overloaded: 'El servicio está saturado, inténtelo de nuevo',
}

const STATUSES = { 'no-such-name': 404, refused: 502, failed: 502, timeout: 504, overloaded: 503 }

function outcomeOf(answer: NameServerAnswer): Outcome {
  if (answer.kind === 'found') return { status: 200, dns: answer.servers }
  if (answer.kind === 'empty') return { status: 200, dns: [] }
  return { status: STATUSES[answer.kind], dns: [], msg: MESSAGES[answer.kind] }
}

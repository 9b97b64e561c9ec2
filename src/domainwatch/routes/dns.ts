import { Readable } from 'node:stream'
import { badParameter } from '../../http/errors.ts'
import { domainErrors } from '../errors.ts'
import { streamConcurrent } from '../../lib/concurrency.ts'
import { HttpError, OverloadError } from '../../lib/errors.ts'
import { accountClient } from '../../lib/client.ts'
import { Gate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/limits.ts'
import { parseDomain } from '../../lib/domain-names.ts'
import { clientAbort, enterUntilClosed } from '../../http/client.ts'
import { bulkEndpoint, simpleEndpoint } from '../../http/endpoint.ts'
import { text, type Parameter } from '../../http/parameters.ts'
import { readNames, unreadableError } from '../tasks/parse-data.ts'
import {
  lookUp,
  lookupsPerName,
  typesParameter,
  type DnsOutcome,
  type DnsType,
  type RunLookup,
} from '../dns-lookups.ts'
import {
  answer,
  array,
  integer,
  object,
  optional,
  string,
  problemWith,
} from '../../http/openapi/json-schema.ts'
import { MAX_DNS_NAMES } from '../limits.ts'
import type { AddRoutes } from '../services.ts'

const mxRecord = object({
  preference: integer(),
  exchange: string('Host name; `.` in a null MX (RFC 7505): the domain accepts no mail'),
})
const recordTexts = (description: string) => optional(array(string(), description))
const dnsRecords = object({
  ns: recordTexts('Host names of the name servers'),
  a: recordTexts('IPv4 addresses'),
  aaaa: recordTexts('IPv6 addresses'),
  mx: optional(array(mxRecord, 'MX records, the most preferred first')),
  txt: recordTexts('The character-strings of each record, joined, as UTF-8'),
  soa: optional(
    array(
      object({
        mname: string(),
        rname: string(),
        serial: integer(),
        refresh: integer(),
        retry: integer(),
        expire: integer(),
        minimum: integer(),
      }),
    ),
  ),
  caa: optional(array(object({ flags: integer(), tag: string(), value: string() }))),
})

const dnsFields = {
  domain: string('Name as requested'),
  dns: array(string(), 'Host names of the name servers'),
  records: optional({ ...dnsRecords, description: 'Records by type; only with `types`' }),
  errors: optional({
    type: 'object',
    description: 'Status and message of each type whose look-up failed; only with `types`',
    additionalProperties: object({
      status: integer({ enum: [502, 503, 504] }),
      msg: string(),
      code: string({ enum: ['dns_refused', 'dns_failed', 'dns_timeout', 'overloaded'] }),
    }),
  }),
}

const dnsAnswer = answer({ ...dnsFields }, 'The name exists', {
  domain: 'nic.cl',
  dns: ['a.nic.cl', 'b.nic.cl'],
  records: { mx: [{ preference: 10, exchange: 'mail.nic.cl' }], txt: [] },
  errors: {
    txt: { status: 504, msg: 'Los servidores DNS no respondieron a tiempo', code: 'dns_timeout' },
  },
})

const bulkDnsBody = object(
  {
    types: optional(string('Record types, as in the parameter `types`, which takes precedence')),
    data: array(string('Full domain name under .cl'), {
      maxItems: MAX_DNS_NAMES,
      description: 'Names to look up',
    }),
  },
  { examples: [{ data: ['nic.cl', 'ñandú.cl'] }] },
)

const bulkDnsAnswer = {
  description:
    'One object per line: `status`, `domain` as requested, `dns`, `records` and `errors` with `types`, and `msg` if there ' +
    'is something to say',
  content: { 'application/x-ndjson': { schema: string() } },
}

const dnsProblem = (description: string, example: HttpError, ...others: readonly HttpError[]) =>
  problemWith(
    { ...dnsFields, records: optional({ type: 'object' }) },
    description,
    example.with({ fields: { domain: 'nic.cl', dns: [] } }),
    ...others,
  )

const PATH = '/api/v1/domainwatch/dns'
/** Look-ups of one call that run, or wait for a slot, at a time. */
const CONCURRENCY = 100
const BULK_BYTES = 1024 * 1024

export const dnsRoute: AddRoutes = (app, shared, { dns, dnsInFlight }) => {
  const { waiting, waitMs } = POOLS.lookups
  // Of single look-ups, one account gets half. Each record type is a look-up.
  const gate = new Gate({ running: dnsInFlight, perClient: Math.ceil(dnsInFlight / 2), waiting, waitMs })
  simpleEndpoint(app, shared, {
    route: `GET ${PATH}`,
    scopes: ['read', 'write'],
    ignoresUnknown: true,
    parameters: {
      domain: { ...text('Full domain name under .cl', 1_000), required: true, example: 'nic.cl' },
      types: typesParameter,
    },
    operation: 'lookUpDomain',
    summary: 'Look up the name servers of a domain, and other records',
    description:
      '`dns` always holds the name servers, which decide the status. `types` adds `records`; a type that could not be ' +
      'looked up has an empty array there and its status and message in `errors`.',
    answers: {
      200: dnsAnswer,
      404: dnsProblem('The name does not exist', domainErrors.domain_not_found()),
      502: dnsProblem(
        'The resolvers refused or failed',
        domainErrors.dns_refused(),
        domainErrors.dns_failed(),
      ),
      504: dnsProblem('No resolver answered in time', domainErrors.dns_timeout()),
    },

    async handle({ values: { domain, types }, identity, reply }) {
      const parsed = domain === undefined ? undefined : parseDomain(domain)
      if (domain === undefined || parsed?.ok !== true) throw badParameter('domain', TAKES_DOMAIN)
      const client = accountClient(identity.accountId)
      const left = clientAbort(reply.raw)
      const run: RunLookup = (lookup) => gate.run(client, lookup, left)
      const outcome = await lookUp(dns, parsed.ascii, types, run)
      const { status, msg, code, ...found } = outcome
      if (status === 503) throw new OverloadError()
      if (msg !== undefined && code !== undefined)
        throw new HttpError(status, code, msg, { fields: { domain, ...found } })
      return { status, domain, ...found }
    },
  })
}

export const bulkDnsRoute: AddRoutes = (app, shared, { dns, dnsInFlight, tasks }) => {
  const calls = new Gate(POOLS.streams)
  const lookups = new Gate({
    running: dnsInFlight,
    perClient: Math.ceil(dnsInFlight * 0.75),
    waiting: POOLS.streams.running * CONCURRENCY,
    waitMs: POOLS.lookups.bulkWaitMs,
  })

  bulkEndpoint(app, shared, {
    route: `POST ${PATH}`,
    scopes: ['read', 'write'],
    bodyLimit: BULK_BYTES,
    // Parsed by the handler, after the key is known, because the body may carry both.
    parameters: { types: rawTypes },
    operation: 'lookUpDomains',
    summary: 'Look up the name servers of many domains, and other records',
    description:
      'Streams one JSON object per line, in the order of the answers: what `GET` would return for each name, including its ' +
      'status. Looks a repeated name up once.',
    body: bulkDnsBody,
    answers: { 200: bulkDnsAnswer },

    async handle({ body, identify, reply, values }) {
      const { api, names, data, types: typesInBody } = await readNames(tasks, body)
      const client = accountClient((await identify(api, names)).accountId)
      const types = readTypes(values.types ?? typesInBody)
      if (data.kind === 'unreadable') throw unreadableError(data)
      await enterUntilClosed(calls, client, reply.raw)
      reply.type('application/x-ndjson')
      const left = clientAbort(reply.raw)
      const run: RunLookup = (lookup) => lookups.run(client, lookup, left)
      const concurrency = Math.floor(CONCURRENCY / lookupsPerName(types))
      return Readable.from(answerLines(data.items, concurrency, (name) => lookUp(dns, name, types, run)))
    },
  })
}

const rawTypes: Parameter<string> = { ...typesParameter, parse: (value) => ({ value }) }

/** @throws HttpError 400 for unknown types */
function readTypes(given: string | undefined): readonly DnsType[] | undefined {
  if (given === undefined) return undefined
  const parsed = typesParameter.parse(given)
  if ('takes' in parsed) throw badParameter('types', parsed.takes)
  return parsed.value
}

/** Yields a line per name, in the order of the answers. If the consumer stops, no further look-up starts. */
async function* answerLines(
  names: readonly unknown[],
  concurrency: number,
  lookUpName: (name: string) => Promise<DnsOutcome>,
): AsyncGenerator<string> {
  const outcomes = new Map<string, Promise<DnsOutcome>>()
  const line = async (domain: unknown): Promise<string> => {
    const parsed = typeof domain === 'string' ? parseDomain(domain) : undefined
    if (parsed?.ok !== true) {
      const { status, message, code } = domainErrors.domain_invalid()
      return toLine(domain, { status, dns: [], msg: message, code })
    }
    let outcome = outcomes.get(parsed.ascii)
    if (outcome === undefined) {
      outcome = lookUpName(parsed.ascii)
      outcomes.set(parsed.ascii, outcome)
    }
    return toLine(domain, await outcome)
  }
  for await (const lines of streamConcurrent(names, concurrency, line)) yield lines.join('')
}

function toLine(domain: unknown, { status, dns, records, errors, msg, code }: DnsOutcome): string {
  return `${JSON.stringify({ status, domain, dns, records, errors, msg, code })}\n`
}

const TAKES_DOMAIN = 'debe ser un nombre de dominio completo, con el sufijo .cl'

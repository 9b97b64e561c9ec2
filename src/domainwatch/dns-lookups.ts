import type { NameServerAnswer, RecordAnswer, RecordType, RecordValue } from '../lib/dns/index.ts'
import { commonErrors, OverloadError, type HttpError } from '../lib/errors.ts'
import type { Parameter } from '../http/parameters.ts'
import { domainErrors } from './errors.ts'

/** Record types that clients can ask for. */
export const DNS_TYPES = ['ns', 'a', 'aaaa', 'mx', 'txt', 'soa', 'caa'] as const
export type DnsType = (typeof DNS_TYPES)[number]

/** DNS look-ups of names in A-label form. They settle within seconds and never reject. */
export interface Dns {
  nameServers(name: string): Promise<NameServerAnswer>
  records(name: string, type: RecordType): Promise<RecordAnswer>
}

/** The answer to a client about a name. */
export interface DnsOutcome {
  readonly status: number
  readonly dns: readonly string[]
  /** An array per requested type; undefined if the client asked for none. */
  readonly records?: Readonly<Partial<Record<DnsType, readonly RecordValue[]>>>
  /** The types whose look-up failed. Their arrays are empty. */
  readonly errors?: Readonly<Partial<Record<DnsType, DnsFailure>>>
  readonly msg?: string
  readonly code?: string
}

const TAKES = `debe ser una lista de ${DNS_TYPES.slice(0, -1).join(', ')} o ${DNS_TYPES.at(-1)}, separados por comas`

export const typesParameter: Parameter<readonly DnsType[]> = {
  required: false,
  description: 'Record types to look up too, separated by commas',
  schema: { type: 'string', pattern: `^(${DNS_TYPES.join('|')})(,(${DNS_TYPES.join('|')}))*$` },
  example: 'mx,txt',
  parse: (text) => {
    const wanted = text.split(',').map((part) => part.trim().toLowerCase())
    if (wanted.some((part) => !DNS_TYPES.some((type) => type === part))) return { takes: TAKES }
    return { value: DNS_TYPES.filter((type) => wanted.includes(type)) }
  },
}

/** Look-ups that a name with these types takes. */
export const lookupsPerName = (types: readonly DnsType[] | undefined): number =>
  1 + (types?.filter((type) => type !== 'ns').length ?? 0)

/** Runs one look-up when the client's share allows it. Rejects with OverloadError if too many wait. */
export type RunLookup = <T>(lookup: () => Promise<T>) => Promise<T>

/**
 * Looks up the name servers of a name, and in parallel its records of other types. The name servers decide the status; a type
 * that fails does not affect the others.
 */
export async function lookUp(
  dns: Dns,
  name: string,
  types: readonly DnsType[] | undefined,
  run: RunLookup,
): Promise<DnsOutcome> {
  const nameServers = run(() => dns.nameServers(name))
  if (types === undefined) return toOutcome(await nameServers)
  const found = types.map(async (type) => ({
    type,
    answer: type === 'ns' ? await nameServers : await run(() => dns.records(name, type)).catch(overloaded),
  }))
  const [answers, own] = await Promise.all([Promise.all(found), nameServers])
  const failures = answers.flatMap(({ type, answer }) => {
    const error = getFailure(answer)
    return error === undefined ? [] : [[type, error] as const]
  })
  return {
    ...toOutcome(own),
    records: Object.fromEntries(answers.map(({ type, answer }) => [type, getValues(answer)])),
    ...(failures.length > 0 && { errors: Object.fromEntries(failures) }),
  }
}

interface DnsFailure {
  readonly status: number
  readonly msg: string
  readonly code: string
}
const toFailure = ({ status, message, code }: HttpError): DnsFailure => ({ status, msg: message, code })

const DNS_FAILURES = {
  'no-such-name': toFailure(domainErrors.domain_not_found()),
  refused: toFailure(domainErrors.dns_refused()),
  failed: toFailure(domainErrors.dns_failed()),
  timeout: toFailure(domainErrors.dns_timeout()),
  overloaded: toFailure(commonErrors.overloaded()),
}

function toOutcome(answer: NameServerAnswer): DnsOutcome {
  if (answer.kind === 'found') return { status: 200, dns: answer.servers }
  if (answer.kind === 'empty') return { status: 200, dns: [] }
  return { ...DNS_FAILURES[answer.kind], dns: [] }
}

function getFailure({ kind }: NameServerAnswer | RecordAnswer) {
  switch (kind) {
    case 'found':
    case 'records':
    case 'empty':
    case 'no-such-name':
      return undefined
    default:
      return DNS_FAILURES[kind]
  }
}

function getValues(answer: NameServerAnswer | RecordAnswer): readonly RecordValue[] {
  if (answer.kind === 'found') return answer.servers
  return answer.kind === 'records' ? answer.records : []
}

function overloaded(error: unknown): RecordAnswer {
  if (error instanceof OverloadError) return { kind: 'overloaded' }
  throw error
}

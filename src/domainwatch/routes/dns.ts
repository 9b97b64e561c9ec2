import type { FastifyInstance } from 'fastify'
import { Overload, Refusal } from '../../core/errors.ts'
import { parseDomain } from '../../core/names.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { text } from '../../http/parameters.ts'
import { dnsAnswer, dnsProblem } from '../schemas.ts'

/** What asking for a name's servers can come to. */
export type NameServerAnswer =
  | { readonly kind: 'found'; readonly servers: readonly string[] }
  | { readonly kind: 'empty' | 'no-such-name' | 'refused' | 'failed' | 'timeout' | 'overloaded' }

/** Asks the DNS for the name servers of a name in A-label form. */
export type NameServers = (name: string) => Promise<NameServerAnswer>

export function dnsRoute(app: FastifyInstance, shared: EndpointShared, nameServers: NameServers) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    methods: ['GET'],
    path: '/api/v1/domainwatch/dns',
    parameters: { domain: { ...text('Full name under .cl', 1_000), required: true, example: 'nic.cl' } },
    document: {
      tag: 'domainwatch',
      summary: 'Name servers of a domain',
      answers: {
        200: dnsAnswer,
        404: dnsProblem('The name does not exist', 404, 'El dominio no existe'),
        502: dnsProblem('The resolvers refused or failed', 502, 'Los servidores DNS rechazaron la consulta'),
        504: dnsProblem('No resolver answered in time', 504, 'Los servidores DNS no respondieron a tiempo'),
      },
    },

    async handle({ values: { domain } }) {
      const parsed = domain === undefined ? undefined : parseDomain(domain)
      if (domain === undefined || parsed?.ok !== true) {
        throw new Refusal(
          400,
          'El parámetro domain debe ser un nombre de dominio completo, con el sufijo .cl',
        )
      }
      const answer = await nameServers(parsed.ascii)
      const fields = { domain, dns: [] }
      switch (answer.kind) {
        case 'found':
          return { status: 200, domain, dns: answer.servers }
        case 'empty':
          return { status: 200, ...fields }
        case 'no-such-name':
          throw new Refusal(404, 'El dominio no existe', { fields })
        case 'refused':
          throw new Refusal(502, 'Los servidores DNS rechazaron la consulta', { fields })
        case 'failed':
          throw new Refusal(502, 'Los servidores DNS no pudieron responder', { fields })
        case 'timeout':
          throw new Refusal(504, 'Los servidores DNS no respondieron a tiempo', { fields })
        case 'overloaded':
          throw new Overload()
      }
    },
  })
}

import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { answer, integer } from '../../http/openapi/json-schema.ts'
import type { HttpServer } from '../../http/server.ts'
import type { DomainServices } from '../services.ts'

const forgotten = answer(
  { count: integer('Number of decisions that were forgotten') },
  'The decisions and what was learned from them are forgotten',
  { count: 512 },
)

export function interestRoute(app: HttpServer, shared: EndpointShared, { interest }: DomainServices): void {
  simpleEndpoint(app, shared, {
    route: 'DELETE /api/v1/domainwatch/interest',
    scopes: ['write'],
    parameters: {},
    operation: 'forgetInterest',
    summary: 'Forget the decisions of the group',
    description:
      'Forgets the decisions of all accounts that `order=interest` has learned from. Does not change records; `order=interest` learns again ' +
      'from decisions after this.',
    answers: { 200: forgotten },
    async handle({ identity }) {
      return { status: 200, count: await interest.forget(identity.accountId) }
    },
  })
}

import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { text } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { releasedAnswer } from '../schemas.ts'
import { adminErrors } from '../errors.ts'
import type { AccountsOptions } from './accounts.ts'

export interface ReleaseOptions {
  readonly keys: Pick<AccountsOptions['keys'], 'accounts'>
  /** Ends all claims of an account of domainwatch, which the composition root passes in. Returns their number. */
  readonly releaseClaims: (accountId: number) => Promise<number>
}

export function releaseRoute(
  app: HttpServer,
  shared: EndpointShared,
  { keys, releaseClaims }: ReleaseOptions,
): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['POST'],
    path: '/api/v1/admin/release',
    parameters: { account: { ...text('Name of an account of domainwatch', 400), required: true } },
    document: {
      summary: 'Release all records that an account has claimed',
      description: 'Others may claim them now.',
      answers: {
        200: releasedAnswer,
        404: problem('There is no such account', adminErrors.account_not_found()),
        409: problem(
          'The account belongs to another service',
          adminErrors.account_of_other_service('fotos', 'imagestore'),
        ),
      },
    },
    async handle({ values: { account = '' } }) {
      const name = account.trim().normalize('NFC')
      const found = (await keys.accounts()).find((one) => one.name === name)
      if (found === undefined) throw adminErrors.account_not_found()
      if (found.service !== 'domainwatch') throw adminErrors.account_of_other_service(name, found.service)
      return { status: 200, account: name, count: await releaseClaims(found.id) }
    },
  })
}
